package mathematics

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/reals"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// bound is a certificate that no mechanism is nearer.
type bound struct {
	cost    [][]float64
	problem struct {
		Inputs  int     `json:"inputs"`
		Outputs int     `json:"outputs"`
		Cost    string  `json:"cost_sha256"`
		Epsilon float64 `json:"eps"`
		Clients int     `json:"clients"`
	}
	evidence struct {
		Poles     []int     `json:"poles"`
		Radius    []float64 `json:"radius"`
		Mass      []float64 `json:"mass"`
		Amplitude float64   `json:"amplitude"`
		Root      float64   `json:"root"`
		Exponent  float64   `json:"exponent"`
		Centre    int       `json:"centre"`
	}
	lower, upper *big.Rat
}

func (b bound) envelope() envelope {
	cost := marshal(struct {
		Kind string      `json:"kind"`
		C    [][]float64 `json:"C"`
	}{"explicit", b.cost})
	b.problem.Cost = hash(cost)
	e := newEnvelope("minimax", b.problem, b.evidence, b.lower, b.upper)
	e.Cost = cost
	return e
}

func (b bound) clone() bound {
	b.evidence.Poles, b.evidence.Radius = slices.Clone(b.evidence.Poles), slices.Clone(b.evidence.Radius)
	b.evidence.Mass = slices.Clone(b.evidence.Mass)
	cost := make([][]float64, len(b.cost))
	for i := range cost {
		cost[i] = slices.Clone(b.cost[i])
	}
	b.cost, b.lower, b.upper = cost, new(big.Rat).Set(b.lower), new(big.Rat).Set(b.upper)
	return b
}

// tents returns how much more than the cost sums of the tents with signs rise, and whether each place is in one at most.
func (b bound) tents() (over *big.Rat, ok bool) {
	c, h := values.Matrix(b.cost), exact.Rats(b.evidence.Radius)
	in, high := make([]int, len(c)), make([]*big.Rat, len(c))
	for z := range c {
		in[z], high[z] = -1, new(big.Rat)
		for i, a := range b.evidence.Poles {
			if d := exact.Sub(h[i/2], c[z][a]); d.Sign() > 0 {
				if in[z] >= 0 {
					return nil, false
				}
				in[z], high[z] = i, d
			}
		}
	}
	over = new(big.Rat)
	for y := range c {
		for z := range c {
			rise := new(big.Rat).Add(high[y], high[z])
			if in[y] == in[z] {
				rise.Sub(high[y], high[z])
				rise.Abs(rise)
			}
			if rise.Sub(rise, c[y][z]); y != z && rise.Cmp(over) > 0 {
				over = rise
			}
		}
	}
	return over, true
}

// prove returns what b proves, from the formulas of docs/algorithms/minimax.md, or what is wrong with it.
func (b bound) prove() (lower *big.Float, ok bool) {
	over, ok := b.tents()
	if !ok || !b.tangent() {
		return nil, false
	}
	one, two := reals.Int(1), reals.Int(2)
	eta, s, x := reals.Float(b.evidence.Amplitude), reals.Float(b.evidence.Root), reals.Float(b.evidence.Exponent)
	total, high, largest, steep := reals.Int(0), reals.Int(0), reals.Int(0), reals.Int(0)
	for _, m := range b.evidence.Mass {
		total = reals.Add(total, reals.Float(m))
	}
	for j, m := range b.evidence.Mass {
		u, h := reals.Quo(reals.Float(m), total), reals.Float(b.evidence.Radius[j])
		high = reals.Add(high, reals.Mul(u, h))
		if u.Cmp(largest) > 0 {
			largest = u
		}
		if v := reals.Mul(reals.Mul(u, u), h); v.Cmp(steep) > 0 {
			steep = v
		}
	}
	e := reals.Exp(reals.Float(b.problem.Epsilon))
	kappa := reals.Sub(e, one)
	root := func(x *big.Float) *big.Float { return reals.New().Sqrt(x) }
	phi := reals.Quo(kappa, reals.Add(root(e), root(reals.Sub(e, reals.Mul(kappa, eta)))))
	phi = reals.Mul(phi, phi)
	z := reals.Quo(reals.Mul(reals.Mul(eta, eta), reals.Mul(largest, phi)), two)
	if z.Cmp(one) >= 0 {
		return nil, false
	}
	c := reals.Add(one, reals.Add(reals.Quo(z, two),
		reals.Quo(reals.Mul(z, z), reals.Mul(reals.Int(3), reals.Sub(one, z)))))
	t := reals.Quo(reals.Sub(one, reals.Mul(s, s)), reals.Mul(two, s))
	gain := reals.Mul(reals.Mul(eta, high), reals.Add(reals.Sub(one, s), reals.Mul(t, x)))
	paid := reals.Mul(reals.Mul(t, reals.Mul(eta, reals.Mul(eta, eta))),
		reals.Mul(reals.Mul(steep, reals.Int(int64(b.problem.Clients))), reals.Mul(c, phi)))
	lower = reals.Sub(reals.Sub(gain, paid), reals.Rat(over))
	if lower.Sign() < 0 {
		lower = reals.Int(0)
	}
	return lower, true
}

// tangent reports whether e^x (1 - s^2) <= 1.
func (b bound) tangent() bool {
	s := reals.Float(b.evidence.Root)
	return reals.Mul(reals.Exp(reals.Float(b.evidence.Exponent)), reals.Sub(reals.Int(1), reals.Mul(s, s))).Cmp(reals.Int(1)) <= 0
}

// costOf draws distances between k places: of points on a line, of blocks, of points of the plane rounded to floats, of
// a slope, which are not the same both ways, or any numbers, which are none.
func costOf(r *values.RNG, k int) [][]float64 {
	way, scale := r.Intn(5), values.Pick(r, 1, 1, 0.125, 1024)
	x, y := make([]float64, k), make([]float64, k)
	for i := range k {
		x[i], y[i] = float64(r.Intn(24)), float64(r.Intn(24))
	}
	c := make([][]float64, k)
	for i := range c {
		c[i] = make([]float64, k)
		for j := range c[i] {
			dx, dy := math.Abs(x[i]-x[j]), math.Abs(y[i]-y[j])
			switch way {
			case 0:
				c[i][j] = scale * dx
			case 1:
				c[i][j] = scale * (dx + dy)
			case 2:
				c[i][j] = scale * math.Sqrt(dx*dx+dy*dy)
			case 3: // uphill is farther
				c[i][j] = scale * (dx + max(0, x[j]-x[i]))
			case 4:
				if i != j {
					c[i][j] = scale * float64(r.Between(4, 12))
				}
			}
		}
	}
	return c
}

// newBound draws places, pairs of poles among them, and a tangent near the least value.
func newBound(r *values.RNG) (b bound, flags []string, ok bool) {
	k := values.Pick(r, 2, 2, 3, 4, 5, 6)
	b.cost = costOf(r, k)
	b.problem.Inputs, b.problem.Outputs = k, k
	b.problem.Epsilon = values.Pick(r, 0, 0.125, 0.5, 1, 2, 4, r.Float(), 6*r.Float(), 20)
	b.problem.Clients = values.Pick(r, 0, 1, 2, 10, 100, 3000, 1<<30)
	switch b.problem.Epsilon {
	case 0:
		flags = append(flags, "zero-eps")
	case 20:
		flags = append(flags, "large-eps")
	}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	for i := k - 1; i > 0; i-- {
		j := r.Intn(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	pairs := r.Between(1, k/2)
	b.evidence.Poles = order[:2*pairs]
	for j := range pairs {
		least := math.Inf(1)
		for _, a := range b.evidence.Poles[2*j : 2*j+2] {
			for _, o := range b.evidence.Poles {
				if a != o {
					least = min(least, b.cost[a][o], b.cost[o][a])
				}
			}
		}
		h := least / 2 * values.Pick(r, 1, 1, 1, 0.75, 1.0625) // the last one rises by more than the cost
		if !(h > 0) {
			return b, nil, false
		}
		b.evidence.Radius = append(b.evidence.Radius, h)
		b.evidence.Mass = append(b.evidence.Mass, values.Pick(r, 1, 1, 0.5, r.Float()+0x1p-20))
	}
	b.evidence.Centre = r.Intn(k)
	b.aim(values.Pick(r, 0.125, 0.5, 1, 1, 2))
	most := 0.0
	for _, row := range b.cost {
		most = max(most, row[b.evidence.Centre])
	}
	b.lower, b.upper = new(big.Rat), new(big.Rat).SetFloat64(most)
	return b, flags, true
}

// aim chooses an amplitude and a tangent at about so many times the exponent that mechanisms can have.
func (b *bound) aim(times float64) {
	sum, inverse := 0.0, 0.0
	for _, m := range b.evidence.Mass {
		sum += m
	}
	for _, m := range b.evidence.Mass {
		inverse += sum / m
	}
	e := math.Exp(b.problem.Epsilon)
	eta := 1.0
	at := func() float64 {
		r := (e - 1) / (math.Sqrt(e) + math.Sqrt(e-(e-1)*eta))
		return eta * eta * float64(b.problem.Clients) * r * r / inverse
	}
	for at() > 1 {
		eta /= 2
	}
	b.evidence.Amplitude = eta
	b.evidence.Exponent = math.Round(max(times*at(), 0x1p-10)*0x1p20) * 0x1p-20
	s := math.Sqrt(-math.Expm1(-b.evidence.Exponent))
	for b.evidence.Root = s * (1 - 0x1p-40); !b.tangent(); {
		s += s * 0x1p-52
		b.evidence.Root = s
	}
	for {
		below := b.evidence.Root
		b.evidence.Root = math.Nextafter(below, 0)
		if !b.tangent() {
			b.evidence.Root = below // the least that will do
			return
		}
	}
}

// addMinimax adds a certificate that nobody is nearer, or one that is spoiled; so many of these with every fault.
func addMinimax(s *cases.Set, n int, whole *int) {
	r := &s.RNG
	b, flags, ok := newBound(r)
	if !ok {
		return
	}
	lower, ok := b.prove()
	if !ok {
		if _, fits := b.tents(); fits {
			flags = append(flags, "limit") // one report may tell a sign
		}
		s.Invalid("evidence", b.envelope().in(), flags...)
		return
	}
	if over, _ := b.tents(); over.Sign() > 0 {
		flags = append(flags, "outside")
	}
	b.lower = rounded(reals.Mul(lower, reals.Float(1-0x1p-40)))
	if n%2 == 0 {
		switch r.Intn(4) {
		case 0:
			b.lower.Mul(b.lower, big.NewRat(2, 3))
			b.upper.Mul(b.upper, big.NewRat(4, 3))
		case 1:
			b.lower.SetFrac64(-1, 7)
		}
		s.Valid(b.envelope().in(), certificateOut{Lower: reals.Digits(lower), Upper: upperOf(b).RatString()}, flags...)
		return
	}
	if *whole > 0 && len(b.evidence.Mass) > 1 {
		*whole--
		faultsOfBounds(s, b)
	}
	if over, _ := b.tents(); over.Sign() > 0 {
		slightly(s, b, lower) // as if tents that are too steep were free
	}
	spoilBound(s, b, lower)
}

// slightly adds a claim that is next to nothing above what is proved.
func slightly(s *cases.Set, b bound, lower *big.Float) {
	if b.lower = rounded(reals.Mul(lower, reals.Add(reals.Int(1), reals.Float(0x1p-190)))); b.lower.Sign() == 0 {
		b.lower.SetFrac64(1, 1<<62)
	}
	s.Invalid("claim", b.envelope().in(), "one-unit-out")
}

// faultsOfBounds adds copies of a certificate that break one rule each, and nothing else: what they claim is next to nothing.
func faultsOfBounds(s *cases.Set, b bound) {
	b.lower, b.upper = new(big.Rat), new(big.Rat).SetFloat64(1e6)
	k, pairs := len(b.cost), len(b.evidence.Mass)
	add := func(reason, flag string, change func(b *bound)) {
		c := b.clone()
		change(&c)
		s.Invalid(reason, c.envelope().in(), flag)
	}
	e := b.evidence
	for _, s := range []float64{0, 1, -e.Root, 1.5} {
		add("evidence", "limit", func(b *bound) { b.evidence.Root = s })
	}
	for _, x := range []float64{-e.Exponent, math.Nextafter(700, 1000)} {
		add("evidence", "limit", func(b *bound) { b.evidence.Exponent = x })
	}
	for _, eta := range []float64{0, -e.Amplitude, math.Nextafter(1, 2)} {
		add("evidence", "limit", func(b *bound) { b.evidence.Amplitude = eta })
	}
	for _, v := range []float64{0, -0x1p-1074} {
		add("evidence", "negative", func(b *bound) { b.evidence.Mass[pairs-1] = v })
		add("evidence", "negative", func(b *bound) { b.evidence.Radius[pairs-1] = v })
	}
	add("evidence", "short", func(b *bound) { b.evidence.Mass = e.Mass[1:] })
	add("evidence", "long", func(b *bound) { b.evidence.Mass = append(b.evidence.Mass, 1) })
	add("evidence", "short", func(b *bound) { b.evidence.Radius, b.evidence.Mass = e.Radius[1:], e.Mass[1:] })
	add("evidence", "short", func(b *bound) { b.evidence.Poles = e.Poles[:2*pairs-1] })
	for _, place := range []int{-1, k} {
		add("evidence", "limit", func(b *bound) { b.evidence.Centre = place })
		add("evidence", "limit", func(b *bound) { b.evidence.Poles[0] = place })
	}
	add("evidence", "tie", func(b *bound) { b.evidence.Poles[0] = e.Poles[1] })
	for _, people := range []int{-1, 1<<30 + 1} {
		add("limit", "limit", func(b *bound) { b.problem.Clients = people })
	}
	for _, eps := range []float64{-0x1p-1074, math.Nextafter(700, 1000)} {
		add("limit", "limit", func(b *bound) { b.problem.Epsilon = eps })
	}
	// a cost that is better than the one that the problem names
	text := b.envelope()
	c := b.clone()
	c.cost[e.Poles[0]][e.Poles[1]]++
	text.Cost = c.envelope().Cost
	s.Invalid("hash", text.in())
}

func upperOf(b bound) *big.Rat {
	most := 0.0
	for _, row := range b.cost {
		most = max(most, row[b.evidence.Centre])
	}
	return new(big.Rat).SetFloat64(most)
}

// rounded returns a fraction within a relative 2^-200.
func rounded(x *big.Float) *big.Rat {
	out, _ := new(big.Float).SetPrec(200).Set(x).Rat(nil)
	if out == nil {
		return new(big.Rat)
	}
	return out
}

// spoilBound adds copies of a certificate with one fault each.
func spoilBound(s *cases.Set, b bound, lower *big.Float) {
	r := &s.RNG
	add := func(reason string, change func(b *bound), flags ...string) {
		c := b.clone()
		change(&c)
		s.Invalid(reason, c.envelope().in(), flags...)
	}
	switch r.Intn(13) {
	case 0, 1, 2: // next to nothing above what is proved
		slightly(s, b, lower)
	case 3:
		add("claim", func(b *bound) { b.upper.Mul(upperOf(*b), new(big.Rat).SetFrac64(1<<62-1, 1<<62)) }, "one-unit-out")
	case 4, 5, 6, 7: // of another problem, or by other evidence
		c := b.clone()
		otherBound(r, &c)
		if v, ok := c.prove(); ok && reals.Rat(c.lower).Cmp(v) > 0 {
			s.Invalid("claim", c.envelope().in())
		}
	case 8:
		add("evidence", func(b *bound) {
			b.evidence.Root = math.Nextafter(b.evidence.Root, 0)
			b.lower.SetInt64(0)
		}, "one-unit-out")
	case 9:
		add("evidence", func(b *bound) {
			x := b.evidence.Exponent
			for b.tangent() {
				b.evidence.Exponent += x * 0x1p-52
			}
			b.lower.SetInt64(0)
		}, "one-unit-out")
	default:
		spoilCost(s, b)
	}
}

// otherBound changes a number that the bound falls with.
func otherBound(r *values.RNG, c *bound) {
	j := r.Intn(len(c.evidence.Radius))
	switch r.Intn(7) {
	case 0:
		c.problem.Clients = min(1<<30, c.problem.Clients+1+c.problem.Clients/8)
	case 1:
		c.problem.Epsilon = c.problem.Epsilon*1.125 + 0.125
	case 2:
		c.evidence.Radius[j] *= values.Pick(r, 0.875, 1.5)
	case 3:
		c.evidence.Mass[j] *= values.Pick(r, 0.5, 4)
	case 4:
		c.evidence.Amplitude *= values.Pick(r, 0.75, 1.25)
		c.evidence.Amplitude = min(1, c.evidence.Amplitude)
	case 5:
		c.evidence.Root = (c.evidence.Root + 1) / 2
	case 6: // distances that are half as large
		for _, row := range c.cost {
			for i := range row {
				row[i] /= 2
			}
		}
	}
}

// spoilCost spoils a hash, the cost of a pole to itself, or a distance.
func spoilCost(s *cases.Set, b bound) {
	r := &s.RNG
	c := b.clone()
	pole := c.evidence.Poles[r.Intn(len(c.evidence.Poles))]
	switch r.Intn(3) {
	case 0:
		c.envelope().forge(s)
	case 1:
		c.cost[pole][pole] = 0x1p-30
		c.lower.SetInt64(0)
		s.Invalid("evidence", c.envelope().in())
	case 2: // the other way is shorter: two tents meet
		other := c.evidence.Poles[r.Intn(len(c.evidence.Poles))]
		if pole != other {
			c.cost[other][pole] /= 64
			c.lower.SetInt64(0)
			s.Invalid("evidence", c.envelope().in())
		}
	}
}
