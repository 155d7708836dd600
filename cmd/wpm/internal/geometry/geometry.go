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

// Flags are the ways to say what moving mass costs; exactly one of the first four is needed.
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
		&cli.StringFlag{Name: "cost", Usage: "cost matrix as CSV or NPY `FILE`: entries are d^p already"},
		&cli.StringFlag{Name: "grid", Usage: "cells of the unit square, `ROWSxCOLS`"},
		&cli.IntFlag{Name: "ring", HideDefault: true, Usage: "`N` points on a ring"},
		&cli.FloatFlag{Name: "p", Value: 1, Usage: "power of the distance: costs are d^p"},
	}
}

// Ways are the flags of which a geometry needs one.
var Ways = []string{"points", "cost", "grid", "ring"}

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
		return g, errors.New("give exactly one of -points, -cost, -grid, -ring")
	case !c.IsSet("points") && (c.IsSet("outputs") || c.IsSet("metric") || c.IsSet("label")):
		return g, errors.New("-outputs, -metric and -label go with -points")
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

func readPoints(c *cli.Command, p float64) (g places.Geometry, err error) {
	in, out := places.File{Name: c.String("points")}, (*places.File)(nil)
	if c.String("outputs") == "-" && in.Name == "-" {
		return g, errors.New("-points and -outputs cannot both be standard input")
	}
	read := costio.ReadPoints
	if property := c.String("label"); c.IsSet("label") {
		read = func(r io.Reader, name string) (*costio.Points, error) { return costio.ReadGeoJSON(r, name, property) }
	}
	if in.Points, err = readText(c, in.Name, read); err != nil {
		return g, err
	}
	if c.IsSet("outputs") {
		out = &places.File{Name: c.String("outputs")}
		if out.Points, err = readText(c, out.Name, read); err != nil {
			return g, err
		}
	}
	if idle := in.Ignored; len(idle) > 0 {
		fmt.Fprintf(c.Root().ErrWriter, "%s: note: %s: nothing is taken from the columns %s\n", c.Root().Name, in.Name,
			strings.Join(idle, ", "))
	}
	if !c.IsSet("metric") && looksGeographic(in.Points) {
		fmt.Fprintf(c.Root().ErrWriter,
			"%s: note: %s has no header, so its columns are x, y in the plane; for degrees begin it with label,lat,lon\n",
			c.Root().Name, in.Name)
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
