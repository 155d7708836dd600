package basemeasure

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/worst"
	"github.com/wpm-go/wpm/wpmerr"
)

// allPairs is the k*kv up to which Verify reads all rows for the upper bound.
const allPairs = 1 << 22

// upperCheck computes the objective of the greedy fills in the box [M/b, b*M].
//
// With T = sum M, S = the mass of the cheapest columns that are full, D = sum C*M over those, A = sum C*M over all, and
// c the cost of the column at which the fill ends,
//
//	phi = (A - D - c*M_end)/b + b*D + c*(1 - (T - S - M_end)/b - b*S)
//	    = (A - D)/b + b*D + c*(1 - (T - S)/b - b*S),
//
// since c*M_end cancels. The fill ends at the first column, in order of cost, with b*S' + (T - S')/b >= 1, S' = S +
// M_end, that is S'*(b^2 - 1) >= b - T. Columns of equal cost may count as full or not, since b*c*M_j - c*M_j/b is then
// in both parts; so S and D are taken over what is cheaper than c, and S' over what is not dearer.
type upperCheck struct {
	c          cost.Matrix
	goal       *goal
	m          []float64
	even       float64 // what every column has; 0 if they differ
	point      bool    // the box is the point M/T
	b, square  *num.Dyadic
	total      *num.Dyadic // T
	need, gain *num.Dyadic // b - T, b^2 - 1
	aim        float64     // need/gain, rounded; with even, how many columns reach it, exactly
	pairs      int         // k*kv up to which all rows are read
	read       int         // how many were
	free       sync.Pool   // of *filler
}

func newUpperCheck(c cost.Matrix, m []float64, b *num.Dyadic, goal *goal) (*upperCheck, error) {
	one := num.DyadicUint(1)
	u := &upperCheck{c: c, goal: goal, m: m, pairs: allPairs, b: b, square: b.Times(b), total: num.DyadicSum(m)}
	if !slices.ContainsFunc(m, func(x float64) bool { return x != m[0] }) {
		u.even = m[0]
	}
	u.need, u.gain = b.Minus(u.total), u.square.Minus(one)
	u.free.New = func() any { return new(filler) }

	// How far T/b is above 1 or b*T below it decides whether there is a box at all.
	low, high := u.total.Over(b), u.total.Times(b).Rat()
	whole, slack := big.NewRat(1, 1), new(big.Rat).SetFloat64(1e-12)
	if low.Cmp(new(big.Rat).Add(whole, slack)) > 0 || high.Cmp(new(big.Rat).Sub(whole, slack)) < 0 {
		return nil, fmt.Errorf("%w: sum M = %s, want a mass in [e^(-eps/2), e^(eps/2)]", wpmerr.ErrCertificate, show(u.total.Rat()))
	}
	if u.point = low.Cmp(whole) >= 0 || high.Cmp(whole) <= 0 || u.gain.Sign() == 0; !u.point {
		aim := u.need.Over(u.gain)
		if u.even > 0 {
			aim.Quo(aim, num.Rat(u.even))
			count := new(big.Int).Add(aim.Num(), aim.Denom())
			aim.SetInt(count.Sub(count, big.NewInt(1)).Quo(count, aim.Denom())) // the ceiling, at most kv as high >= 1
		}
		u.aim, _ = aim.Float64()
	}
	return u, nil
}

// check returns the objective.
func (u *upperCheck) check(ctx context.Context) (*big.Rat, error) {
	k, kv := u.c.Dims()
	var lock sync.Mutex
	largest, mean := new(num.Dyadic), new(num.Dyadic)
	see := func(i int) *num.Dyadic {
		v := u.value(i)
		lock.Lock()
		defer lock.Unlock()
		u.read++
		if v.Cmp(largest) > 0 && (len(u.goal.exclude) == 0 || !slices.Contains(u.goal.exclude, i)) {
			largest = v
		}
		if u.goal.average != nil {
			mean.Add(v.Times(num.NewDyadic(u.goal.average[i])))
		}
		return v
	}
	unit := u.b
	if u.point {
		unit = u.total
	}
	var err error
	switch {
	case u.even > 0 && u.goal.plain() && cost.SpaceOf(u.c).Exact:
		see(0)
	case u.goal.plain() && k > u.pairs/kv && cost.SpaceOf(u.c).Power > 0:
		lo, hi := u.bounds()
		err = worst.NewSpace(u.c).Exact(ctx, lo, hi, func(i int) (float64, error) {
			x, _ := see(i).Over(unit).Float64()
			return x, nil
		}, 0)
	default:
		err = parallel.For(ctx, k, func(i int) { see(i) })
	}
	if err != nil {
		return nil, err
	}
	value := largest.Over(unit)
	if g := u.goal; g.average != nil {
		value.Mul(value, new(big.Rat).SetInt(g.mix))
		rest := mean.Over(unit.Times(num.DyadicSum(g.average)))
		value.Add(value, rest.Mul(rest, new(big.Rat).SetInt(g.rest)))
		value.Quo(value, new(big.Rat).SetInt(g.parts()))
	}
	return value, nil
}

// bounds returns the bounds of the box, in floats.
func (u *upperCheck) bounds() (lo, hi []float64) {
	b, total := u.b.Float(), u.total.Float()
	lo, hi = make([]float64, len(u.m)), make([]float64, len(u.m))
	for j, m := range u.m {
		if lo[j], hi[j] = m/b, m*b; u.point {
			lo[j], hi[j] = m/total, m/total
		}
	}
	return lo, hi
}

// value returns b*phi_i, or T*phi_i where the box is a point.
func (u *upperCheck) value(i int) *num.Dyadic {
	f := u.free.Get().(*filler)
	defer u.free.Put(f)
	if len(f.buf) == 0 {
		f.buf = make([]float64, len(u.m)) // never a row that Row returned: that may be the matrix's own
	}
	row := u.c.Row(i, f.buf)
	if u.point {
		f.split(u, row, -1)
		return f.aboveCost
	}
	end := f.end(u, row)
	if f.split(u, row, end); !u.short(f.below) || u.short(f.upTo) {
		end = f.exactEnd(u, row)
		f.split(u, row, end)
	}
	// b*phi = (A - D) + b^2 D + c (b - (T - S) - b^2 S).
	value := f.aboveCost.Add(u.square.Times(f.belowCost))
	rest := u.need.Minus(u.gain.Times(f.below))
	return value.Add(rest.Times(num.NewDyadic(end)))
}

// short reports whether the fill does not end at S' = mass.
func (u *upperCheck) short(mass *num.Dyadic) bool { return u.gain.Times(mass).Cmp(u.need) < 0 }

// filler computes fills, one at a time.
type filler struct {
	buf   []float64
	cells []cell
	accs  [4]num.Acc
	// What split finds: the masses that are cheaper than the end, and those that are not dearer; their sum C*M, and that
	// of the others, the end's included.
	below, upTo, belowCost, aboveCost *num.Dyadic
}

// cell is a column with a mass.
type cell struct{ cost, mass float64 }

// split sums the masses of the columns, and their costs, on both sides of a cost.
func (f *filler) split(u *upperCheck, row []float64, end float64) {
	f.accs = [4]num.Acc{}
	below, at, belowCost, aboveCost := &f.accs[0], &f.accs[1], &f.accs[2], &f.accs[3]
	if u.even > 0 {
		var n, ends uint64
		for _, c := range row {
			switch {
			case c < end:
				n++
				belowCost.Add(c)
			case c > end:
				aboveCost.Add(c)
			default:
				ends++
			}
		}
		aboveCost.AddUnits(end, ends)
		each := num.NewDyadic(u.even)
		f.below, f.upTo = num.DyadicUint(n).Times(each), num.DyadicUint(n+ends).Times(each)
		f.belowCost, f.aboveCost = belowCost.Dyadic().Times(each), aboveCost.Dyadic().Times(each)
		return
	}
	for j, c := range row {
		switch m := u.m[j]; {
		case m == 0:
		case c < end:
			below.Add(m)
			belowCost.AddMul(c, m)
		default:
			if c == end {
				at.Add(m)
			}
			aboveCost.AddMul(c, m)
		}
	}
	f.below, f.belowCost, f.aboveCost = below.Dyadic(), belowCost.Dyadic(), aboveCost.Dyadic()
	f.upTo = at.Dyadic().Add(f.below)
}

// load lists the columns that have a mass, which is 1 if it is the same for all.
func (f *filler) load(u *upperCheck, row []float64) []cell {
	f.cells = f.cells[:0]
	for j, c := range row {
		m := u.m[j]
		if u.even > 0 {
			m = 1
		}
		if m > 0 {
			f.cells = append(f.cells, cell{c, m})
		}
	}
	return f.cells
}

func byCost(a, b cell) int { return cmp.Compare(a.cost, b.cost) }

const (
	fewCells = 12 // so many are sorted
	// maxSplits is more than a selection takes, unless the order of the costs is made for it.
	maxSplits = 64
)

// end returns the cost at which the fill ends, unless masses are lost in rounding. It selects as Hoare's quickselect
// does (1961), in O(kv).
func (f *filler) end(u *upperCheck, row []float64) (end float64) {
	cells, need := f.load(u, row), u.aim
	for n := 0; len(cells) > fewCells && n < maxSplits; n++ {
		few := [3]cell{cells[0], cells[len(cells)/2], cells[len(cells)-1]}
		slices.SortFunc(few[:], byCost)
		end = few[1].cost
		less, i, more := 0, 0, len(cells) // cells[:less] are cheaper, cells[more:] dearer
		var below, at float64
		for i < more {
			switch x := cells[i]; {
			case x.cost < end:
				below += x.mass
				cells[i], cells[less] = cells[less], x
				less++
				i++
			case x.cost > end:
				more--
				cells[i], cells[more] = cells[more], x
			default:
				at += x.mass
				i++
			}
		}
		switch {
		case need <= below:
			cells = cells[:less]
		case need <= below+at:
			return end
		default:
			need -= below + at
			cells = cells[more:]
		}
	}
	slices.SortFunc(cells, byCost)
	for _, x := range cells {
		end = x.cost
		if need -= x.mass; need <= 0 {
			break
		}
	}
	return end
}

// exactEnd is end with exact sums, for masses that floats cannot add. At high >= 1 the last column is not short.
func (f *filler) exactEnd(u *upperCheck, row []float64) float64 {
	cells := f.load(u, row)
	slices.SortFunc(cells, byCost)
	at := sort.Search(len(cells)-1, func(n int) bool {
		f.split(u, row, cells[n].cost)
		return !u.short(f.upTo)
	})
	return cells[at].cost
}
