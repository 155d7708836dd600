package city

import (
	"math"
	"math/rand/v2"
	"slices"
)

// district is a quarter of the city: a round cloud of places around its middle, in units of the grid's shorter side.
type district struct {
	x, y, spread        float64
	live, work, leisure float64 // how often it is chosen for each
}

// minCheckins of every generated user: the studies drop less active users, so a demonstration would only lose them.
const minCheckins = 10

// maxExtra bounds the heavy tail of check-ins per user.
const maxExtra = 2000

// Generate returns a synthetic city of the given number of users over rows x cols cells. It is a simulation: see the
// package comment. Errors: ErrSize.
func Generate(seed uint64, users, rows, cols int) (Population, error) {
	if err := checkSize(users, rows, cols); err != nil {
		return Population{}, err
	}
	// the second word ("city") separates this stream from others of the same seed
	rng := rand.New(rand.NewPCG(seed, 0x63697479))
	g := generator{rng: rng, rows: rows, cols: cols, districts: plan(rng)}
	p := Population{Rows: rows, Cols: cols, Users: make([]User, users)}
	for i := range p.Users {
		p.Users[i] = g.user(int64(i))
	}
	return p, nil
}

// plan lays out the districts: the centre, a business quarter beside it, residential quarters around, and two
// destinations far out (say an airport and a lake). The positions vary with the seed, the roles do not.
func plan(rng *rand.Rand) []district {
	near := func(v, by float64) float64 { return v + by*(2*rng.Float64()-1) }
	ds := []district{
		{near(0.5, 0.08), near(0.5, 0.08), 0.03, 0.10, 0.50, 0.45},   // centre
		{near(0.62, 0.05), near(0.66, 0.05), 0.03, 0.03, 0.22, 0.08}, // business quarter
	}
	const quarters = 5
	turn := rng.Float64()
	for i := range quarters {
		angle := 2 * math.Pi * (turn + (float64(i)+0.5*rng.Float64())/quarters)
		r := 0.2 + 0.2*rng.Float64()
		live := 0.5 + rng.Float64()
		ds = append(ds, district{0.5 + r*math.Cos(angle), 0.5 + r*math.Sin(angle), 0.03 + 0.04*rng.Float64(),
			live * 0.87 / quarters, 0.06, 0.05})
	}
	return append(ds,
		district{near(0.87, 0.04), near(0.18, 0.06), 0.015, 0, 0.04, 0.06}, // airport
		district{near(0.12, 0.05), near(0.72, 0.08), 0.025, 0.01, 0, 0.12}, // lake
	)
}

type generator struct {
	rng        *rand.Rand
	rows, cols int
	districts  []district
}

// user draws one user: home, work, a few leisure places, and a heavy-tailed number of check-ins spread unevenly over
// them.
func (g *generator) user(id int64) User {
	home := g.pick(func(d district) float64 { return d.live })
	hx, hy := g.place(home)
	work := g.pick(func(d district) float64 { return d.work })
	wx, wy := g.place(work)
	places := []int{g.cell(hx, hy), g.cell(wx, wy)}
	weights := []float64{0.5 + g.rng.Float64(), 0.3 + g.rng.Float64()}
	for n := range 2 + int(math.Min(g.rng.ExpFloat64()*4, 30)) {
		var x, y float64
		switch u := g.rng.Float64(); {
		case u < 0.4: // round the corner from home
			x, y = hx+0.03*g.rng.NormFloat64(), hy+0.03*g.rng.NormFloat64()
		case u < 0.6: // lunch
			x, y = wx+0.02*g.rng.NormFloat64(), wy+0.02*g.rng.NormFloat64()
		default:
			x, y = g.place(g.pick(func(d district) float64 { return d.leisure }))
		}
		places = append(places, g.cell(x, y))
		weights = append(weights, 1/float64(n+1)) // Zipf: the favourite place first
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	// Pareto with exponent 1.2: the mean exists, the variance of the untruncated law does not.
	extra := int(math.Min(8*(math.Pow(1-g.rng.Float64(), -1/1.2)-1), maxExtra))
	counts := map[int]int{}
	for range minCheckins + extra {
		u := g.rng.Float64() * total
		k := 0
		for k < len(weights)-1 && u >= weights[k] {
			u -= weights[k]
			k++
		}
		counts[places[k]]++
	}
	out := User{ID: id}
	for j := range counts {
		out.Cells = append(out.Cells, j)
	}
	slices.Sort(out.Cells) // map order ends here
	for _, j := range out.Cells {
		out.Counts = append(out.Counts, counts[j])
	}
	return out
}

// pick draws a district by the given weight.
func (g *generator) pick(weight func(district) float64) district {
	total := 0.0
	for _, d := range g.districts {
		total += weight(d)
	}
	u := g.rng.Float64() * total
	for _, d := range g.districts {
		if u < weight(d) {
			return d
		}
		u -= weight(d)
	}
	return g.districts[0] // rounding only: u ends at the total
}

// place draws a point of the district.
func (g *generator) place(d district) (x, y float64) {
	return d.x + d.spread*g.rng.NormFloat64(), d.y + d.spread*g.rng.NormFloat64()
}

// cell is the cell of the point (x, y) of the unit square; points outside fall into the nearest cell.
func (g *generator) cell(x, y float64) int {
	at := func(v float64, n int) int { return min(max(int(math.Floor(v*float64(n))), 0), n-1) }
	return at(y, g.rows)*g.cols + at(x, g.cols)
}
