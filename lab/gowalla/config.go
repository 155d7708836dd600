package gowalla

import (
	"fmt"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/lab/compare"
	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/ldp"
)

// Box is an area in degrees, closed on all sides.
type Box struct {
	South float64 `json:"south"` // latitude
	North float64 `json:"north"` // latitude
	West  float64 `json:"west"`  // longitude
	East  float64 `json:"east"`  // longitude
}

// Austin returns the area of the paper's study, the default.
func Austin() Box { return Box{South: 30.15, North: 30.45, West: -97.90, East: -97.60} }

// cell returns the row (from the south) and column (from the west) of a point, or false if it is outside.
func (b Box) cell(lat, lon float64, rows, cols int) (row, col int, ok bool) {
	if !(lat >= b.South && lat <= b.North && lon >= b.West && lon <= b.East) {
		return 0, 0, false
	}
	at := func(v, lo, hi float64, n int) int { return min(int((v-lo)/((hi-lo)/float64(n))), n-1) }
	return at(lat, b.South, b.North, rows), at(lon, b.West, b.East, cols), true
}

// Method is a mechanism of the comparison.
type Method string

// The mechanisms, in the order of the reports.
const (
	WPM         Method = "wpm"         // Wasserstein projection, uniform base measure
	Paper       Method = "wpm-paper"   // the same by Algorithm 1, as the paper has it
	Mixture     Method = "wpm-mixture" // the same box, client mode without a solver
	KPM         Method = "kpm"         // KL projection, closed formula
	KPMTuned    Method = "kpm-tuned"   // KL projection, the scale that is best on the truth
	DiskArea    Method = "disk"        // the Disk Area Mechanism on one check-in
	Exponential Method = "exponential" // exponential mechanism
	Response    Method = "response"    // k-ary randomised response
)

// Methods returns all mechanisms in the order of the reports.
func Methods() []Method {
	return []Method{WPM, Paper, Mixture, KPM, KPMTuned, DiskArea, Exponential, Response}
}

// Name is the mechanism's name for people.
func (m Method) Name() string {
	switch m {
	case WPM:
		return "WPM"
	case Paper:
		return "WPM, Algorithm 1"
	case Mixture:
		return "WPM, mixture mode"
	case KPM:
		return "KPM"
	case KPMTuned:
		return "KPM, scale tuned"
	case DiskArea:
		return "disk area mechanism"
	case Exponential:
		return "exponential mechanism"
	case Response:
		return "randomised response"
	}
	return string(m)
}

// look is the fixed look of the mechanism in every figure; 0 if it is unknown.
func (m Method) look() int {
	switch m {
	case WPM:
		return figure.LookWPM
	case Paper:
		return figure.LookAlgorithm1
	case Mixture:
		return figure.LookMixture
	case KPM:
		return figure.LookKPM
	case KPMTuned:
		return figure.LookKPMTuned
	case DiskArea:
		return figure.LookDisk
	case Exponential:
		return figure.LookExponential
	case Response:
		return figure.LookResponse
	}
	return 0
}

// Config is the protocol. Its zero value, with Data set, is the study of the paper, and without data the same on a
// synthetic city; the fields say what zero means.
type Config struct {
	Data string `json:"data"` // folder or file, see Load; "": a synthetic city
	Out  string `json:"out"`  // folder to write the report to; "": nothing is written

	Area        Box `json:"area"`         // zero: Austin
	Rows        int `json:"rows"`         // 0: 20
	Cols        int `json:"cols"`         // 0: 20
	MinCheckins int `json:"min_checkins"` // least number of check-ins in the area; 0: 10
	// the lowest so many ids among those; 0: 500. ErrFewUsers if there are not enough
	Users    int  `json:"users"`
	AllUsers bool `json:"all_users"`

	Epsilons []string `json:"epsilons"` // exact decimals or fractions, ascending; nil: 0.5, 1, 2, 3, 4, 5
	Methods  []Method `json:"methods"`  // nil: all
	Runs     int      `json:"runs"`     // simulated releases of the whole population; 0: 20
	Seed     uint64   `json:"seed"`     // of the simulated releases
	Bits     int      `json:"bits"`     // weights are integers that sum to 2^Bits; 0: 62
	// the eps of the heat maps, one of Epsilons; "": 4 if that is among them, else the last
	MapEps string `json:"map_eps"`
	// what the base measure of WPM is for, see compare.Objectives; "": uniform, as the paper has it
	Objective string `json:"objective"`
	Solver    string `json:"solver"` // what finds the projections of WPM, see wpm.ParseSolver; "": exact
	// which exact projection is taken where several cost the same; "": TiesRandom. Without effect on the entropic solver
	Ties Ties `json:"ties"`

	Lambda float64 `json:"lambda"` // of Algorithm 1, in units of the unit square's side; 0: 0.01
	Rounds int     `json:"rounds"` // of Algorithm 1; 0: 40

	SkipEstimates bool `json:"skip_estimates"` // do not estimate maps from one report of each user

	SkipTieRange bool `json:"skip_tie_range"` // do not look for the range of expected W_1 over all exact projections

	// Progress, if not nil, is told what is being done and how much of it is. Calls never overlap; done is not decreasing
	// for one what.
	Progress func(done, total int, what string) `json:"-"`
}

// Limits of a Config.
const (
	maxRuns     = 1000
	maxEpsilons = 64
	maxRounds   = 100_000
	maxSide     = 100 // cells per side: 10 000 cells is what exact transport does in reasonable time and memory
)

// resolve fills in the defaults and checks everything.
func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return c, nil, err
	}
	eps := make([]ldp.Epsilon, len(c.Epsilons))
	for i, s := range c.Epsilons {
		e, err := ldp.ParseEpsilon(s)
		if err != nil {
			return c, nil, fmt.Errorf("%w: Epsilons[%d]: %w", ErrConfig, i, err)
		}
		if i > 0 && e.Cmp(eps[i-1]) <= 0 {
			return c, nil, fmt.Errorf("%w: Epsilons[%d] = %s after %s, want ascending", ErrConfig, i, s, c.Epsilons[i-1])
		}
		eps[i] = e
		c.Epsilons[i] = e.String() // one spelling, so that "4" and "4.0" are the same study
	}
	if c.MapEps == "" {
		c.MapEps = c.Epsilons[len(c.Epsilons)-1]
		if slices.Contains(c.Epsilons, "4") {
			c.MapEps = "4"
		}
	}
	m, err := ldp.ParseEpsilon(c.MapEps)
	if err != nil {
		return c, nil, fmt.Errorf("%w: MapEps: %w", ErrConfig, err)
	}
	if c.MapEps = m.String(); !slices.Contains(c.Epsilons, c.MapEps) {
		return c, nil, fmt.Errorf("%w: MapEps is %s, which is not among Epsilons", ErrConfig, c.MapEps)
	}
	return c, eps, nil
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Rows, 20)
	def(&c.Cols, 20)
	def(&c.MinCheckins, 10)
	def(&c.Runs, 20)
	def(&c.Bits, 62)
	def(&c.Rounds, 40)
	if c.Lambda == 0 {
		c.Lambda = 0.01
	}
	if c.Objective == "" {
		c.Objective = wpm.Uniform.String()
	}
	if c.Solver == "" {
		c.Solver = wpm.Exact.String()
	}
	if c.Ties == "" {
		c.Ties = TiesRandom
	}
	if !c.AllUsers {
		def(&c.Users, 500)
	}
	if c.Area == (Box{}) {
		c.Area = Austin()
	}
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.5", "1", "2", "3", "4", "5"}
	}
	if c.Methods == nil {
		c.Methods = Methods()
	}
	c.Epsilons, c.Methods = slices.Clone(c.Epsilons), slices.Clone(c.Methods)
	return c
}

// check has the rules but those of Epsilons.
func (c Config) check() error {
	if _, err := compare.ParseObjective(c.Objective); err != nil {
		return fmt.Errorf("%w: Objective: %w", ErrConfig, err)
	}
	if _, err := wpm.ParseSolver(c.Solver); err != nil {
		return fmt.Errorf("%w: Solver: %w", ErrConfig, err)
	}
	if c.Ties != TiesRandom && c.Ties != TiesSolver {
		return fmt.Errorf("%w: Ties is %q, want %q or %q", ErrConfig, c.Ties, TiesRandom, TiesSolver)
	}
	for _, v := range []struct {
		what       string
		n, lo, max int
	}{
		{"Rows", c.Rows, 1, maxSide}, {"Cols", c.Cols, 1, maxSide}, {"MinCheckins", c.MinCheckins, 1, city.MaxCount},
		{"Runs", c.Runs, 1, maxRuns}, {"Bits", c.Bits, 1, 62}, {"Rounds", c.Rounds, 1, maxRounds},
		{"number of Epsilons", len(c.Epsilons), 1, maxEpsilons},
	} {
		if v.n < v.lo || v.n > v.max {
			return fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, v.what, v.n, v.lo, v.max)
		}
	}
	if !(c.Lambda >= 1e-4 && c.Lambda <= 100) { // NaN fails
		return fmt.Errorf("%w: Lambda is %v, want 1e-4 to 100", ErrConfig, c.Lambda)
	}
	if err := c.checkScope(); err != nil {
		return err
	}
	if len(c.Methods) == 0 {
		return fmt.Errorf("%w: no Methods", ErrConfig)
	}
	for i, m := range c.Methods {
		if m.look() == 0 || slices.Contains(c.Methods[:i], m) {
			return fmt.Errorf("%w: method %q is unknown or there twice", ErrConfig, m)
		}
	}
	return nil
}

// checkScope has the rules of who takes part, and where.
func (c Config) checkScope() error {
	if c.AllUsers && c.Users != 0 {
		return fmt.Errorf("%w: AllUsers, and Users is %d", ErrConfig, c.Users)
	}
	if !c.AllUsers && (c.Users < 1 || c.Users > city.MaxUsers) {
		return fmt.Errorf("%w: Users is %d, want 1 to %d", ErrConfig, c.Users, city.MaxUsers)
	}
	a := c.Area
	// NaN fails every one of these.
	if !(a.South < a.North && a.West < a.East && a.South >= -90 && a.North <= 90 && a.West >= -180 && a.East <= 180) {
		return fmt.Errorf("%w: Area is latitude %v to %v, longitude %v to %v", ErrConfig, a.South, a.North, a.West, a.East)
	}
	return nil
}
