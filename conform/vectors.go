package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors"
)

// A line is a map: its members come sorted, and how they are ordered must not matter to a client.
type line = map[string]any

// members are those of an answer or of a vector, as they are written.
type members = map[string]json.RawMessage

// vectorGroup asks lines of a kind about those vectors of a file that it picks. If ask returns nil, the answer is
// right.
type vectorGroup struct {
	file, kind string
	pick       func(v vectors.Case) bool // nil: all
	ask        func(c *client, kind string, l line, v vectors.Case) error
}

// vectorGroups are all groups of vectors, in the order of the report.
func vectorGroups() []vectorGroup {
	policies := func(v vectors.Case) bool { return v.Valid || v.Error == "policy" }
	return []vectorGroup{
		{"verify", "verify", nil, exactly(nil)},
		{"release", "policy", policies, exactly(map[string]string{"sha256": "id"})},
		{"box", "round", nil, exactly(map[string]string{"lo": "lo", "hi": "hi"})},
		{"round", "round-in-box", nil, exactly(map[string]string{"weights": "weights"})},
		{"sample", "sample", nil, exactly(map[string]string{"index": "index"})},
		{"release", "draw", projected(false), exactly(drawn)},
		{"release", "draw-projection", projected(true), exactly(drawn)},
		{"ledger", "ledger", nil, entirely},
		{"schedule", "schedule", nil, anyOf},
		{"phi", "phi", nil, about(judgePhi)},
		{"project", "project", nil, about(judgeProject)},
		{"entropic", "entropic", nil, about(judgeEntropic)},
		{"kl", "kl", nil, about(judgeKL)},
		{"kpm", "kpm", nil, about(judgeKPM)},
		{"hilbert", "hilbert", hasOp("distance"), about(judgeDistance)},
		{"hilbert", "hilbert", hasOp("gibbs"), about(judgeGibbs)},
		{"base", "basemeasure", nil, about(judgeBase)},
		{"sphere", "sphere", nil, about(judgeSphere)},
		{"certificate", "certificate", nil, exactly(nil)},
		{"aggregate", "aggregate", nil, exactly(map[string]string{"counts": "counts"})},
	}
}

// drawn is what the answers of draws have.
var drawn = map[string]string{"index": "index", "report": "report", "usable": "usable", "input": "input"}

func hasOp(op string) func(vectors.Case) bool {
	return func(v vectors.Case) bool {
		var in members
		return json.Unmarshal(v.In, &in) == nil && string(in["op"]) == `"`+op+`"`
	}
}

func projected(want bool) func(vectors.Case) bool {
	return func(v vectors.Case) bool {
		var in members
		return json.Unmarshal(v.In, &in) == nil && (in["projected"] != nil) == want
	}
}

// lineOf is the line of a vector: its members in the names and spellings of lines.
func lineOf(kind string, v vectors.Case) (line, error) {
	var in line
	if err := json.Unmarshal(v.In, &in); err != nil {
		return nil, err
	}
	l := line{}
	for name, value := range in {
		value = spelled(value)
		switch {
		case name == "c" || name == "a":
			l["cost"] = line{"kind": "explicit", "C": value}
		case name == "epsilon":
			l["eps"] = value
		case kind == "hilbert" && name == "op" || kind == "policy" && name != "policy" && name != "policy_hex": // of the file alone
		default:
			l[name] = value
		}
	}
	if kind == "round" {
		l["q"] = l["m"] // any would do
	}
	return l, nil
}

var floatText = regexp.MustCompile(`^(nan|-?inf|-?0x[01](\.[0-9a-f]+)?p[+-][0-9]+)$`)

// spelled turns the texts of floats into numbers.
func spelled(value any) any {
	switch v := value.(type) {
	case string:
		var f vectors.Float
		if floatText.MatchString(v) && f.UnmarshalText([]byte(v)) == nil {
			return number(f)
		}
	case []any:
		for i := range v {
			v[i] = spelled(v[i])
		}
	}
	return value
}

// refused turns an error into the verdict on an invalid vector: a refusal is right, and an answer is not.
func refused(v vectors.Case, err error) error {
	var r refusal
	switch {
	case err == nil:
		return fmt.Errorf("accepted, but it must be refused: %s", v.Error)
	case errors.As(err, &r):
		return nil
	}
	return err
}

// exactly compares members of the answer with members of the vector's out. Without any, the answer says verified.
func exactly(names map[string]string) func(*client, string, line, vectors.Case) error {
	return func(c *client, kind string, l line, v vectors.Case) error {
		var answer, out members
		err := c.ask(kind, l, &answer)
		if !v.Valid {
			return refused(v, err)
		}
		if err == nil {
			err = json.Unmarshal(v.Out, &out)
		}
		if err != nil {
			return err
		}
		if names == nil && string(answer["verified"]) != "true" {
			return errors.New("the member verified is not true")
		}
		for name, there := range names {
			var got, want any
			if json.Unmarshal(answer[name], &got) != nil || json.Unmarshal(out[there], &want) != nil ||
				!reflect.DeepEqual(got, want) {
				return fmt.Errorf("%s is %s, want %s", name, answer[name], out[there])
			}
		}
		return nil
	}
}

// entirely compares all members of the vector's out.
func entirely(c *client, kind string, l line, v vectors.Case) error {
	var out members
	if v.Valid {
		if err := json.Unmarshal(v.Out, &out); err != nil {
			return err
		}
	}
	names := map[string]string{}
	for name := range out {
		names[name] = name
	}
	return exactly(names)(c, kind, l, v)
}

// anyOf compares as entirely does or, if the vector's out has a list any, with each of its entries: what a client draws
// decides which it is.
func anyOf(c *client, kind string, l line, v vectors.Case) error {
	var out struct {
		Any []members `json:"any"`
	}
	if v.Valid {
		if err := json.Unmarshal(v.Out, &out); err != nil {
			return err
		}
	}
	if out.Any == nil {
		return entirely(c, kind, l, v)
	}
	var answer members
	if err := c.ask(kind, l, &answer); err != nil {
		return err
	}
	nearest, most := "", -1
	for _, want := range out.Any {
		off, same := "", 0
		for _, name := range slices.Sorted(maps.Keys(want)) {
			var got, is any
			if json.Unmarshal(answer[name], &got) == nil && json.Unmarshal(want[name], &is) == nil && reflect.DeepEqual(got, is) {
				same++
			} else if off == "" {
				off = fmt.Sprintf("%s is %s, want %s or what another draw gives", name, answer[name], want[name])
			}
		}
		if off == "" {
			return nil
		}
		if same > most {
			nearest, most = off, same
		}
	}
	return errors.New(nearest)
}

// about judges an answer of type A, whose numbers need not be exact.
func about[A any](judge func(in problemIn, out problemOut, a A) error) func(*client, string, line, vectors.Case) error {
	return func(c *client, kind string, l line, v vectors.Case) error {
		var a A
		err := c.ask(kind, l, &a)
		if !v.Valid {
			return refused(v, err)
		}
		var in problemIn
		var out problemOut
		if err == nil {
			err = json.Unmarshal(v.In, &in)
		}
		if err == nil {
			err = json.Unmarshal(v.Out, &out)
		}
		if err != nil {
			return err
		}
		return judge(in, out, a)
	}
}

// problemIn has what the judges need of the inputs of all files, and problemOut of the results.
type problemIn struct {
	C    [][]vectors.Float `json:"c"`
	A    [][]vectors.Float `json:"a"`
	Mu   []vectors.Float   `json:"mu"`
	Lo   []vectors.Float   `json:"lo"`
	Hi   []vectors.Float   `json:"hi"`
	Reg  vectors.Float     `json:"reg"`
	LogS []vectors.Float   `json:"log_s"`
	D    float64           `json:"d"`
	P    vectors.Float     `json:"p"`
}

type problemOut struct {
	Value       vectors.Number   `json:"value"`
	Phi         []vectors.Number `json:"phi"`
	Q           []vectors.Number `json:"q"`
	R           vectors.Number   `json:"r"`
	Theta       vectors.Number   `json:"theta"`
	Transport   vectors.Number   `json:"transport"`
	Objective   vectors.Number   `json:"objective"`
	Distance    vectors.Number   `json:"distance"`
	Diameter    vectors.Number   `json:"diameter"`
	Tau         json.RawMessage  `json:"tau"`
	OneMinusTau vectors.Number   `json:"one_minus_tau"`
	T           vectors.Number   `json:"t"`
	Omt         vectors.Number   `json:"omt"`
	Alpha       vectors.Number   `json:"alpha"`
	S           vectors.Number   `json:"S"`
	J           vectors.Number   `json:"J"`
	W           vectors.Number   `json:"W"`
	Pin         vectors.Number   `json:"pin"`
	Pout        vectors.Number   `json:"pout"`
}

// same fails unless all lists have n entries.
func same(n int, lists ...[]number) error {
	for _, l := range lists {
		if len(l) != n {
			return fmt.Errorf("a list of %d numbers, want %d", len(l), n)
		}
	}
	return nil
}

// largest is the largest cost, and in a vector the unit of an error.
func largest(c [][]vectors.Float) float64 {
	most := 0.0
	for _, row := range c {
		for _, v := range row {
			most = max(most, float64(v))
		}
	}
	return most
}

type phiAnswer struct {
	Phi    []number `json:"phi"`
	Tau    []number `json:"tau"`
	F      number   `json:"f"`
	Argmax int      `json:"argmax"`
}

// check refuses what the laws could not use.
func (a phiAnswer) check(k int) error {
	if err := same(k, a.Phi, a.Tau); err != nil {
		return err
	}
	if a.Argmax < 0 || a.Argmax >= k {
		return fmt.Errorf("argmax %d of %d rows", a.Argmax, k)
	}
	return nil
}

func judgePhi(in problemIn, out problemOut, a phiAnswer) error {
	if err := a.check(len(in.C)); err != nil {
		return err
	}
	l, h, err := exact.Box(floats(in.Lo), floats(in.Hi))
	if err != nil {
		return err
	}
	for i, row := range in.C {
		allowed := proptest.PhiTol * largest(in.C[i:i+1])
		if err := off(fmt.Sprintf("phi[%d]", i), a.Phi[i], out.Phi[i], allowed); err != nil {
			return err
		}
		tau, err := rat(a.Tau[i])
		if err != nil {
			return err
		}
		cut, _ := exact.Cut(tau, exact.Rats(floats(row)), l, h).Float64()
		if err := off(fmt.Sprintf("the cut at tau[%d] = %v", i, float64(a.Tau[i])), number(cut), out.Phi[i],
			allowed); err != nil {
			return err
		}
	}
	if m := slices.Max(a.Phi); a.F != m || a.Phi[a.Argmax] != m {
		return fmt.Errorf("f is %v at %d, but the largest phi is %v", a.F, a.Argmax, m)
	}
	return nil
}

type projectAnswer struct {
	Q          []number         `json:"q"`
	Objective  number           `json:"objective"`
	Upper      number           `json:"upper"`
	Lower      number           `json:"lower"`
	Potentials potentialsAnswer `json:"potentials"`
	Plan       []arc            `json:"plan"`
}

type potentialsAnswer struct {
	F []number `json:"f"`
	G []number `json:"g"`
}

// inBox checks that q is in the box, to the last bit, with a mass of 1 up to rounding.
func inBox(q []number, lo, hi []float64, massTol float64) error {
	if err := same(len(lo), q); err != nil {
		return err
	}
	l, h, err := exact.Box(lo, hi)
	if err != nil {
		return err
	}
	sum, point := new(big.Rat), l[0] == h[0] // exact.Box returns the same numbers twice for a box that is one point
	for j, v := range q {
		x, err := rat(v)
		if err != nil {
			return err
		}
		sum.Add(sum, x)
		d := exact.Sub(x, l[j])
		if point && d.Abs(d).Cmp(exact.Rat(massTol)) > 0 || !point && !(lo[j] <= float64(v) && float64(v) <= hi[j]) {
			return fmt.Errorf("q[%d] = %v is not in [%v, %v]", j, float64(v), lo[j], hi[j])
		}
	}
	return off("the sum of q", number(exact.Float(sum)), vectors.Number{Rat: big.NewRat(1, 1)}, massTol+0x1p-53)
}

func judgeProject(in problemIn, out problemOut, a projectAnswer) error {
	if err := inBox(a.Q, floats(in.Lo), floats(in.Hi), float64(len(a.Q))*proptest.MassTol); err != nil {
		return err
	}
	allowed, want := proptest.ValueTol*largest(in.C), out.Value.Rat
	if err := off("objective", a.Objective, out.Value, allowed); err != nil {
		return err
	}
	lower, err := rat(a.Lower)
	if err != nil {
		return fmt.Errorf("lower: %w", err)
	}
	upper, err := rat(a.Upper)
	if err != nil {
		return fmt.Errorf("upper: %w", err)
	}
	if lower.Cmp(want) > 0 || upper.Cmp(want) < 0 {
		return fmt.Errorf("the optimum %v is not in [%v, %v]", exact.Float(want), a.Lower, a.Upper)
	}
	if exact.Sub(upper, lower).Cmp(exact.Rat(allowed)) > 0 {
		return fmt.Errorf("[%v, %v] is wider than %.3g", a.Lower, a.Upper, allowed)
	}
	mu, err := exact.Distribution(floats(in.Mu))
	if err != nil {
		return err
	}
	var c [][]*big.Rat
	for _, row := range in.C {
		c = append(c, exact.Rats(floats(row)))
	}
	w, err := proptest.TransportTo(c, mu, floats(a.Q))
	if err != nil {
		return err
	}
	return off("the cost of moving mu to q", number(exact.Float(w)), out.Value, allowed)
}

type entropicAnswer struct {
	Q          []number `json:"q"`
	Transport  number   `json:"transport"`
	Objective  number   `json:"objective"`
	Upper      number   `json:"upper"`
	Lower      number   `json:"lower"`
	LogV       []number `json:"log_v"`
	Potentials struct {
		G []number `json:"g"`
	} `json:"potentials"`
}

// entropicTol: the residual of an iteration that stops at 1e-12 is at most that, and what is left to the fixed point is
// at most sinh(D/4)^2 of the last step, with the diameter D of the kernel: below 100 in these vectors.
const entropicTol = 1e-10

func judgeEntropic(in problemIn, out problemOut, a entropicAnswer) error {
	if err := same(len(out.Q), a.Q); err != nil {
		return err
	}
	for j, v := range a.Q {
		if err := off(fmt.Sprintf("q[%d]", j), v, out.Q[j], entropicTol); err != nil {
			return err
		}
	}
	allowed := entropicTol * max(largest(in.C), float64(in.Reg))
	return errors.Join(off("transport", a.Transport, out.Transport, allowed),
		off("objective", a.Objective, out.Objective, allowed))
}

type klAnswer struct {
	Q     []number `json:"q"`
	Theta number   `json:"theta"`
}

func judgeKL(in problemIn, out problemOut, a klAnswer) error {
	if err := same(len(out.Q), a.Q); err != nil {
		return err
	}
	// An exponent is off by half an ulp of the largest number in it, which the exponential hands on; the sums and the
	// division add an ulp for each column, and less than 8.
	size := 0.0
	for _, v := range in.LogS {
		if !math.IsInf(float64(v), 0) {
			size = max(size, math.Abs(float64(v)))
		}
	}
	if out.Theta.Rat != nil {
		size = max(size, math.Abs(exact.Float(out.Theta.Rat)))
	}
	kv := float64(len(a.Q))
	tolerance := (8 + kv + 4*size) * 0x1p-52
	for j, v := range a.Q {
		if err := off(fmt.Sprintf("q[%d]", j), v, out.Q[j], max(relative(tolerance, out.Q[j]), kv*0x1p-52)); err != nil {
			return err
		}
	}
	if out.Theta.Rat == nil { // any will do
		return nil
	}
	return off("theta", a.Theta, out.Theta, tolerance*max(1, size))
}

type kpmAnswer struct {
	Q []number `json:"q"`
	R number   `json:"r"`
}

func judgeKPM(_ problemIn, out problemOut, a kpmAnswer) error {
	if err := same(len(out.Q), a.Q); err != nil {
		return err
	}
	const tolerance = 1e-13 // e^eps, a sum of a dozen terms and two divisions
	for j, v := range a.Q {
		if err := off(fmt.Sprintf("q[%d]", j), v, out.Q[j], relative(tolerance, out.Q[j])); err != nil {
			return err
		}
	}
	return off("r", a.R, out.R, relative(tolerance, out.R))
}

type distanceAnswer struct {
	Distance number `json:"distance"`
}

func judgeDistance(_ problemIn, out problemOut, a distanceAnswer) error {
	const tolerance = 16 * 0x1p-52
	return off("distance", a.Distance, out.Distance, relative(tolerance, out.Distance))
}

type diameterAnswer struct {
	Diameter    number `json:"diameter"`
	Tau         number `json:"tau"`
	OneMinusTau number `json:"one_minus_tau"`
}

func judgeGibbs(in problemIn, out problemOut, a diameterAnswer) error {
	var tau vectors.Number
	if err := json.Unmarshal(out.Tau, &tau); err != nil {
		return err
	}
	allowed := 0x1p-51 * largest(in.A) / float64(in.Reg) // four costs over reg
	tolerance := 16*0x1p-52 + 2*allowed                  // of 1 - tau, which falls like e^(-d/2)
	return errors.Join(off("diameter", a.Diameter, out.Diameter, allowed+relative(4*0x1p-52, out.Diameter)),
		off("tau", a.Tau, tau, relative(tolerance, tau)),
		off("one_minus_tau", a.OneMinusTau, out.OneMinusTau, relative(tolerance, out.OneMinusTau)))
}

type baseAnswer struct {
	M          []number `json:"m"`
	F          number   `json:"f"`
	Upper      number   `json:"upper"`
	Lower      number   `json:"lower"`
	Weights    []number `json:"weights"`
	Thresholds []number `json:"thresholds"`
}

func judgeBase(in problemIn, out problemOut, a baseAnswer) error {
	if err := same(len(in.C[0]), a.M); err != nil {
		return err
	}
	most, want := largest(in.C), exact.Float(out.Value.Rat)
	slack := 1e-15*most + 0x1p-52*want // rounding to floats
	l, u := float64(a.Lower), float64(a.Upper)
	if !(l <= want+slack && want <= u+slack) {
		return fmt.Errorf("the optimum %v is not in [%v, %v]", want, l, u)
	}
	if !(u-l <= 1e-9*u+1e-15*most) {
		return fmt.Errorf("[%v, %v] is wider than a relative 1e-9", l, u)
	}
	return nil
}

type sphereAnswer struct {
	T     number `json:"t"`
	Omt   number `json:"omt"`
	Alpha number `json:"alpha"`
	S     number `json:"S"`
	J     number `json:"J"`
	W     number `json:"W"`
	Pin   number `json:"pin"`
	Pout  number `json:"pout"`
}

func judgeSphere(in problemIn, out problemOut, a sphereAnswer) error {
	const tolerance = 1e-13 // design.SphereTol
	err := off("t", a.T, out.T, tolerance*max(math.Abs(exact.Float(out.T.Rat)), 1/math.Sqrt(in.D+float64(in.P))))
	for _, f := range []struct {
		name string
		got  number
		want vectors.Number
	}{{"omt", a.Omt, out.Omt}, {"alpha", a.Alpha, out.Alpha}, {"S", a.S, out.S}, {"J", a.J, out.J}, {"W", a.W, out.W},
		{"pin", a.Pin, out.Pin}, {"pout", a.Pout, out.Pout}} {
		err = errors.Join(err, off(f.name, f.got, f.want, relative(tolerance, f.want)))
	}
	return err
}
