package network

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/wpm-go/wpm/wpmerr"
)

const (
	// maxLine is the longest line that is not a comment.
	maxLine = 4096
	// freeNodes is how many nodes a file may announce whatever it holds. A larger number must be borne out
	// by as many lines, so that a file of a few bytes cannot ask for gigabytes.
	freeNodes = 1 << 20
)

// ReadDIMACS reads a network in the DIMACS format for minimum-cost flows (".min"):
//
//	c a comment
//	p min NODES ARCS
//	n NODE SUPPLY
//	a FROM TO LOWER UPPER COST
//
// Nodes count from 1 in the file and from 0 in the Problem; a node without a line has no
// supply, and arcs keep their order. Numbers are decimal integers of 64 bits. UPPER "inf" means that
// there is no upper bound, and so does -1 where LOWER is not negative, as other programs write
// it; LOWER "-inf" means that there is no lower bound.
//
// Everything else is an error that wraps ErrSyntax and names the line and the value: a line out of
// place, a field too few or too many, a node that does not exist or whose supply is given twice, an upper
// bound below the lower one, more or fewer arcs than announced. Lines without fields are skipped.
// Memory grows with what has been read, not with what the file announces.
func ReadDIMACS(r io.Reader) (*Problem, error) {
	d := dimacs{in: bufio.NewReaderSize(r, maxLine), supplies: make(map[int]supplyLine)}
	for {
		fields, err := d.next()
		if err == io.EOF {
			return d.finish()
		}
		if err == nil {
			err = d.read(fields)
		}
		if err != nil {
			return nil, err
		}
	}
}

type supplyLine struct {
	supply int64
	line   int
}

type dimacs struct {
	in          *bufio.Reader
	line        int
	announced   bool
	nodes, arcs int
	supplies    map[int]supplyLine // by node
	net         Problem
}

func (d *dimacs) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrSyntax, d.line, fmt.Sprintf(format, args...))
}

// next returns the fields of the next line that is neither empty nor a comment.
func (d *dimacs) next() ([][]byte, error) {
	for {
		d.line++
		text, long, err := d.in.ReadLine()
		fields := bytes.Fields(text)
		comment := len(fields) > 0 && string(fields[0]) == "c"
		if comment && long { // as long as it likes
			long, err = false, d.skip()
		}
		switch {
		case err == io.EOF:
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", d.line, err)
		case long:
			return nil, d.errorf("longer than %d bytes", maxLine)
		case len(fields) > 0 && !comment:
			return fields, nil
		}
	}
}

// skip reads to the end of a line.
func (d *dimacs) skip() (err error) {
	for long := true; long; {
		_, long, err = d.in.ReadLine()
	}
	return err
}

func (d *dimacs) read(f [][]byte) error {
	switch kind := string(f[0]); {
	case kind == "p":
		return d.problem(f)
	case kind != "n" && kind != "a":
		return d.errorf("begins with %.40q; want c, p, n or a", kind)
	case !d.announced:
		return d.errorf("%q before the line \"p min NODES ARCS\"", kind)
	case kind == "n":
		return d.node(f)
	}
	return d.arc(f)
}

func (d *dimacs) problem(f [][]byte) error {
	switch {
	case d.announced:
		return d.errorf("a second line \"p\"")
	case len(f) != 4:
		return d.errorf("%d fields; want \"p min NODES ARCS\"", len(f))
	case string(f[1]) != "min":
		return d.errorf("the problem is %.40q; want min", f[1])
	}
	var errs [2]error
	d.nodes, errs[0] = d.within("NODES", f[2], 0, maxSize/2)
	d.arcs, errs[1] = d.within("ARCS", f[3], 0, maxSize/2)
	d.announced = true
	return cmp.Or(errs[:]...)
}

func (d *dimacs) node(f [][]byte) error {
	if len(f) != 3 {
		return d.errorf("%d fields; want \"n NODE SUPPLY\"", len(f))
	}
	if len(d.net.Arcs) > 0 {
		return d.errorf("a line \"n\" after a line \"a\"")
	}
	v, err := d.index("NODE", f[1])
	b, err2 := d.integer("SUPPLY", f[2])
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	if first, ok := d.supplies[v]; ok {
		return d.errorf("the supply of node %d has been given in line %d", v+1, first.line)
	}
	d.supplies[v] = supplyLine{b, d.line}
	return nil
}

func (d *dimacs) arc(f [][]byte) error {
	if len(f) != 6 {
		return d.errorf("%d fields; want \"a FROM TO LOWER UPPER COST\"", len(f))
	}
	if len(d.net.Arcs) == d.arcs {
		return d.errorf("more arcs than the %d announced", d.arcs)
	}
	var a Arc
	var errs [5]error
	a.From, errs[0] = d.index("FROM", f[1])
	a.To, errs[1] = d.index("TO", f[2])
	a.Lower, errs[2] = d.bound("LOWER", f[3], "-inf", -Unlimited)
	a.Upper, errs[3] = d.bound("UPPER", f[4], "inf", Unlimited)
	a.Cost, errs[4] = d.integer("COST", f[5])
	if err := cmp.Or(errs[:]...); err != nil {
		return err
	}
	if a.Upper == -1 && a.Lower >= 0 {
		a.Upper = Unlimited
	}
	if a.Lower > a.Upper {
		return d.errorf("UPPER is %d, below LOWER, which is %d", a.Upper, a.Lower)
	}
	d.net.Arcs = append(d.net.Arcs, a)
	return nil
}

// index reads a node.
func (d *dimacs) index(name string, text []byte) (int, error) {
	x, err := d.within(name, text, 1, d.nodes)
	return x - 1, err
}

// within reads a number from least to most.
func (d *dimacs) within(name string, text []byte, least, most int) (int, error) {
	x, err := d.integer(name, text)
	if err == nil && (x < int64(least) || x > int64(most)) {
		err = d.errorf("%s is %d; want %d to %d", name, x, least, most)
	}
	return int(x), err
}

// bound reads a bound, which may be endless. It refuses other numbers that stand for infinity.
func (d *dimacs) bound(name string, text []byte, infinite string, endless int64) (int64, error) {
	if string(text) == infinite {
		return endless, nil
	}
	x, err := d.integer(name, text)
	if err == nil && (x >= Unlimited || x <= -Unlimited) {
		err = d.errorf("%s is %d, which is too large for a bound; an infinite one is written inf", name, x)
	}
	return x, err
}

// integer reads an optional minus sign and decimal digits.
func (d *dimacs) integer(name string, text []byte) (int64, error) {
	x, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || text[0] == '+' {
		return 0, d.errorf("%s is %.40q; want an integer of 64 bits", name, text)
	}
	return x, nil
}

func (d *dimacs) finish() (*Problem, error) {
	switch {
	case !d.announced:
		return nil, d.errorf("the file ends without a line \"p min NODES ARCS\"")
	case len(d.net.Arcs) != d.arcs:
		return nil, d.errorf("the file ends after %d arcs; %d were announced", len(d.net.Arcs), d.arcs)
	case d.nodes > freeNodes+2*d.arcs+len(d.supplies):
		return nil, d.errorf("%d nodes were announced, and most of them have neither a supply nor an arc", d.nodes)
	}
	d.net.Supply = make([]int64, d.nodes)
	for v, s := range d.supplies {
		d.net.Supply[v] = s.supply
	}
	return &d.net, nil
}

// WriteDIMACS writes g in the form that ReadDIMACS reads. Errors: those of Solve for a bad network, but not ErrBalance,
// and those of w.
func (g *Problem) WriteDIMACS(w io.Writer) error {
	if err := g.check(); err != nil && !errors.Is(err, ErrBalance) { // every other one could not be read
		return err
	}
	out := bufio.NewWriter(w) // which keeps the first error
	fmt.Fprintln(out, "p min", len(g.Supply), len(g.Arcs))
	for v, b := range g.Supply {
		if b != 0 {
			fmt.Fprintln(out, "n", v+1, b)
		}
	}
	for i := range g.Arcs {
		a := &g.Arcs[i]
		lower, upper := a.words()
		fmt.Fprintln(out, "a", a.From+1, a.To+1, lower, upper, a.Cost)
	}
	return out.Flush()
}

// words returns the bounds as a file has them.
func (a *Arc) words() (lower, upper any) {
	lower, upper = a.Lower, a.Upper
	if !a.hasLower() {
		lower = "-inf"
	}
	if !a.hasUpper() {
		if upper = "inf"; a.hasLower() && a.Lower >= 0 {
			upper = -1
		}
	}
	return lower, upper
}

// WriteSolution writes the answer to g as DIMACS solution lines,
//
//	s OBJECTIVE
//	f FROM TO FLOW
//
// with one line "f" for every arc, in their order. Information for which the format has no lines is in comments: first
// the status, then, if proof is set, the proof, one line for each item:
//
//	c potential NODE VALUE
//	c cut NODE
//	c cycle FROM TO ARC        the ARC-th line "a", "backward" behind it if the flow on it falls
//
// Errors: ErrShape for the answer to another network, and those of w.
func (r Result) WriteSolution(w io.Writer, g *Problem, proof bool) error {
	if g == nil {
		return fmt.Errorf("%w: no network", wpmerr.ErrShape)
	}
	if r.Flow != nil && len(r.Flow) != len(g.Arcs) || r.Flow != nil && r.Objective == nil {
		return fmt.Errorf("%w: %d flows on %d arcs, Objective = %v", wpmerr.ErrShape, len(r.Flow), len(g.Arcs), r.Objective)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "c", r.Status)
	if r.Flow != nil {
		fmt.Fprintln(out, "s", r.Objective)
		for e, y := range r.Flow {
			fmt.Fprintln(out, "f", g.Arcs[e].From+1, g.Arcs[e].To+1, y)
		}
	}
	if proof {
		if err := r.writeProof(out, g); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeProof writes the comments of WriteSolution.
func (r Result) writeProof(out io.Writer, g *Problem) error {
	for v, p := range r.Potentials {
		fmt.Fprintln(out, "c potential", v+1, p)
	}
	for _, v := range r.Cut {
		fmt.Fprintln(out, "c cut", v+1)
	}
	for _, s := range r.Cycle {
		if s.Arc < 0 || s.Arc >= len(g.Arcs) {
			return fmt.Errorf("%w: the cycle uses arc %d of %d", wpmerr.ErrShape, s.Arc, len(g.Arcs))
		}
		from, to, word := g.Arcs[s.Arc].From, g.Arcs[s.Arc].To, ""
		if s.Backward {
			from, to, word = to, from, " backward"
		}
		fmt.Fprintf(out, "c cycle %d %d %d%s\n", from+1, to+1, s.Arc+1, word)
	}
	return nil
}
