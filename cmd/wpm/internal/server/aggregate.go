// Package server has the commands that read reports: report, count, merge, aggregate and evaluate.
package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
)

// Aggregate is the command aggregate.
func Aggregate() *cli.Command {
	return &cli.Command{
		Name:      "aggregate",
		Usage:     "turn reports into a map of the population, and a histogram with confidence bands",
		ArgsUsage: "POLICY [REPORTS...]",
		Description: "REPORTS has one report per line, in the hexadecimal form of release, or holds binary reports one after\n" +
			"the other; gzip is allowed (default: standard input). The memory is that of one histogram, for any number\n" +
			"of reports. What is not a report of the policy is skipped and counted by reason. The exit status is then\n" +
			"3; with -strict it is 2, and there is no output.\n" +
			"A report does not say who sent it. Whoever receives reports must refuse a client's second one in an\n" +
			"epoch, because no later step can see it.\n" +
			"The map is an estimate of the mean of the private distributions, as fine as the reports support. Beside\n" +
			"it are the guess, which is what one would say without a report, and raw, the reports as they are. The\n" +
			"signal says how much better the map is than the guess. A map needs a mixture policy: reports in\n" +
			"projection mode do not identify it. It costs no privacy.\n" +
			"-regions FILE has lines region,label or region,label,weight. The intervals are approximate for single\n" +
			"places, and too narrow where nearly everyone is in one place.\n" +
			"Of pairs (\"wpm design -pairs\"), the labels of -regions are those of places, and the table has the flows between\n" +
			"regions. Lines of GeoJSON have the flow as their width.\n" +
			"-invert is short for -estimator mle -assume-mixture: the most likely map, of a policy of either mode.\n" +
			"-assume-mixture takes reports of projection mode for such of mixture mode. The map is then biased, and more\n" +
			"reports make it worse, not better. It is refused where the bias is forecast to be larger than what a map of as\n" +
			"many reports in mixture mode is off: for made-up people at three places each, from the policy alone.\n" +
			"Files of -map round shares to what is known of them, and have the groups and the regions after the places.\n" +
			"GeoJSON has points, the cells of a grid, or the polygons of -shapes. Coordinates of a great-circle cost are\n" +
			"WGS 84; all others are the policy's own.\n" +
			"All bands of the histogram hold at once with the confidence given. They are about the distribution that\n" +
			"clients draw from. How far that is from the private distributions is the bias of the mechanism, which is\n" +
			"printed apart.\n" +
			"With -epochs the files are partial counts, which state their epochs: aggregate makes a map of every epoch, of\n" +
			"its reports and those before it, and says with -regions what has changed. Counts of another policy come after\n" +
			"that policy: aggregate -epochs OLD 2026-01.counts NEW 2026-02.counts.\n" +
			"For reports of a codebook, aggregate prints their mean and, if the seed is fixed, the histogram of\n" +
			"candidates; -out then has a line candidate,x1,...,x(d+1) for each report.",
		Flags: append(append(countsFlags(), mapFlags()...),
			&cli.BoolFlag{Name: "epochs", Usage: "a map of every epoch: the files are partial counts"},
			&cli.StringFlag{Name: "regions", Usage: "intervals of the shares of regions: CSV `FILE`"},
			&cli.FloatFlag{Name: "level", Value: estimate.DefaultLevel,
				Usage: "`PROBABILITY` that the interval of a region is made for"},
			&cli.StringFlag{Name: "partial",
				Usage: "also write partial counts to `FILE`: counts by output and by reason, and what was read"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"},
				Usage: "also write the histogram as CSV to `FILE`: label,count,estimate,lower,upper; -counts reads it"},
			&cli.FloatFlag{Name: "confidence", Value: aggregate.DefaultConfidence, Usage: "`PROBABILITY` that all bands hold"},
			&cli.BoolFlag{Name: "invert", Usage: "the same as -estimator mle -assume-mixture, and refused where that is"},
			&cli.IntFlag{Name: "top", Value: 20,
				Usage: "print `N` lines of a table, the largest first, 0 for all; single places are then listed whatever the signal"},
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON"},
		),
		Metadata:     shell.Twice("counts", "wpm merge adds partial counts up"),
		OnUsageError: shell.UsageError,
		Action:       aggregateReports,
	}
}

// Tally is the histogram of a policy's reports, for people and programs.
type Tally struct {
	Policy     string            `json:"policy"`
	Mode       policy.Mode       `json:"mode"`
	Epoch      string            `json:"epoch,omitempty"`
	Lines      uint64            `json:"lines"` // reports and refused together
	Reports    uint64            `json:"reports"`
	Refused    map[string]uint64 `json:"refused"` // by reason
	Confidence float64           `json:"confidence"`
	Unit       string            `json:"unit,omitempty"` // of distances
	Points     []point           `json:"points"`         // null with codes
	Bias       *bias             `json:"bias,omitempty"`
	noBias     string            // why there is none
	Inverse    *inverse          `json:"inverse,omitempty"`
	charted
}

// errSets is why codes have no histogram, and no bound of a bias.
var errSets = errors.New("the policy has codes: a release is a set of places, so that counts of releases show no place")

type point struct {
	Label    string  `json:"label"`
	Count    uint64  `json:"count"`
	Estimate float64 `json:"estimate"`
	Lower    float64 `json:"lower"`
	Upper    float64 `json:"upper"`
}

// bias is what the policy certifies of it.
type bias struct {
	Worst    float64 `json:"worst_w_to_the_p"` // W_p^p, recomputed from the policy
	P        float64 `json:"p,omitempty"`
	Distance float64 `json:"worst_w,omitempty"` // W_p, if p is known
}

// inverse is the map of -invert, once more.
type inverse struct {
	Labels     []string  `json:"labels"`
	Theta      []float64 `json:"theta"`
	Gap        float64   `json:"gap"`
	Iterations int       `json:"iterations"`
}

// checkAggregate checks the flags that say what is printed and written.
func checkAggregate(c *cli.Command) error {
	if c.IsSet("top") && c.Int("top") < 0 {
		return fmt.Errorf("-top: %d is negative", c.Int("top"))
	}
	for _, name := range []string{"out", "partial", "map"} {
		if c.IsSet(name) && c.String(name) == "-" {
			return fmt.Errorf("-%s: standard output is taken by the summary; use -json, or a file", name)
		}
		if c.IsSet(name) {
			if err := device.Writable(c.String(name)); err != nil {
				return err
			}
		}
	}
	if c.IsSet("partial") && c.IsSet("counts") {
		return errors.New("-partial does not go with -counts: it would say that reports were read")
	}
	return device.Apart([]string{c.String("out"), c.String("partial"), c.String("map")},
		append(c.Args().Slice(), c.String("counts"), c.String("prior"), c.String("regions"), c.String("shapes")))
}

func aggregateReports(ctx context.Context, c *cli.Command) error {
	if c.Bool("epochs") {
		return aggregateEpochs(ctx, c)
	}
	k, files, err := policyAndFiles(c, c.Args().Slice())
	if err == nil {
		err = checkAggregate(c)
	}
	if err != nil {
		return err
	}
	if v, ok := k.(published.Vectors); ok {
		return aggregateCodebook(ctx, c, v, files)
	}
	p := k.(published.Points)
	if err := oneStdin(c, c.Args().Slice(), files); err != nil {
		return err
	}
	in, err := readChart(c, p.Policy)
	if err != nil {
		return err
	}
	n, err := aggregate.NewCounter(p.Policy)
	if err != nil {
		return err
	}
	counts, err := readCounts(ctx, c, p, n, files)
	if err != nil {
		return err
	}
	if p.HasCodes() && c.IsSet("out") {
		return fmt.Errorf("-out: %w; -partial keeps the counts", errSets)
	}
	list, h, err := histogramOf(c, counts.Reports, p.OutputLabel)
	if err != nil {
		return err
	}
	if p.HasCodes() {
		list = nil
	}
	u := places.UnitOfPolicy(p.Policy)
	t := Tally{
		Policy: fmt.Sprintf("%x", counts.Policy), Mode: p.Mode(), Epoch: counts.Epoch, Lines: counts.Lines, Reports: h.N,
		Refused:    byReason(counts),
		Confidence: h.Confidence, Unit: u.Name, Points: list,
	}
	if t.Bias, t.noBias, err = biasOf(ctx, p.Policy); err != nil {
		return err
	}
	if t.charted, err = chart(ctx, c, p.Policy, in, h.Counts); err != nil {
		return err
	}
	if c.Bool("invert") && t.Map != nil {
		t.Inverse = &inverse{t.Inputs, t.Map, *t.Gap, t.fine.Iterations}
	}
	outs, err := t.outputs(c, counts)
	if err != nil {
		return err
	}
	if err := device.WriteFiles(c.Root().Writer, outs...); err != nil {
		return err
	}
	return t.show(c, counts, u, h.Radius())
}

// show prints the tally; that reports were refused is its error.
func (t Tally) show(c *cli.Command, counts aggregate.Counts, u places.Unit, radius float64) (err error) {
	if c.Bool("json") {
		err = device.PrintJSON(c.Root().Writer, t)
	} else {
		err = t.print(c.Root().Writer, counts, u, radius, c.Int("top"), c.IsSet("top"))
	}
	if err != nil {
		return err
	}
	return someRefused(counts)
}

// outputs are the files of -partial, -map and -out.
func (t Tally) outputs(c *cli.Command, counts aggregate.Counts) ([]device.Output, error) {
	outs, err := partialOutput(c, counts)
	if err != nil {
		return nil, err
	}
	if t.Epoch != "" {
		t.facts += ", epoch " + t.Epoch
	}
	title := "The map of " + shell.Plural(t.Reports, "report")
	if strings.HasPrefix(t.Epoch, aggregate.SimulatedEpoch) {
		title += " of made-up people"
	}
	page, err := t.output(c, t.sheet(title))
	if err != nil {
		return nil, err
	}
	outs = append(outs, page...)
	if c.IsSet("out") {
		table, err := histogramCSV(t.Points)
		if err != nil {
			return nil, err
		}
		outs = append(outs, device.Output{Path: c.String("out"), Data: table})
	}
	return outs, nil
}

// histogramOf returns the histogram of counts, also as a list of points.
func histogramOf(c *cli.Command, counts []uint64, label func(int) string) ([]point, aggregate.Histogram, error) {
	h, err := aggregate.NewHistogram(counts, aggregate.Settings{Confidence: c.Float("confidence")})
	if errors.Is(err, aggregate.ErrConfidence) {
		err = fmt.Errorf("-confidence: %v is not from 0.5 to below 1", c.Float("confidence"))
	}
	if err != nil {
		return nil, h, err
	}
	var list []point
	for j := range h.Counts {
		list = append(list, point{label(j), h.Counts[j], h.Estimate[j], h.Lower[j], h.Upper[j]})
	}
	return list, h, nil
}

// partialOutput is the file of -partial, if it is asked for.
func partialOutput(c *cli.Command, counts aggregate.Counts) ([]device.Output, error) {
	if !c.IsSet("partial") {
		return nil, nil
	}
	text, err := counts.Encode()
	if err != nil {
		return nil, fmt.Errorf("-partial: %w", err)
	}
	return []device.Output{{Path: c.String("partial"), Data: text}}, nil
}

// text says how far the releases are drawn from the private distributions; for no bias it is none.
func (b *bias) text(u places.Unit, none string) string {
	switch {
	case b == nil:
		return none
	case b.P > 0:
		return fmt.Sprintf("the shares of very many reports are up to %s from the truth in W_%v, wherever people are (certified)",
			u.Distance(b.Distance, "%.2g"), b.P)
	}
	return fmt.Sprintf("moving the shares of very many reports to the truth costs up to %.2g %s, wherever people are (certified)",
		b.Worst, u.Costs())
}

// biasOf returns what the policy certifies of its worst case. It is nil where the policy claims nothing, or is too
// large to recompute that here: none says so.
func biasOf(ctx context.Context, p policy.Policy) (_ *bias, none string, err error) {
	if p.HasCodes() {
		return nil, errSets.Error(), nil
	}
	if len(p.Cost()) == 0 || len(p.Certificate()) == 0 {
		return nil, "this policy certifies nothing about how far off it is", nil
	}
	if p.Inputs() > published.MaxUtility/p.Outputs() {
		return nil, "what this policy certifies of how far off it is was not recomputed at this size: wpm verify -utility does", nil
	}
	exact, _, err := certificate.WorstRow(ctx, p)
	if err != nil {
		return nil, "", err
	}
	worst := num.Up(exact)
	b := &bias{Worst: worst}
	if power := places.UnitOfPolicy(p).P; power > 0 {
		b.P, b.Distance = power, aggregate.Bias(worst, power)
	}
	return b, "", nil
}

func histogramCSV(points []point) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	_ = w.Write([]string{"label", "count", "estimate", "lower", "upper"})
	for _, q := range points {
		_ = w.Write([]string{q.Label, strconv.FormatUint(q.Count, 10), number(q.Estimate), number(q.Lower), number(q.Upper)})
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// print writes the tally for people: the answer first, and single places last.
func (t Tally) print(out io.Writer, counts aggregate.Counts, u places.Unit, radius float64, top int, all bool) error {
	fmt.Fprintf(out, "%s of policy %.12s (%s mode).\n", shell.Plural(t.Reports, "report"), t.Policy, t.Mode)
	if counts.AllRefused() > 0 {
		fmt.Fprintf(out, "%s.\n", refusedText(counts))
	}
	fmt.Fprintln(out)
	if err := t.charted.print(out, top); err != nil {
		return err
	}
	if t.Points == nil {
		_, err := fmt.Fprintf(out, "\nHistogram none: %v.\n", errSets)
		return err
	}
	if t.Map != nil && t.Information != atlas.Much && !all {
		_, err := fmt.Fprintln(out,
			"\nSingle places are not listed: the reports may not settle them. -top N lists them; -out and -json have them.")
		return err
	}
	fmt.Fprintf(out, "\nThe reports as they are (raw). A release moves its owner to hide where they are, so these shares are no map:\n")
	fmt.Fprintf(out, "Bias      of these, not of the map: %s.\n", t.Bias.text(u, t.noBias))
	fmt.Fprintf(out, "Sampling  with probability %v all bands hold the shares of very many reports; none is wider than %.2g on a side.\n\n",
		t.Confidence, radius)
	return printPoints(out, t.Points, top)
}

// printPoints prints the top points, all if top is 0: the most released first, and of equals the earlier one.
func printPoints(out io.Writer, points []point, top int) error {
	list := slices.Clone(points)
	slices.SortStableFunc(list, func(a, b point) int { return cmp.Compare(b.Count, a.Count) })
	if top > 0 {
		list = list[:min(top, len(list))]
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "point\tcount\testimate\tband")
	for _, q := range list {
		fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f to %.4f\n", q.Label, q.Count, q.Estimate, q.Lower, q.Upper)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(points) - len(list); n > 0 {
		fmt.Fprintf(out, "... and %d more (-top 0, -json)\n", n)
	}
	return nil
}
