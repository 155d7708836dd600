package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/demo"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/shuffle"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
)

var ctx = context.Background()

const square = "label,x,y\na,0,0\nb,3,0\nc,0,4\nd,3,4\n"

// ask sends requests to one engine and returns the last answer.
func ask(t testing.TB, requests ...Request) Answer {
	t.Helper()
	var e Engine
	var a Answer
	for _, q := range requests {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if a = e.Answer(ctx, line); a.Error != "" {
			t.Fatalf("%+v: %s", q, a.Error)
		}
	}
	return a
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

// TestCity compares the pictures of the city with what other packages say of it.
func TestCity(t *testing.T) {
	const n = 60
	people, err := city.Generate(9, n, side, side)
	if err != nil {
		t.Fatal(err)
	}
	truth := people.Truth()
	grid, err := cost.NewGrid(side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	away := func(shares []float64) float64 {
		r, err := mincostflow.Transport(ctx, grid, shares, truth)
		if err != nil {
			t.Fatal(err)
		}
		return side * r.Objective
	}
	guess := away(nil)
	for _, what := range []string{Truth, Raw, Estimate, OUE} {
		m := ask(t, Request{Do: what, Eps: "3", People: n, Seed: 9}).Map
		const tol = 1e-12 // sums of 400 numbers of at most 60 roundings each, and distances of at most 27 cells
		if !near(sum(m.Shares), 1, tol) || !near(m.Guess, guess, tol) || !near(m.W1, away(m.Shares), tol) {
			t.Errorf("%s: sum %v, W1 %v and guess %v, want %v and %v", what, sum(m.Shares), m.W1, m.Guess, away(m.Shares),
				guess)
		}
		for i, v := range m.Shares {
			if what == Truth && !near(v, truth[i], tol) || !(v >= 0) {
				t.Errorf("%s: share %d is %v", what, i, v)
			}
			if what == Raw && !near(v*n, math.Round(v*n), tol*n) {
				t.Errorf("%s: share %d is %v, which is no count of %d", what, i, v, n)
			}
		}
		if (m.Signal != "") != (what == Estimate) {
			t.Errorf("%s: signal %q", what, m.Signal)
		}
		// What the map says of itself is in units, as what it is: lab's study of errors has nine of ten within 40 %.
		if e := m.Error; (e != nil) != (what == Estimate) ||
			e != nil && !(e.Expected <= e.Within90 && e.Expected < 1.4*m.W1 && m.W1 < 1.4*e.Expected) {
			t.Errorf("%s: error %+v, W1 %v", what, e, m.W1)
		}
	}
	w := ask(t, Request{Do: World}).World
	if len(w.X) != 400 || w.Rows != 20 || w.Cols != 20 || w.Unit != "cells" || w.Own || w.X[21] != 1.5/20 ||
		w.Y[21] != 1.5/20 {
		t.Errorf("world: %d places, %+v", len(w.X), w.Labels[:3])
	}
}

// TestDemo: for the same city, people, eps and seed, the page says what the demo says, and reads the rival in the same
// way. With 600 people it did not.
func TestDemo(t *testing.T) {
	for _, people := range []int{80, 600} {
		testDemo(t, people)
	}
}

func testDemo(t *testing.T, people int) {
	r, err := demo.Run(ctx, demo.Config{Users: people, Epsilon: "3", Epsilons: []string{"3"}, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	l := r.Learned
	for what, want := range map[string]float64{Raw: l.Raw, Estimate: l.Map, OUE: l.OUE} {
		m := ask(t, Request{Do: what, Eps: "3", People: people, Seed: 5}).Map
		if what == OUE && (m.Reading == "" || !strings.Contains(r.Sentence(), m.Reading)) {
			t.Errorf("read %q, and the demo says: %s", m.Reading, r.Sentence())
		}
		// The draws are the same. Rows are made in another order, which may round shares of the map otherwise.
		if !near(m.W1, want, 1e-6) || !near(m.Guess, l.Guess, 1e-9) {
			t.Errorf("%s: W1 %v, and %v in the demo; guess %v and %v", what, m.W1, want, m.Guess, l.Guess)
		}
	}
}

// TestSum: what is said of the sum is what package shuffle proves, and never more than eps.
func TestSum(t *testing.T) {
	last := 2.0
	for _, n := range []int{1, 50, 2000} {
		s := ask(t, Request{Do: Sum, Eps: "2", People: n}).Sum
		if !(0 < s.Epsilon && s.Epsilon <= last+1e-12) || s.Delta != shuffle.Common(n) {
			t.Errorf("%d people: %+v after %v", n, s, last)
		}
		last = s.Epsilon
	}
	if !(last < 0.5) { // docs/shuffling.md has .143 for 5,000 people
		t.Errorf("2,000 people hide each other to %v", last)
	}
}

// TestReleases: each release of people who are all at one place follows the row of that place. At a large eps that is
// the place, whatever the mechanism.
func TestReleases(t *testing.T) {
	world := Request{Do: World, Points: square, Counts: "label,count\nc,7\n"}
	for _, what := range []string{Raw, Estimate} {
		m := ask(t, world, Request{Do: what, Eps: "20", People: 1000, Points: "", Seed: 3}).Map
		// e^20 against three others: the chance of another is below 1e-8, of one in 1,000 people below 1e-5.
		if !(m.Shares[2] > 0.999) || !(m.W1 < 0.005) {
			t.Errorf("%s: %v, W1 %v", what, m.Shares, m.W1)
		}
	}
	// At eps = 1 the counts are multinomial: chi-square with three degrees of freedom is below 25.9 but in 1e-5 of draws.
	d := ask(t, world, Request{Do: Design, Eps: "1", Me: []Stay{{2, 5}}}).Design
	m := ask(t, world, Request{Do: Raw, Eps: "1", People: 5000, Seed: 3}).Map
	chi := 0.0
	for j, q := range d.Cloud {
		chi += 5000 * (m.Shares[j] - q) * (m.Shares[j] - q) / q
	}
	if !(chi < 25.9) {
		t.Errorf("releases %v of the law %v: chi-square %v", m.Shares, d.Cloud, chi)
	}
	hits := make([]float64, 4)
	var e Engine
	answer := func(q Request) Answer {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		a := e.Answer(ctx, line)
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		return a
	}
	answer(world)
	for n := range 2000 {
		hits[*answer(Request{Do: Draw, Eps: "1", Me: []Stay{{2, 5}}, Person: uint64(n)}).Drawn]++
	}
	chi = 0
	for j, q := range d.Cloud {
		chi += (hits[j] - 2000*q) * (hits[j] - 2000*q) / (2000 * q)
	}
	if !(chi < 25.9) {
		t.Errorf("draws %v of the law %v: chi-square %v", hits, d.Cloud, chi)
	}
}

// TestDesignLaws: whatever the places, the cloud is a distribution within the worst case, the closest is not farther,
// and no two clouds differ by more than e^eps anywhere.
func TestDesignLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		points := "label,x,y\n"
		k := rapid.IntRange(2, 9).Draw(rt, "k")
		for i := range k {
			points += fmt.Sprintf("p%d,%d,%d\n", i, i, rapid.IntRange(-5, 5).Draw(rt, "y"))
		}
		eps := rapid.SampledFrom([]string{"1/1000", "0.5", "1", "4", "20"}).Draw(rt, "eps")
		e, err := ldp.ParseEpsilon(eps)
		if err != nil {
			rt.Fatal(err)
		}
		var clouds [2][]float64
		for n := range clouds {
			var me []Stay
			for range rapid.IntRange(1, 4).Draw(rt, "places") {
				me = append(me, Stay{rapid.IntRange(0, k-1).Draw(rt, "place"), rapid.IntRange(1, 9).Draw(rt, "count")})
			}
			d := ask(t, Request{Do: World, Points: points}, Request{Do: Design, Eps: eps, Me: me}).Design
			const tol = 1e-12 // a few dozen roundings of distances up to 14
			if !near(sum(d.Cloud), 1, tol) || !(d.W1 <= d.Worst+14*tol) || !(d.Closest <= d.W1+14*tol) ||
				!(d.Lower <= d.Worst+14*tol) {
				rt.Errorf("me %v: %+v", me, d)
			}
			clouds[n] = d.Cloud
		}
		for j := range k {
			if r := clouds[0][j] / clouds[1][j]; !(r <= math.Exp(e.Float64())*(1+1e-12)) {
				rt.Errorf("place %d: %v and %v, a factor of %v", j, clouds[0][j], clouds[1][j], r)
			}
		}
	})
}

// TestProof recomputes the closest call: the integers printed hold, with one more they do not, and the decimals enclose
// both.
func TestProof(t *testing.T) {
	for _, tt := range []struct{ points, eps string }{{square, "0.5"}, {square, "4"}, {square, "7.9"}, {"", "4"}} {
		eps := tt.eps
		design := Request{Do: Design, Eps: eps, Me: []Stay{{0, 1}}}
		var e Engine
		var answers []Answer
		for _, q := range []Request{{Do: World, Points: tt.points}, design, {Do: Prove, Eps: eps}, {Do: Break, Eps: eps}} {
			line, _ := json.Marshal(q)
			answers = append(answers, e.Answer(ctx, line))
		}
		p, b := answers[2].Proof, answers[3].Broken
		if p == nil || b == nil {
			t.Fatalf("eps %s: %+v", eps, answers)
		}
		level, err := ldp.ParseEpsilon(eps)
		if err != nil {
			t.Fatal(err)
		}
		below, above := level.ExpBounds(300)
		number := func(text string) *big.Rat {
			r, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatalf("%q is no number", text)
			}
			return r
		}
		high, low, ratio, bound := number(p.High), number(p.Low), number(p.Ratio), number(p.Bound)
		quotient := new(big.Rat).Quo(high, low)
		if quotient.Cmp(below) > 0 || ratio.Cmp(quotient) < 0 || bound.Cmp(below) > 0 || len(p.Ratio) < 25 {
			t.Errorf("eps %s: %+v does not hold", eps, p)
		}
		more := new(big.Rat).Add(high, big.NewRat(1, 1))
		if number(b.High).Cmp(more) != 0 || new(big.Rat).Quo(more, low).Cmp(above) <= 0 || b.Column != p.Column ||
			!strings.Contains(b.Refusal, b.High) {
			t.Errorf("eps %s: %+v of %+v", eps, b, p)
		}
		d := answers[1].Design
		if !near(d.Worst, p.Worst, 1e-9) || !near(d.Lower, p.Lower, 1e-9) { // 62 bits of rows, and floats
			t.Errorf("eps %s: the picture says %v and %v, the proof %v and %v", eps, d.Worst, d.Lower, p.Worst, p.Lower)
		}
	}
}

// TestHistory: an answer does not depend on what was asked before.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		worlds := []Request{{Do: World, Points: square},
			{Do: World, Points: square, Counts: "user,label,count\nu,a,1\nv,d,2\nv,b,2\n"},
			{Do: World, Points: square, Counts: "label,count\na,1\nb,2\n"}, {Do: World, Points: "p,1,2\nq,2,2\nr,9,9\n"}}
		var e Engine
		var world Request
		for n := range rapid.IntRange(2, 12).Draw(rt, "requests") {
			q := Request{
				Do: rapid.SampledFrom([]string{World, Person, Design, Truth, Raw, Estimate, OUE, Sum, Prove, Break, Draw}).Draw(rt,
					"do"),
				ID: uint64(n), Eps: rapid.SampledFrom([]string{"1", "3", "1/2"}).Draw(rt, "eps"),
				People: rapid.IntRange(1, 5).Draw(rt, "people"), Seed: rapid.Uint64Range(0, 2).Draw(rt, "seed"),
				Person: rapid.Uint64Range(0, 2).Draw(rt, "person"), Me: []Stay{{rapid.IntRange(0, 2).Draw(rt, "place"), 1}},
			}
			if n == 0 || q.Do == World {
				q = rapid.SampledFrom(worlds).Draw(rt, "world")
				world = q
			}
			line, err := json.Marshal(q)
			if err != nil {
				rt.Fatal(err)
			}
			got, want := e.Answer(ctx, line), ask(t, world, q)
			if got.Error != "" || !reflect.DeepEqual(got, want) {
				rt.Fatalf("%+v: %+v after other requests, %+v after none", q, got, want)
			}
		}
	})
}

// codesPolicy is the text of a policy with codes.
func codesPolicy(t *testing.T) string {
	t.Helper()
	c, err := cost.NewGrid(6, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewCodes(ctx, channel.Problem{Cost: c, Epsilon: eps, Devices: 500_000})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(ctx, policy.Config{
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Encode(p)
	if err != nil || !p.HasCodes() {
		t.Fatalf("codes: %v, %v", p.HasCodes(), err)
	}
	return string(text)
}

func TestErrors(t *testing.T) {
	many := "label,x,y\n"
	for i := range MaxPlaces + 1 {
		many += fmt.Sprintf("p%d,%d,0\n", i, i)
	}
	var e Engine
	for _, tt := range []struct{ line, says string }{
		{``, "EOF"}, {`{`, "unexpected"}, {`[]`, "array"}, {`{"do":"world","more":1}`, "more"},
		{`{"do":"dance","eps":"1"}`, `"dance"`}, {`{"do":"design"}`, "eps"}, {`{"do":"design","eps":"0"}`, "epsilon"},
		{`{"do":"design","eps":"20.01"}`, "20.01"}, {`{"do":"design","eps":"-1"}`, "-1"},
		{`{"do":"design","eps":"NaN"}`, "NaN"},
		{`{"do":"raw","eps":"1"}`, "0 people"}, {`{"do":"raw","eps":"1","people":20001}`, "20001 people"},
		{`{"do":"raw","eps":"1","people":-1}`, "-1 people"}, {`{"do":"raw","eps":"1","people":1e99}`, "people"},
		{`{"do":"design","eps":"1","me":[{"place":400,"count":1}]}`, "place 400"},
		{`{"do":"design","eps":"1","me":[{"place":-1,"count":1}]}`, "place -1"},
		{`{"do":"design","eps":"1","me":[{"place":1,"count":0}]}`, "0 times"},
		{`{"do":"design","eps":"1","me":[{"place":1,"count":1048577}]}`, "1048577 times"},
		{`{"do":"draw","eps":"1"}`, "no place"},
		{`{"do":"world","points":"label,x,y\na,0,0\n"}`, "points: 1 places"},
		{`{"do":"world","points":"label,x,y\na,0,0\nb,1,one\n"}`, "points:3"},
		{`{"do":"world","points":"label,x,y\na,0,0\na,1,1\n"}`, "points:3"},
		{`{"do":"world","points":"label,x,y\na,0,0\nb,NaN,1\n"}`, "points:3"},
		{`{"do":"world","points":"label,lat,lon\na,0,0\nb,91,1\n"}`, "91"},
		{`{"do":"world","points":"label,x,y,z\na,0,0,0\nb,1,1,1\n"}`, "points: 3 coordinates"},
		{`{"do":"world","points":"label,x\na,0\nb,1\n"}`, "1 coordinates"},
		{`{"do":"world","points":"label,x,y\na,1,1\nb,1,1\n"}`, "points: all places are the same"},
		{`{"do":"world","points":"label,x,y\na,0,0\nb,1e308,1e308\nc,-1e308,-1e308\n"}`, ""},
		{`{"do":"world","counts":"label,count\nr0c0,1\nnowhere,1\n"}`, "counts:3"},
		{`{"do":"world","counts":"user,label,count\nu,r0c0,1\nu,r0c0,1\n"}`, "counts:3"},
		{`{"do":"world","counts":"label,count\nr0c0,-1\n"}`, "counts:2"},
		{`{"do":"world","counts":"label,count\nr0c0,0\n"}`, "counts: all are 0"},
		{`{"do":"world","counts":"user,label,count\nu,r0c0,0\n"}`, "are 0"},
		{`{"do":"world","counts":"label,count\n"}`, "counts"},
		{fmt.Sprintf(`{"do":"world","points":%q}`, many), "points: 2001 places"},
		{fmt.Sprintf(`{"do":"world","points":%q}`, codesPolicy(t)), "this is a policy, and the page reads none"},
		{fmt.Sprintf(`{"do":"world","points":%q}`, strings.Repeat(" ", MaxBytes+1)), "at most 5242880"},
	} {
		if numtest.Full() { // or one engine for all
			e = Engine{}
		}
		a := e.Answer(ctx, []byte(tt.line))
		if a.Error == "" || !strings.Contains(a.Error, tt.says) {
			t.Errorf("%.120s: %+v, want an error that says %q", tt.line, a, tt.says)
		}
		// The engine goes on, in the world that it had.
		if b := e.Answer(ctx, []byte(`{"do":"design","eps":"1","id":7}`)); b.Error != "" || b.ID != 7 || b.Design == nil {
			t.Errorf("after %.120s: %+v", tt.line, b)
		}
	}
}

// TestPlane: places lie in the unit square, with one scale for both axes, north up.
func TestPlane(t *testing.T) {
	for _, tt := range []struct {
		points string
		x, y   []float64
	}{
		{square, []float64{0.125, 0.875, 0.125, 0.875}, []float64{0, 0, 1, 1}},
		{"a,5,0\nb,5,2\n", []float64{0.5, 0.5}, []float64{0, 1}},
		{"label,lon,lat\na,0,0\nb,2,0\n", []float64{0, 1}, []float64{0.5, 0.5}},
		{"label,lat,lon\na,-1,179\nb,1,-179\nc,0,180\n", []float64{0, 1, 0.5}, []float64{0, 1, 0.5}},
		{"label,lat,lon\na,59,0\nb,61,0\nc,60,4\n", []float64{0, 0, 1}, []float64{0, 1, 0.5}}, // cos 60 degrees is a half
	} {
		w := ask(t, Request{Do: World, Points: tt.points}).World
		for i := range tt.x {
			const tol = 1e-14 // a few roundings of numbers up to 61
			if !near(w.X[i], tt.x[i], 61*tol) || !near(w.Y[i], tt.y[i], 61*tol) {
				t.Errorf("%q: place %d at %v, %v, want %v, %v", tt.points, i, w.X[i], w.Y[i], tt.x[i], tt.y[i])
			}
		}
	}
}

// TestPeople: made-up people are where the counts say.
func TestPeople(t *testing.T) {
	world := Request{Do: World, Points: square, Counts: "user,label,count\nu,a,1\nv,d,3\nv,b,1\nw,c,0\n"}
	if w := ask(t, world).World; w.Users != 2 || !w.Own {
		t.Errorf("%+v", w)
	}
	truth := ask(t, world, Request{Do: Truth, Eps: "1", People: 4}).Map.Shares
	if !reflect.DeepEqual(truth, []float64{0.5, 0.125, 0, 0.375}) {
		t.Errorf("truth %v of two users twice", truth)
	}
	for _, n := range []uint64{0, 1, 1 << 63} {
		for _, world := range []Request{{Do: World}, {Do: World, Points: square}, world} {
			a := ask(t, world, Request{Do: Person, Person: n})
			if len(a.Me) == 0 {
				t.Errorf("person %d has no place", n)
			}
			ask(t, world, Request{Do: Design, Eps: "1", Me: a.Me})
		}
	}
}

func TestServe(t *testing.T) {
	var out strings.Builder
	if err := Serve(ctx, strings.NewReader("{\"id\":3,\"do\":\"world\"}\nnothing\n{\"id\":5,\"do\":\"design\",\"eps\":\"2\"}"), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], `{"id":3,"world"`) || !strings.Contains(lines[1], `"error"`) ||
		!strings.HasPrefix(lines[2], `{"id":5,"design"`) {
		t.Errorf("%.300q", lines)
	}
	if err := Serve(ctx, strings.NewReader("{}\n"), failing{}); err == nil {
		t.Error("a writer that fails: no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("full") }

// FuzzAnswer: an answer is an error or finite numbers, and never a panic.
func FuzzAnswer(f *testing.F) {
	f.Add(square, "label,count\na,1\n", "4", 3, 0)
	f.Add("label,lat,lon\na,89.9,179\nb,-90,-180\n", "", "1/7", 2, 1)
	f.Add("a,1e308,0\nb,-1e308,0\n", "", "20", 1, 1)
	f.Add("a,0,5e-324\nb,0,0\n", "user,label,count\nu,a,1e-320\nu,b,1e308\n", "0.001", 9, 1)
	f.Fuzz(func(t *testing.T, points, counts, eps string, people, place int) {
		if strings.Count(points, "\n")+strings.Count(points, "\r") > 30 {
			t.Skip("large: slow")
		}
		var e Engine
		for _, what := range []string{World, Person, Design, Truth, Raw, Estimate, OUE, Sum, Prove, Break, Draw} {
			line, err := json.Marshal(Request{Do: what, Eps: eps, People: min(people, 50), Points: points, Counts: counts,
				Me: []Stay{{place, 1}}})
			if err != nil {
				t.Fatal(err)
			}
			a := e.Answer(ctx, line)
			if _, err := json.Marshal(a); err != nil {
				t.Fatalf("%s of %q, %q at %q: %v", what, points, counts, eps, err) // NaN, say
			}
			if a.Map != nil && !near(sum(a.Map.Shares), 1, 1e-9) {
				t.Fatalf("%s of %q, %q at %q sums to %v", what, points, counts, eps, sum(a.Map.Shares))
			}
			if what == World && a.Error != "" {
				return
			}
		}
	})
}
