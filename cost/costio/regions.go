package costio

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/wpmerr"
)

// MaxRegionWeights bounds the weights of all regions together, zeros included: 2^24.
const MaxRegionWeights = 1 << 24

// Region is a named part of a list of points.
type Region struct {
	Name    string
	Weights []float64 // of each point, from 0 to 1
}

// ReadRegions reads regions from CSV rows region,label or region,label,weight; a header with these words may come
// first. A row says that the point with this label is in the region, with the given weight or with weight 1. Other
// points are not in the region. A point may be in several regions. The regions come in order of first appearance. name
// stands for the file in errors: a label that is not in labels, a weight outside 0 to 1, and a point that is in a
// region twice are errors, with their line. Each is an *Error, as of Read, which may also wrap ErrLabel, ErrDuplicate
// or ErrWeight.
func ReadRegions(r io.Reader, name string, labels []string) ([]Region, error) {
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	labels = slices.Clone(labels)
	points, names := make(map[string]int32, len(labels)), make(map[string]int32)
	for i, s := range labels {
		points[s] = int32(i)
	}
	var regions []Region
	var list []string
	lines := make(map[[2]int32]int)
	header := func() (bool, error) {
		if n := len(t.record); n != 2 && n != 3 {
			return false, t.bad(0, ErrFormat, strconv.Itoa(n)+" fields, need region,label or region,label,weight")
		}
		return t.regionHeader(), nil
	}
	for err := range t.rows(header) {
		if err != nil {
			return nil, err
		}
		at, weight, err := t.region(names, &list, points, labels)
		if err != nil {
			return nil, err
		}
		if line, twice := lines[at]; twice {
			return nil, t.bad(2, ErrDuplicate, fmt.Sprintf("label %s of region %s is on line %d already",
				quote(t.record[1]), quote(t.record[0]), line))
		}
		lines[at] = t.line
		if int(at[0]) == len(regions) {
			if (len(regions)+1)*len(labels) > MaxRegionWeights {
				return nil, t.bad(1, wpmerr.ErrTooLarge,
					fmt.Sprintf("more than %d weights of %d points", MaxRegionWeights, len(labels)))
			}
			regions = append(regions, Region{Name: list[at[0]], Weights: make([]float64, len(labels))})
		}
		regions[at[0]].Weights[at[1]] = weight
	}
	if len(regions) == 0 {
		return nil, t.empty("regions")
	}
	return regions, nil
}

// regionHeader reports whether the record is the header of a file of regions.
func (t *table) regionHeader() bool {
	for f, s := range t.record {
		if !strings.EqualFold(strings.TrimSpace(s), [...]string{"region", "label", "weight"}[f]) {
			return false
		}
	}
	return true
}

// region reads a row: the numbers of its region and of its point, and the weight.
func (t *table) region(names map[string]int32, list *[]string, points map[string]int32,
	labels []string) (at [2]int32, weight float64, err error) {
	if at[0], err = t.intern(1, names, list, true); err != nil {
		return at, 0, err
	}
	if at[1], err = t.intern(2, points, &labels, false); err != nil {
		return at, 0, err
	}
	if len(t.record) == 2 {
		return at, 1, nil
	}
	weight, err = t.number(3)
	if err == nil && !(weight >= 0 && weight <= 1) {
		err = t.bad(3, ErrWeight, quote(t.record[2])+" is not from 0 to 1")
	}
	return at, weight + 0, err // -0 is 0
}
