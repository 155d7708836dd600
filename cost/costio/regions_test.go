package costio_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/wpmerr"
)

func TestReadRegions(t *testing.T) {
	labels := []string{"a", "b", "region", "d,e"}
	old := costio.Region{Name: "old town", Weights: []float64{1, 1, 0, 0}}
	for name, c := range map[string]struct {
		in   string
		want []costio.Region
	}{
		"two columns": {"old town,a\nold town,b\n", []costio.Region{old}},
		"a header":    {"Region,LABEL\nold town,b\nold town,a\n", []costio.Region{old}},
		"a place in two": {"r,a\nold town,b\nr,\"d,e\"\nold town,a\n",
			[]costio.Region{{Name: "r", Weights: []float64{1, 0, 0, 1}}, old}},
		"weights": {"region,label,weight\nr,a,0.5\nr,b,1\nr,region,-0\n",
			[]costio.Region{{Name: "r", Weights: []float64{.5, 1, 0, 0}}}},
		"half a header is not": {"region,a\n", []costio.Region{{Name: "region", Weights: []float64{1, 0, 0, 0}}}},
		"a name of a label":    {"region,region\n", []costio.Region{{Name: "region", Weights: []float64{0, 0, 1, 0}}}},
		"byte order mark":      {"\ufeffregion,label\r\nold town,a\r\n\r\nold town,b", []costio.Region{old}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := costio.ReadRegions(strings.NewReader(c.in), "f", labels)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		})
	}
	for name, c := range map[string]struct {
		in, want string
		err      error
	}{
		"empty":        {"", "f: no regions", costio.ErrFormat},
		"header alone": {"region,label,weight\n", "f: no regions", costio.ErrFormat},
		"one column":   {"a\n", "f:1: 1 fields", costio.ErrFormat},
		"four columns": {"r,a,1,1\n", "f:1: 4 fields", costio.ErrFormat},
		"ragged":       {"r,a\nr,b,1\n", "f:2: 3 fields", costio.ErrFormat},
		"unknown":      {"region,label\nr,a\nr,x\n", "f:3: field 2: label \"x\" is not known", costio.ErrLabel},
		"no name":      {",a\n", "f:1: field 1", costio.ErrLabel},
		"twice": {"r,a\ns,a\nr,a\n", "f:3: field 2: label \"a\" of region \"r\" is on line 1 already",
			costio.ErrDuplicate},
		"twice, of 0": {"r,a,0\nr,a,1\n", "f:2: field 2", costio.ErrDuplicate},
		"negative":    {"r,a,-1e-9\n", "f:1: field 3: \"-1e-9\" is not from 0 to 1", costio.ErrWeight},
		"above 1":     {"r,a,1\nr,b,1.01\n", "f:2: field 3", costio.ErrWeight},
		"no number":   {"r,a,half\n", "f:1: field 3: \"half\" is not a number", costio.ErrNumber},
		"NaN":         {"r,a,NaN\n", "f:1: field 3", wpmerr.ErrNotFinite},
		// A region "label" of the place "region" is what it says; then "r" is no place.
		"wrong header":    {"label,region\na,r\n", "f:2: field 2: label \"r\" is not known", costio.ErrLabel},
		"quote not ended": {"r,\"a\n", "f:", costio.ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := costio.ReadRegions(strings.NewReader(c.in), "f", labels)
			if got != nil || !errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
			}
		})
	}
	if _, err := costio.ReadRegions(strings.NewReader("r,a\n"), "f", []string{"a", "a"}); !errors.Is(err,
		costio.ErrDuplicate) {
		t.Errorf("equal labels: %v", err)
	}
}

// TestReadRegionsBounded: a short file cannot ask for more memory than MaxRegionWeights.
func TestReadRegionsBounded(t *testing.T) {
	labels := make([]string, 1<<14)
	for i := range labels {
		labels[i] = strconv.Itoa(i)
	}
	var b strings.Builder
	for r := range costio.MaxRegionWeights/len(labels) + 1 {
		fmt.Fprintf(&b, "r%d,0\n", r)
	}
	if _, err := costio.ReadRegions(strings.NewReader(b.String()), "f", labels); !errors.Is(err, wpmerr.ErrTooLarge) ||
		!strings.HasPrefix(err.Error(), "f:1025: ") {
		t.Errorf("%v", err)
	}
}
