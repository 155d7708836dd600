package machine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// readCost builds the cost: in memory, for the solvers, and as the line states it, for a certificate.
func readCost(ctx context.Context, o *object) (c *cost.Dense, stated cost.Matrix, err error) {
	name, err := o.name("cost")
	if err != nil {
		return nil, nil, err
	}
	if name != "" {
		named, err := o.shared.cost(name)
		return named.c, named.stated, err
	}
	if stated, err = readStated(o); err != nil {
		return nil, nil, err
	}
	if c, err = cost.Materialize(ctx, stated); err != nil {
		return nil, nil, fmt.Errorf("field %q: %w", "cost", err)
	}
	return c, stated, nil
}

// readStated builds the cost as the line states it.
func readStated(o *object) (stated cost.Matrix, err error) {
	if !o.has("cost") {
		return nil, fmt.Errorf("field %q is missing", "cost")
	}
	name, err := o.name("cost")
	if err != nil {
		return nil, err
	}
	if name != "" {
		named, err := o.shared.cost(name)
		return named.stated, err
	}
	raw := o.fields["cost"]
	var of struct{ Kind string }
	if err := json.Unmarshal(raw, &of); err == nil && of.Kind == "npy" {
		stated, err = o.shared.readFile(raw)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", "cost", err)
		}
		return stated, nil
	}
	spec, err := cost.ParseSpec(raw)
	if err == nil {
		stated, err = spec.Build()
	}
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", "cost", err)
	}
	return stated, nil
}

func readEpsilon(o *object) (float64, error) {
	eps, err := read[float64](o, "eps")
	if err == nil && !(eps >= 0 && eps <= num.MaxEpsilon) {
		err = fmt.Errorf("field %q: %v is not between 0 and %d", "eps", eps, num.MaxEpsilon)
	}
	return eps, err
}

// mass is a distribution: dense, or sparse with its support.
type mass[T float64 | int64] struct {
	weight  []T
	support []int
}

// readMass reads a distribution on n points.
func readMass[T float64 | int64](o *object, name string, n int) (mass[T], error) {
	if !o.has(name) {
		return mass[T]{}, fmt.Errorf("field %q is missing", name)
	}
	raw := o.fields[name]
	if raw[0] != '{' {
		w, err := read[[]T](o, name)
		if err == nil && len(w) != n {
			err = fmt.Errorf("field %q has %d entries, want %d", name, len(w), n)
		}
		return mass[T]{weight: w}, err
	}
	in, err := parseObject(raw)
	if err != nil {
		return mass[T]{}, fmt.Errorf("field %q: %w", name, err)
	}
	index, err := read[[]int](in, "index")
	if err != nil {
		return mass[T]{}, fmt.Errorf("field %q: %w", name, err)
	}
	field, values := "weight", "weights"
	if _, whole := any(*new(T)).(int64); whole {
		field, values = "units", "units"
	}
	weight, err := read[[]T](in, field)
	if err != nil {
		return mass[T]{}, fmt.Errorf("field %q: %w", name, err)
	}
	in.known["id"] = false
	if err := in.finish(); err != nil {
		return mass[T]{}, fmt.Errorf("field %q: %w", name, err)
	}
	if len(index) != len(weight) {
		return mass[T]{}, fmt.Errorf("field %q: %d indices and %d %s", name, len(index), len(weight), values)
	}
	m, err := sorted(index, weight, n)
	if err != nil {
		return mass[T]{}, fmt.Errorf("field %q: %w", name, err)
	}
	return m, nil
}

// sorted puts as many atoms as weights, which may come in any order, in the order of their points, as the solvers want
// them.
func sorted[T float64 | int64](index []int, weight []T, k int) (mass[T], error) {
	order := make([]int, len(index))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(index[a], index[b]) })
	m := mass[T]{weight: make([]T, len(weight)), support: make([]int, len(index))}
	for at, n := range order {
		i := index[n]
		if i < 0 || i >= k {
			return mass[T]{}, fmt.Errorf("index %d is not one of the %d points", i, k)
		}
		if at > 0 && i == m.support[at-1] {
			return mass[T]{}, fmt.Errorf("index %d occurs twice", i)
		}
		m.support[at], m.weight[at] = i, weight[n]
	}
	return m, nil
}

// dense writes m out over n points.
func (m mass[T]) dense(n int) []T {
	if m.support == nil {
		return m.weight
	}
	out := make([]T, n)
	for at, i := range m.support {
		out[i] = m.weight[at]
	}
	return out
}

// box is the box of a line, given as lo and hi or as m and eps.
type box struct {
	lo, hi []float64
	// m, alpha and beta are set when the line gave m and eps.
	m           []float64
	alpha, beta float64
}

// readBox reads the box of a line, or looks up the one that it names.
func readBox(o *object, kv int) (b box, err error) {
	named, err := o.shared.box(o)
	if err != nil {
		return box{}, err
	}
	if named != nil {
		b = named.box
	} else if b, err = parseBox(o); err != nil {
		return box{}, err
	}
	if b.m != nil && len(b.m) != kv {
		return box{}, fmt.Errorf("field %q has %d entries, the cost %d columns", "m", len(b.m), kv)
	}
	return b, nil
}

// readUnitBox is readBox for whole units.
func readUnitBox(o *object) (unitBox, error) {
	named, err := o.shared.box(o)
	if err != nil {
		return unitBox{}, err
	}
	if named != nil {
		return named.units, nil
	}
	return parseUnitBox(o)
}

func parseUnitBox(o *object) (b unitBox, err error) {
	if b.lo, err = read[[]int64](o, "lo"); err != nil {
		return unitBox{}, err
	}
	b.hi, err = read[[]int64](o, "hi")
	return b, err
}

func parseBox(o *object) (box, error) {
	hasM, hasEps, hasLo, hasHi := o.has("m"), o.has("eps"), o.has("lo"), o.has("hi")
	switch {
	case (hasM || hasEps) && (hasLo || hasHi):
		return box{}, fmt.Errorf("give either m and eps, or lo and hi, not both")
	case hasM != hasEps:
		return box{}, fmt.Errorf("m and eps go together")
	case hasLo != hasHi:
		return box{}, fmt.Errorf("lo and hi go together")
	case !hasM && !hasLo:
		return box{}, fmt.Errorf("the box is missing: give m and eps, or lo and hi")
	}
	if hasLo {
		lo, err := read[[]float64](o, "lo")
		if err != nil {
			return box{}, err
		}
		hi, err := read[[]float64](o, "hi")
		if err != nil {
			return box{}, err
		}
		return box{lo: lo, hi: hi}, nil
	}
	eps, err := readEpsilon(o)
	if err != nil {
		return box{}, err
	}
	m, err := readBase(o)
	if err != nil {
		return box{}, err
	}
	kv := len(m)
	b := box{m: m, alpha: math.Exp(-eps / 2), beta: math.Exp(eps / 2), lo: make([]float64, kv), hi: make([]float64, kv)}
	for j, x := range m {
		b.lo[j], b.hi[j] = b.alpha*x, b.beta*x
		if math.IsInf(b.hi[j], 0) {
			return box{}, fmt.Errorf("field %q: entry %d, %v, is too large for eps %v", "m", j, x, eps)
		}
	}
	return b, nil
}

func readBase(o *object) ([]float64, error) {
	m, err := read[[]float64](o, "m")
	if err != nil {
		return nil, err
	}
	for j, x := range m {
		if !(x >= 0) {
			return nil, fmt.Errorf("field %q: entry %d is %v, negative", "m", j, x)
		}
	}
	return m, nil
}
