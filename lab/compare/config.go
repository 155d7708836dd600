package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/ldp"
)

// Config says what is compared and how. Its zero value is a comparison; the fields say what zero means.
type Config struct {
	Out      string   `json:"out"`      // folder to write the report to; "": nothing is written
	Epsilons []string `json:"epsilons"` // exact decimals or fractions, ascending; nil: 0.5, 1, 2, 4
	Methods  []Method `json:"methods"`  // nil: all that need no setting and fit the data
	Maps     []string `json:"maps"`     // of MapMethods; Methods may then be empty, but not nil; nil: none
	Metrics  []string `json:"metrics"`  // kpm-tuned goes by the first; nil: w1, and tv and hit@1 if outputs are inputs

	// what the base measure of WPM is for: uniform, minimax, average or mixed; "": uniform
	Objective string    `json:"objective"`
	Lambda    float64   `json:"lambda"` // of algorithm1, in units of the cost; 0: a hundredth of the range of the cost
	Rounds    int       `json:"rounds"` // of algorithm1; 0: 40
	Public    []float64 `json:"public"` // public distribution of local and linear, one number an input; nil: uniform
	Gamma     float64   `json:"gamma"`  // of local: users are between Public/Gamma and Gamma*Public; 0: 10

	Seeds int    `json:"seeds"` // simulated releases of everybody; 0: 20
	Seed  uint64 `json:"seed"`  // of the first; the others follow it
	NPY   bool   `json:"npy"`   // also write the laws of users and of point masses

	// Own are mechanisms of the caller. Methods names those that take part; if it is nil, all do.
	Own []Own `json:"-"`

	// Progress, if not nil, is told what is being done and how much of it is. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
}

// metric is a score.
type metric struct {
	name  string
	power int // of w; else 0
	top   int // of hit; else 0
}

// parseMetric reads the name of a score.
func parseMetric(name string) (metric, error) {
	m := metric{name: name}
	number := func(text string, most int) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 1 && n <= most && strconv.Itoa(n) == text
	}
	ok := true
	if text, found := strings.CutPrefix(name, "hit@"); found {
		m.top, ok = number(text, maxPoints)
	} else if text, found := strings.CutPrefix(name, "w"); found {
		m.power, ok = number(text, 10)
	} else {
		ok = name == "tv" || name == "kl"
	}
	if !ok {
		return m, fmt.Errorf("%w: metric %q is not w1 to w10, tv, kl or hit@n", ErrConfig, name)
	}
	return m, nil
}

// label is the metric's name in figures.
func (m metric) label() string {
	switch {
	case m.power == 1:
		return "W₁"
	case m.power == 2:
		return "W₂"
	case m.power > 0:
		return fmt.Sprintf("W_%d", m.power)
	case m.top > 0:
		return fmt.Sprintf("hit rate of the first %d", m.top)
	case m.name == "tv":
		return "total variation"
	}
	return "KL divergence"
}

// ofMaps reports whether the metric also scores maps.
func (m metric) ofMaps() bool { return m.power > 0 || m.name == "tv" }

// better reports whether a is better than b.
func (m metric) better(a, b float64) bool {
	if m.top > 0 {
		return a > b
	}
	return a < b
}

// plan is a resolved Config.
type plan struct {
	Config
	eps     []ldp.Epsilon
	metrics []metric
	kind    wpm.Kind
	forms   map[Method]form // all that Methods may name
}

func (c Config) resolve(d Data) (p plan, err error) {
	p.Config = c.withDefaults(d)
	fail := func(format string, args ...any) (plan, error) {
		return p, fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	switch c := p.Config; {
	case c.Seeds < 1 || c.Seeds > maxSeeds:
		return fail("Seeds is %d, want 1 to %d", c.Seeds, maxSeeds)
	case c.Rounds < 1 || c.Rounds > 1_000_000:
		return fail("Rounds is %d, want 1 to 1000000", c.Rounds)
	case !(c.Lambda >= 0 && c.Lambda <= math.MaxFloat64):
		return fail("Lambda is %v", c.Lambda)
	case !(c.Gamma >= 1 && c.Gamma <= math.MaxFloat64):
		return fail("Gamma is %v, want 1 or more", c.Gamma)
	case len(c.Epsilons) < 1 || len(c.Epsilons) > maxEps || len(c.Methods)+len(c.Maps) < 1 || len(c.Metrics) < 1:
		return fail("%d Epsilons, %d Methods, %d Metrics", len(c.Epsilons), len(c.Methods), len(c.Metrics))
	case c.Public != nil && len(c.Public) != d.Distance.K:
		return fail("Public has %d numbers for %d inputs", len(c.Public), d.Distance.K)
	}
	if p.kind, err = ParseObjective(p.Objective); err != nil {
		return p, err
	}
	if p.forms, err = p.known(); err != nil {
		return p, err
	}
	if err := p.checkMethods(d); err != nil {
		return p, err
	}
	if p.metrics, err = p.Config.scores(d); err != nil {
		return p, err
	}
	for i, s := range p.Epsilons {
		e, err := ldp.ParseEpsilon(s)
		if err != nil {
			return p, fmt.Errorf("%w: Epsilons[%d]: %w", ErrConfig, i, err)
		}
		if i > 0 && e.Cmp(p.eps[i-1]) <= 0 {
			return fail("Epsilons[%d] = %s after %s, want ascending", i, s, p.Epsilons[i-1])
		}
		p.eps = append(p.eps, e)
		p.Epsilons[i] = e.String()
	}
	return p, nil
}

// MapMethods returns the mechanisms that make maps of many reports, and no release of one place.
func MapMethods() []string { return []string{"dam", "hierarchy", "subset", "olh", "oue"} }

// checkMethods has the rules of Methods.
func (p plan) checkMethods(d Data) error {
	for i, m := range p.Methods {
		switch f, known := p.forms[m]; {
		case !known:
			names := slices.Clone(Methods())
			for _, o := range p.Own {
				names = append(names, o.Name)
			}
			return fmt.Errorf("%w: method %q is not one of %v, nor of %v, which make maps alone", ErrConfig, m, names, MapMethods())
		case slices.Contains(p.Methods[:i], m):
			return fmt.Errorf("%w: method %q is there twice", ErrConfig, m)
		case f.same && !d.Same:
			return fmt.Errorf("%w: method %q %s", ErrConfig, m, needSame)
		}
	}
	for _, m := range p.Maps {
		switch {
		case !slices.Contains(MapMethods(), m):
			return fmt.Errorf("%w: Maps: %q is not one of %v", ErrConfig, m, MapMethods())
		case !d.Same:
			return fmt.Errorf("%w: method %q %s", ErrConfig, m, needSame)
		}
	}
	return nil
}

// needSame ends the refusal of what compares a law with its user place by place.
const needSame = "needs outputs that are the inputs: one list of points, or a square matrix with zeros on the diagonal"

// scores reads Metrics.
func (c Config) scores(d Data) (out []metric, err error) {
	for i, name := range c.Metrics {
		m, err := parseMetric(name)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(c.Metrics[:i], name):
			return nil, fmt.Errorf("%w: metric %q is there twice", ErrConfig, name)
		case m.power == 0 && !d.Same:
			return nil, fmt.Errorf("%w: metric %q %s", ErrConfig, name, needSame)
		case m.top > d.Distance.K:
			return nil, fmt.Errorf("%w: metric %q: there are %d inputs", ErrConfig, name, d.Distance.K)
		}
		out = append(out, m)
	}
	return out, nil
}

// withDefaults fills in what is zero.
func (c Config) withDefaults(d Data) Config {
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.5", "1", "2", "4"}
	}
	if c.Methods == nil {
		for _, m := range Methods() {
			if f := methods[m]; !f.extra && (d.Same || !f.same) {
				c.Methods = append(c.Methods, m)
			}
		}
		for _, o := range c.Own {
			c.Methods = append(c.Methods, o.Name)
		}
	}
	if c.Metrics == nil {
		c.Metrics = []string{"w1"}
		if d.Same {
			c.Metrics = append(c.Metrics, "tv")
			if d.Distance.K > 1 {
				c.Metrics = append(c.Metrics, "hit@1")
			}
		}
	}
	if c.Objective == "" {
		c.Objective = wpm.Uniform.String()
	}
	if c.Rounds == 0 {
		c.Rounds = 40
	}
	if c.Gamma == 0 {
		c.Gamma = 10
	}
	if c.Seeds == 0 {
		c.Seeds = 20
	}
	c.Maps = slices.Clone(c.Maps)
	c.Epsilons, c.Methods, c.Metrics = slices.Clone(c.Epsilons), slices.Clone(c.Methods), slices.Clone(c.Metrics)
	return c
}
