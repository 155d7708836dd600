//go:build unix

package bench

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
	fmt.Fprint(w, "wpm stops at a certified relative gap of 1e-9. HiGHS: dual simplex on the textbook linear program, default tolerances, through scipy.\n\n")
	t := c.lines("HiGHS")
	for _, name := range []string{
		"sq100p1:dir:5", "sq120p1:dir:0.5", "sq120p1:dir:2", "sq120p1:dir:5", "path120:dir:2", "sq300p1:dir:2",
		"sq300p1:dir:5", "path300:dir:5",
	} {
		if strings.Contains(name, c.Only) {
			if err := c.besideHiGHS(name, t); err != nil {
				return err
			}
		}
	}
	t.write(w)
	fmt.Fprint(w, "\nLarger ones, wpm alone. The gaps are those asked for; every answer has its certificate.\n\n"+
		"| instance | 1e-3 | 1e-5 | 1e-9 |\n| --- | --: | --: | --: |\n")
	for _, name := range []string{
		"cos1000:dir:0.5", "cos1000:dir:2", "cos1000:dir:5", "cos1000x600:dir:2", "sq1000p1:dir:5", "sq1000p1:dir:10",
		"path1000:dir:5", "path1000:dir:10", "clus1000:dir:5", "clus1000:dir:10", "sq4000p1:dir:2",
	} {
		if !strings.Contains(name, c.Only) {
			continue
		}
		row := name
		for _, gap := range []float64{1e-3, 1e-5, 1e-9} {
			if gap == 1e-9 && name != "sq1000p1:dir:5" && name != "path1000:dir:5" && name != "sq4000p1:dir:2" {
				row += " | -"
				continue
			}
			in, err := newInstance(name)
			if err != nil {
				return err
			}
			got, err := c.compare(often(func() (answer, error) {
				r, err := basemeasure.Solve(context.Background(), in.C, in.eps, basemeasure.Settings{Gap: gap})
				if err == nil && r.Upper-r.Lower > gap*r.Upper {
					err = fmt.Errorf("gap %.1e", (r.Upper-r.Lower)/r.Upper)
				}
				return answer{Value: r.F, Met: err == nil}, err
			}))
			if err != nil {
				return fmt.Errorf("%s, gap %v: %w", name, gap, err)
			}
			fmt.Fprintf(c.Log, "%s, gap %v: %s\n", name, gap, seconds(got[0].CPU))
			row += " | " + seconds(got[0].CPU)
		}
		fmt.Fprintf(w, "| %s |\n", row)
	}
	return nil
}

func (c *config) besideHiGHS(name string, t *lines) error {
	in, err := newInstance(name)
	if err != nil {
		return err
	}
	file := c.tmp + "/base.bin"
	if err := in.write(file); err != nil {
		return err
	}
	peer, err := c.python("highs_basemeasure.py", file)
	if err != nil {
		return err
	}
	defer peer.close()
	got, err := c.compare(often(func() (answer, error) {
		r, err := basemeasure.Solve(context.Background(), in.C, in.eps, basemeasure.Settings{Gap: 1e-9})
		return answer{Value: r.F, Met: err == nil}, err
	}), peer)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if d := math.Abs(got[1].Value-got[0].Value) / got[0].Value; !got[1].Met || !(d <= 1e-7) { // HiGHS's tolerance
		return fmt.Errorf("%s: f = %v, HiGHS says %v", name, got[0].Value, got[1].Value)
	}
	t.add(fmt.Sprintf("%d points", in.C.K), name, got[0].CPU, got[1].CPU)
	return nil
}
