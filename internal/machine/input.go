package machine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
)

// MaxEpsilon is the largest privacy level of the solvers: e^ε must be a finite float64.
const MaxEpsilon = 700

// readCost builds the cost and returns its power p, or 0 where W_p has no meaning (explicit, cosine).
func readCost(o *object) (*cost.Dense, float64, error) {
	if !o.has("cost") {
		return nil, 0, fmt.Errorf("field %q is missing", "cost")
	}
	spec, err := cost.ParseSpec(o.fields["cost"])
	if err != nil {
		return nil, 0, fmt.Errorf("field %q: %w", "cost", err)
	}
	m, err := spec.Build()
	if err != nil {
		return nil, 0, fmt.Errorf("field %q: %w", "cost", err)
	}
	d, err := cost.Materialize(m)
	if err != nil {
		return nil, 0, fmt.Errorf("field %q: %w", "cost", err)
	}
	p, _ := cost.Exponent(m)
	return d, p, nil
}

func readEpsilon(o *object) (float64, error) {
	eps, err := read[float64](o, "eps")
	if err == nil && !(eps >= 0 && eps <= MaxEpsilon) {
		err = fmt.Errorf("field %q: %v is not between 0 and %d", "eps", eps, MaxEpsilon)
	}
	return eps, err
}

// mass is mu: dense, or sparse with its support.
type mass struct {
	weight  []float64
	support []int
}

func readMass(o *object, k int) (mass, error) {
	const name = "mu"
	if !o.has(name) {
		return mass{}, fmt.Errorf("field %q is missing", name)
	}
	raw := o.fields[name]
	if raw[0] != '{' {
		w, err := read[[]float64](o, name)
		if err == nil && len(w) != k {
			err = fmt.Errorf("field %q has %d entries, the cost %d rows", name, len(w), k)
		}
		return mass{weight: w}, err
	}
	in, err := parseObject(raw)
	if err != nil {
		return mass{}, fmt.Errorf("field %q: %w", name, err)
	}
	index, err := read[[]int](in, "index")
	if err != nil {
		return mass{}, fmt.Errorf("field %q: %w", name, err)
	}
	weight, err := read[[]float64](in, "weight")
	if err != nil {
		return mass{}, fmt.Errorf("field %q: %w", name, err)
	}
	in.known["id"] = false
	if err := in.finish(); err != nil {
		return mass{}, fmt.Errorf("field %q: %w", name, err)
	}
	m, err := sorted(index, weight, k)
	if err != nil {
		return mass{}, fmt.Errorf("field %q: %w", name, err)
	}
	return m, nil
}

// sorted puts atoms, which may come in any order, in the order of their rows, as the solvers want them.
func sorted(index []int, weight []float64, k int) (mass, error) {
	if len(index) != len(weight) {
		return mass{}, fmt.Errorf("%d indices and %d weights", len(index), len(weight))
	}
	order := make([]int, len(index))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(index[a], index[b]) })
	m := mass{weight: make([]float64, len(weight)), support: make([]int, len(index))}
	for at, n := range order {
		i := index[n]
		if i < 0 || i >= k {
			return mass{}, fmt.Errorf("index %d is not one of the %d rows of the cost", i, k)
		}
		if at > 0 && i == m.support[at-1] {
			return mass{}, fmt.Errorf("index %d occurs twice", i)
		}
		m.support[at], m.weight[at] = i, weight[n]
	}
	return m, nil
}

// box is the box of a line, given as lo and hi or as m and eps.
type box struct {
	lo, hi []float64
	// m, alpha and beta are set when the line gave m and eps.
	m           []float64
	alpha, beta float64
}

func readBox(o *object, kv int) (box, error) {
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
	m, err := readBase(o, kv)
	if err != nil {
		return box{}, err
	}
	b := box{m: m, alpha: math.Exp(-eps / 2), beta: math.Exp(eps / 2), lo: make([]float64, kv), hi: make([]float64, kv)}
	for j, x := range m {
		b.lo[j], b.hi[j] = b.alpha*x, b.beta*x
		if math.IsInf(b.hi[j], 0) {
			return box{}, fmt.Errorf("field %q: entry %d, %v, is too large for eps %v", "m", j, x, eps)
		}
	}
	return b, nil
}

func readBase(o *object, kv int) ([]float64, error) {
	m, err := read[[]float64](o, "m")
	if err != nil {
		return nil, err
	}
	if len(m) != kv {
		return nil, fmt.Errorf("field %q has %d entries, the cost %d columns", "m", len(m), kv)
	}
	for j, x := range m {
		if !(x >= 0) {
			return nil, fmt.Errorf("field %q: entry %d is %v, negative", "m", j, x)
		}
	}
	return m, nil
}
