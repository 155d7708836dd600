package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/series"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/internal/sheet"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
)

// row is the maps of epochs in a row, for people and programs.
type row struct {
	Epochs  []moment  `json:"epochs"`
	Inputs  []string  `json:"inputs"`
	Guess   []float64 `json:"guess"`
	Prior   string    `json:"prior"` // in words
	Unit    string    `json:"unit,omitempty"`
	Level   float64   `json:"level,omitempty"` // of the intervals of changes
	Changes []changes `json:"changes,omitempty"`
	charts  []charted // one for each epoch
	unit    places.Unit
	policy  policy.Policy // of the last epoch
}

// moment is the map of an epoch.
type moment struct {
	Epoch       string            `json:"epoch"`
	Policy      string            `json:"policy"`
	Reports     uint64            `json:"reports"`
	Unexplained bool              `json:"unexplained,omitempty"` // no map explains its counts, or older ones that are used
	Rate        float64           `json:"rate"`                  // what reports count for that are one epoch older
	Worth       float64           `json:"worth"`                 // how many reports of this epoch say as much, if nobody moves
	Error       *atlas.Error      `json:"error,omitempty"`
	Drift       float64           `json:"drift"` // the part of the error that is due to older reports
	Information atlas.Information `json:"information,omitempty"`
	Verdict     atlas.Verdict     `json:"verdict,omitempty"`
	Headline    string            `json:"headline"`
	Map         []float64         `json:"map"`
}

// changes are those of regions from one epoch to another.
type changes struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Regions []change `json:"regions"`
}

type change struct {
	Region string  `json:"region"`
	Before float64 `json:"before"` // likeliest shares
	After  float64 `json:"after"`
	Lower  float64 `json:"lower"` // of the change
	Upper  float64 `json:"upper"`
	Known  bool    `json:"known"` // the interval does not hold 0
}

// epochsOnly are the flags of aggregate that go with -epochs.
var epochsOnly = []string{"epochs", "map", "shapes", "label", "prior", "regions", "level", "json", "allow-equal"}

// aggregateEpochs makes a map for every epoch: the arguments are policies and their partial counts.
func aggregateEpochs(ctx context.Context, c *cli.Command) error {
	for _, name := range c.LocalFlagNames() {
		if c.IsSet(name) && !slices.Contains(epochsOnly, name) {
			return fmt.Errorf("-%s does not go with -epochs", name)
		}
	}
	if err := checkAggregate(c); err != nil {
		return err
	}
	policies, counts, err := readEpochs(c)
	if err != nil {
		return err
	}
	in, err := readChart(c, policies[0].Policy)
	if err != nil {
		return err
	}
	epochs, of, err := ordered(ctx, policies, counts)
	if err != nil {
		return err
	}
	bar := shell.Progress(c.Root().ErrWriter)
	s := series.Settings{Prior: in.prior, Level: in.level, Progress: func(done, total int) { bar(done, total, "maps") }}
	list, err := series.Maps(ctx, epochs, s)
	if err != nil {
		return err
	}
	r := row{Prior: in.name, policy: of[len(of)-1].Policy}
	r.unit = places.UnitOfPolicy(r.policy)
	r.Unit = r.unit.Name
	for t, m := range list {
		id := of[t].Policy.ID()
		one := charted{Prior: in.name, Guess: m.Guess,
			subject: subject{reports: m.Reports, places: in.places, shapes: in.shapes}}
		one.Inputs = places.Labels(of[t].InputLabel, of[t].Inputs())
		one.facts = fmt.Sprintf("%s, eps %v, policy %x, epoch %s", shell.Plural(m.Reports, "report"), of[t].Policy.Epsilon(), id[:6],
			m.Name)
		one.distances = r.unit
		one.found(m.Map, r.unit)
		if c.IsSet("map") {
			if err := one.partsOf(ctx, epochs[t].World, epochs[t].Counts, nil, atlas.Settings{Prior: in.prior}); err != nil {
				return err
			}
		}
		if m.Unexplained {
			fmt.Fprintf(c.Root().ErrWriter, "%s: warning: epoch %s: %s\n", published.Program, m.Name, atlas.Unexplained)
		}
		r.charts = append(r.charts, one)
		r.Inputs, r.Guess = one.Inputs, m.Guess
		r.Epochs = append(r.Epochs, moment{m.Name, fmt.Sprintf("%x", id), m.Reports, m.Unexplained, m.Rate, m.Worth,
			m.Error, m.Drift, m.Information,
			m.Verdict, one.Headline, m.Shares})
	}
	if in.regions != nil {
		if err := r.compare(ctx, epochs, in, s); err != nil {
			return err
		}
	}
	outs, err := r.output(c)
	if err == nil {
		err = device.WriteFiles(c.Root().Writer, outs...)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return device.PrintJSON(c.Root().Writer, r)
	}
	return r.print(c.Root().Writer)
}

// readEpochs reads the arguments: a policy first, and then policies and partial counts in any order.
func readEpochs(c *cli.Command) (list []published.Points, counts []aggregate.Counts, err error) {
	if shell.CountDashes(c.Args().Slice()...) > 0 {
		return nil, nil, errors.New("-epochs reads files, and not standard input")
	}
	for n, name := range c.Args().Slice() {
		if n > 0 && isCounts(c, name) {
			k, err := kindOf(list, c, name)
			if err != nil {
				return nil, nil, err
			}
			one, err := readPart(c, name, k)
			if err != nil {
				return nil, nil, err
			}
			if one.Epoch == "" {
				return nil, nil, fmt.Errorf("%s: %w: it states none, and -epochs needs it", name, aggregate.ErrEpoch)
			}
			counts = append(counts, one)
			continue
		}
		if n == 0 && isCounts(c, name) {
			return nil, nil, fmt.Errorf("%s: -epochs takes the policy first, and then the partial counts of its epochs", name)
		}
		m, err := published.Env(c).OpenPolicy(name)
		if err != nil && n > 0 {
			err = fmt.Errorf("%w; -epochs takes policies and partial counts, which \"wpm count -epoch\" makes of reports", err)
		}
		if err != nil {
			return nil, nil, err
		}
		p, ok := m.(published.Points)
		if !ok {
			return nil, nil, fmt.Errorf("%s: -epochs makes maps, and a codebook has none", name)
		}
		list = append(list, p)
	}
	if len(list) == 0 || len(counts) == 0 {
		return nil, nil, errors.New("aggregate -epochs takes a policy and files of partial counts, one or more for each epoch")
	}
	return list, counts, nil
}

// isCounts reports whether a file begins as partial counts do.
func isCounts(c *cli.Command, name string) bool {
	f, err := device.Open(name, c.Root().Reader)
	if err != nil {
		return false // OpenPolicy says why
	}
	defer f.Close()
	b := make([]byte, 64)
	n, _ := io.ReadFull(f, b)
	return aggregate.IsCounts(b[:n])
}

// kindOf returns the policy that partial counts are of.
func kindOf(list []published.Points, c *cli.Command, name string) (published.Kind, error) {
	var fault error
	for _, p := range list {
		if _, err := readPart(c, name, p); err == nil || !errors.Is(err, aggregate.ErrPolicy) {
			return p, nil
		} else {
			fault = err
		}
	}
	return nil, fmt.Errorf("%w; its policy must stand before it", fault)
}

// ordered returns the epochs in the order of time, with their policies. Names of no form are in the
// order of the arguments.
func ordered(ctx context.Context, policies []published.Points, counts []aggregate.Counts) (
	list []series.Epoch, of []published.Points, err error) {
	worlds := map[[32]byte]atlas.World{}
	at := map[[32]byte]published.Points{}
	for _, p := range policies {
		id := p.Policy.ID()
		if worlds[id], err = atlas.Of(ctx, p.Policy); err != nil {
			return nil, nil, err
		}
		at[id] = p
		if !slices.Equal(places.Labels(p.InputLabel, p.Inputs()), places.Labels(policies[0].InputLabel, policies[0].Inputs())) {
			return nil, nil, errors.New("the policies of -epochs have different places")
		}
	}
	merged, err := byEpoch(counts)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, one := range merged {
		names = append(names, one.Epoch)
	}
	number, err := aggregate.EpochNumbers(names)
	if err != nil {
		return nil, nil, err
	}
	for n, one := range merged {
		list = append(list, series.Epoch{Name: one.Epoch, Number: number[n], World: worlds[one.Policy], Counts: one.Reports})
		of = append(of, at[one.Policy])
	}
	order := make([]int, len(list))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return list[a].Number - list[b].Number })
	sorted, ofSorted := make([]series.Epoch, len(list)), make([]published.Points, len(list))
	for n, m := range order {
		sorted[n], ofSorted[n] = list[m], of[m]
	}
	return sorted, ofSorted, nil
}

// byEpoch adds up the counts of each epoch. Two policies in one epoch are an error.
func byEpoch(counts []aggregate.Counts) (list []aggregate.Counts, err error) {
	for _, one := range counts {
		n := slices.IndexFunc(list, func(c aggregate.Counts) bool { return c.Epoch == one.Epoch })
		if n < 0 {
			list = append(list, one)
			continue
		}
		if list[n], err = aggregate.Merge(list[n], one); err != nil {
			return nil, fmt.Errorf("epoch %s: %w", one.Epoch, err)
		}
	}
	return list, nil
}

// compare sets the changes from the first epoch to the last, and from the last but one.
func (r *row) compare(ctx context.Context, epochs []series.Epoch, in chartInput, s series.Settings) error {
	r.Level = in.level
	var weights [][]float64
	for _, region := range in.regions {
		weights = append(weights, region.Weights)
	}
	last := len(epochs) - 1
	for _, from := range slices.Compact([]int{0, max(last-1, 0)}) {
		if from == last {
			continue
		}
		list, err := series.Changes(ctx, epochs[from], epochs[last], weights, s)
		if err != nil {
			return err
		}
		r.Changes = append(r.Changes, changesOf(epochs[from].Name, epochs[last].Name, in.regions, list))
	}
	return nil
}

func changesOf(from, to string, regions []plane.Region, list []series.Change) changes {
	out := changes{From: from, To: to}
	for n, c := range list {
		out.Regions = append(out.Regions, change{regions[n].Name, c.From.Likeliest, c.To.Likeliest, c.Lower, c.Upper, c.Known()})
	}
	return out
}

// words says a change.
func (c change) words() string {
	if !c.Known {
		return "no change known"
	}
	if c.After > c.Before {
		return "more"
	}
	return "less"
}

func (c changes) table() sheet.Table {
	t := sheet.Table{Title: fmt.Sprintf("From %s to %s", c.From, c.To),
		Head: []string{"region", "share before", "share after", "change, interval", "known"}}
	for _, r := range c.Regions {
		t.Rows = append(t.Rows, []string{r.Region, fmt.Sprintf("%.3f", r.Before), fmt.Sprintf("%.3f", r.After),
			fmt.Sprintf("%+.3f to %+.3f", r.Lower, r.Upper), r.words()})
	}
	return t
}

// errors lists the epochs with their errors.
func (r row) errors() sheet.Table {
	t := sheet.Table{Title: "Epochs", Head: []string{"epoch", "reports", "error", "nine of ten", "guess", "older reports"}}
	name, scale := r.unit.Distances()
	if name != "" {
		t.Title += ", errors in " + name
	}
	for _, m := range r.Epochs {
		line := []string{m.Epoch, fmt.Sprint(m.Reports), "-", "-", "-", "none"}
		if m.Unexplained {
			line[2] = "unexplained"
		} else if m.Error != nil {
			for n, v := range []float64{m.Error.Expected, m.Error.Within90, m.Error.Guess} {
				line[2+n] = fmt.Sprintf("%.2g", scale*v)
			}
		}
		if m.Rate > 0 {
			line[5] = fmt.Sprintf("count for %v an epoch", m.Rate)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// drifted says what the maps are made of.
const drifted = "The map of an epoch uses its reports and those before it, older ones for less, as far as that helped to " +
	"predict reports. Its error includes that people have moved since. Changes use the reports of two epochs alone."

// print writes the epochs, the newest map in words, and the changes.
func (r row) print(out io.Writer) error {
	tables := []sheet.Table{r.errors()}
	for _, c := range r.Changes {
		tables = append(tables, c.table())
	}
	last := r.Epochs[len(r.Epochs)-1]
	fmt.Fprintf(out, "%s, the last %s.\n", shell.Plural(uint64(len(r.Epochs)), "epoch"), last.Epoch)
	fmt.Fprintf(out, "Map       %s\n", strings.ReplaceAll(last.Headline, ". ", ".\n          "))
	fmt.Fprintf(out, "          %s\n", strings.ReplaceAll(drifted, ". ", ".\n          "))
	for _, t := range tables {
		fmt.Fprintf(out, "\n%s:\n\n", t.Title)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, tabbed(t.Head))
		for _, line := range t.Rows {
			fmt.Fprintln(w, tabbed(line))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if len(r.Changes) > 0 {
		_, err := fmt.Fprintf(out, "\n%s\n", r.levelText())
		return err
	}
	return nil
}

func (r row) levelText() string {
	return fmt.Sprintf("The intervals of changes are made for level %v.", r.Level)
}

// output is the file of -map, if it is asked for.
func (r row) output(c *cli.Command) ([]device.Output, error) {
	if !c.IsSet("map") {
		return nil, nil
	}
	last := r.Epochs[len(r.Epochs)-1]
	q := sheet.Sequence{Title: fmt.Sprintf("Maps of %s", shell.Plural(uint64(len(r.Epochs)), "epoch")),
		Headline: "In " + last.Epoch + ": " + last.Headline, Facts: r.charts[len(r.charts)-1].facts,
		Notes:  []string{drifted, "The maps are made from reports and public data alone: they cost no privacy."},
		Tables: []sheet.Table{r.errors()}}
	for _, c := range r.Changes {
		q.Tables = append(q.Tables, c.table())
	}
	if len(r.Changes) > 0 {
		q.Notes = append(q.Notes, r.levelText())
	}
	for n, m := range r.Epochs {
		s := r.charts[n].sheet("")
		s.Raw, s.Outputs = nil, s.Inputs // reports of several epochs are no shares of one
		q.Steps = append(q.Steps, sheet.Step{Epoch: m.Epoch, Note: errorText(r.charts[n].fine, r.charts[n].Prior, r.unit), Sheet: s})
	}
	data, err := q.Encode(c.String("map"))
	if err != nil {
		return nil, fmt.Errorf("-map: %w", err)
	}
	return []device.Output{{Path: c.String("map"), Data: data}}, nil
}
