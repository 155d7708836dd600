package policyfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

// CleanProvenance says that nothing in a policy comes from private data.
const CleanProvenance = `{"geometry":"public","geometry_epsilon":null,` +
	`"base_measure":"data-independent","base_measure_epsilon":null,"note":""}`

// base returns a policy of version 1 with nothing special.
func base(r *values.RNG, b box.Box, inputs int) File {
	f := File{
		Box: b, Mode: "mixture", Inputs: inputs, Provenance: CleanProvenance, Metadata: "{}", Certificate: "null",
		Cost:     "null",
		Fallback: b.Row(r),
	}
	for range inputs {
		f.Rows = append(f.Rows, b.Row(r))
	}
	return f
}

// around returns the policy with rows by a geometry.
func around(f File, g Geometry) File {
	f.Geometry, f.Rows, f.Thresholds = &g, nil, nil
	for i := range f.Inputs {
		f.Thresholds = append(f.Thresholds, f.threshold(i))
	}
	return f
}

// Samples returns the policies of the vectors, each with something special.
func Samples(r *values.RNG) []File {
	e := box.Expos{}
	named := func(kv, bits int, epsilon string) box.Box {
		for {
			b := box.Random(r, e, kv)
			used := slices.DeleteFunc(slices.Clone(b.Hi), func(hi uint64) bool { return hi == 0 })
			if b.Bits == bits && b.Epsilon == epsilon && len(used) >= min(kv, 3) { // rows that can differ
				return b
			}
		}
	}
	base := func(b box.Box, inputs int) File { return base(r, b, inputs) }
	small := base(named(4, 8, "1.5"), 3)
	small.InputLabels, small.OutputLabels = []string{"home", `say "hi", x\y`, "køb 🚲"}, []string{"a", "b", "c", "d"}
	small.Metadata = `{"a":"","title":"small","unit":"the user's whole distribution"}`
	small.Cost, small.Certificate = `{"kind":"ring","n":4,"p":1}`, `{"upper":"3/2","lower":"1.4999"}`
	small.Provenance = `{"geometry":"derived-dp","geometry_epsilon":"1/3",` +
		`"base_measure":"unstated","base_measure_epsilon":null,"note":"a \"note\" \\"}`
	plain := base(named(5, 62, "0.5"), 4)
	aliased := base(named(3, 33, "2"), 3)
	aliased.InputLabels, aliased.Aliases = []string{"café", "b", "c"}, []Alias{{0, "cafe\u0301"}, {2, "C"}, {2, "see"}}
	one := base(named(1, 16, "1"), 1)
	projection := base(named(4, 31, "10"), 4)
	projection.Mode, projection.WorkLimit = "projection", 250
	bare := base(named(3, 62, "5/7"), 3)
	bare.Mode, bare.WorkLimit, bare.Rows = "projection", 3600000, nil
	ring := around(base(named(5, 54, "1"), 5), Geometry{Kind: "ring"})
	grid := around(base(named(12, 52, "3.25"), 12), Geometry{Kind: "grid", Rows: 3, Cols: 4})
	points := around(base(named(5, 62, "2"), 3), Geometry{
		Kind: "points", Axes: 2, In: []int64{0, 0, 3, -4, 7, 7}, Out: []int64{1, 0, 0, -1, 0, 0, -1, 0, 5, -5},
	})
	points.InputLabels, points.Aliases = []string{"x", "y", "z"}, []Alias{{1, "Y"}}
	// Coordinates at the ends of int32, on one axis: keys up to (2^32 - 1)^2 would pass 2^63.
	far := around(base(named(3, 16, "0.25"), 3), Geometry{Kind: "points", Axes: 1, Out: []int64{-1 << 31, 0, 1<<29 - 1}})
	equal := File{Box: box.Box{Epsilon: "1", Bits: 10, Lo: []uint64{150, 150, 150, 150}, Hi: []uint64{407, 407, 407,
		407}}}
	equal = base(equal.Box, 4)
	equal = around(equal, Geometry{Kind: "grid", Rows: 2, Cols: 2})
	wrong := equal // thresholds that are not those of the fill: a policy all the same
	wrong.Thresholds = []int{0, 3, 1, 1}
	return []File{small, plain, aliased, one, projection, bare, ring, grid, points, far, equal, wrong}
}

// Private returns private data for the policy, usable or not.
func (f File) Private(r *values.RNG) []byte {
	name := func(i int) string {
		s := f.Label(i)
		if i < len(f.Aliases) && r.Chance(30) {
			s = f.Aliases[i].Label
		}
		if strings.ContainsAny(s, `,"`) || r.Chance(10) {
			s = quoteField(s)
		}
		return s
	}
	count := func() string {
		return values.Pick(r, "1", "0", "12", "0.5", "1e-3", "9007199254740992", "1e-320", "3.", "007", "2E+2",
			strconv.Itoa(r.Intn(1000)), "0.1",
			strconv.FormatFloat(r.Float(), 'g', -1, 64), "5e-324", "1e-400", "4503599627370497.5")
	}
	var b strings.Builder
	users := ""
	switch r.Intn(6) {
	case 0:
		b.WriteString("label,count\n")
	case 1:
		b.WriteString("user,label,count\n")
		users = values.Pick(r, "u17,", `"a,b",`, "ü,")
	case 2:
		b.WriteString("\xef\xbb\xbf")
	}
	end := values.Pick(r, "\n", "\n", "\r\n", "\n\n")
	for range r.Between(0, 5) {
		b.WriteString(users + name(r.Intn(f.Inputs)) + "," + count() + end)
	}
	if r.Chance(25) {
		b.WriteString(users + values.Pick(r, f.OddLines()...))
	}
	data := []byte(b.String())
	switch r.Intn(12) {
	case 0:
		data = zip(data)
	case 1:
		half := len(data) / 2
		data = append(zip(data[:half]), zip(data[half:])...)
	case 2:
		data = zip(data)
		data[len(data)-r.Between(1, 8)] ^= 1
	case 3:
		if data = zip(data); r.Chance(50) {
			data = append(data, 0)
		} else {
			data = data[:len(data)-1]
		}
	}
	return data
}

// A Mixture is private data of lines that are good by themselves and lines that may not be.
type Mixture struct{ Good, All []byte }

// Mixtures returns private data that are usable by themselves, each with a line at an edge of the format: whoever drops
// a line that makes data unusable reads the good ones. It ends with data of one user and of two.
func (f File) Mixtures() (out []Mixture) {
	good := quoteField(f.Label(0)) + ",1\n" + quoteField(f.Label(1)) + ",2\n"
	for _, line := range f.OddLines() {
		out = append(out, Mixture{[]byte(good), []byte(good + line + "\n")})
	}
	named := func(users ...string) []byte {
		b := []byte("user,label,count\n")
		for i, user := range users {
			b = append(b, user+","+quoteField(f.Label(i))+",1\n"...)
		}
		return b
	}
	for _, user := range []string{"bob", "Ann", "ann ", `"ann"`, `"an""n"`, "", `""`} {
		out = append(out, Mixture{named("ann"), named("ann", user)}, Mixture{named("", "ann"), named(user, "ann")})
	}
	for _, user := range []string{`""`, "", `"ann"`, `"a""n"`, `"a,n"`, `a"n`, "a\x80n", "a\xc2n", "a\u0080n",
		"a\u00adn", "a\u2028n",
		"a\xc0\xafn", "a\xf4\x90\x80\x80n", "a\U0010ffffn", strings.Repeat("x", 256), strings.Repeat("x", 257), "a\x00n",
		"a\x1fn", "a\x7fn", "a\u0085n", "a\u009fn", "a\u00a0n", "a\xffn",
		"a\xed\xa0\x80n", strings.Repeat("ü", 128),
		strings.Repeat("ü", 129), `"` + strings.Repeat(`""`, 256) + `"`, `"` + strings.Repeat(`""`, 257) + `"`} {
		out = append(out, Mixture{named("ann", "ann"), named(user, user)})
	}
	return out
}

func quoteField(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// OddLines returns lines at the edges of the private format; most make data unusable.
func (f File) OddLines() []string {
	name := quoteField(f.Label(0))
	zeros := strings.Repeat("0", 63)
	lines := []string{
		"nowhere,1", ",1", `"`, `"",1`, `""` + name, name, name + "x,1", name + ",", "label,count",
		strings.Repeat("x", 4100) + ",1", "00,1", "v," + name + ",1",
	}
	for _, count := range []string{
		"-1", "-0", "+1", " 1", "1 ", "inf", "nan", "0x10", "9007199254740992", "9007199254740992.1", "9007199254740993",
		"9007199254740993.5", "1e400",
		"1e-400", ".5", "5.", "1,1", zeros + "1", zeros + "01", "1e", "1e+", "1e5.", "1_0", "１", "1E2", "1.5e-1", "\r",
		"1\r",
		"1\r\r", "1\x00",
	} {
		lines = append(lines, name+","+count)
	}
	return lines
}
