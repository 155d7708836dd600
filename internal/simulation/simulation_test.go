package simulation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// ring returns a policy of five points.
func ring(t *testing.T, mode policy.Mode) (policy.Policy, *wpm.Mechanism) {
	t.Helper()
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.NewRing(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := wpm.New(context.Background(), c, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, eps, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Publish(context.Background(), policy.Config{Mode: mode,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

func simulated(t *testing.T, c Config) string {
	t.Helper()
	var b strings.Builder
	if err := Run(context.Background(), c, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// count counts simulated reports as a server does.
func count(t *testing.T, p policy.Policy, text string) aggregate.Counts {
	t.Helper()
	n, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	r := reports.Reader{Magic: "wpm1", Size: policy.ReportSize, Open: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
	c, err := r.Count(context.Background(), n, []string{"s"}, "simulation:1")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLaw: in both modes devices draw from what a release draws from. The seed is fixed; over seeds, each bound would
// fail once in 10^9 (Hoeffding, of 10 shares).
func TestLaw(t *testing.T) {
	user := User{Inputs: []int{1, 3}, Counts: []float64{1, 3}}
	const n = 50000
	tol := math.Sqrt(math.Log(2*10/1e-9) / (2 * n))
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		p, m := ring(t, mode)
		got := count(t, p, simulated(t, Config{Policy: p, Devices: n, Users: []User{user}, Seed: 7}))
		if got.Total() != n || got.AllRefused() != 0 {
			t.Fatalf("%v: %d reports, %d refused", mode, got.Total(), got.AllRefused())
		}
		want := make([]float64, 5)
		if mode == policy.Mixture {
			for i, share := range map[int]float64{1: 0.25, 3: 0.75} {
				row, err := p.Row(i)
				if err != nil {
					t.Fatal(err)
				}
				for j := range want {
					want[j] += share * float64(row.At(j)) / 0x1p62
				}
			}
		} else {
			q, err := m.Project(context.Background(), []float64{0, 1, 0, 3, 0})
			if err != nil {
				t.Fatal(err)
			}
			copy(want, q.Q())
		}
		for j := range want {
			if share := float64(got.Reports[j]) / n; !(math.Abs(share-want[j]) <= tol) {
				t.Errorf("%v: share %v of output %d, want %v, tol %v", mode, share, j, want[j], tol)
			}
		}
	}
}

// TestRepeats: equal seeds give equal bytes on any number of cores, fewer devices the first lines, and other seeds
// others.
func TestRepeats(t *testing.T) {
	p, _ := ring(t, policy.Mixture)
	c := Config{Policy: p, Devices: block*batch + 100, Atoms: 3, Seed: 1}
	last := 0
	c.Progress = func(done int) {
		if done <= last {
			t.Errorf("%d devices done after %d", done, last)
		}
		last = done
	}
	whole := simulated(t, c)
	if last != c.Devices || strings.Count(whole, "\n") != c.Devices+1 {
		t.Errorf("%d of %d devices, %d lines", last, c.Devices, strings.Count(whole, "\n"))
	}
	c.Progress = nil
	before := runtime.GOMAXPROCS(1)
	alone := simulated(t, c)
	runtime.GOMAXPROCS(before)
	if alone != whole {
		t.Error("one core gives other reports")
	}
	if c.Devices = 70; !strings.HasPrefix(whole, simulated(t, c)) {
		t.Error("fewer devices give other reports")
	}
	id := p.ID()
	if !bytes.HasPrefix([]byte(whole), reports.Mark(id, 1)) {
		t.Errorf("it starts with %q", whole[:100])
	}
	if c.Seed = 2; strings.Contains(whole, simulated(t, c)[100:]) {
		t.Error("another seed gives the same reports")
	}
	s := simulator{Config: c}
	for seed := range uint64(200) {
		s.Atoms = int(seed%5) + 1
		u := s.user(rand.New(rand.NewPCG(seed, 0)))
		if len(u.Inputs) != s.Atoms || !slices.IsSorted(u.Inputs) || len(slices.Compact(slices.Clone(u.Inputs))) != s.Atoms ||
			u.Inputs[s.Atoms-1] > 4 || u.Inputs[0] < 0 {
			t.Fatalf("user %v", u)
		}
		for _, n := range u.Counts {
			if n < 1 || n > MaxCount {
				t.Fatalf("user %v", u)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	p, _ := ring(t, policy.Mixture)
	user := func(x ...int) []User { return []User{{x, []float64{1, 1}}} }
	for name, c := range map[string]Config{
		"no policy":  {Devices: 1, Atoms: 1},
		"no devices": {Policy: p, Atoms: 1},
		"no places":  {Policy: p, Devices: 1},
		"places":     {Policy: p, Devices: 1, Atoms: 6},
		"order":      {Policy: p, Devices: 1, Users: user(2, 1)},
		"twice":      {Policy: p, Devices: 1, Users: user(1, 1)},
		"input":      {Policy: p, Devices: 1, Users: user(1, 5)},
		"negative":   {Policy: p, Devices: 1, Users: user(-1, 1)},
		"lengths":    {Policy: p, Devices: 1, Users: user(1)},
		"empty":      {Policy: p, Devices: 1, Users: []User{{}}},
		"NaN":        {Policy: p, Devices: 1, Users: []User{{[]int{0}, []float64{math.NaN()}}}},
		"huge":       {Policy: p, Devices: 1, Users: []User{{[]int{0}, []float64{math.Inf(1)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Run(context.Background(), c, &b); !errors.Is(err, ErrConfig) || b.Len() > 0 {
				t.Errorf("%s: %v, %q", name, err, b.String())
			}
		})
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(over, Config{Policy: p, Devices: 9, Atoms: 1}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	bad := errors.New("full")
	if err := Run(context.Background(), Config{Policy: p, Devices: 9, Atoms: 1}, failing{bad}); !errors.Is(err, bad) {
		t.Errorf("a full disk: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestMoves: who has moved stays moved, and each device reports in one slot.
func TestMoves(t *testing.T) {
	p, _ := ring(t, policy.Mixture)
	at := func(i int) []User { return []User{{Inputs: []int{i}, Counts: []float64{1}}} }
	c := Config{Policy: p, Devices: 2000, Users: at(0), To: at(3), Seed: 1}
	lines := func(c Config) []string { return strings.Split(strings.TrimSpace(simulated(t, c)), "\n")[1:] }
	stay := lines(c)
	var before []int // devices whose report differs
	for _, moved := range []float64{0.1, 0.3, 1} {
		c.Moved = moved
		var now []int
		for d, line := range lines(c) {
			if line != stay[d] {
				now = append(now, d)
			}
		}
		for _, d := range before {
			if !slices.Contains(now, d) {
				t.Errorf("%v moved: device %d has come back", moved, d)
			}
		}
		if most := moved*2000 + 4*math.Sqrt(2000*moved); float64(len(now)) > most || len(now) <= len(before) {
			t.Errorf("%v moved: %d reports differ", moved, len(now))
		}
		before = now
	}
	c.Moved, c.Period = 0, 7
	sum := 0
	for c.Slot = range c.Period {
		n := len(lines(c))
		if mean := 2000. / 7; math.Abs(float64(n)-mean) > 4*math.Sqrt(mean) {
			t.Errorf("slot %d: %d reports", c.Slot, n)
		}
		sum += n
	}
	if sum != 2000 {
		t.Errorf("%d reports in all slots", sum)
	}
	for _, bad := range []Config{{Policy: p, Devices: 1, Users: at(0), Moved: 0.5}, {Policy: p, Devices: 1, Users: at(0), To: at(1), Moved: 2},
		{Policy: p, Devices: 1, Users: at(0), Period: 3, Slot: 3}} {
		if err := Run(context.Background(), bad, io.Discard); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
