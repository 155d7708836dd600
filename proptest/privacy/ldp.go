package privacy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A VerifyFunc returns nil if and only if the integer box carries the guarantee and holds a point:
// lo_j <= hi_j <= e^eps lo_j for all j, and sum lo <= 2^bits <= sum hi.
type VerifyFunc func(eps *big.Rat, lo, hi []uint64, bits int) error

// VerifyLaws returns the laws of a check of a box.
func VerifyLaws() []proptest.Law[VerifyFunc] {
	return []proptest.Law[VerifyFunc]{
		{Name: "PolytopeIf", Statement: "thm:polytope, if; definition of the LDP polytope", Check: PolytopeIf,
			First: []func(proptest.TB, VerifyFunc){func(t proptest.TB, verify VerifyFunc) {
				const top = 1 << 62
				for _, b := range []struct {
					lo, hi []uint64
					bits   int
				}{
					{[]uint64{top, top, top, top, top}, []uint64{top, top, top, top, top}, 62}, // sums that are 2^62 in 64 bits
					{[]uint64{40, 30, 20}, []uint64{60, 20, 54}, 7},                            // lo > hi in a box that has room
					{[]uint64{64, 65}, []uint64{100, 100}, 7},                                  // one unit too much below, and none
					{[]uint64{64, 64}, []uint64{100, 100}, 7},
					{[]uint64{30, 30}, []uint64{63, 64}, 7}, // one unit too few above, and none
					{[]uint64{30, 30}, []uint64{64, 64}, 7},
					// floor(2^60 e), and one more
					{[]uint64{1 << 60, 1 << 60}, []uint64{3133965575612453542, 3133965575612453543}, 62},
					{[]uint64{1 << 60, 1 << 60}, []uint64{3133965575612453542, 3133965575612453542}, 62},
				} {
					verdict(t, verify, exact.NewExpo(big.NewRat(1, 1)), b.lo, b.hi, b.bits)
				}
				// sum hi is 2^64.
				verdict(t, verify, exact.NewExpo(big.NewRat(2, 1)), slices.Repeat([]uint64{top / 4}, 4),
					slices.Repeat([]uint64{top}, 4), 62)
			}}},
		{Name: "PolytopeOnlyIf", Statement: "thm:polytope, only if", Check: PolytopeOnlyIf},
	}
}

// An IntegerBox is a published box with its rounding.
type IntegerBox interface {
	Len() int
	Bits() int
	Lo(j int) uint64
	Hi(j int) uint64
	// Round takes any slice at all to a point of the box.
	Round(q []float64) []uint64
}

// NewBox makes the box of a base measure.
type NewBox func(eps *big.Rat, m []float64, bits int) (IntegerBox, error)

// BoxLaws returns the laws of an integer box and its rounding.
func BoxLaws() []proptest.Law[NewBox] {
	return []proptest.Law[NewBox]{
		{Name: "BoxOfBaseMeasure", Statement: "definition of the LDP polytope, in integers", Check: BoxOfBaseMeasure},
		{Name: "RoundInBox", Statement: "privacy does not depend on a solver", Check: RoundInBox,
			First: []func(proptest.TB, NewBox){func(t proptest.TB, build NewBox) { // slices of other lengths
				for _, q := range [][]float64{nil, {}, {1}, {0.5, 0.5}, {0.25, 0.25, 0.25, 0.25}, {math.NaN(), 1, 0}} {
					roundInBox(t, build, big.NewRat(1, 1), []float64{0.25, 0.25, 0.5}, maxBits, q)
				}
			}}},
	}
}

// A Mechanism maps a private distribution to the integer weights of the output's law. Their sum is a power
// of two, the same for every input.
type Mechanism interface {
	Weights(mu []float64) ([]uint64, error)
}

// NewMechanism makes the mechanism of a cost, a privacy level and a base measure.
type NewMechanism func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error)

// MechanismLaws returns the laws of a mechanism.
func MechanismLaws() []proptest.Law[NewMechanism] {
	return []proptest.Law[NewMechanism]{
		{Name: "ProjectionLDP", Statement: "prop:projection-ldp", Check: ProjectionLDP,
			First: []func(proptest.TB, NewMechanism){func(t proptest.TB, build NewMechanism) {
				points := [][]float64{{1, 0}, {0, 1}}
				one := big.NewRat(1, 1)
				// One output at its upper bound, and at its lower one for the other input; and an output with little mass.
				// floats hold the bounds
				projectionLDP(t, build, [][]float64{{0, 1, 0.5}, {1, 0, 0.5}}, one, []float64{0.2, 0.4, 0.4}, 40, points)
				projectionLDP(t, build, [][]float64{{0, 1}, {1, 0}}, one, []float64{0.9985, 0.0015}, maxBits, points)
				// Bounds that floats do not hold; and an input that hardly differs from a point mass.
				projectionLDP(t, build, [][]float64{{0, 1, 0.5}, {1, 0, 0.5}}, big.NewRat(1, 2), []float64{0.2, 0.4, 0.4}, maxBits,
					append(points, []float64{1 - 0x1p-40, 0x1p-40}, []float64{0x1p-40, 1 - 0x1p-40}))
			}}},
	}
}

// A Channel is a mechanism in mixture mode: draw i from mu, then the output from row i.
type Channel struct {
	Bits   int
	Lo, Hi []uint64
	Rows   [][]uint64
}

// NewChannel makes the channel of a cost, a privacy level and a base measure.
type NewChannel func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error)

// ChannelLaws returns the laws of the mixture mode.
func ChannelLaws() []proptest.Law[NewChannel] {
	return []proptest.Law[NewChannel]{
		{Name: "DiracMixture", Statement: "prop:dirac, proof", Check: DiracMixture,
			// near ties that a float32 does not see
			First: []func(proptest.TB, NewChannel){func(t proptest.TB, build NewChannel) {
				c := [][]float64{{1 + 0x1p-30, 1}, {1, 1 + 0x1p-30}}
				diracMixture(t, build, c, big.NewRat(1, 1), []float64{0.5, 0.5}, maxBits, []float64{0.25, 0.75})
			}}},
	}
}

// NewSampler returns a function that draws from integer weights of sum 2^bits, by ceil(bits/8) bytes of its
// reader taken as a little-endian number cut to bits bits: any fixed bijection would do, this one is the
// module's convention.
type NewSampler func(weights []uint64, bits int) (func(io.Reader) (int, error), error)

// SamplerLaws returns the laws of a sampler.
func SamplerLaws() []proptest.Law[NewSampler] {
	return []proptest.Law[NewSampler]{
		{Name: "SampleExact", Statement: "definition of LDP: a release has exactly the law it claims", Check: SampleExact},
		{Name: "SampleEdges", Statement: "the same at the ends of every outcome, for any B", Check: SampleEdges},
	}
}

const (
	maxBoxCols = 6
	maxInputs  = 5
	maxBits    = 62
)

// drawBits leans to the ends of the range.
func drawBits(t *rapid.T, least int) int {
	if rapid.Bool().Draw(t, "62 bits") {
		return maxBits
	}
	return rapid.IntRange(least, maxBits).Draw(t, "bits")
}

// CheckBox returns nil if and only if the integer box carries the guarantee and holds a point: lo_j <= hi_j,
// hi_j <= e^eps lo_j, sum lo <= 2^bits <= sum hi. It is the definition, in rationals and big integers.
func CheckBox(eps *big.Rat, lo, hi []uint64, bits int) error {
	return boxHolds(exact.NewExpo(eps), lo, hi, bits)
}

// CheckRows returns nil if and only if the rows of integer weights are eps-LDP: no weight is above e^eps times
// another one in its column.
func CheckRows(eps *big.Rat, rows [][]uint64) error { return exact.RowsHold(exact.NewExpo(eps), rows) }

// boxHolds is CheckBox.
func boxHolds(e *exact.Expo, lo, hi []uint64, bits int) error {
	sl, sh := new(big.Int), new(big.Int)
	for j := range lo {
		if lo[j] > hi[j] {
			return fmt.Errorf("column %d: lo %d > hi %d", j, lo[j], hi[j])
		}
		if !e.Holds(hi[j], lo[j]) {
			return fmt.Errorf("column %d: hi %d > e^%v * lo %d", j, hi[j], e.X, lo[j])
		}
		sl.Add(sl, new(big.Int).SetUint64(lo[j]))
		sh.Add(sh, new(big.Int).SetUint64(hi[j]))
	}
	total := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if sl.Cmp(total) > 0 || sh.Cmp(total) < 0 {
		return fmt.Errorf("no point: sum lo %v, sum hi %v, total %v", sl, sh, total)
	}
	return nil
}

// PolytopeIf (thm:polytope, "if"): the verdict on a box is that of the definition, one unit inside or outside
// e^eps included; and if the box is accepted, any two of its points are eps-LDP.
func PolytopeIf(t *rapid.T, verify VerifyFunc) {
	e := exact.NewExpo(proptest.ExactEpsilon().Draw(t, "eps"))
	bits := drawBits(t, 3)
	total := uint64(1) << bits
	lo := proptest.Composition(t, total, drawUsed(t, rapid.IntRange(1, maxBoxCols).Draw(t, "columns")))
	hi := make([]uint64, len(lo))
	// Lower some bounds, to make room, and put each hi at its limit; then break one rule, or none.
	for j := range lo {
		if lo[j] > 0 && rapid.Bool().Draw(t, "lower") {
			lo[j] = max(1, lo[j]-rapid.Uint64Range(0, lo[j]/2).Draw(t, "by"))
		}
		hi[j] = e.Floor(lo[j], total)
	}
	at := rapid.IntRange(0, len(lo)-1).Draw(t, "at")
	switch rapid.SampledFrom([]string{"none", "one unit too many", "narrow", "swapped", "crowded"}).Draw(t, "fault") {
	case "one unit too many":
		hi[at] = min(hi[at]+1, total)
	case "narrow": // no fault, unless too little is left
		for j := range hi {
			hi[j] = rapid.Uint64Range(lo[j], hi[j]).Draw(t, "hi")
		}
	case "swapped":
		lo[at], hi[at] = hi[at], lo[at]
	case "crowded": // sum lo is 2^B, which is no fault, or above
		for j := range lo {
			if rest := total - min(total, sumOf(lo)); lo[j] > 0 || j == at {
				lo[j] += rest
			}
			hi[j] = max(lo[j], hi[j])
		}
		lo[at] += rapid.SampledFrom([]uint64{0, 1, 2, total / 2}).Draw(t, "over")
		hi[at] = max(lo[at], e.Floor(lo[at], total))
	}
	if verdict(t, verify, e, lo, hi, bits) {
		row := func() []uint64 {
			key := rapid.Permutation(proptest.Indices(len(lo))).Draw(t, "order")
			return proptest.Fill(lo, hi, total, func(j int) float64 { return float64(key[j]) })
		}
		if err := exact.RowsHold(e, [][]uint64{row(), row()}); err != nil {
			t.Fatalf("an accepted box holds rows that are not LDP: %v", err)
		}
	}
}

// verdict compares the verdict on a box with the definition, and returns it.
func verdict(t proptest.TB, verify VerifyFunc, e *exact.Expo, lo, hi []uint64, bits int) bool {
	t.Helper()
	want := boxHolds(e, lo, hi, bits)
	got := verify(e.X, append([]uint64(nil), lo...), append([]uint64(nil), hi...), bits)
	if (want == nil) != (got == nil) {
		t.Fatalf("verdict %v, by definition %v\neps %v, bits %d, lo %d, hi %d", got, want, e.X, bits, lo, hi)
	}
	return want == nil
}

// sumOf returns the sum of bounds, at most six of at most 2^62 each, or 2^63 if it is more.
func sumOf(x []uint64) uint64 {
	s := uint64(0)
	for _, v := range x {
		s = min(s+v, 1<<63)
	}
	return s
}

func drawUsed(t *rapid.T, n int) []bool {
	used := make([]bool, n)
	for j := range used {
		used[j] = rapid.IntRange(0, 4).Draw(t, "used") > 0
	}
	used[rapid.IntRange(0, n-1).Draw(t, "surely used")] = true
	return used
}

// PolytopeOnlyIf (thm:polytope, "only if"): take an eps-LDP family that was not made from a box. The box that
// its rows span is accepted, and m = sqrt(max min) holds every row, as the proof says; at an eps too small
// for the family, the box is refused.
func PolytopeOnlyIf(t *rapid.T, verify VerifyFunc) {
	f := proptest.Families(rapid.IntRange(1, 4).Draw(t, "inputs"),
		rapid.IntRange(1, maxBoxCols).Draw(t, "outputs")).Draw(t, "family")
	e := exact.NewExpo(f.Epsilon)
	if err := exact.RowsHold(e, f.Rows); err != nil {
		t.Fatalf("the generator made rows that are not LDP: %v", err)
	}
	lo, hi := f.Span()
	if err := verify(f.Epsilon, lo, hi, f.Bits); err != nil {
		t.Fatalf("the box of an LDP family was refused: %v\n%#v", err, f)
	}
	for _, row := range f.Rows {
		for j, n := range row {
			// e^(-eps/2) m <= n <= e^(eps/2) m is max min <= e^eps n^2 and n^2 <= e^eps max min.
			square, product := new(big.Int).SetUint64(n), new(big.Int).SetUint64(lo[j])
			square.Mul(square, square)
			product.Mul(product, new(big.Int).SetUint64(hi[j]))
			s, p := new(big.Rat).SetInt(square), new(big.Rat).SetInt(product)
			if exact.Mul(e.Upper, s).Cmp(p) < 0 || exact.Mul(e.Upper, p).Cmp(s) < 0 {
				t.Fatalf("weight %d is outside the box of m = sqrt(%d * %d)", n, lo[j], hi[j])
			}
		}
	}
	if less := exact.Sub(f.Epsilon, big.NewRat(1, 1e6)); less.Sign() > 0 {
		if err := verify(less, lo, hi, f.Bits); err == nil {
			t.Fatalf("the box was accepted at eps %v, where its rows are not LDP\n%#v", less, f)
		}
	}
}

// drawBase draws a privacy level, a base measure and bits that leave room for its support.
func drawBase(t *rapid.T, kv int) (eps *big.Rat, m []float64, bits int) {
	eps = proptest.ExactEpsilon().Draw(t, "eps")
	return eps, proptest.BaseMeasure(kv, exact.Float(eps)).Draw(t, "m"), drawBits(t, 6)
}

func newBox(t proptest.TB, build NewBox, eps *big.Rat, m []float64, bits int) (b IntegerBox, lo, hi []uint64) {
	t.Helper()
	work := proptest.Clone(m)
	b, err := build(eps, work, bits)
	if err != nil {
		t.Fatalf("NewBox(%v, %v, %d): %v", eps, m, bits, err)
	}
	proptest.SameFloats(t, "m", work, m)
	if b.Len() != len(m) || b.Bits() != bits {
		t.Fatalf("NewBox(%v, %v, %d) has %d columns and %d bits", eps, m, bits, b.Len(), b.Bits())
	}
	for j := range m {
		lo, hi = append(lo, b.Lo(j)), append(hi, b.Hi(j))
	}
	return b, lo, hi
}

// BoxOfBaseMeasure: the integer box carries the guarantee, drops exactly the columns without mass, and is near
// 2^B [e^(-eps/2) m, e^(eps/2) m]: with H = ceil(2^B e^(eps/2) m) it has lo = ceil(e^-eps H) and
// hi = floor(e^eps lo), up to one unit, unless that box had no point and had to be moved.
func BoxOfBaseMeasure(t *rapid.T, build NewBox) {
	eps, m, bits := drawBase(t, proptest.Size(maxBoxCols).Draw(t, "kv"))
	_, lo, hi := newBox(t, build, eps, m, bits)
	e := exact.NewExpo(eps)
	if err := boxHolds(e, lo, hi, bits); err != nil {
		t.Fatalf("NewBox(%v, %v, %d) = %d, %d: %v", eps, m, bits, lo, hi, err)
	}
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	_, beta := exact.ExpBounds(exact.Mul(eps, big.NewRat(1, 2)), 192)
	ceil := func(r *big.Rat) *big.Rat {
		n := new(big.Int).Add(r.Num(), r.Denom())
		return new(big.Rat).SetInt(n.Sub(n, big.NewInt(1)).Div(n, r.Denom()))
	}
	sl, sh := new(big.Rat), new(big.Rat)
	var rule []*big.Rat
	for j, v := range m {
		if (v == 0) != (hi[j] == 0) || (v == 0) != (lo[j] == 0) {
			t.Fatalf("NewBox(%v, %v, %d): column %d with m = %v has [%d, %d]", eps, m, bits, j, v, lo[j], hi[j])
		}
		low := ceil(exact.Quo(ceil(exact.Mul(total, exact.Mul(beta, exact.Rat(v)))), e.Upper))
		rule = append(rule, low)
		sl.Add(sl, low)
		sh.Add(sh, exact.Mul(e.Lower, low))
	}
	kv := big.NewRat(int64(len(m)), 1)
	if exact.Add(sl, kv).Cmp(total) > 0 || exact.Sub(sh, kv).Cmp(total) < 0 {
		return // at an end of the mass: the box had to be moved
	}
	for j := range m {
		d := exact.Sub(exact.Integer(lo[j]), rule[j])
		if d.Abs(d).Cmp(big.NewRat(1, 1)) > 0 {
			t.Fatalf("NewBox(%v, %v, %d): lo[%d] = %d, by the rule %v", eps, m, bits, j, lo[j], rule[j].Num())
		}
	}
}

// RoundInBox: whatever a solver returns, the weights are a point of the box. They are also near its answer q: within
// |X-c|_1 + |2^B - sum c| + kv/2 of X = 2^B q in l1, where c is X cut to the box.
func RoundInBox(t *rapid.T, build NewBox) {
	kv := proptest.Size(maxBoxCols).Draw(t, "kv")
	eps, m, bits := drawBase(t, kv)
	roundInBox(t, build, eps, m, bits,
		rapid.OneOf(proptest.Hostile(kv), proptest.Shapes(kv), proptest.Mass(kv)).Draw(t, "q"))
}

func roundInBox(t proptest.TB, build NewBox, eps *big.Rat, m []float64, bits int, q []float64) {
	t.Helper()
	kv := len(m)
	b, lo, hi := newBox(t, build, eps, m, bits)
	work := proptest.Clone(q)
	n := b.Round(work)
	proptest.SameFloats(t, "q", work, q)
	what := fmt.Sprintf("Round(%v) in [%d, %d], %d bits = %d", q, lo, hi, bits, n)
	if len(n) != kv {
		t.Fatalf("%s: %d weights for %d columns", what, len(n), kv)
	}
	for j := range n {
		if n[j] < lo[j] || n[j] > hi[j] {
			t.Fatalf("%s: column %d is outside", what, j)
		}
	}
	if !exact.TotalIs(n, bits) {
		t.Fatalf("%s: the sum is not 2^%d", what, bits)
	}
	if len(q) != kv {
		return
	}
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	distance, outside, cut := new(big.Rat), new(big.Rat), new(big.Rat)
	for j, v := range q {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return // no distance to speak of
		}
		x := exact.Mul(total, exact.Rat(v))
		c := exact.Min(exact.Max(x, exact.Integer(lo[j])), exact.Integer(hi[j]))
		d := exact.Sub(exact.Integer(n[j]), x)
		distance.Add(distance, d.Abs(d))
		d = exact.Sub(x, c)
		outside.Add(outside, d.Abs(d))
		cut.Add(cut, c)
	}
	d := exact.Sub(total, cut)
	bound := exact.Add(outside, exact.Add(d.Abs(d), big.NewRat(int64(kv), 2)))
	if distance.Cmp(bound) > 0 {
		t.Fatalf("%s: l1 distance %v, want at most %v units", what, exact.Float(distance), exact.Float(bound))
	}
}

// CheckLDP fails the test unless the laws of the outputs for all the given inputs are eps-LDP, by comparing
// integers. It returns the weights.
func CheckLDP(t proptest.TB, m Mechanism, eps *big.Rat, bits int, inputs [][]float64) [][]uint64 {
	t.Helper()
	var rows [][]uint64
	for _, mu := range inputs {
		work := proptest.Clone(mu)
		n, err := m.Weights(work)
		if err != nil {
			t.Fatalf("Weights(%v): %v", mu, err)
		}
		proptest.SameFloats(t, "mu", work, mu)
		if !exact.TotalIs(n, bits) {
			t.Fatalf("Weights(%v) = %d do not sum to 2^%d", mu, n, bits)
		}
		if len(rows) > 0 && len(n) != len(rows[0]) {
			t.Fatalf("Weights(%v) has %d entries, another input %d", mu, len(n), len(rows[0]))
		}
		rows = append(rows, n)
	}
	if err := exact.RowsHold(exact.NewExpo(eps), rows); err != nil {
		t.Fatalf("not LDP: %v\ninputs %v", err, inputs)
	}
	return rows
}

// ProjectionLDP (prop:projection-ldp): for any two private distributions, point masses among them, the weights
// of every output differ by a factor of at most e^eps, in exact integers.
func ProjectionLDP(t *rapid.T, build NewMechanism) {
	k, kv := proptest.Size(maxInputs).Draw(t, "k"), proptest.Size(maxInputs).Draw(t, "kv")
	eps, m, bits := drawBase(t, kv)
	c := proptest.Costs(k, kv).Draw(t, "C")
	projectionLDP(t, build, c, eps, m, bits, rapid.SliceOfN(proptest.Mass(k), 2, 4).Draw(t, "inputs"))
}

func projectionLDP(t proptest.TB, build NewMechanism, c [][]float64, eps *big.Rat, m []float64, bits int,
	inputs [][]float64) {
	t.Helper()
	mech, err := build(proptest.Problem{C: c}.Clone().C, eps, proptest.Clone(m), bits)
	if err != nil {
		t.Fatalf("NewMechanism(%v, %v, %v, %d): %v", c, eps, m, bits, err)
	}
	CheckLDP(t, mech, eps, bits, inputs)
}

// DiracMixture (proof of prop:dirac): row i is an exact integer minimiser of <C_i, n> over the box, the rows
// are eps-LDP, and so the mixture sum mu_i row_i is as near to mu as sum mu_i φ_i says.
func DiracMixture(t *rapid.T, build NewChannel) {
	k, kv := proptest.Size(4).Draw(t, "k"), proptest.Size(4).Draw(t, "kv")
	eps, m, bits := drawBase(t, kv)
	c := proptest.Costs(k, kv).Draw(t, "C")
	diracMixture(t, build, c, eps, m, bits, proptest.Mass(k).Draw(t, "mu"))
}

func diracMixture(t proptest.TB, build NewChannel, c [][]float64, eps *big.Rat, m []float64, bits int,
	input []float64) {
	t.Helper()
	k, kv := len(c), len(c[0])
	ch, err := build(proptest.Problem{C: c}.Clone().C, eps, proptest.Clone(m), bits)
	if err != nil {
		t.Fatalf("NewChannel(%v, %v, %v, %d): %v", c, eps, m, bits, err)
	}
	what := fmt.Sprintf("C %v, eps %v, m %v: %+v", c, eps, m, ch)
	e := exact.NewExpo(eps)
	if err := boxHolds(e, ch.Lo, ch.Hi, ch.Bits); err != nil || ch.Bits != bits || len(ch.Rows) != k {
		t.Fatalf("%s: bad box or shape: %v", what, err)
	}
	if err := exact.RowsHold(e, ch.Rows); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	mu, err := exact.Distribution(input)
	if err != nil {
		t.Fatal(err)
	}
	total := uint64(1) << bits
	mix, mean := exact.Zeros(kv), new(big.Rat)
	for i, row := range ch.Rows {
		if len(row) != kv || !exact.TotalIs(row, bits) {
			t.Fatalf("%s: row %d does not sum to 2^%d", what, i, bits)
		}
		best := proptest.Fill(ch.Lo, ch.Hi, total, func(j int) float64 { return c[i][j] })
		got, want := weigh(c[i], row, total), weigh(c[i], best, total)
		for j, n := range row {
			if n < ch.Lo[j] || n > ch.Hi[j] {
				t.Fatalf("%s: row %d leaves the box at %d", what, i, j)
			}
			mix[j].Add(mix[j], exact.Mul(mu[i], exact.Quo(exact.Integer(n), exact.Integer(total))))
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("%s: row %d costs %v, the least is %v", what, i, exact.Float(got), exact.Float(want))
		}
		mean.Add(mean, exact.Mul(mu[i], got))
	}
	w, _, err := exact.Flow(proptest.ExactCost(c), mu, mix, mix)
	if err != nil {
		t.Fatal(err)
	}
	if w.Cmp(mean) > 0 {
		t.Fatalf("%s: the mixture costs %v, more than %v", what, exact.Float(w), exact.Float(mean))
	}
}

// weigh returns <c, n> / total.
func weigh(c []float64, n []uint64, total uint64) *big.Rat {
	s := new(big.Rat)
	for j := range c {
		s.Add(s, exact.Mul(exact.Rat(c[j]), exact.Integer(n[j])))
	}
	return s.Quo(s, exact.Integer(total))
}

// SampleExact: over all 2^B words, each outcome comes up exactly as often as its weight, and each draw reads exactly
// ceil(B/8) bytes. Bits above B are noise and must not matter.
func SampleExact(t *rapid.T, build NewSampler) {
	bits := rapid.IntRange(1, 10).Draw(t, "bits")
	total := 1 << bits
	kv := rapid.IntRange(1, min(maxBoxCols, total)).Draw(t, "kv")
	weights := proptest.Composition(t, uint64(total), drawUsed(t, kv))
	noise := rapid.Byte().Draw(t, "noise")
	sample, err := build(append([]uint64(nil), weights...), bits)
	if err != nil {
		t.Fatalf("NewSampler(%d, %d): %v", weights, bits, err)
	}
	count := make([]uint64, kv)
	size := (bits + 7) / 8
	for word := range total {
		b := []byte{byte(word), byte(word >> 8)}[:size]
		if bits%8 != 0 {
			b[size-1] |= noise << (bits % 8)
		}
		r := bytes.NewReader(append(b, 0xff))
		j, err := sample(r)
		if err != nil || j < 0 || j >= kv {
			t.Fatalf("sample of %d, word %d: outcome %d, %v", weights, word, j, err)
		}
		if r.Len() != 1 {
			t.Fatalf("sample of %d read %d bytes, want %d", weights, size+1-r.Len(), size)
		}
		count[j]++
	}
	for j := range weights {
		if count[j] != weights[j] {
			t.Fatalf("outcome %d came up %d times of %d, its weight is %d", j, count[j], total, weights[j])
		}
	}
	if j, err := sample(bytes.NewReader(make([]byte, size-1))); err == nil {
		t.Fatalf("sample of a reader that is one byte short: outcome %d, want an error", j)
	}
}

// SampleEdges: with c_j the sum of the weights of the first j outcomes, the words c_j - 1 and c_j are the last of one
// outcome and the first of the next with a weight, for every B up to 62: a sampler whose outcomes are intervals of
// words is exact if they end there. Some words between them are drawn as well. Bits above B must not matter.
func SampleEdges(t *rapid.T, build NewSampler) {
	bits := drawBits(t, 1)
	total := uint64(1) << bits
	kv := rapid.IntRange(1, int(min(maxBoxCols, total))).Draw(t, "kv")
	weights := proptest.Composition(t, total, drawUsed(t, kv))
	sample, err := build(append([]uint64(nil), weights...), bits)
	if err != nil {
		t.Fatalf("NewSampler(%d, %d): %v", weights, bits, err)
	}
	noise := rapid.Uint64().Draw(t, "noise")
	words := []uint64{0, total - 1, rapid.Uint64Range(0, total-1).Draw(t, "word")}
	c := uint64(0)
	for _, n := range weights {
		c += n
		words = append(words, c-1, c, c+1, c-n/2)
	}
	for _, x := range words {
		if x >= total { // before the first, or after the last
			continue
		}
		want, end := 0, weights[0]
		for x >= end {
			want++
			end += weights[want]
		}
		size := (bits + 7) / 8
		b := binary.LittleEndian.AppendUint64(nil, x|noise<<bits)
		r := bytes.NewReader(append(b[:size:size], 0xff))
		if j, err := sample(r); err != nil || j != want || r.Len() != 1 {
			t.Fatalf("sample of %d, %d bits, word %d: outcome %d after %d bytes, %v; want %d after %d",
				weights, bits, x, j, size+1-r.Len(), err, want, size)
		}
	}
}
