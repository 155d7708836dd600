package server

import (
	"context"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// VectorTally is what is known of a codebook's reports.
type VectorTally struct {
	Policy  string            `json:"policy"`
	Epoch   string            `json:"epoch,omitempty"`
	Lines   uint64            `json:"lines"`
	Reports uint64            `json:"reports"`
	Refused map[string]uint64 `json:"refused"`
	Seed    string            `json:"seed"`
	Mean    []float64         `json:"mean"`
	Points  []point           `json:"points,omitempty"` // with a fixed seed: by candidate
}

// checkCodebook refuses flags that mean nothing for a codebook.
func checkCodebook(c *cli.Command, v published.Vectors) error {
	switch {
	case mapped(c) != "":
		return fmt.Errorf("-%s: not for a codebook", mapped(c))
	case v.Fresh() && (c.IsSet("partial") || c.IsSet("counts")):
		return fmt.Errorf("-partial, -counts: %w", published.ErrFresh)
	case c.IsSet("out") && c.IsSet("counts"):
		return errors.New("-out has a line for each report, which -counts does not have")
	}
	return nil
}

func aggregateCodebook(ctx context.Context, c *cli.Command, v published.Vectors, files []string) error {
	if err := checkCodebook(c, v); err != nil {
		return err
	}
	mean := make([]float64, v.Config().Dim+1) // times the number of reports, until all are read
	var counts aggregate.Counts
	read := func(table io.Writer) (err error) {
		counts, err = readVectors(ctx, c, v, files, mean, table)
		return err
	}
	outs, err := []device.Output{}, error(nil)
	if c.IsSet("out") { // read while it is written: there may be more reports than memory
		err = device.WriteFiles(c.Root().Writer, device.Output{Path: c.String("out"), Fill: read})
	} else {
		err = read(io.Discard)
	}
	if err == nil {
		outs, err = partialOutput(c, counts)
	}
	if err == nil {
		err = device.WriteFiles(c.Root().Writer, outs...)
	}
	if err != nil {
		return err
	}
	for i := range mean {
		mean[i] /= float64(counts.Total())
	}
	t := VectorTally{
		Policy: hex.EncodeToString(counts.Policy[:]), Epoch: counts.Epoch, Lines: counts.Lines, Reports: counts.Total(),
		Refused: byReason(counts), Seed: v.SeedText(), Mean: mean,
	}
	radius := 0.0
	if !v.Fresh() {
		list, h, err := histogramOf(c, counts.Reports, strconv.Itoa)
		if err != nil {
			return err
		}
		t.Points, radius = list, h.Radius()
	}
	if c.Bool("json") {
		err = device.PrintJSON(c.Root().Writer, t)
	} else {
		err = t.print(c, counts, radius)
	}
	if err != nil {
		return err
	}
	return someRefused(counts)
}

// readVectors counts reports, adds their points up, and writes a line candidate,x1,...,x(d+1) for each.
func readVectors(
	ctx context.Context, c *cli.Command, v published.Vectors, files []string, sum []float64, table io.Writer,
) (aggregate.Counts, error) {
	rows := csv.NewWriter(table)
	row := []string{"candidate"}
	for i := range sum {
		row = append(row, fmt.Sprintf("x%d", i+1))
	}
	_ = rows.Write(row)
	var failed error
	n, err := v.Counter(func(r codebook.Report) {
		y, err := v.Point(r)
		if err != nil {
			failed = err
			return
		}
		row[0] = strconv.Itoa(r.Index())
		for i, x := range y {
			sum[i] += x
			row[i+1] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		_ = rows.Write(row)
	})
	if err != nil {
		return aggregate.Counts{}, err
	}
	counts, err := readCounts(ctx, c, v, n, files)
	if c.IsSet("counts") && err == nil {
		for j, times := range counts.Reports {
			y, err := v.Candidate(v.Config().Seed, j)
			if err != nil {
				return counts, err
			}
			for i, x := range y {
				sum[i] += x * float64(times)
			}
		}
	}
	rows.Flush()
	return counts, errors.Join(err, failed, rows.Error())
}

func (t VectorTally) print(c *cli.Command, counts aggregate.Counts, radius float64) error {
	out := c.Root().Writer
	norm := 0.0
	for _, v := range t.Mean {
		norm = math.Hypot(norm, v)
	}
	fmt.Fprintf(out, "%s of codebook %.12s.\n", shell.Plural(t.Reports, "report"), t.Policy)
	if counts.AllRefused() > 0 {
		fmt.Fprintf(out, "%s.\n", refusedText(counts))
	}
	fmt.Fprintf(out, "\nMean      of the points: length %.4g. The mechanism draws it towards 0 (-json has the vector).\n",
		norm)
	if t.Points == nil {
		_, err := fmt.Fprintln(out,
			"Seed      fresh: an index means nothing without it, so there is no histogram (-o FILE has the points).")
		return err
	}
	fmt.Fprintln(out, "Seed      fixed: the error of its list of candidates is in every report, and in the mean of any number of them.")
	fmt.Fprintf(out, "Sampling  with probability %v all bands hold; none is wider than %.2g on a side.\n\n",
		c.Float("confidence"), radius)
	return printPoints(out, t.Points, c.Int("top"))
}
