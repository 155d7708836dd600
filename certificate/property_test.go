package certificate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/mincostflow/units"
	"github.com/wpm-go/wpm/minimax"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/shuffle"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/wpmerr"
	"pgregory.net/rapid"
)

// drawCost leans to ties, zeros and wide ranges.
func drawCost(t *rapid.T) *cost.Dense {
	k, kv := rapid.IntRange(1, 5).Draw(t, "k"), rapid.IntRange(1, 5).Draw(t, "kv")
	value := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2, 0.1, 1e-300, 1e12}), rapid.Float64Range(0, 3))
	return &cost.Dense{K: k, Kv: kv, Data: rapid.SliceOfN(value, k*kv, k*kv).Draw(t, "C")}
}

// drawMass returns a distribution whose sum is 1 up to rounding, with zeros.
func drawMass(t *rapid.T, n int, name string) []float64 {
	x := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, 1e-9, 0.3}), n, n).Draw(t, name)
	x[rapid.IntRange(0, n-1).Draw(t, "sure")] = 1
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}

// TestLawOfKinds: what any solver returns becomes a certificate whose text reads back, proves exactly what the
// solver's own Verify proves, and encloses the objective.
func TestLawOfKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCost(t)
		scale := given.Max(c)
		mu := drawMass(t, c.K, "mu")
		var made certificate.Certificate
		var lower, upper *big.Rat
		var value float64
		var err error
		switch kind := rapid.SampledFrom(certificate.Kinds()).Draw(t, "kind"); kind {
		case certificate.Projection:
			p := projection.Problem{Cost: c, Source: mu}
			for _, m := range drawMass(t, c.Kv, "m") {
				p.Lo, p.Hi = append(p.Lo, m/2), append(p.Hi, 1.5*m)
			}
			var r mincostflow.Result
			if r, err = mincostflow.Project(context.Background(), p, mincostflow.Settings{}); err != nil {
				t.Fatal(err)
			}
			made, err = certificate.NewProjection(context.Background(), p, r)
			upper, lower, _ = mincostflow.Verify(context.Background(), p, r)
			value = r.Objective
		case certificate.Units:
			p := units.Problem{Cost: c, Source: make([]int64, c.K), Lo: make([]int64, c.Kv), Hi: make([]int64, c.Kv)}
			var n int64
			for i := range p.Source {
				p.Source[i] = rapid.SampledFrom([]int64{0, 1, 2, 7, 1 << 50}).Draw(t, "units")
				n += p.Source[i]
			}
			p.Source[0], n = p.Source[0]+1, n+1
			for j := range p.Hi {
				p.Hi[j] = rapid.SampledFrom([]int64{0, 1, n / 2, n, math.MaxInt64}).Draw(t, "hi")
			}
			j := rapid.IntRange(0, c.Kv-1).Draw(t, "roomy")
			p.Lo[j], p.Hi[j] = rapid.Int64Range(0, n).Draw(t, "lo"), math.MaxInt64
			r, uerr := units.Project(context.Background(), p, units.Settings{})
			if uerr != nil {
				t.Fatal(uerr)
			}
			made, err = certificate.NewUnits(context.Background(), p, r)
			upper, lower, _ = units.Verify(context.Background(), p, r)
			value = r.Objective
		case certificate.Entropic:
			p := projection.Problem{Cost: c, Source: mu}
			for _, m := range drawMass(t, c.Kv, "m") {
				p.Lo, p.Hi = append(p.Lo, m/2), append(p.Hi, 1.5*m)
			}
			best, perr := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
			if perr != nil {
				t.Fatal(perr)
			}
			e := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: p.Lo, Hi: p.Hi}, Reg: 1}
			if scale > 0 {
				e.Reg = scale * rapid.SampledFrom([]float64{0.01, 0.1, 1}).Draw(t, "reg")
			}
			r, eerr := sinkhorn.Project(context.Background(), e, sinkhorn.Settings{})
			if eerr != nil && !errors.Is(eerr, wpmerr.ErrNotConverged) {
				t.Fatal(eerr)
			}
			made, err = certificate.NewEntropic(context.Background(), e, r)
			value = best.Objective // the exact problem's, and the exact solver's certificate is about the same problem
			if exact, err := certificate.NewProjection(context.Background(), p, best); err != nil ||
				made.Kind() != "" && exact.ProblemHash() != made.ProblemHash() {
				t.Fatalf("the problem of the exact solver has another hash (%v)", err)
			}
		case certificate.Flow:
			g := &network.Problem{}
			for i := range c.K {
				g.AddNode(int64(i + 1))
			}
			for range c.Kv {
				g.AddNode(0)
			}
			g.Supply[c.K] = -int64(c.K*(c.K+1)) / 2
			small := rapid.Int64Range(-3, 3)
			for i := range len(g.Supply) {
				g.AddArc(i, (i+1)%len(g.Supply), 0, network.Unlimited, 3) // a way round: feasible, and no cycle is negative
				g.AddArc(i, rapid.IntRange(0, len(g.Supply)-1).Draw(t, "to"), -2, 2, small.Draw(t, "cost"))
			}
			// The arcs of the ring have no bound, so whatever the others ask for can go round.
			r, ferr := network.Solve(context.Background(), g, network.Settings{})
			if ferr != nil {
				t.Fatal(ferr)
			}
			made, err = certificate.NewFlow(g, r)
			lower = new(big.Rat).SetInt(r.Objective)
			upper = lower
			value, _ = lower.Float64()
		case certificate.Sphere:
			d := rapid.SampledFrom([]int{1, 2, 3, 4, 50}).Draw(t, "d")
			p := rapid.SampledFrom([]float64{0.5, 1, 2, 2.5, 12}).Draw(t, "p")
			eps := rapid.SampledFrom([]float64{1e-12, 0.1, 1, 5, 40}).Draw(t, "eps")
			b, serr := sphere.Enclose(d, p, eps, rapid.SampledFrom([]int{0, 1, 60}).Draw(t, "bits"))
			if serr != nil {
				t.Fatal(serr)
			}
			made, err = certificate.NewSphere(d, p, eps, b)
			lower, upper = b.Lower, b.Upper
			m, serr := sphere.Solve(d, p, eps)
			if serr != nil {
				t.Fatal(serr)
			}
			value, scale = m.Omt/2, m.Omt
		case certificate.Transport:
			b := drawMass(t, c.Kv, "b")
			var r mincostflow.Result
			if r, err = mincostflow.Transport(context.Background(), c, mu, b); err != nil {
				t.Fatal(err)
			}
			made, err = certificate.NewTransport(context.Background(), c, mu, b, r)
			upper, lower, _ = mincostflow.VerifyTransport(context.Background(), c, mu, b, r)
			value = r.Objective
		case certificate.BaseMeasure:
			eps := rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 5, 40}).Draw(t, "eps")
			var r basemeasure.Result
			if r, err = basemeasure.Uniform(context.Background(), c, eps, basemeasure.Settings{}); err != nil {
				t.Fatal(err)
			}
			made, err = certificate.NewBaseMeasure(context.Background(), c, eps, r)
			upper, lower, _ = basemeasure.Verify(context.Background(), c, eps, r)
			value = r.F
		case certificate.Shuffled:
			p := shuffle.Problem{
				Clients: rapid.SampledFrom([]int{1, 2, 30, 400, 20_000}).Draw(t, "clients"),
				Blanket: rapid.SampledFrom([]*big.Rat{big.NewRat(2, 5), big.NewRat(1, 2), big.NewRat(1, 1)}).Draw(t, "blanket"),
				Epsilon: rapid.SampledFrom([]float64{1, 1.5, 5}).Draw(t, "eps"),
				Delta:   rapid.SampledFrom([]float64{1e-12, 1e-6, 0.5}).Draw(t, "delta"),
			}
			g, serr := shuffle.Solve(p)
			if serr != nil {
				t.Fatal(serr)
			}
			made, err = certificate.NewShuffled(p, g)
			value = g.Epsilon
		case certificate.Minimax:
			n := min(c.K, c.Kv)
			square := &cost.Dense{K: n, Kv: n, Data: make([]float64, n*n)}
			for i := range n {
				for j := range n {
					square.Data[i*n+j] = math.Abs(float64(i-j)) * c.Data[0] // on a line, or all at one point
				}
			}
			p := minimax.Problem{Cost: square, Epsilon: rapid.SampledFrom([]float64{0, 0.1, 1, 5, 40}).Draw(t, "eps"),
				Clients: rapid.SampledFrom([]int{0, 1, 30, 100_000}).Draw(t, "clients")}
			b, merr := minimax.Solve(context.Background(), p)
			if merr != nil {
				t.Fatal(merr)
			}
			made, err = certificate.NewMinimax(context.Background(), p, b)
			_, up, _ := b.Verify(context.Background(), p)
			value, _ = up.Float64()
		case certificate.KPM:
			eps := rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 5, 40}).Draw(t, "eps")
			q, r, kerr := baseline.KPM(mu, eps)
			if kerr != nil {
				t.Fatal(kerr)
			}
			made, err = certificate.NewKPM(mu, eps, q, r)
			value, scale = r, r
		default:
			t.Fatalf("no law for kind %q", kind)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := certificate.Encode(made)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) || bytes.ContainsAny(text, " \n") {
			t.Fatalf("not compact JSON: %s", text)
		}
		read, err := certificate.Decode(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := certificate.Verify(context.Background(), read)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if lower != nil && (got.Lower.Cmp(lower) != 0 || got.Upper.Cmp(upper) != 0) {
			t.Fatalf("proved [%v, %v], the solver's Verify [%v, %v]", got.Lower, got.Upper, lower, upper)
		}
		if !encloses(got, value, scale) {
			t.Fatalf("the value %v is not in [%v, %v]", value, got.Lower, got.Upper)
		}
	})
}

var largeProblem = regexp.MustCompile(`"problem":{("d":\d{3}|"clients":\d{7})`)

// FuzzDecode: whatever decodes has one text and verifies or not without a panic.
func FuzzDecode(f *testing.F) {
	for _, c := range sample(f) {
		f.Add(text(f, c))
		if bare, err := c.WithoutCost(); err == nil {
			f.Add(text(f, bare))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := certificate.Decode(data)
		if err != nil {
			if c != (certificate.Certificate{}) {
				t.Fatal("an error and a certificate")
			}
			return
		}
		if again, err := certificate.Encode(c); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("Encode(Decode(%q)) = %q, %v", data, again, err)
		}
		k, kv := c.Dims()
		if k*kv > 1<<16 || largeProblem.Match(data) { // valid and slow
			return
		}
		b, err := certificate.Verify(context.Background(), c)
		if s := c.Stated(); err == nil && (s.Lower.Cmp(b.Lower) > 0 || s.Upper.Cmp(b.Upper) < 0) {
			t.Fatalf("accepted [%v, %v] on a proof of [%v, %v]", s.Lower, s.Upper, b.Lower, b.Upper)
		}
	})
}

// FuzzRead: of any file, read line by line, and any text for a cost, every certificate keeps its bytes without its cost
// and with it again, takes no other cost, and a fault has the number of its line.
func FuzzRead(f *testing.F) {
	var all bytes.Buffer
	for _, c := range sample(f) {
		if err := certificate.Write(&all, c); err != nil {
			f.Fatal(err)
		}
		if bare, err := c.WithoutCost(); err == nil {
			f.Add(text(f, bare), []byte(`{"kind":"explicit","C":[[0,1,2.5],[1,0,1.5],[2.5,1.5,0]]}`))
		}
	}
	f.Add(all.Bytes(), []byte(`{"kind":"ring","n":3,"p":1}`))
	f.Add([]byte("\n"), []byte("null"))
	f.Fuzz(func(t *testing.T, file, spec []byte) {
		lines := bytes.Split(file, []byte("\n"))
		read := 0
		err := certificate.Read(bytes.NewReader(file), func(line int, c certificate.Certificate) error {
			read++
			if line != read || !bytes.Equal(text(t, c), lines[line-1]) {
				t.Fatalf("certificate %d is line %d, or has other bytes", read, line)
			}
			hash, has := c.CostHash()
			with, err := c.WithCost(spec)
			if same := has && hash == sha256.Sum256(spec); same != (err == nil) ||
				err != nil && !errors.Is(err, certificate.ErrCost) {
				t.Fatalf("WithCost(%q) of a cost with hash %x: %v", spec, hash, err)
			}
			if err == nil {
				bare, err := with.WithoutCost()
				if err != nil || bare.ProblemHash() != c.ProblemHash() || !bare.NeedsCost() {
					t.Fatalf("without its cost: %v", err)
				}
				if k, kv := c.Dims(); k*kv <= 1<<12 {
					_, _ = certificate.Verify(context.Background(), with) // any error, and no panic: the text with this hash may be no cost
				}
			}
			return nil
		})
		var at *certificate.LineError
		if err != nil && (!errors.As(err, &at) || at.Line != read+1) {
			t.Fatalf("after %d certificates: %v", read, err)
		}
	})
}
