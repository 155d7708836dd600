package fuzz

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/sphere/codebook"
	"github.com/wpm-go/wpm/wpmerr"
)

// FuzzSphere: any d, p, eps give a sentinel or fields that are finite and agree with each other; for small d the
// rational bounds are proved and hold the float solver's cap, and the paper's formulas agree in their range.
func FuzzSphere(f *testing.F) {
	f.Add(1, 1.0, 1.0)
	f.Add(2, 2.0, 5.0)
	f.Add(63, 2.0, 4.0)
	f.Add(10_000_000, 12.0, 700.0)
	f.Add(1, 0.5, 700.0)
	f.Add(4, 4.0, 1e-12)
	f.Add(0, math.NaN(), math.Inf(1))
	f.Add(7, 3.14159, 0.5)
	f.Fuzz(func(t *testing.T, d int, p, eps float64) {
		m, err := sphere.Solve(d, p, eps)
		inside := d >= 1 && d <= sphere.MaxDimension && p >= sphere.MinExponent && p <= sphere.MaxExponent &&
			eps >= sphere.MinEpsilon && eps <= sphere.MaxEpsilon
		if err != nil {
			typed(t, err, sphere.ErrDimension, sphere.ErrExponent, wpmerr.ErrEpsilon, sphere.ErrUnderflow)
			if inside && !(eps > 250*(float64(d)+p)) || m != (sphere.Measure{}) {
				t.Fatalf("d=%d p=%v eps=%v: %+v, %v", d, p, eps, m, err)
			}
			return
		}
		finite(t, "fields", m.T, m.Omt, m.Alpha, m.S, m.J, m.W, m.Pin, m.Pout)
		const tol = 1e-12 // several promises of 1e-13
		if !inside || !(m.Omt > 0 && m.Omt < 2 && m.S > 0 && m.S < 1) || !(math.Abs(m.Pin+m.Pout-1) <= tol) ||
			!(math.Abs(m.W*m.W/(2*m.Omt)-1) <= tol) {
			t.Fatalf("d=%d p=%v eps=%v: %+v", d, p, eps, m)
		}
		if d <= 300 && p >= 1 && eps >= 1e-6 && eps <= 32 && d >= 4 {
			paper, err := sphere.Paper(d, p, eps)
			if err != nil || !(math.Abs(paper.W/m.W-1) <= 1e-11) {
				t.Fatalf("d=%d p=%v eps=%v: W = %v, the paper's formulas give %v, %v", d, p, eps, m.W, paper.W, err)
			}
		}
		if d > 300 {
			return
		}
		b, err := sphere.Enclose(d, p, eps, 45)
		if err != nil {
			t.Fatalf("d=%d p=%v eps=%v: %v", d, p, eps, err)
		}
		if err := b.Verify(d, p, eps); err != nil {
			t.Fatal(err)
		}
		// The promise is 1e-13, the bounds are 2^-45 = 3e-14 apart.
		w := new(big.Rat).SetFloat64(m.Omt / 2)
		if m.Omt/2 > 0x1p-1022 {
			slack := new(big.Rat).Mul(w, num.Rat(1e-13))
			if w.Cmp(new(big.Rat).Sub(b.Lower, slack)) < 0 || w.Cmp(new(big.Rat).Add(b.Upper, slack)) > 0 {
				t.Fatalf("d=%d p=%v eps=%v: 1-t = %v is not between the bounds", d, p, eps, m.Omt)
			}
		}
	})
}

// books are the codebooks that FuzzCodebook draws from: small, so that one execution is fast.
func books(f *testing.F) []*codebook.Codebook {
	var out []*codebook.Codebook
	for _, c := range []struct {
		dim, points, bits int
		p                 float64
		eps               string
	}{{1, 8, 10, 2, "1"}, {2, 30, 62, 1, "4"}, {4, 16, 20, 3.5, "1e-2"}, {2, 12, 40, 2, "30"}} {
		eps, err := ldp.ParseEpsilon(c.eps)
		if err != nil {
			f.Fatal(err)
		}
		b, err := codebook.New(codebook.Config{Dim: c.dim, P: c.p, Epsilon: eps, Points: c.points, Bits: c.bits, Atoms: 5,
			Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// FuzzCodebook: whatever the private data, the release succeeds, its law is a point of the public box, and it is the
// fallback exactly when the data do not parse; a report survives its bytes, and the bytes of any other length or kind
// are refused.
func FuzzCodebook(f *testing.F) {
	all := books(f)
	f.Add(uint8(0), []byte{1, 8, 0, 8}, []byte("seed"))
	f.Add(uint8(1), []byte{3, 0, 1, 2, 16, 24, 32, 40, 48, 56, 64, 72, 80}, []byte{})
	f.Add(uint8(2), []byte{2, 7, 255, 254, 253, 15, 23, 31, 39, 47}, []byte{9, 9})
	f.Fuzz(func(t *testing.T, which uint8, private, public []byte) {
		book := all[int(which)%len(all)]
		in := &feed{private}
		n := in.size(7)
		coords := book.Config().Dim + 1
		if in.byte()%8 == 7 {
			coords = in.size(7)
		}
		atoms := make([][]float64, n)
		var kept []float64
		for i := range atoms {
			atoms[i] = in.floats(coords)
			kept = append(kept, atoms[i]...)
		}
		weights := in.mass(n, 1)
		if in.byte()%8 == 7 {
			weights = in.floats(in.size(7))
		}
		keptWeights := clone(weights)
		check := book.CheckAtoms(atoms, weights)
		if check != nil {
			typed(t, check, codebook.ErrPoint, codebook.ErrWeights)
		}
		var seed codebook.Seed
		copy(seed[:], public)
		law := book.Law(seed, atoms, weights)
		units := make([]uint64, law.Len())
		same := law.Len() == book.Fallback().Len()
		for j := range units {
			units[j] = law.At(j)
			same = same && units[j] == book.Fallback().At(j)
		}
		if _, err := book.Box().Weights(units); err != nil {
			t.Fatalf("%v %v: %v", atoms, weights, err)
		}
		if check != nil && !same {
			t.Fatalf("%v %v: refused by CheckAtoms, but the law is not the fallback", atoms, weights)
		}
		rep, err := book.SimulateAtoms(bytes.NewReader(append(bytes.Clone(seed[:]), make([]byte, 8)...)), atoms, weights)
		if err != nil || rep.Seed() != seed {
			t.Fatalf("%v %v: %v, %v", atoms, weights, rep, err)
		}
		if y, err := book.Point(rep); err != nil {
			t.Fatal(err)
		} else {
			finite(t, "point", y...)
		}
		var flat []float64
		for _, x := range atoms {
			flat = append(flat, x...)
		}
		sameBits(t, "atoms", flat, kept)
		sameBits(t, "weights", weights, keptWeights)

		var back codebook.Report
		err = back.UnmarshalBinary(public)
		if err != nil {
			typed(t, err, codebook.ErrReport)
		} else if again, err := back.MarshalBinary(); err != nil || !bytes.Equal(again, public) {
			t.Fatalf("%x became %x, %v", public, again, err)
		}
		if b, err := rep.MarshalBinary(); err == nil {
			if err := back.UnmarshalBinary(b); err != nil || back != rep {
				t.Fatalf("report %v came back as %v, %v", rep, back, err)
			}
		} else if !rep.IsZero() {
			t.Fatal(err)
		}
	})
}
