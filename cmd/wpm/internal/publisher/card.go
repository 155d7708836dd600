package publisher

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"text/tabwriter"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
)

// DesignCard is what a person should know about a policy: the numbers really used.
type DesignCard struct {
	Head
	P          float64 `json:"p,omitempty"`
	Upper      float64 `json:"upper"`              // on the worst W_p^p as published, in integers
	Lower      float64 `json:"lower"`              // of every eps-LDP mechanism
	Design     float64 `json:"design"`             // worst W_p^p of the base measure, before it became integers
	Rounding   float64 `json:"rounding,omitempty"` // projection mode: what rounding adds at most
	WorstInput string  `json:"worst_input"`
	// certified, of what the base measure makes small, relative; 0 where the objective is uniform or map
	Gap      float64 `json:"gap"`
	AskedGap float64 `json:"gap_asked,omitempty"` // at which the search was to end
	Mass     float64 `json:"mass"`
	Nonzeros int     `json:"nonzeros"` // outputs that are ever released
	// with the objective map: worst W_p^p of the uniform base measure, the least of all scales
	Even  float64    `json:"uniform_worst,omitempty"`
	Disc  float64    `json:"disc"` // share of the outputs that a release favours
	Table []TableRow `json:"table,omitempty"`
	Menu  []MenuRow  `json:"menu,omitempty"`
	kind  wpm.Kind
	// Places that no number of devices tells apart.
	patches published.Same
	// Left out for the size of the cost.
	noTable, noMenu bool
}

// TableRow is the worst case W_p^p over all private distributions at one eps. NaN-free: a mechanism that
// does not apply (inputs and outputs differ) is nil.
type TableRow struct {
	Epsilon     string   `json:"epsilon"`
	Lower       float64  `json:"lower"`
	WPM         float64  `json:"wpm"`
	KPM         *float64 `json:"kpm,omitempty"`
	Exponential *float64 `json:"exponential,omitempty"`
	Response    *float64 `json:"response,omitempty"`
	eps         ldp.Epsilon
}

func scaled(e ldp.Epsilon, num, den int64) (ldp.Epsilon, error) {
	r := e.Rat()
	r.Mul(r, big.NewRat(num, den))
	return ldp.ParseEpsilon(r.RatString())
}

// compare computes the table.
func compare(ctx context.Context, g places.Geometry, sorted *knapsack.Table, levels []ldp.Epsilon,
	tick func(done, total int, what string)) (rows []TableRow, err error) {
	worst, err := wpm.CompareRivals(ctx, sorted, wpm.Levels{Epsilons: levels, Step: tick}, g.SameSupport)
	for _, w := range worst {
		rows = append(rows, TableRow{Epsilon: w.Epsilon.String(), Lower: w.Lower, WPM: w.Uniform, KPM: w.KPM,
			Exponential: w.Exponential, Response: w.Response, eps: w.Epsilon})
	}
	return rows, err
}

func (d DesignCard) render(asJSON bool) ([]byte, error) {
	if asJSON {
		return indented(d)
	}
	var b bytes.Buffer
	d.title(&b)
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	d.Map.Print(w)
	d.print(w)
	fmt.Fprintf(w, "base measure\t%s, mass %.6g\n", d.Objective, d.Mass)
	d.printKind(w)
	if d.AskedGap > 0 {
		fmt.Fprintf(w, "\twithin %.2g %% of the smallest there is, certified; asked for: %.2g %%\n", 100*d.Gap,
			100*d.AskedGap)
	}
	fmt.Fprintln(w, "\tan output's probability is e^(-eps/2) to e^(eps/2) times its mass")
	if d.Nonzeros < d.Outputs {
		fmt.Fprintf(w, "\tonly %d of %d points are ever released\n", d.Nonzeros, d.Outputs)
	}
	fmt.Fprintf(w, "worst case\t%s at most, as published; a client at %q has it\n", d.unit.Amount(d.Upper), d.WorstInput)
	if d.kind == wpm.Map {
		fmt.Fprintf(w, "\tthe uniform base measure would have %s\n", d.unit.Amount(d.Even))
	}
	if d.Rounding > 1e-9*d.Upper {
		fmt.Fprintf(w, "\tprojection mode: rounding to integers adds %.3g %s at most\n", d.Rounding, d.unit.Costs())
	}
	if d.Upper > 1.01*d.Design {
		fmt.Fprintf(w, "\twarning: %d bits are too few; the design before rounding to integers had %s\n", d.Bits,
			d.unit.Amount(d.Design))
	}
	fmt.Fprintf(w, "no mechanism beats\t%s at this eps, whatever its form\n", d.unit.Amount(d.Lower))
	if text := d.patches.String(); text != "" && d.Map == nil { // which says it with the floor
		fmt.Fprintf(w, "map\t%s\n", text)
	}
	fmt.Fprintf(w, "policy\t%d bytes, sha256 %s\n", d.Bytes, d.ID)
	w.Flush()
	if len(d.Table) > 0 {
		fmt.Fprintf(&b, "\nWorst case, %s of the worst point mass, in %s:\n\n", d.unit.Quantity(), d.unit.Costs())
		w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "eps\tlower bound\twpm, uniform\tKPM\texponential\trandomised response\t\n")
		for _, r := range d.Table {
			fmt.Fprintf(w, "%s\t%.6g\t%.6g\t%s\t%s\t%s\t\n", r.Epsilon, r.Lower, r.WPM, cell(r.KPM), cell(r.Exponential),
				cell(r.Response))
		}
		w.Flush()
		fmt.Fprintf(&b, "\nThe lower bound holds for every eps-LDP mechanism.\n")
	}
	switch {
	case d.noTable && d.unsorted():
		fmt.Fprintf(&b, "\nAt this size there is no table of worst cases at other eps.\n")
	case d.noTable:
		fmt.Fprintf(&b, "\nThe table of worst cases at other eps was not computed at this size: -table EPS,EPS,... does.\n")
	}
	d.printMenu(&b)
	fmt.Fprintf(&b, "\nMode mixture needs no solver on the device and makes the same draws for everybody; its worst case is\n"+
		"the same. Mode projection is better for clients whose distribution is spread out. %s\n", d.price())
	return b.Bytes(), nil
}

func cell(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.6g", *v)
}

// printKind says what the base measure is to a map.
func (d DesignCard) printKind(w io.Writer) {
	switch {
	case d.kind == wpm.Map:
		fmt.Fprintf(w, "\ta release favours %.3g %% of the outputs, for the map of %s\n", 100*d.Disc,
			shell.Plural(uint64(d.Map.Devices), "device"))
	case d.kind != wpm.Uniform:
		fmt.Fprintf(w, "\tit is for one client's cost: a map of many devices is better with uniform or map (-devices N says by how much)\n")
	}
}

// unsorted reports whether the cost is too large for what sorts all of it: -table and -menu.
func (d DesignCard) unsorted() bool { return int64(d.Inputs) > wpm.MaxTable/int64(d.Outputs) }

// printMenu tabulates the designs, and says what to make of them.
func (d DesignCard) printMenu(b *bytes.Buffer) {
	switch {
	case d.noMenu && d.unsorted():
		fmt.Fprintf(b, "\nAt this size no other designs can be compared.\n")
		return
	case d.noMenu:
		fmt.Fprintf(b, "\nThe other designs were not compared at this size: -menu yes does.\n")
		return
	case len(d.Menu) == 0:
		fmt.Fprintf(b, "\nThe other designs were not asked for: -menu yes compares them.\n")
		return
	}
	fmt.Fprintf(b, "\nDesigns, %s of the worst point mass and of the mean one, in %s:\n\n", d.unit.Quantity(),
		d.unit.Costs())
	w := tabwriter.NewWriter(b, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "eps\tdesign\tworst case\tmean\tpoints in use\tmass\t\n")
	var uniform, minimax MenuRow
	for _, r := range d.Menu {
		fmt.Fprintf(w, "%s\t%s\t%.6g\t%.6g\t%d of %d\t%.4g\t\n", r.Epsilon, r.Design, r.Worst, r.Mean, r.Nonzeros, d.Outputs,
			r.Mass)
		if r.Epsilon == d.Epsilon {
			switch r.Design {
			case wpm.Uniform.String():
				uniform = r
			case wpm.Minimax.String():
				minimax = r
			}
		}
	}
	w.Flush()
	d.printMinimax(b, uniform, minimax)
}

// printMinimax says what minimax is worth against uniform, and warns whoever might choose it for that.
func (d DesignCard) printMinimax(b *bytes.Buffer, uniform, minimax MenuRow) {
	if !(uniform.Worst > 0) {
		return
	}
	if minimax.Worst >= uniform.Worst*(1-sameWorst) {
		fmt.Fprintf(b, "\nAt eps = %s no base measure has a worst case that is smaller than uniform's by 0.1 %%.\n",
			d.Epsilon)
		return
	}
	change := "raises the mean by"
	diff := minimax.Mean/uniform.Mean - 1
	if diff < 0 {
		change, diff = "lowers the mean by", -diff
	}
	fmt.Fprintf(b, "\nAgainst uniform, minimax lowers the worst case by %.1f %% and %s %.1f %% at eps = %s.\n",
		100*(1-minimax.Worst/uniform.Worst), change, 100*diff, d.Epsilon)
	if d.Objective == wpm.Minimax.String() {
		return
	}
	fmt.Fprintf(b, "Minimax is the wrong choice where the average matters: it lifts every input to the worst one's cost, is ruled\n"+
		"by far points that nobody may be at, and at small eps releases nothing but a few central points.\n")
	if d.Map == nil {
		fmt.Fprintf(b, "Mixed (-objective mixed) is a sensible middle.\n")
		return
	}
	fmt.Fprintf(b, "These designs are compared for one person. What a design does to the map of many is at the top of its card.\n")
}
