package audit

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strings"
	"text/tabwriter"
)

// JSON returns the report as indented JSON. Statistical numbers have nine digits, integers that may exceed 2^53
// are strings, infinities are the strings "inf" and "-inf". An error is that of encoding/json.
func (r Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return b.Bytes(), nil
}

// Text returns the report for a terminal.
func (r Report) Text() []byte {
	var b bytes.Buffer
	p := r.Policy
	fmt.Fprintf(&b, "Policy %.12s: eps = %s, %d bits, %d inputs, %d outputs, mode %s\n", p.ID, p.Epsilon, p.Bits, p.Inputs,
		p.Outputs, p.Mode)
	fmt.Fprintf(&b, "Verdict: %s\n", r.Verdict)

	fmt.Fprintf(&b, "\nExact: decided in integers\n")
	for _, c := range r.Exact {
		fmt.Fprintf(&b, "  %s  %s: %s\n", mark(c.Passed), c.title(), c.What)
		if c.Fault != "" {
			fmt.Fprintf(&b, "        %s\n", c.Fault)
		}
		if c.Worst != nil {
			fmt.Fprintf(&b, "        worst pair: %s\n", c.Worst)
		}
	}

	if len(r.Certificates) > 0 {
		fmt.Fprintf(&b, "\nCertificates: bounds recomputed in exact fractions\n")
		for _, c := range r.Certificates {
			fmt.Fprintf(&b, "  %s  %s\n", mark(c.Passed), c.text())
		}
	}

	for _, part := range r.parts() {
		fmt.Fprintf(&b, "\nStatistical: %s\n", part.Target)
		for _, line := range part.Sentences {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		fmt.Fprintf(&b, "  Largest lower bounds on the loss:\n")
		w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "    output\tmost draws\tof\tfewest\tof\tobserved loss\tloss at least\t\n")
		for _, c := range part.Columns[:min(len(part.Columns), 5)] {
			fmt.Fprintf(w, "    %s\t%d\t%s\t%d\t%s\t%s\t%s\t\n", c.Output, c.Num, c.High, c.Den, c.Low, c.Observed.short(),
				c.Lower.short())
		}
		w.Flush()
	}

	found, hidden := r.controls()
	fmt.Fprintf(&b, "\nControls: %s\n", found)
	for _, c := range r.Controls {
		fmt.Fprintf(&b, "  %s  %s: %s\n", mark(c.Found), c.Name, c.gates())
	}
	fmt.Fprintf(&b, "  Statistics cannot see, at these n: %s.\n", hidden)

	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", n)
	}
	return b.Bytes()
}

// part is one statistical audit of a report, for a reader.
type part struct {
	Target    string
	Sentences []string
	Bars      []bar
	Height    int
	EpsX      float64
	*Statistics
}

// parts returns what was drawn.
func (r Report) parts() []part {
	var list []part
	add := func(target string, st *Statistics) {
		if st == nil {
			return
		}
		bars, eps := st.bars()
		list = append(list, part{target, st.sentences(), bars, 24*len(bars) + 40, eps, st})
	}
	add(r.Target, r.Statistics)
	add("policy.Release, the whole private path, for clients with data on several inputs", r.Releases)
	return list
}

func mark(ok bool) string {
	if ok {
		return "ok  "
	}
	return "FAIL"
}

func (c Check) title() string {
	if c.Rows == 0 {
		return c.Name
	}
	return fmt.Sprintf("%s (%d)", c.Name, c.Rows)
}

func (c Certified) text() string {
	where := c.Source
	if c.Line > 0 {
		where = fmt.Sprintf("%s, line %d", c.Source, c.Line)
	}
	s := fmt.Sprintf("%s: %s", where, c.Kind)
	switch {
	case c.Fault != "":
		s += ": " + c.Fault
	case c.Private:
		s += ": holds; its bounds are private"
	default:
		s += fmt.Sprintf(", problem %s: between %s and %s (%s)", c.Problem, c.Lower, c.Upper, c.Meaning)
	}
	return s
}

// sentences says what the statistics found and what they could have found.
func (st Statistics) sentences() []string {
	out := []string{
		fmt.Sprintf("%d draws for each of %d clients; false-alarm rate %v, of which %v for each bound.", st.Samples,
			len(st.Inputs), st.FalseAlarm.short(), st.Level.short()),
	}
	loss := fmt.Sprintf("The loss is at least %v, and eps is %s: ", st.Lower.short(), st.Epsilon)
	if st.Violated {
		loss += fmt.Sprintf("VIOLATED, by output %s: %d draws for %s, %d for %s.", st.Column.Output, st.Column.Num,
			st.Column.High, st.Column.Den, st.Column.Low)
	} else {
		loss += "not violated as far as these draws can tell."
	}
	out = append(out, loss)
	if l := st.Law; l != nil {
		cell := fmt.Sprintf("%s, output %s, was drawn %d times; its probability is in [%v, %v], published is %v",
			l.Row, l.Output, l.Count, l.Lower.short(), l.Upper.short(), l.Published.short())
		g := l.Together
		set := fmt.Sprintf("%s: in one half of its draws, %d outputs came more often than published; in the other half, they have %d "+
			"of %d draws, and their published share is %v", g.Row, g.Outputs, g.Count, g.Draws, g.Published.short())
		if l.Differs {
			out = append(out, fmt.Sprintf("The draws DIFFER from the published rows in %d of %d cells. Worst: %s.", l.Outside,
				l.Cells, cell),
				fmt.Sprintf("Taken together they DIFFER for %d of %d clients. Worst: %s.", l.Apart, len(st.Inputs), set))
		} else {
			out = append(out, fmt.Sprintf("The draws agree with the published rows in all %d cells. Most surprising: %s.",
				l.Cells, cell),
				fmt.Sprintf("They agree taken together. Most surprising: %s.", set))
		}
	}
	easy, hard := st.Limit.Easiest, st.Limit.Hardest
	if easy.Least == hard.Least {
		return append(out, "Detection limit: in "+easy.sentence(st.Limit.Target))
	}
	return append(out, "Detection limit: where an excess is easiest to see, in "+easy.sentence(st.Limit.Target),
		"Detection limit: where it is hardest to see, in "+hard.sentence(st.Limit.Target))
}

func (l ColumnLimit) sentence(target Real) string {
	if l.Output == "" {
		return "no output: none is published for every audited input."
	}
	s := fmt.Sprintf("output %s (least probability %v), ", l.Output, l.Least.short())
	if math.IsInf(float64(l.Overshoot), 1) {
		s += "these draws find no excess"
	} else {
		s += fmt.Sprintf("a loss of eps + %v is flagged with probability 1/2", l.Overshoot.short())
	}
	if l.Needed == 0 {
		return s + fmt.Sprintf("; eps + %v would need more than 2^40 draws for each client.", target.short())
	}
	return s + fmt.Sprintf("; eps + %v would need %v draws for each client.", target.short(), Real(l.Needed).short())
}

// gates says in words which gates rejected a control.
func (c Control) gates() string {
	var by []string
	if c.Exact.Rejected {
		by = append(by, "exact")
	}
	if c.Statistical.Rejected {
		by = append(by, fmt.Sprintf("statistical at n = %d", c.N))
	}
	if c.Law.Rejected {
		by = append(by, fmt.Sprintf("law of draws at n = %d", c.N))
	}
	s := "rejected by " + strings.Join(by, ", ")
	switch {
	case len(by) == 0 && !c.planted():
		s = "has no bug, and no gate rejects it"
	case len(by) == 0:
		s = "rejected by no gate"
	}
	if !c.Found {
		if c.planted() {
			s += "; MISSED by a gate that must see it"
		} else {
			s += "; FALSE ALARM"
		}
	}
	if c.Needed > 0 {
		s += fmt.Sprintf("; statistics would need n = %v", Real(c.Needed).short())
	}
	return s
}

// planted tells bugs from the mechanism without one.
func (c Control) planted() bool { return c.Exact.Must || c.Statistical.Must || c.Law.Must }

// controls counts what was found, and lists what statistics did not see.
func (r Report) controls() (found, hidden string) {
	planted, seen, fair := 0, 0, true
	var blind []string
	for _, c := range r.Controls {
		if !c.planted() {
			fair = fair && c.Found
			continue
		}
		planted++
		if c.Found {
			seen++
		}
		if !c.Statistical.Rejected && !c.Law.Rejected {
			blind = append(blind, c.Name)
		}
	}
	found = fmt.Sprintf("%d of %d planted bugs found by the gates that must find them", seen, planted)
	if !fair {
		found += "; FALSE ALARM on a mechanism without a bug"
	} else {
		found += fmt.Sprintf(", nothing found in the %d mechanisms without a bug", len(r.Controls)-planted)
	}
	if len(blind) == 0 {
		return found, "nothing"
	}
	return found, strings.Join(blind, ", ")
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"short": Real.short}).Parse(pageText))

// bar is a line of the chart of losses.
type bar struct {
	Column
	Y               int
	From, To, Width float64 // of the strip from the lower bound to the observed loss
}

// HTML returns the report as one page that needs no other file, no script and no network. An error is that of
// html/template.
func (r Report) HTML() ([]byte, error) {
	view := struct {
		Report
		Found, Hidden string
		Parts         []part
		CertText      []string
	}{Report: r, Parts: r.parts()}
	view.Found, view.Hidden = r.controls()
	for _, c := range r.Certificates {
		view.CertText = append(view.CertText, c.text())
	}
	var b bytes.Buffer
	if err := page.Execute(&b, view); err != nil {
		return nil, fmt.Errorf("audit: page: %w", err)
	}
	return b.Bytes(), nil
}

// Gates says in words which gates rejected the control.
func (c Control) Gates() string { return c.gates() }

// Title is the name of a check with the number of rows.
func (c Check) Title() string { return c.title() }

// bars lays out the chart: from 0 to a little beyond eps and every finite loss, on 600 units.
func (st Statistics) bars() ([]bar, float64) {
	const wide = 600
	eps := st.table.Epsilon.Float64()
	top := 1.2 * eps
	for _, c := range st.Columns {
		for _, v := range []float64{float64(c.Observed), float64(c.Lower)} {
			if !math.IsInf(v, 0) {
				top = max(top, 1.05*v)
			}
		}
	}
	at := func(v float64) float64 { return math.Round(10*wide*min(1, max(0, v)/top)) / 10 }
	out := make([]bar, len(st.Columns))
	for i, c := range st.Columns {
		out[i] = bar{Column: c, Y: 24*i + 20, From: at(float64(c.Lower)), To: at(float64(c.Observed))}
		out[i].Width = max(1, math.Round(10*(out[i].To-out[i].From))/10)
	}
	return out, at(eps)
}
