package audit

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// Fallback is the input of clients without usable data.
const Fallback = -1

// Table is a mechanism as the integers that it consists of. It may be invalid, which the checks decide.
type Table struct {
	Epsilon ldp.Epsilon
	Bits    int
	Lo, Hi  []uint64
	Rows    []Row
	Outputs []string // labels; nil: the index in decimal
}

// Row is one client that is audited, and the row of weights that it should draw from: an output j has probability
// N[j] / 2^Bits.
type Row struct {
	Name   string
	Input  int      // where the client has all its data; Fallback for none that are usable, Mixed for Shares
	N      []uint64 // nil: not known, or Mixed
	Shares []Share  // of a Mixed client

	law []probability // of a Mixed client; nil: not known
}

// TableOf returns the box of a policy with the published rows of the given inputs, which may include Fallback (all
// inputs if none are given). If the policy publishes no rows, the rows of inputs are not known. Errors: ErrTable for
// the zero policy, ErrDesign for an input that it does not have, and those of policy.Policy.Row.
func TableOf(p policy.Policy, inputs ...int) (Table, error) {
	t, err := boxOf(p)
	if err != nil {
		return Table{}, err
	}
	if len(inputs) == 0 {
		for i := range p.Inputs() {
			inputs = append(inputs, i)
		}
	}
	for _, i := range inputs {
		w, row := p.Fallback(), Row{Name: nameOf(p, i), Input: i}
		switch {
		case i == Fallback:
		case i < 0 || i >= p.Inputs():
			return Table{}, fmt.Errorf("%w: input %d of %d", ErrDesign, i, p.Inputs())
		case !p.HasRows():
			t.Rows = append(t.Rows, row)
			continue
		default:
			if w, err = p.Row(i); err != nil {
				return Table{}, err
			}
		}
		row.N = weights(w)
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// boxOf returns the table of a policy without rows.
func boxOf(p policy.Policy) (Table, error) {
	if p.IsZero() {
		return Table{}, fmt.Errorf("%w: no policy", ErrTable)
	}
	box := p.Polytope()
	t := Table{Epsilon: box.Epsilon(), Bits: box.Bits(), Outputs: p.OutputLabels()}
	for j := range box.Len() {
		t.Lo, t.Hi = append(t.Lo, box.Lo(j)), append(t.Hi, box.Hi(j))
	}
	return t, nil
}

// law returns the probabilities of a row, nil if they are not known. The weights of a faulty table may be anything.
func (t Table) law(row Row) []probability {
	if row.N == nil {
		return row.law
	}
	law := make([]probability, len(row.N))
	for j, n := range row.N {
		n = min(n, t.total())
		law[j] = probability{math.Ldexp(float64(n), -t.Bits), math.Ldexp(float64(t.total()-n), -t.Bits)}
	}
	return law
}

func nameOf(p policy.Policy, i int) string {
	if i == Fallback {
		return "fallback"
	}
	return "input " + p.InputLabel(i)
}

func weights(w ldp.Weights) []uint64 {
	n := make([]uint64, w.Len())
	for j := range n {
		n[j] = w.At(j)
	}
	return n
}

func (t Table) output(j int) string {
	if j < 0 || j >= len(t.Outputs) {
		return strconv.Itoa(j)
	}
	return t.Outputs[j]
}

// check refuses what no check can read.
func (t Table) check() error {
	switch {
	case t.Epsilon.IsZero():
		return fmt.Errorf("%w: no epsilon", ErrTable)
	case t.Bits < 1 || t.Bits > 62:
		return fmt.Errorf("%w: %d bits, want 1 to 62", ErrTable, t.Bits)
	case len(t.Lo) == 0 || len(t.Lo) != len(t.Hi):
		return fmt.Errorf("%w: %d lower and %d upper bounds", ErrTable, len(t.Lo), len(t.Hi))
	case t.Outputs != nil && len(t.Outputs) != len(t.Lo):
		return fmt.Errorf("%w: %d output labels for %d outputs", ErrTable, len(t.Outputs), len(t.Lo))
	}
	return nil
}

// total returns 2^Bits.
func (t Table) total() uint64 { return 1 << uint(t.Bits) }

// sum returns over 2^64 + s, exactly.
func sum(n []uint64) (over, s uint64) {
	for _, x := range n {
		var c uint64
		s, c = bits.Add64(s, x, 0)
		over += c
	}
	return over, s
}

// rowFault says what is wrong with a row of weights, "" if it is a point of the box.
func (t Table) rowFault(n []uint64) string {
	if len(n) != len(t.Lo) {
		return fmt.Sprintf("%d weights for %d outputs", len(n), len(t.Lo))
	}
	for j, v := range n {
		if v < t.Lo[j] || v > t.Hi[j] {
			return fmt.Sprintf("weight %d of output %s is outside [%d, %d]", v, t.output(j), t.Lo[j], t.Hi[j])
		}
	}
	if over, s := sum(n); over != 0 || s != t.total() {
		return fmt.Sprintf("the weights sum to %s, not to 2^%d", sumText(over, s), t.Bits)
	}
	return ""
}

func sumText(over, s uint64) string {
	if over != 0 {
		return "2^64 or more"
	}
	return strconv.FormatUint(s, 10)
}
