package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
)

// geometryFlags are the ways to say what moving mass costs; exactly one of the first four is needed.
func geometryFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "points", Usage: "CSV `FILE` of input points, whose header names the columns: label, and lat,lon or x,y,z or x1,...,xn (gzip allowed; - is standard input)"},
		&cli.StringFlag{Name: "outputs", Usage: "with -points: CSV `FILE` of output points; default: the inputs"},
		&cli.StringFlag{Name: "metric", DefaultText: "greatcircle for columns lat and lon, else euclidean", Usage: "with -points: `NAME`, euclidean, cosine, or greatcircle (kilometres)"},
		&cli.StringFlag{Name: "cost", Usage: "cost matrix as CSV or NPY `FILE`: entries are d^p already"},
		&cli.StringFlag{Name: "grid", Usage: "cells of the unit square, `ROWSxCOLS`"},
		&cli.IntFlag{Name: "ring", Usage: "`N` points on a ring"},
		&cli.FloatFlag{Name: "p", Value: 1, Usage: "power of the distance: costs are d^p"},
	}
}

// geometry is a cost with the names of its points.
type geometry struct {
	cost        cost.Matrix
	inputs      []string // nil: numbered
	outputs     []string
	unit        unit
	sameSupport bool   // inputs and outputs are the same points
	what        string // in words
}

func readGeometry(c *cli.Command) (geometry, error) {
	given := 0
	for _, name := range []string{"points", "cost", "grid", "ring"} {
		if c.IsSet(name) {
			given++
		}
	}
	if given != 1 {
		return geometry{}, errors.New("give exactly one of -points, -cost, -grid, -ring")
	}
	if !c.IsSet("points") && (c.IsSet("outputs") || c.IsSet("metric")) {
		return geometry{}, errors.New("-outputs and -metric go with -points")
	}
	p := c.Float("p")
	switch {
	case c.IsSet("points"):
		return readPoints(c, p)
	case c.IsSet("cost"):
		if c.IsSet("p") {
			return geometry{}, errors.New("-p does not go with -cost: its entries are d^p already")
		}
		d, err := readWith(c.String("cost"), c.Root().Reader, costio.Read)
		if err != nil {
			return geometry{}, err
		}
		return geometry{cost: d, unit: unitOf("explicit", 0, 0, 0), sameSupport: zeroDiagonal(d), what: fmt.Sprintf("cost matrix, %d x %d", d.K, d.Kv)}, nil
	case c.IsSet("ring"):
		m, err := cost.NewRing(c.Int("ring"), p)
		if err != nil {
			return geometry{}, fmt.Errorf("-ring: %w", err)
		}
		return geometry{cost: m, unit: unitOf("ring", p, 0, 0), sameSupport: true, what: fmt.Sprintf("ring of %d points, p = %v", c.Int("ring"), p)}, nil
	default:
		rows, cols, err := parseGrid(c.String("grid"))
		if err != nil {
			return geometry{}, err
		}
		m, err := cost.NewGrid(rows, cols, p)
		if err != nil {
			return geometry{}, fmt.Errorf("-grid: %w", err)
		}
		return geometry{cost: m, unit: unitOf("grid", p, rows, cols), sameSupport: true, what: fmt.Sprintf("grid of %d x %d cells of the unit square, p = %v", rows, cols, p)}, nil
	}
}

// zeroDiagonal guesses whether the rows and columns of a matrix are the same points.
func zeroDiagonal(d *cost.Dense) bool {
	for i := range d.K {
		if d.K != d.Kv || d.Data[i*d.Kv+i] != 0 {
			return false
		}
	}
	return true
}

func parseGrid(s string) (rows, cols int, err error) {
	r, c, ok := strings.Cut(s, "x")
	if ok {
		var err1, err2 error
		rows, err1 = strconv.Atoi(r)
		cols, err2 = strconv.Atoi(c)
		ok = err1 == nil && err2 == nil && rows > 0 && cols > 0
	}
	if !ok {
		return 0, 0, fmt.Errorf("-grid: %q is not of the form 20x20", s)
	}
	return rows, cols, nil
}

func readPoints(c *cli.Command, p float64) (geometry, error) {
	file, other := c.String("points"), c.String("outputs")
	in, err := readText(file, c.Root().Reader, costio.ReadPoints)
	if err != nil {
		return geometry{}, err
	}
	out := in
	var v [][]float64
	if c.IsSet("outputs") {
		if other == "-" && file == "-" {
			return geometry{}, errors.New("-points and -outputs cannot both be standard input")
		}
		if out, err = readText(other, c.Root().Reader, costio.ReadPoints); err != nil {
			return geometry{}, err
		}
		v = out.X
		if a, b := len(in.X[0]), len(out.X[0]); a != b {
			return geometry{}, fmt.Errorf("%s has %d coordinates a point, %s %d", file, a, other, b)
		}
		if !slices.Equal(in.Columns, out.Columns) {
			return geometry{}, fmt.Errorf("%s has the columns %s, %s %s", file, columnText(in), other, columnText(out))
		}
		if err := checkLabels(other, out.Labels); err != nil {
			return geometry{}, err
		}
	}
	if err := checkLabels(file, in.Labels); err != nil {
		return geometry{}, err
	}
	metric := c.String("metric")
	if !c.IsSet("metric") {
		metric = "euclidean"
		if in.Geographic() {
			metric = "greatcircle"
		}
	}
	g := geometry{inputs: in.Labels, outputs: out.Labels, sameSupport: v == nil}
	switch metric {
	case "euclidean":
		g.unit = unitOf("points", p, 0, 0)
		if in.Geographic() {
			g.unit.name = "degrees"
		}
		g.cost, err = cost.NewPoints(in.X, v, p)
	case "cosine":
		if c.IsSet("p") && p != 1 {
			return geometry{}, errors.New("-p does not go with -metric cosine: the cost is 1 - cos")
		}
		g.unit = unitOf("cosine", 0, 0, 0)
		g.cost, err = cost.NewCosine(in.X, v)
	case "greatcircle":
		if !in.Geographic() {
			return geometry{}, fmt.Errorf("-metric greatcircle needs columns lat and lon, and a header that says which is which; %s has %s", file, columnText(in))
		}
		g.unit = unitOf("greatcircle", p, 0, 0)
		g.cost, err = cost.NewGreatCircle(latLon(in.X), latLon(v), p)
	default:
		return geometry{}, fmt.Errorf("-metric: %q is not euclidean, cosine or greatcircle", metric)
	}
	if err != nil {
		return geometry{}, fmt.Errorf("%s: %w", file, err)
	}
	g.what = fmt.Sprintf("%d input points, %d output points, %s", len(in.X), len(out.X), metric)
	if g.unit.p > 0 {
		g.what += fmt.Sprintf(", p = %v", p)
	}
	return g, nil
}

// columnText names the coordinates of points.
func columnText(p *costio.Points) string {
	if p.Columns == nil {
		return "no header"
	}
	return strings.Join(p.Columns, ", ")
}

// checkLabels refuses labels that nobody could type again in a file of counts.
func checkLabels(file string, labels []string) error {
	for _, l := range labels {
		if strings.TrimSpace(l) != l {
			return fmt.Errorf("%s: label %q has blanks at an end", file, l)
		}
	}
	return nil
}

// latLon converts points whose columns are lat and lon; nil stays nil.
func latLon(x [][]float64) (places [][2]float64) {
	for _, at := range x {
		places = append(places, [2]float64(at))
	}
	return places
}

// readWith opens a file (or standard input) for a reader of costio.
func readWith[T any](path string, stdin io.Reader, read func(io.Reader, string) (T, error)) (T, error) {
	f, err := open(path, stdin)
	if err != nil {
		var zero T
		return zero, err
	}
	defer f.Close()
	name := path
	if path == "-" {
		name = "standard input"
	}
	return read(f, name)
}
