package publisher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
)

// designKPM is the first row of the menu. The others are named by their kind.
const designKPM = "KPM's base"

// maxMenu is the number of entries of the cost up to which the other designs are computed without being asked for: some
// seconds.
const maxMenu = 150 * 150

func objectiveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "objective", DefaultText: "uniform, and map with -devices",
			Usage: "what the mechanism makes small: uniform (the worst case of a base measure at its exact scale), minimax, " +
				"average, or mixed; or map, for the map of -devices"},
		&cli.FloatFlag{Name: "mix", Value: 0.5,
			Usage: "with -objective mixed: the `SHARE` of the worst case; the rest is the average"},
		&cli.FloatFlag{Name: "gap", Value: wpm.DefaultGap,
			Usage: "with -objective minimax, average or mixed: stop within `SHARE` of the best base measure, certified"},
		&cli.IntFlag{Name: "devices", HideDefault: true,
			Usage: "make the map of `N` devices good, and say how good it will be, as \"wpm plan\" does"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "with -devices: of the random codes, `N` from 1 on; it is in the policy"},
		&cli.IntFlag{Name: "outputs-at-most", HideDefault: true,
			Usage: "with -devices: codes of `M` outputs at most in all, for shares of reports under secret sharing"},
		&cli.StringFlag{Name: "prior",
			Usage: "public weights of the inputs, for average, mixed, the means of -menu, and the map of -devices: CSV `FILE`, " +
				"label,weight (default: all alike, and maps of all kinds)"},
		&cli.StringFlag{Name: "menu", Usage: "compare the designs: yes, no, or auto (small problems only)", Value: "auto"},
	}
}

// readObjectives returns the objective asked for, and those to be compared with it, if any: noMenu says that the size
// is why there are none.
func readObjectives(c *cli.Command, g places.Geometry) (asked wpm.Objective, all []wpm.Objective, noMenu bool,
	err error) {
	if err := checkObjective(c); err != nil {
		return asked, nil, false, err
	}
	name, menu := objective(c), c.String("menu")
	var weights []float64
	if file := c.String("prior"); file != "" {
		if weights, err = readWeights(c, file, g); err != nil {
			return asked, nil, false, err
		}
	}
	if name == wpm.Map.String() {
		asked = wpm.Objective{Kind: wpm.Map, Weights: weights, Devices: c.Int("devices")}
	}
	found := asked.Kind == wpm.Map
	for _, kind := range []wpm.Kind{wpm.Uniform, wpm.Minimax, wpm.Mixed, wpm.Average} {
		o := wpm.Objective{Kind: kind, Weights: weights}
		if kind == wpm.Mixed {
			o.Mix = c.Float("mix")
		}
		if kind != wpm.Uniform {
			o.Gap = c.Float("gap")
		}
		if all = append(all, o); kind.String() == name {
			asked, found = o, true
		}
	}
	if !found {
		return asked, nil, false, fmt.Errorf("-objective: %q is not uniform, minimax, average, mixed or map", name)
	}
	k, kv := g.Cost.Dims()
	if noMenu = menu == "auto" && k > maxMenu/kv; noMenu || menu == "no" {
		all = nil
	}
	return asked, all, noMenu, nil
}

// checkObjective checks the flags that go with an objective.
func checkObjective(c *cli.Command) error {
	name, mix, gap, menu := objective(c), c.Float("mix"), c.Float("gap"), c.String("menu")
	switch {
	case c.IsSet("mix") && name != wpm.Mixed.String():
		return errors.New("-mix goes with -objective mixed")
	case !(mix > 0 && mix < 1):
		return fmt.Errorf("-mix: %v is not between 0 and 1", mix)
	case c.IsSet("gap") && (name == wpm.Uniform.String() || name == wpm.Map.String()):
		return errors.New("-gap goes with -objective minimax, average or mixed")
	case !(gap > 0 && gap <= 1):
		return fmt.Errorf("-gap: %v is not above 0 and at most 1", gap)
	case c.IsSet("seed") && name != wpm.Map.String():
		return errors.New("-seed goes with -devices, and the objective map")
	case c.IsSet("outputs-at-most") && name != wpm.Map.String():
		return errors.New("-outputs-at-most goes with -devices, and the objective map")
	case c.IsSet("outputs-at-most") && c.Int("outputs-at-most") < 1:
		return fmt.Errorf("-outputs-at-most: %d is not from 1 on", c.Int("outputs-at-most"))
	case c.Uint64("seed") == 0:
		return errors.New("-seed: 0 is not from 1 on")
	case menu != "yes" && menu != "no" && menu != "auto":
		return fmt.Errorf("-menu: %q is not yes, no or auto", menu)
	}
	return nil
}

// objective is that of -objective: without it, map if there are devices, else uniform.
func objective(c *cli.Command) string {
	switch {
	case c.IsSet("objective"):
		return c.String("objective")
	case c.IsSet("devices"):
		return wpm.Map.String()
	}
	return wpm.Uniform.String()
}

func readWeights(c *cli.Command, file string, g places.Geometry) ([]float64, error) {
	k, _ := g.Cost.Dims()
	labels := g.Inputs
	if labels == nil {
		labels = places.Labels(strconv.Itoa, k)
	}
	return shell.ReadFile(c, file,
		func(r io.Reader, name string) ([]float64, error) { return places.ReadWeights(r, name, labels) })
}

// compareDesigns fills the menu: KPM's base measure and those of the objectives, at every level of the table.
func (plan designPlan) compareDesigns(ctx context.Context, sorted *knapsack.Table,
	tick func(done, total int, what string)) ([]MenuRow, error) {
	if plan.menu == nil {
		return nil, nil
	}
	levels := plan.table
	if len(levels) == 0 {
		levels = []ldp.Epsilon{plan.eps}
	}
	var rows []MenuRow
	all, err := wpm.CompareDesigns(ctx, sorted, wpm.Levels{Epsilons: levels, Step: tick}, plan.objective.Weights,
		plan.menu...)
	for _, d := range all {
		rows = append(rows, newMenuRow(d.Epsilon, designKPM, d.KPM))
		for i, o := range d.Outcomes {
			rows = append(rows, newMenuRow(d.Epsilon, plan.menu[i].Kind.String(), o))
		}
	}
	return rows, err
}

func newMenuRow(eps ldp.Epsilon, name string, o wpm.Outcome) MenuRow {
	return MenuRow{Epsilon: eps.String(), Design: name, Worst: o.Worst, Mean: o.Mean, Nonzeros: o.Nonzeros, Mass: o.Mass,
		Gap: o.Gap}
}

// sameWorst is by how much, relative, worst cases may differ that the card calls the same: it prints 0.0 %.
const sameWorst = 5e-4
