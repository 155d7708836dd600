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
	fmt.Fprintln(w, "wpm stops at a certified relative gap of 1e-9. HiGHS: dual simplex on the textbook LP, default tolerances, through scipy; one run.\n\n"+
		"| instance | wpm | certified gap | HiGHS | HiGHS / wpm | agree |\n| --- | --: | --: | --: | --: | --: |")
	for _, t := range []struct {
		name  string
		highs bool
	}{
		{"sq100p1:dir:5", true}, {"sq120p1:dir:0.5", true}, {"sq120p1:dir:2", true}, {"sq120p1:dir:5", true}, {"path120:dir:2", true}, {"sq300p1:dir:2", true}, {"sq300p1:dir:5", true},
		{"path300:dir:5", true}, {"sq1000p1:dir:5", false}, {"path1000:dir:5", false}, {"sq4000p1:dir:2", false},
	} {
		if !strings.Contains(t.name, c.only) {
			continue
		}
		in, err := newInstance(t.name)
		if err != nil {
			return err
		}
		solve := func() (basemeasure.Result, error) {
			return basemeasure.Solve(context.Background(), in.C, in.eps, basemeasure.Settings{Gap: 1e-9})
		}
		var r basemeasure.Result
		got, err := c.compare(often(func() (answer, error) {
			r, err = solve()
			return answer{Value: r.F, Met: err == nil}, err
		}))
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		line := []string{t.name, seconds(got[0].CPU), fmt.Sprintf("%.0e", (r.Upper-r.Lower)/r.Upper), "-", "-", "-"}
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
			line[3], line[4] = seconds(a.CPU), fmt.Sprintf("%.0f", a.CPU/got[0].CPU)
			line[5] = fmt.Sprintf("%.0e", math.Abs(a.Value-r.F)/r.F)
			if !a.Met {
				line[3] += " (no optimum)"
			}
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | ")); err != nil {
			return err
		}
	}
	return nil
}
