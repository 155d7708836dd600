package proptest

import (
	"errors"
	"flag"
	"io"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Tests of the tests. Every law accepts the reference implementation and rejects at least one planted error;
// every planted error names the laws that must reject it.

// recorder is the testing.TB that a law fails on when it should.
type recorder struct{ failed bool }

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "planted" }
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Log(...any)            {}
func (r *recorder) Skipf(string, ...any)  { r.SkipNow() }
func (r *recorder) Skip(...any)           { r.SkipNow() }
func (r *recorder) SkipNow()              { runtime.Goexit() }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) FailNow()              { r.failed = true; runtime.Goexit() }
func (r *recorder) Fail()                 { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }

// mutantChecks is how many cases a law has to find a planted error. The rarest is found in about one case of
// three hundred, so a miss has probability e^-13 over the choice of the seed; the seed is fixed all the same.
const mutantChecks = 4000

// rejects runs a law without shrinking, fail files and random seeds.
func rejects(t *testing.T, check func(*rapid.T)) bool {
	t.Helper()
	checks := mutantChecks
	if testing.Short() {
		checks *= 5 // rapid divides by 5
	}
	for name, value := range map[string]string{
		"rapid.checks": big.NewInt(int64(checks)).String(), "rapid.nofailfile": "true", "rapid.shrinktime": "0s", "rapid.seed": "1",
	} {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		defer flag.Set(name, old)
	}
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(r, check)
	}()
	<-done
	return r.failed
}

// A mutant is an implementation with one planted error.
type mutant[I any] struct {
	name   string
	impl   I
	killed []string // the laws that must reject it
}

func testLaws[I any](t *testing.T, laws []Law[I], good I, mutants []mutant[I]) {
	t.Run("reference", func(t *testing.T) { Run(t, laws, good) })
	kills := map[string]bool{}
	for _, m := range mutants {
		for _, name := range m.killed {
			kills[name] = true
		}
		t.Run("mutant/"+m.name, func(t *testing.T) {
			for _, name := range m.killed {
				at := slices.IndexFunc(laws, func(l Law[I]) bool { return l.Name == name })
				if at < 0 {
					t.Fatalf("no law %q", name)
				}
				if !rejects(t, func(t *rapid.T) { laws[at].Check(t, m.impl) }) {
					t.Errorf("%s accepts a planted error: %s", name, m.name)
				}
			}
		})
	}
	for _, l := range laws { // counted apart from the subtests, which -run may leave out
		if !kills[l.Name] {
			t.Errorf("no planted error for %s", l.Name)
		}
	}
}

func TestVerifyLaws(t *testing.T) {
	floats := func(eps *big.Rat, lo, hi []uint64, bits int) error {
		var sl, sh float64
		for j := range lo {
			if lo[j] > hi[j] || float64(hi[j]) > math.Exp(float(eps))*float64(lo[j]) {
				return errors.New("ratio")
			}
			sl, sh = sl+float64(lo[j]), sh+float64(hi[j])
		}
		if total := math.Ldexp(1, bits); sl > total || sh < total {
			return errors.New("mass")
		}
		return nil
	}
	testLaws(t, VerifyLaws(), refVerify, []mutant[VerifyFunc]{
		{"compares in floats", floats, []string{"PolytopeIf"}},
		{"accepts one unit too many", func(eps *big.Rat, lo, hi []uint64, bits int) error {
			low := slices.Clone(hi)
			for j := range low {
				low[j] = max(low[j], 1) - 1
				low[j] = max(low[j], lo[j])
			}
			if err := refVerify(eps, lo, low, bits); err == nil {
				return nil
			}
			return refVerify(eps, lo, hi, bits)
		}, []string{"PolytopeIf"}},
		{"forgets the sums", func(eps *big.Rat, lo, hi []uint64, bits int) error {
			e := newExpo(eps)
			for j := range lo {
				if lo[j] > hi[j] || !e.holds(hi[j], lo[j]) {
					return errors.New("ratio")
				}
			}
			return nil
		}, []string{"PolytopeIf"}},
		{"forgets lo <= hi", func(eps *big.Rat, lo, hi []uint64, bits int) error {
			h := slices.Clone(hi)
			for j := range h {
				h[j] = max(h[j], lo[j])
			}
			return refVerify(eps, lo, h, bits)
		}, []string{"PolytopeIf"}},
		{"takes e^eps for 1 + eps", func(eps *big.Rat, lo, hi []uint64, bits int) error {
			for j := range lo {
				if float64(hi[j]) > (1+float(eps))*float64(lo[j]) {
					return errors.New("ratio")
				}
			}
			return refVerify(eps, lo, hi, bits)
		}, []string{"PolytopeIf", "PolytopeOnlyIf"}},
		{"allows e^(2 eps)", func(eps *big.Rat, lo, hi []uint64, bits int) error {
			return refVerify(add(eps, eps), lo, hi, bits)
		}, []string{"PolytopeIf", "PolytopeOnlyIf"}},
	})
}

// editedBox is a refBox with other bounds or another rounding.
type editedBox struct {
	*refBox
	round func(b *refBox, q []float64) []uint64
}

func (b editedBox) Round(q []float64) []uint64 { return b.round(b.refBox, q) }

func withRound(round func(b *refBox, q []float64) []uint64) NewBox {
	return func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
		b, err := makeRefBox(eps, m, bits)
		return editedBox{b, round}, err
	}
}

func withBounds(edit func(b *refBox)) NewBox {
	return func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
		b, err := makeRefBox(eps, m, bits)
		edit(b)
		return b, err
	}
}

// spread gives the missing units to the first columns, whatever their bounds.
func spread(n []uint64, bits int) []uint64 {
	rest := uint64(1) << bits
	for j := range n {
		n[j] = min(n[j], rest)
		rest -= n[j]
	}
	n[0] += rest
	return n
}

func TestBoxLaws(t *testing.T) {
	testLaws(t, BoxLaws(), newRefBox, []mutant[NewBox]{
		{"swaps alpha and beta", func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			b, err := makeRefBox(eps, m, bits)
			b.lo, b.hi = b.hi, b.lo
			return b, err
		}, []string{"BoxOfBaseMeasure"}},
		{"rounds hi up", withBounds(func(b *refBox) {
			for j := range b.hi {
				if b.hi[j] > 0 {
					b.hi[j]++
				}
			}
		}), []string{"BoxOfBaseMeasure"}},
		{"keeps columns without mass", withBounds(func(b *refBox) {
			for j := range b.lo {
				if b.lo[j] == 0 {
					b.lo[j], b.hi[j] = 1, 1
				}
			}
		}), []string{"BoxOfBaseMeasure"}},
		{"does not repair the sums", func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			b := &refBox{bits: bits}
			e := newExpo(eps)
			for _, v := range m {
				lo := uint64(math.Ceil(math.Ldexp(v*math.Exp(-float(eps)/2), bits)))
				b.lo, b.hi = append(b.lo, lo), append(b.hi, e.floor(lo, 1<<bits))
			}
			return b, nil
		}, []string{"BoxOfBaseMeasure"}},
		{"uses half of m", func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			half := clone(m)
			for j := range half {
				half[j] /= 2
			}
			return newRefBox(eps, half, bits)
		}, []string{"BoxOfBaseMeasure"}},
		{"writes to m", func(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
			b, err := makeRefBox(eps, m, bits)
			m[0] /= 3
			return b, err
		}, []string{"BoxOfBaseMeasure", "RoundInBox"}},
		{"renormalises by dividing by the sum", withRound(func(b *refBox, q []float64) []uint64 {
			x := b.cutTo(q)
			n, sum := make([]uint64, len(x)), float(sumRat(x))
			for j := range x {
				n[j] = uint64(math.Min(float(x[j])/sum, 1) * math.Ldexp(1, b.bits))
			}
			return spread(n, b.bits)
		}), []string{"RoundInBox"}},
		{"corrects one side only", withRound(func(b *refBox, q []float64) []uint64 {
			x := b.cutTo(q) // the upper bound is kept, the missing mass goes anywhere
			n := make([]uint64, len(x))
			for j, v := range x {
				n[j] = new(big.Int).Quo(v.Num(), v.Denom()).Uint64()
			}
			return spread(n, b.bits)
		}), []string{"RoundInBox"}},
		{"does not move mass at all", withRound(func(b *refBox, q []float64) []uint64 {
			n := make([]uint64, len(b.lo))
			for j, v := range b.cutTo(q) {
				n[j] = new(big.Int).Quo(v.Num(), v.Denom()).Uint64()
			}
			return n
		}), []string{"RoundInBox"}},
		{"ignores q", withRound(func(b *refBox, _ []float64) []uint64 {
			return fill(b.lo, b.hi, 1<<b.bits, func(j int) float64 { return float64(j) })
		}), []string{"RoundInBox"}},
		{"trusts a wrong length", withRound(func(b *refBox, q []float64) []uint64 {
			n := b.Round(q)
			return n[:min(len(n), len(q))]
		}), []string{"RoundInBox"}},
	})
}

// edited makes a mechanism whose weights are changed after the fact.
func edited(edit func(b *refBox, mu []float64, n []uint64) []uint64) NewMechanism {
	return func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
		inner, err := newRefMechanism(c, eps, m, bits)
		return weightsFunc(func(mu []float64) ([]uint64, error) {
			n, err := inner.Weights(mu)
			if err != nil {
				return nil, err
			}
			return edit(inner.(refMechanism).box.(*refBox), mu, n), nil
		}), err
	}
}

type weightsFunc func(mu []float64) ([]uint64, error)

func (f weightsFunc) Weights(mu []float64) ([]uint64, error) { return f(mu) }

func TestMechanismLaws(t *testing.T) {
	testLaws(t, MechanismLaws(), newRefMechanism, []mutant[NewMechanism]{
		{"spends twice eps", func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
			return newRefMechanism(c, add(eps, eps), m, bits)
		}, []string{"ProjectionLDP"}},
		{"tunes the base measure on the input", func(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
			return weightsFunc(func(mu []float64) ([]uint64, error) {
				own := clone(m)
				if len(mu) > 1 && mu[0] > 0.5 {
					slices.Reverse(own)
				}
				inner, err := newRefMechanism(c, eps, own, bits)
				if err != nil {
					return nil, err
				}
				return inner.Weights(mu)
			}), nil
		}, []string{"ProjectionLDP"}},
		{"drops outputs of little mass", edited(func(b *refBox, _ []float64, n []uint64) []uint64 {
			for j := range n {
				if n[j] < 1<<b.bits/1000 {
					n[j] = 0
				}
			}
			return spread(n, b.bits)
		}), []string{"ProjectionLDP"}},
		{"loses a unit", edited(func(_ *refBox, _ []float64, n []uint64) []uint64 {
			n[len(n)-1]--
			return n
		}), []string{"ProjectionLDP"}},
		{"one unit beyond the box for a point mass", edited(func(b *refBox, mu []float64, n []uint64) []uint64 {
			if slices.Max(mu) == 1 && len(mu) > 1 {
				for j := range n {
					if n[j] == b.hi[j] && n[j] > 0 {
						for i := range n {
							if i != j && n[i] > b.lo[i] {
								n[j]++
								n[i]--
								return n
							}
						}
					}
				}
			}
			return n
		}), []string{"ProjectionLDP"}},
	})
}

func TestChannelLaws(t *testing.T) {
	rowsOf := func(key func(c []float64, j int) float64) NewChannel {
		return func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
			ch, err := refChannel(c, eps, m, bits)
			for i := range ch.Rows {
				ch.Rows[i] = fill(ch.Lo, ch.Hi, 1<<bits, func(j int) float64 { return key(c[i], j) })
			}
			return ch, err
		}
	}
	testLaws(t, ChannelLaws(), refChannel, []mutant[NewChannel]{
		{"fills the dearest first", rowsOf(func(c []float64, j int) float64 { return -c[j] }), []string{"DiracMixture"}},
		{"compares costs in float32", rowsOf(func(c []float64, j int) float64 { return float64(float32(c[j])) }), []string{"DiracMixture"}},
		{"puts all mass on the nearest output", func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
			ch, err := refChannel(c, eps, m, bits)
			for i, row := range ch.Rows {
				best := 0
				for j := range row {
					if c[i][j] < c[i][best] {
						best = j
					}
				}
				clear(row)
				row[best] = 1 << bits
			}
			return ch, err
		}, []string{"DiracMixture"}},
		{"lifts only one bound", func(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
			ch, err := refChannel(c, eps, m, bits)
			ch.Hi = slices.Clone(ch.Hi)
			ch.Hi[0] = 1 << bits
			return ch, err
		}, []string{"DiracMixture"}},
	})
}

func TestSamplerLaws(t *testing.T) {
	wrap := func(f func(weights []uint64, bits int, r io.Reader) (int, error)) NewSampler {
		return func(weights []uint64, bits int) (func(io.Reader) (int, error), error) {
			return func(r io.Reader) (int, error) { return f(weights, bits, r) }, nil
		}
	}
	scan := func(weights []uint64, x uint64) int {
		for j, n := range weights {
			if x < n {
				return j
			}
			x -= n
		}
		return len(weights) - 1
	}
	testLaws(t, SamplerLaws(), refSampler, []mutant[NewSampler]{
		{"modulo bias", wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			if _, err := io.ReadFull(r, b); err != nil {
				return -1, err
			}
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, x%(1<<bits-1)), nil
		}), []string{"SampleExact"}},
		{"off by one", wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			if _, err := io.ReadFull(r, b); err != nil {
				return -1, err
			}
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, max(x&(1<<bits-1), 1)-1), nil
		}), []string{"SampleExact"}},
		{"keeps the bits above B", wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			if _, err := io.ReadFull(r, b); err != nil {
				return -1, err
			}
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, x), nil
		}), []string{"SampleExact"}},
		{"takes a short read for zeros", wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			_, _ = io.ReadFull(r, b)
			x := uint64(b[0])
			if len(b) > 1 {
				x |= uint64(b[1]) << 8
			}
			return scan(weights, x&(1<<bits-1)), nil
		}), []string{"SampleExact"}},
		{"reads eight bytes always", wrap(func(weights []uint64, bits int, r io.Reader) (int, error) {
			b := make([]byte, 8)
			if n, err := r.Read(b); err != nil || n < (bits+7)/8 {
				return -1, io.ErrUnexpectedEOF
			}
			return scan(weights, (uint64(b[0])|uint64(b[1])<<8)&(1<<bits-1)), nil
		}), []string{"SampleExact"}},
	})
}

// on changes the problem before the reference solves it; after changes the answer.
func on(change func(p *Problem)) Projector {
	return ProjectorFunc(func(p Problem) (Projection, error) {
		q := p.Clone()
		change(&q)
		return refProject(q)
	})
}

func after(change func(p Problem, r *Projection)) Projector {
	return ProjectorFunc(func(p Problem) (Projection, error) {
		r, err := refProject(p)
		if err == nil {
			change(p, &r)
		}
		return r, err
	})
}

// say makes every number of the answer v.
func say(r *Projection, v float64) {
	r.Objective, r.Lower, r.Upper = v, v, v
	r.Verify = func() (upper, lower *big.Rat, err error) { return rat(v), rat(v), nil }
}

// mixture is q_mix = sum mu_i ν_i and what its plan costs.
func mixture(p Problem) float64 {
	mu, err1 := normalised(p.Mu)
	l, h, err2 := exactBox(p.Lo, p.Hi)
	if err1 != nil || err2 != nil {
		return math.NaN()
	}
	v := new(big.Rat)
	for i := range mu {
		phi, _ := greedy(ratsOf(p.C[i]), l, h)
		v.Add(v, mul(mu[i], phi))
	}
	return float(v)
}

// northWest is a feasible plan that looks at no cost: rows in order, columns in order.
func northWest(p Problem) float64 {
	r, err := refProject(Problem{C: [][]float64{make([]float64, len(p.Lo))}, Mu: []float64{1}, Lo: p.Lo, Hi: p.Hi})
	if err != nil {
		return math.NaN()
	}
	mu, q := clone(p.Mu), clone(r.Q)
	v := 0.0
	for i, j := 0, 0; i < len(mu) && j < len(q); {
		d := min(mu[i], q[j])
		v += d * p.C[i][j]
		mu[i] -= d
		q[j] -= d
		if mu[i] <= q[j] {
			i++
		} else {
			j++
		}
	}
	return v
}

func TestProjectorLaws(t *testing.T) {
	testLaws(t, ProjectorLaws(), Projector(ProjectorFunc(refProject)), []mutant[Projector]{
		{"forgets the lower bounds", on(func(p *Problem) { clear(p.Lo) }),
			[]string{"ProjectInBox", "FlowEquivalence", "WeakDuality", "DiracReduction"}},
		{"forgets the upper bounds", on(func(p *Problem) {
			for j := range p.Hi {
				p.Hi[j] = 1
			}
		}), []string{"ProjectInBox", "FlowEquivalence"}},
		{"renormalises by dividing by the sum", after(func(p Problem, r *Projection) {
			sum := 0.0
			for _, v := range r.Q {
				sum += v
			}
			for j := range r.Q {
				r.Q[j] *= 1 / sum
			}
		}), []string{"ProjectInBox"}},
		{"clamps and leaves the mass", after(func(p Problem, r *Projection) {
			for j := range r.Q {
				r.Q[j] = min(r.Q[j], p.Lo[j])
			}
		}), []string{"ProjectInBox"}},
		{"moves q by an ulp", after(func(p Problem, r *Projection) {
			for j := range r.Q {
				r.Q[j] = math.Nextafter(r.Q[j], 2)
			}
		}), []string{"ProjectInBox"}},
		{"says NaN", after(func(p Problem, r *Projection) {
			if len(p.Mu) == 3 {
				r.Objective = math.NaN()
			}
		}), []string{"FlowEquivalence"}},
		{"sorts its input", ProjectorFunc(func(p Problem) (Projection, error) {
			r, err := refProject(p)
			slices.Sort(p.Mu)
			return r, err
		}), []string{"ProjectInBox", "ProjectMonotone"}},
		{"is the mixture, not the projection", after(func(p Problem, r *Projection) { say(r, mixture(p)) }),
			[]string{"FlowEquivalence", "WeakDuality", "UniformOptimality", "DiracReduction"}},
		{"takes the first plan that fits", after(func(p Problem, r *Projection) { say(r, northWest(p)) }),
			[]string{"FlowEquivalence", "WeakDuality", "ProjectPermutation", "ProjectMonotone", "UniformOptimality", "DiracReduction", "DiracMSE"}},
		{"does not normalise mu", after(func(p Problem, r *Projection) {
			s := 0.0
			for _, m := range p.Mu {
				s += m
			}
			say(r, r.Objective*s)
		}), []string{"FlowEquivalence"}},
		{"drops rows of little mass", on(func(p *Problem) {
			for i, m := range p.Mu {
				if m < 1e-3 {
					p.Mu[i] = 0
				}
			}
			normalise(p.Mu, 1)
		}), []string{"FlowEquivalence", "ProjectShift"}},
		{"takes near ties for ties", on(func(p *Problem) {
			for _, row := range p.C {
				for j := range row {
					row[j] = math.Round(row[j]*1e6) / 1e6
				}
			}
		}), []string{"FlowEquivalence", "ProjectScale"}},
		{"reduces rows and does not add back", on(func(p *Problem) {
			for _, row := range p.C {
				least := slices.Min(row)
				for j := range row {
					row[j] -= least
				}
			}
		}), []string{"ProjectShift", "FlowEquivalence"}},
		{"stops at an absolute gap", after(func(p Problem, r *Projection) {
			v := math.Round(r.Objective*1e9) / 1e9
			say(r, v)
		}), []string{"ProjectScale", "FlowEquivalence"}},
		{"shrinks a wide box", on(func(p *Problem) {
			for j := range p.Hi {
				if p.Lo[j] == 0 && p.Hi[j] > 0.3 && len(p.Hi) > 2 {
					p.Hi[j] = 1 / float64(len(p.Hi))
				}
			}
			if s := sumRat(ratsOf(p.Hi)); s.Cmp(big.NewRat(1, 1)) < 0 {
				normalise(p.Hi, 1)
			}
			for j := range p.Lo {
				p.Lo[j] = min(p.Lo[j], p.Hi[j])
			}
		}), []string{"ProjectMonotone"}},
		{"prefers the first column", on(func(p *Problem) {
			for _, row := range p.C {
				row[0] *= 0.999
			}
		}), []string{"ProjectPermutation", "DiracMSE"}},
		{"certifies too much", after(func(p Problem, r *Projection) {
			r.Lower = r.Objective * (1 + 1e-9)
			r.Upper = r.Lower
		}), []string{"FlowEquivalence", "WeakDuality"}},
		{"has a certificate of something else", after(func(p Problem, r *Projection) {
			v := rat(maxCost(p.C))
			r.Verify = func() (upper, lower *big.Rat, err error) { return v, v, nil }
		}), []string{"WeakDuality"}},
		{"reports W_2 for W_2^2", after(func(p Problem, r *Projection) { say(r, math.Sqrt(r.Objective)) }),
			[]string{"DiracMSE", "ProjectScale"}},
		{"projects a point mass onto its nearest point", after(func(p Problem, r *Projection) {
			for i, m := range p.Mu {
				if m == 1 {
					say(r, slices.Min(p.C[i]))
				}
			}
		}), []string{"DiracReduction", "DiracMSE"}},
	})
}

func TestZeroEpsilonLaw(t *testing.T) {
	t.Run("reference", rapid.MakeCheck(func(t *rapid.T) { ZeroEpsilon(t, ProjectorFunc(refProject), refTransport) }))
	for name, law := range map[string]func(*rapid.T){
		"projection forgets the box": func(t *rapid.T) {
			ZeroEpsilon(t, on(func(p *Problem) {
				for j := range p.Lo {
					p.Lo[j], p.Hi[j] = 0, 1
				}
			}), refTransport)
		},
		"projection is the mixture": func(t *rapid.T) {
			ZeroEpsilon(t, after(func(p Problem, r *Projection) { say(r, mixture(p)) }), refTransport)
		},
		"transport swaps its marginals": func(t *rapid.T) {
			ZeroEpsilon(t, ProjectorFunc(refProject), func(c [][]float64, a, b []float64) (float64, error) {
				if len(a) == len(b) {
					a, b = b, a
				}
				return refTransport(c, a, b)
			})
		},
		"transport normalises b in place": func(t *rapid.T) {
			ZeroEpsilon(t, ProjectorFunc(refProject), func(c [][]float64, a, b []float64) (float64, error) {
				normalise(b, 1+1e-15)
				return refTransport(c, a, b)
			})
		},
	} {
		if !rejects(t, law) {
			t.Errorf("ZeroEpsilon accepts a planted error: %s", name)
		}
	}
}

// knap is the reference with a changed φ, f or subgradient.
type knap struct {
	refKnapsack
	phi  func(k refKnapsack, i int, lo, hi []float64) (phi, tau float64)
	max  func(k refKnapsack, lo, hi []float64) (float64, int)
	grad func(k refKnapsack, i int, tau, a, b float64, dst []float64)
}

func (k knap) Phi(i int, lo, hi []float64) (float64, float64) {
	if k.phi != nil {
		return k.phi(k.refKnapsack, i, lo, hi)
	}
	return k.refKnapsack.Phi(i, lo, hi)
}

func (k knap) Max(lo, hi []float64) (float64, int) {
	if k.max != nil {
		return k.max(k.refKnapsack, lo, hi)
	}
	f, at := 0.0, -1
	for i := range k.c {
		if v, _ := k.Phi(i, lo, hi); at < 0 || v > f {
			f, at = v, i
		}
	}
	return f, at
}

func (k knap) Subgradient(i int, tau, a, b float64, dst []float64) {
	if k.grad != nil {
		k.grad(k.refKnapsack, i, tau, a, b, dst)
		return
	}
	k.refKnapsack.Subgradient(i, tau, a, b, dst)
}

func (k knap) new() NewKnapsack {
	return func(c [][]float64) (KnapsackOracle, error) {
		k.refKnapsack = refKnapsack{c}
		return k, nil
	}
}

func TestKnapsackLaws(t *testing.T) {
	ref := func(k refKnapsack, i int, lo, hi []float64) (float64, float64) { return k.Phi(i, lo, hi) }
	testLaws(t, KnapsackLaws(), newRefKnapsack, []mutant[NewKnapsack]{
		{"swaps lo and hi in the fill", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			// q = hi on the dear columns: the dearest first
			minus := refKnapsack{[][]float64{clone(k.c[i])}}
			top := slices.Max(k.c[i])
			for j := range minus.c[0] {
				minus.c[0][j] = top - k.c[i][j]
			}
			v, tau := minus.Phi(0, lo, hi)
			return top - v, top - tau
		}}.new(), []string{"PhiClosedForm", "PhiConvex", "PhiMonotone", "PhiSubgradient"}},
		{"forgets the lower bounds", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			return k.Phi(i, make([]float64, len(lo)), hi)
		}}.new(), []string{"PhiClosedForm"}},
		{"tau one column too far", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			next := math.Inf(1)
			for _, c := range k.c[i] {
				if c > tau {
					next = min(next, c)
				}
			}
			if !math.IsInf(next, 1) {
				tau = next
			}
			return v, tau
		}}.new(), []string{"PhiClosedForm", "PhiSubgradient"}},
		{"tau out of range", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			return v, tau - 10*maxCost(k.c)
		}}.new(), []string{"PhiClosedForm", "PhiSubgradient"}},
		{"tau of the first cost that is not below", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			for _, c := range k.c[i] {
				if c < tau {
					return v, c
				}
			}
			return v, tau
		}}.new(), []string{"PhiClosedForm"}},
		{"ties within 1e-6 are one column", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			r := refKnapsack{[][]float64{clone(k.c[i])}}
			for j := range r.c[0] {
				r.c[0][j] = math.Floor(r.c[0][j]*1e6) / 1e6
			}
			return r.Phi(0, lo, hi)
		}}.new(), []string{"PhiClosedForm"}},
		{"caps hi at one half", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			h := clone(hi)
			for j := range h {
				h[j] = min(h[j], max(lo[j], 0.5))
			}
			if sumRat(ratsOf(h)).Cmp(big.NewRat(1, 1)) < 0 {
				h = hi
			}
			return k.Phi(i, lo, h)
		}}.new(), []string{"PhiClosedForm", "PhiConvex", "PhiMonotone"}},
		{"jumps by the parity of the fill", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			if lo[0] > 0.1 {
				v += maxCost(k.c[i : i+1])
			}
			return v, tau
		}}.new(), []string{"PhiLipschitz", "PhiConvex"}},
		{"a step in m", knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			if slices.Max(lo) > 0.3 {
				v *= 1.5
			}
			return v, tau
		}}.new(), []string{"PhiLipschitz"}},
		{"argmax of min", knap{max: func(k refKnapsack, lo, hi []float64) (float64, int) {
			f, at := math.Inf(1), -1
			for i := range k.c {
				if v, _ := k.Phi(i, lo, hi); v < f {
					f, at = v, i
				}
			}
			return f, at
		}}.new(), []string{"PhiMax"}},
		{"last of equal maxima", knap{max: func(k refKnapsack, lo, hi []float64) (float64, int) {
			f, at := math.Inf(-1), -1
			for i := range k.c {
				if v, _ := k.Phi(i, lo, hi); v >= f {
					f, at = v, i
				}
			}
			return f, at
		}}.new(), []string{"PhiMax"}},
		{"swaps a and b", knap{grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
			k.Subgradient(i, tau, b, a, dst)
		}}.new(), []string{"PhiSubgradient"}},
		{"sign of the near side", knap{grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
			k.Subgradient(i, tau, a, -b, dst)
		}}.new(), []string{"PhiSubgradient"}},
		{"no slope where m is zero", knap{
			grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
				k.Subgradient(i, tau, a, b, dst)
				for j := range dst {
					if dst[j] < 0 {
						dst[j] = 0
					}
				}
			},
			phi: ref,
		}.new(), []string{"PhiSubgradient"}},
	})
}

func TestKPMLaws(t *testing.T) {
	// with changes the floor or the normaliser of the closed form.
	with := func(f func(mu []float64, e float64) (q []float64, r float64)) KPM {
		return func(mu []float64, eps float64) ([]float64, float64, error) {
			q, r := f(mu, math.Exp(eps))
			return q, r, nil
		}
	}
	cutAndDivide := func(mu []float64, a float64) ([]float64, float64) {
		q := make([]float64, len(mu))
		for j := range mu {
			q[j] = max(mu[j], a)
		}
		return normalise(q, 1), 1
	}
	edit := func(change func(mu, q []float64)) KPM {
		return func(mu []float64, eps float64) ([]float64, float64, error) {
			q, r, err := refKPM(mu, eps)
			change(mu, q)
			return q, r, err
		}
	}
	testLaws(t, KPMLaws(), refKPM, []mutant[KPM]{
		{"cuts once and divides by the sum", with(func(mu []float64, e float64) ([]float64, float64) {
			return cutAndDivide(mu, 1/(e+float64(len(mu))-1))
		}), []string{"KPMClosedForm", "KPMInBox"}},
		{"floor 1/(e^eps + k)", with(func(mu []float64, e float64) ([]float64, float64) {
			exact, err := normalised(mu)
			if err != nil {
				panic(err)
			}
			q, r := kpmExact(exact, math.Log(e+1))
			return floats(q), float(r)
		}), []string{"KPMClosedForm", "KPMInBox"}},
		{"mixes with the uniform law", with(func(mu []float64, e float64) ([]float64, float64) {
			k := float64(len(mu))
			q := make([]float64, len(mu))
			for j := range mu {
				q[j] = (mu[j]*(e-1) + 1) / (e - 1 + k)
			}
			return normalise(q, 1), 1
		}), []string{"KPMClosedForm", "KPMProjection"}},
		{"is constant", edit(func(mu, q []float64) {
			for j := range q {
				q[j] = 1 / float64(len(q))
			}
		}), []string{"KPMProjection", "KPMClosedForm"}},
		{"the largest entry takes the rounding", edit(func(mu, q []float64) {
			for j := range q {
				if j > 0 && mu[j] == mu[0] {
					q[0] *= 1 + 1e-12
					return
				}
			}
		}), []string{"KPMOrder"}},
		{"gives the first point more", edit(func(mu, q []float64) {
			if len(q) > 1 {
				q[0] += q[1] / 2
				q[1] /= 2
			}
		}), []string{"KPMOrder", "KPMInBox", "KPMProjection"}},
	})
}

func TestBaseLaws(t *testing.T) {
	edit := func(change func(c [][]float64, eps float64, b *Base)) BaseMeasurer {
		return func(c [][]float64, eps float64) (Base, error) {
			b, err := refBase(c, eps)
			if err == nil {
				change(c, eps, &b)
			}
			return b, err
		}
	}
	// lower replaces the lower bound, in the floats and in the certificate.
	lower := func(f func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat) BaseMeasurer {
		return edit(func(c [][]float64, eps float64, b *Base) {
			w, eta := cuts(c, b.M, eps)
			v := f(c, eps, w, eta)
			upper := rat(b.Upper)
			b.Lower = down(v)
			b.Verify = func() (u, l *big.Rat, err error) { return upper, v, nil }
		})
	}
	testLaws(t, BaseLaws(), refBase, []mutant[BaseMeasurer]{
		{"claims that its value is optimal", edit(func(_ [][]float64, _ float64, b *Base) { b.Lower = b.F }), []string{"BaseLowerBound", "BaseCertificate"}},
		{"wrong sign rule for the mass", lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			e, _ := ExpBounds(rat(eps), 120)
			a := new(big.Rat)
			for i := range c {
				a.Add(a, mul(w[i], eta[i]))
			}
			least := sub(bound(c, eps, w, eta), a) // min(b, b/E)
			if least.Sign() < 0 {
				return add(a, quo(least, e))
			}
			return add(a, mul(least, e))
		}), []string{"BaseLowerBound"}},
		{"forgets e^eps below the threshold", lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			return bound(c, 0, w, eta)
		}), []string{"BaseLowerBound"}},
		{"weights that do not sum to one", lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			twice := slices.Clone(w)
			for i := range twice {
				twice[i] = mul(twice[i], big.NewRat(2, 1))
			}
			return bound(c, eps, twice, eta)
		}), []string{"BaseLowerBound"}},
		{"best column instead of the worst", lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			best := new(big.Rat)
			for j := range c[0] {
				one := make([][]float64, len(c))
				for i := range c {
					one[i] = c[i][j : j+1]
				}
				best = maxRat(best, bound(one, eps, w, eta))
			}
			return best
		}), []string{"BaseLowerBound"}},
		{"swaps alpha and beta", func(c [][]float64, eps float64) (Base, error) {
			b, err := refBase(c, eps)
			if err != nil {
				return b, err
			}
			box := BoxOf(b.M, eps)
			top := 0.0
			for i := range c { // the dearest columns first
				s := 0.0
				for j := range c[i] {
					s = max(s, c[i][j])
				}
				v, _ := refKnapsack{[][]float64{reflect(c[i], s)}}.Phi(0, box.Lo, box.Hi)
				top = max(top, s-v)
			}
			b.F, b.Upper = top, top
			return b, nil
		}, []string{"BaseValue"}},
		{"upper bound rounded down", edit(func(c [][]float64, _ float64, b *Base) {
			b.Upper = math.Nextafter(b.Upper, 0)
			b.Upper = math.Nextafter(b.Upper, 0)
		}), []string{"BaseValue", "BaseCertificate"}},
		{"mass out of range", edit(func(_ [][]float64, eps float64, b *Base) {
			for j := range b.M {
				b.M[j] *= 2 * math.Exp(eps/2)
			}
		}), []string{"BaseValue"}},
		{"a negative entry", edit(func(_ [][]float64, _ float64, b *Base) {
			if len(b.M) > 1 {
				b.M[0], b.M[1] = -b.M[0], b.M[1]+2*b.M[0]
			}
		}), []string{"BaseValue"}},
		{"absolute rounding", edit(func(_ [][]float64, _ float64, b *Base) {
			b.F = math.Round(b.F*1e6) / 1e6
		}), []string{"BaseScale", "BaseValue"}},
		{"always the low end of the mass", func(c [][]float64, eps float64) (Base, error) {
			kv := len(c[0])
			m := slices.Repeat([]float64{1 / float64(kv)}, kv)
			if eps > 1 {
				m = slices.Repeat([]float64{math.Exp(eps/2) / float64(kv)}, kv) // the constant mechanism
			}
			return claim(c, eps, m)
		}, []string{"BaseMonotone"}},
	})
}

// reflect returns s - c, so that the cheapest becomes the dearest.
func reflect(c []float64, s float64) []float64 {
	d := make([]float64, len(c))
	for j := range c {
		d[j] = s - c[j]
	}
	return d
}

func TestMinimaxOptimalityLaw(t *testing.T) {
	law := func(b BaseMeasurer) func(*rapid.T) {
		return func(t *rapid.T) { MinimaxOptimality(t, b, TransitiveCosts(6).Draw(t, "C")) }
	}
	t.Run("reference", rapid.MakeCheck(law(refTransitive)))
	for name, b := range map[string]BaseMeasurer{
		"uniform of mass one": refBase,
		"scale off by one part in a thousand": func(c [][]float64, eps float64) (Base, error) {
			b, err := refTransitive(c, eps)
			if err != nil {
				return b, err
			}
			m := clone(b.M)
			for j := range m {
				m[j] *= 1.001
			}
			if w, err := claim(c, eps, m); err == nil {
				w.Lower = b.Lower
				return w, nil
			}
			return b, nil
		},
		"a bound that is not tight": func(c [][]float64, eps float64) (Base, error) {
			b, err := refTransitive(c, eps)
			b.Lower *= 1 - 1e-6
			return b, err
		},
	} {
		if !rejects(t, law(b)) {
			t.Errorf("MinimaxOptimality accepts a planted error: %s", name)
		}
	}
}
