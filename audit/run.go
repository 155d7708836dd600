package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// Defaults of a Config.
const (
	DefaultSamples    = 1_000_000
	DefaultRandomRows = 1000
	DefaultInputs     = 16 // besides the fallback
	// defaultWork bounds draws times outputs of an audit that does not say how many draws it wants, some ten
	// seconds.
	defaultWork = 2e10
	minSamples  = 10_000

	// maxReleases is how many whole releases are made for each mixed client, minReleases the least, with which the
	// controls of their kind are found, and releaseWork bounds releases times the entries of the policy's rows, all of
	// which each release reads: some ten seconds.
	maxReleases = 100_000
	minReleases = 2_000
	releaseWork = 1e10
)

// MaxWeights is the largest number of weights in all published rows of a policy that Run takes. It reads each of them
// several times, which takes an hour or so at that size.
const MaxWeights int64 = 1 << 36

// Config is an audit to be made of a policy.
type Config struct {
	Policy policy.Policy
	// Samples is the number of draws for each input. 0 means DefaultSamples, or fewer for policies with many
	// outputs.
	Samples int
	// Inputs are the inputs to draw for, which may include Fallback; there are then no mixed clients. nil means mixed
	// clients, the fallback and up to DefaultInputs other inputs: those of the worst published pair, and others evenly
	// spaced.
	Inputs []int
	// Unmixed: there are no mixed clients, because the inputs of the policy stand for clients of another mechanism.
	Unmixed bool
	// FalseAlarm is the false-alarm rate of all statistical verdicts together; 0 means DefaultFalseAlarm.
	FalseAlarm float64
	// Overshoot is the excess over eps, relative to eps, for which the report gives the number of draws needed; 0 means
	// DefaultOvershoot.
	Overshoot float64
	// Seed is the seed of the simulated draws and of the random rows. If it is nil, draws come from crypto/rand, and the
	// random rows have seed 1.
	Seed *uint64
	// Rows is a file of rows to be checked exactly; nil: none.
	Rows *RowFile
	// RandomRows is how many random rows are checked; 0 means DefaultRandomRows, less than 0 none.
	RandomRows int
	// Sampler is the target of the statistical audit, and Target says what it is. nil means ldp's sampler on the policy's
	// rows, and in mixture mode without Seed also whole releases for mixed clients. The draws of a Sampler are compared
	// with the published rows in mixture mode only, because in projection mode another solver may correctly find another
	// row.
	Sampler Sampler
	Target  string
	// Serial: the Sampler must not be used for two inputs at a time.
	Serial bool
	// Project is the policy's solver, for projection mode: rows of point masses and random rows are found with
	// it.
	Project policy.ProjectFunc
	// Certificates are files of certificates.
	Certificates []CertificateFile
	// Progress is called from time to time, never concurrently; nil is fine.
	Progress func(done, total int, what string)
}

// CertificateFile is a file of certificates, one on each line.
type CertificateFile struct {
	Name string
	Text io.Reader
}

// Report is the outcome of an audit.
type Report struct {
	Policy       PolicyFacts `json:"policy"`
	Passed       bool        `json:"passed"`
	Broken       bool        `json:"broken"` // a control was missed: nothing here can be believed
	Verdict      string      `json:"verdict"`
	Controls     []Control   `json:"controls"`
	Exact        []Check     `json:"exact"`
	Target       string      `json:"target"` // of the statistics
	Statistics   *Statistics `json:"statistics,omitempty"`
	Releases     *Statistics `json:"releases,omitempty"` // whole releases of mixed clients, if Statistics has none
	Fault        string      `json:"fault,omitempty"`    // why the target gave no draws
	Certificates []Certified `json:"certificates"`
	Notes        []string    `json:"notes"`
}

// PolicyFacts name the policy that was audited.
type PolicyFacts struct {
	ID      string `json:"id"`
	Epsilon string `json:"epsilon"`
	Bits    int    `json:"bits"`
	Mode    string `json:"mode"`
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"`
}

// Run makes an audit: the controls, the exact checks, the certificates, the statistics. The controls run once in a
// process, because their result is the same every time.
//
// The error is about the arguments (ErrTable, ErrDesign, and ErrLimit before any work), about Project (ErrSampler),
// about a certificate file (*certificate.LineError), or is that of the context. A mechanism that fails gives a Report
// that has not passed, and so does a Sampler that fails or panics.
func Run(ctx context.Context, cfg Config) (Report, error) {
	ctx = wpmerr.Context(ctx)
	p := cfg.Policy
	if p.IsZero() {
		return Report{}, fmt.Errorf("%w: no policy", ErrTable)
	}
	if k, kv := p.Inputs(), p.Outputs(); p.HasRows() && int64(k) > MaxWeights/int64(kv) {
		return Report{}, fmt.Errorf("%w: the rows have %d x %d weights, at most %d: wpm verify -rows -utility checks more of them",
			ErrLimit, k, kv, MaxWeights)
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int, int, string) {}
	}
	cfg.Progress(0, 1, "controls")
	controls, err := madeControls(ctx)
	if err != nil {
		return Report{}, err
	}
	return cfg.run(ctx, controls)
}

// made holds the controls once they are made: a process makes them for its first audit.
var made struct {
	sync.Mutex
	controls []Control
}

// madeControls returns a copy of the controls.
func madeControls(ctx context.Context) ([]Control, error) {
	made.Lock()
	defer made.Unlock()
	if made.controls == nil {
		list, err := Controls(ctx)
		if err != nil {
			return nil, err
		}
		made.controls = list
	}
	list := slices.Clone(made.controls)
	for i, c := range list {
		if c.Loss != nil {
			loss := *c.Loss
			list[i].Loss = &loss
		}
	}
	return list, wpmerr.Ended(ctx)
}

// run is Run after the controls.
func (cfg Config) run(ctx context.Context, controls []Control) (Report, error) {
	p := cfg.Policy
	id := p.ID()
	r := Report{
		Policy: PolicyFacts{
			ID: hex.EncodeToString(id[:]), Epsilon: p.Epsilon().String(), Bits: p.Polytope().Bits(),
			Mode: string(p.Mode()), Inputs: p.Inputs(), Outputs: p.Outputs(),
		},
		Controls: controls, Certificates: []Certified{}, Notes: []string{},
	}
	cfg.Progress(0, 1, "exact checks")
	var err error
	seed := uint64(1)
	if cfg.Seed != nil {
		seed = *cfg.Seed
	}
	random := cfg.RandomRows
	if random == 0 {
		random = DefaultRandomRows
	}
	if r.Exact, err = Exact(ctx, p, random, seed, cfg.Project); err != nil {
		return Report{}, err
	}
	t, err := cfg.rows(ctx, r.Exact)
	if err != nil {
		return Report{}, err
	}
	var mixed []Row
	if cfg.Inputs == nil && !cfg.Unmixed && (cfg.Sampler != nil || cfg.Seed == nil && p.Mode() == policy.Mixture) {
		pair := append(worstPair(p, r.Exact), 0, p.Inputs()/2)
		if mixed, err = mixedRows(p, pair[0], pair[1]); err != nil {
			return Report{}, err
		}
	}
	r.Exact = append(r.Exact, Words(p, t))
	if cfg.Rows != nil {
		c, err := Given(ctx, p, *cfg.Rows)
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", cfg.Rows.Name, err)
		}
		r.Exact = append(r.Exact, c)
	}
	if err := cfg.certificates(ctx, &r); err != nil {
		return Report{}, err
	}
	if err := cfg.statistics(ctx, &r, t, mixed); err != nil {
		return Report{}, err
	}
	r.conclude()
	return r, nil
}

// rows returns the table of the audited inputs. In projection mode their rows are those of point masses, found
// with Project.
func (cfg Config) rows(ctx context.Context, exact []Check) (Table, error) {
	p := cfg.Policy
	inputs := cfg.Inputs
	if inputs == nil {
		inputs = chooseInputs(p, exact)
	}
	seen := map[int]bool{}
	for _, i := range inputs {
		if seen[i] {
			return Table{}, fmt.Errorf("%w: %s is there twice", ErrDesign, nameOf(p, i))
		}
		seen[i] = true
	}
	if len(inputs) < 2 {
		return Table{}, fmt.Errorf("%w: %d inputs, want at least 2 to compare", ErrDesign, len(inputs))
	}
	t, err := TableOf(p, inputs...)
	if err != nil {
		return Table{}, err
	}
	if p.Mode() != policy.Projection {
		return t, nil
	}
	for n := range t.Rows {
		row := &t.Rows[n]
		if row.Input == Fallback {
			continue
		}
		row.N = nil // the published row serves when the solver fails
		if cfg.Project == nil {
			continue
		}
		mu := make([]float64, p.Inputs())
		mu[row.Input] = 1
		q, err := cfg.Project(ctx, mu)
		if err != nil {
			return Table{}, fmt.Errorf("%w: %s: projection: %w", ErrSampler, row.Name, err)
		}
		row.N = weights(p.Polytope().Round(q))
	}
	return t, nil
}

// worstPair returns the inputs of the worst published pair: two, or one beside the fallback, or none.
func worstPair(p policy.Policy, exact []Check) []int {
	var pair []int
	for _, c := range exact {
		if c.Name == "published rows" && c.Worst != nil {
			for i := range p.Inputs() {
				if name := nameOf(p, i); name == c.Worst.High || name == c.Worst.Low {
					pair = append(pair, i)
				}
			}
		}
	}
	return pair
}

// chooseInputs returns the fallback, the inputs of the worst published pair, and others evenly spaced.
func chooseInputs(p policy.Policy, exact []Check) []int {
	k := p.Inputs()
	chosen := map[int]bool{}
	for _, i := range worstPair(p, exact) {
		chosen[i] = true
	}
	// Spread the rest; halving the stride fills the gaps.
	for parts := 1; len(chosen) < min(k, DefaultInputs); parts *= 2 {
		for n := 0; n < parts && len(chosen) < min(k, DefaultInputs); n++ {
			chosen[int(int64(n)*int64(k)/int64(parts))] = true
		}
	}
	out := []int{Fallback}
	for i := range k {
		if chosen[i] {
			out = append(out, i)
		}
	}
	return out
}

func (cfg Config) certificates(ctx context.Context, r *Report) error {
	p := cfg.Policy
	if p.Certificate() != nil {
		c, err := policyCertificate(ctx, p)
		if err != nil {
			return err
		}
		r.Certificates = append(r.Certificates, c)
	}
	for _, f := range cfg.Certificates {
		list, err := Certificates(ctx, f.Name, f.Text, p.Cost())
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		r.Certificates = append(r.Certificates, list...)
	}
	return nil
}

func (cfg Config) statistics(ctx context.Context, r *Report, t Table, mixed []Row) error {
	p := cfg.Policy
	d := Design{
		Table: t, Samples: cfg.Samples, FalseAlarm: cfg.FalseAlarm, Overshoot: cfg.Overshoot,
		Serial: cfg.Serial, Progress: func(done, total int) { cfg.Progress(done, total, "draws") },
	}
	s := cfg.Sampler
	r.Target = cfg.Target
	if s == nil {
		source := CryptoRand()
		r.Target = "ldp.Weights.Sample on the policy's rows, with random bytes from the system"
		if cfg.Seed != nil {
			source = Seeded(*cfg.Seed)
			r.Target = fmt.Sprintf("simulation: ldp.Weights.Sample on the policy's rows, seed %d", *cfg.Seed)
		}
		// Without rows, what cannot be drawn is left out.
		d.Table.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(row Row) bool { return row.N == nil })
		if len(d.Table.Rows) < 2 {
			r.Notes = append(r.Notes, "No statistics: the policy publishes no rows, and no solver was given to find them.")
			return nil
		}
		for _, row := range d.Table.Rows {
			if t.rowFault(row.N) != "" {
				r.Notes = append(r.Notes, "No statistics: "+row.Name+" is not a row of the box.")
				return nil
			}
		}
		var err error
		if s, err = Draws(p, d.Table, source); err != nil {
			return err
		}
		if len(mixed) == 0 && !cfg.Unmixed {
			r.Notes = append(r.Notes, "No release was made, and nothing is known of clients with data on several inputs.")
		}
		if len(mixed) > 0 {
			if d.FalseAlarm == 0 {
				d.FalseAlarm = DefaultFalseAlarm
			}
			d.FalseAlarm /= 2
			if r.Releases, err = cfg.releases(ctx, r, d, mixed); err != nil || r.Releases == nil {
				return err
			}
		}
	} else {
		d.Table.Rows = append(slices.Clone(t.Rows), mixed...)
		if p.Mode() == policy.Projection {
			for n := range d.Table.Rows {
				if d.Table.Rows[n].Input != Fallback {
					d.Table.Rows[n].N = nil
				}
			}
			r.Notes = append(r.Notes, "The draws are not compared with rows: in projection mode another solver may rightly find another row.")
		}
	}
	if d.Samples == 0 {
		d.Samples = int(min(DefaultSamples,
			max(minSamples, math.Floor(defaultWork/float64(len(d.Table.Rows))/float64(p.Outputs())))))
	}
	var err error
	r.Statistics, err = r.draw(ctx, d, s)
	return err
}

// releases makes whole releases for mixed clients, by the design of the other draws but for the number.
func (cfg Config) releases(ctx context.Context, r *Report, d Design, mixed []Row) (*Statistics, error) {
	p := cfg.Policy
	d.Table.Rows = mixed
	n := releaseWork / float64(len(mixed)) / float64(p.Inputs()) / float64(p.Outputs())
	n = min(maxReleases, max(minReleases, math.Floor(n)))
	if d.Samples > 0 {
		n = min(n, float64(d.Samples))
	}
	d.Samples = int(n)
	d.Progress = func(done, total int) { cfg.Progress(done, total, "releases") }
	return r.draw(ctx, d, Releases(p, nil))
}

// draw is Statistical, but that a sampler that fails is the report's fault.
func (r *Report) draw(ctx context.Context, d Design, s Sampler) (*Statistics, error) {
	st, err := Statistical(ctx, d, s)
	if errors.Is(err, ErrSampler) && ctx.Err() == nil {
		r.Fault = err.Error()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &st, nil
}

// conclude draws the verdict from the parts.
func (r *Report) conclude() {
	exact, certified := true, true
	for _, c := range r.Exact {
		exact = exact && c.Passed
	}
	for _, c := range r.Certificates {
		certified = certified && c.Passed
	}
	for _, c := range r.Controls {
		r.Broken = r.Broken || !c.Found
	}
	st, alarm := r.Statistics, 0.0
	var violated, differs *Statistics
	for _, part := range []*Statistics{r.Releases, r.Statistics} {
		if part == nil {
			continue
		}
		alarm += float64(part.FalseAlarm)
		if part.Violated {
			violated = part
		}
		if part.Law != nil && part.Law.Differs {
			differs = part
		}
	}
	switch {
	case r.Broken:
		r.Verdict = "the audit is broken: a control of its own was missed, so nothing below can be believed"
	case !exact:
		r.Verdict = "failed: the integers do not carry the guarantee"
	case violated != nil:
		r.Verdict = fmt.Sprintf("violated: a loss of at least %v was seen, above eps = %s (false-alarm rate %v)",
			violated.Lower.short(), violated.Epsilon, Real(alarm).short())
	case differs != nil:
		r.Verdict = fmt.Sprintf("failed: the draws do not follow the published rows (false-alarm rate %v)",
			Real(alarm).short())
	case r.Fault != "":
		r.Verdict = "failed: no draws: " + r.Fault
	case !certified:
		r.Verdict = "failed: a certificate does not hold"
	case st == nil:
		r.Verdict, r.Passed = "passed: the integers carry the guarantee; nothing was sampled", true
	default:
		r.Verdict = fmt.Sprintf("passed: the integers carry the guarantee, and %d draws for each of %d clients show no violation of eps = %s "+
			"(the policy has %d inputs)", st.Samples, len(st.Inputs), st.Epsilon, r.Policy.Inputs)
		r.Passed = true
	}
}

// ParseInputs finds inputs by their labels; "fallback" means the Fallback, unless an input has this label. The error is
// ErrDesign for a label of no input.
func ParseInputs(p policy.Policy, labels []string) ([]int, error) {
	index := map[string]int{"fallback": Fallback}
	for i := range p.Inputs() {
		index[p.InputLabel(i)] = i
	}
	out := make([]int, len(labels))
	for n, label := range labels {
		i, ok := index[label]
		if !ok {
			return nil, fmt.Errorf("%w: %q is no input of the policy", ErrDesign, label)
		}
		out[n] = i
	}
	return out, nil
}
