package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
)

// ask answers one line and decodes the answer.
func ask(t *testing.T, kind, line string) map[string]any {
	t.Helper()
	got, ok := Answer(context.Background(), kind, Settings{}, []byte(line))
	if bytes.ContainsAny(got, "\n\r") {
		t.Errorf("%s %s: an answer of more than one line", kind, line)
	}
	var m map[string]any
	if err := json.Unmarshal(got, &m); err != nil {
		t.Fatalf("%s %s: %v in %s", kind, line, err, got)
	}
	if _, bad := m["error"]; bad == ok {
		t.Errorf("%s %s: ok is %v, answer %s", kind, line, ok, got)
	}
	return m
}

func list(t *testing.T, v any) []float64 {
	t.Helper()
	values, ok := v.([]any)
	if !ok {
		t.Fatalf("%v is not an array", v)
	}
	out := make([]float64, len(values))
	for i, x := range values {
		if out[i], ok = x.(float64); !ok {
			t.Fatalf("%v is not a number", x)
		}
	}
	return out
}

// tol is for closed forms of order 1 computed in a few roundings.
const tol = 1e-15

func near(t *testing.T, what string, got any, want float64) {
	t.Helper()
	x, ok := got.(float64)
	if !ok || !(math.Abs(x-want) <= tol) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

const twoPoints = `"cost":{"kind":"explicit","C":[[0,1],[1,0]]}`

func TestProject(t *testing.T) {
	// Two points at distance 1, uniform base measure, eps = 2: the far point keeps e^-1 / 2.
	a := ask(t, "project", `{"id":"x",`+twoPoints+`,"mu":[1,0],"m":[0.5,0.5],"eps":2}`)
	if a["id"] != "x" {
		t.Errorf("id %v", a["id"])
	}
	want := math.Exp(-1) / 2
	near(t, "objective", a["objective"], want)
	q := list(t, a["q"])
	near(t, "q[1]", q[1], want)
	near(t, "q[0]", q[0], 1-want)
	upper, ok1 := new(big.Rat).SetString(a["upper_exact"].(string))
	lower, ok2 := new(big.Rat).SetString(a["lower_exact"].(string))
	if !ok1 || !ok2 || lower.Cmp(upper) > 0 {
		t.Fatalf("exact bounds %v, %v", a["lower_exact"], a["upper_exact"])
	}
	// The bounds enclose the real e^-1/2, not only its float.
	e := new(big.Rat)
	e.SetString("0.18393972058572116079776188508073043372290556554")
	if lower.Cmp(e) > 0 || upper.Cmp(e) < 0 {
		t.Errorf("bounds [%s, %s] miss the optimum", lower.FloatString(25), upper.FloatString(25))
	}
	if f, g := list(t, a["potentials"].(map[string]any)["f"]),
		list(t, a["potentials"].(map[string]any)["g"]); len(f) != 2 || len(g) != 2 {
		t.Errorf("potentials %v", a["potentials"])
	}
	mass := 0.0
	for _, e := range a["plan"].([]any) {
		arc := list(t, e)
		if len(arc) != 3 || arc[0] != 0 {
			t.Errorf("arc %v", arc)
		}
		mass += arc[2]
	}
	near(t, "mass of the plan", mass, 1)
	if _, ok := a["seconds"].(float64); !ok {
		t.Errorf("seconds %v", a["seconds"])
	}
}

func TestProjectForms(t *testing.T) {
	const rest = `,"lo":[0.1,0.1,0.1,0.1],"hi":[0.6,0.6,0.6,0.6]}`
	dense := ask(t, "project", `{"cost":{"kind":"ring","n":4,"p":2},"mu":[0,0.5,0,0.5]`+rest)
	sparse := ask(t, "project", `{"cost":{"kind":"ring","n":4,"p":2},"mu":{"index":[1,3],"weight":[0.5,0.5]}`+rest)
	explicit := ask(t, "project",
		`{"cost":{"kind":"explicit","C":[[0,1,4,1],[1,0,1,4],[4,1,0,1],[1,4,1,0]]},"mu":[0,0.5,0,0.5]`+rest)
	near(t, "objective", dense["objective"], 0.2)
	near(t, "distance", dense["distance"], math.Sqrt(0.2))
	if _, ok := explicit["distance"]; ok {
		t.Error("an explicit cost has no p, so no distance")
	}
	for _, name := range []string{"q", "objective", "upper", "lower", "upper_exact", "potentials", "plan"} {
		a, b, c := fmt.Sprint(dense[name]), fmt.Sprint(sparse[name]), fmt.Sprint(explicit[name])
		if a != b || a != c {
			t.Errorf("%s: dense %s, sparse %s, explicit %s", name, a, b, c)
		}
	}
	// Atoms come in any order, for both solvers.
	for kind, tail := range map[string]string{"project": rest, "entropic": `,"reg":0.1` + rest} {
		up := ask(t, kind, `{"cost":{"kind":"ring","n":4,"p":2},"mu":{"index":[1,3],"weight":[0.25,0.75]}`+tail)
		down := ask(t, kind, `{"cost":{"kind":"ring","n":4,"p":2},"mu":{"index":[3,1],"weight":[0.75,0.25]}`+tail)
		for _, name := range []string{"q", "objective", "upper", "lower", "potentials"} {
			if a, b := fmt.Sprint(up[name]), fmt.Sprint(down[name]); a != b || a == "<nil>" {
				t.Errorf("%s: %s is %s in order, %s backwards", kind, name, a, b)
			}
		}
	}
}

func TestPhi(t *testing.T) {
	a := ask(t, "phi", `{`+twoPoints+`,"m":[0.5,0.5],"eps":2}`)
	want := math.Exp(-1) / 2
	near(t, "f", a["f"], want)
	near(t, "phi[1]", list(t, a["phi"])[1], want)
	near(t, "argmax", a["argmax"], 0) // a tie goes to the lowest index
	// The subgradient supports phi_0: tau + g.m = phi.
	g, tau := list(t, a["subgradient"]), list(t, a["tau"])[0]
	near(t, "tau + g.m", tau+0.5*g[0]+0.5*g[1], want)
	if b := ask(t, "phi", `{`+twoPoints+`,"lo":[0.25,0.25],"hi":[1,1]}`); b["subgradient"] != nil {
		t.Error("a subgradient with respect to m needs m")
	}
}

func TestKPM(t *testing.T) {
	a := ask(t, "kpm", `{"mu":[1,0,0],"eps":1}`)
	e := math.E
	near(t, "q[0]", list(t, a["q"])[0], e/(e+2))
	near(t, "r", a["r"], (e+2)/e)
	b := ask(t, "kpm", `{"mu":[1,0,0],"eps":0}`)
	near(t, "q[0] at eps 0", list(t, b["q"])[0], 1.0/3)
}

func TestRound(t *testing.T) {
	// H = ceil(16 e^(1/2) / 2) = 14, lo = ceil(14 / e) = 6, hi = floor(6 e) = 16; q = (0.9, 0.1) is outside.
	for _, eps := range []string{`"1"`, `1`, `"1/1"`} {
		a := ask(t, "round", `{"m":[0.5,0.5],"eps":`+eps+`,"bits":4,"q":[0.9,0.1]}`)
		if fmt.Sprint(a["lo"], a["hi"], a["weights"], a["verified"]) != "[6 6] [16 16] [10 6] true" {
			t.Errorf("eps %s: lo %v, hi %v, weights %v, verified %v", eps, a["lo"], a["hi"], a["weights"], a["verified"])
		}
	}
	// Weights of 2^62 units survive as strings.
	a := ask(t, "round", `{"m":[1],"eps":"1e-3","bits":62,"q":[1]}`)
	if fmt.Sprint(a["weights"]) != "[4611686018427387904]" {
		t.Errorf("weights %v", a["weights"])
	}
}

func TestBaseMeasure(t *testing.T) {
	// The ring is transitive: the uniform measure is optimal and the certificate closes.
	a := ask(t, "basemeasure", `{"cost":{"kind":"ring","n":30,"p":2},"eps":5,"method":"uniform"}`)
	const want = 4.86155374524601 // (10 kappa + 2255) / (5 kappa + 30), kappa = e^5 - 1
	for _, name := range []string{"f", "upper", "lower"} {
		if x := a[name].(float64); !(math.Abs(x-want) <= 1e-12) { // a dozen roundings of numbers up to 225
			t.Errorf("%s = %v, want %v", name, x, want)
		}
	}
	if m := list(t, a["m"]); len(m) != 30 {
		t.Errorf("%d entries of m", len(m))
	}
}

// TestBadLines holds that what is wrong is named, and that a bad line is one line.
func TestBadLines(t *testing.T) {
	const project = `{` + twoPoints + `,"mu":[1,0],"m":[0.5,0.5],"eps":2}`
	for _, test := range []struct{ kind, line, want string }{
		{"project", `{`, "ends at byte 1"},
		{"project", `[]`, "not a JSON object"},
		{"project", `{} {}`, "more than one value"},
		{"project", `{"mu":[1,0],"m":[0.5,0.5],"eps":2}`, `"cost" is missing`},
		{"project", strings.Replace(project, `"mu"`, `"Mu"`, 1), `"mu" is missing`},
		{"project", strings.Replace(project, `"eps"`, `"Eps"`, 1), `m and eps go together`},
		{"project", strings.Replace(project, `}`+"", `}`, 1)[:len(project)-1] + `,"x":1}`, `unknown field "x"`},
		{"project", project[:len(project)-1] + `,"eps":2}`, `"eps" occurs twice`},
		{"project", project[:len(project)-1] + `,"lo":[0,0]}`, "not both"},
		{"project", strings.Replace(project, `[1,0]`, `[1,null]`, 1), "null"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":null`, 1), `"mu" is null`},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":[1,"0"]`, 1), `"mu"`},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":[1,0,0]`, 1), "3 entries"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":[0,0]`, 1), "sum to 0"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":[1,-2]`, 1), "-2"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":[1,1e999]`, 1), "1e999"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":{"index":[0],"weight":[1],"more":1}`, 1), `"more"`},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":{"index":[5],"weight":[1]}`, 1), "5"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":{"id":1,"index":[0],"weight":[1]}`, 1), `"id"`},
		{"project", strings.Replace(project, `"eps":2`, `"eps":-1`, 1), "-1"},
		{"project", strings.Replace(project, `"eps":2`, `"eps":701`, 1), "701"},
		{"project", strings.Replace(project, `[0.5,0.5]`, `[0.5,-0.5]`, 1), "-0.5"},
		{"project", strings.Replace(project, `[0.5,0.5]`, `[5,5]`, 1), "no distribution in the box"},
		{"project", strings.Replace(project, `[1,0]]`, `[1,-1]]`, 1), "-1"},
		{"project", strings.Replace(project, `"explicit"`, `"unknown"`, 1), "unknown"},
		{"phi", `{` + twoPoints + `}`, "the box is missing"},
		{"kpm", `{"mu":[],"eps":1}`, "mu"},
		{"kpm", `{"mu":[0.5,0.6],"eps":1}`, "1.1"},
		{"round", `{"m":[1],"eps":"0","bits":8,"q":[1]}`, `"eps"`},
		{"round", `{"m":[1],"eps":"1","bits":63,"q":[1]}`, "63"},
		{"round", `{"m":[1],"eps":"1","bits":8,"q":[1,2]}`, "2 entries"},
		{"round", `{"m":[1],"eps":"1","bits":8.5,"q":[1]}`, "8.5"},
		{"basemeasure", `{"cost":{"kind":"ring","n":3},"eps":1,"method":"magic"}`, "magic"},
		{"basemeasure", `{"cost":{"kind":"ring","n":3},"eps":1,"method":"mirror","T":0}`, `"T": 0 is not`},
		// would take ages
		{"basemeasure", `{"cost":{"kind":"ring","n":3},"eps":1,"method":"mirror","T":2000000000}`, `"T": 2000000000 is not`},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":{"index":[1,1],"weight":[0.5,0.5]}`, 1),
			"index 1 occurs twice"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":{"index":[1,0],"weight":[1]}`, 1),
			"2 indices and 1 weights"},
		{"project", strings.Replace(project, `"mu":[1,0]`, `"mu":{"index":[-1],"weight":[1]}`, 1), "index -1"},
	} {
		a := ask(t, test.kind, test.line)
		msg, _ := a["error"].(string)
		if !strings.Contains(msg, test.want) {
			t.Errorf("%s %s:\n error %q, want it to contain %q", test.kind, test.line, msg, test.want)
		}
	}
}

// TestRun holds the order of answers, ids, blank lines, a missing last line end, and long lines.
func TestRun(t *testing.T) {
	mu := strings.Repeat("0,", 20000) + "1"
	in := "{\"id\":1,\"mu\":[1],\"eps\":1}\n\n  \n{\"id\":[2],\"mu\":[],\"eps\":1}\r\n{\"id\":null,\"mu\":[" + mu +
		"],\"eps\":1}"
	var out bytes.Buffer
	lines, bad, err := Run(context.Background(), "kpm", Settings{}, strings.NewReader(in), &out)
	if lines != 3 || bad != 1 || err != nil {
		t.Fatalf("%d lines, %d bad, error %v", lines, bad, err)
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, prefix := range []string{`{"id":1,"q":[1],`, `{"id":[2],"error":`, `{"id":null,"q":[`} {
		if i >= len(got) || !strings.HasPrefix(got[i], prefix) {
			t.Errorf("line %d does not start with %s", i, prefix)
		}
	}
	if _, _, err := Run(context.Background(), "nonsense", Settings{}, strings.NewReader(""), &out); err == nil {
		t.Error("unknown kind accepted")
	}
}

// TestID holds that the id is echoed whatever is wrong with the line, as long as the line is JSON.
func TestID(t *testing.T) {
	for _, line := range []string{
		`{"id":7,"mu":null,"eps":1}`,
		`{"mu":null,"eps":1,"id":7}`,
		`{"mu":[1],"mu":[1],"id":7}`,
		`{"x":1,"id":7}`,
		`{"id":7,"eps":`,
	} {
		if got, ok := Answer(context.Background(), "kpm", Settings{}, []byte(line)); ok ||
			!bytes.HasPrefix(got, []byte(`{"id":7,"error":`)) {
			t.Errorf("%s is answered %s", line, got)
		}
	}
	if got, _ := Answer(context.Background(), "kpm", Settings{}, []byte("{\"id\":\"\xff\"}")); !json.Valid(got) ||
		bytes.Contains(got, []byte("\xff")) {
		t.Errorf("an id that is not UTF-8 is answered %q", got)
	}
	if got, _ := Answer(context.Background(), "kpm", Settings{},
		[]byte(`{"id":"<a&b>","mu":[1],"eps":1}`)); !bytes.Contains(got, []byte(`"<a&b>"`)) {
		t.Errorf("an id is changed: %s", got)
	}
}

// TestNumbers holds that what is written reads back as the same float64, also where a reader takes numbers
// without a point or an exponent for exact integers.
func TestNumbers(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-320, 5e-324, 1 << 53, 1<<53 + 2,
		12602406482379387000, 1e21, 1e300, math.MaxFloat64, 123456789} {
		text := string(appendNumber(nil, x))
		var back float64
		if err := json.Unmarshal([]byte(text), &back); err != nil || math.Float64bits(back) != math.Float64bits(x) {
			t.Errorf("%v is written %s, which reads as %v (%v)", x, text, back, err)
		}
		if r, ok := new(big.Rat).SetString(text); !strings.ContainsAny(text, ".e") &&
			(!ok || r.Cmp(new(big.Rat).SetFloat64(x)) != 0) {
			t.Errorf("%v is written as another integer: %s", x, text)
		}
	}
	for x, want := range map[float64]string{math.Inf(1): `"inf"`, math.Inf(-1): `"-inf"`} {
		if got := string(appendNumber(nil, x)); got != want {
			t.Errorf("%v is written %s", x, got)
		}
	}
	if b, err := encode(struct{ X number }{number(math.NaN())}, nil, 0); err == nil {
		t.Errorf("a NaN is answered %s", b)
	}
}

// slowReader hands out one piece at a time and then asks whether the answers so far have been written.
type slowReader struct {
	pieces []string
	before func(next int)
	at     int
}

func (r *slowReader) Read(p []byte) (int, error) {
	r.before(r.at)
	if r.at == len(r.pieces) {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[r.at])
	r.at++
	return n, nil
}

// TestDialogue holds that an answer is written before more input is awaited, half a line or none.
func TestDialogue(t *testing.T) {
	var out bytes.Buffer
	const line = `{"mu":[1],"eps":1}` + "\n"
	want := []int{0, 1, 1, 2}
	r := &slowReader{pieces: []string{"\ufeff" + line + line[:5], line[5:9], line[9:]}}
	r.before = func(next int) {
		if got := strings.Count(out.String(), "\n"); next < len(want) && got != want[next] {
			t.Errorf("before piece %d: %d answers, want %d", next, got, want[next])
		}
	}
	if lines, bad, err := Run(context.Background(), "kpm", Settings{}, r, &out); lines != 2 || bad != 0 || err != nil {
		t.Errorf("%d lines, %d bad, %v", lines, bad, err)
	}
}
