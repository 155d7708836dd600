package vectors_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/minimax"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/shuffle"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/vectors"
	"github.com/wpm-go/wpm/wpmerr"
)

// each runs f on every vector of a kind. f returns the error of the package under test, which must be there if and only
// if the vector is invalid, and be one of those that reasons names for it.
func each[I, O any](t *testing.T, kind string, reasons map[string][]error, f func(t *testing.T, in I, out O) error) {
	t.Helper()
	file, err := vectors.Read(kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			var in I
			var out O
			if err := c.Decode(&in, &out); err != nil {
				t.Fatal(err)
			}
			err := f(t, in, out)
			switch {
			case c.Valid && err != nil:
				t.Errorf("%s: %v, want an answer", c.In, err)
			case !c.Valid && err == nil:
				t.Errorf("%s: accepted, want %q", c.In, c.Error)
			case !c.Valid && !slices.ContainsFunc(reasons[c.Error], func(want error) bool { return errors.Is(err, want) }):
				t.Errorf("%s: %v, want %q", c.In, err, c.Error)
			}
		})
	}
}

// TestFiles: every kind has the number of cases that it says, at least 200 valid ones and 100 invalid ones if it can be
// invalid, with distinct IDs, known flags, and answers where they belong.
func TestFiles(t *testing.T) {
	kinds := vectors.Kinds()
	if len(kinds) < 10 {
		t.Errorf("only the kinds %v", kinds)
	}
	for _, kind := range kinds {
		f, err := vectors.Read(kind)
		if err != nil {
			t.Fatal(err)
		}
		valid := 0
		for n, c := range f.Cases {
			if c.Valid {
				valid++
			}
			if want := kind + "-" + strconv.Itoa(10001 + n)[1:]; c.ID != want {
				t.Errorf("ID %s, want %s", c.ID, want)
			}
			if c.Valid != (c.Error == "") || c.Valid != (len(c.Out) > 0) || len(c.In) == 0 || c.Statement == "" {
				t.Errorf("%s: valid, error, in, out or statement do not fit together", c.ID)
			}
			for _, flag := range c.Flags {
				if f.Notes[flag] == "" {
					t.Errorf("%s: no note for flag %q", c.ID, flag)
				}
			}
			if !c.Valid && f.Notes["invalid: "+c.Error] == "" {
				t.Errorf("%s: no note for error %q", c.ID, c.Error)
			}
		}
		total := kind == "round" // any proposal has an answer
		if f.Kind != kind || f.Version != 1 || valid != f.Valid || len(f.Cases) != f.Valid+f.Invalid ||
			f.Valid < 200 || f.Invalid < 100 && !total {
			t.Errorf("%s: kind %s, version %d, %d valid, %d invalid, of which %d and %d are there", kind, f.Kind, f.Version,
				f.Valid, f.Invalid,
				valid, len(f.Cases)-valid)
		}
	}
}

// TestCheck runs check.py, which knows nothing of this module, on all files; and on copies in which an answer of each
// kind is another's, or a case that is refused is not, and one case has a member that the schema does not know. It must
// find all of that.
func TestCheck(t *testing.T) {
	python := numtest.Program(t, "python3")
	if out, err := exec.Command(python, "check.py").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := exec.Command(python, "check.py", filepath.Join("vectors", "kpm.json")).CombinedOutput(); err != nil {
		t.Errorf("a path is no name of a kind: %v\n%s", err, out)
	}
	exit := (*exec.ExitError)(nil)
	if out, err := exec.Command(python, "check.py", "knapsack").CombinedOutput(); !errors.As(err, &exit) ||
		exit.ExitCode() != 2 ||
		!bytes.HasPrefix(out, []byte("usage: ")) {
		t.Errorf("an unknown kind: %v, want exit status 2 and the usage\n%s", err, out)
	}
	if !numtest.Full() {
		t.Skip("once more takes some seconds")
	}
	dir := t.TempDir()
	for _, name := range []string{"vectors/check.py", "vectors/vectors.schema.json", "docs/verify.py",
		"docs/verify_certificate.py"} {
		copyTo(t, filepath.Join("..", name), filepath.Join(dir, name))
	}
	for _, kind := range vectors.Kinds() {
		f, err := vectors.Read(kind)
		if err != nil {
			t.Fatal(err)
		}
		spoil(t, &f)
		last := &f.Cases[len(f.Cases)-1]
		last.In = append([]byte(`{"unknown":0,`), last.In[1:]...)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "vectors", kind+".json"), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, filepath.Join(dir, "vectors", "check.py")).CombinedOutput()
	for _, kind := range vectors.Kinds() {
		for _, fault := range []string{"\n" + kind + "-", "\n" + kind + ": not of the schema"} {
			if err == nil || !bytes.Contains(out, []byte(fault)) {
				t.Errorf("check.py does not say %q:\n%s", fault, out)
			}
		}
	}
}

// spoil swaps the answers of two valid cases, or declares a case that is refused valid.
func spoil(t *testing.T, f *vectors.File) {
	t.Helper()
	first := -1
	for n := range f.Cases {
		switch a := &f.Cases[n]; {
		case !a.Valid:
		case first < 0:
			first = n
		case !bytes.Equal(a.Out, f.Cases[first].Out):
			a.Out, f.Cases[first].Out = f.Cases[first].Out, a.Out
			return
		}
	}
	for n := range f.Cases {
		if a := &f.Cases[n]; !a.Valid {
			a.Valid, a.Error, a.Out = true, "", json.RawMessage("{}")
			return
		}
	}
	t.Errorf("nothing to spoil in %s", f.Kind)
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// units reads weights.
func units(t *testing.T, text []string) []uint64 {
	t.Helper()
	n, err := readUnits(text)
	if err != nil {
		t.Fatal(err)
	}
	return n[0]
}

// readUnits reads lists of units. What 64 bits do not hold, a program cannot ask the package: it is refused here.
func readUnits(lists ...[]string) ([][]uint64, error) {
	out := make([][]uint64, len(lists))
	for l, text := range lists {
		out[l] = make([]uint64, len(text))
		for i, s := range text {
			v, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				return nil, err
			}
			out[l][i] = v
		}
	}
	return out, nil
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func weightsOf(w ldp.Weights) []uint64 {
	out := make([]uint64, w.Len())
	for j := range out {
		out[j] = w.At(j)
	}
	return out
}

var boxReasons = map[string][]error{
	"epsilon": {ldp.ErrEpsilon}, "bits": {ldp.ErrBits}, "base": {ldp.ErrBase}, "infeasible": {ldp.ErrInfeasible},
	"box": {ldp.ErrBox, strconv.ErrRange}, "sum": {ldp.ErrBox}, "shape": {ldp.ErrBox}, "row": {ldp.ErrBox, strconv.ErrRange},
}

func TestVerify(t *testing.T) {
	type in struct {
		Epsilon string     `json:"epsilon"`
		Bits    int        `json:"bits"`
		Lo      []string   `json:"lo"`
		Hi      []string   `json:"hi"`
		Rows    [][]string `json:"rows"`
	}
	each(t, "verify", boxReasons, func(t *testing.T, in in, _ struct{}) error {
		eps, err := ldp.ParseEpsilon(in.Epsilon)
		if err != nil {
			return err
		}
		n, err := readUnits(append([][]string{in.Lo, in.Hi}, in.Rows...)...)
		if err != nil {
			return err
		}
		box, err := ldp.NewPolytopeFromBounds(eps, n[0], n[1], in.Bits)
		if err != nil {
			return err
		}
		for _, row := range n[2:] {
			if _, err := box.Weights(row); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestBox(t *testing.T) {
	type in struct {
		Epsilon string          `json:"epsilon"`
		Bits    int             `json:"bits"`
		M       []vectors.Float `json:"m"`
	}
	type out struct {
		Lo []string `json:"lo"`
		Hi []string `json:"hi"`
	}
	each(t, "box", boxReasons, func(t *testing.T, in in, out out) error {
		eps, err := ldp.ParseEpsilon(in.Epsilon)
		if err != nil {
			return err
		}
		box, err := ldp.NewPolytope(eps, vectors.Floats(in.M), in.Bits)
		if err != nil {
			return err
		}
		if len(out.Lo) == 0 {
			return nil
		}
		lo, hi := units(t, out.Lo), units(t, out.Hi)
		for j := range lo {
			if box.Lo(j) != lo[j] || box.Hi(j) != hi[j] {
				t.Errorf("column %d is [%d, %d], want [%d, %d]", j, box.Lo(j), box.Hi(j), lo[j], hi[j])
			}
		}
		return nil
	})
}

func TestRound(t *testing.T) {
	type in struct {
		Epsilon string          `json:"epsilon"`
		Bits    int             `json:"bits"`
		Lo      []string        `json:"lo"`
		Hi      []string        `json:"hi"`
		Q       []vectors.Float `json:"q"`
	}
	type out struct {
		Weights []string `json:"weights"`
	}
	each(t, "round", nil, func(t *testing.T, in in, out out) error {
		eps, err := ldp.ParseEpsilon(in.Epsilon)
		if err != nil {
			return err
		}
		box, err := ldp.NewPolytopeFromBounds(eps, units(t, in.Lo), units(t, in.Hi), in.Bits)
		if err != nil {
			return err
		}
		if got, want := weightsOf(box.Round(vectors.Floats(in.Q))), units(t, out.Weights); !slices.Equal(got, want) {
			t.Errorf("weights %v, want %v", got, want)
		}
		return nil
	})
}

func TestSample(t *testing.T) {
	type in struct {
		Bits    int      `json:"bits"`
		Weights []string `json:"weights"`
		Random  string   `json:"random"`
	}
	type out struct {
		Index int `json:"index"`
	}
	reasons := map[string][]error{"weights": {ldp.ErrBox, strconv.ErrRange}, "bits": {ldp.ErrBits}, "random": {ldp.ErrRandom}}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	each(t, "sample", reasons, func(t *testing.T, in in, out out) error {
		n, err := readUnits(in.Weights)
		if err != nil {
			return err
		}
		box, err := ldp.NewPolytopeFromBounds(eps, n[0], n[0], in.Bits) // the box that is this point
		if err != nil {
			return err
		}
		w, err := box.Weights(n[0])
		if err != nil {
			return err
		}
		got, err := w.Sample(bytes.NewReader(unhex(t, in.Random)))
		if err == nil && got != out.Index {
			t.Errorf("index %d, want %d", got, out.Index)
		}
		return err
	})
}

// dense is a cost, of any shape that the rows have.
func dense(rows [][]vectors.Float) *cost.Dense {
	d := &cost.Dense{K: len(rows)}
	for _, row := range rows {
		d.Kv = len(row)
		d.Data = append(d.Data, vectors.Floats(row)...)
	}
	return d
}

// near reports whether got is within a relative tolerance of want, or both are infinite; and a float more than that
// where want is subnormal.
func near(got float64, want vectors.Number, tolerance float64) bool {
	if want.Rat == nil {
		return math.IsInf(got, 1)
	}
	g := new(big.Rat).SetFloat64(got)
	if g == nil {
		return false
	}
	allowed := new(big.Rat).SetFloat64(tolerance)
	allowed.Mul(allowed, new(big.Rat).Abs(want.Rat)).Add(allowed, new(big.Rat).SetFloat64(0x1p-1074))
	return g.Sub(g, want.Rat).Abs(g).Cmp(allowed) <= 0
}

func TestPhi(t *testing.T) {
	type in struct {
		C  [][]vectors.Float `json:"c"`
		Lo []vectors.Float   `json:"lo"`
		Hi []vectors.Float   `json:"hi"`
	}
	type out struct {
		Phi    []vectors.Number `json:"phi"`
		Tau    []vectors.Float  `json:"tau"`
		F      vectors.Number   `json:"f"`
		Argmax int              `json:"argmax"`
	}
	reasons := map[string][]error{
		"finite": {wpmerr.ErrNotFinite}, "negative": {wpmerr.ErrNegative}, "bounds": {wpmerr.ErrBox},
		"infeasible": {wpmerr.ErrInfeasible}, "shape": {wpmerr.ErrShape},
	}
	each(t, "phi", reasons, func(t *testing.T, in in, out out) error {
		table, err := knapsack.New(context.Background(), dense(in.C))
		if err != nil {
			return err
		}
		phi, tau := make([]float64, len(in.C)), make([]float64, len(in.C))
		lo, hi := vectors.Floats(in.Lo), vectors.Floats(in.Hi)
		if err := table.All(lo, hi, phi, tau); err != nil || len(out.Phi) == 0 {
			return err
		}
		for i := range phi {
			if !near(phi[i], out.Phi[i], knapsack.PhiError) || tau[i] != float64(out.Tau[i]) {
				t.Errorf("row %d: phi %v, tau %v, want %v, %v", i, phi[i], tau[i], out.Phi[i].FloatString(20), out.Tau[i])
			}
		}
		f, at := table.Max(lo, hi)
		if !near(f, out.F, knapsack.PhiError) || !near(phi[at], out.F, knapsack.PhiError) {
			t.Errorf("largest phi %v, want %s", f, out.F.FloatString(20))
		}
		return nil
	})
}

var projectionReasons = map[string][]error{
	"finite": {wpmerr.ErrNotFinite}, "negative": {wpmerr.ErrNegative}, "bounds": {wpmerr.ErrBox},
	"mass":       {wpmerr.ErrMass},
	"infeasible": {wpmerr.ErrInfeasible}, "shape": {wpmerr.ErrShape},
}

func TestProject(t *testing.T) {
	type in struct {
		C  [][]vectors.Float `json:"c"`
		Mu []vectors.Float   `json:"mu"`
		Lo []vectors.Float   `json:"lo"`
		Hi []vectors.Float   `json:"hi"`
	}
	type entry struct {
		I    int            `json:"i"`
		J    int            `json:"j"`
		Mass vectors.Number `json:"mass"`
	}
	type out struct {
		Value vectors.Number   `json:"value"`
		Plan  []entry          `json:"plan"`
		F     []vectors.Number `json:"f"`
		G     []vectors.Number `json:"g"`
	}
	each(t, "project", projectionReasons, func(t *testing.T, in in, out out) error {
		p := projection.Problem{
			Cost: dense(in.C), Source: vectors.Floats(in.Mu), Lo: vectors.Floats(in.Lo), Hi: vectors.Floats(in.Hi),
		}
		r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{AllRows: true})
		if err != nil || out.Value.Rat == nil {
			return err
		}
		// The bounds enclose the optimum, as this answer proves, and are as close as promised.
		upper, lower, err := mincostflow.Verify(context.Background(), p, r)
		if err != nil {
			return err
		}
		if want := out.Value.Rat; lower.Cmp(want) > 0 || upper.Cmp(want) < 0 {
			t.Errorf("optimum in [%v, %v], want %s", r.Lower, r.Upper, want.FloatString(20))
		}
		largest := slices.Max(p.Cost.(*cost.Dense).Data)
		if want := float(out.Value); !(math.Abs(r.Objective-want) <= 1e-12*largest) || !(r.Gap() <= 1e-12*largest) {
			t.Errorf("objective %v, gap %v, want %v", r.Objective, r.Gap(), want)
		}
		return nil
	})
}

func TestKL(t *testing.T) {
	type in struct {
		LogS []vectors.Float `json:"log_s"`
		Lo   []vectors.Float `json:"lo"`
		Hi   []vectors.Float `json:"hi"`
	}
	type out struct {
		Q     []vectors.Number `json:"q"`
		Theta vectors.Number   `json:"theta"`
	}
	each(t, "kl", projectionReasons, func(t *testing.T, in in, out out) error {
		logS := vectors.Floats(in.LogS)
		q, theta, err := kl.Project(logS, vectors.Floats(in.Lo), vectors.Floats(in.Hi))
		if err != nil || len(out.Q) == 0 {
			return err
		}
		// An exponent has an error of half an ulp of the largest number in it, which the exponential hands on; the sums
		// and the division add kv ulps and less than 8.
		size := 0.0
		for _, v := range append(slices.Clone(logS), theta) {
			if !math.IsInf(v, 0) {
				size = max(size, math.Abs(v))
			}
		}
		allowed := (8 + float64(len(q)) + 4*size) * 0x1p-52
		for j := range q {
			if !near(q[j], out.Q[j], allowed) && math.Abs(q[j]-float(out.Q[j])) > float64(len(q))*0x1p-52 {
				t.Errorf("q[%d] = %v, want %v", j, q[j], float(out.Q[j]))
			}
		}
		if out.Theta.Rat != nil && math.Abs(theta-float(out.Theta)) > allowed*max(1, size) {
			t.Errorf("theta %v, want %v", theta, float(out.Theta))
		}
		return nil
	})
}

func float(n vectors.Number) float64 {
	v, _ := n.Float64()
	return v
}

func TestKPM(t *testing.T) {
	type in struct {
		Mu  []vectors.Float `json:"mu"`
		Eps vectors.Float   `json:"eps"`
	}
	type out struct {
		Q []vectors.Number `json:"q"`
		R vectors.Number   `json:"r"`
	}
	reasons := map[string][]error{
		"finite": {wpmerr.ErrNotFinite}, "negative": {wpmerr.ErrNegative}, "mass": {wpmerr.ErrMass},
		"epsilon": {wpmerr.ErrEpsilon},
		"shape":   {wpmerr.ErrShape},
	}
	each(t, "kpm", reasons, func(t *testing.T, in in, out out) error {
		q, r, err := baseline.KPM(vectors.Floats(in.Mu), float64(in.Eps))
		if err != nil || len(out.Q) == 0 {
			return err
		}
		const promised = 0x1p-50 // of baseline.KPMVerify
		for j := range q {
			if !near(q[j], out.Q[j], promised) {
				t.Errorf("q[%d] = %v, want %v", j, q[j], float(out.Q[j]))
			}
		}
		if !near(r, out.R, promised) {
			t.Errorf("r = %v, want %v", r, float(out.R))
		}
		return nil
	})
}

func TestHilbert(t *testing.T) {
	type in struct {
		Op  string            `json:"op"`
		X   []vectors.Float   `json:"x"`
		Y   []vectors.Float   `json:"y"`
		A   [][]vectors.Float `json:"a"`
		Reg vectors.Float     `json:"reg"`
	}
	type out struct {
		Distance    vectors.Number `json:"distance"`
		Diameter    vectors.Number `json:"diameter"`
		Tau         vectors.Number `json:"tau"`
		OneMinusTau vectors.Number `json:"one_minus_tau"`
	}
	reasons := map[string][]error{
		"finite": {wpmerr.ErrNotFinite}, "negative": {wpmerr.ErrNegative}, "shape": {wpmerr.ErrShape},
		"reg": {wpmerr.ErrReg},
	}
	each(t, "hilbert", reasons, func(t *testing.T, in in, out out) error {
		const ulps = 8 * 0x1p-52
		switch in.Op {
		case "distance":
			d, err := hilbert.Distance(vectors.Floats(in.X), vectors.Floats(in.Y))
			if err == nil && !near(d, out.Distance, ulps) {
				t.Errorf("distance %v, want %v", d, out.Distance)
			}
			return err
		case "log-distance":
			d, err := hilbert.LogDistance(vectors.Floats(in.X), vectors.Floats(in.Y))
			// Differences of numbers below 1000 are off by 2^-44 each, and their difference, too.
			if err == nil && math.Abs(d-float(out.Distance)) > 4*0x1p-43 {
				t.Errorf("distance %v, want %v", d, float(out.Distance))
			}
			return err
		case "diameter":
			d, err := hilbert.Diameter(context.Background(), dense(in.A))
			if err != nil {
				return err
			}
			// Logarithms of entries are up to 745 in size, and off by 2^-44 each; four of them make a diameter.
			if out.Diameter.Rat == nil && !math.IsInf(d, 1) ||
				out.Diameter.Rat != nil && !(math.Abs(d-float(out.Diameter)) <= 8*0x1p-43) {
				t.Errorf("diameter %v, want %v", d, out.Diameter)
			}
			tau, rest := hilbert.Contraction(d)
			if math.Abs(tau-float(out.Tau)) > 8*0x1p-43 || math.Abs(rest-float(out.OneMinusTau)) > 8*0x1p-43 {
				t.Errorf("tau %v, 1 - tau %v, want %v, %v", tau, rest, float(out.Tau), float(out.OneMinusTau))
			}
			return nil
		}
		d, err := hilbert.GibbsDiameter(context.Background(), dense(in.A), float64(in.Reg))
		if err != nil {
			return err
		}
		largest := 0.0
		for _, row := range in.A {
			for _, v := range row {
				largest = max(largest, float64(v))
			}
		}
		if off := 0x1p-51 * largest / float64(in.Reg); math.Abs(d-float(out.Diameter)) > off { // as its package says
			t.Errorf("diameter %v, want %v", d, float(out.Diameter))
		}
		tau, rest := hilbert.Contraction(float(out.Diameter))
		// The diameter is rounded to a float: the exponent d/2 is off by 2^-54 d of itself.
		wide := ulps + 0x1p-53*float(out.Diameter)
		if !near(tau, out.Tau, wide) || !near(rest, out.OneMinusTau, wide) {
			t.Errorf("tau %v, 1 - tau %v, want %v, %v", tau, rest, float(out.Tau), float(out.OneMinusTau))
		}
		return nil
	})
}

func TestAggregate(t *testing.T) {
	type in struct {
		Op     string   `json:"op"`
		Policy string   `json:"policy"`
		Name   string   `json:"name"`
		Epoch  string   `json:"epoch"`
		File   string   `json:"file"`
		Counts []string `json:"counts"`
	}
	type out struct {
		Counts string `json:"counts"`
	}
	reasons := map[string][]error{
		"format": {aggregate.ErrFormat}, "limit": {aggregate.ErrLimit}, "duplicate": {aggregate.ErrDuplicate},
		"policy": {aggregate.ErrPolicy},
		"epoch":  {aggregate.ErrEpoch, reports.ErrSimulated}, "shape": {aggregate.ErrShape},
	}
	each(t, "aggregate", reasons, func(t *testing.T, in in, out out) error {
		var sum aggregate.Counts
		if in.Op == "count" {
			p, err := policy.Decode([]byte(in.Policy))
			if err != nil {
				t.Fatal(err)
			}
			n, err := aggregate.NewCounter(p)
			if err != nil {
				t.Fatal(err)
			}
			reader := reports.Reader{Magic: "wpm1", Size: policy.ReportSize, Open: func(string) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(in.File)), nil
			}}
			if sum, err = reader.Count(context.Background(), n, []string{in.Name}, in.Epoch); err != nil {
				return err
			}
		}
		for n, text := range in.Counts {
			part, err := aggregate.DecodeCounts([]byte(text))
			if err != nil {
				return err
			}
			if n == 0 {
				sum = part
			} else if sum, err = aggregate.Merge(sum, part); err != nil {
				return err
			}
		}
		text, err := sum.Encode()
		if err == nil && out.Counts != "" && string(text) != out.Counts {
			t.Errorf("counts\n%s, want\n%s", text, out.Counts)
		}
		return err
	})
}

func TestEntropic(t *testing.T) {
	type in struct {
		C   [][]vectors.Float `json:"c"`
		Mu  []vectors.Float   `json:"mu"`
		Lo  []vectors.Float   `json:"lo"`
		Hi  []vectors.Float   `json:"hi"`
		Reg vectors.Float     `json:"reg"`
	}
	type out struct {
		Q         []vectors.Number `json:"q"`
		G         []vectors.Number `json:"g"`
		Transport vectors.Number   `json:"transport"`
		Objective vectors.Number   `json:"objective"`
	}
	reasons := maps.Clone(projectionReasons)
	reasons["reg"] = []error{wpmerr.ErrReg}
	each(t, "entropic", reasons, func(t *testing.T, in in, out out) error {
		p := sinkhorn.Problem{
			Problem: projection.Problem{Cost: dense(in.C), Source: vectors.Floats(in.Mu), Lo: vectors.Floats(in.Lo),
				Hi: vectors.Floats(in.Hi)}, Reg: float64(in.Reg),
		}
		for _, method := range []sinkhorn.Method{sinkhorn.Fast, sinkhorn.Paper} {
			r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{Method: method, AllRows: true})
			if err != nil {
				return err
			}
			if len(out.Q) == 0 {
				continue
			}
			// The residual |q - c|_1 is at most 1e-12. What is left to the fixed point is at most sinh(D/4)^2 of the last step,
			// with the diameter D of the kernel, at most 4 times the range of the cost over reg: below 100 here.
			const off = 1e-10
			largest := max(slices.Max(p.Cost.(*cost.Dense).Data), p.Reg)
			for j := range out.Q {
				if math.Abs(r.Q[j]-float(out.Q[j])) > off {
					t.Errorf("%v: q[%d] = %v, want %v", method, j, r.Q[j], float(out.Q[j]))
				}
			}
			if math.Abs(r.Transport-float(out.Transport)) > off*largest ||
				math.Abs(r.Objective-float(out.Objective)) > off*largest {
				t.Errorf("%v: transport %v, objective %v, want %v, %v", method, r.Transport, r.Objective, float(out.Transport),
					float(out.Objective))
			}
		}
		return nil
	})
}

func TestBase(t *testing.T) {
	type in struct {
		C   [][]vectors.Float `json:"c"`
		Eps vectors.Float     `json:"eps"`
	}
	type out struct {
		Value      vectors.Number   `json:"value"`
		M          []vectors.Number `json:"m"`
		Weights    []vectors.Number `json:"weights"`
		Thresholds []vectors.Number `json:"thresholds"`
	}
	reasons := map[string][]error{
		"finite": {wpmerr.ErrNotFinite}, "negative": {wpmerr.ErrNegative}, "epsilon": {wpmerr.ErrEpsilon},
	}
	each(t, "base", reasons, func(t *testing.T, in in, out out) error {
		c := dense(in.C)
		r, err := basemeasure.Solve(context.Background(), c, float64(in.Eps), basemeasure.Settings{})
		if err != nil || out.Value.Rat == nil {
			return err
		}
		want, largest := float(out.Value), slices.Max(c.Data)
		// Floats are rounded by half an ulp, and a gap of 1e-15 of the largest cost is good enough.
		slack := 1e-15*largest + 0x1p-52*want
		if !(r.Lower <= want+slack && want <= r.Upper+slack) || r.Gap() > basemeasure.DefaultGap*r.Upper+1e-15*largest {
			t.Errorf("optimum in [%v, %v], want %v", r.Lower, r.Upper, want)
		}
		// The certificate of the vector, rounded to floats, proves the value up to that rounding: some 2^-52 of e^eps at
		// most, which multiplies the costs below a threshold.
		floats := func(x []vectors.Number) (v []float64) {
			for _, n := range x {
				v = append(v, float(n))
			}
			return v
		}
		upper, lower, err := basemeasure.Verify(context.Background(), c, float64(in.Eps), basemeasure.Result{
			M: floats(out.M), Weights: floats(out.Weights), Thresholds: floats(out.Thresholds), Lower: -math.MaxFloat64,
			Upper: math.MaxFloat64,
		})
		if err != nil {
			return err
		}
		rounding := 16 * 0x1p-52 * largest * math.Exp(float64(in.Eps))
		u, _ := upper.Float64()
		l, _ := lower.Float64()
		if math.Abs(u-want) > rounding || math.Abs(l-want) > rounding {
			t.Errorf("the certificate proves [%v, %v], want %v", l, u, want)
		}
		return nil
	})
}

func TestSphere(t *testing.T) {
	type in struct {
		D   int           `json:"d"`
		P   vectors.Float `json:"p"`
		Eps vectors.Float `json:"eps"`
	}
	type out struct {
		T     vectors.Number `json:"t"`
		Omt   vectors.Number `json:"omt"`
		Alpha vectors.Number `json:"alpha"`
		S     vectors.Number `json:"S"`
		J     vectors.Number `json:"J"`
		W     vectors.Number `json:"W"`
		Pin   vectors.Number `json:"pin"`
		Pout  vectors.Number `json:"pout"`
	}
	reasons := map[string][]error{"dimension": {sphere.ErrDimension}, "exponent": {sphere.ErrExponent},
		"epsilon": {wpmerr.ErrEpsilon}}
	each(t, "sphere", reasons, func(t *testing.T, in in, out out) error {
		m, err := sphere.Solve(in.D, float64(in.P), float64(in.Eps))
		if err != nil || out.T.Rat == nil {
			return err
		}
		const promised = 1e-13 // of package sphere
		for _, v := range []struct {
			name string
			got  float64
			want vectors.Number
		}{
			{"1-t", m.Omt, out.Omt}, {"alpha", m.Alpha, out.Alpha}, {"S", m.S, out.S}, {"J", m.J, out.J}, {"W", m.W, out.W},
			{"pin", m.Pin, out.Pin},
			{"pout", m.Pout, out.Pout},
		} {
			if !near(v.got, v.want, promised) {
				t.Errorf("%s = %v, want %v", v.name, v.got, float(v.want))
			}
		}
		if want := float(out.T); math.Abs(m.T-want) > promised*max(math.Abs(want), 1/math.Sqrt(float64(in.D)+float64(in.P))) {
			t.Errorf("t = %v, want %v", m.T, want)
		}
		return nil
	})
}

// TestCertificate: certificates about many people hold or are refused, and prove what is proved: the lower bound and delta
// on the safe side, and nearly.
func TestCertificate(t *testing.T) {
	type in struct {
		Certificate string `json:"certificate"`
	}
	type out struct {
		Lower vectors.Number `json:"lower"`
		Upper vectors.Number `json:"upper"`
		Delta vectors.Number `json:"delta"`
	}
	reasons := map[string][]error{"hash": {certificate.ErrHash, certificate.ErrCost},
		"limit":    {shuffle.ErrProblem, minimax.ErrProblem},
		"evidence": {shuffle.ErrEvidence, shuffle.ErrDelta, minimax.ErrEvidence}, "claim": {certificate.ErrClaim}}
	each(t, "certificate", reasons, func(t *testing.T, in in, out out) error {
		c, err := certificate.Decode([]byte(in.Certificate))
		if err != nil {
			t.Fatalf("not the text of a certificate: %v", err)
		}
		b, err := certificate.Verify(context.Background(), c)
		if err != nil || out.Upper.Rat == nil {
			return err
		}
		if b.Upper.Cmp(out.Upper.Rat) != 0 {
			t.Errorf("upper is %v, want %v", b.Upper, out.Upper)
		}
		const digits, rounding = 1e-59, 0x1p-52 // of the file; of the bound to a float
		if got, want := b.Lower, out.Lower.Rat; got.Cmp(grown(want, digits)) > 0 || got.Cmp(grown(want, -rounding)) < 0 {
			t.Errorf("lower is %v, want %v", got.FloatString(20), want.FloatString(20))
		}
		if out.Delta.Rat == nil {
			return nil
		}
		p, g := summed(t, in.Certificate)
		delta, err := g.Delta(p)
		if err != nil {
			return err
		}
		const promised, nothing = 1e-6, 1e-28 // of docs/algorithms/shuffling.md
		got := new(big.Rat).SetFloat64(delta)
		most := grown(out.Delta.Rat, promised)
		if got.Cmp(grown(out.Delta.Rat, -digits)) < 0 || got.Cmp(most.Add(most, new(big.Rat).SetFloat64(nothing))) > 0 {
			t.Errorf("delta is %v, want %v", delta, float(out.Delta))
		}
		return nil
	})
}

// grown returns x (1 + by).
func grown(x *big.Rat, by float64) *big.Rat {
	y := new(big.Rat).SetFloat64(by)
	return y.Add(y.Mul(y, x), x)
}

// summed reads the problem and the evidence of a certificate of reports that are summed.
func summed(t *testing.T, text string) (shuffle.Problem, shuffle.Guarantee) {
	t.Helper()
	var c struct {
		Problem struct {
			Clients int     `json:"clients"`
			Blanket string  `json:"blanket"`
			Epsilon float64 `json:"eps"`
			Delta   float64 `json:"delta"`
		} `json:"problem"`
		Evidence struct {
			Central float64 `json:"central"`
			Edges   []int   `json:"edges"`
		} `json:"evidence"`
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	g, ok := new(big.Rat).SetString(c.Problem.Blanket)
	if !ok {
		t.Fatalf("no blanket in %s", text)
	}
	return shuffle.Problem{Clients: c.Problem.Clients, Blanket: g, Epsilon: c.Problem.Epsilon, Delta: c.Problem.Delta},
		shuffle.Guarantee{Epsilon: c.Evidence.Central, Edges: c.Evidence.Edges}
}
