package costio_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/wpmerr"
)

var weightLabels = []string{"a", "b", "weight", "d,e"}

func TestReadWeights(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []float64
	}{
		"no header":      {"b,2\na,0.5\n", []float64{.5, 2, 0, 0}},
		"a header":       {"Label, WEIGHT\nb,2\n", []float64{0, 2, 0, 0}},
		"counts":         {"name,count\nweight,7\n", []float64{0, 0, 7, 0}},
		"quotes, spaces": {"\"d,e\", 1e-3 \r\n\r\na,0\r\n", []float64{0, 0, 0, 1e-3}},
		"the mark":       {"\ufeffa,1", []float64{1, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := costio.ReadWeights(strings.NewReader(c.in), "f", weightLabels); err != nil ||
				!slices.Equal(got, c.want) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		})
	}
	for name, c := range map[string]struct {
		in, want string
		err      error
	}{
		"empty":         {"", "f: no positive weights", costio.ErrFormat},
		"header alone":  {"label,weight\n", "f: no positive weights", costio.ErrFormat},
		"all zero":      {"a,0\nb,-0\n", "f: no positive weights", costio.ErrFormat},
		"three columns": {"a,1,1\n", "f:1: 3 fields", costio.ErrFormat},
		"ragged":        {"a,1\nb\n", "f:2: 1 fields", costio.ErrFormat},
		"unknown":       {"a,1\nx,1\n", "f:2: field 1: label \"x\" is not known", costio.ErrLabel},
		"twice":         {"label,weight\na,0\na,1\n", "f:3: field 1: label \"a\" is on line 2 already", costio.ErrDuplicate},
		"negative":      {"a,-1\n", "f:1: field 2", wpmerr.ErrNegative},
		"infinite":      {"a,1e999\n", "f:1: field 2", wpmerr.ErrNotFinite},
		"no number":     {"a,many\n", "f:1: field 2", costio.ErrNumber},
		"second header": {"label,weight\nlabel,weight\n", "f:2: field 1", costio.ErrLabel},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := costio.ReadWeights(strings.NewReader(c.in), "f", weightLabels)
			if got != nil || !errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, %v; want %s", name, got, err, c.want)
			}
		})
	}
	if _, err := costio.ReadWeights(strings.NewReader("a,1\n"), "f", []string{"a", "a"}); !errors.Is(err,
		costio.ErrDuplicate) {
		t.Errorf("equal labels: %v", err)
	}
}

// FuzzReadWeights: what is read is finite, not negative and not all zero, and reads back from the plain form.
func FuzzReadWeights(f *testing.F) {
	for _, s := range []string{"a,1\nb,2\n", "label,weight\n\"d,e\",1e-300\n", "a,0\n", "label,count\n\nweight,3",
		"a,1\na,2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := costio.ReadWeights(bytes.NewReader(data), "f", weightLabels)
		if err != nil {
			if w != nil {
				t.Errorf("weights with the error %v", err)
			}
			return
		}
		var b strings.Builder
		sum := 0.0
		for i, v := range w {
			if !(v >= 0 && v <= math.MaxFloat64) {
				t.Fatalf("weight %v", v)
			}
			sum += v
			b.WriteString("\"" + weightLabels[i] + "\"," + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
		}
		again, err := costio.ReadWeights(strings.NewReader(b.String()), "f", weightLabels)
		if !(sum > 0) || err != nil || !slices.Equal(again, w) {
			t.Errorf("%v reads back as %v, %v", w, again, err)
		}
	})
}
