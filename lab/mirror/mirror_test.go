package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// small is a study of a second or less.
func small() Config {
	return Config{Points: 8, Steps: 300, Epsilons: []string{"1"}, Size: 16, Designs: []string{"2"}, Inputs: 5, Side: 5}
}

// TestStudy holds what must be so whatever the numbers are.
func TestStudy(t *testing.T) {
	const rounding = 1e-12 // of computed costs, relative
	r, err := Run(context.Background(), small())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Descents) != 3*len(rules) || len(r.Designs) != 5*len(Families) || len(r.Modes) != 5 {
		t.Fatalf("%d descents, %d designs, %d modes", len(r.Descents), len(r.Designs), len(r.Modes))
	}
	for _, d := range r.Descents {
		for i, p := range d.Points {
			if !(p.Average <= p.Bound+rounding) || !(p.Best <= p.Gap+rounding || p.Gap < 0) || p.Average < 0 || p.Best < 0 {
				t.Errorf("%s, %s: %+v", d.Space, d.Rule, p)
			}
			if i > 0 && p.Best > d.Points[i-1].Best {
				t.Errorf("%s, %s: the best iterate got worse at step %d", d.Space, d.Rule, p.Step)
			}
		}
		if last := d.Points[len(d.Points)-1]; last.Step != 300 {
			t.Errorf("%s: the last report is of step %d", d.Space, last.Step)
		}
	}
	by := map[string]map[string]Design{}
	for _, d := range r.Designs {
		if by[d.Space] == nil {
			by[d.Space] = map[string]Design{}
		}
		by[d.Space][d.Name] = d
	}
	for space, d := range by {
		for name, x := range d {
			if x.Worst < d["minimax"].Worst*(1-maxGap) || x.Mean < d["average"].Mean*(1-maxGap) ||
				(x.Worst+x.Mean)/2 < (d["mixed"].Worst+d["mixed"].Mean)/2*(1-maxGap) {
				t.Errorf("%s: %s beats the optimum of its kind: %+v", space, name, x)
			}
		}
		if d["uniform"].Worst > d["KPM's"].Worst*(1+rounding) {
			t.Errorf("%s: KPM's mass beats the exact scale", space)
		}
	}
	for _, m := range r.Modes {
		if !(m.Projection <= m.Mixture+rounding) || m.Atoms == 1 && math.Abs(m.Projection-m.Mixture) > rounding {
			t.Errorf("%+v", m)
		}
	}
}

func TestSameBits(t *testing.T) {
	var out [2][]byte
	for n, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		r, err := Run(context.Background(), small())
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if out[n], err = json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(out[0], out[1]) {
		t.Error("the result depends on GOMAXPROCS")
	}
}

func TestReport(t *testing.T) {
	cfg := small()
	cfg.Out = filepath.Join(t.TempDir(), "mirror")
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "table.csv", "designs.csv", "modes.svg", "descent-ring.png",
		"designs-worst.svg", "designs-mean.svg"} {
		if info, err := os.Stat(filepath.Join(cfg.Out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []Config{
		{Points: 1}, {Steps: -1}, {Size: 3}, {Inputs: 1}, {Side: 100}, {Epsilons: []string{"2", "1"}}, {Epsilons: []string{}},
		{Designs: []string{"x"}}, {ModeEps: "0"},
	} {
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, small()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s := &study{cfg: small()}
	if _, err := s.space("moon", 9); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
