//go:build unix

package bench

import (
	"fmt"
	"os"
	"slices"

	"github.com/wpm-go/wpm/lab/figure"
)

// sized is one time of the figure: what was solved, by whom, at which size.
type sized struct {
	what, who string
	size      int
	seconds   float64
}

func (c *config) sized(what string, size int, wpm float64, peers map[string]float64) {
	c.sizes = append(c.sizes, sized{what, "wpm", size, wpm})
	for who, s := range peers {
		c.sizes = append(c.sizes, sized{what, who, size, s})
	}
}

// draw draws time against size, with a line for everybody and each kind of problem that was measured at two sizes or
// more.
func (c *config) draw(file string) error {
	chart := figure.Line{
		Title:  "Processor time against the number of points: wpm stays below LEMON and POT",
		XLabel: "points (rows and columns)", YLabel: "seconds", X: figure.Log, Y: figure.Log,
	}
	for _, what := range []string{"projection", "transport"} {
		for n, who := range []string{"wpm", "LEMON", "POT"} {
			s := figure.Series{Name: fmt.Sprintf("%s, %s", who, what), Look: n + 1, Thin: what == "transport"}
			for _, p := range c.sizes {
				if p.what == what && p.who == who {
					s.X, s.Y = append(s.X, float64(p.size)), append(s.Y, p.seconds)
					chart.XTicks = append(chart.XTicks, float64(p.size))
				}
			}
			if len(s.X) > 1 {
				chart.Series = append(chart.Series, s)
			}
		}
	}
	slices.Sort(chart.XTicks)
	kept := chart.XTicks[:0]
	for _, x := range chart.XTicks {
		if len(kept) == 0 || x > 1.5*kept[len(kept)-1] { // their numbers must not touch
			kept = append(kept, x)
		}
	}
	chart.XTicks = kept
	img, err := figure.Render(chart)
	if err != nil {
		return err
	}
	return os.WriteFile(file, img.SVG, 0o644)
}
