package num

import (
	"math"
	"math/big"
	"math/bits"
)

// The accumulator is an integer in units of 2^-accBias, held in limbs of 32 bits, each in an int64
// so that carries can wait. The smallest product of two floats is 2^-2148, and the largest sum of
// 2^63 products is below 2^(2048+63).
const (
	limbBits = 32
	accBias  = 2176 // >= 2148, a multiple of limbBits
	accLimbs = (accBias + 2048 + 64) / limbBits
	// Each addition changes a limb by less than 2^32, and limbs start below 2^32 after carrying,
	// so 2^30 additions keep every limb below 2^62 + 2^32.
	accMaxLazy = 1 << 30
)

// Acc adds floats and products of floats exactly. The zero value is an empty sum. Adding costs a
// few integer operations whatever the magnitudes; memory is constant (about a kilobyte).
type Acc struct {
	limb [accLimbs]int64
	lazy int
	bad  bool
}

// Reset makes the sum empty.
func (a *Acc) Reset() { *a = Acc{} }

// Add adds x. A NaN or an infinity spoils the sum: Rat is then nil and Float64 NaN.
func (a *Acc) Add(x float64) {
	m, e, neg, ok := split(x)
	if !ok {
		a.bad = true
		return
	}
	a.add(0, m, e, neg)
}

// AddMul adds the exact product x·y.
func (a *Acc) AddMul(x, y float64) {
	mx, ex, nx, okx := split(x)
	my, ey, ny, oky := split(y)
	if !okx || !oky {
		a.bad = true
		return
	}
	hi, lo := bits.Mul64(mx, my) // < 2^106
	a.add(hi, lo, ex+ey, nx != ny)
}

// AddUnits adds the exact product x·n: x is a cost, n an integer weight.
func (a *Acc) AddUnits(x float64, n uint64) {
	m, e, neg, ok := split(x)
	if !ok {
		a.bad = true
		return
	}
	hi, lo := bits.Mul64(m, n) // < 2^117
	a.add(hi, lo, e, neg)
}

// split writes a finite x as ±m·2^e with m < 2^53 and -1074 <= e <= 971.
func split(x float64) (m uint64, e int, neg, ok bool) {
	b := math.Float64bits(x)
	neg = b>>63 != 0
	e = int(b >> 52 & 0x7ff)
	m = b & (1<<52 - 1)
	switch e {
	case 0x7ff:
		return 0, 0, false, false
	case 0:
		e = 1
	default:
		m |= 1 << 52
	}
	return m, e - 1075, neg, true
}

// add adds ±(hi·2^64 + lo)·2^e, with hi < 2^53 and e >= -2148.
func (a *Acc) add(hi, lo uint64, e int, neg bool) {
	if hi|lo == 0 {
		return
	}
	if a.lazy >= accMaxLazy {
		a.carry()
	}
	a.lazy++
	pos := e + accBias
	at, sh := pos/limbBits, uint(pos%limbBits)
	// Five limbs hold 117 + 31 bits.
	const mask = 1<<limbBits - 1
	w0 := lo << sh & mask
	w1 := lo >> (32 - sh) & mask
	w2 := (lo>>32>>(32-sh) | hi<<sh) & mask
	w3 := hi >> (32 - sh) & mask
	w4 := hi >> 32 >> (32 - sh)
	p := a.limb[at : at+5]
	if neg {
		p[0] -= int64(w0)
		p[1] -= int64(w1)
		p[2] -= int64(w2)
		p[3] -= int64(w3)
		p[4] -= int64(w4)
	} else {
		p[0] += int64(w0)
		p[1] += int64(w1)
		p[2] += int64(w2)
		p[3] += int64(w3)
		p[4] += int64(w4)
	}
}

// carry brings every limb but the last into [0, 2^32). The last keeps the sign.
func (a *Acc) carry() {
	var c int64
	for i := range a.limb[:accLimbs-1] {
		v := a.limb[i] + c
		c = v >> limbBits // floor, so the remainder is not negative
		a.limb[i] = v & (1<<limbBits - 1)
	}
	a.limb[accLimbs-1] += c
	a.lazy = 0
}

// Dyadic returns the exact sum, or nil if a NaN or an infinity was added. The receiver keeps its value and may be added
// to afterwards.
func (a *Acc) Dyadic() *Dyadic {
	if a.bad {
		return nil
	}
	return DyadicInt(a.units(), -accBias)
}

// units returns the sum in units of 2^-accBias.
func (a *Acc) units() *big.Int {
	a.carry()
	// Take the magnitude of a two's complement number in limbs.
	neg := a.limb[accLimbs-1] < 0
	l := a.limb
	if neg {
		for i := range l {
			l[i] = -l[i]
		}
		t := Acc{limb: l}
		t.carry()
		l = t.limb
	}
	var buf [4*accLimbs + 4]byte // big-endian; the last limb may need eight bytes
	for i, v := range l {
		at := len(buf) - 4*i
		buf[at-1] = byte(v)
		buf[at-2] = byte(v >> 8)
		buf[at-3] = byte(v >> 16)
		buf[at-4] = byte(v >> 24)
		if i == accLimbs-1 {
			buf[at-5] = byte(v >> 32)
			buf[at-6] = byte(v >> 40)
			buf[at-7] = byte(v >> 48)
			buf[at-8] = byte(v >> 56)
		}
	}
	n := new(big.Int).SetBytes(buf[:])
	if neg {
		n.Neg(n)
	}
	return n
}

// Rat returns the exact sum, or nil if a NaN or an infinity was added. The receiver keeps its value
// and may be added to afterwards.
func (a *Acc) Rat() *big.Rat {
	if a.bad {
		return nil
	}
	n := a.units()
	// Remove the common powers of two before a Rat is built: its own way is a long gcd.
	den := new(big.Int)
	z := uint(accBias)
	if n.Sign() == 0 {
		z = 0
	} else if t := n.TrailingZeroBits(); t >= z {
		n.Rsh(n, z)
		z = 0
	} else {
		n.Rsh(n, t)
		z -= t
	}
	den.Lsh(den.SetInt64(1), z)
	return new(big.Rat).SetFrac(n, den)
}

// Float64 returns the float nearest to the exact sum (ties to even, ±Inf on overflow), or NaN if a
// NaN or an infinity was added.
func (a *Acc) Float64() float64 {
	r := a.Rat()
	if r == nil {
		return math.NaN()
	}
	f, _ := r.Float64()
	return f
}

// SumRat returns Σx exactly, or nil if some x is NaN or infinite. The empty sum is 0.
func SumRat(x []float64) *big.Rat {
	var a Acc
	for _, v := range x {
		a.Add(v)
	}
	return a.Rat()
}

// DotRat returns Σ x_i·y_i exactly, or nil if some number is NaN or infinite. It panics if the
// lengths differ.
func DotRat(x, y []float64) *big.Rat {
	if len(x) != len(y) {
		panic("num: DotRat of slices of different lengths")
	}
	var a Acc
	for i, v := range x {
		a.AddMul(v, y[i])
	}
	return a.Rat()
}

// Rat returns x exactly, or nil if x is NaN or infinite.
func Rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// Down returns the largest float that is <= r, for lower bounds. A number above the largest finite
// float gives MaxFloat64; one below the smallest finite float gives -Inf. Zero is never negative.
// Down(nil) is NaN.
func Down(r *big.Rat) float64 {
	if r == nil {
		return math.NaN()
	}
	// Float64 also says whether f is exact, but says so wrongly for numbers far below the smallest
	// float, so the comparison decides.
	f, _ := r.Float64()
	switch {
	case math.IsInf(f, 1):
		f = math.MaxFloat64
	case math.IsInf(f, -1):
	case Rat(f).Cmp(r) > 0:
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// Up returns the smallest float that is >= r, for upper bounds: Up(r) = -Down(-r), with the same
// conventions.
func Up(r *big.Rat) float64 {
	if r == nil {
		return math.NaN()
	}
	f, _ := r.Float64()
	switch {
	case math.IsInf(f, -1):
		f = -math.MaxFloat64
	case math.IsInf(f, 1):
	case Rat(f).Cmp(r) < 0:
		f = math.Nextafter(f, math.Inf(1))
	}
	return f + 0 // -0, the nearest float of a tiny negative number, becomes 0
}
