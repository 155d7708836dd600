package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/wpm-go/wpm/internal/discs"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// Check is the outcome of one exact check: a decision about integers.
type Check struct {
	Name   string `json:"name"`
	What   string `json:"what"` // was checked
	Passed bool   `json:"passed"`
	Fault  string `json:"fault,omitempty"` // the first one
	Rows   int    `json:"rows,omitempty"`  // looked at
	Worst  *Pair  `json:"worst,omitempty"` // the pair of weights that is farthest apart
}

// Pair is two weights of one column: of two rows, or the two sides of the box.
type Pair struct {
	Column    int
	Output    string // its label
	High, Low string // names of the rows
	Num, Den  uint64 // the weights, Num >= Den
	Loss      Real   // ln(Num/Den), for reading: the verdict is Spare
	Spare     *big.Int
	Within    bool // Num <= e^eps Den, that is Spare >= 0, where Spare = floor(e^eps Den) - Num
}

// MarshalJSON writes integers, which may exceed 2^53, as strings. There is no error.
func (p Pair) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Column int    `json:"column"`
		Output string `json:"output"`
		High   string `json:"high"`
		Low    string `json:"low"`
		Num    string `json:"num"`
		Den    string `json:"den"`
		Loss   Real   `json:"loss"`
		Spare  string `json:"spare"`
		Within bool   `json:"within"`
	}{p.Column, p.Output, p.High, p.Low, strconv.FormatUint(p.Num, 10), strconv.FormatUint(p.Den, 10), p.Loss,
		p.Spare.String(), p.Within})
}

func (p Pair) String() string {
	verdict := "within"
	if !p.Within {
		verdict = "beyond"
	}
	return fmt.Sprintf("output %s: %d (%s) over %d (%s), loss %v, %s the bound, %v units to spare", p.Output, p.Num,
		p.High, p.Den, p.Low, p.Loss, verdict, p.Spare)
}

// newPair decides a pair. num >= den.
func (t Table) newPair(column int, high, low string, num, den uint64) *Pair {
	p := &Pair{Column: column, Output: t.output(column), High: high, Low: low, Num: num, Den: den}
	p.Loss = Real(math.Log(float64(num) / float64(den))) // +Inf for den = 0 < num
	p.Spare = floorExp(t.Epsilon.Rat(), den)
	p.Spare.Sub(p.Spare, new(big.Int).SetUint64(num))
	p.Within = p.Spare.Sign() >= 0
	return p
}

// farther reports whether a/b > c/d, where x/0 is infinite and 0/0 is nothing.
func farther(a, b, c, d uint64) bool {
	if a == 0 {
		return false
	}
	h1, l1 := bits.Mul64(a, d)
	h2, l2 := bits.Mul64(c, b)
	return h1 > h2 || h1 == h2 && l1 > l2
}

// Box decides whether the bounds of a table carry the guarantee: lo_j <= hi_j <= 2^B and hi_j <= e^eps lo_j for
// every column, sum lo <= 2^B <= sum hi. The worst pair is the column with the largest hi_j/lo_j.
func Box(t Table) Check {
	c := Check{Name: "box", What: "lo <= hi <= 2^B and hi <= e^eps lo in every column, sum lo <= 2^B <= sum hi"}
	if err := t.check(); err != nil {
		c.Fault = err.Error()
		return c
	}
	worst, num, den := -1, uint64(0), uint64(1)
	for j := range t.Lo {
		lo, hi := t.Lo[j], t.Hi[j]
		if c.Fault == "" && lo > hi {
			c.Fault = fmt.Sprintf("output %s: lo = %d above hi = %d", t.output(j), lo, hi)
		}
		if c.Fault == "" && hi > t.total() {
			c.Fault = fmt.Sprintf("output %s: hi = %d above 2^%d", t.output(j), hi, t.Bits)
		}
		if farther(hi, lo, num, den) {
			worst, num, den = j, hi, lo
		}
	}
	if worst >= 0 {
		c.Worst = t.newPair(worst, "hi", "lo", num, den)
		if c.Fault == "" && !c.Worst.Within {
			c.Fault = fmt.Sprintf("output %s: hi = %d above e^%v times lo = %d", c.Worst.Output, num, t.Epsilon, den)
		}
	}
	if over, s := sum(t.Lo); c.Fault == "" && (over != 0 || s > t.total()) {
		c.Fault = fmt.Sprintf("lower bounds sum to %s, above 2^%d", sumText(over, s), t.Bits)
	}
	if over, s := sum(t.Hi); c.Fault == "" && over == 0 && s < t.total() {
		c.Fault = fmt.Sprintf("upper bounds sum to %s, below 2^%d", sumText(over, s), t.Bits)
	}
	c.Passed = c.Fault == ""
	return c
}

// rowCheck checks rows as they come: each against the box, and all against each other by the extremes of every
// column.
type rowCheck struct {
	t          Table
	c          Check
	high, low  []uint64 // of every column
	hasH, hasL []int32  // which rows have them
	names      []string
}

func newRowCheck(t Table, name, what string) *rowCheck {
	r := &rowCheck{t: t, c: Check{Name: name, What: what}}
	if err := t.check(); err != nil {
		r.c.Fault = err.Error()
		return r
	}
	kv := len(t.Lo)
	r.high, r.low, r.hasH, r.hasL = make([]uint64, kv), make([]uint64, kv), make([]int32, kv), make([]int32, kv)
	return r
}

func (r *rowCheck) add(name string, n []uint64) {
	if r.high == nil {
		return
	}
	if fault := r.t.rowFault(n); fault != "" && r.c.Fault == "" {
		r.c.Fault = name + ": " + fault
	}
	if len(n) != len(r.high) {
		return
	}
	at := int32(len(r.names))
	r.names = append(r.names, name)
	for j, v := range n {
		if at == 0 || v > r.high[j] {
			r.high[j], r.hasH[j] = v, at
		}
		if at == 0 || v < r.low[j] {
			r.low[j], r.hasL[j] = v, at
		}
	}
}

func (r *rowCheck) done() Check {
	r.c.Rows = len(r.names)
	worst, num, den := -1, uint64(0), uint64(1)
	for j := range r.high {
		if farther(r.high[j], r.low[j], num, den) {
			worst, num, den = j, r.high[j], r.low[j]
		}
	}
	if worst >= 0 && len(r.names) > 0 {
		r.c.Worst = r.t.newPair(worst, r.names[r.hasH[worst]], r.names[r.hasL[worst]], num, den)
		if w := r.c.Worst; r.c.Fault == "" && !w.Within {
			r.c.Fault = fmt.Sprintf("output %s: %d in %s is above e^%v times %d in %s", w.Output, w.Num, w.High, r.t.Epsilon,
				w.Den, w.Low)
		}
	}
	r.c.Passed = r.c.Fault == ""
	return r.c
}

// Rows decides whether the rows of a table that are known lie in the box, and finds the worst pair of two of
// them.
func Rows(t Table) Check {
	r := newRowCheck(t, "rows", "every row a point of the box; every two rows within e^eps of each other")
	for _, row := range t.Rows {
		if row.N != nil {
			r.add(row.Name, row.N)
		}
	}
	return r.done()
}

// Random checks rows that a client might draw from: count rows, from a seeded source. They start from garbage (NaN,
// infinities, negative and huge numbers, wrong sums and lengths). If project is not nil, every twentieth row is its
// answer to a random distribution. All rows are rounded by the policy's own Polytope. This is a simulation. Errors:
// ErrTable for the zero policy, and that of ctx.
func Random(ctx context.Context, p policy.Policy, count int, seed uint64, project policy.ProjectFunc) (Check, error) {
	ctx = wpmerr.Context(ctx)
	t, err := boxOf(p)
	if err != nil {
		return Check{}, err
	}
	what := fmt.Sprintf("simulation, seed %d: garbage vectors", seed)
	if project != nil {
		what += " and projections of random distributions"
	}
	r := newRowCheck(t, "random rows", what+", rounded into the box")
	rng := rand.New(rand.NewChaCha8(key("random rows", seed, 0)))
	for i := range count {
		if err := wpmerr.Ended(ctx); err != nil {
			return Check{}, err
		}
		var q []float64
		kind := "garbage"
		if project != nil && i%projectEvery == projectEvery-1 {
			kind = "projection"
			q, _ = project(ctx, randomMeasure(rng, p.Inputs())) // after an error q is as good as any garbage
		} else {
			q = garbage(rng, p.Outputs())
		}
		r.add(kind+" "+strconv.Itoa(i), weights(p.Polytope().Round(q)))
	}
	return r.done(), wpmerr.Ended(ctx)
}

// projectEvery keeps solvers, which take milliseconds, from making the check long.
const projectEvery = 20

// garbage returns what a broken solver might. Most entries are ordinary, or else every vector would round
// alike.
func garbage(rng *rand.Rand, kv int) []float64 {
	n := kv
	if rng.IntN(16) == 0 {
		n = rng.IntN(2*kv + 1)
	}
	odd := [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Copysign(0, -1), 1e9}
	rate := [...]float64{0, 0.01, 0.5, 1}[rng.IntN(4)]
	scale := math.Exp(20 * (rng.Float64() - 0.5))
	q := make([]float64, n)
	for j := range q {
		if rng.Float64() < rate {
			q[j] = odd[rng.IntN(len(odd))]
		} else {
			q[j] = scale * rng.ExpFloat64() / float64(kv)
		}
	}
	return q
}

// randomMeasure returns a distribution on a few or all of k points.
func randomMeasure(rng *rand.Rand, k int) []float64 {
	mu := make([]float64, k)
	points := k
	if rng.IntN(2) == 0 {
		points = 1 + rng.IntN(min(k, 5))
	}
	total := 0.0
	for range points {
		x := rng.ExpFloat64()
		mu[rng.IntN(k)] += x
		total += x
	}
	for i := range mu {
		mu[i] /= total
	}
	return mu
}

// key derives an independent stream for every purpose.
func key(purpose string, seed uint64, stream int64) [32]byte {
	b := binary.LittleEndian.AppendUint64([]byte("wpm audit: "+purpose+": "), seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(stream))
	return sha256.Sum256(b)
}

// Exact runs the exact checks of a policy: ldp's own verdict, the box, every published row with the fallback, the
// thresholds of a policy with a geometry, and random rows if asked for. The error is of the context, or ErrTable for
// the zero Policy.
func Exact(ctx context.Context, p policy.Policy, random int, seed uint64, project policy.ProjectFunc) ([]Check, error) {
	ctx = wpmerr.Context(ctx)
	t, err := boxOf(p)
	if err != nil {
		return nil, err
	}
	own := Check{Name: "ldp", What: "the verdict of packages ldp and policy, which share no code with the checks below"}
	if err := policy.Verify(p); err != nil {
		own.Fault = err.Error()
	}
	own.Passed = own.Fault == ""
	checks := []Check{own, Box(t)}
	r := newRowCheck(t, "published rows",
		"every published row and the fallback a point of the box; every two of them within e^eps of each other")
	if p.HasRows() {
		for i := range p.Inputs() {
			if err := wpmerr.Ended(ctx); err != nil {
				return nil, err
			}
			w, err := p.Row(i)
			if err != nil {
				return nil, err
			}
			r.add(nameOf(p, i), weights(w))
		}
	}
	r.add(nameOf(p, Fallback), weights(p.Fallback()))
	checks = append(checks, r.done())
	if p.Geometry() != nil {
		c := Check{Name: "thresholds",
			What: "every row the greedy fill by its geometry, which its use rests on, and no privacy", Passed: true}
		if err := Thresholds(ctx, p); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			c.Passed, c.Fault = false, err.Error()
		}
		checks = append(checks, c)
	}
	if random > 0 {
		c, err := Random(ctx, p, random, seed, project)
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// rowsBlock is how many inputs Thresholds hands to a goroutine at a time.
const rowsBlock = 64

// Thresholds is policy.VerifyRows for all inputs, on all cores. The error is that of the first input at any GOMAXPROCS.
// For points and grids a tree of the outputs finds what is right, in O(sqrt kv) an input; what it does not find right,
// policy.VerifyRows decides.
func Thresholds(ctx context.Context, p policy.Policy) error {
	ctx = wpmerr.Context(ctx)
	k, rows := p.Inputs(), discs.Of(p)
	return parallel.Each(ctx, (k+rowsBlock-1)/rowsBlock, func(block int) error {
		from, to := block*rowsBlock, min((block+1)*rowsBlock, k)
		var spans []int32
		for ; rows != nil && from < to; from++ {
			var rest uint64
			var ok bool
			if spans, _, rest, ok = rows.Disc(from, spans[:0]); !ok || rest == 0 && len(spans) > 0 {
				break // with nothing left, an output before it is the threshold
			}
		}
		return policy.VerifyRows(ctx, p, from, to)
	}, nil)
}
