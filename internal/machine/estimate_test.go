package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// randomized is randomized response on three points: at eps = log 3 and distances all the same, the rows are 3/5 and
// 1/5.
const randomized = `"cost":{"kind":"explicit","C":[[0,1,1],[1,0,1],[1,1,0]]},` +
	`"m":[0.346410161513775,0.346410161513775,0.346410161513775],"eps":"1.09861228866811"`

// TestEstimateMLE: counts that the rows can explain wholly are explained so, theta = (c/N - 1/5) / (2/5).
func TestEstimateMLE(t *testing.T) {
	a := ask(t, "estimate", `{`+randomized+`,"counts":[50,30,20],"estimator":"mle"}`)
	for i, want := range []float64{0.75, 0.25, 0} {
		// A gap of 1e-6 per release, at the curvature of some 1, is 1e-3; the last is at the border.
		if got := list(t, a["map"])[i]; !(math.Abs(got-want) <= 1e-3) {
			t.Errorf("map[%d] = %v, want %v", i, got, want)
		}
	}
	for i, want := range []float64{0.5, 0.3, 0.2} {
		near(t, "raw", list(t, a["raw"])[i], want)
	}
	if gap, ok := a["gap"].(float64); !ok || !(gap <= 1e-6) || a["estimator"] != "mle" || a["models"] != nil ||
		a["signal"] != nil {
		t.Errorf("%v", a)
	}
}

// TestEstimatePatch: places that share a row with others have the number of their patch; without such places there are
// no numbers.
func TestEstimatePatch(t *testing.T) {
	a := ask(t, "estimate", `{"cost":{"kind":"points","x":[[0],[0.1],[0.2],[50],[50.1],[50.2]],"p":1},`+
		`"m":[0.16,0.16,0.16,0.16,0.16,0.16],"eps":"1","counts":[9,9,9,3,3,3],"estimator":"em"}`)
	patch := list(t, a["patch"])
	if len(patch) != 6 || patch[3] == patch[0] || !(patch[0] == patch[1] || patch[1] == patch[2] || patch[0] == patch[2]) {
		t.Errorf("patches %v", patch)
	}
	if a := ask(t, "estimate", `{`+randomized+`,"counts":[50,30,20]}`); a["patch"] != nil {
		t.Errorf("patches %v of rows that differ", a["patch"])
	}
}

// TestEstimateHelp: the example of the help is a line that has an answer.
func TestEstimateHelp(t *testing.T) {
	_, line, _ := strings.Cut(Fields("estimate"), "echo '")
	line, _, ok := strings.Cut(line, "'")
	if !ok {
		t.Fatalf("no example:\n%s", Fields("estimate"))
	}
	if m := list(t, ask(t, "estimate", line)["map"]); len(m) != 3 || !(m[0] > m[1] && m[1] > m[2]) {
		t.Errorf("map %v of counts that fall", m)
	}
}

// TestEstimateForms: a policy gives the answer of its cost and base measure; the defaults are the map, and em without
// distances.
func TestEstimateForms(t *testing.T) {
	ctx := context.Background()
	ring, err := cost.NewRing(8, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	text := func(mode policy.Mode) string {
		d, err := wpm.NewDesign(ctx, ring, eps, wpm.Objective{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Publish(policy.Config{Mode: mode,
			Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
		if err != nil {
			t.Fatal(err)
		}
		return quoted(t, p)
	}
	base := ask(t, "basemeasure", `{"cost":{"kind":"ring","n":8},"eps":2,"method":"uniform"}`)
	m, err := json.Marshal(base["m"])
	if err != nil {
		t.Fatal(err)
	}
	const counts = `,"counts":[90,30,10,5,5,5,10,30]`
	byCost := ask(t, "estimate", `{"cost":{"kind":"ring","n":8},"m":`+string(m)+`,"eps":"2","bits":62`+counts+`}`)
	byPolicy := ask(t, "estimate", `{"policy":`+text(policy.Mixture)+counts+`,"estimator":"map"}`)
	a, b := list(t, byCost["map"]), list(t, byPolicy["map"])
	sum, weights := 0.0, 0.0
	for i := range a {
		// The base measures are the same to 1e-9, the gap of a design, and a map is smooth in the rows.
		if !(math.Abs(a[i]-b[i]) <= 1e-6) {
			t.Errorf("map[%d] = %v from the cost, %v from the policy", i, a[i], b[i])
		}
		sum += b[i]
	}
	for _, m := range byPolicy["models"].([]any) {
		weights += m.(map[string]any)["weight"].(float64)
	}
	if !(math.Abs(sum-1) <= 1e-12) || !(math.Abs(weights-1) <= 1e-12) || byPolicy["signal"] != "ok" ||
		byPolicy["estimator"] != "map" || !(b[0] > 0.3) {
		t.Errorf("sum %v, weights %v, %v", sum, weights, byPolicy)
	}
	for _, name := range []string{"map", "em", "mle", "raw"} {
		a := ask(t, "estimate", `{"policy":`+text(policy.Mixture)+counts+`,"estimator":"`+name+`"}`)
		e, ok := a["map_error"].(map[string]any)
		if !ok || !(e["expected"].(float64) <= e["within90"].(float64)) || a["information"] == nil || a["verdict"] == nil {
			t.Errorf("%s: error %v, %v, %v", name, a["map_error"], a["information"], a["verdict"])
		}
	}
	projected := ask(t, "estimate", `{"policy":`+text(policy.Projection)+counts+`}`)
	if projected["map"] != nil || !strings.Contains(fmt.Sprint(projected["reason"]), "projection mode") ||
		len(list(t, projected["raw"])) != 8 {
		t.Errorf("of a projection policy: %v", projected)
	}
	prior := ask(t, "estimate", `{"policy":`+text(policy.Mixture)+counts+`,"estimator":"em","prior":[0,1,1,1,1,1,1,1]}`)
	if got := list(t, prior["map"]); got[0] != 0 {
		t.Errorf("a place of prior 0 has %v", got[0])
	}
	apart := ask(t, "estimate",
		`{"cost":{"kind":"points","x":[[0],[1]],"v":[[0],[1],[2]]},"m":[0.3,0.3,0.4],"eps":"1","counts":[9,1,1],"estimator":"raw"}`)
	if apart["map"] != nil || !strings.Contains(fmt.Sprint(apart["reason"]), "not known to be the inputs") ||
		len(list(t, apart["raw"])) != 3 {
		t.Errorf("raw of other points: %v", apart)
	}
	skew := ask(t, "estimate", `{"cost":{"kind":"explicit","C":[[0,1],[2,0]]},"m":[0.5,0.5],"eps":"1","counts":[9,1]}`)
	if skew["estimator"] != "em" || len(list(t, skew["map"])) != 2 {
		t.Errorf("without distances: %v", skew)
	}
}

func TestEstimateErrors(t *testing.T) {
	const line = `{` + randomized + `,"counts":[5,3,2]}`
	for _, c := range []struct{ line, want string }{
		{strings.Replace(line, `[5,3,2]`, `[5,3]`, 1), `"counts" has 2 entries, for 3 outputs`},
		{strings.Replace(line, `[5,3,2]`, `[5,3,-2]`, 1), "whole number"},
		{strings.Replace(line, `[5,3,2]`, `[5,3,0.5]`, 1), "whole number"},
		{strings.Replace(line, `[5,3,2]`, `[0,0,0]`, 1), "no releases"},
		{strings.Replace(line, `[5,3,2]`, `[18446744073709551615,1,1]`, 1), "bad counts"},
		{`{` + randomized + `}`, `"counts" is missing`},
		{line[:len(line)-1] + `,"prior":[1]}`, "prior of 1 entries"},
		{line[:len(line)-1] + `,"prior":[0,0,0]}`, "sums to 0"},
		{line[:len(line)-1] + `,"prior":[1,-1,1]}`, "-1"},
		{line[:len(line)-1] + `,"estimator":"best"}`, `"best" is not map, em, mle or raw`},
		{line[:len(line)-1] + `,"estimator":""}`, `"" is not`},
		{line[:len(line)-1] + `,"bits":63}`, "63"},
		{line[:len(line)-1] + `,"policy":"x"}`, "not both"},
		{`{"policy":"x","counts":[1]}`, `"policy"`},
		{`{"counts":[1]}`, `"cost" is missing`},
		{`{"cost":{"kind":"explicit","C":[[0,1],[2,0]]},"m":[0.5,0.5],"eps":"1","counts":[9,1],"estimator":"map"}`,
			"no distances between inputs"},
	} {
		a := ask(t, "estimate", c.line)
		if msg, _ := a["error"].(string); !strings.Contains(msg, c.want) {
			t.Errorf("%s:\n error %q, want it to contain %q", c.line, msg, c.want)
		}
	}
}

// TestGroups: the groups of a map are a partition of its places with its shares, in intervals that hold them or are the
// whole of it; they come only where they are asked for, and Progress ends at its whole.
func TestGroups(t *testing.T) {
	const world = `"cost":{"kind":"grid","rows":1,"cols":8,"p":1},"m":[0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125],` +
		`"eps":"3","counts":[40,600,40,30,30,30,300,30]`
	if a := ask(t, "estimate", `{`+world+`}`); a["groups"] != nil {
		t.Errorf("groups that nobody asked for: %v", a["groups"])
	}
	var done, total int
	s := Settings{Progress: func(d, n int) { done, total = d, n }}
	text, ok := Answer(t.Context(), "estimate", s, []byte(`{`+world+`,"groups":true}`))
	var a struct {
		Map    []float64
		Groups struct {
			Of               []int
			Share, Low, High []float64
		}
	}
	if err := json.Unmarshal(text, &a); err != nil || !ok {
		t.Fatalf("%v: %s", err, text)
	}
	if total == 0 || done != total {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	g := a.Groups
	if len(g.Of) != 8 || len(g.Share) < 2 || len(g.Low) != len(g.Share) || len(g.High) != len(g.Share) {
		t.Fatalf("%s", text)
	}
	sums := make([]float64, len(g.Share))
	for i, n := range g.Of {
		sums[n] += a.Map[i]
	}
	for n, share := range g.Share {
		if sums[n] != share || !(0 <= g.Low[n] && g.Low[n] < g.High[n] && g.High[n] <= 1) {
			t.Errorf("group %d: %v, want %v, in [%v, %v]", n, share, sums[n], g.Low[n], g.High[n])
		}
	}
	if n := g.Of[1]; !(g.Low[n] > 0.3 && g.Low[n] <= g.Share[n] && g.Share[n] <= g.High[n]) {
		t.Errorf("the peak: %+v", g)
	}
	if _, ok := Answer(t.Context(), "estimate", Settings{}, []byte(`{`+world+`,"groups":1}`)); ok {
		t.Error("groups: 1")
	}
}

// TestEstimateEpochs: a line with epochs has a map of each, the same as without the other if they stand alone, and changes
// of regions; and what is wrong is an error.
func TestEstimateEpochs(t *testing.T) {
	const line = `{` + randomized + `,"epochs":[{"epoch":"a","counts":[50,30,20]},{"epoch":"b","number":40,"counts":[5,300,20]}],` +
		`"regions":[[1,0,0],[0,0.5,1]]}`
	a := ask(t, "estimate", line)
	epochs, ok := a["epochs"].([]any)
	if !ok || len(epochs) != 2 {
		t.Fatalf("%v", a)
	}
	first := epochs[0].(map[string]any)
	alone := ask(t, "estimate", `{`+randomized+`,"counts":[50,30,20]}`)
	if got, want := list(t, first["map"]), list(t, alone["map"]); !slices.Equal(got, want) || first["epoch"] != "a" {
		t.Errorf("%v, want the map %v", first, want)
	}
	if c := a["changes"].([]any); len(c) != 2 || c[0].(map[string]any)["known"] != true {
		t.Errorf("changes %v", a["changes"])
	}
	for _, bad := range []string{`"epochs":[]`, `"epochs":[{"counts":[1,2]}]`, `"epochs":{}`, `"epochs":[{"counts":[1,2,3]}],"counts":[1,2,3]`,
		`"epochs":[{"epoch":"2026-02","counts":[1,2,3]},{"epoch":"2026-01","counts":[1,2,3]}]`,
		`"epochs":[{"epoch":"2026","counts":[1,2,3]},{"epoch":"2026-01","counts":[1,2,3]}]`,
		`"epochs":[{"epoch":"2026-01","counts":[1,2,3]},{"epoch":"simulation-2026-02","counts":[1,2,3]}]`,
		`"epochs":[{"counts":[1,-2,3]}]`, `"epochs":[{"number":4,"counts":[1,2,3]},{"number":4,"counts":[1,2,3]}]`} {
		if a := ask(t, "estimate", `{`+randomized+`,`+bad+`}`); a["error"] == nil {
			t.Errorf("%s: %v", bad, a)
		}
	}
}

// TestEstimateRegions: a line has the shares of regions by the labels of places, by their numbers where they have none;
// and of pairs the flows and the marginals.
func TestEstimateRegions(t *testing.T) {
	at := places.File{Name: "places", Points: &costio.Points{Labels: []string{"a", "b"}, X: [][]float64{{0}, {9}}}}
	g, err := places.Pairs(places.Pairing{Sides: []places.File{at, at}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("8")
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(t.Context(), g.Cost, eps, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(policy.Config{
		InputLabels: g.Inputs, Metadata: map[string]string{plane.PairsKey: g.Pairs},
		Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := quoted(t, p)
	flows := func(a map[string]any) (names []string) {
		for _, x := range a["regions"].([]any) {
			r := x.(map[string]any)
			names = append(names, r["region"].(string))
			if lo, hi := r["lower"].(float64), r["upper"].(float64); !(0 <= lo && lo <= r["likeliest"].(float64) && lo < hi && hi <= 1) {
				t.Errorf("%v", r)
			}
		}
		return names
	}
	a := ask(t, "estimate", `{"policy":`+text+`,"counts":[10,80,5,5],"regions":[{"region":"west","weights":{"a":1}}],"level":0.5}`)
	if got := flows(a); !slices.Equal(got, []string{"west>west", "west>anywhere", "anywhere>west"}) {
		t.Errorf("flows %v", got)
	}
	for n, x := range a["ends"].([]any) { // nine in ten are from a, and nearly as many to b
		e := x.(map[string]any)
		if share := list(t, e["map"]); e["end"] != []string{"from", "to"}[n] || !(share[n] > 0.8) || math.Abs(share[0]+share[1]-1) > 1e-12 {
			t.Errorf("end %d: %v", n, e)
		}
	}
	a = ask(t, "estimate", `{`+randomized+`,"counts":[50,30,20],"regions":[{"region":"west","weights":{"0":1,"2":0.5}}]}`)
	if got := flows(a); !slices.Equal(got, []string{"west"}) || a["ends"] != nil {
		t.Errorf("regions %v, ends %v", got, a["ends"])
	}
	for _, bad := range []string{`[{"region":"west","weights":{"3":1}}]`, `[{"region":"west","weights":{"0":2}}]`, `[[1,0,0]]`} {
		if a := ask(t, "estimate", `{`+randomized+`,"counts":[50,30,20],"regions":`+bad+`}`); a["error"] == nil {
			t.Errorf("regions %s: %v", bad, a)
		}
	}
}

// quoted is the text of a policy as a string of JSON.
func quoted(t *testing.T, p policy.Policy) string {
	t.Helper()
	data, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
