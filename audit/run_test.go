package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"github.com/wpm-go/wpm/wpmerr"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func seeded(n uint64) *uint64 { return &n }

// small is an audit that takes little time.
func small(p policy.Policy) Config {
	return Config{Policy: p, Samples: 2000, Seed: seeded(7), RandomRows: 50}
}

// privateFile is a file with a public certificate, a private one, and a private one whose bounds are forged.
func privateFile(t testing.TB, p policy.Policy) string {
	t.Helper()
	mu := []float64{0.625, 0.375, 0, 0, 0}
	q, r, err := baseline.KPM(mu, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificate.NewKPM(mu, 1, q, r)
	if err != nil {
		t.Fatal(err)
	}
	private, err := certificate.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	forged := bytes.Replace(private, []byte(`"lower":"`), []byte(`"lower":"2`), 1)
	return string(p.Certificate()) + "\n" + string(private) + "\n" + string(forged) + "\n"
}

// TestReportGolden: text, JSON and page of an audit with a fixed seed.
func TestReportGolden(t *testing.T) {
	// lo and hi by hand, so that no solver's last bit shows.
	box, err := ldp.NewPolytopeFromBounds(given.Epsilon(t, "1"), []uint64{150, 150, 150, 150}, []uint64{407, 407, 407, 407},
		10)
	if err != nil {
		t.Fatal(err)
	}
	var rows []policy.Row
	for _, n := range mechanism(407, 317, 150)[:4] {
		w, err := box.Weights(n)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, must(policy.NewRow(box, w)))
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Rows: rows, InputLabels: []string{"a & b", "<c>", "d", "e"},
		OutputLabels: []string{"w", "x", "y", "<z>"},
		Provenance:   policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := small(p)
	cfg.Certificates = []CertificateFile{{"certs.jsonl",
		strings.NewReader(privateFile(t, ring(t, 5, "1", 62, policy.Mixture)))}}
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Passed || r.Broken || !strings.Contains(r.Verdict, "certificate") {
		t.Errorf("verdict %q", r.Verdict)
	}
	numtest.GoldenBytes(t, "testdata/report.txt", r.Text())
	numtest.GoldenBytes(t, "testdata/report.json", must(r.JSON()))
	numtest.GoldenBytes(t, "testdata/report.html", must(r.HTML()))

	page := string(must(r.HTML()))
	for _, s := range []string{"<script", "http://", "https://", "src=", "<c>", "<z>"} {
		if strings.Contains(page, s) {
			t.Errorf("the page contains %q", s)
		}
	}
	for _, secret := range []string{"0.625", "0.375"} {
		for _, text := range []string{page, string(r.Text()), string(must(r.JSON()))} {
			if strings.Contains(text, secret) {
				t.Errorf("a private certificate shows: %s", secret)
			}
		}
	}
	if !json.Valid(must(r.JSON())) {
		t.Error("not JSON")
	}
}

// TestRunPasses: what wpm publishes passes, in every mode and by every way to draw.
func TestRunPasses(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		p := ring(t, 5, "1", 62, mode)
		for name, change := range map[string]func(*Config){
			"simulation":  func(*Config) {},
			"crypto/rand": func(c *Config) { c.Seed = nil },
			"release": func(c *Config) {
				c.Sampler, c.Target, c.Samples = Releases(p, c.Project), "release", numtest.Cases(400, c.Samples)
			},
			"two inputs": func(c *Config) { c.Inputs = []int{3, Fallback} },
			"no random":  func(c *Config) { c.RandomRows = -1 },
			"serial":     func(c *Config) { c.Serial = true },
		} {
			cfg := small(p)
			if mode == policy.Projection {
				cfg.Project = projector(t, p)
			}
			change(&cfg)
			steps := map[string]bool{}
			cfg.Progress = func(_, _ int, what string) { steps[what] = true }
			r, err := Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Passed || r.Broken || r.Statistics == nil || len(r.Certificates) != 1 || !r.Certificates[0].Passed ||
				r.Target == "" {
				t.Errorf("%s, %s: %s\n%s", mode, name, r.Verdict, r.Text())
			}
			if want := mode == policy.Mixture ||
				name != "release"; (r.Statistics.Law != nil && r.Statistics.Law.Cells > 5) != want {
				t.Errorf("%s, %s: law %+v", mode, name, r.Statistics.Law)
			}
			// Mixed clients: in whole releases of their own, or among the others if all are releases.
			own := mode == policy.Mixture && (name == "crypto/rand")
			if (r.Releases != nil) != own || steps["releases"] != own || !steps["draws"] {
				t.Errorf("%s, %s: releases %v, progress reported %v", mode, name, r.Releases, steps)
			}
			if got := len(r.Statistics.Inputs); (got == 6+4) != (name == "release") {
				t.Errorf("%s, %s: %d clients, %q", mode, name, got, r.Statistics.Inputs)
			}
			if total := r.Statistics.FalseAlarm; own &&
				(total != DefaultFalseAlarm/2 || r.Releases.FalseAlarm != total || r.Releases.Law == nil) {
				t.Errorf("%s, %s: false-alarm rates %v and %v", mode, name, total, r.Releases.FalseAlarm)
			}
		}
	}
}

// TestRunFails: each way to fail has its verdict.
func TestRunFails(t *testing.T) {
	p := ring(t, 5, "1", 62, policy.Mixture)
	strong := ring(t, 5, "3", 62, policy.Mixture)
	all := []int{Fallback, 0, 1, 2, 3, 4}
	stale := must(Draws(strong, must(TableOf(strong, all...)), Seeded(1)))
	good := must(Draws(p, must(TableOf(p, all...)), Seeded(1)))
	ringCost, err := cost.NewRing(6, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"stale policy": {func(c *Config) { c.Sampler = stale }, "violated: a loss of at least 2"},
		"wrong row": {func(c *Config) {
			c.Sampler = func(ctx context.Context, client Row, n int, counts []uint64) error {
				if client.Input >= 0 {
					client.Input = (client.Input + 1) % 5
				}
				return good(ctx, client, n, counts)
			}
		}, "do not follow the published rows"},
		"forged certificate": {func(c *Config) {
			c.Certificates = []CertificateFile{{"x", strings.NewReader(privateFile(t, p))}}
		}, "certificate"},
		"certificate of another policy": {func(c *Config) { c.Policy = withCertificate(t, string(strong.Certificate())) },
			"certificate"},
		"certificate of another size": {func(c *Config) {
			c.Policy = withCertificate(t, string(publish(t, ringCost, "1", 62, policy.Mixture, nil).Certificate()))
		}, "certificate"},
		"certificate of another size, no cost": {func(c *Config) {
			// The certificate brings its cost along, and the policy has none to compare with.
			made := must(certificate.Decode(publish(t, ringCost, "1", 62, policy.Mixture, nil).Certificate()))
			made = must(made.WithCost([]byte(`{"kind":"ring","n":6,"p":1}`)))
			c.Policy = bare(t, p, must(certificate.Encode(made)))
		}, "certificate"},
		"certificate of another cost": {func(c *Config) {
			other, err := cost.NewRing(5, 2)
			if err != nil {
				t.Fatal(err)
			}
			made := must(certificate.Decode(publish(t, other, "1", 62, policy.Mixture, nil).Certificate()))
			made = must(made.WithCost([]byte(`{"kind":"ring","n":5,"p":2}`)))
			c.Policy = withCertificate(t, string(must(certificate.Encode(made))))
		}, "certificate"},
		"certificate of no known form": {func(c *Config) { c.Policy = withCertificate(t, `{"kind":"uniform"}`) },
			"certificate"},
		"certificate of a cost that is not there": {func(c *Config) { c.Policy = bare(t, p, p.Certificate()) },
			"certificate"},
		"certificate of another kind": {func(c *Config) {
			c.Policy = withCertificate(t, strings.Split(privateFile(t, p), "\n")[1])
		}, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := small(p)
			if test.change(&cfg); cfg.Sampler != nil {
				cfg.Unmixed = true // these know no mixed clients
			}
			r, err := Run(context.Background(), cfg)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if r.Passed || r.Broken || !strings.Contains(r.Verdict, test.want) {
				t.Errorf("%s: passed %v, %q, want %q", name, r.Passed, r.Verdict, test.want)
			}
		})
	}
}

// bare is a policy like p without a cost, and with a certificate.
func bare(t *testing.T, p policy.Policy, text []byte) policy.Policy {
	t.Helper()
	cfg := policy.Config{Polytope: p.Polytope(), Certificate: text, Provenance: p.Provenance(),
		InputLabels: p.InputLabels()}
	for i := range p.Inputs() {
		cfg.Rows = append(cfg.Rows, must(policy.NewRow(p.Polytope(), must(p.Row(i)))))
	}
	return must(policy.New(cfg))
}

func withCertificate(t *testing.T, text string) policy.Policy {
	t.Helper()
	c, err := cost.NewRing(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	return publish(t, c, "1", 62, policy.Mixture, func(cfg *policy.Config) { cfg.Certificate = []byte(text) })
}

// TestBrokenAudit: an audit whose control was missed says so and believes nothing.
func TestBrokenAudit(t *testing.T) {
	r, err := Run(context.Background(), small(ring(t, 5, "1", 62, policy.Mixture)))
	if err != nil || !r.Passed {
		t.Fatalf("%v, %s", err, r.Verdict)
	}
	for i := range r.Controls {
		broken := r
		broken.Passed = false
		broken.Controls = append([]Control(nil), r.Controls...)
		broken.Controls[i].Found = false
		broken.conclude()
		if broken.Passed || !broken.Broken || !strings.Contains(broken.Verdict, "broken") {
			t.Errorf("%s missed: passed %v, %q", broken.Controls[i].Name, broken.Passed, broken.Verdict)
		}
		if text := string(broken.Text()); !strings.Contains(text, "MISSED") && !strings.Contains(text, "FALSE ALARM") {
			t.Errorf("%s missed: the text does not say so", broken.Controls[i].Name)
		}
	}
	for i := range r.Exact {
		failed := r
		failed.Passed = false
		failed.Exact = append([]Check(nil), r.Exact...)
		failed.Exact[i].Passed = false
		if failed.conclude(); failed.Passed || !strings.Contains(failed.Verdict, "integers") {
			t.Errorf("%s failed: passed %v, %q", r.Exact[i].Name, failed.Passed, failed.Verdict)
		}
	}
}

// TestRunWithoutRows: a projection policy without rows and solver is audited as far as it goes, and the report
// says how far.
func TestRunWithoutRows(t *testing.T) {
	box := ring(t, 4, "1", 30, policy.Mixture).Polytope()
	p, err := policy.New(policy.Config{
		Polytope: box, Mode: policy.Projection, Inputs: 4,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), small(p))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed || r.Statistics != nil || len(r.Certificates) != 0 || len(r.Notes) != 1 ||
		!strings.Contains(r.Verdict, "nothing was sampled") {
		t.Errorf("%s %v", r.Verdict, r.Notes)
	}
	if text := string(r.Text()); !strings.Contains(text, "No statistics") {
		t.Error(text)
	}
	if _, err := r.HTML(); err != nil {
		t.Error(err)
	}
	// A program can still be audited: its limits then come from the box.
	cfg := small(p)
	cfg.Sampler = func(_ context.Context, _ Row, n int, counts []uint64) error { counts[0] += uint64(n); return nil }
	r, err = Run(context.Background(), cfg)
	if err != nil || r.Statistics == nil || r.Statistics.Violated ||
		math.IsInf(float64(r.Statistics.Limit.Hardest.Overshoot), 0) {
		t.Errorf("%v, %s", err, r.Verdict)
	}
}

// TestRunLimit: what would take days is refused before any work.
func TestRunLimit(t *testing.T) {
	const n = 1<<18 + 1
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, slices.Repeat([]float64{1.0 / n}, n), 40)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Geometry: &policy.Geometry{Kind: policy.Ring}, Thresholds: make([]int32, n),
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), small(p)); !errors.Is(err, ErrLimit) ||
		!strings.Contains(err.Error(), "262145 x 262145") {
		t.Error(err)
	}
}

func TestRunErrors(t *testing.T) {
	p := ring(t, 5, "1", 62, policy.Projection)
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		change func(*Config)
		want   error
	}{
		"no policy":        {func(c *Config) { c.Policy = policy.Policy{} }, ErrTable},
		"unknown input":    {func(c *Config) { c.Inputs = []int{0, 5} }, ErrDesign},
		"one input":        {func(c *Config) { c.Inputs = []int{0} }, ErrDesign},
		"no input":         {func(c *Config) { c.Inputs = []int{} }, ErrDesign},
		"twice":            {func(c *Config) { c.Inputs = []int{0, 1, 0} }, ErrDesign},
		"negative samples": {func(c *Config) { c.Samples = -1 }, ErrDesign},
		"false alarm":      {func(c *Config) { c.FalseAlarm = 2 }, ErrDesign},
		"solver": {func(c *Config) {
			c.Project = func(context.Context, []float64) ([]float64, error) { return nil, broken }
		}, broken},
		"certificates": {func(c *Config) {
			c.Certificates = []CertificateFile{{"file", strings.NewReader("x")}}
		}, certificate.ErrFormat},
		"reader": {func(c *Config) {
			c.Certificates = []CertificateFile{{"file", io.MultiReader(strings.NewReader("x"), failing{broken})}}
		}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := small(p)
			cfg.Project = projector(t, p)
			test.change(&cfg)
			r, err := Run(context.Background(), cfg)
			if !errors.Is(err, test.want) || !reflect.DeepEqual(r, Report{}) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
			if name == "certificates" && !strings.Contains(err.Error(), "file: line 1") {
				t.Errorf("%s: %v names no line", name, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, small(p)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTargetFails: a target that fails or panics, for all clients or for mixed ones alone, is a report that has not
// passed, and says why; a context that ends is an error.
func TestTargetFails(t *testing.T) {
	p := ring(t, 5, "1", 62, policy.Mixture)
	good := Releases(p, nil)
	for name, fail := range map[string]func() error{
		"broken":                func() error { return errors.New("broken") },
		"panic: oh":             func() error { panic("oh") },
		"index out of range":    func() error { _ = []int{}[p.Inputs()]; return nil },
		"input 0: 0 draws":      func() error { return nil },
		"panic: panic called w": func() error { panic(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, mixedOnly := range []bool{false, true} {
				cfg := small(p)
				cfg.Samples = 200
				cfg.Sampler = func(ctx context.Context, client Row, n int, counts []uint64) error {
					if mixedOnly && client.Input != Mixed {
						return good(ctx, client, n, counts)
					}
					return fail()
				}
				cfg.Inputs = nil
				r, err := Run(context.Background(), cfg)
				if want := strings.TrimPrefix(name, "input 0: "); err != nil || r.Passed || r.Statistics != nil ||
					!strings.Contains(r.Fault, want) ||
					!strings.Contains(r.Verdict, want) || !strings.Contains(string(r.Text()), want) ||
					!strings.Contains(string(must(r.JSON())), `"fault"`) {
					t.Errorf("%s: %v, %+v", name, err, r.Verdict)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cfg := small(p)
	cfg.Sampler = func(context.Context, Row, int, []uint64) error { cancel(); return errors.New("killed") }
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestChooseInputs: the fallback, the worst pair, and no more than the default number, in order.
func TestChooseInputs(t *testing.T) {
	for _, k := range []int{1, 2, 15, 16, 17, 40} {
		p := ring(t, k, "1", 62, policy.Mixture)
		exact, err := Exact(context.Background(), p, 0, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := chooseInputs(p, exact)
		if len(got) != 1+min(k, DefaultInputs) || got[0] != Fallback {
			t.Fatalf("k = %d: %v", k, got)
		}
		worst := 0
		for n, i := range got[1:] {
			if i < 0 || i >= k || n > 0 && i <= got[n] {
				t.Errorf("k = %d: %v", k, got)
			}
			if name := nameOf(p, i); exact[2].Worst != nil && (name == exact[2].Worst.High || name == exact[2].Worst.Low) {
				worst++
			}
		}
		if k > 1 && worst == 0 {
			t.Errorf("k = %d: %v lacks the worst pair %v", k, got, exact[2].Worst)
		}
	}
}

func TestParseInputs(t *testing.T) {
	p := ring(t, 3, "1", 62, policy.Mixture)
	got, err := ParseInputs(p, []string{"p2", "fallback", "p0"})
	if err != nil || !reflect.DeepEqual(got, []int{2, Fallback, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ParseInputs(p, []string{"p0", "p3"}); !errors.Is(err, ErrDesign) ||
		!strings.Contains(err.Error(), `"p3"`) {
		t.Errorf("unknown label: %v", err)
	}
}

// TestCertifiedDecimals: the bounds that are shown hold, however small they are: they are not rounded to some places.
func TestCertifiedDecimals(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1e-20, 3e-20, 0}}
	r := must(basemeasure.Solve(context.Background(), c, 1, basemeasure.Settings{}))
	made := must(certificate.NewBaseMeasure(context.Background(), c, 1, r))
	res, stated := must(Certify(context.Background(), made)), made.Stated()
	lower, upper := must(strconv.ParseFloat(res.Lower, 64)), must(strconv.ParseFloat(res.Upper, 64))
	if !res.Passed || !(lower > 0) || new(big.Rat).SetFloat64(lower).Cmp(stated.Lower) > 0 ||
		new(big.Rat).SetFloat64(upper).Cmp(stated.Upper) < 0 {
		t.Errorf("%s to %s, proved %s to %s", res.Lower, res.Upper, stated.Lower.FloatString(40),
			stated.Upper.FloatString(40))
	}
}

// TestCertifyEnds: a context that has ended is an error, and not a certificate that does not hold.
func TestCertifyEnds(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	r := must(basemeasure.Solve(context.Background(), c, 1, basemeasure.Settings{}))
	made := must(certificate.NewBaseMeasure(context.Background(), c, 1, r))
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	_, one := Certify(ctx, made)
	_, file := Certificates(ctx, "a file", strings.NewReader(string(must(made.MarshalJSON()))), nil)
	for _, err := range []error{one, file} {
		if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	}
}
