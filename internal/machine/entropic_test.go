package machine

import (
	"math"
	"strings"
	"testing"
)

// digits is for answers with a residual of 1e-12 on well-conditioned instances.
const digits = 1e-11

// The instance of the audit that tells Algorithm 1 from its look-alikes.
const lookAlike = `"cost":{"kind":"explicit","C":[[0,3,3],[3,1,3],[0,3,3]]},"mu":[0.4,0.2,0.4],"lo":[0.05,0.1,0.15],"hi":[0.2,0.4,0.6],"reg":1`

func TestEntropic(t *testing.T) {
	for _, method := range []string{``, `,"method":"fast"`, `,"method":"paper"`, `,"method":"paper","tol":1e-13`} {
		a := ask(t, "entropic", `{`+lookAlike+method+`}`)
		for j, want := range []float64{0.2, 0.4, 0.4} {
			if q := list(t, a["q"])[j]; !(math.Abs(q-want) <= digits) {
				t.Errorf("%s: q[%d] = %v, want %v", method, j, q, want)
			}
		}
		if x := a["objective"].(float64); !(math.Abs(x-0.06983) <= 5e-6) {
			t.Errorf("%s: objective %v", method, x)
		}
		lower, upper, transport := a["lower"].(float64), a["upper"].(float64), a["transport"].(float64)
		if a["status"] != "converged" || !(lower <= upper && lower <= transport) || a["iterations"].(float64) < 1 {
			t.Errorf("%s: status %v, [%v, %v], transport %v, %v iterations", method, a["status"], lower, upper, transport,
				a["iterations"])
		}
	}

	// An early stop is an answer, and its bounds hold.
	a := ask(t, "entropic", `{`+lookAlike+`,"method":"paper","iterations":2}`)
	if a["status"] != "iterations" || a["iterations"] != 2.0 {
		t.Errorf("status %v after %v iterations", a["status"], a["iterations"])
	}
	exact := ask(t, "project", `{`+strings.TrimSuffix(lookAlike, `,"reg":1`)+`}`)
	if w := exact["objective"].(float64); !(a["lower"].(float64) <= w+digits && w-digits <= a["upper"].(float64)) {
		t.Errorf("bounds [%v, %v] miss %v", a["lower"], a["upper"], w)
	}

	// m and eps, sparse mu.
	ring := `{"cost":{"kind":"ring","n":30,"p":2},"mu":{"index":[3,20],"weight":[0.5,0.5]},"eps":2,"m":[` +
		strings.Repeat("0.03333333333333333,", 29) + `0.03333333333333333]`
	exact = ask(t, "project", ring+`}`)
	a = ask(t, "entropic", ring+`,"reg":0.3}`)
	if w := exact["objective"].(float64); !(a["lower"].(float64) <= w+digits && w-digits <= a["upper"].(float64)) ||
		a["status"] != "converged" {
		t.Errorf("bounds [%v, %v] miss %v, status %v", a["lower"], a["upper"], w, a["status"])
	}

	// The gap chooses reg, and the answer says which.
	a = ask(t, "entropic", ring+`,"reg":0,"gap":0.01}`)
	lower, upper := a["lower"].(float64), a["upper"].(float64)
	if w := exact["objective"].(float64); !(lower <= w+digits && w-digits <= upper && upper-lower <= 0.01*upper+digits) ||
		a["status"] != "converged" || !(a["reg"].(float64) > 0) {
		t.Errorf("bounds [%v, %v] of %v, status %v at reg %v", lower, upper, w, a["status"], a["reg"])
	}
	if a := ask(t, "entropic", ring+`,"reg":30,"gap":1e-3}`); a["status"] != "reg" || a["reg"] != nil {
		t.Errorf("a gap that reg rules out: status %v", a["status"])
	}

	for _, line := range []string{
		`{` + lookAlike + `,"method":"other"}`,
		`{` + lookAlike + `,"tol":0}`,
		`{` + lookAlike + `,"tol":-1}`,
		`{` + lookAlike + `,"iterations":-1}`,
		`{` + lookAlike + `,"gaps":1}`,
		`{` + lookAlike + `,"gap":-1}`,
		`{` + lookAlike + `,"m":[1,1,1],"eps":1}`,
		strings.Replace(`{`+lookAlike+`}`, `"reg":1`, `"reg":0`, 1),
		strings.Replace(`{`+lookAlike+`}`, `"reg":1`, `"reg":1e-10`, 1),
		strings.Replace(`{`+lookAlike+`}`, `,"reg":1`, ``, 1),
	} {
		if a := ask(t, "entropic", line); a["error"] == nil {
			t.Errorf("%s: accepted", line)
		}
	}
}

func TestHilbert(t *testing.T) {
	a := ask(t, "hilbert", `{"x":[1,2],"y":[1,1]}`)
	near(t, "distance", a["distance"], math.Ln2)
	if a := ask(t, "hilbert", `{"x":[1,0],"y":[1,1]}`); a["distance"] != "inf" {
		t.Errorf("supports differ: %v", a["distance"])
	}
	a = ask(t, "hilbert", `{`+twoPoints+`,"reg":0.5}`)
	near(t, "diameter", a["diameter"], 4)
	near(t, "tau", a["tau"], math.Tanh(1))
	near(t, "one_minus_tau", a["one_minus_tau"], 2/(1+math.Exp(2)))
	a = ask(t, "hilbert", `{`+twoPoints+`,"reg":2e-3}`)
	if rest := a["one_minus_tau"].(float64); !(rest > 0 && rest < 1e-200) {
		t.Errorf("one_minus_tau at diameter 1000: %v", rest)
	}
	for _, line := range []string{
		`{"x":[1]}`, `{"y":[1]}`, `{"x":[1],"y":[1,2]}`, `{"x":[-1],"y":[1]}`, `{"x":[1],"y":[1],"reg":1}`,
		`{"x":[1],"y":[1],` + twoPoints + `}`,
		`{` + twoPoints + `}`, `{` + twoPoints + `,"reg":0}`, `{"reg":1}`, `{}`, `{` + twoPoints + `,"reg":1,"z":1}`,
	} {
		if a := ask(t, "hilbert", line); a["error"] == nil {
			t.Errorf("%s: accepted", line)
		}
	}
}
