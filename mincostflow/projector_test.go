package mincostflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// crowd draws users with a few atoms each for the cost and the box of p; some are point masses, dense, or bad.
func crowd(d draw, k, n int) []Problem {
	users := make([]Problem, n)
	for u := range users {
		p := &users[u]
		switch d.Intn(8) {
		case 0:
			p.Source, p.Support = []float64{1}, []int{d.Intn(k)}
		case 1:
			p.Source = d.masses(k)
		case 2:
			p.Source, p.Support = []float64{0.5, 0.6}, []int{0, 1}
			if k < 2 || d.Intn(2) == 0 {
				p.Source, p.Support = []float64{math.NaN()}, []int{0}
			}
		default:
			p.Support = []int{}
			for i := range k {
				if d.Intn(k) < 6 {
					p.Support = append(p.Support, i)
				}
			}
			if len(p.Support) == 0 {
				p.Support = append(p.Support, k-1)
			}
			p.Source = d.masses(len(p.Support))
		}
	}
	return users
}

// result is a copy of r that shares nothing with it and has no empty slices.
func copied(r Result) Result {
	r.Q = append([]float64(nil), r.Q...)
	r.Plan = append([]projection.Entry(nil), r.Plan...)
	r.Potentials.F = append([]float64(nil), r.Potentials.F...)
	r.Potentials.G = append([]float64(nil), r.Potentials.G...)
	return r
}

// TestProjector: a projector gives what a new one would give, bit for bit, in any order, whatever its workspaces and
// the result hold, with any number of workers; and that is what Project gives, but for the choice among several optima
// where there are enough columns for an order of them to matter.
func TestProjector(t *testing.T) {
	rounds := 60
	if !numtest.Full() {
		rounds = 6
	}
	for seed := range rounds {
		d := newDraw(uint64(seed) + 40e6)
		p := d.problem(8)
		switch seed % 3 {
		case 1:
			p = d.wideProblem()
		case 2: // rows that are computed
			g, err := cost.NewGrid(3+d.Intn(9), 3+d.Intn(9), 1)
			if err != nil {
				t.Fatal(err)
			}
			k, _ := g.Dims()
			p.Cost = g
			p.Lo, p.Hi = box(d.masses(k), 1)
		}
		settings := Settings{AllRows: d.Intn(3) == 0}
		k, _ := p.Cost.Dims()
		users := crowd(d, k, 20)
		type outcome struct {
			r   Result
			err string
		}
		say := func(r Result, err error) outcome {
			if err != nil {
				return outcome{r, err.Error()}
			}
			return outcome{r, ""}
		}
		want := make([]outcome, len(users))
		for u := range users {
			q := Problem{Cost: p.Cost, Source: users[u].Source, Support: users[u].Support, Lo: p.Lo, Hi: p.Hi}
			fresh, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, settings)
			if err != nil {
				t.Fatal(err)
			}
			var r Result
			err = fresh.Project(context.Background(), users[u].Source, users[u].Support, &r)
			want[u] = say(copied(r), err)
			single, otherErr := Project(context.Background(), q, settings)
			other := say(copied(single), otherErr)
			if !reflect.DeepEqual(want[u], other) {
				t.Fatalf("seed %d, user %d:\n%+v\nProject:\n%+v", seed, u, want[u], other)
			}
			if err == nil {
				checkResult(t, q, r)
				if other.err != "" || single.Lower > r.Upper || r.Lower > single.Upper {
					t.Fatalf("seed %d, user %d: [%v, %v], Project: [%v, %v] %s", seed, u, r.Lower, r.Upper, single.Lower, single.Upper,
						other.err)
				}
			}
		}
		pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, settings)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, u int, r Result, err error) {
			t.Helper()
			if got := say(copied(r), err); !reflect.DeepEqual(got, want[u]) {
				t.Fatalf("seed %d, %s, user %d:\n%+v\nwant\n%+v", seed, what, u, got, want[u])
			}
		}
		var r Result // dirty from the second user on
		for n := range 3 * len(users) {
			u := n % len(users)
			if n >= len(users) {
				u = d.Intn(len(users))
			}
			err := pr.Project(context.Background(), users[u].Source, users[u].Support, &r)
			check("one by one", u, r, err)
		}
		var wg sync.WaitGroup
		results := make([]outcome, len(users))
		for u := range users {
			wg.Go(func() {
				var r Result
				err := pr.Project(context.Background(), users[u].Source, users[u].Support, &r)
				results[u] = say(copied(r), err)
			})
		}
		wg.Wait()
		if !reflect.DeepEqual(results, want) {
			t.Fatalf("seed %d: concurrent calls differ", seed)
		}
		for _, procs := range []int{1, 2, 7} {
			old := runtime.GOMAXPROCS(procs)
			next := 0
			err := pr.All(context.Background(), len(users), func(i int) ([]float64, []int) {
				return users[i].Source, users[i].Support
			}, func(i int, r *Result, err error) error {
				if i != next {
					t.Fatalf("index %d after %d", i, next-1)
				}
				next++
				check(fmt.Sprintf("%d workers", procs), i, *r, err)
				for j := range r.Q {
					r.Q[j] = math.NaN() // r is ours for the moment
				}
				return nil
			})
			runtime.GOMAXPROCS(old)
			var failed projection.BatchError
			for u := len(users) - 1; u >= 0; u-- {
				if want[u].err != "" {
					failed = projection.BatchError{Failed: failed.Failed + 1, Users: len(users), First: u}
				}
			}
			batch := new(projection.BatchError)
			if err != nil && !errors.As(err, &batch) || next != len(users) {
				t.Fatalf("All: %v after %d", err, next)
			}
			if err != nil && (!errors.Is(err, batch.Err) || batch.Err.Error() != want[batch.First].err) {
				t.Fatalf("All: %v, want %s", err, want[batch.First].err)
			}
			if batch.Err = nil; *batch != failed {
				t.Fatalf("All: %+v, want %+v", *batch, failed)
			}
		}
	}
}

// TestProjectorStops: All ends with the error of emit or of the context, and no call of emit follows.
func TestProjectorStops(t *testing.T) {
	d := newDraw(41e6)
	ring, _ := cost.NewRing(40, 1)
	lo, hi := box(uniform(40), 1)
	pr, err := NewProjector(context.Background(), ring, lo, hi, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	mu := d.masses(40)
	var running atomic.Int32
	get := func(int) ([]float64, []int) {
		running.Add(1)
		defer running.Add(-1)
		time.Sleep(100 * time.Microsecond)
		return mu, nil
	}
	boom := errors.New("boom")
	const procs = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs)) // with one, no other goroutine works
	for _, at := range []int{0, 1, 17, 99} {
		calls := 0
		if err := pr.All(context.Background(), 100, get, func(i int, _ *Result, _ error) error {
			calls++
			if i == at {
				return boom
			}
			return nil
		}); err != boom || calls != at+1 {
			t.Errorf("emit fails at %d: All = %v after %d calls", at, err, calls)
		}
		if n := running.Load(); n != 0 {
			t.Errorf("emit fails at %d: All is back, and %d workers are not", at, n)
		}
		ctx, cancel := context.WithCancel(context.Background())
		calls = 0
		err := pr.All(ctx, 1000, get, func(i int, _ *Result, _ error) error {
			if calls++; i == at {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || calls != at+1 {
			t.Errorf("cancelled at %d: All = %v after %d calls", at, err, calls)
		}
		cancel()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of emit is gone")
			}
		}()
		_ = pr.All(nil, 100, get, func(int, *Result,
			error) error {
			panic("emit")
		}) //nolint:staticcheck // a nil context is none
	}()
	if n := reflect.ValueOf(&pr.free).Elem().FieldByName("free").Len(); n == 0 || n > procs {
		t.Errorf("%d workspaces for %d workers", n, procs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var r Result
	if err := pr.Project(ctx, mu, nil, &r); !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != Cancelled {
		t.Errorf("Project = %v, status %v", err, r.Status)
	}
	checkResult(t, Problem{Cost: ring, Source: mu, Lo: lo, Hi: hi}, r)
	if err := pr.All(context.Background(), 0, get, func(int, *Result, error) error { return boom }); err != nil {
		t.Errorf("nobody: %v", err)
	}
	for name, err := range map[string]error{
		"no result": pr.Project(context.Background(), mu, nil, nil),
		"no get":    pr.All(context.Background(), 1, nil, func(int, *Result, error) error { return nil }),
		"no emit":   pr.All(context.Background(), 1, get, nil),
	} {
		if !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
}

func TestNewProjectorErrors(t *testing.T) {
	c := dense(t, []float64{0, 1}, []float64{1, 0})
	half := []float64{0.5, 0.5}
	for _, x := range []struct {
		name   string
		c      cost.Matrix
		lo, hi []float64
		s      Settings
		want   error
	}{
		{"no cost", nil, half, half, Settings{}, wpmerr.ErrShape},
		{"NaN in any row", &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, math.NaN()}}, half, half, Settings{},
			wpmerr.ErrNotFinite},
		{"negative", &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, -1, 0}}, half, half, Settings{}, wpmerr.ErrNegative},
		{"short bounds", c, half[:1], half, Settings{}, wpmerr.ErrShape},
		{"crossed", c, []float64{0.5, 0.6}, half, Settings{}, wpmerr.ErrBox},
		{"infeasible", c, []float64{0, 0}, []float64{0.1, 0.1}, Settings{}, wpmerr.ErrInfeasible},
	} {
		if p, err := NewProjector(context.Background(), x.c, x.lo, x.hi, x.s); !errors.Is(err, x.want) || p != nil {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	lo, hi := []float64{0.25, 0.25}, []float64{0.75, 0.75}
	p, err := NewProjector(context.Background(), c, lo, hi, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	lo[0], hi[1] = 1, 0 // not retained
	var r Result
	if err := p.Project(context.Background(), []float64{1, 0}, nil, &r); err != nil || r.Q[0] != 0.75 {
		t.Errorf("Q = %v, %v", r.Q, err)
	}
}

// TestProjectorDoesNotAllocateForManyRows: nor does the start from a smaller problem.
func TestProjectorDoesNotAllocateForManyRows(t *testing.T) {
	if raced {
		t.Skip("under the race detector")
	}
	p, err := instanceNamed("ring340:dir:0.5")
	if err != nil {
		t.Fatal(err)
	}
	pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	once := func() {
		if err := pr.Project(context.Background(), p.Source, nil, &r); err != nil {
			t.Fatal(err)
		}
	}
	once()
	s := pr.free.Get()
	pr.free.Put(s)
	if reflect.ValueOf(&s.sx).Elem().FieldByName("forest").FieldByName("Arcs").Len() == 0 {
		t.Error("a star")
	}
	testing.AllocsPerRun(3, once) // workspaces of smaller problems change places, until all are large enough
	if n := testing.AllocsPerRun(3, once); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestProjectorDoesNotAllocate in the steady state: after the same users have been seen once.
func TestProjectorDoesNotAllocate(t *testing.T) {
	if raced {
		t.Skip("under the race detector")
	}
	for _, name := range []string{"sq100p1:sp20:2", "ring300:sp20:0.5", "ring30:dir:2"} {
		p, err := instanceNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		k, kv := p.Cost.Dims()
		d := newDraw(42e6)
		var users []Problem
		for _, u := range crowd(d, k, 12) {
			if _, err := Project(context.Background(),
				Problem{Cost: p.Cost, Source: u.Source, Support: u.Support, Lo: p.Lo, Hi: p.Hi}, Settings{}); err == nil {
				users = append(users, u)
			}
		}
		dead := append([]float64{0}, p.Hi[1:]...)
		dead[1] *= 2
		low := append([]float64{0}, p.Lo[1:]...)
		for _, b := range [][2][]float64{{p.Lo, p.Hi}, {low, dead}, {uniform(kv), uniform(kv)}} {
			pr, err := NewProjector(context.Background(), p.Cost, b[0], b[1], Settings{})
			if err != nil {
				t.Fatal(err)
			}
			var r Result
			all := func() {
				for _, u := range users {
					if err := pr.Project(context.Background(), u.Source, u.Support, &r); err != nil {
						t.Fatal(err)
					}
				}
			}
			testing.AllocsPerRun(3, all) // this goroutine may have moved to another processor, with workspaces of its own
			if n := testing.AllocsPerRun(3, all); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}
