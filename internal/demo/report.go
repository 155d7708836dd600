package demo

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/internal/sheet"
	"github.com/wpm-go/wpm/ldp"
)

// file is a file of the report, and what it is.
type file struct {
	name string
	data []byte
	text string
}

// pictures are the maps, each picture on a scale of its own, by the name of its file.
func (r Result) pictures() (names []string, pictures []sheet.Picture) {
	c := r.Config
	places := plane.Of(cost.Spec{Kind: "grid", Rows: c.Rows, Cols: c.Cols, P: 1})
	far := func(w1 float64) string { return fmt.Sprintf("%.2f cell widths from the truth", w1) }
	eps, _ := ldp.ParseEpsilon(c.Epsilon) // which is resolved
	less := ""
	if eps.Float64() > 1 {
		less = " At ε = 1 it would be 73 %, and a map needs more people."
	}
	report := make([]float64, len(r.Truth))
	report[r.Person.Report] = 1
	person := sheet.Picture{
		Title: "One person", Places: places, Colour: "share of the person's visits to a cell, or the chance of its report",
		Text: fmt.Sprintf("A place is a cell; north is up. The report is drawn by these chances: near the cells where the person goes, or, more rarely, "+
			"anywhere. For any two persons the chances of any cell differ by at most a factor e^%s. So who holds two possibilities for equally "+
			"likely, and sees the report, is at most %s sure of one of them.%s", c.Epsilon,
			plane.Percent(1/(1+math.Exp(-eps.Float64()))), less),
		Panels: []sheet.Panel{
			{Title: "where the person goes", Note: "stays on the person's device", Shares: r.Person.Places},
			{Title: "chances of each report", Note: "by the published policy", Shares: r.Person.Law},
			{Title: "the report", Note: "one cell: all that is sent", Shares: report}},
	}
	last := r.Modes[len(r.Modes)-1]
	learned := sheet.Picture{
		Title: fmt.Sprintf("What %d reports at ε = %s say", c.Users, c.Epsilon), Places: places,
		Text: "The map is an estimate from the reports alone, and costs no privacy. OUE is optimized unary encoding. " +
			"Single cells of the map are not to be trusted; \"wpm aggregate -map\" draws what the reports support.",
		Panels: []sheet.Panel{{Title: "truth", Note: "known only in a simulation", Shares: r.Truth},
			{Title: "reports as they are", Note: far(r.Learned.Raw), Shares: last.Histogram},
			{Title: "map, the estimate", Note: far(r.Learned.Map), Shares: r.Learned.Shares},
			{Title: "OUE at ε = " + c.Epsilon, Note: far(r.Learned.OUE), Shares: r.Learned.OUEShares}},
	}
	means := sheet.Picture{
		Title: fmt.Sprintf("Without chance: where the reports of very many such people fall, at ε = %s", c.Epsilon), Places: places,
		Text: "This is how far a mechanism bends the truth by itself. The Kullback-Leibler projection " +
			"(KPM) moves mass to all cells alike, near or far. The Wasserstein projection (WPM) moves it nearby. A panel of one shade is no " +
			"fault of the picture: its mechanism spreads every user over the whole city.",
	}
	at := slices.Index(c.Epsilons, c.Epsilon)
	for _, m := range r.Comparison {
		if m.Drawn != "" {
			means.Panels = append(means.Panels, sheet.Panel{Title: m.Drawn, Note: far(m.W1[at]), Shares: m.Mean})
		}
	}
	return []string{"person", "map", "mechanisms"}, []sheet.Picture{person, learned, means}
}

// report returns all files, index.html first and the given ones last.
func (r Result) report(given []file) (files []file, err error) {
	names, pictures := r.pictures()
	for i, p := range pictures {
		svg, err := p.SVG()
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		files = append(files, file{names[i] + ".svg", svg, p.Title})
	}
	files = append(files,
		file{"maps.csv", r.maps(pictures), "the numbers of the maps: the share of every cell"},
		file{"mechanisms.csv", encode(append([][]string{r.head("mechanism")}, r.distances(-1)...)),
			"the distances of the mechanisms, all digits"})
	files = append(files, given...)
	page := sheet.Page{
		Title: "wpm demo: a private map of a synthetic city",
		Headline: fmt.Sprintf("Each of %d made-up people of a made-up city of %d x %d cells reports one cell, drawn at random near the cells "+
			"where they go. The reports make a map of where all of them are. %s %s These distances are W₁: how far people would have to "+
			"be moved, on average, to make a map true.", r.Config.Users, r.Config.Rows, r.Config.Cols, r.Sentence(), r.Learned.Stated()),
		Pictures: pictures, Tables: r.tables(),
		Notes: []string{
			r.Config.Spread(),
			"In this folder, \"wpm aggregate -counts counts.csv policy.json\" makes the map again.",
			"WPM is the Wasserstein projection mechanism of this toolkit, KPM the Kullback-Leibler projection mechanism. All mechanisms have the same ε.",
			"KPM has the base measure of its authors. Tuned on the users themselves, which costs privacy that nobody counts, " +
				"it is nearer, and still behind WPM: " +
				"\"wpm-lab compare -preset city -methods wpm,kpm,kpm-tuned\". Geo-indistinguishability draws a cell with a " +
				"probability proportional to e^(-t d), " +
				"d its distance from one of the user's cells, with the largest t for which any two cells are at most e^ε apart.",
			"A simulation: the city is generated and the reports are drawn from a seeded stream. Real releases go through policy.Release, which takes no seed.",
			fmt.Sprintf("One real release was made on the side: %d bytes, and a second request repeated it, so that the ledger paid ε = %s once.",
				r.ReportBytes, r.Spent),
		},
	}
	for _, f := range files {
		page.Files = append(page.Files, sheet.File{Name: f.name, Text: f.text})
	}
	html, err := page.HTML()
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return append([]file{{name: "index.html", data: html}}, files...), nil
}

// tables are those of the page.
func (r Result) tables() []sheet.Table {
	c := r.Config
	cells := func(v float64) string {
		return fmt.Sprintf("%.3f cell widths, or %.4f sides of the square, as \"wpm verify\" says", v, v/float64(c.Cols))
	}
	facts := sheet.Table{Title: "What is proved of the mechanism", Detail: true, Head: []string{"what", "is"}, Rows: [][]string{
		{"Worst case of one person's report, certified", cells(r.Worst)}, {"No mechanism as private is below", cells(r.Lower)},
	}}
	policies := sheet.Table{
		Title: "Published files, verified again from their bytes", Detail: true, Head: []string{"file", "mode", "bytes", "id (SHA-256)"},
	}
	for _, p := range r.Policies {
		policies.Rows = append(policies.Rows, []string{p.Name, string(p.Mode), strconv.Itoa(p.Bytes), p.ID})
	}
	return []sheet.Table{
		{Title: "Distance of the mean to the truth (W₁), in cell widths", Head: r.head("mechanism"), Rows: r.distances(3)},
		facts, policies,
		{Title: "Settings", Detail: true, Head: []string{"what", "is"}, Rows: [][]string{
			{"Users", fmt.Sprintf("%d, with %d check-ins", c.Users, r.Checkins)},
			{"Grid", fmt.Sprintf("%d x %d cells, Euclidean distance of centres, p = 1", c.Rows, c.Cols)},
			{"Base measure", fmt.Sprintf("uniform, of mass %.4f", r.Mass)},
			{"Seed", strconv.FormatUint(c.Seed, 10)},
		}},
	}
}

// head is the head of a table over eps.
func (r Result) head(first string) []string {
	out := []string{first}
	for _, e := range r.Config.Epsilons {
		out = append(out, "ε = "+e)
	}
	return out
}

// distances are the rows of the table of mechanisms, with so many digits after the point; -1 is all that there are.
func (r Result) distances(digits int) (rows [][]string) {
	for _, m := range r.Comparison {
		row := []string{m.Name}
		for _, v := range m.W1 {
			row = append(row, strconv.FormatFloat(v, 'f', digits, 64))
		}
		rows = append(rows, row)
	}
	return rows
}

// maps has a line for each cell, and a column for each map of the pictures.
func (r Result) maps(pictures []sheet.Picture) []byte {
	head := []string{"row", "col"}
	var panels []sheet.Panel
	for _, p := range pictures {
		for _, panel := range p.Panels {
			if !slices.Contains(head, panel.Title) {
				head, panels = append(head, panel.Title), append(panels, panel)
			}
		}
	}
	lines := [][]string{head}
	for i := range r.Truth {
		line := []string{strconv.Itoa(i / r.Config.Cols), strconv.Itoa(i % r.Config.Cols)}
		for _, panel := range panels {
			line = append(line, strconv.FormatFloat(panel.Shares[i], 'g', -1, 64))
		}
		lines = append(lines, line)
	}
	return encode(lines)
}

// encode writes lines as CSV. A buffer refuses nothing.
func encode(lines [][]string) []byte {
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(lines)
	return b.Bytes()
}
