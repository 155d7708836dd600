package ldp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wpm-go/wpm/internal/numtest"
)

// All 2^B words: column j comes out n_j times, and always as the first with a cumulative weight above the word.
func TestSampleEnumerate(t *testing.T) {
	boxes, words := 0, 0
	enumerate := func(p *Polytope, q []float64) {
		w := p.Round(q)
		inBox(t, p, w, q)
		counts := make([]uint64, w.Len())
		buf := make([]byte, (w.Bits()+7)/8)
		r := bytes.NewReader(nil)
		for word := range p.Total() {
			var b [8]byte
			// The bits above B are noise, and must not matter.
			binary.LittleEndian.PutUint64(b[:], word|0xa5a5a5a5a5a5a5a5<<uint(w.Bits()))
			copy(buf, b[:])
			r.Reset(buf)
			j, err := w.Sample(r)
			if err != nil || j < 0 || j >= len(counts) || r.Len() != 0 {
				t.Fatalf("Sample(%x) = %d, %v, %d bytes left", buf, j, err, r.Len())
			}
			c := uint64(0)
			for i := range j + 1 {
				c += w.At(i)
			}
			if !(c-w.At(j) <= word && word < c) {
				t.Fatalf("Sample(%d) = %d with cumulative weight %d", word, j, c)
			}
			counts[j]++
		}
		for j, c := range counts {
			if c != w.At(j) {
				t.Fatalf("column %d came %d times, weight %d", j, c, w.At(j))
			}
		}
		boxes++
		words += int(p.Total())
	}
	s := newStream(30)
	most := 12
	if !numtest.Full() {
		most = 9
	}
	for _, eps := range []string{"0.2", "1", "3", "64"} {
		for bits := 1; bits <= most; bits++ {
			for _, kv := range []int{1, 2, 3, 5, 17} {
				if kv > 1<<bits {
					continue
				}
				for range 2 {
					p := polytope(t, eps, randomBase(s, kv), bits)
					q := make([]float64, kv)
					for j := range q {
						q[j] = s.float() * 2 / float64(kv)
					}
					enumerate(p, q)
				}
			}
		}
	}
	if numtest.Full() {
		for bits := 13; bits <= 16; bits++ {
			for _, eps := range []string{"1e-3", "0.5", "1", "8"} {
				for _, kv := range []int{1, 2, 9, 40} {
					q := make([]float64, kv)
					q[int(s.float()*float64(kv))] = 1
					enumerate(polytope(t, eps, randomBase(s, kv), bits), q)
				}
			}
		}
	}
	t.Logf("%d rows, %d words", boxes, words)
}

// The ends of every interval at large B.
func TestSampleEdges(t *testing.T) {
	s := newStream(31)
	for _, bits := range []int{17, 24, 31, 32, 33, 40, 48, 56, 57, 61, 62} {
		for range 10 {
			w := polytope(t, "2", randomBase(s, 12), bits).Round(nil)
			c := uint64(0)
			for j := range w.Len() {
				if w.At(j) > 0 {
					for _, word := range []uint64{c, c + w.At(j)/2, c + w.At(j) - 1} {
						b := binary.LittleEndian.AppendUint64(nil, word)[:(bits+7)/8]
						if got, err := w.Sample(bytes.NewReader(b)); got != j || err != nil {
							t.Fatalf("%d bits: Sample(%d) = %d, %v, want %d", bits, word, got, err, j)
						}
					}
				}
				c += w.At(j)
			}
		}
	}
}

// Sample reads ceil(B/8) bytes however they come, and no more.
func TestSampleReads(t *testing.T) {
	for bits := 1; bits <= maxBits; bits++ {
		w := polytope(t, "1", []float64{0.5, 0.5}, bits).Round(nil)
		need := (bits + 7) / 8
		s := newStream(uint64(bits))
		want, err := w.Sample(s)
		if err != nil || s.read != need {
			t.Fatalf("%d bits: %v, read %d bytes, want %d", bits, err, s.read, need)
		}
		for _, r := range []io.Reader{
			iotest.OneByteReader(newStream(uint64(bits))),
			iotest.HalfReader(newStream(uint64(bits))),
			iotest.DataErrReader(io.LimitReader(newStream(uint64(bits)), int64(need))), // the last byte with EOF
		} {
			if got, err := w.Sample(r); got != want || err != nil {
				t.Errorf("%d bits: %T gives %d, %v, want %d", bits, r, got, err, want)
			}
		}
	}
}

// A source that stops or fails at any byte gives ErrRandom, its own error, and no index.
func TestSampleFailures(t *testing.T) {
	broken := errors.New("broken")
	for _, bits := range []int{1, 8, 9, 16, 32, 33, 57, 62} {
		w := polytope(t, "1", []float64{0.5, 0.5}, bits).Round(nil)
		for n := range (bits + 7) / 8 {
			whole := io.LimitReader(newStream(1), int64(n))
			for _, c := range []struct {
				r    io.Reader
				want error
			}{
				{whole, map[bool]error{true: io.EOF, false: io.ErrUnexpectedEOF}[n == 0]},
				{io.MultiReader(io.LimitReader(newStream(1), int64(n)), iotest.ErrReader(broken)), broken},
				{iotest.OneByteReader(io.MultiReader(io.LimitReader(newStream(1), int64(n)), iotest.ErrReader(broken))), broken},
				{iotest.TimeoutReader(iotest.OneByteReader(newStream(1))),
					map[bool]error{true: iotest.ErrTimeout, false: nil}[bits > 8]},
			} {
				j, err := w.Sample(c.r)
				if c.want == nil {
					continue
				}
				if j != -1 || !errors.Is(err, ErrRandom) || !errors.Is(err, c.want) {
					t.Errorf("%d bits, %d bytes: Sample = %d, %v, want -1, %v", bits, n, j, err, c.want)
				}
			}
		}
		if j, err := w.Sample(nil); j != -1 || !errors.Is(err, ErrRandom) {
			t.Errorf("nil reader: %d, %v", j, err)
		}
	}
	s := newStream(1)
	if j, err := (Weights{}).Sample(s); j != -1 || !errors.Is(err, ErrWeights) || s.read != 0 {
		t.Errorf("zero Weights: %d, %v, read %d", j, err, s.read)
	}
	if z := (Weights{}); z.Len() != 0 || z.Bits() != 0 || z.At(0) != 0 {
		t.Error("zero Weights are not empty")
	}
}

// The frozen stream: boxes, rounding and sampling must give these very numbers on every machine and in every
// version. If a change is meant, it is a change of every published policy, and belongs in the change log.
// testdata/golden.py, in another language and arithmetic, prints the same hashes.
func TestGoldenStream(t *testing.T) {
	for _, c := range []struct {
		name, eps  string
		kv, bits   int
		box, index string // sha256 of lo, hi and n; of 10,000 indices, each four bytes, low first
	}{
		{"ring", "5", 30, 62,
			"769876f95a7f0e795b84c39cde3a458ebd62c0a357ebdb50f70df4b698405dac",
			"d10edbee9b9557d0d85801cf55aba9b220174b7be973f80100a52ab9268f2f6e"},
		{"movielens", "0.2", 250, 62,
			"8e4a3fdb168adebee12197995c3d7cf0aa518f4203a209140ef5319d0c052805",
			"138c7864d8267d363f6cec3c5bb808e200d24655e1e0291bdd81be3559fbdaef"},
		{"gowalla", "4", 400, 32,
			"3d92620667208490c15111e9f017061789ffe4dc960c661c56ab52e7491b43ed",
			"58082fac5b9a27323439f4262be63b3d8c8dbda579fee4740f44828204e7665d"},
		{"few bits", "1/3", 10, 13,
			"881d4799a67f78b21f30a7719523d8a628f7c92a4b473439f133c3faa10a1a82",
			"b7362f63ba06741bf916e276b9edc0753fbb34287bf8ce973125d1ff02c70497"},
		{"one column", "1", 1, 8,
			"68f4c330aa5a8929480bd97f84cc1ba41a70736edd22f58258742aaa5cc12601",
			"e7e2dcff542de95352682dc186432e98f0188084896773f1973276b0577d5305"},
	} {
		s := newStream(uint64(c.kv)<<8 + uint64(c.bits))
		m, q := randomBase(s, c.kv), make([]float64, c.kv)
		for j := range q {
			q[j] = m[j] * s.float() * 2
		}
		p := polytope(t, c.eps, m, c.bits)
		w := p.Round(q)
		box, index := sha256.New(), sha256.New()
		for j := range c.kv {
			for _, v := range []uint64{p.Lo(j), p.Hi(j), w.At(j)} {
				box.Write(binary.LittleEndian.AppendUint64(nil, v))
			}
		}
		r := newStream(99)
		for range 10_000 {
			j, err := w.Sample(r)
			if err != nil {
				t.Fatal(err)
			}
			index.Write(binary.LittleEndian.AppendUint32(nil, uint32(j)))
		}
		if got := hex.EncodeToString(box.Sum(nil)); got != c.box {
			t.Errorf("%s: box %s, want %s", c.name, got, c.box)
		}
		if got := hex.EncodeToString(index.Sum(nil)); got != c.index {
			t.Errorf("%s: index %s, want %s", c.name, got, c.index)
		}
	}
}

// Rows do not print their weights.
func TestWeightsFormat(t *testing.T) {
	w := polytope(t, "1", []float64{0.5, 0.5}, 20).Round(nil)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, got := range []string{fmt.Sprintf(verb, w), fmt.Sprintf(verb, &w), fmt.Sprintf(verb, []Weights{w})} {
			if !strings.Contains(got, "not shown") || strings.ContainsAny(got, "0123456789") {
				t.Errorf("%s prints %q", verb, got)
			}
		}
	}
}

// Nor in a field that fmt cannot call methods on.
func TestWeightsInUnexportedField(t *testing.T) {
	type holder struct{ hidden Weights }
	w := polytope(t, "1", []float64{0.5, 0.5}, 20).Round(nil)
	weight := fmt.Sprint(w.At(0))
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		if got := fmt.Sprintf(verb, holder{w}); strings.Contains(got, weight) {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// CheckRows and WorstRatio against all pairs in rationals.
func TestCheckRows(t *testing.T) {
	s := newStream(40)
	good, bad := 0, 0
	for i := range 2000 {
		kv, bits := 1+int(s.next()%4), 2+int(s.next()%5)
		rows := make([]Weights, 1+s.next()%4)
		for r := range rows { // any weights: not from one box
			n := make([]uint64, kv)
			left := uint64(1) << bits
			for j := range n[1:] {
				n[j] = s.next() % (left/uint64(kv) + 1)
				if i%3 == 0 {
					n[j] = left / uint64(kv+1) // near each other
				}
				left -= n[j]
			}
			n[kv-1] = left
			rows[r] = Weights{&row{bits, n}}
		}
		eps := epsilon(t, []string{"0.1", "0.5", "1", "2", "64"}[s.next()%5])
		e := refExp(eps.Rat())
		worst, infinite, ok := new(big.Rat), false, true
		for _, a := range rows {
			for _, b := range rows {
				for j := range kv {
					ok = ok && refWithin(t, e, b.n[j], a.n[j])
					switch {
					case a.n[j] == 0:
					case b.n[j] == 0:
						infinite = true
					default:
						if r := new(big.Rat).SetFrac(new(big.Int).SetUint64(a.n[j]), new(big.Int).SetUint64(b.n[j])); r.Cmp(worst) > 0 {
							worst = r
						}
					}
				}
			}
		}
		r, err := WorstRatio(rows)
		if err != nil || rows[r.High].At(r.Column) != r.Num || rows[r.Low].At(r.Column) != r.Den {
			t.Fatalf("WorstRatio = %+v, %v", r, err)
		}
		if infinite != (r.Den == 0) ||
			!infinite && new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den)).Cmp(worst) != 0 {
			t.Fatalf("WorstRatio = %+v, want %v (infinite: %v)", r, worst, infinite)
		}
		err = CheckRows(eps, rows)
		if ok != (err == nil) || err != nil && !errors.Is(err, ErrRows) {
			t.Fatalf("CheckRows(%v) = %v, truth %v", eps, err, ok)
		}
		if ok {
			good++
		} else {
			bad++
		}
	}
	if good < 200 || bad < 200 {
		t.Errorf("%d good, %d bad families", good, bad)
	}
}

func TestCheckRowsTable(t *testing.T) {
	eps := epsilon(t, "1")
	row := func(bits int, n ...uint64) Weights { return Weights{&row{bits, n}} }
	err := CheckRows(eps, []Weights{row(4, 6, 5, 5), row(4, 2, 7, 7), row(4, 5, 9, 2)})
	if !errors.Is(err, ErrRows) ||
		!strings.Contains(err.Error(), "column 2: weight 7 in row 1 against 2 in row 2 exceeds e^1") {
		t.Errorf("CheckRows = %v", err) // 6/2 < 7/2
	}
	// Equal quotients: the first column, the first rows.
	if r, err := WorstRatio([]Weights{row(4, 4, 4, 8), row(4, 8, 4, 4), row(4, 4, 8, 4), row(4, 8, 4, 4)}); err != nil ||
		r != (Ratio{0, 1, 0, 8, 4}) {
		t.Errorf("WorstRatio = %+v, %v", r, err)
	}
	// An unused column does not count; one row is as good as itself.
	if r, err := WorstRatio([]Weights{row(4, 0, 16)}); err != nil || r != (Ratio{1, 0, 0, 16, 16}) {
		t.Errorf("WorstRatio = %+v, %v", r, err)
	}
	// Infinity beats everything; the products need more than 64 bits.
	if r, err := WorstRatio([]Weights{row(62, 1<<62-1, 0, 1), row(62, 1, 1<<62-1, 0)}); err != nil ||
		r != (Ratio{1, 1, 0, 1<<62 - 1, 0}) {
		t.Errorf("WorstRatio = %+v, %v", r, err)
	}
	if r, err := WorstRatio([]Weights{row(62, 1<<61+1, 1<<61-1), row(62, 1<<61-1, 1<<61+1)}); err != nil ||
		r != (Ratio{0, 0, 1, 1<<61 + 1, 1<<61 - 1}) {
		t.Errorf("WorstRatio = %+v, %v", r, err)
	}
	// u/(u-1) > (u+1)/u
	if r, err := WorstRatio([]Weights{row(62, 1<<61-1, 1<<61+1), row(62, 1<<61, 1<<61)}); err != nil || r.Column != 0 {
		t.Errorf("WorstRatio = %+v, %v", r, err)
	}
	for _, c := range []struct {
		eps  Epsilon
		rows []Weights
		want error
	}{
		{Epsilon{}, []Weights{row(1, 2)}, ErrEpsilon},
		{eps, nil, ErrWeights},
		{eps, []Weights{{}}, ErrWeights},
		{eps, []Weights{row(1, 2), {}}, ErrWeights},
		{eps, []Weights{row(1, 2), row(1, 1, 1)}, ErrWeights},
		{eps, []Weights{row(1, 2), row(2, 4)}, ErrWeights},
		{eps, []Weights{row(1, 2)}, nil},
	} {
		if err := CheckRows(c.eps, c.rows); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("CheckRows(%v) = %v, want %v", c.eps, err, c.want)
		}
	}
}

// The theorem, on real mechanisms: rows rounded from anything satisfy CheckRows, and do not satisfy it for an
// eps well below the largest ratio they reach.
func TestRowsOfBox(t *testing.T) {
	s := newStream(41)
	for _, eps := range []string{"0.01", "0.7", "1", "5", "30"} {
		for _, bits := range []int{10, 40, 62} {
			p := polytope(t, eps, uniform(20, 1), bits)
			var rows []Weights
			for i := range 20 {
				q := make([]float64, 20)
				q[i] = 1 // a Dirac: the upper bound is reached at i, the lower elsewhere
				rows = append(rows, p.Round(q))
				for j := range q {
					q[j] = s.float()
				}
				rows = append(rows, p.Round(q))
			}
			if err := CheckRows(p.Epsilon(), rows); err != nil {
				t.Errorf("eps %s, %d bits: %v", eps, bits, err)
			}
			less := epsilon(t, new(big.Rat).Mul(p.Epsilon().Rat(), big.NewRat(9, 10)).RatString())
			if err := CheckRows(less, rows); bits == 62 && p.Hi(0) < p.Total() && !errors.Is(err, ErrRows) {
				t.Errorf("eps %s: rows satisfy even %v: %v", eps, less, err)
			}
		}
	}
}
