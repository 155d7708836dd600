//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wpm-go/wpm/basemeasure"
)

// baseMeasures compares the certified solver with HiGHS on the whole linear program, and times it alone where that is
// out of reach.
func baseMeasures(c *config, w io.Writer) error {
	fmt.Fprintln(w, "wpm stops at the certified relative gap asked for. HiGHS: dual simplex on the textbook LP, default tolerances, through scipy; one run.\n\n"+
		"| instance | gap asked for | wpm | certified gap | HiGHS | HiGHS / wpm | agree |\n| --- | --: | --: | --: | --: | --: | --: |")
	type task struct {
		name  string
		gap   float64
		highs bool
	}
	tasks := []task{
		{"sq100p1:dir:5", 1e-9, true}, {"sq120p1:dir:0.5", 1e-9, true}, {"sq120p1:dir:2", 1e-9, true},
		{"sq120p1:dir:5", 1e-9, true}, {"path120:dir:2", 1e-9, true}, {"sq300p1:dir:2", 1e-9, true},
		{"sq300p1:dir:5", 1e-9, true}, {"path300:dir:5", 1e-9, true}, {"sq1000p1:dir:5", 1e-9, false},
		{"path1000:dir:5", 1e-9, false}, {"sq4000p1:dir:2", 1e-9, false},
	}
	for _, name := range []string{
		"cos1000:dir:0.5", "cos1000:dir:2", "cos1000:dir:5", "cos1000x600:dir:2", "sq1000p1:dir:5", "sq1000p1:dir:10",
		"path1000:dir:5", "path1000:dir:10", "clus1000:dir:5", "clus1000:dir:10",
	} {
		for _, gap := range []float64{1e-3, 1e-5} {
			tasks = append(tasks, task{name, gap, false})
		}
	}
	for _, t := range tasks {
		if !strings.Contains(t.name, c.only) {
			continue
		}
		in, err := newInstance(t.name)
		if err != nil {
			return err
		}
		solve := func() (basemeasure.Result, error) {
			return basemeasure.Solve(context.Background(), in.C, in.eps, basemeasure.Settings{Gap: t.gap})
		}
		var r basemeasure.Result
		got, err := c.compare(often(func() (answer, error) {
			r, err = solve()
			return answer{Value: r.F, Met: err == nil}, err
		}))
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		line := []string{t.name, fmt.Sprintf("%.0e", t.gap), seconds(got[0].CPU), fmt.Sprintf("%.0e", (r.Upper-r.Lower)/r.Upper), "-", "-", "-"}
		if t.highs {
			file := c.tmp + "/base.bin"
			if err := in.write(file); err != nil {
				return err
			}
			peer, err := c.python("highs_basemeasure.py", file)
			if err != nil {
				return err
			}
			a, err := peer.run()
			peer.close()
			if err != nil {
				return err
			}
			line[4], line[5] = seconds(a.CPU), fmt.Sprintf("%.0f", a.CPU/got[0].CPU)
			line[6] = fmt.Sprintf("%.0e", math.Abs(a.Value-r.F)/r.F)
			if !a.Met {
				line[4] += " (no optimum)"
			}
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | ")); err != nil {
			return err
		}
	}
	return nil
}
