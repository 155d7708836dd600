package audit

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/internal/binomial"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Sampler draws n times for a client and adds one to counts[j] for every output j drawn. It must not use client.N. It
// must be safe for concurrent use with different clients unless Design.Serial is set, and should return early, with an
// error, when ctx ends. Errors and missing draws end the audit with ErrSampler.
type Sampler func(ctx context.Context, client Row, n int, counts []uint64) error

// DefaultFalseAlarm is the false-alarm rate of a Design that gives none.
const DefaultFalseAlarm = 1e-6

// DefaultOvershoot is the excess over eps, relative to it, for which a report says how many draws would be
// needed.
const DefaultOvershoot = 0.05

// maxColumns is how many columns a report shows.
const maxColumns = 20

// Design is a statistical audit to be made.
type Design struct {
	// Table is what is published: eps, the outputs, and one Row for each input to be audited, with its weights
	// where they are known. The draws of such a row are also compared with its weights.
	Table Table
	// Samples is n, the number of draws for each input, at most MaxSamples.
	Samples int
	// FalseAlarm is the probability that the verdict rejects a mechanism without fault, at most 1/2; 0 means
	// DefaultFalseAlarm.
	FalseAlarm float64
	// Overshoot is the excess over eps, relative to eps, for which the needed n is computed; 0 means DefaultOvershoot.
	Overshoot float64
	// Serial: draw for one input at a time, and not for as many as there are processors.
	Serial bool
	// Progress is called after every input, never concurrently; nil is fine.
	Progress func(done, total int)
}

// Statistics is the outcome of a statistical audit.
type Statistics struct {
	Epsilon    string   `json:"epsilon"`
	Inputs     []string `json:"inputs"` // names of the rows
	Samples    int      `json:"samples"`
	FalseAlarm Real     `json:"false_alarm"`
	Level      Real     `json:"level"` // of one bound
	// Violated: the loss is above eps, at the false-alarm rate. Lower is the lower bound on the loss that decides this; it
	// is 0 if the counts give no bound. Column is the column of this bound.
	Violated bool   `json:"violated"`
	Lower    Real   `json:"eps_lower"`
	Column   Column `json:"column"`
	// Observed is the largest ratio of frequencies, as a loss. It is close to the true loss if n is large, but is not a
	// bound.
	Observed Real `json:"observed"`
	// Law compares the draws with the published rows; nil if no row is known.
	Law *Law `json:"law,omitempty"`
	// Limit says what the audit could have found.
	Limit Limit `json:"limit"`
	// Columns are those with the largest lower bounds.
	Columns []Column `json:"columns"`
	// Counts are the draws: one slice for each input.
	Counts [][]uint64 `json:"-"`

	table Table
}

// Column compares the input that drew an output most often with the one that drew it least often.
type Column struct {
	Column   int    `json:"column"`
	Output   string `json:"output"`
	High     string `json:"high"` // names of the rows
	Low      string `json:"low"`
	Num      uint64 `json:"num"` // their counts
	Den      uint64 `json:"den"`
	Observed Real   `json:"observed"`
	Lower    Real   `json:"eps_lower"`
}

// Law compares draws with published rows.
type Law struct {
	Cells   int  `json:"cells"`
	Differs bool `json:"differs"`
	Outside int  `json:"outside"` // cells whose published probability is outside their bounds
	Apart   int  `json:"apart"`   // rows whose outputs together are, as in Together
	// Together is the most surprising row as a whole.
	Together Together `json:"together"`
	// The most surprising cell, with its bounds.
	Row       string `json:"row"`
	Output    string `json:"output"`
	Count     uint64 `json:"count"`
	Published Real   `json:"published"`
	Lower     Real   `json:"lower"`
	Upper     Real   `json:"upper"`
}

// Together is a set of outputs of one row: those that a random half of its draws had more often than published. Their
// sum in the other half, which is independent, is tested. This finds a row that is slightly wrong in many outputs.
type Together struct {
	Row       string `json:"row"`
	Outputs   int    `json:"outputs"`
	Count     uint64 `json:"count"`
	Draws     uint64 `json:"draws"`
	Published Real   `json:"published"` // probability of the set
}

// Limit is what n draws can find.
type Limit struct {
	// Easiest and Hardest are the columns where the published probabilities make an excess easiest and hardest
	// to see.
	Easiest ColumnLimit `json:"easiest"`
	Hardest ColumnLimit `json:"hardest"`
	// Target is the excess that Needed is about: Design.Overshoot times eps.
	Target Real `json:"target"`
}

// ColumnLimit is the detection limit of a column.
type ColumnLimit struct {
	Output string `json:"output"`
	Least  Real   `json:"least"` // the smallest published probability of this output among the audited inputs
	// Overshoot is the smallest loss minus eps that is flagged with probability at least 1/2.
	Overshoot Real `json:"overshoot"`
	// Needed is about the n at which an excess of Target is; 0 if none up to MaxSamples.
	Needed int64 `json:"needed"`
}

// Statistical draws and decides. Its error is ErrTable, ErrDesign, ErrSampler (with the sampler's own) or the
// context's.
func Statistical(ctx context.Context, d Design, s Sampler) (Statistics, error) {
	ctx = wpmerr.Context(ctx)
	t := d.Table
	if err := t.check(); err != nil {
		return Statistics{}, err
	}
	if d.FalseAlarm == 0 {
		d.FalseAlarm = DefaultFalseAlarm
	}
	if d.Overshoot == 0 {
		d.Overshoot = DefaultOvershoot
	}
	switch {
	case !(d.FalseAlarm > 0 && d.FalseAlarm <= 0.5):
		return Statistics{}, fmt.Errorf("%w: false-alarm rate %v, want one in (0, 0.5]", ErrDesign, d.FalseAlarm)
	case !(d.Overshoot > 0 && d.Overshoot <= maxOvershoot):
		return Statistics{}, fmt.Errorf("%w: overshoot %v, want one in (0, %d]", ErrDesign, d.Overshoot, maxOvershoot)
	case d.Samples < 1 || int64(d.Samples) > MaxSamples:
		return Statistics{}, fmt.Errorf("%w: %d samples, want 1 to 2^40", ErrDesign, d.Samples)
	case len(t.Rows) < 2:
		return Statistics{}, fmt.Errorf("%w: %d inputs, want at least 2 to compare", ErrDesign, len(t.Rows))
	case s == nil:
		return Statistics{}, fmt.Errorf("%w: no sampler", ErrDesign)
	}
	for _, row := range t.Rows {
		if row.N != nil && len(row.N) != len(t.Lo) {
			return Statistics{}, fmt.Errorf("%w: %s has %d weights for %d outputs", ErrTable, row.Name, len(row.N), len(t.Lo))
		}
	}
	counts, err := drawAll(ctx, d, s)
	if err != nil {
		return Statistics{}, err
	}
	return evaluate(d, counts)
}

// drawAll fills one slice of counts for each row. The error is that of the first row that fails.
func drawAll(ctx context.Context, d Design, s Sampler) ([][]uint64, error) {
	rows := d.Table.Rows
	counts := make([][]uint64, len(rows))
	draw := func(i int) error {
		counts[i] = make([]uint64, len(d.Table.Lo))
		return drawRow(ctx, rows[i], d.Samples, counts[i], s)
	}
	progress := func(done int) {
		if d.Progress != nil {
			d.Progress(done, len(rows))
		}
	}
	if !d.Serial {
		return counts, parallel.Each(ctx, len(rows), draw, progress)
	}
	for i := range rows {
		if err := draw(i); err != nil {
			return counts, err
		}
		progress(i + 1)
	}
	return counts, nil
}

func drawRow(ctx context.Context, row Row, n int, counts []uint64, s Sampler) error {
	if err := wpmerr.Ended(ctx); err != nil {
		return err
	}
	if err := call(ctx, s, row, n, counts); err != nil {
		if cerr := wpmerr.Ended(ctx); cerr != nil { // whatever it says, it was interrupted: a killed program leaves half a line
			return cerr
		}
		return fmt.Errorf("%w: %s: %w", ErrSampler, row.Name, err)
	}
	if over, got := sum(counts); over != 0 || got != uint64(n) {
		return fmt.Errorf("%w: %s: %s draws, want %d", ErrSampler, row.Name, sumText(over, got), n)
	}
	return nil
}

// call keeps a panic of the sampler, which is somebody else's code, from ending the process.
func call(ctx context.Context, s Sampler, client Row, n int, counts []uint64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return s(ctx, client, n, counts)
}

// evaluate turns counts into a verdict.
func evaluate(d Design, counts [][]uint64) (Statistics, error) {
	t, n, alarm := d.Table, d.Samples, d.FalseAlarm
	k, kv := len(counts), len(t.Lo)
	eps := t.Epsilon.Float64()
	st := Statistics{
		Epsilon: t.Epsilon.String(), Samples: n, FalseAlarm: Real(alarm),
		Observed: Real(math.Inf(-1)), Counts: counts, table: t,
	}
	laws, known := make([][]probability, k), 0
	for i, row := range t.Rows {
		st.Inputs = append(st.Inputs, row.Name)
		if laws[i] = t.law(row); laws[i] != nil {
			known++
		}
	}
	// Two bounds for each cell, and a test of each known row as a whole. A bound counts once. To count it once for every
	// pair that uses it, as is often done, gives the same guarantee with less power.
	level := alarm / float64(2*k*kv+known)
	st.Level = Real(level)
	in := intervals{n: int64(n), level: level, known: map[uint64][2]float64{}}
	var columns []Column
	lower := math.Inf(-1)
	for j := range kv {
		high, low := 0, 0
		for i := range counts {
			if counts[i][j] > counts[high][j] {
				high = i
			}
			if counts[i][j] < counts[low][j] {
				low = i
			}
		}
		c := Column{
			Column: j, Output: t.output(j), High: t.Rows[high].Name, Low: t.Rows[low].Name,
			Num: counts[high][j], Den: counts[low][j],
		}
		if c.Num == 0 {
			continue // never drawn
		}
		l, u := in.of(c.Num)[0], in.of(c.Den)[1]
		c.Observed = Real(math.Log(float64(c.Num) / float64(c.Den)))
		c.Lower = Real(math.Log(l / u))
		columns = append(columns, c)
		if float64(c.Lower) > lower {
			lower, st.Column = float64(c.Lower), c
		}
		st.Observed = max(st.Observed, c.Observed)
	}
	st.Lower = Real(max(0, lower)) // every mechanism has a loss of at least 0
	st.Violated = lower > eps
	slices.SortStableFunc(columns, func(a, b Column) int {
		switch {
		case a.Lower > b.Lower:
			return -1
		case a.Lower < b.Lower:
			return 1
		}
		return 0
	})
	st.Columns = columns[:min(len(columns), maxColumns)]
	st.Limit = limits(t, laws, n, level, d.Overshoot*eps)
	if in.err != nil {
		return st, in.err
	}
	var err error
	st.Law, err = compareLaw(t, laws, counts, int64(n), level)
	return st, err
}

// intervals remembers bounds: many cells have the same count.
type intervals struct {
	n     int64
	level float64
	known map[uint64][2]float64
	err   error
}

func (in *intervals) of(x uint64) [2]float64 {
	b, ok := in.known[x]
	if !ok {
		l, u, err := Interval(int64(x), in.n, in.level)
		if err != nil && in.err == nil { // not possible: counts sum to n, level is in range
			in.err = err
		}
		b = [2]float64{l, u}
		in.known[x] = b
	}
	return b
}

// compareLaw compares the counts with the published rows: each cell, and the outputs of a row together. A published
// probability is outside its bounds if and only if the tail of its count, on that probability, is below the level.
func compareLaw(t Table, laws [][]probability, counts [][]uint64, n int64, level float64) (*Law, error) {
	law := &Law{}
	worst, apart, p := math.Inf(1), math.Inf(1), 0.0
	for i, row := range t.Rows {
		for j, cell := range laws[i] {
			law.Cells++
			side := binomial.LogTail(int64(counts[i][j]), n, cell.p, cell.rest)
			if side < math.Log(level) {
				law.Outside++
			}
			if side < worst {
				worst, p = side, cell.p
				law.Row, law.Output, law.Count = row.Name, t.output(j), counts[i][j]
			}
		}
		if laws[i] == nil {
			continue
		}
		set, side := together(laws[i], counts[i], i)
		if side < math.Log(level) {
			law.Apart++
		}
		if side < apart {
			apart, law.Together = side, set
			law.Together.Row = row.Name
		}
	}
	if law.Cells == 0 {
		return nil, nil
	}
	l, u, err := Interval(int64(law.Count), n, level)
	law.Published, law.Lower, law.Upper = Real(p), Real(l), Real(u)
	law.Differs = law.Outside+law.Apart > 0
	return law, err
}

// splitSeed fixes how draws are cut in two: the same counts give the same report.
const splitSeed = 1

// together cuts the draws of a row in two at random, takes the outputs that the first half has more often than
// published, and returns how often the second half has them, with the logarithm of the probability of so many or
// more. The halves are independent, so the set may depend on the first. A row that is wrong in many outputs by a
// little each shows here when no single one is far out.
func together(law []probability, counts []uint64, row int) (Together, float64) {
	rng := rand.NewChaCha8(key("split", splitSeed, int64(row)))
	first, second := make([]uint64, len(counts)), make([]uint64, len(counts))
	var half, rest uint64
	for j, c := range counts {
		for left := c; left > 0; {
			some := min(left, 64)
			first[j] += uint64(bits.OnesCount64(rng.Uint64() >> (64 - some))) // a coin for each
			left -= some
		}
		second[j] = c - first[j]
		half, rest = half+first[j], rest+second[j]
	}
	set := Together{Draws: rest}
	var in, out float64
	for j, cell := range law {
		if float64(first[j]) > float64(half)*cell.p {
			set.Outputs++
			set.Count += second[j]
			in += cell.p
		} else {
			out += cell.p
		}
	}
	set.Published = Real(in)
	if float64(set.Count) <= float64(rest)*in {
		return set, 0
	}
	return set, binomial.LogTail(int64(set.Count), int64(rest), in, out)
}

// limits finds the detection limits at the published probabilities. An excess is the harder to see, the smaller
// the smaller probability: so the two ends are columns with the largest and the smallest of those.
func limits(t Table, laws [][]probability, n int, level, target float64) Limit {
	eps := t.Epsilon.Float64()
	least := func(j int) float64 {
		m := math.Inf(1)
		for _, law := range laws {
			if law != nil {
				m = min(m, law[j].p)
			}
		}
		if math.IsInf(m, 1) {
			m = math.Ldexp(float64(t.Lo[j]), -t.Bits)
		}
		return m
	}
	easy, hard := -1, -1
	for j := range t.Lo {
		if least(j) == 0 {
			continue // not in use, or not published for some input: any draw is a deviation from the law
		}
		if easy < 0 || least(j) > least(easy) {
			easy = j
		}
		if hard < 0 || least(j) < least(hard) {
			hard = j
		}
	}
	l := Limit{Target: Real(target)}
	for _, c := range []struct {
		into *ColumnLimit
		j    int
	}{{&l.Easiest, easy}, {&l.Hardest, hard}} {
		if c.j < 0 {
			c.into.Overshoot = Real(math.Inf(1))
			continue
		}
		p := least(c.j)
		if c.into == &l.Hardest && Real(p) == l.Easiest.Least {
			*c.into = l.Easiest
			c.into.Output = t.output(c.j)
			continue
		}
		*c.into = ColumnLimit{
			Output: t.output(c.j), Least: Real(p),
			Overshoot: Real(Overshoot(p, eps, level, int64(n))),
			Needed:    SamplesFor(p, eps, target, level),
		}
	}
	return l
}
