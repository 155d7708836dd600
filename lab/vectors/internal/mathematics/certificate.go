package mathematics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/reals"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

// certificateIn is the text of a certificate (docs/certificates.md).
type certificateIn struct {
	Certificate string `json:"certificate"`
}

// certificateOut is what its evidence proves.
type certificateOut struct {
	Lower string `json:"lower"`           // rounded to 60 digits
	Upper string `json:"upper"`           // exactly
	Delta string `json:"delta,omitempty"` // of reports that are summed, rounded to 60 digits
}

// a certificate, but for its problem and evidence, which are structs.
type envelope struct {
	Format   string          `json:"format"`
	Kind     string          `json:"kind"`
	Problem  json.RawMessage `json:"problem"`
	Hash     string          `json:"problem_sha256"`
	Lower    string          `json:"lower"`
	Upper    string          `json:"upper"`
	Evidence json.RawMessage `json:"evidence"`
	Cost     json.RawMessage `json:"cost"`
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func marshal(v any) []byte {
	text, err := json.Marshal(v)
	values.Must(err == nil, "a certificate without a text")
	return text
}

func newEnvelope(kind string, problem, evidence any, lower, upper *big.Rat) envelope {
	text := marshal(problem)
	return envelope{"wpm-certificate-1", kind, text, hash(text), lower.String(), upper.String(), marshal(evidence),
		json.RawMessage("null")}
}

func (e envelope) in() certificateIn { return certificateIn{string(marshal(e))} }

// forge adds certificates whose hash is another's by a digit.
func (e envelope) forge(s *cases.Set) {
	old := e.Hash
	e.Hash = "0" + old[1:]
	if e.Hash == old {
		e.Hash = "1" + old[1:]
	}
	s.Invalid("hash", e.in())
}

// Certificate fills in the cases of the kind certificate: the kinds of them that are about many people. Claims that hold
// have room, so that no program must compute to the last digit; claims that do not hold are as near to the truth as
// their spelling allows, so that none may round to the wrong side.
func Certificate(s *cases.Set) {
	sums, bounds := 2, 2
	s.Until(240, 220, func(n int) {
		if n%2 == 0 {
			addSum(s, n/2, &sums)
		} else {
			addMinimax(s, n/2, &bounds)
		}
	})
}

// sum is a certificate of reports that are shuffled or summed.
type sum struct {
	problem struct {
		Clients int     `json:"clients"`
		Blanket string  `json:"blanket"`
		Epsilon float64 `json:"eps"`
		Delta   float64 `json:"delta"`
	}
	evidence struct {
		Central float64 `json:"central"`
		Edges   []int   `json:"edges"`
	}
	lower, upper *big.Rat
}

func (c sum) envelope() envelope {
	return newEnvelope("shuffled", c.problem, c.evidence, c.lower, c.upper)
}

func (c sum) clone() sum {
	c.evidence.Edges = slices.Clone(c.evidence.Edges)
	return c
}

// delta is that of the theorem at the edges of c, from its definition: sums over all counts, in 512 bits.
func (c sum) delta() *big.Float {
	if c.evidence.Central >= c.problem.Epsilon {
		return reals.Int(0)
	}
	one := reals.Int(1)
	g := reals.Rat(values.Rat(c.problem.Blanket))
	e, central := reals.Exp(reals.Float(c.problem.Epsilon)), reals.Exp(reals.Float(c.evidence.Central))
	f := reals.Quo(reals.Sub(one, g), reals.Mul(g, reals.Sub(e, one)))
	p, rest := f, reals.Sub(one, central) // the share of each of the two ends, and the value between them
	if reals.Add(f, f).Cmp(one) > 0 {
		p, rest = reals.Sub(one, f), reals.Mul(e, rest)
	}
	ends := [3]*big.Float{reals.Sub(e, central), reals.Sub(one, reals.Mul(e, central)), rest}
	most := c.problem.Clients - 1
	weights := binomial(most, g)
	total := reals.Int(0)
	edges := append(slices.Clone(c.evidence.Edges), most+1)
	for _, w := range weights[:edges[0]] {
		total = reals.Add(total, w)
	}
	for n, m := range edges[:len(edges)-1] {
		mass := reals.Int(0)
		for _, w := range weights[m:edges[n+1]] {
			mass = reals.Add(mass, w)
		}
		total = reals.Add(total, reals.Mul(mass, reals.Quo(reals.Mul(g, positive(m+1, p, ends)), reals.Int(int64(m+1)))))
	}
	return total
}

// binomial returns the probabilities of 0..n ones in n draws.
func binomial(n int, p *big.Float) []*big.Float {
	out := []*big.Float{reals.Int(1)}
	q := reals.Sub(reals.Int(1), p)
	for range n {
		next := make([]*big.Float, len(out)+1)
		for k := range next {
			next[k] = reals.Int(0)
		}
		for k, v := range out {
			next[k] = reals.Add(next[k], reals.Mul(v, q))
			next[k+1] = reals.Add(next[k+1], reals.Mul(v, p))
		}
		out = next
	}
	return out
}

// positive returns the mean of the positive part of m draws of one of three values: the first two with probability p.
func positive(m int, p *big.Float, v [3]*big.Float) *big.Float {
	sum := reals.Int(0)
	halves := binomial(0, reals.Float(0.5))
	for t, weight := range binomial(m, reals.Add(p, p)) {
		if t > 0 {
			halves = binomialNext(halves)
		}
		rest := reals.Mul(reals.Int(int64(m-t)), v[2])
		for a, w := range halves {
			x := reals.Add(rest, reals.Add(reals.Mul(reals.Int(int64(a)), v[0]), reals.Mul(reals.Int(int64(t-a)), v[1])))
			if x.Sign() > 0 {
				sum = reals.Add(sum, reals.Mul(reals.Mul(weight, w), x))
			}
		}
	}
	return sum
}

// binomialNext goes from n to n + 1 draws of a fair coin.
func binomialNext(out []*big.Float) []*big.Float {
	half, next := reals.Float(0.5), make([]*big.Float, len(out)+1)
	for k := range next {
		next[k] = reals.Int(0)
		for _, from := range []int{k - 1, k} {
			if from >= 0 && from < len(out) {
				next[k] = reals.Add(next[k], reals.Mul(half, out[from]))
			}
		}
	}
	return next
}

// newSum draws a problem, and any edges. Its claim is what it proves.
func newSum(r *values.RNG) (c sum, flags []string) {
	c.problem.Clients = values.Pick(r, 1, 2, 3, 5, 8, 13, 20, 20, 33, 50)
	eps := values.Pick(r, 0.125, 0.5, 1, 2, 4, 6.5, r.Float(), 5*r.Float(), 20)
	if eps == 20 {
		flags = append(flags, "large-eps")
	}
	least := math.Exp(-eps)
	g := values.Pick(r, big.NewRat(1, 1), big.NewRat(3, 4), big.NewRat(1, 2), big.NewRat(1, 5))
	if x, _ := g.Float64(); x < least*1.01 || r.Chance(60) {
		n := uint64((least*1.001 + (1-least*1.001)*math.Pow(r.Float(), 2)) * 0x1p62)
		g = new(big.Rat).SetFrac(values.Int(min(n, 1<<62)), values.Int(1<<62))
	}
	c.problem.Blanket, c.problem.Epsilon = g.String(), eps
	c.evidence.Central = eps * values.Pick(r, 0, 0.125, 0.5, r.Float(), r.Float(), 0.96875)
	for m := range c.problem.Clients {
		if r.Chance(40) {
			c.evidence.Edges = append(c.evidence.Edges, m)
		}
	}
	if len(c.evidence.Edges) == 0 {
		c.evidence.Edges = []int{0}
	}
	c.lower, c.upper = new(big.Rat), new(big.Rat).SetFloat64(c.evidence.Central)
	return c, flags
}

// addSum adds a certificate of reports that are summed, or one that is spoiled; so many of these with every fault.
func addSum(s *cases.Set, n int, whole *int) {
	r := &s.RNG
	c, flags := newSum(r)
	proved := c.delta()
	delta, _ := proved.Float64()
	if !(delta > 1e-12 && delta < 0.99) && c.problem.Clients > 1 && c.problem.Blanket != "1/1" {
		return
	}
	c.problem.Delta = max(delta*(1+1e-5), 1e-9) // and programs may differ by 10^-6 of it
	if c.problem.Delta >= 1 {
		return
	}
	if n%2 == 0 {
		switch r.Intn(5) {
		case 0:
			c.problem.Delta = math.Sqrt(c.problem.Delta)
		case 1:
			c.upper.Add(c.upper, big.NewRat(1, 3))
			c.lower.SetFrac64(-1, 7)
		case 2: // no less private than each report alone
			c.evidence.Central = c.problem.Epsilon * float64(values.Pick(r, 1, 2))
			c.problem.Delta, proved = 0x1p-40, reals.Int(0)
			c.upper.SetFloat64(c.evidence.Central)
		}
		s.Valid(c.envelope().in(), certificateOut{"0", new(big.Rat).SetFloat64(c.evidence.Central).RatString(),
			reals.Digits(proved)}, flags...)
		return
	}
	if *whole > 0 {
		*whole--
		faultsOfSums(s, c)
	}
	spoilSum(s, c, proved)
}

// faultsOfSums adds copies of a certificate that break one rule each, and nothing else: delta and the bounds have room.
func faultsOfSums(s *cases.Set, c sum) {
	c.problem.Delta = 0.9999
	c.upper = new(big.Rat).SetFloat64(2 * c.problem.Epsilon)
	n, edges := c.problem.Clients, c.evidence.Edges
	add := func(reason, flag string, change func(c *sum)) {
		d := c.clone()
		change(&d)
		s.Invalid(reason, d.envelope().in(), flag)
	}
	many := make([]int, 1025)
	for m := range many {
		many[m] = m
	}
	for _, e := range [][]int{{}, append([]int{-1}, edges...), append(slices.Clone(edges), n), append(slices.Clone(edges[:1]), edges...),
		append(slices.Clone(edges), edges[0])} {
		add("evidence", "wrong-order", func(c *sum) { c.evidence.Edges = e })
	}
	add("evidence", "long", func(c *sum) { c.problem.Clients, c.evidence.Edges = 2000, many })
	for _, central := range []float64{-0x1p-1074, -1} {
		add("evidence", "negative", func(c *sum) { c.evidence.Central = central })
	}
	for _, clients := range []int{0, -1, 100_000_001} {
		add("limit", "limit", func(c *sum) { c.problem.Clients, c.evidence.Edges = clients, []int{0} })
	}
	for _, eps := range []float64{-0x1p-1074, math.Nextafter(700, 1000)} {
		add("limit", "limit", func(c *sum) { c.problem.Epsilon, c.evidence.Central = eps, 701 })
	}
	for _, delta := range []float64{0, 1, -0x1p-1074, 1.5} { // of an eps' that needs none
		add("limit", "limit", func(c *sum) { c.problem.Delta, c.evidence.Central = delta, c.problem.Epsilon })
	}
	for _, g := range []string{"0/1", "-1/2", "9223372036854775807/9223372036854775806"} {
		add("limit", "limit", func(c *sum) { c.problem.Blanket, c.evidence.Central = g, c.problem.Epsilon })
	}
}

// spoilSum adds copies of a certificate with one fault each.
func spoilSum(s *cases.Set, c sum, proved *big.Float) {
	r := &s.RNG
	add := func(reason string, change func(c *sum), flags ...string) {
		d := c.clone()
		change(&d)
		s.Invalid(reason, d.envelope().in(), flags...)
	}
	n := c.problem.Clients
	switch r.Intn(9) {
	case 0, 1, 2: // the largest float below what is proved
		d, _ := proved.Float64()
		for d > 0 && reals.Float(d).Cmp(proved) >= 0 {
			d = math.Nextafter(d, 0)
		}
		if d > 1e-12 {
			add("evidence", func(c *sum) { c.problem.Delta = d }, "one-unit-out")
		}
	case 3, 4, 5: // of another problem, or for a smaller eps'
		d := c.clone()
		switch r.Intn(5) {
		case 0:
			d.problem.Clients--
			d.evidence.Edges = slices.DeleteFunc(d.evidence.Edges, func(m int) bool { return m >= n-1 })
		case 1:
			d.problem.Blanket = new(big.Rat).Mul(values.Rat(d.problem.Blanket), big.NewRat(15, 16)).String()
		case 2:
			d.problem.Epsilon *= 1.0625
		case 3:
			d.evidence.Central *= 0.9375
			d.upper.SetFloat64(d.evidence.Central)
		case 4:
			d.evidence.Edges = d.evidence.Edges[1:]
		}
		if len(d.evidence.Edges) == 0 || d.problem.Clients < 1 || d.over() {
			return
		}
		if reals.Less60(reals.Float(d.problem.Delta), d.delta()) {
			s.Invalid("evidence", d.envelope().in())
		}
	case 6: // e^eps times the blanket is a little less than all
		least := reals.Quo(reals.Float(0x1p62), reals.Exp(reals.Float(c.problem.Epsilon)))
		below, _ := least.Int(nil)
		add("limit", func(c *sum) {
			c.problem.Blanket = new(big.Rat).SetFrac(below, values.Int(1<<62)).String()
		}, "tight-ratio")
	case 7:
		add("claim", func(c *sum) {
			little := new(big.Rat).SetFrac64(1, 1<<62)
			if r.Chance(50) && c.upper.Sign() > 0 {
				c.upper.Sub(c.upper, little.Mul(little, c.upper))
			} else {
				c.lower.Set(little)
			}
		})
	case 8:
		c.envelope().forge(s)
	}
}

// over reports whether no row fits the blanket.
func (c sum) over() bool {
	g := reals.Rat(values.Rat(c.problem.Blanket))
	return reals.Mul(g, reals.Exp(reals.Float(c.problem.Epsilon))).Cmp(reals.Int(1)) < 0
}
