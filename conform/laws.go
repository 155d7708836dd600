package conform

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/design"
	"github.com/wpm-go/wpm/proptest/privacy"
	"github.com/wpm-go/wpm/proptest/projection"
	"pgregory.net/rapid"
)

// law is a law about a client that offers some kinds.
type law struct {
	name, statement string
	kinds           []string
	first           []func(t proptest.TB, c *client)
	check           func(t *rapid.T, c *client)
}

// of turns laws of an implementation I into laws of a client that answers for it.
func of[I any](laws []proptest.Law[I], impl func(proptest.TB, *client) I, kinds ...string) []law {
	var out []law
	for _, l := range laws {
		if slices.Contains(noLines, l.Name) {
			continue
		}
		g := law{name: l.Name, statement: l.Statement, kinds: kinds,
			check: func(t *rapid.T, c *client) { l.Check(t, impl(t, c)) }}
		if l.Name == "WeakDualityLarge" {
			g.kinds = []string{"project-large"}
			g.check = func(t *rapid.T, c *client) { projection.WeakDualityLarge(t, projector{c, "project-large"}) }
		}
		for _, f := range l.First {
			g.first = append(g.first, func(t proptest.TB, c *client) {
				if l.Name == "WeakDualityLarge" {
					f(t, any(projection.Projector(projector{c, "project-large"})).(I))
					return
				}
				f(t, impl(t, c))
			})
		}
		out = append(out, g)
	}
	return out
}

// noLines lists laws about what lines do not carry: the diameter of a matrix that is not a kernel.
var noLines = []string{"BirkhoffDiameter", "BirkhoffContraction"}

// laws are all laws, in the order of the report.
func laws() []law {
	zero := law{name: "ZeroEpsilon", statement: "eps = 0 is plain transport", kinds: []string{"project", "transport"},
		check: func(t *rapid.T, c *client) { projection.ZeroEpsilon(t, projector{c, "project"}, transporter(c)) }}
	minimax := law{name: "MinimaxWithin", statement: "thm:minimax; thm:base-measure-minimax",
		kinds: []string{"basemeasure"},
		check: func(t *rapid.T, c *client) {
			design.MinimaxWithin(t, measurer(t, c), proptest.TransitiveCosts(5).Draw(t, "C"), 1e-9)
		}}
	projectors := slices.Concat(projection.ProjectorLaws(), projection.ProjectorBoundLaws(),
		projection.ProjectorCertificateLaws())
	entropics := slices.Concat(projection.EntropicLaws(), projection.EntropicBoundLaws(),
		projection.EntropicCertificateLaws())
	bases := slices.Concat(design.BaseLaws(), design.BaseBoundLaws(), design.BaseCertificateLaws())
	return slices.Concat(
		of(privacy.VerifyLaws(), verifier, "verify"),
		of(privacy.BoxLaws(), newBox, "round", "round-in-box"),
		of(privacy.SamplerLaws(), newSampler, "sample"),
		of(privacy.MechanismLaws(), newMechanism, "round", "project", "round-in-box"),
		of(privacy.KPMLaws(), newKPM, "kpm"),
		of(projectors, func(_ proptest.TB, c *client) projection.Projector { return projector{c, "project"} }, "project"),
		[]law{zero},
		of(entropics, newEntropic, "entropic"),
		of(projection.KLLaws(), newKL, "kl"),
		of(projection.HilbertLaws(), func(_ proptest.TB, c *client) projection.Hilbert { return metric{c} }, "hilbert"),
		of(design.KnapsackLaws(), newKnapsack, "phi"),
		of(bases, measurer, "basemeasure"),
		[]law{minimax},
		of(design.SphereLaws(), newSphere, "sphere"),
		[]law{{name: "SlotDrawn", statement: "docs/spec/ledger.md: a slot does not depend on the epoch",
			kinds: []string{"schedule"}, check: slotDrawn}},
	)
}

// slotDrawn asks new ledgers for a report in one epoch, under a policy with a period of 2, until one has drawn and one
// was silent. A right client fails once in 2^63 cases.
func slotDrawn(t *rapid.T, c *client) {
	const id = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
	epoch := fmt.Sprint(rapid.IntRange(2000, 2050).Draw(t, "year"))
	step := line{"policy": id, "eps": "1", "epoch": epoch, "report": "77706331" + id + "00", "clock": int64(1 << 42),
		"schedule": line{"epochs": "year", "first": nil, "last": nil, "period": 2}}
	seen := map[string]bool{}
	for range 64 {
		var a struct {
			Verdicts []string `json:"verdicts"`
		}
		must(t, c.ask("schedule", line{"op": "books", "text": "", "budget": "1", "steps": []line{step}}, &a))
		if len(a.Verdicts) == 1 {
			seen[a.Verdicts[0]] = true
		}
		if len(seen) == 2 {
			return
		}
	}
	t.Fatalf("64 new ledgers say the same in %s: %v", epoch, seen)
}

// must fails the law if there is no answer.
func must(t proptest.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func verifier(t proptest.TB, c *client) privacy.VerifyFunc {
	return func(eps *big.Rat, lo, hi []uint64, bits int) error {
		var a struct {
			Verified bool `json:"verified"`
		}
		err := c.ask("verify", line{"eps": eps.RatString(), "bits": bits, "lo": decimals(lo), "hi": decimals(hi),
			"rows": [][]string{}}, &a)
		var r refusal
		switch {
		case errors.As(err, &r):
			return err
		case err == nil && !a.Verified:
			t.Fatalf("verified is false: what is not verified must be refused with an error")
		}
		must(t, err)
		return nil
	}
}

// box is an integer box of a client.
type box struct {
	t      proptest.TB
	c      *client
	eps    string
	bits   int
	lo, hi []uint64
}

func (b *box) Len() int        { return len(b.lo) }
func (b *box) Bits() int       { return b.bits }
func (b *box) Lo(j int) uint64 { return b.lo[j] }
func (b *box) Hi(j int) uint64 { return b.hi[j] }

func (b *box) Round(q []float64) []uint64 {
	var a struct {
		Weights []string `json:"weights"`
	}
	must(b.t, b.c.ask("round-in-box",
		line{"eps": b.eps, "bits": b.bits, "lo": decimals(b.lo), "hi": decimals(b.hi), "q": numbers(q)}, &a))
	n, err := units(a.Weights)
	must(b.t, err)
	return n
}

// boxOf asks for the box of a base measure, and that its own rounding is that of round-in-box.
func boxOf(t proptest.TB, c *client, eps *big.Rat, m []float64, bits int) (*box, error) {
	var a struct {
		Lo      []string `json:"lo"`
		Hi      []string `json:"hi"`
		Weights []string `json:"weights"`
	}
	b := &box{t: t, c: c, eps: eps.RatString(), bits: bits}
	err := c.ask("round", line{"eps": b.eps, "bits": bits, "m": numbers(m), "q": numbers(m)}, &a)
	if err == nil {
		b.lo, err = units(a.Lo)
	}
	if err == nil {
		b.hi, err = units(a.Hi)
	}
	if err == nil && (len(b.lo) != len(m) || len(b.hi) != len(m)) {
		err = fmt.Errorf("%d and %d bounds for %d masses", len(b.lo), len(b.hi), len(m))
	}
	if err != nil {
		return nil, err
	}
	if n := decimals(b.Round(m)); !slices.Equal(n, a.Weights) {
		t.Fatalf("round says %s, and round-in-box %s", a.Weights, n)
	}
	return b, nil
}

func newBox(t proptest.TB, c *client) privacy.NewBox {
	return func(eps *big.Rat, m []float64, bits int) (privacy.IntegerBox, error) {
		return boxOf(t, c, eps, m, bits)
	}
}

func newSampler(_ proptest.TB, c *client) privacy.NewSampler {
	return func(weights []uint64, bits int) (func(io.Reader) (int, error), error) {
		return func(r io.Reader) (int, error) {
			b := make([]byte, (bits+7)/8)
			n, _ := io.ReadFull(r, b) // too few are for the client to refuse
			var a struct {
				Index int `json:"index"`
			}
			err := c.ask("sample", line{"bits": bits, "weights": decimals(weights), "random": hex.EncodeToString(b[:n])}, &a)
			return a.Index, err
		}, nil
	}
}

// mechanism projects into the box and rounds.
type mechanism struct {
	*box
	cost [][]float64
}

func (m mechanism) Weights(mu []float64) ([]uint64, error) {
	p := proptest.Problem{C: m.cost, Mu: mu}
	total := math.Ldexp(1, m.bits)
	for j := range m.lo {
		p.Lo, p.Hi = append(p.Lo, float64(m.lo[j])/total), append(p.Hi, float64(m.hi[j])/total)
	}
	r, err := projector{m.c, "project"}.Project(p)
	if err != nil {
		return nil, err
	}
	return m.Round(r.Q), nil
}

func newMechanism(t proptest.TB, c *client) privacy.NewMechanism {
	return func(costs [][]float64, eps *big.Rat, m []float64, bits int) (privacy.Mechanism, error) {
		b, err := boxOf(t, c, eps, m, bits)
		return mechanism{b, costs}, err
	}
}

func newKPM(_ proptest.TB, c *client) privacy.KPM {
	return func(mu []float64, eps float64) ([]float64, float64, error) {
		var a kpmAnswer
		err := c.ask("kpm", line{"mu": numbers(mu), "eps": number(eps)}, &a)
		return floats(a.Q), float64(a.R), err
	}
}

func problem(p proptest.Problem) line {
	return line{"cost": explicit(p.C), "mu": numbers(p.Mu), "lo": numbers(p.Lo), "hi": numbers(p.Hi)}
}

type projector struct {
	c    *client
	kind string
}

func (p projector) Project(in proptest.Problem) (projection.Projection, error) {
	var a projectAnswer
	err := p.c.ask(p.kind, problem(in), &a)
	r := projection.Projection{
		Q: floats(a.Q), Objective: float64(a.Objective), Lower: float64(a.Lower), Upper: float64(a.Upper),
	}
	r.Certificate.G = floats(a.Potentials.G)
	for _, e := range a.Plan {
		r.Certificate.Plan = append(r.Certificate.Plan, projection.Arc{I: e.i, J: e.j, Mass: e.mass})
	}
	return r, err
}

func transporter(c *client) projection.Transporter {
	return func(costs [][]float64, a, b []float64) (float64, error) {
		var w struct {
			Objective number `json:"objective"`
		}
		err := c.ask("transport", line{"cost": explicit(costs), "source": numbers(a), "target": numbers(b)}, &w)
		return float64(w.Objective), err
	}
}

func newEntropic(_ proptest.TB, c *client) projection.Entropic {
	return projection.EntropicFunc(func(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
		l := problem(p)
		l["reg"] = number(reg)
		var a entropicAnswer
		err := c.ask("entropic", l, &a)
		if err == nil {
			err = same(len(p.Lo), a.LogV)
		}
		return projection.EntropicProjection{
			Q: floats(a.Q), LogV: floats(a.LogV), Lower: float64(a.Lower), Upper: float64(a.Upper),
			Objective: float64(a.Objective),
			G:         floats(a.Potentials.G),
		}, err
	})
}

func newKL(_ proptest.TB, c *client) projection.KLProjector {
	return func(logS, lo, hi []float64) ([]float64, float64, error) {
		var a klAnswer
		err := c.ask("kl", line{"log_s": numbers(logS), "lo": numbers(lo), "hi": numbers(hi)}, &a)
		return floats(a.Q), float64(a.Theta), err
	}
}

// metric has Hilbert's distance: lines have diameters of kernels only.
type metric struct{ c *client }

func (m metric) Distance(x, y []float64) (float64, error) {
	var a distanceAnswer
	err := m.c.ask("hilbert", line{"x": numbers(x), "y": numbers(y)}, &a)
	return float64(a.Distance), err
}

func (metric) Diameter([][]float64) (float64, error)          { return 0, errors.ErrUnsupported }
func (metric) Contraction(float64) (tau, oneMinusTau float64) { return 0, 0 }

// knapsack asks for all rows at a time.
type knapsack struct {
	t    proptest.TB
	c    *client
	cost [][]float64
}

func newKnapsack(t proptest.TB, c *client) design.NewKnapsack {
	return func(costs [][]float64) (design.KnapsackOracle, error) { return knapsack{t, c, costs}, nil }
}

func (k knapsack) ask(lo, hi []float64) (a phiAnswer) {
	must(k.t, k.c.ask("phi", line{"cost": explicit(k.cost), "lo": numbers(lo), "hi": numbers(hi)}, &a))
	must(k.t, a.check(len(k.cost)))
	return a
}

func (k knapsack) Phi(i int, lo, hi []float64) (phi, tau float64) {
	a := k.ask(lo, hi)
	return float64(a.Phi[i]), float64(a.Tau[i])
}

func (k knapsack) Max(lo, hi []float64) (f float64, i int) {
	a := k.ask(lo, hi)
	return float64(a.F), a.Argmax
}

// Subgradient is by its formula: what a law about it tests is tau.
func (k knapsack) Subgradient(i int, tau, a, b float64, dst []float64) {
	for j, c := range k.cost[i] {
		dst[j] = a*max(c-tau, 0) - b*max(tau-c, 0)
	}
}

func measurer(_ proptest.TB, c *client) design.BaseMeasurer {
	return func(costs [][]float64, eps float64) (design.Base, error) {
		var a baseAnswer
		err := c.ask("basemeasure", line{"cost": explicit(costs), "eps": number(eps)}, &a)
		return design.Base{M: floats(a.M), F: float64(a.F), Upper: float64(a.Upper), Lower: float64(a.Lower),
			Weights: floats(a.Weights), Thresholds: floats(a.Thresholds)}, err
	}
}

func newSphere(_ proptest.TB, c *client) design.SphereSolver {
	return func(d int, p, eps float64) (design.SphereMeasure, error) {
		var a sphereAnswer
		err := c.ask("sphere", line{"d": d, "p": number(p), "eps": number(eps)}, &a)
		return design.SphereMeasure{
			T: float64(a.T), Omt: float64(a.Omt), Alpha: float64(a.Alpha), S: float64(a.S), J: float64(a.J), W: float64(a.W),
			Pin: float64(a.Pin), Pout: float64(a.Pout),
		}, err
	}
}
