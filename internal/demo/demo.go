package demo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Errors of this package; those of the packages it tours pass through.
var (
	// ErrConfig: a Config field out of range.
	ErrConfig = errors.New("demo: bad configuration")
	// ErrCheck: something that must hold for every mechanism did not. It would be a bug.
	ErrCheck = errors.New("demo: check failed")
)

// Config is what can be chosen. The zero value is the demo.
type Config struct {
	Out      string   `json:"out"`      // folder for the policy files and the report; "": nothing is written
	Users    int      `json:"users"`    // 0: 500
	Rows     int      `json:"rows"`     // 0: 20
	Cols     int      `json:"cols"`     // 0: 20
	Epsilon  string   `json:"epsilon"`  // of the published mechanism; "": 4
	Epsilons []string `json:"epsilons"` // of the comparison, ascending; nil: 1, 2, 3, 4, 5 with Epsilon put in its place
	Seed     uint64   `json:"seed"`

	// Progress, if not nil, is told what is being done and how much of it is. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
	// Page, if not nil, makes a page that shows the result in a browser, to be written beside the report; nil is none.
	Page func(Result) []byte `json:"-"`
}

// Result is what the demo found. Distances are in cell widths.
type Result struct {
	Config      Config      `json:"config"` // as resolved, without Progress
	Checkins    int         `json:"checkins"`
	Mass        float64     `json:"mass"`  // of the base measure
	Worst       float64     `json:"worst"` // certified: the worst case over all private distributions is at most this
	Lower       float64     `json:"lower"` // certified: no eps-LDP mechanism has a smaller worst case
	Policies    []Policy    `json:"policies"`
	ReportBytes int         `json:"report_bytes"` // size of the real release
	Spent       string      `json:"spent"`        // what the ledger paid for it, asked twice
	Person      Person      `json:"person"`
	Modes       []Mode      `json:"modes"`
	Learned     Learned     `json:"learned"`
	Truth       []float64   `json:"truth"`      // the mean of what the users hold, by cell
	Comparison  []Mechanism `json:"comparison"` // this one, in both modes, and its rivals
	Files       []string    `json:"files"`      // paths written
}

// Policy is one published file.
type Policy struct {
	Name  string      `json:"name"`
	Mode  policy.Mode `json:"mode"`
	ID    string      `json:"id"` // hexadecimal SHA-256
	Bytes int         `json:"bytes"`
}

// Person is the first user.
type Person struct {
	Places []float64 `json:"places"` // shares of the check-ins, by cell
	Law    []float64 `json:"law"`    // the chance of each cell to be the report, in mixture mode
	Report int       `json:"report"` // the cell that was reported
}

// Mode is the simulated release of everybody in one client mode.
type Mode struct {
	Mode      policy.Mode `json:"mode"`
	W1        float64     `json:"w1"`        // of the histogram against the truth
	Histogram []float64   `json:"histogram"` // frequencies by cell
}

const (
	maxUsers = 20000
	maxSide  = 40 // so that the demo stays a matter of seconds to a minute
)

func (c Config) resolve() (Config, ldp.Epsilon, error) {
	for _, d := range []struct {
		v *int
		d int
	}{{&c.Users, 500}, {&c.Rows, 20}, {&c.Cols, 20}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	if c.Epsilon == "" {
		c.Epsilon = "4"
	}
	for _, v := range []struct {
		what   string
		n, max int
	}{{"Users", c.Users, maxUsers}, {"Rows", c.Rows, maxSide}, {"Cols", c.Cols, maxSide}} {
		if v.n < 1 || v.n > v.max {
			return c, ldp.Epsilon{}, fmt.Errorf("%w: %s is %d, want 1 to %d", ErrConfig, v.what, v.n, v.max)
		}
	}
	eps, err := ldp.ParseEpsilon(c.Epsilon)
	if err != nil {
		return c, ldp.Epsilon{}, fmt.Errorf("%w: Epsilon: %w", ErrConfig, err)
	}
	c.Epsilon = eps.String()
	if c.Epsilons == nil {
		c.Epsilons = []string{"1", "2", "3", "4", "5"}
	}
	all := []ldp.Epsilon{eps}
	for i, s := range c.Epsilons {
		e, err := ldp.ParseEpsilon(s)
		if err != nil {
			return c, ldp.Epsilon{}, fmt.Errorf("%w: Epsilons[%d]: %w", ErrConfig, i, err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, ldp.Epsilon.Cmp)
	c.Epsilons = nil
	for _, e := range slices.Compact(all) {
		c.Epsilons = append(c.Epsilons, e.String())
	}
	return c, eps, nil
}

// Run makes the tour. Errors: ErrConfig, ErrCheck, the context's, those of the packages it calls and of the file
// system.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	step := cfg.Progress
	if step == nil {
		step = func(int, int, string) {}
	}
	res := Result{Config: cfg}
	res.Config.Progress, res.Config.Page = nil, nil

	people, err := city.Generate(cfg.Seed, cfg.Users, cfg.Rows, cfg.Cols)
	if err != nil {
		return Result{}, err
	}
	res.Checkins, res.Truth = people.Checkins(), people.Truth()

	step(0, 3, "designing the mechanism")
	t, err := design(ctx, people, eps, &res)
	if err != nil {
		return Result{}, err
	}
	step(1, 3, "designing the mechanism")
	files, policies, err := t.publish(&res)
	if err != nil {
		return Result{}, err
	}
	step(2, 3, "designing the mechanism")
	if err := t.release(ctx, policies, &res); err != nil {
		return Result{}, err
	}
	step(3, 3, "designing the mechanism")
	counts, err := t.simulate(ctx, policies, step, &res)
	if err != nil {
		return Result{}, err
	}
	step(0, 1, "reading the map")
	res.Learned, err = t.learn(ctx, policies[policy.Mixture], eps, counts, res.Modes[len(res.Modes)-1].W1)
	if err != nil {
		return Result{}, err
	}
	step(1, 1, "reading the map")
	if err := t.person(policies[policy.Mixture], &res); err != nil {
		return Result{}, err
	}
	files = append(files, t.counted(policies[policy.Mixture], counts))
	if res.Comparison, err = t.compare(ctx, cfg.Epsilons, step); err != nil {
		return Result{}, err
	}
	if cfg.Out == "" {
		return res, nil
	}
	if cfg.Page != nil {
		if page := cfg.Page(res); page != nil {
			files = append([]file{{"playground.html", page, "this city in a browser, with sliders: try it"}}, files...)
		}
	}
	if files, err = res.report(files); err != nil {
		return res, err
	}
	plain := make([]folder.File, len(files))
	for i, f := range files {
		plain[i] = folder.File{Name: f.name, Data: f.data}
	}
	res.Files, err = folder.Write(cfg.Out, plain)
	return res, err
}

// tour is what the steps share.
type tour struct {
	seed   uint64
	people city.Population
	cost   cost.Matrix
	design *wpm.Design
	mech   *wpm.Mechanism
	unit   float64 // cell widths per unit of cost
}

func design(ctx context.Context, people city.Population, eps ldp.Epsilon, res *Result) (*tour, error) {
	grid, err := cost.NewGrid(people.Rows, people.Cols, 1)
	if err != nil {
		return nil, err
	}
	made, err := wpm.NewDesign(ctx, grid, eps, wpm.Objective{})
	if err != nil {
		return nil, err
	}
	t := &tour{seed: res.Config.Seed, people: people, cost: grid, design: made, mech: made.Mechanism(),
		unit: float64(people.Cols)}
	base := made.Base()
	res.Mass, res.Worst, res.Lower = base.Mass, base.Upper*t.unit, base.Lower*t.unit
	return t, nil
}

// publish encodes the mechanism in both modes, and returns the policies as decoded and verified from their bytes.
func (t *tour) publish(res *Result) ([]file, map[policy.Mode]policy.Policy, error) {
	labels := make([]string, t.people.Cells())
	for j := range labels {
		labels[j] = label(t.people, j)
	}
	var files []file
	decoded := map[policy.Mode]policy.Policy{}
	for _, f := range []struct {
		name string
		mode policy.Mode
		text string
	}{
		{"policy.json", policy.Mixture, "the published mechanism; clients need no solver"},
		{"policy-projection.json", policy.Projection, "its box, for clients that run the solver"},
	} {
		p, err := t.design.Publish(policy.Config{
			Mode: f.mode, InputLabels: labels, OutputLabels: labels,
			Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent,
				Note: "a grid over a synthetic city"},
			Metadata: map[string]string{"title": "wpm demo"},
		})
		if err != nil {
			return nil, nil, err
		}
		data, err := policy.Encode(p)
		if err != nil {
			return nil, nil, err
		}
		back, err := policy.Decode(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: decoding %s: %w", ErrCheck, f.name, err)
		}
		if err := policy.Verify(back); err != nil {
			return nil, nil, fmt.Errorf("%w: verifying %s: %w", ErrCheck, f.name, err)
		}
		if back.ID() != p.ID() {
			return nil, nil, fmt.Errorf("%w: %s decodes to another policy", ErrCheck, f.name)
		}
		id := back.ID()
		files = append(files, file{f.name, data, f.text})
		res.Policies = append(res.Policies,
			Policy{Name: f.name, Mode: f.mode, ID: hex.EncodeToString(id[:]), Bytes: len(data)})
		decoded[f.mode] = back
	}
	return files, decoded, nil
}

// label names a cell of the city for private data and aggregates.
func label(p city.Population, cell int) string {
	return fmt.Sprintf("r%dc%d", cell/p.Cols, cell%p.Cols)
}

// release sends the first user through the real private path, and asks again: the ledger must repeat the report and pay
// once.
func (t *tour) release(ctx context.Context, policies map[policy.Mode]policy.Policy, res *Result) (err error) {
	dir, err := os.MkdirTemp("", "wpm-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer os.RemoveAll(dir)
	ledger, err := ledger.Open(filepath.Join(dir, "ledger"),
		ledger.Options{Epoch: "demo", Budget: res.Config.Epsilon})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := ledger.Close(); err == nil {
			err = cerr
		}
	}()
	var private bytes.Buffer
	u := t.people.Users[0]
	for n, j := range u.Cells {
		fmt.Fprintf(&private, "%s,%d\n", label(t.people, j), u.Counts[n])
	}
	p := policies[policy.Mixture]
	first, err := policy.Release(ctx, p, ledger, private.Bytes(), nil)
	if err != nil {
		return err
	}
	again, err := policy.Release(ctx, p, ledger, private.Bytes(), nil)
	if err != nil {
		return err
	}
	if err := p.Belongs(first); err != nil {
		return fmt.Errorf("%w: the report: %w", ErrCheck, err)
	}
	if first != again {
		return fmt.Errorf("%w: the second request of an epoch drew anew", ErrCheck)
	}
	if want := p.Epsilon().Rat(); ledger.Spent().Cmp(want) != 0 {
		return fmt.Errorf("%w: the ledger paid %s, want %s", ErrCheck, ledger.Spent().RatString(), want.RatString())
	}
	b, err := first.MarshalBinary()
	if err != nil {
		return err
	}
	res.ReportBytes, res.Spent = len(b), ledger.Spent().RatString()
	return nil
}

// simulate releases one point per user in each mode and aggregates, and returns the counts of the last mode, the
// mixture. A simulation: the stream is seeded.
func (t *tour) simulate(
	ctx context.Context, policies map[policy.Mode]policy.Policy, step func(int, int, string), res *Result,
) (counts []uint64, err error) {
	for _, mode := range []policy.Mode{policy.Projection, policy.Mixture} {
		p := policies[mode]
		r := city.Stream(t.seed, string(mode))
		counts = make([]uint64, p.Outputs())
		what := fmt.Sprintf("simulating releases (%s)", mode)
		for n, u := range t.people.Users {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("demo: %w", err)
			}
			w, err := t.weights(ctx, p, u, r)
			if err != nil {
				return nil, err
			}
			j, err := w.Sample(r)
			if err != nil {
				return nil, err
			}
			counts[j]++
			if n == 0 && mode == policy.Mixture {
				res.Person.Report = j
			}
			step(n+1, len(t.people.Users), what)
		}
		hist := make([]float64, len(counts))
		for j, c := range counts {
			hist[j] = float64(c) / float64(len(t.people.Users))
		}
		w1, err := mincostflow.Transport(ctx, t.cost, hist, res.Truth)
		if err != nil {
			return nil, err
		}
		res.Modes = append(res.Modes, Mode{Mode: mode, W1: w1.Objective * t.unit, Histogram: hist})
	}
	return counts, nil
}

// person says where the first user goes, and what the chances of their report are.
func (t *tour) person(p policy.Policy, res *Result) error {
	one := &res.Person
	one.Places, one.Law = make([]float64, t.people.Cells()), make([]float64, t.people.Cells())
	support, weight := t.people.Users[0].Distribution()
	for n, i := range support {
		row, err := p.Row(i)
		if err != nil {
			return err
		}
		one.Places[i] = weight[n]
		for j := range one.Law {
			one.Law[j] += weight[n] * math.Ldexp(float64(row.At(j)), -row.Bits())
		}
	}
	return nil
}

// counted is the file of the counts, which "wpm aggregate" reads.
func (t *tour) counted(p policy.Policy, counts []uint64) file {
	lines := [][]string{{"label", "count"}}
	for j, n := range counts {
		lines = append(lines, []string{p.OutputLabel(j), strconv.FormatUint(n, 10)})
	}
	return file{"counts.csv", encode(lines), "the simulated reports, counted: wpm aggregate -counts counts.csv policy.json"}
}

// weights is the row that the user's simulated release is drawn from. The mixture's draw of a cell uses rejection on 32
// bits: exact counts, no float.
func (t *tour) weights(ctx context.Context, p policy.Policy, u city.User, r io.Reader) (ldp.Weights, error) {
	if p.Mode() == policy.Projection {
		support, weight := u.Distribution()
		pr, err := t.mech.ProjectSparse(ctx, support, weight)
		if err != nil {
			return ldp.Weights{}, err
		}
		return pr.Weights(), nil
	}
	i, err := u.Draw(r)
	if err != nil {
		return ldp.Weights{}, err
	}
	return p.Row(i)
}

// Lines is a short summary for a terminal: the answer first.
func (r Result) Lines() []string {
	c := r.Config
	out := []string{
		r.Sentence(), r.Learned.Stated(), c.Spread(), "",
		fmt.Sprintf("city       %d synthetic users, %d check-ins on %d x %d cells (seed %d)", c.Users, r.Checkins, c.Rows,
			c.Cols, c.Seed),
		fmt.Sprintf("design     privacy ε = %s, uniform base measure of mass %.4f", c.Epsilon, r.Mass),
		fmt.Sprintf("           worst case of any user at most %.3f cell widths; no mechanism as private is below %.3f (both certified)",
			r.Worst, r.Lower),
	}
	for i, p := range r.Policies {
		head := "policy    "
		if i > 0 {
			head = "          "
		}
		out = append(out, fmt.Sprintf("%s %s: %s mode, %d bytes, id %s..., verified from its bytes", head, p.Name, p.Mode,
			p.Bytes, p.ID[:12]))
	}
	out = append(out, fmt.Sprintf("release    one real report of %d bytes; asked again, the ledger repeats it: ε = %s spent", r.ReportBytes, r.Spent))
	for i, m := range r.Modes {
		head := "simulation"
		if i > 0 {
			head = "          "
		}
		out = append(out, fmt.Sprintf("%s one release per user, %s mode: histogram %.3f cell widths from the truth", head,
			m.Mode, m.W1))
	}
	out = append(out, "", "The mean distribution of the releases, by mechanism: distance to the truth (W1), in cell widths.")
	head := fmt.Sprintf("%-44s", "")
	for _, e := range c.Epsilons {
		head += fmt.Sprintf(" %9s", "ε = "+e)
	}
	out = append(out, head)
	for _, m := range r.Comparison {
		line := fmt.Sprintf("%-44s", m.Name)
		for _, v := range m.W1 {
			line += fmt.Sprintf(" %9.3f", v)
		}
		out = append(out, line)
	}
	if len(r.Files) > 0 {
		out = append(out, "", "report     "+r.Files[0])
	}
	return out
}

// String is the summary in one text.
func (r Result) String() string { return strings.Join(r.Lines(), "\n") }
