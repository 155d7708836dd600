package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/machine"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// cost returns the cost of a request: the array C, which is not copied, or what spec states.
func (r request) cost(spec json.RawMessage) (cost.Matrix, error) {
	c, ok := r.arrays["C"]
	switch {
	case ok && spec != nil:
		return nil, errors.New("give the cost as an array or as an object, not both")
	case ok:
		return cost.NewDense(c.rows, c.cols, c.floats)
	}
	s, err := cost.ParseSpec(spec)
	if err != nil {
		return nil, fmt.Errorf("cost: %w", err)
	}
	return s.Build()
}

type size struct {
	K  int `json:"k"`
	Kv int `json:"kv"`
}

// work is a result and its plan in columns.
type work struct {
	res    mincostflow.Result
	is, js []int64
	mass   []float64
}

// arrays are what the result is made of: value, lower, upper and pivots in numbers, q, the potentials f and g, and the
// plan: rows i, columns j, and mass. They stay good until the work is done anew.
func (w *work) arrays() []array {
	n := len(w.res.Plan)
	w.is, w.js, w.mass = slices.Grow(w.is[:0], n), slices.Grow(w.js[:0], n), slices.Grow(w.mass[:0], n)
	for _, e := range w.res.Plan {
		w.is, w.js, w.mass = append(w.is, int64(e.I)), append(w.js, int64(e.J)), append(w.mass, e.Mass)
	}
	r := &w.res
	return []array{vector("numbers", []float64{r.Objective, r.Lower, r.Upper, float64(r.Stats.Pivots)}),
		vector("q", r.Q), vector("f", r.Potentials.F), vector("g", r.Potentials.G),
		indices("i", w.is), indices("j", w.js), vector("mass", w.mass)}
}

type costArgs struct {
	Cost json.RawMessage `json:"cost"`
}

// transport is the distance between the arrays a and b. What is absent is uniform.
func transport(ctx context.Context, r request) (answer, error) {
	var in costArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	c, err := r.cost(in.Cost)
	if err != nil {
		return answer{}, err
	}
	res, err := mincostflow.Transport(ctx, c, r.floats("a"), r.floats("b"))
	if err != nil {
		return answer{}, err
	}
	k, kv := c.Dims()
	return answer{value: size{k, kv}, out: (&work{res: res}).arrays()}, nil
}

// distance is transport of arrays at once, for costs so few that nobody can wish to stop it. It is nil where transport
// is an error.
func distance(costs, a, b []float64) (w *work) {
	_ = guard(func() {
		c, err := cost.NewDense(len(a), len(b), costs)
		if err != nil {
			return
		}
		if res, err := mincostflow.Transport(context.Background(), c, a, b); err == nil {
			w = &work{res: res}
		}
	}) // a panic leaves it nil
	return w
}

// project moves mu, on the rows of support if there is one, into the box lo, hi.
func project(ctx context.Context, r request) (answer, error) {
	var in costArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	c, err := r.cost(in.Cost)
	if err != nil {
		return answer{}, err
	}
	p := projection.Problem{
		Cost: c, Source: r.floats("mu"), Support: r.places("support"), Lo: r.floats("lo"), Hi: r.floats("hi"),
	}
	res, err := mincostflow.Project(ctx, p, mincostflow.Settings{})
	if err != nil {
		return answer{}, err
	}
	k, kv := c.Dims()
	return answer{value: size{k, kv}, out: (&work{res: res}).arrays()}, nil
}

type projector struct {
	size
	*mincostflow.Projector
	cost cost.Matrix
	idle *sync.Pool // of *work
}

type made struct {
	Handle uint64 `json:"handle"`
	size
}

// newProjector makes an object of a cost and a box, which it copies.
func newProjector(ctx context.Context, r request) (answer, error) {
	var in costArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	r.own("C")
	c, err := r.cost(in.Cost)
	if err != nil {
		return answer{}, err
	}
	p, err := mincostflow.NewProjector(ctx, c, r.floats("lo"), r.floats("hi"), mincostflow.Settings{})
	if err != nil {
		return answer{}, err
	}
	k, kv := c.Dims()
	object := projector{size{k, kv}, p, c, &sync.Pool{New: func() any { return new(work) }}}
	return answer{value: made{handles.add(object), object.size}}, nil
}

type handleArgs struct {
	Handle uint64 `json:"handle"`
}

// projectOne is project with the cost and the box of a projector.
func projectOne(ctx context.Context, r request) (answer, error) {
	var in handleArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	p, err := object[projector](in.Handle)
	if err != nil {
		return answer{}, err
	}
	w := p.idle.Get().(*work)
	if err := p.Project(ctx, r.floats("mu"), r.places("support"), &w.res); err != nil {
		return answer{}, err
	}
	return answer{p.size, w.arrays(), func() { p.idle.Put(w) }}, nil
}

// mostErrors is how many errors of a batch are told. There may be as many as users.
const mostErrors = 100

type batch struct {
	Failed int            `json:"failed"`
	Errors map[int]string `json:"errors"` // of the first that failed
}

// projectMany projects every row of a sparse matrix (indptr, support, mass) and writes into the arrays q, value, lower,
// upper and status, one row or entry each: status 0, or 1 and NaN in all others.
func projectMany(ctx context.Context, r request) (answer, error) {
	var in handleArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	p, err := object[projector](in.Handle)
	if err != nil {
		return answer{}, err
	}
	ptr, support, mass := r.places("indptr"), r.places("support"), r.floats("mass")
	users := len(ptr) - 1
	if err := checkRows(ptr, len(support), len(mass)); err != nil {
		return answer{}, err
	}
	q, status := r.floats("q"), r.arrays["status"].ints
	numbers := [][]float64{r.floats("value"), r.floats("lower"), r.floats("upper")}
	short := func(x []float64) bool { return len(x) != users }
	if len(q) != users*p.Kv || len(status) != users || slices.ContainsFunc(numbers, short) {
		return answer{}, fmt.Errorf("%w: results of %d users on %d points do not fit", wpmerr.ErrShape, users, p.Kv)
	}
	out := batch{Errors: map[int]string{}}
	err = p.All(ctx, users,
		func(i int) ([]float64, []int) { return mass[ptr[i]:ptr[i+1]], support[ptr[i]:ptr[i+1]:ptr[i+1]] },
		func(i int, res *mincostflow.Result, err error) error {
			row := q[i*p.Kv : (i+1)*p.Kv]
			if err == nil {
				copy(row, res.Q)
				numbers[0][i], numbers[1][i], numbers[2][i], status[i] = res.Objective, res.Lower, res.Upper, 0
				return nil
			}
			for j := range row {
				row[j] = math.NaN()
			}
			numbers[0][i], numbers[1][i], numbers[2][i], status[i] = math.NaN(), math.NaN(), math.NaN(), 1
			if out.Failed++; out.Failed <= mostErrors {
				out.Errors[i] = err.Error()
			}
			return nil
		})
	var some *projection.BatchError
	if err != nil && (!errors.As(err, &some) || ctx.Err() != nil) {
		return answer{}, err
	}
	return answer{value: out}, nil
}

// checkRows checks where the rows of a sparse matrix begin and end.
func checkRows(ptr []int, n, values int) error {
	switch {
	case len(ptr) == 0 || ptr[0] != 0 || ptr[len(ptr)-1] != n || n != values:
		return fmt.Errorf("%w: the rows of a sparse matrix do not cover its %d indices and %d values", wpmerr.ErrShape, n,
			values)
	case !slices.IsSorted(ptr):
		return fmt.Errorf("%w: a sparse matrix with a row that ends before it begins", wpmerr.ErrShape)
	}
	return nil
}

// solve is one line of "wpm solve", whose cost may be the array C.
func solve(ctx context.Context, r request) (answer, error) {
	var in struct {
		Kind string          `json:"kind"`
		Line json.RawMessage `json:"line"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	s := machine.Settings{Progress: stepsOf(ctx)}
	if _, ok := r.arrays["C"]; ok {
		c, err := r.cost(nil)
		if err != nil {
			return answer{}, err
		}
		held, err := cost.Materialize(ctx, c) // checks it
		if err != nil {
			return answer{}, err
		}
		s.Costs = map[string]*cost.Dense{"C": held}
	}
	text, err := machine.Solve(ctx, in.Kind, s, in.Line)
	return answer{value: json.RawMessage(text)}, err
}
