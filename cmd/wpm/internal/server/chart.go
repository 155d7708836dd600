package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/internal/sheet"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
)

// mapFlags say how counts become a map, for commands that make one.
func mapFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "map",
			Usage: "also write the map to `FILE`: .csv, .geojson, or .html, a page to look at and to print"},
		&cli.StringFlag{Name: "shapes",
			Usage: "draw the places of -map as polygons, found by their labels: GeoJSON `FILE`"},
		&cli.StringFlag{Name: "label", DefaultText: "label, name or id",
			Usage: "`PROPERTY` of -shapes that is the label"},
		&cli.StringFlag{Name: "estimator", DefaultText: "map; em where the cost has no distances between inputs",
			Usage: "`NAME` of what finds the map: " + atlas.Estimators},
		&cli.StringFlag{Name: "prior",
			Usage: "public weights of the inputs, what one would guess without a report: CSV `FILE`, label,weight (default: all the same)"},
		&cli.BoolFlag{Name: "assume-mixture",
			Usage: "make a map of a projection policy as if it were in mixture mode: biased, worse with more reports, refused of many"},
	}
}

// mapped returns the first flag that is set and is about a map, or "".
func mapped(c *cli.Command) string {
	for _, name := range []string{"invert", "map", "shapes", "label", "estimator", "prior", "assume-mixture", "regions", "level"} {
		if c.IsSet(name) {
			return name
		}
	}
	return ""
}

// charted is the map of a policy's reports, for people and programs.
type charted struct {
	Headline  string    `json:"headline"`
	Estimator string    `json:"estimator,omitempty"`
	Prior     string    `json:"prior"` // in words
	Inputs    []string  `json:"inputs"`
	Guess     []float64 `json:"guess"`
	Raw       []float64 `json:"raw"` // of the outputs; null with codes
	Map       []float64 `json:"map"` // null with a reason
	Reason    string    `json:"reason,omitempty"`
	Biased    bool      `json:"biased,omitempty"`
	// Unexplained: no map explains the counts, and the error does not hold. Only JSON has an error then.
	Unexplained bool   `json:"unexplained,omitempty"`
	Signal      string `json:"signal,omitempty"`
	// Error is how far the map is from the truth, by what the reports leave open, in the unit of distances; see
	// atlas.Error. Information is what the reports know, and Verdict what they say of the guess.
	Error       *atlas.Error      `json:"error,omitempty"`
	Information atlas.Information `json:"information,omitempty"`
	Verdict     atlas.Verdict     `json:"verdict,omitempty"`

	Models  []estimate.Model `json:"models,omitempty"`
	Gap     *float64         `json:"gap,omitempty"`
	Parts   int              `json:"parts,omitempty"` // that the reports tell apart
	Level   float64          `json:"level,omitempty"` // of the intervals of regions
	Regions []regionShare    `json:"regions,omitempty"`
	Ends    []plane.Marginal `json:"ends,omitempty"` // of pairs

	subject
	drawn
}

// subject is what a map is of, for people.
type subject struct {
	reports   uint64
	facts     string // about the policy and the reports
	privacy   string // what the privacy level means
	places    plane.Places
	shapes    []costio.Shape
	outputs   []string
	between   cost.Matrix // between inputs, or nil
	distances places.Unit
	level     float64 // of all intervals
}

// drawn is what pictures and files show of a map.
type drawn struct {
	fine   atlas.Map
	groups []sheet.Part
	parts  []sheet.Part // of regions
	note   string       // what the map assumes
}

// chartInput is what the flags name beside the reports.
type chartInput struct {
	prior   []float64
	name    string // of the prior, in words
	regions []plane.Region
	level   float64
	places  plane.Places
	shapes  []costio.Shape // of the inputs; or nil
}

// readChart checks the flags of a map, and reads their files, before the reports are read.
func readChart(c *cli.Command, p policy.Policy) (in chartInput, err error) {
	if err := checkChart(c); err != nil {
		return in, err
	}
	if in.places, err = plane.OfCost(p.Cost(), p.Metadata(), p.InputLabel); err != nil {
		return in, err
	}
	if c.IsSet("map") {
		if err := sheet.Check(in.places, c.String("map")); err != nil {
			return in, fmt.Errorf("-map: %w", err)
		}
	}
	in.name = "the same share at every place"
	labels := places.Labels(p.InputLabel, p.Inputs())
	if file := c.String("prior"); c.IsSet("prior") {
		in.name = "of " + file
		in.prior, err = shell.ReadFile(c, file,
			func(r io.Reader, name string) ([]float64, error) { return places.ReadWeights(r, name, labels) })
		if err != nil {
			return in, err
		}
	}
	in.level = estimate.DefaultLevel
	if c.IsSet("level") {
		in.level = c.Float("level")
	}
	if file := c.String("regions"); c.IsSet("regions") {
		of := labels
		if in.places.Ends != nil {
			of = plane.EndLabels(in.places)
		}
		list, err := shell.ReadFile(c, file, func(r io.Reader, name string) ([]costio.Region, error) {
			return places.ReadRegions(r, name, of)
		})
		for _, r := range list {
			in.regions = append(in.regions, plane.Region(r))
		}
		if err == nil && in.places.Ends != nil {
			if in.regions, err = plane.FlowsBetween(in.places, of, in.regions); err != nil {
				err = fmt.Errorf("-regions: %w", err)
			}
		}
		if err != nil {
			return in, err
		}
	}
	if c.IsSet("shapes") {
		in.shapes, err = readShapes(c, in.places, labels)
	}
	return in, err
}

// errShapes: polygons that belong to none of the policy's places.
var errShapes = errors.New("no feature with a polygon has the label of a place")

// readShapes returns the polygons of the places, by their labels. Features of other labels are left alone.
func readShapes(c *cli.Command, at plane.Places, labels []string) (list []costio.Shape, err error) {
	if at.Ends != nil {
		return nil, errors.New("-shapes are of places, and this policy has pairs")
	}
	if at.Kind != "greatcircle" {
		return nil, errors.New("-shapes are in degrees, and the places of this policy are not")
	}
	file := c.String("shapes")
	p, err := shell.ReadFile(c, file, func(r io.Reader, name string) (*costio.Points, error) {
		return places.ReadText(r, name, func(r io.Reader, name string) (*costio.Points, error) {
			return costio.ReadGeoJSON(r, name, c.String("label"))
		})
	})
	if err != nil {
		return nil, fmt.Errorf("-shapes: %w", err)
	}
	of := map[string]costio.Shape{}
	for n, shape := range p.Shapes {
		of[p.Labels[n]] = shape
	}
	found := 0
	for _, label := range labels {
		if of[label] != nil {
			found++
		}
		list = append(list, of[label])
	}
	if found == 0 {
		return nil, fmt.Errorf("-shapes: %s: %w", file, errShapes)
	}
	if found < len(labels) {
		fmt.Fprintf(c.Root().ErrWriter, "%s: note: %s: %d of %d places have no polygon, and stay points\n", c.Root().Name, file,
			len(labels)-found, len(labels))
	}
	return list, nil
}

// checkChart checks the flags of a map one with another.
func checkChart(c *cli.Command) error {
	name, given := c.String("estimator"), c.IsSet("estimator")
	switch level := c.Float("level"); {
	case given && !atlas.Known(name):
		return fmt.Errorf("-estimator: %q is not %s", name, atlas.Estimators)
	case given && c.Bool("invert") && name != atlas.ByMLE:
		return fmt.Errorf("-invert is -estimator %s: it does not go with -estimator %s", atlas.ByMLE, name)
	case c.IsSet("shapes") && !c.IsSet("map"):
		return errors.New("-shapes goes with -map")
	case c.IsSet("label") && !c.IsSet("shapes"):
		return errors.New("-label goes with -shapes")
	case c.IsSet("level") && !c.IsSet("regions"):
		return errors.New("-level goes with -regions")
	case c.IsSet("level") && !(level > 0 && level < 1):
		return fmt.Errorf("-level: %v is not between 0 and 1", level)
	}
	return nil
}

// oneStdin refuses two files that are both standard input, one of them of a map: args are all arguments, and files
// those of reports.
func oneStdin(c *cli.Command, args, files []string) error {
	if n := shell.CountDashes(c.String("prior"), c.String("regions"), c.String("shapes")); n > 1 ||
		n == 1 && (readsStdin(c, files) || shell.CountDashes(args...) > 0) {
		return errors.New("two files cannot both be standard input")
	}
	return nil
}

// estimatorOf returns what finds the map, and whether a policy of projection mode is taken for one of mixture mode.
func estimatorOf(c *cli.Command) (name string, assume bool) {
	if c.Bool("invert") {
		return atlas.ByMLE, true
	}
	return c.String("estimator"), c.Bool("assume-mixture")
}

// chart makes the map of counts. A policy that does not identify one gives a reason, and no error.
func chart(ctx context.Context, c *cli.Command, p policy.Policy, in chartInput, counts []uint64) (m charted,
	err error) {
	estimator, assume := estimatorOf(c)
	m = charted{Prior: in.name, Biased: p.Mode() != policy.Mixture && assume,
		subject: subject{places: in.places, shapes: in.shapes, level: in.level}}
	for _, n := range counts {
		m.reports += n
	}
	id := p.ID()
	m.facts = fmt.Sprintf("%s, eps %v, policy %x", shell.Plural(m.reports, "report"), p.Epsilon(), id[:6])
	m.privacy = fmt.Sprintf("Each report is drawn at random, to hide where its owner is. Its privacy level is eps %v: whoever thinks two "+
		"possibilities about a person equally likely, and then sees the person's report, is at most %s sure of one of them. "+
		"A smaller eps hides more.",
		p.Epsilon(), plane.Percent(1/(1+math.Exp(-p.Epsilon().Float64()))))
	for i := range p.Inputs() {
		m.Inputs = append(m.Inputs, p.InputLabel(i))
	}
	if !p.HasCodes() {
		m.outputs = places.Labels(p.OutputLabel, p.Outputs())
	}
	if m.Guess, err = estimate.Guess(in.prior, p.Inputs()); err != nil {
		return m, err
	}
	if m.Raw, err = estimate.Raw(counts); err != nil {
		return m, err
	}
	if p.HasCodes() {
		m.Raw = nil
	}
	w, err := worldOf(ctx, p, assume)
	if errors.Is(err, atlas.ErrProjection) || errors.Is(err, atlas.ErrTooLarge) {
		m.Reason = err.Error()
		m.Headline = "No map: " + m.Reason + "."
		if errors.Is(err, atlas.ErrProjection) {
			m.Headline += " The reports as they are stand alone; -assume-mixture makes a map, which is biased."
		}
		if in.regions != nil {
			m.note = "There are no intervals for -regions, for the same reason."
		}
		return m, nil
	}
	if err != nil {
		return m, err
	}
	m.between = w.Between
	told, err := checkAssumed(ctx, p, w, m.reports)
	if err != nil {
		return m, err
	}
	bar := shell.Progress(c.Root().ErrWriter)
	s := atlas.Settings{Estimator: estimator, Prior: in.prior, Level: in.level,
		Progress: func(done, total int) { bar(done, total, "map") }}
	r, err := w.Map(ctx, counts, s)
	switch {
	case errors.Is(err, atlas.ErrOutputs):
		m.Reason = err.Error()
		m.Headline = "No map: " + m.Reason + "."
	case err != nil:
		return m, fmt.Errorf("-estimator %s: %w", r.Estimator, err)
	default:
		m.distances = places.UnitOfPolicy(p)
		m.found(r, m.distances)
		if m.Unexplained && c.Bool("strict") {
			return m, fmt.Errorf("-strict: %s", atlas.Unexplained)
		}
		if m.Unexplained {
			fmt.Fprintf(c.Root().ErrWriter, "%s: warning: %s\n", published.Program, atlas.Unexplained)
		}
		m.note = strings.TrimSpace(m.note + " " + told)
	}
	if in.regions != nil { // whatever the estimator
		m.Level = in.level
		if m.Regions, err = intervals(ctx, w, counts, m.Map, in.regions, s); err != nil {
			return m, err
		}
	}
	if c.IsSet("map") {
		err = m.partsOf(ctx, w, counts, in.regions, s)
	}
	return m, err
}

const (
	// maxBands is the largest number of groups that a file has intervals of all of: some seconds at 1,500 places.
	maxBands = 256
	// someBands are made of the largest groups where there are more. It is no less than the page has numbers.
	someBands = 16
)

// partsOf sets what a file says of groups and regions.
func (m *charted) partsOf(ctx context.Context, w atlas.World, counts []uint64, regions []plane.Region, s atlas.Settings) error {
	of := make([][]int, m.fine.Squares)
	for i, square := range m.fine.Of {
		of[square] = append(of[square], i)
	}
	for _, part := range m.fine.Parts {
		m.groups = append(m.groups, sheet.Part{Label: m.partName(part), Center: part.Center, Places: of[m.fine.Of[part.Center]],
			Guess: part.Guess, Share: part.Share})
	}
	bands := len(m.groups)
	if bands > maxBands || m.places.Ends != nil && bands > someBands {
		bands = someBands
	}
	if len(m.groups) <= maxBands || m.fine.Tested {
		var weights [][]float64
		for _, g := range m.groups[:bands] {
			in := make([]float64, len(m.Inputs))
			for _, i := range g.Places {
				in[i] = 1
			}
			weights = append(weights, in)
		}
		shares, err := w.Regions(ctx, counts, weights, s)
		if err != nil {
			return err
		}
		for n, r := range shares {
			g := &m.groups[n]
			g.Known, g.Low, g.High = true, min(r.Lower, g.Share), max(r.Upper, g.Share)
			g.Remark = regionShare{Share: g.Share, Region: r}.widened()
		}
	}
	for n, r := range m.Regions {
		p := sheet.Part{Label: r.Name, Remark: r.remark(), Guess: r.Guess, Share: r.Share, Known: true,
			Low: min(r.Lower, r.Share), High: max(r.Upper, r.Share)}
		for i, v := range regions[n].Weights {
			if v > 0 {
				p.Places = append(p.Places, i)
			}
		}
		m.parts = append(m.parts, p)
	}
	return nil
}

// partName names a part of the map by its largest place.
func (m charted) partName(p atlas.Part) string {
	if p.Size > 1 {
		what := "places"
		if m.places.Ends != nil {
			what = "pairs"
		}
		return fmt.Sprintf("%d %s around %s", p.Size, what, m.Inputs[p.Center])
	}
	return m.Inputs[p.Center]
}

// worldOf returns what is public about a policy's releases; assume takes one of projection mode for one of mixture
// mode, whose rows are found if it has none.
func worldOf(ctx context.Context, p policy.Policy, assume bool) (atlas.World, error) {
	if !assume {
		return atlas.Of(ctx, p)
	}
	return atlas.Assume(ctx, p, func(ctx context.Context) (atlas.Rows, error) {
		m, err := wpm.Load(ctx, p, wpm.Options{})
		if err != nil {
			return nil, err
		}
		rows, err := m.Channel(ctx)
		if err != nil {
			return nil, err
		}
		return rows.Row, nil
	})
}

// errorText says how far off the map and the guess are, to two digits; "" if the places have no distances.
func errorText(m atlas.Map, prior string, u places.Unit) string {
	e := m.Error
	switch {
	case m.Unexplained:
		return atlas.Unexplained + " "
	case e == nil:
		return ""
	}
	name, scale := u.Distances()
	more := ""
	if m.Coarser > 0.1*e.Expected {
		more = fmt.Sprintf("What the picture shows, drawn in parts, is within %.2g %s. ", scale*(e.Within90+m.Coarser), name)
	}
	return fmt.Sprintf("The map is about %.2g %s from the truth, and within %.2g %s in nine of ten cases. "+
		"%sThe guess, made without reports (%s), is about %.2g %s from the truth. ",
		scale*e.Expected, name, scale*e.Within90, name, more, prior, scale*e.Guess, name)
}

// ofDistances says what the distances of errorText are.
const ofDistances = "A distance is how far people would have to move, on average, to turn one map into the other. "

// coarse says how fine the picture is: it may be coarser than the error of the map lets one think.
func (m charted) coarse() string {
	text := m.fine.Coarse()
	if m.fine.Squares < len(m.fine.Shares) {
		text += " Within a part, people are spread as in the guess."
	}
	return strings.TrimSpace(text)
}

// found takes over a map.
func (m *charted) found(r atlas.Map, u places.Unit) {
	text := errorText(r, m.Prior, u)
	if r.Error != nil && !r.Unexplained && u.P == 1 {
		text += ofDistances
	}
	m.fine, m.Headline, m.note = r, text+r.Headline, r.Assumes(m.Prior)
	m.Unexplained, m.Error, m.Information, m.Verdict = r.Unexplained, r.Error, r.Information, r.Verdict
	m.Estimator, m.Map, m.Models, m.Gap, m.Parts = r.Estimator, r.Shares, r.Models, r.Gap, r.Squares
	if r.Signal != nil {
		m.Signal = r.Signal.String()
	}
	m.Ends = plane.Marginals(m.places, m.Guess, m.Map)
}

// print writes the map for people: the answer in words, the parts that the reports tell apart, the largest first, and
// the regions.
func (m charted) print(out io.Writer, top int) error {
	text := m.Headline
	if m.note != "" {
		text += " " + m.note
	}
	fmt.Fprintf(out, "Map       %s\n", strings.ReplaceAll(text, ". ", ".\n          "))
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if m.Map != nil && m.fine.Squares > 1 {
		text := "Shares of the population in the guess and in the map; raw is the share of the reports."
		if coarse := m.coarse(); coarse != "" {
			text += "\n" + strings.ReplaceAll(coarse, ". ", ".\n")
		}
		if same := (published.Same{Patches: m.fine.Patches}).String(); same != "" {
			text += "\n" + same + "."
		}
		fmt.Fprintf(out, "\n%s\n\n", text)
		parts := m.fine.Parts
		same := m.sheet("").Same()
		fmt.Fprintln(w, "place\tguess\traw\tmap")
		for n, part := range parts {
			if top > 0 && n == top {
				break
			}
			name := m.partName(part)
			as := "-"
			if same {
				as = fmt.Sprintf("%.4f", part.Raw)
			}
			fmt.Fprintf(w, "%s\t%.4f\t%s\t%.4f\n", name, part.Guess, as, part.Share)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if n := len(parts) - top; top > 0 && n > 0 {
			fmt.Fprintf(out, "... and %d more (-top 0, -map, -json)\n", n)
		}
	}
	for _, e := range m.Ends {
		if err := printMarginal(e, out, top); err != nil {
			return err
		}
	}
	if m.Regions == nil {
		return nil
	}
	fmt.Fprintf(out, "\nRegions: the true share is in the %[1]v %% interval in about %[1]v %% of cases. It rests on the reports alone.\n\n",
		plane.Significant(100*m.Level, 12))
	table := regionTable(m.Regions, m.Level)
	fmt.Fprintln(w, tabbed(table.Head))
	for _, row := range table.Rows {
		fmt.Fprintln(w, tabbed(row))
	}
	return w.Flush()
}

func tabbed(cells []string) (text string) {
	for n, s := range cells {
		if n > 0 {
			text += "\t"
		}
		text += s
	}
	return text
}

// sheet is the map as a file.
func (m charted) sheet(title string) sheet.Sheet {
	s := sheet.Sheet{
		Title: title, Headline: m.Headline, Places: m.places, Inputs: m.Inputs, Outputs: m.outputs,
		Guess: m.Guess, Raw: m.Raw, Unit: m.distances.Name, Reports: m.reports, Facts: m.facts, Groups: m.groups,
		Regions: m.parts, Shapes: m.shapes,
		Level: m.level, Unexplained: m.Unexplained,
	}
	if m.Map != nil {
		s.Map, s.Coarse, s.Notes = m.fine.Drawn, m.coarse(), []string{m.note}
	}
	if m.Error != nil && !m.Unexplained {
		s.Error = m.Error.Expected
	}
	s.Notes = append(s.Notes, strings.TrimSpace(m.privacy+" The map is made from the reports and public data alone, which costs no more privacy."))
	return s
}

// output is the file of -map, if it is asked for.
func (m charted) output(c *cli.Command, s sheet.Sheet) ([]device.Output, error) {
	if !c.IsSet("map") {
		return nil, nil
	}
	data, err := s.Encode(c.String("map"))
	if err != nil {
		return nil, fmt.Errorf("-map: %w", err)
	}
	return []device.Output{{Path: c.String("map"), Data: data}}, nil
}
