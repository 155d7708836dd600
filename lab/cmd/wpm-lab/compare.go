package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/lab/compare"
	"github.com/wpm-go/wpm/lab/gowalla"
	"github.com/wpm-go/wpm/lab/ring"
)

// presets are the paper's studies as data of a comparison.
const presets = "ring, city or gowalla"

func compareStudy() study {
	names := ""
	for i, m := range compare.Methods() {
		if i > 0 {
			names += ","
		}
		names += string(m)
	}
	return study{
		examples: []string{"compare -points places.csv -users users.csv -eps 1,2 -o compare"},
		name:     "compare", usage: "mechanisms on your own data: W_r by your distances, total variation, KL, hits",
		about: "Needs -users, a table user,label,count, and the places: -points or -cost. A preset brings both: ring (the\n" +
			"paper's distributions), city (a synthetic one), or gowalla with -data. Films are no preset: their inputs are\n" +
			"not their outputs, and are learned. A mechanism of your own joins by -channel if it is a matrix, or in a Go program:\n" +
			"see docs/compare.md.\n" +
			"Mechanisms: " + names + ".\n" +
			"Mechanisms of maps alone: " + strings.Join(compare.MapMethods(), ",") + ". With one of them, maps of all reports are compared,\n" +
			"also of wpm in mixture mode, and of geoind and response if they are named. For 500 users of 400 places that takes 1 to 5\n" +
			"seconds of processor time for each mechanism, eps and seed: half an hour for all of these with the default -eps and -seeds.",
		seeded: "of the first simulated map", positive: []string{"rounds", "seeds"}, run: runCompare,
		end: "All laws of users are within e^eps of each other, decided in integers. Scores of users in long format: long.csv.\nReport: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "points", Usage: "CSV `FILE` of input points: label, and lat,lon or x,y,z or x1,...,xn"},
			&cli.StringFlag{Name: "outputs", Usage: "with -points: CSV `FILE` of output points; default: the inputs"},
			&cli.StringFlag{Name: "distance",
				Usage: "with -points: `NAME` is euclidean, manhattan, cosine or greatcircle (default: by the columns)"},
			&cli.StringFlag{Name: "cost",
				Usage: "cost matrix as CSV or NPY `FILE`: entries are d^p already; users name inputs 0, 1, ..."},
			&cli.FloatFlag{Name: "p", Value: 1, Usage: "power of the distance: WPM minimises the mean of d^p"},
			&cli.StringFlag{Name: "users", Usage: "CSV `FILE`: user,label,count"},
			&cli.StringFlag{Name: "preset", Usage: "`NAME` of a study instead of files: " + presets},
			&cli.StringFlag{Name: "data", Usage: "with -preset gowalla: `PATH` of the check-ins"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,4)"},
			&cli.StringFlag{Name: "methods", Usage: "mechanisms, `NAME,NAME,...` (default: those that need no setting)"},
			&cli.StringFlag{Name: "channel", Usage: "a mechanism of your own at the one -eps: CSV or NPY `FILE`, a row of probabilities " +
				"for each input; \"own\" in tables"},
			&cli.StringFlag{Name: "metric", Usage: "scores, `NAME,NAME,...`: w1, w2, ..., tv, kl, hit@n (default w1,tv,hit@1)"},
			&cli.StringFlag{Name: "objective",
				Usage: "what the base measure of WPM is for: `NAME` is uniform, minimax, average or mixed (default uniform)"},
			&cli.FloatFlag{Name: "lambda", HideDefault: true,
				Usage: "of algorithm1, in units of the cost (default: a hundredth of its range)"},
			&cli.IntFlag{Name: "rounds", Value: 40, Usage: "of algorithm1"},
			&cli.StringFlag{Name: "public",
				Usage: "CSV `FILE` label,weight: public distribution of local and linear (default uniform)"},
			&cli.FloatFlag{Name: "gamma", Value: 10, Usage: "of local: users are within this factor of the public distribution"},
			&cli.IntFlag{Name: "seeds", Value: 20, Usage: "simulated maps"},
			&cli.BoolFlag{Name: "npy", Value: true, Usage: "also write the laws of users and of point masses as NPY"},
		},
	}
}

// settingOf says which methods a setting is of.
var settingOf = map[string][]compare.Method{
	"public": {compare.Local, compare.Linear}, "gamma": {compare.Local},
	"lambda": {compare.Algorithm1}, "rounds": {compare.Algorithm1},
	"objective": {compare.WPM, compare.Mixture, compare.Algorithm1},
}

// checkSettings refuses flags that are given and would do nothing: empty ones, and settings of methods that do not take
// part. The methods by default have no setting but the objective.
func checkSettings(c *cli.Command, chosen []compare.Method) error {
	for _, name := range c.LocalFlagNames() {
		if c.Value(name) == "" {
			return fmt.Errorf("-%s: nothing is given", name)
		}
		of, setting := settingOf[name]
		if !setting || chosen == nil && name == "objective" ||
			slices.ContainsFunc(of, func(m compare.Method) bool { return slices.Contains(chosen, m) }) {
			continue
		}
		var names []string
		for _, m := range of {
			names = append(names, string(m))
		}
		return fmt.Errorf("-%s is of %s: -methods must name one of them", name, strings.Join(names, ", "))
	}
	return nil
}

func runCompare(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	var chosen []compare.Method
	var maps []string
	for _, m := range shell.List(c.String("methods")) {
		if slices.Contains(compare.MapMethods(), m) {
			maps = append(maps, m)
			chosen = slices.Grow(chosen, 1) // not nil, which stands for the default
		} else {
			chosen = append(chosen, compare.Method(m))
		}
	}
	if err := checkSettings(c, chosen); err != nil {
		return nil, nil, err
	}
	data, labels, err := compareData(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	cfg := compare.Config{
		Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Metrics: shell.List(c.String("metric")),
		Methods: chosen, Maps: maps, Objective: c.String("objective"),
		Lambda: c.Float("lambda"), Rounds: c.Int("rounds"), Gamma: c.Float("gamma"), Seeds: c.Int("seeds"),
		Seed: c.Uint64("seed"),
		NPY:  c.Bool("npy"), Progress: shell.Progress(c.Root().ErrWriter),
	}
	if path := c.String("channel"); path != "" {
		if len(cfg.Epsilons) != 1 {
			return nil, nil, errors.New("-channel is a mechanism of one eps: give one -eps")
		}
		rows, err := costio.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		const own = "own"
		cfg.Own = []compare.Own{compare.Channel(own, rows)}
		if chosen != nil && !slices.Contains(chosen, own) {
			cfg.Methods = append(cfg.Methods, own)
		}
	}
	if c.IsSet("lambda") && !(cfg.Lambda > 0) {
		return nil, nil, fmt.Errorf("-lambda: %v is not positive", cfg.Lambda)
	}
	if path := c.String("public"); path != "" {
		cfg.Public, err = readFile(path,
			func(r io.Reader, name string) ([]float64, error) { return places.ReadWeights(r, name, labels) })
		if err != nil {
			return nil, nil, err
		}
	}
	res, err := compare.Run(ctx, data, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		if err := printScores(out, res); err != nil || res.Maps == nil {
			return err
		}
		unit := ""
		if res.Unit != "" {
			unit = " in " + res.Unit
		}
		fmt.Fprintf(out, "\nW_1%s of maps of all reports to the mean of all users. Simulations: %d. The even map: %.3g.\n\n", unit,
			res.Config.Seeds, res.Maps.Guess)
		return printReadings(out, res.Maps.Shown())
	}, nil
}

// printScores tabulates the means over users.
func printScores(out io.Writer, res compare.Result) error {
	unit := ""
	if res.Unit != "" {
		unit = ", w in " + res.Unit
	}
	fmt.Fprintf(out, "%d users, %d inputs, %d outputs.", len(res.IDs), res.Inputs, res.Outputs)
	if len(res.Rows) == 0 {
		fmt.Fprintln(out)
		return nil
	}
	fmt.Fprintf(out, " Means over users%s:\n\n", unit)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "metric\teps\t")
	for _, m := range res.Config.Methods {
		fmt.Fprintf(w, "%s\t", m.Name())
	}
	fmt.Fprintln(w)
	for _, metric := range res.Config.Metrics {
		for _, eps := range res.Config.Epsilons {
			fmt.Fprintf(w, "%s\t%s\t", metric, eps)
			for _, row := range res.Rows {
				if row.Metric == metric && row.Epsilon == eps {
					fmt.Fprintf(w, "%.4g\t", row.Mean)
				}
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

// compareData reads what is compared, and returns the labels of the inputs with it.
func compareData(ctx context.Context, c *cli.Command) (compare.Data, []string, error) {
	none := compare.Data{}
	given := 0
	for _, name := range []string{"points", "cost", "preset"} {
		if c.IsSet(name) {
			given++
		}
	}
	switch {
	case given != 1:
		return none, nil, errors.New("compare needs one of -points, -cost and -preset")
	case c.IsSet("preset") == c.IsSet("users"):
		return none, nil, errors.New("-users goes with -points or -cost, and a preset has users of its own")
	case c.IsSet("outputs") && !c.IsSet("points"), c.IsSet("distance") && !c.IsSet("points"):
		return none, nil, errors.New("-outputs and -distance go with -points")
	case c.IsSet("data") && c.String("preset") != "gowalla":
		return none, nil, errors.New("-data goes with -preset gowalla")
	case c.IsSet("preset"):
		return presetData(ctx, c)
	}
	data, labels, err := placesData(ctx, c)
	if err != nil {
		return none, nil, err
	}
	table, err := readFile(c.String("users"), func(r io.Reader, name string) (*costio.Counts, error) {
		return places.ReadCounts(r, name, labels)
	})
	if errors.Is(err, costio.ErrLabel) && c.IsSet("cost") {
		err = fmt.Errorf("%w; the rows of -cost are places 0 to %d", err, len(labels)-1)
	}
	if err != nil {
		return none, nil, err
	}
	if table.Users == nil {
		return none, nil, fmt.Errorf("%s: columns label,count: a comparison needs user,label,count", c.String("users"))
	}
	for u, rows := range table.ByUser() {
		mu, some := make([]float64, len(labels)), false
		for _, row := range rows {
			mu[row.Label] = row.N
			some = some || row.N > 0
		}
		if !some {
			return none, nil, fmt.Errorf("%s:%d: user %q has no count above 0", c.String("users"), rows[0].Line, table.Users[u])
		}
		data.Users = append(data.Users, compare.User{ID: table.Users[u], Mu: mu})
	}
	data.Source += " and " + filepath.Base(c.String("users"))
	return data, labels, nil
}

// placesData reads the distances of -points or -cost, and the labels of the inputs.
func placesData(ctx context.Context, c *cli.Command) (compare.Data, []string, error) {
	none := compare.Data{}
	if path := c.String("cost"); path != "" {
		m, err := costio.ReadFile(path)
		if err != nil {
			return none, nil, err
		}
		data, err := compare.FromCost(m, c.Float("p"))
		if err != nil {
			return none, nil, fmt.Errorf("%s: %w", path, err)
		}
		data.Source, data.Same = filepath.Base(path), places.Matrix(m).SameSupport
		return data, places.Labels(strconv.Itoa, m.K), nil
	}
	in, out := places.File{Name: c.String("points")}, (*places.File)(nil)
	var err error
	if in.Points, err = readPoints(in.Name); err != nil {
		return none, nil, err
	}
	if c.IsSet("outputs") {
		out = &places.File{Name: c.String("outputs")}
		if out.Points, err = readPoints(out.Name); err != nil {
			return none, nil, err
		}
	}
	g, err := places.Points(in, out, c.String("distance"), 1)
	if err != nil && c.IsSet("distance") {
		err = fmt.Errorf("-distance %s: %w", c.String("distance"), err)
	}
	if err != nil {
		return none, nil, err
	}
	d, err := cost.Materialize(ctx, g.Cost)
	if err != nil {
		return none, nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return compare.Data{Distance: d, P: c.Float("p"), Unit: g.Unit.Name, Same: out == nil,
		Source: fmt.Sprintf("%s (%s)", filepath.Base(in.Name), g.What)}, g.Inputs, nil
}

// readFile reads a text, gzip allowed.
func readFile[T any](path string, read func(io.Reader, string) (T, error)) (none T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	return read(f, path)
}

func readPoints(path string) (*costio.Points, error) {
	return readFile(path, func(r io.Reader, name string) (*costio.Points, error) {
		return places.ReadText(r, name, costio.ReadPoints)
	})
}

// presetData makes the data of a study.
func presetData(ctx context.Context, c *cli.Command) (compare.Data, []string, error) {
	data := compare.Data{P: 1, Same: true}
	var d cost.Matrix
	var err error
	switch name := c.String("preset"); name {
	case "ring":
		const points, users, alpha = 30, 500, 0.1
		data.P, data.Unit, data.Source = 2, "steps",
			fmt.Sprintf("%d draws, Dirichlet(%v), on a ring of %d points", users, alpha, points)
		for u, mu := range ring.Inputs(users, points, alpha, c.Uint64("seed")) {
			data.Users = append(data.Users, compare.User{ID: strconv.Itoa(u), Mu: mu})
		}
		d, err = cost.NewRing(points, 1)
	case "city", "gowalla":
		const rows, cols, users = 20, 20, 500
		var pop city.Population
		if name == "city" {
			pop, err = city.Generate(c.Uint64("seed"), users, rows, cols)
			data.Source = "a synthetic city"
		} else if c.String("data") == "" {
			err = errors.New("-preset gowalla needs -data; without check-ins, -preset city is a synthetic city")
		} else {
			var src gowalla.Source
			pop, src, err = gowalla.Load(ctx, gowalla.Config{Data: c.String("data")})
			data.Source = "check-ins of " + strings.Join(src.Files, " and ")
		}
		if err != nil {
			return data, nil, err
		}
		data.Unit = "cell widths"
		for _, u := range pop.Users {
			mu := make([]float64, pop.Cells())
			support, weight := u.Distribution()
			for n, i := range support {
				mu[i] = weight[n]
			}
			data.Users = append(data.Users, compare.User{ID: strconv.FormatInt(u.ID, 10), Mu: mu})
		}
		grid := make([][]float64, pop.Cells()) // in cell widths
		for i := range grid {
			grid[i] = []float64{float64(i / pop.Cols), float64(i % pop.Cols)}
		}
		d, err = cost.NewPoints(grid, nil, 1)
	default:
		return data, nil, fmt.Errorf("-preset: %q is not %s", name, presets)
	}
	if err != nil {
		return data, nil, err
	}
	if c.IsSet("p") {
		data.P = c.Float("p")
	}
	data.Distance, err = cost.Materialize(ctx, d)
	if err != nil {
		return data, nil, err
	}
	return data, places.Labels(strconv.Itoa, data.Distance.K), nil
}
