package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/sheet"
	"github.com/wpm-go/wpm/internal/shell"
)

// Evaluate is the command evaluate.
func Evaluate() *cli.Command {
	return &cli.Command{
		Name:      "evaluate",
		Usage:     "compare reports, and the map that they make, with a known truth",
		ArgsUsage: "POLICY TRUTH [REPORTS...]",
		Description: "TRUTH is CSV over the input points, with lines label,count, or user,label,count; all users then have the\n" +
			"same weight. REPORTS (default: standard input), -counts, -strict and the flags of the map are those of\n" +
			"aggregate.\n" +
			"Prints how far the guess, the reports as they are (raw) and the map are from the truth, in W_p by exact\n" +
			"transport. With more than 4,096 inputs, guess and map are not scored. -map draws all of them beside the\n" +
			"truth.\n" +
			"The truth is private data, and so is what -map writes: run this only where they may be.",
		Flags:        append(append(countsFlags(), mapFlags()...), &cli.BoolFlag{Name: "json", Usage: "print as JSON"}),
		OnUsageError: shell.UsageError,
		Action:       evaluate,
	}
}

// judged is what evaluate reads.
type judged struct {
	published.Points
	file   string // of the truth
	matrix cost.Matrix
	truth  []float64
	users  int
	chart  chartInput
	files  []string // of reports
}

// readJudged reads all but the reports.
func readJudged(c *cli.Command) (in judged, err error) {
	args := c.Args().Slice()
	if len(args) < 2 {
		return in, errors.New("evaluate takes a policy, a truth and files of reports")
	}
	if args[1] == "-" && (args[0] == "-" || readsStdin(c, args[2:])) {
		return in, errors.New("only one of policy, truth and reports can be standard input")
	}
	k, files, err := policyAndFiles(c, slices.Delete(slices.Clone(args), 1, 2))
	if err != nil {
		return in, err
	}
	p, ok := k.(published.Points)
	if !ok {
		return in, fmt.Errorf("%s: %w", args[0], published.ErrVectors)
	}
	in.Points, in.file, in.files = p, args[1], files
	if len(p.Cost()) == 0 {
		return in, fmt.Errorf("%s: the policy has no cost, so there is no distance", args[0])
	}
	spec, err := cost.ParseSpec(p.Cost())
	if err == nil {
		in.matrix, err = spec.Build()
	}
	if err != nil {
		return in, fmt.Errorf("%s: %w", args[0], err)
	}
	if err := oneStdin(c, args, files); err != nil {
		return in, err
	}
	if c.String("map") == "-" {
		return in, errors.New("-map: standard output is taken by the result; use a file")
	}
	if err := device.Apart([]string{c.String("map")}, append(args, c.String("counts"), c.String("prior"), c.String("shapes"))); err != nil {
		return in, err
	}
	if in.chart, err = readChart(c, p.Policy); err != nil {
		return in, err
	}
	labels := places.Labels(p.InputLabel, p.Inputs())
	table, err := shell.Table(c, args[1], labels)
	if err != nil {
		return in, err
	}
	in.truth, in.users = places.MeanOf(table, len(labels))
	return in, nil
}

func evaluate(ctx context.Context, c *cli.Command) error {
	in, err := readJudged(c)
	if err != nil {
		return err
	}
	n, err := aggregate.NewCounter(in.Policy)
	if err != nil {
		return err
	}
	counts, err := readCounts(ctx, c, in.Points, n, in.files)
	if err != nil {
		return err
	}
	m, err := chart(ctx, c, in.Policy, in.chart, counts.Reports)
	if err != nil {
		return err
	}
	u := places.UnitOfPolicy(in.Policy)
	out := Evaluation{Reports: counts.Total(), Users: in.users, P: u.P, Unit: u.Name, Headline: m.Headline,
		Reason: m.Reason, Estimator: m.Estimator, Unexplained: m.Unexplained}
	if err := in.scores(ctx, m, u, &out); err != nil {
		return err
	}
	if out.Bias, out.noBias, err = biasOf(ctx, in.Policy); err != nil {
		return err
	}
	files, err := m.output(c, in.sheet(m, out, u))
	if err == nil {
		err = device.WriteFiles(c.Root().Writer, files...)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = device.PrintJSON(c.Root().Writer, out)
	} else {
		err = out.print(c.Root().Writer, u)
	}
	if err != nil {
		return err
	}
	return someRefused(counts)
}

// scores compares all that there is with the truth.
func (in judged) scores(ctx context.Context, m charted, u places.Unit, out *Evaluation) (err error) {
	if m.Raw != nil {
		if out.Scores.Raw, err = in.score(ctx, in.matrix, m.Raw, u); err != nil {
			return err
		}
	}
	// Between inputs: a map and the guess have their shares there.
	if out.unscored = in.unscored(m); m.between != nil && out.unscored == "" {
		out.Scores.Guess, err = in.score(ctx, m.between, m.Guess, u)
		if err == nil && m.Map != nil {
			out.Scores.Map, err = in.score(ctx, m.between, m.Map, u)
		}
	}
	return err
}

// unscored says why a map that there is has no score, nor the guess; else it is empty.
func (in judged) unscored(m charted) string {
	switch k := in.Inputs(); {
	case m.Map == nil:
		return ""
	case k > published.MaxUtility/k:
		return fmt.Sprintf("Guess and map are not scored: for %d inputs there are more than %d distances.", k, published.MaxUtility)
	case m.between == nil:
		return "Guess and map are not scored: the policy's cost has no distances between inputs."
	}
	return ""
}

// maxTransport bounds the pairs of a place of the truth and a reported one: an hour or so of exact transport.
const maxTransport int64 = 1 << 36

// checkTransport refuses a transport that would take days.
func checkTransport(from, to []float64) error {
	mass := func(list []float64) (n int64) {
		for _, x := range list {
			if x > 0 {
				n++
			}
		}
		return n
	}
	if a, b := mass(from), mass(to); b > 0 && a > maxTransport/b {
		return fmt.Errorf("the truth has %d places, and the reports %d: that is more than %d pairs; compare regions instead of places",
			a, b, maxTransport)
	}
	return nil
}

// score compares shares with the truth.
func (in judged) score(ctx context.Context, matrix cost.Matrix, shares []float64, u places.Unit) (*Score, error) {
	if err := checkTransport(in.truth, shares); err != nil {
		return nil, err
	}
	e, err := aggregate.Evaluate(ctx, matrix, in.truth, shares)
	if errors.Is(err, aggregate.ErrEmpty) {
		return nil, fmt.Errorf("%s: all counts are zero", in.file)
	}
	if err != nil {
		return nil, err
	}
	s := &Score{Objective: e.Objective, Lower: e.Lower, Upper: e.Upper}
	if u.P > 0 {
		s.Distance = e.Distance(u.P)
	}
	if !math.IsNaN(e.TotalVariation) {
		s.TV = &e.TotalVariation
	}
	return s, nil
}

// Score is how far shares are from the truth.
type Score struct {
	Distance  float64  `json:"w,omitempty"` // W_p, if p is known
	Objective float64  `json:"w_to_the_p"`
	Lower     float64  `json:"lower"`
	Upper     float64  `json:"upper"`
	TV        *float64 `json:"total_variation,omitempty"`
}

// Evaluation is what evaluate prints. Raw is scored, but of codes, whose releases are no places. Guess and map are not
// where there is none, or where there are too many inputs.
type Evaluation struct {
	Reports uint64  `json:"reports"`
	Users   int     `json:"users"` // in the truth; 0 if it is one table
	P       float64 `json:"p,omitempty"`
	Unit    string  `json:"unit"` // of distances

	Bias      *bias  `json:"bias,omitempty"` // of the mechanism, as the policy certifies it
	noBias    string // why there is none
	Headline  string `json:"headline"`
	Estimator string `json:"estimator,omitempty"`
	// Unexplained: no map explains the counts.
	Unexplained bool   `json:"unexplained,omitempty"`
	Reason      string `json:"reason,omitempty"` // why there is no map
	unscored    string // why a map has no score
	Scores      struct {
		Guess *Score `json:"guess"`
		Raw   *Score `json:"raw"`
		Map   *Score `json:"map"`
	} `json:"scores"`
}

func (e Evaluation) print(w io.Writer, u places.Unit) error {
	fmt.Fprintf(w, "%s against the truth", shell.Plural(e.Reports, "report"))
	if e.Users > 0 {
		fmt.Fprintf(w, " of %s", shell.Plural(uint64(e.Users), "user"))
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	head, rows := e.table(u)
	fmt.Fprintln(t, tabbed(head))
	for _, row := range rows {
		fmt.Fprintln(t, tabbed(row))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if e.unscored != "" {
		fmt.Fprintf(w, "\n%s\n", e.unscored)
	}
	_, err := fmt.Fprintf(w, "\nMap   %s\nBias  of the line raw, not of the map: %s.\n",
		e.Headline, e.Bias.text(u, e.noBias))
	return err
}

// table lists the scores.
func (e Evaluation) table(u places.Unit) (head []string, rows [][]string) {
	head = []string{"", u.Quantity(), "proved between", "total variation"}
	if u.P > 0 {
		head[1] = fmt.Sprintf("W_%v", u.P)
	}
	for _, line := range []struct {
		name string
		s    *Score
	}{{"guess", e.Scores.Guess}, {"raw", e.Scores.Raw}, {"map", e.Scores.Map}} {
		if line.s == nil {
			continue
		}
		root, tv := func(v float64) float64 { return v }, "-"
		if u.P > 0 {
			root = func(v float64) float64 { return math.Pow(max(v, 0), 1/u.P) }
		}
		if line.s.TV != nil {
			tv = fmt.Sprintf("%.4g", *line.s.TV)
		}
		at := fmt.Sprintf("%.5g %s", line.s.Objective, u.Name)
		if u.P > 0 {
			at = u.Distance(line.s.Distance, "%.5g")
		}
		rows = append(rows, []string{line.name, at, fmt.Sprintf("%.5g and %.5g", root(line.s.Lower), root(line.s.Upper)), tv})
	}
	return head, rows
}

// sheet is the map as a file, with the truth beside it.
func (in judged) sheet(m charted, e Evaluation, u places.Unit) sheet.Sheet {
	s := m.sheet(fmt.Sprintf("The map of %s against the truth", shell.Plural(e.Reports, "report")))
	sum := 0.0
	for _, v := range in.truth {
		sum += v
	}
	for _, v := range in.truth {
		s.Truth = append(s.Truth, v/sum)
	}
	head, rows := e.table(u)
	s.Tables = append([]sheet.Table{{Title: "Distance to the truth", Head: head, Rows: rows}}, s.Tables...)
	s.Notes = append(s.Notes, "The truth is private: this file is not for others.")
	return s
}
