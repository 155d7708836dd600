package worst

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
)

// slopes bound the values of inputs near one that was sketched, by more than the triangle inequality. The cost is a
// distance d between points, or between places on a sphere.
//
// The cheapest row q of input x is one of the set, so input y costs at most sum_j q_j d(y, v_j). Let y be at the distance
// r from x, in the direction e. For outputs near x, d(y, v) <= d(x, v) + r. For any other let u be the direction from x
// to v. On the way from x to y, the derivative of the distance from v is -<e, u> at first. Its second derivative is at
// most 1/f, and max(cot f, 0) on the unit sphere, where f is the distance on the way, at least d(x, v) - r > 0. So by
// Taylor's theorem
//
//	d(y, v) <= d(x, v) - r <e, u> + r^2/2 bend(d(x, v) - r).
//
// The middle terms nearly cancel in the mean, if outputs lie all around x. What is left falls with the square of r.
//
// Distances are counted in steps, four to an octave. An output is near if it is less than nearby steps beyond r, or, on
// the sphere, so near to the antipode that its direction is lost.
type slopes struct {
	c     cost.Matrix
	order []int        // the output of each column of c
	x, v  [][3]float64 // points, or unit vectors: of the inputs, and of the columns
	earth bool
	most  float64               // at least all distances
	first uint64                // the number of the first step
	bend  [steps][steps]float64 // by the step of the move, and that of the output
}

const (
	steps  = 64
	nearby = 4
	// fine is more than directions are off, and sums of masses and bends: coordinates are off by 2^-52, moves and the
	// distances of outputs that are not near are at least 2^-16 of the largest, and sines are above least.
	fine  = 1e-9
	least = 1e-5
)

// newSlopes returns nil for a cost that is no such distance, or has more than three axes.
func newSlopes(c cost.Matrix) *slopes {
	if !cost.Structured(c) {
		return nil
	}
	spec, err := cost.SpecOf(context.Background(), c)
	if err != nil || spec.P != 1 || len(spec.X) == 0 || len(spec.X[0]) > 3 {
		return nil
	}
	g := &slopes{earth: spec.Places() == "greatcircle"}
	if !g.earth && spec.Places() != "points" {
		return nil
	}
	g.x = g.vectors(spec.X)
	out := g.x
	if spec.V != nil {
		out = g.vectors(spec.V)
	}
	g.order = byCells(out)
	for _, j := range g.order {
		g.v = append(g.v, out[j])
	}
	g.c = cost.Part(c, upTo(len(g.x)), g.order)
	if g.most = math.Pi * cost.EarthRadius; !g.earth {
		if g.most, err = cost.Bound(context.Background(), c); err != nil {
			return nil
		}
	}
	g.most *= 1 + fine
	g.first = math.Float64bits(g.most)>>50 - (steps - 1)
	if !(g.most > 0x1p-900 && g.most < 0x1p900) {
		return nil
	}
	for t := range g.bend {
		for b := t + nearby; b < steps; b++ {
			f := g.from(b) - g.from(t+1)
			if g.bend[t][b] = 1 / f; g.earth {
				g.bend[t][b] = max(0, 1/math.Tan(min(f/cost.EarthRadius, math.Pi/2))) / cost.EarthRadius
			}
		}
	}
	return g
}

// upTo lists the numbers from 0.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// byCells orders outputs so that those near each other follow each other: by the cells of a cube. Branches that depend on
// distances are then foreseen, and a sketch takes half the time.
func byCells(at [][3]float64) []int {
	const side = 16
	var low, scale [3]float64
	for a := range low {
		high := math.Inf(-1)
		low[a] = math.Inf(1)
		for _, v := range at {
			low[a], high = min(low[a], v[a]), max(high, v[a])
		}
		if wide := high - low[a]; wide > 0 && wide <= math.MaxFloat64 {
			scale[a] = (side - 0.5) / wide
		}
	}
	cell := make([]int, len(at))
	var first [side*side*side + 1]int
	for j, v := range at {
		for a, w := range v {
			cell[j] = cell[j]*side + int((w-low[a])*scale[a])
		}
		first[cell[j]+1]++
	}
	for n := range side * side * side {
		first[n+1] += first[n]
	}
	order := make([]int, len(at))
	for j, n := range cell {
		order[first[n]] = j
		first[n]++
	}
	return order
}

func (g *slopes) vectors(list [][]float64) [][3]float64 {
	at := make([][3]float64, len(list))
	for i, x := range list {
		if copy(at[i][:], x); g.earth {
			sin, cos := math.Sincos(x[0] * (math.Pi / 180))
			north, east := math.Sincos(x[1] * (math.Pi / 180))
			at[i] = [3]float64{cos * east, cos * north, sin}
		}
	}
	return at
}

// from is the least distance of a step, and step the step of a distance.
func (g *slopes) from(step int) float64 { return math.Float64frombits((g.first + uint64(step)) << 50) }

func (g *slopes) step(d float64) int {
	return int(max(int64(math.Float64bits(d)>>50-g.first), 0))
}

// A sketch is what slopes know of an input: by it, less is known of others than by its value, but for no more than a
// row and a few roundings.
type sketch struct {
	*slopes
	lo, hi []float64 // the bounds of the set, within a few roundings
	done   []bool    // which inputs were sketched
	row    []float64
	at     [3]float64
	cost   float64           // of the cheapest row
	off    float64           // what that may be off, by sums of masses and costs in floats
	near   [steps]float64    // for a move of each step: the mass near the input,
	pull   [steps][3]float64 // the mean direction of the rest,
	bend   [steps]float64    // and its mean bend
}

// sketch looks at an input.
func (d *sketch) sketch(i int) {
	d.done[i] = true
	d.row = d.c.Row(i, d.row)
	end, share := d.end()
	x := d.x[i]
	var mass [steps]float64
	var pull [steps][3]float64
	d.at, d.cost = x, 0
	for j, c := range d.row {
		q := d.lo[j]
		if c < end {
			q = d.hi[j]
		} else if c == end {
			q += share * (d.hi[j] - q)
		}
		d.cost += q * c
		b, length := d.step(c), c
		v := &d.v[j]
		a0, a1, a2 := v[0]-x[0], v[1]-x[1], v[2]-x[2]
		if d.earth { // the part that is at right angles to x
			s := a0*a0 + a1*a1 + a2*a2
			a0, a1, a2 = a0+s/2*x[0], a1+s/2*x[1], a2+s/2*x[2]
			// That is a sine, but 1 - s/4 has few digits near the antipode.
			if length = math.Sqrt(a0*a0 + a1*a1 + a2*a2); !(length > least) {
				b = 0
			}
		}
		mass[b] += q
		if b > 0 {
			p, w := &pull[b], q/length
			p[0] += w * a0
			p[1] += w * a1
			p[2] += w * a2
		}
	}
	d.off = (1e-11 + float64(len(d.row))*0x1p-50) * (d.cost + d.most)
	d.near, d.pull, d.bend = [steps]float64{}, [steps][3]float64{}, [steps]float64{}
	for t := range steps - nearby {
		for b, m := range mass {
			if b < t+nearby {
				d.near[t] += m
				continue
			}
			d.bend[t] += m * d.slopes.bend[t][b]
			for a, p := range pull[b] {
				d.pull[t][a] += p
			}
		}
	}
}

// end returns the cost at which the cheapest row ends, and the share that outputs of that cost have of their widths. It
// sorts those in the part of a histogram where that is.
func (d *sketch) end() (end, share float64) {
	const parts = 1 << 10
	var sums [parts + 1]float64
	scale, need := parts/d.most, 1.0
	for j, c := range d.row {
		need -= d.lo[j]
		sums[int(c*scale)] += d.hi[j] - d.lo[j]
	}
	if need <= 0 {
		return 0, 0
	}
	part := 0
	for ; part < parts && sums[part] < need; part++ {
		need -= sums[part]
	}
	type output struct{ cost, width float64 }
	var list []output
	for j, c := range d.row {
		if int(c*scale) == part {
			list = append(list, output{c, d.hi[j] - d.lo[j]})
		}
	}
	slices.SortFunc(list, func(a, b output) int { return cmp.Compare(a.cost, b.cost) })
	for n := 0; n < len(list); need -= share {
		share = 0
		for end = list[n].cost; n < len(list) && list[n].cost == end; n++ {
			share += list[n].width
		}
		if need <= share {
			return end, need / share
		}
	}
	if len(list) == 0 {
		end = d.most
	}
	return end, 1 // all that there is, but for a rounding
}

// change bounds how much more input i costs, at a distance from the one that was sketched.
func (d *sketch) change(i int, far float64) float64 {
	t := d.step(far)
	if t == 0 || t >= steps-nearby {
		return far
	}
	x, p := &d.x[i], &d.pull[t]
	a0, a1, a2 := x[0]-d.at[0], x[1]-d.at[1], x[2]-d.at[2]
	along := a0*p[0] + a1*p[1] + a2*p[2]
	if d.earth {
		s := a0*a0 + a1*a1 + a2*a2
		along *= far / math.Sqrt(s*(1-s/4))
	}
	if c := far*(d.near[t]+fine+far*d.bend[t]/2) - along; c < far {
		return c
	}
	return far
}
