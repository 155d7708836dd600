package cost_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

func TestParseSpec(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     cost.Spec
		canon    string // "" if it is the input
	}{
		{"explicit", `{"kind":"explicit","C":[[0,1],[1,0]]}`, cost.Spec{Kind: "explicit", C: [][]float64{{0, 1}, {1, 0}}},
			""},
		{"ring", `{"kind":"ring","n":30,"p":2}`, cost.Spec{Kind: "ring", N: 30, P: 2}, ""},
		{"default p", `{"kind":"ring","n":30}`, cost.Spec{Kind: "ring", N: 30, P: 1}, `{"kind":"ring","n":30,"p":1}`},
		{"grid", `{"kind":"grid","rows":2,"cols":3,"p":0.5}`, cost.Spec{Kind: "grid", Rows: 2, Cols: 3, P: 0.5}, ""},
		{"points", `{"kind":"points","x":[[1],[2]],"v":[[3]],"p":1}`,
			cost.Spec{Kind: "points", X: [][]float64{{1}, {2}}, V: [][]float64{{3}}, P: 1}, ""},
		{"points without v", `{"kind":"points","x":[[1],[2]],"p":1}`,
			cost.Spec{Kind: "points", X: [][]float64{{1}, {2}}, P: 1}, ""},
		{"cosine", `{"kind":"cosine","x":[[1,0]],"v":[[0,1]]}`,
			cost.Spec{Kind: "cosine", X: [][]float64{{1, 0}}, V: [][]float64{{0, 1}}}, ""},
		{"greatcircle", `{"kind":"greatcircle","x":[[48.2,16.4]],"p":1}`,
			cost.Spec{Kind: "greatcircle", X: [][]float64{{48.2, 16.4}}, P: 1}, ""},
		{"greatcircle-2", `{"kind":"greatcircle-2","x":[[48.2,16.4]],"v":[[1,2]],"p":2}`,
			cost.Spec{Kind: "greatcircle-2", X: [][]float64{{48.2, 16.4}}, V: [][]float64{{1, 2}}, P: 2}, ""},
		{"any order and space", " { \"p\" : 2 ,\n\t\"n\" : 3 , \"kind\" : \"ring\" } \r\n",
			cost.Spec{Kind: "ring", N: 3, P: 2}, `{"kind":"ring","n":3,"p":2}`},
		{"escapes", `{"k\u0069nd":"r\u0069ng","n":3}`, cost.Spec{Kind: "ring", N: 3, P: 1}, `{"kind":"ring","n":3,"p":1}`},
		{"numbers", "{\"kind\":\"explicit\",\"C\":[ [1e0, 1E-7 ,\n0.1e1 , 100e+19, 1e21, 5e-324, 1.50, 0, 1e-9] ]}",
			cost.Spec{Kind: "explicit", C: [][]float64{{1, 1e-7, 1, 1e21, 1e21, 5e-324, 1.5, 0, 1e-9}}},
			`{"kind":"explicit","C":[[1,1e-7,1,1e+21,1e+21,5e-324,1.5,0,1e-9]]}`},
		{"underflow is zero", `{"kind":"explicit","C":[[1e-999]]}`, cost.Spec{Kind: "explicit", C: [][]float64{{0}}},
			`{"kind":"explicit","C":[[0]]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := cost.ParseSpec([]byte(c.in))
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return
			}
			numtest.Equal(t, c.name, got, c.want)
			canon := c.canon
			if canon == "" {
				canon = c.in
			}
			if text, err := json.Marshal(got); err != nil || string(text) != canon {
				t.Errorf("%s: Marshal = %s, %v, want %s", c.name, text, err, canon)
			}
			var u cost.Spec
			if err := json.Unmarshal([]byte(c.in), &u); err != nil {
				t.Errorf("%s: Unmarshal: %v", c.name, err)
			}
			numtest.Equal(t, c.name, u, c.want)
			if _, err := got.Build(); err != nil {
				t.Errorf("%s: Build: %v", c.name, err)
			}
		})
	}
}

func TestParseSpecErrors(t *testing.T) {
	long := strings.Repeat("9", 1000)
	for _, c := range []struct {
		name, in string
		text     string // must be in the message
		also     error  // beside ErrSpec
	}{
		{"empty", ``, "not JSON", nil},
		{"space", `  `, "not JSON", nil},
		{"null", `null`, "not an object", nil},
		{"array", `[{"kind":"ring","n":3}]`, "not an object", nil},
		{"bare matrix", `[[0,1],[1,0]]`, `such as {"kind":"explicit","C":[[0,1],[1,0]]}`, nil},
		{"number", `3`, "3 is not an object", nil},
		{"open", `{"kind":"ring","n":3`, "not JSON", nil},
		{"comma", `{"kind":"ring","n":3,}`, "not JSON", nil},
		{"bare word", `{"kind":"ring","n":NaN}`, "not JSON", nil},
		{"plus", `{"kind":"ring","n":+3}`, "not JSON", nil},
		{"hex", `{"kind":"ring","n":0x3}`, "not JSON", nil},
		{"leading zero", `{"kind":"ring","n":03}`, "not JSON", nil},
		{"comment", `{"kind":"ring",/**/"n":3}`, "not JSON", nil},
		{"trailing text", `{"kind":"ring","n":3} x`, "data after", nil},
		{"two objects", `{"kind":"ring","n":3}{"kind":"ring","n":3}`, "data after", nil},
		{"trailing bracket", `{"kind":"ring","n":3}]`, "data after", nil},
		{"byte order mark", "\ufeff" + `{"kind":"ring","n":3}`, "not JSON", nil},

		{"no kind", `{"n":3}`, `no field "kind"`, nil},
		{"kind number", `{"kind":3}`, `"kind": 3 is not a string`, nil},
		{"kind null", `{"kind":null,"n":3}`, `"kind" is null`, nil},
		{"unknown kind", `{"kind":"torus","n":3}`, `"torus"`, nil},
		{"kind in capitals", `{"kind":"Ring","n":3}`, `"Ring"`, nil},
		{"kind of control characters", `{"kind":"\u0000"}`, `"\x00"`, nil},
		{"long kind", `{"kind":"` + long + `"}`, "...", nil},
		{"unknown field", `{"kind":"ring","n":3,"m":4}`, `unknown field "m"`, nil},
		{"case of n", `{"kind":"ring","N":3}`, `"N" (did you mean "n"?)`, nil},
		{"case of C", `{"kind":"explicit","c":[[1]]}`, `"c" (did you mean "C"?)`, nil},
		{"case of kind", `{"Kind":"ring","n":3}`, `"Kind"`, nil},
		{"twice", `{"kind":"ring","n":3,"n":3}`, `"n" is given twice`, nil},
		{"twice, escaped", `{"kind":"ring","n":3,"\u006e":4}`, `"n" is given twice`, nil},
		{"kind twice", `{"kind":"ring","n":3,"kind":"ring"}`, `"kind" is given twice`, nil},
		{"field of another kind", `{"kind":"ring","n":3,"rows":2}`, `"rows" does not belong to kind "ring"`, nil},
		{"p of cosine", `{"kind":"cosine","x":[[1]],"p":1}`, `"p" does not belong`, nil},
		{"p of explicit", `{"kind":"explicit","C":[[1]],"p":1}`, `"p" does not belong`, nil},
		{"no n", `{"kind":"ring"}`, `needs the field "n"`, nil},
		{"no cols", `{"kind":"grid","rows":2}`, `needs the field "cols"`, nil},
		{"no x", `{"kind":"points","v":[[1]]}`, `needs the field "x"`, nil},
		{"no C", `{"kind":"explicit"}`, `needs the field "C"`, nil},
		{"null v", `{"kind":"points","x":[[1]],"v":null}`, `"v" is null`, nil},

		{"n zero", `{"kind":"ring","n":0}`, "n = 0", wpmerr.ErrShape},
		{"n negative", `{"kind":"ring","n":-5}`, "n = -5", wpmerr.ErrShape},
		{"n minus zero", `{"kind":"ring","n":-0}`, "n = 0", wpmerr.ErrShape},
		{"n fraction", `{"kind":"ring","n":3.5}`, "3.5 is not an integer", nil},
		{"n float", `{"kind":"ring","n":3.0}`, "3.0 is not an integer", nil},
		{"n exponent", `{"kind":"ring","n":3e1}`, "3e1 is not an integer", nil},
		{"n string", `{"kind":"ring","n":"3"}`, `"3" is not an integer`, nil},
		{"n array", `{"kind":"ring","n":[3]}`, `[3] is not an integer`, nil},
		{"n true", `{"kind":"ring","n":true}`, `true is not an integer`, nil},
		{"n large", `{"kind":"ring","n":16777217}`, "16777217", wpmerr.ErrTooLarge},
		{"n huge", `{"kind":"ring","n":` + long + `}`, "is not an integer from 1 to 16777216", nil},
		{"grid product", `{"kind":"grid","rows":65536,"cols":65536}`, "65536 x 65536", wpmerr.ErrTooLarge},

		{"p zero", `{"kind":"ring","n":3,"p":0}`, `field "p"`, cost.ErrExponent},
		{"p minus zero", `{"kind":"ring","n":3,"p":-0}`, `field "p"`, cost.ErrExponent},
		{"p negative", `{"kind":"ring","n":3,"p":-1}`, `p = -1`, cost.ErrExponent},
		{"p overflow", `{"kind":"ring","n":3,"p":1e999}`, `1e999`, cost.ErrExponent},
		{"p underflow", `{"kind":"ring","n":3,"p":1e-999}`, `field "p"`, cost.ErrExponent},
		{"p string", `{"kind":"ring","n":3,"p":"inf"}`, `"inf" is not a number`, cost.ErrExponent},

		{"C number", `{"kind":"explicit","C":3}`, "C: 3 is not an array of arrays", nil},
		{"C flat", `{"kind":"explicit","C":[1,2]}`, "C[0]: 1 is not an array", nil},
		{"C null row", `{"kind":"explicit","C":[[1],null]}`, "C[1]: null is not an array", nil},
		{"C null", `{"kind":"explicit","C":[[1,2],[3,null]]}`, "C[1][1]: null is not a number", nil},
		{"C string", `{"kind":"explicit","C":[["NaN"]]}`, `C[0][0]: "NaN" is not a number`, nil},
		{"C true", `{"kind":"explicit","C":[[true]]}`, `C[0][0]: true is not a number`, nil},
		{"C object", `{"kind":"explicit","C":[[{}]]}`, `C[0][0]: { is not a number`, nil},
		{"C deep", `{"kind":"explicit","C":[[[1]]]}`, `C[0][0]: [1 is not a number`, nil},
		{"C overflow", `{"kind":"explicit","C":[[1,-1e400]]}`, `C[0][1]: `, wpmerr.ErrNotFinite},
		{"C object itself", `{"kind":"explicit","C":{"0":[1]}}`, "is not an array of arrays", nil},
		{"depth", `{"kind":"explicit","C":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`, "not JSON",
			nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := cost.ParseSpec([]byte(c.in))
			if !errors.Is(err, cost.ErrSpec) {
				t.Errorf("%s: ParseSpec(%.60s) = %+v, error %v, want ErrSpec", c.name, c.in, s, err)
				return
			}
			if c.also != nil && !errors.Is(err, c.also) {
				t.Errorf("%s: error %q is not %v", c.name, err, c.also)
			}
			if !strings.Contains(err.Error(), c.text) || len(err.Error()) > 300 {
				t.Errorf("%s: error %q, want %q in it, and short", c.name, err, c.text)
			}
			numtest.Equal(t, c.name+": Spec with an error", s, cost.Spec{})
			u := cost.Spec{Kind: "ring", N: 7}
			if err := u.UnmarshalJSON([]byte(c.in)); err == nil {
				t.Errorf("%s: UnmarshalJSON has no error", c.name)
			}
			numtest.Equal(t, c.name+": receiver after an error", u, cost.Spec{Kind: "ring", N: 7})
		})
	}
}

func TestBuildErrors(t *testing.T) {
	one := [][]float64{{1}}
	for _, c := range []struct {
		name string
		s    cost.Spec
		want error
		text string
	}{
		{"zero", cost.Spec{}, cost.ErrSpec, "kind"},
		{"two kinds", cost.Spec{Kind: "ring", N: 3, C: one}, cost.ErrSpec, `"C" does not belong to kind "ring"`},
		{"p of cosine", cost.Spec{Kind: "cosine", X: one, P: 1}, cost.ErrSpec, `"p"`},
		{"NaN p of cosine", cost.Spec{Kind: "cosine", X: one, P: nan}, cost.ErrSpec, `"p"`},
		{"NaN p", cost.Spec{Kind: "ring", N: 3, P: nan}, cost.ErrExponent, "NaN"},
		{"negative n", cost.Spec{Kind: "ring", N: -3}, wpmerr.ErrShape, "-3"},
		{"large grid", cost.Spec{Kind: "grid", Rows: math.MaxInt, Cols: math.MaxInt}, wpmerr.ErrTooLarge, ""},
		{"empty C", cost.Spec{Kind: "explicit", C: [][]float64{}}, wpmerr.ErrShape, "no rows"},
		{"ragged C", cost.Spec{Kind: "explicit", C: [][]float64{{1}, {1, 2}}}, wpmerr.ErrShape, "row 1"},
		{"negative C", cost.Spec{Kind: "explicit", C: [][]float64{{-1}}}, wpmerr.ErrNegative, "C[0][0] = -1"},
		{"empty v", cost.Spec{Kind: "points", X: one, V: [][]float64{}}, wpmerr.ErrShape, "v = 0"},
		{"place of three", cost.Spec{Kind: "greatcircle", X: [][]float64{{1, 2, 3}}}, wpmerr.ErrShape, "x[0] has 3"},
		{"place of one in v", cost.Spec{Kind: "greatcircle", X: [][]float64{{1, 2}}, V: one}, wpmerr.ErrShape, "v[0] has 1"},
		{"latitude", cost.Spec{Kind: "greatcircle", X: [][]float64{{91, 2}}}, cost.ErrPoint, "latitude"},
		{"NaN point", cost.Spec{Kind: "points", X: [][]float64{{nan}}}, cost.ErrPoint, "NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.s.Build()
			checkError(t, c.name, err, c.want, c.text)
			if m != nil {
				t.Errorf("%s: matrix %v", c.name, m)
			}
		})
	}
	for _, c := range []struct {
		name string
		s    cost.Spec
		want error
	}{
		{"zero", cost.Spec{}, cost.ErrSpec},
		{"Inf in C", cost.Spec{Kind: "explicit", C: [][]float64{{inf}}}, wpmerr.ErrNotFinite},
		{"NaN in v", cost.Spec{Kind: "points", X: one, V: [][]float64{{nan}}}, wpmerr.ErrNotFinite},
		{"p", cost.Spec{Kind: "ring", N: 3, P: -1}, cost.ErrExponent},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.s.MarshalJSON()
			checkError(t, "Marshal "+c.name, err, c.want, "")
			checkError(t, "Marshal "+c.name, err, cost.ErrSpec, "")
		})
	}
}

// The default exponent and the written one are the same cost and the same bytes.
func TestSpecDefault(t *testing.T) {
	a, err1 := cost.Spec{Kind: "grid", Rows: 2, Cols: 2}.MarshalJSON()
	b, err2 := cost.Spec{Kind: "grid", Rows: 2, Cols: 2, P: 1}.MarshalJSON()
	if err := errors.Join(err1, err2); err != nil || string(a) != string(b) {
		t.Errorf("%s, %s, %v", a, b, err)
	}
}

// Floats are laid out as encoding/json does, so that other tools that rewrite the JSON agree.
func TestFloatLayout(t *testing.T) {
	g := numtest.NewSplitMix64(9)
	x := []float64{0, negz, 1e-6, 9.9e-7, 1e20, 1e21, 123456789, 0.1, 1e-10, 1e-100, maxF, 5e-324}
	for range 1000 {
		x = append(x, math.Ldexp(g.Float64(), g.Intn(200)-100))
	}
	got, err := cost.Spec{Kind: "explicit", C: [][]float64{x}}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	if w := fmt.Sprintf(`{"kind":"explicit","C":[%s]}`, want); string(got) != w {
		t.Errorf("got %.200s\nwant %.200s", got, w)
	}
}
