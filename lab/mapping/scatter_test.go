package mapping

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/wpm-go/wpm/lab/figure"
)

// TestScatter: every run is in a bin, the heading counts those that are worse, and of few runs there is no figure. The
// figure of docs is that of the runs in testdata, made by the command on its page.
func TestScatter(t *testing.T) {
	data, err := os.ReadFile("testdata/scatter.json")
	if err != nil {
		t.Fatal(err)
	}
	var r Row
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	f, ok := r.scatter(0)
	if !ok {
		t.Fatal("no figure")
	}
	bars := f.Chart.(figure.Bars)
	for _, s := range bars.Series {
		sum := 0.0
		for _, v := range s.Values {
			sum += v
		}
		if sum != 60 {
			t.Errorf("%s: %v runs in bins, want 60", s.Name, sum)
		}
	}
	img, err := figure.Render(bars)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/results/figures/mapping-scatter.svg")
	if err != nil || string(want) != string(img.SVG) {
		t.Errorf("docs/results/figures/mapping-scatter.svg is not that of the runs: %v", err)
	}
	r.Runs[0], r.Runs[1] = r.Runs[0][:enough-1], r.Runs[1][:enough-1]
	if _, ok := r.scatter(0); ok {
		t.Error("a figure of few runs")
	}
}
