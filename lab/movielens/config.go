package movielens

import (
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/ldp"
)

// Embedding says what stands for a film.
type Embedding string

// The embeddings.
const (
	Scores   Embedding = "scores"   // U S: principal component scores
	Loadings Embedding = "loadings" // U: unit columns
)

// Config is the protocol. Its zero value, with the files set, is the study of the paper; the fields say what zero
// means.
type Config struct {
	Ratings string `json:"-"`   // u.data
	Films   string `json:"-"`   // u.item
	Out     string `json:"out"` // folder to write the report to; "": nothing is written

	// exact decimals or fractions, ascending; nil: the paper's 0.2, 0.5, 1, 2, 3, 4, and 5
	Epsilons []string `json:"epsilons"`
	Splits   int      `json:"splits"` // 0: 20, or all of SplitFile
	// "": the splits are drawn; else the first Splits of this file, see the package comment
	SplitFile  string    `json:"split_file"`
	Seed       uint64    `json:"seed"`       // of the first split that is drawn; the others follow
	Dimension  int       `json:"dimension"`  // of the embedding; 0: 64
	Embedding  Embedding `json:"embedding"`  // "": Scores
	Candidates int       `json:"candidates"` // 0: 250
	Scales     int       `json:"scales"`     // masses of the sweep; 0: 21
	Lambda     float64   `json:"lambda"`     // 0: 0.01
	Rounds     int       `json:"rounds"`     // 0: 40
	Like       int       `json:"like"`       // least rating that is a hit; 0: 4

	// Progress, if not nil, is told what is being done and how much of it is. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
}

// maxSplits is the limit of Splits, and of a file of them.
const maxSplits = 100

// resolve fills in the defaults and checks everything.
func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	for _, d := range []struct {
		v *int
		d int
	}{{&c.Dimension, 64}, {&c.Candidates, 250}, {&c.Scales, 21}, {&c.Rounds, 40}, {&c.Like, 4}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	if c.Splits == 0 && c.SplitFile == "" {
		c.Splits = 20
	}
	if c.Embedding == "" {
		c.Embedding = Scores
	}
	if c.Lambda == 0 {
		c.Lambda = 0.01
	}
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.2", "0.5", "1", "2", "3", "4", "5"}
	}
	c.Epsilons = slices.Clone(c.Epsilons)
	least := 2
	if c.SplitFile != "" {
		least = 0 // all
	}
	for _, v := range []struct {
		what       string
		n, lo, max int
	}{
		{"Splits", c.Splits, least, maxSplits}, {"Dimension", c.Dimension, 1, 4096}, {"Candidates", c.Candidates, 1, 1 << 16},
		{"Scales", c.Scales, 1, 1000},
		{"Rounds", c.Rounds, 1, 1_000_000}, {"Like", c.Like, 1, 5}, {"number of Epsilons", len(c.Epsilons), 1, 64},
	} {
		if v.n < v.lo || v.n > v.max {
			return c, nil, fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, v.what, v.n, v.lo, v.max)
		}
	}
	if !(c.Lambda >= 1e-6 && c.Lambda <= 100) { // NaN fails
		return c, nil, fmt.Errorf("%w: Lambda is %v, want 1e-6 to 100", ErrConfig, c.Lambda)
	}
	if c.Embedding != Scores && c.Embedding != Loadings {
		return c, nil, fmt.Errorf("%w: Embedding is %q, want %q or %q", ErrConfig, c.Embedding, Scores, Loadings)
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
		eps[i], c.Epsilons[i] = e, e.String()
	}
	return c, eps, nil
}
