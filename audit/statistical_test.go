package audit

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
)

// TestFalseAlarms: a mechanism whose loss is right at eps is blamed no more often than stated. At a rate of
// 1/2, 100 audits give 75 alarms or more with probability 3e-7 if the rate is exact; the bounds are
// conservative, and there are fewer in practice.
func TestFalseAlarms(t *testing.T) {
	table := fair(t)
	violated, differs := 0, 0
	for seed := range uint64(100) {
		st, err := Statistical(context.Background(), Design{Table: table, Samples: 400, FalseAlarm: 0.5},
			tableSampler(table, seed))
		if err != nil {
			t.Fatal(err)
		}
		if st.Violated {
			violated++
		}
		if st.Law.Differs {
			differs++
		}
	}
	if violated >= 75 || differs >= 75 {
		t.Errorf("%d violations and %d differences in 100 audits of a mechanism without fault", violated, differs)
	}
	if differs == 0 {
		t.Error("no difference at all in 100 audits at rate 1/2: the comparison with published rows is asleep")
	}
}

// TestPower: eps too large by 5 % is rejected at the n that SamplesFor states, half of the time at least, and
// always at twice that n; at the default rate of 1e-6. (The box is the one of the control "wrong eps by 5 %".)
func TestPower(t *testing.T) {
	table := controlTable(given.Epsilon(t, "1"), controlBits, controlLo, 428, mechanism(428, 296, 150))
	level := DefaultFalseAlarm / (2*5*4 + 5)
	n := samplesFor(428./1024, 150./1024, 1, level)
	if n < 100_000 || n > 1_000_000 {
		t.Fatalf("n = %d: the control with 1000000 draws is not where it should be", n)
	}
	trials := 10
	if !numtest.Full() {
		trials = 3
	}
	half, twice := 0, 0
	for seed := range uint64(trials) {
		for _, c := range []struct {
			n   int
			hit *int
		}{{int(n), &half}, {int(2 * n), &twice}} {
			st, err := Statistical(context.Background(), Design{Table: table, Samples: c.n}, tableSampler(table, seed))
			if err != nil {
				t.Fatal(err)
			}
			if st.Violated {
				*c.hit++
			}
			if float64(st.Lower) > math.Log(428./150) {
				t.Errorf("seed %d: eps_lower = %v is above the true loss", seed, st.Lower)
			}
		}
	}
	// Four columns have the excess, so that half is far exceeded.
	if 2*half < trials || twice != trials {
		t.Errorf("flagged %d times in %d at n = %d, %d times at 2n", half, trials, n, twice)
	}
}

// TestStatisticsByHand: two inputs, two outputs, ten draws, bounds in closed form: all ten and none of ten.
func TestStatisticsByHand(t *testing.T) {
	table := Table{Epsilon: given.Epsilon(t, "1"), Bits: 1, Lo: []uint64{0, 0}, Hi: []uint64{2, 2},
		Rows: []Row{{Name: "a", Input: 4}, {Name: "b", Input: 9}}}
	sampler := func(_ context.Context, client Row, n int, counts []uint64) error {
		input := client.Input
		counts[map[int]int{4: 0, 9: 1}[input]] += uint64(n)
		return nil
	}
	st, err := Statistical(context.Background(), Design{Table: table, Samples: 10, FalseAlarm: 0.08}, sampler)
	if err != nil {
		t.Fatal(err)
	}
	// Level 0.08/8 = 0.01: lower bound 0.01^(1/10), upper 1 minus that.
	l := math.Pow(0.01, 0.1)
	want := math.Log(l / (1 - l))
	const tol = 1e-9 // the slack of the bounds, a few times
	if math.Abs(float64(st.Lower)-want) > tol || st.Violated || !math.IsInf(float64(st.Observed), 1) || st.Law != nil ||
		float64(st.Level) != 0.01 {
		t.Errorf("%+v, want eps_lower = %v", st, want)
	}
	if c := st.Column; c.Column != 0 || c.High != "a" || c.Low != "b" || c.Num != 10 || c.Den != 0 {
		t.Errorf("column %+v", c)
	}
	if st.Limit.Easiest.Output != "" || !math.IsInf(float64(st.Limit.Hardest.Overshoot), 1) {
		t.Errorf("limits without published rows and with lo = 0: %+v", st.Limit)
	}
	st, err = Statistical(context.Background(), Design{Table: table, Samples: 100, FalseAlarm: 0.08}, sampler)
	if err != nil || !st.Violated || len(st.Columns) != 2 {
		t.Errorf("100 draws: %+v, %v", st, err)
	}
	var text bytes.Buffer
	if err := st.WriteCSV(&text, false); err != nil ||
		text.String() != "input,output,count\na,0,100\na,1,0\nb,0,0\nb,1,100\n" {
		t.Errorf("CSV %q, %v", text.String(), err)
	}
	text.Reset()
	if err := st.WriteCSV(&text, true); err != nil ||
		text.String() != "input,output\n"+strings.Repeat("a,0\n", 100)+strings.Repeat("b,1\n", 100) {
		t.Errorf("raw CSV %q, %v", text.String(), err)
	}
	if err := st.WriteCSV(fullDisk{}, true); err == nil {
		t.Error("a full disk went unnoticed")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestDeterminism: the same seed, the same counts and the same report, whatever the number of threads.
func TestDeterminism(t *testing.T) {
	p := ring(t, 9, "1", 62, policy.Mixture)
	table := must(TableOf(p, 0, 3, 4, 8, Fallback))
	s := must(Draws(p, table, Seeded(5)))
	var first Statistics
	for _, procs := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(procs)
		calls := 0
		d := Design{Table: table, Samples: 5000, Serial: procs == 1, Progress: func(done, total int) {
			calls++
			if done != calls || total != 5 {
				t.Errorf("progress %d of %d, call %d", done, total, calls)
			}
		}}
		st, err := Statistical(context.Background(), d, s)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(old)
		if procs == 1 {
			first = st
		} else if !reflect.DeepEqual(st, first) {
			t.Errorf("on %d threads: another result", procs)
		}
	}
	other, err := Statistical(context.Background(), Design{Table: table, Samples: 5000}, must(Draws(p, table, Seeded(6))))
	if err != nil || reflect.DeepEqual(other.Counts, first.Counts) {
		t.Errorf("another seed, the same draws (%v)", err)
	}
	var b bytes.Buffer
	if err := first.WriteCSV(&b, false); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(records) != 1+5*9 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	total := 0
	for _, r := range records[1:] {
		n, err := strconv.Atoi(r[2])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	if total != 5*5000 || records[1][0] != "input p0" || records[1][1] != "p0" ||
		records[len(records)-1][0] != "fallback" {
		t.Errorf("CSV holds %d draws; first %v", total, records[1])
	}
}

// TestSources: samplers that draw by other ways follow the rows too. The whole private path is one; at 1e-6 for
// the whole verdict, crypto/rand fails this test once in a million runs.
func TestSources(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		p := ring(t, 4, "1", 62, mode)
		table := must(TableOf(p, 0, 2, Fallback))
		for name, s := range map[string]Sampler{
			"crypto/rand": must(Draws(p, table, CryptoRand())),
			"release":     Releases(p, projector(t, p)),
		} {
			st, err := Statistical(context.Background(), Design{Table: table, Samples: numtest.Cases(700, 2000)}, s)
			if err != nil || st.Violated || st.Law.Differs {
				t.Errorf("%s, %s: %+v, %v", mode, name, st.Law, err)
			}
		}
	}
}

func TestStatisticalErrors(t *testing.T) {
	good := fair(t)
	ok := tableSampler(good, 1)
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		change  func(*Design)
		sampler Sampler
		want    error
	}{
		"no table":       {func(d *Design) { d.Table = Table{} }, ok, ErrTable},
		"one input":      {func(d *Design) { d.Table.Rows = d.Table.Rows[:1] }, ok, ErrDesign},
		"short row":      {func(d *Design) { d.Table.Rows[0].N = []uint64{1024} }, ok, ErrTable},
		"no samples":     {func(d *Design) { d.Samples = 0 }, ok, ErrDesign},
		"alarm above":    {func(d *Design) { d.FalseAlarm = 0.6 }, ok, ErrDesign},
		"alarm negative": {func(d *Design) { d.FalseAlarm = -1 }, ok, ErrDesign},
		"alarm NaN":      {func(d *Design) { d.FalseAlarm = math.NaN() }, ok, ErrDesign},
		"overshoot":      {func(d *Design) { d.Overshoot = -0.1 }, ok, ErrDesign},
		"no sampler":     {func(*Design) {}, nil, ErrDesign},
		"error":          {func(*Design) {}, func(context.Context, Row, int, []uint64) error { return broken }, broken},
		"too few": {func(*Design) {},
			func(_ context.Context, _ Row, n int, c []uint64) error { c[0] = uint64(n - 1); return nil }, ErrSampler},
		"too many": {func(*Design) {},
			func(_ context.Context, _ Row, n int, c []uint64) error { c[0] = uint64(n + 1); return nil }, ErrSampler},
		"overflow": {func(*Design) {}, func(_ context.Context, _ Row, n int, c []uint64) error {
			c[0], c[1] = 1<<63, 1<<63+uint64(n)
			return nil
		}, ErrSampler},
		"panic": {func(*Design) {}, func(context.Context, Row, int, []uint64) error { panic("oh") }, ErrSampler},
		"out of range": {func(*Design) {},
			func(_ context.Context, _ Row, _ int, c []uint64) error { c[len(c)]++; return nil }, ErrSampler},
	} {
		t.Run(name, func(t *testing.T) {
			for _, serial := range []bool{true, false} {
				d := Design{Table: good, Samples: 100, Serial: serial}
				d.Table.Rows = slices.Clone(good.Rows)
				test.change(&d)
				st, err := Statistical(context.Background(), d, test.sampler)
				if !errors.Is(err, test.want) || st.Counts != nil {
					t.Errorf("%s, serial %v: %v, want %v", name, serial, err, test.want)
				}
				if test.want == broken && !errors.Is(err, ErrSampler) {
					t.Errorf("%s: %v is not ErrSampler", name, err)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Statistical(ctx, Design{Table: good, Samples: 100}, ok); !errors.Is(err, context.Canceled) ||
		errors.Is(err, ErrSampler) {
		t.Errorf("cancelled: %v", err)
	}
	p := ring(t, 4, "1", 20, policy.Mixture)
	bad := must(TableOf(p))
	bad.Rows[1].N = []uint64{1 << 20, 0, 0, 0}
	if _, err := Draws(p, bad, Seeded(1)); !errors.Is(err, ErrTable) {
		t.Errorf("a row outside the box is drawn from: %v", err)
	}
	counts := make([]uint64, 4)
	if err := must(Draws(p, must(TableOf(p, 0, 1)), Seeded(1)))(context.Background(), Row{Input: 3}, 1,
		counts); !errors.Is(err, ErrDesign) {
		t.Errorf("an input that is not in the table: %v", err)
	}
	for _, s := range []Sampler{Releases(p, nil), must(Command(p, self(t, "good", "")))} {
		if err := s(context.Background(), Row{Input: 7}, 1, counts); !errors.Is(err, ErrDesign) {
			t.Errorf("input 7 of 4: %v", err)
		}
	}
	if err := must(Draws(p, must(TableOf(p, 0, 1)), Seeded(1)))(ctx, Row{}, 1, counts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled draws: %v", err)
	}
	if err := Releases(p, nil)(ctx, Row{}, 1, counts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled releases: %v", err)
	}
}

// TestRealText: nine digits, infinities as words, in text and in JSON.
func TestRealText(t *testing.T) {
	for _, c := range []struct {
		x          float64
		text, json string
	}{
		{1. / 3, "0.333333333", "0.333333333"}, {0, "0", "0"}, {1e-12, "1e-12", "1e-12"},
		{123456789012, "1.23456789e+11", "1.23456789e+11"},
		{math.Inf(1), "inf", `"inf"`}, {math.Inf(-1), "-inf", `"-inf"`}, {math.NaN(), "NaN", `"NaN"`},
	} {
		got, err := Real(c.x).MarshalJSON()
		if err != nil || string(got) != c.json || Real(c.x).String() != c.text {
			t.Errorf("Real(%v): %s, %s, %v", c.x, Real(c.x), got, err)
		}
	}
	if s := fmt.Sprint(Real(2.5)); s != "2.5" {
		t.Error(s)
	}
}
