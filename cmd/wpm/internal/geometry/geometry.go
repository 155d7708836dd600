// Package geometry reads the flags that say what moving mass costs: points, a matrix, a grid, a ring.
package geometry

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
)

// Flags are the ways to say what moving mass costs; exactly one of Ways is needed.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "points",
			Usage: "`FILE` of input points: GeoJSON, or CSV whose header names the columns label, and lat,lon or x,y,z " +
				"or x1,...,xn (gzip allowed; - is standard input)"},
		&cli.StringFlag{Name: "label", DefaultText: "label, name or id",
			Usage: "with GeoJSON in -points: the `PROPERTY` that has the labels"},
		&cli.StringFlag{Name: "outputs", Usage: "with -points: CSV `FILE` of output points; default: the inputs"},
		&cli.StringFlag{Name: "metric", DefaultText: "greatcircle for columns lat and lon, else euclidean",
			Usage: "with -points, the distance: `NAME` is euclidean, manhattan, cosine, or greatcircle (kilometres)"},
		&cli.StringFlag{Name: "pairs",
			Usage: "pairs of places, labels home>work: `FILES` are FROM,TO of points; or one of them, for pairs of its own; or FROM,TO,LIST " +
				"for those that LIST has in lines from,to"},
		&cli.StringFlag{Name: "with",
			Usage: "with -pairs or -points: a category beside the places, and what a wrong one costs: `NAME=A,B,...:COST`, as " +
				"mode=walk,bike,car:2km"},
		&cli.StringFlag{Name: "cost", Usage: "cost matrix as CSV or NPY `FILE`: entries are d^p already"},
		&cli.StringFlag{Name: "grid", Usage: "cells of the unit square, `ROWSxCOLS`"},
		&cli.IntFlag{Name: "ring", HideDefault: true, Usage: "`N` points on a ring"},
		&cli.FloatFlag{Name: "p", Value: 1, Usage: "power of the distance: costs are d^p"},
	}
}

// Ways are the flags of which a geometry needs one.
var Ways = []string{"points", "pairs", "cost", "grid", "ring"}

// Asked says in words what Ways are.
const Asked = "exactly one of -points, -pairs, -cost, -grid, -ring"

// Files are those that Flags name.
func Files(c *cli.Command) []string {
	return append(shell.List(c.String("pairs")), c.String("points"), c.String("outputs"), c.String("cost"))
}

// Read returns the geometry that Flags ask for. It reads the files that they name.
func Read(c *cli.Command) (g places.Geometry, err error) {
	given := 0
	for _, name := range Ways {
		if c.IsSet(name) {
			given++
		}
	}
	switch p := c.Float("p"); {
	case given != 1:
		return g, errors.New("give " + Asked)
	case !c.IsSet("points") && !c.IsSet("pairs") && (c.IsSet("with") || c.IsSet("label")):
		return g, errors.New("-with and -label go with -points or -pairs")
	case !c.IsSet("points") && (c.IsSet("outputs") || c.IsSet("metric")):
		return g, errors.New("-outputs and -metric go with -points")
	case c.IsSet("with") && (c.IsSet("outputs") || c.IsSet("metric")):
		return g, errors.New("-outputs and -metric do not go with -with: the distance of pairs is Euclid's, of chords on the globe")
	case c.IsSet("pairs") || c.IsSet("with"):
		return readPairs(c, p)
	case c.IsSet("points"):
		return readPoints(c, p)
	case c.IsSet("cost") && c.IsSet("p"):
		return g, errors.New("-p does not go with -cost: its entries are d^p already")
	case c.IsSet("cost"):
		d, err := shell.ReadFile(c, c.String("cost"), costio.Read)
		if err != nil {
			return g, err
		}
		return places.Matrix(d), nil
	case c.IsSet("ring"):
		if g, err = places.Ring(c.Int("ring"), p); err != nil {
			err = fmt.Errorf("-ring: %w", err)
		}
	default:
		return readGrid(c, p)
	}
	return g, err
}

func readGrid(c *cli.Command, p float64) (g places.Geometry, err error) {
	rows, cols, err := shell.Grid(c)
	if err != nil {
		return g, err
	}
	if g, err = places.Grid(rows, cols, p); err != nil {
		err = fmt.Errorf("-grid: %w", err)
	}
	return g, err
}

// readPairs reads -pairs, or -points with a category.
func readPairs(c *cli.Command, p float64) (g places.Geometry, err error) {
	files := shell.List(c.String("pairs"))
	if c.IsSet("points") {
		files = []string{c.String("points")}
	}
	if len(files) < 1 || len(files) > 3 {
		return g, fmt.Errorf("-pairs: %.60q is not FROM,TO or FROM,TO,LIST", c.String("pairs"))
	}
	if shell.CountDashes(files...) > 1 {
		return g, errors.New("-pairs: two files cannot both be standard input")
	}
	var of places.Pairing
	for n, name := range files[:min(len(files), 2)] {
		if n > 0 && name == files[0] {
			of.Sides = append(of.Sides, of.Sides[0])
			continue
		}
		f, err := readPlaces(c, name)
		if err != nil {
			return g, err
		}
		of.Sides = append(of.Sides, f)
	}
	if len(files) == 1 && c.IsSet("pairs") {
		of.Sides = append(of.Sides, of.Sides[0])
	}
	if len(files) == 3 {
		of.List, err = readText(c, files[2], func(r io.Reader, name string) ([][2]int, error) {
			return costio.ReadPairs(r, name, of.Sides[0].Labels, of.Sides[1].Labels)
		})
		if err != nil {
			return g, err
		}
	}
	if c.IsSet("with") {
		if of.With, err = places.Category(c.String("with"), of.Sides[0].Geographic()); err != nil {
			return g, fmt.Errorf("-with: %w", err)
		}
	}
	return places.Pairs(of, p)
}

// readPlaces reads a file of points, and remarks on what may be amiss.
func readPlaces(c *cli.Command, name string) (f places.File, err error) {
	f.Name = name
	read := costio.ReadPoints
	if property := c.String("label"); c.IsSet("label") {
		read = func(r io.Reader, name string) (*costio.Points, error) { return costio.ReadGeoJSON(r, name, property) }
	}
	if f.Points, err = readText(c, name, read); err != nil {
		return f, err
	}
	if len(f.Ignored) > 0 {
		fmt.Fprintf(c.Root().ErrWriter, "%s: note: %s: nothing is taken from the columns %s\n", c.Root().Name, name,
			strings.Join(f.Ignored, ", "))
	}
	if !c.IsSet("metric") && looksGeographic(f.Points) {
		fmt.Fprintf(c.Root().ErrWriter,
			"%s: note: %s has no header, so its columns are x, y in the plane; for degrees begin it with label,lat,lon\n",
			c.Root().Name, name)
	}
	if a, b, n := sameSpot(f.Points); n > 0 {
		fmt.Fprintf(c.Root().ErrWriter, "%s: note: %s: %d of %d points are where an earlier one is, as %d and %d (the first is 1): no report "+
			"tells them apart\n", c.Root().Name, name, n, len(f.X), a+1, b+1)
	}
	return f, nil
}

// sameSpot counts the points that are where an earlier one is, and returns the first two of one place.
func sameSpot(p *costio.Points) (a, b, n int) {
	first := map[string]int{}
	for i, x := range p.X {
		at := fmt.Sprint(x)
		j, ok := first[at]
		switch {
		case !ok:
			first[at] = i
		case n == 0:
			a, b, n = j, i, 1
		default:
			n++
		}
	}
	return a, b, n
}

func readPoints(c *cli.Command, p float64) (g places.Geometry, err error) {
	if c.String("outputs") == "-" && c.String("points") == "-" {
		return g, errors.New("-points and -outputs cannot both be standard input")
	}
	in, err := readPlaces(c, c.String("points"))
	if err != nil {
		return g, err
	}
	var out *places.File
	if c.IsSet("outputs") {
		f, err := readPlaces(c, c.String("outputs"))
		if err != nil {
			return g, err
		}
		out = &f
	}
	metric := c.String("metric")
	if c.IsSet("metric") && metric == "" {
		return g, errors.New("-metric: the name is empty")
	}
	if g, err = places.Points(in, out, metric, p); errors.Is(err, places.ErrPower) {
		err = fmt.Errorf("-p does not go with -metric cosine: %w", err)
	} else if err != nil && c.IsSet("metric") {
		err = fmt.Errorf("-metric %s: %w", metric, err)
	}
	return g, err
}

// looksGeographic reports whether points without a header may be latitudes and longitudes: two columns in their ranges,
// with decimals, and not all within one of 0, as in a unit square.
func looksGeographic(p *costio.Points) bool {
	whole, near := true, true
	for _, x := range p.X {
		if p.Columns != nil || len(x) != 2 || !(math.Abs(x[0]) <= 90 && math.Abs(x[1]) <= 180) {
			return false
		}
		whole = whole && x[0] == math.Trunc(x[0]) && x[1] == math.Trunc(x[1])
		near = near && math.Abs(x[0]) <= 1 && math.Abs(x[1]) <= 1
	}
	return !whole && !near
}

// readText is shell.ReadFile for a text, which it puts into NFC.
func readText[T any](c *cli.Command, path string, read func(io.Reader, string) (T, error)) (T, error) {
	return shell.ReadFile(c, path, func(r io.Reader, name string) (T, error) { return places.ReadText(r, name, read) })
}
