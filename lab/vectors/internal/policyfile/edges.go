package policyfile

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

// even is a box of a few bits with one pair of bounds for all outputs.
func even(epsilon string, bits, kv int, lo, hi uint64) box.Box {
	b := box.Box{Epsilon: epsilon, Bits: bits}
	for range kv {
		b.Lo, b.Hi = append(b.Lo, lo), append(b.Hi, hi)
	}
	return b
}

// small is a policy of version 1 with two inputs, whose rows share no unit above the lower bounds.
func small() File {
	f := File{
		Box: even("1", 8, 3, 50, 135), Mode: "mixture", Inputs: 2, Provenance: CleanProvenance, Metadata: "{}",
		Certificate: "null", Cost: "null", Fallback: []uint64{85, 86, 85},
		Rows: [][]uint64{{135, 71, 50}, {50, 71, 135}},
	}
	return f
}

// Plain is a policy of four inputs without labels, of four different rows.
func Plain() File {
	f := small()
	f.Inputs, f.Rows = 4, [][]uint64{{135, 71, 50}, {50, 71, 135}, {71, 135, 50}, {50, 135, 71}}
	return f
}

// Quoted returns a policy whose labels have quotation marks and commas.
func Quoted(r *values.RNG) (f File, lines []string) {
	f = base(r, even("2", 12, 7, 300, 2216), 6)
	f.InputLabels = []string{`a"b`, `a""b`, `"`, `""`, `,`, `a`}
	for i := range f.Rows {
		f.Rows[i] = append([]uint64(nil), f.Box.Lo...)
		f.Rows[i][i], f.Rows[i][6] = 2216, 380
	}
	f.Fallback = []uint64{585, 585, 585, 585, 585, 585, 586}
	return f, []string{
		`a"b,1`, `a""b,1`, `"a""b",1`, `"a""""b",1`, `"""",1`, `"""""",1`, `",",1`, `"a",1`, `a,1`, // as they must be
		`"a"b",1`, `"a""b,1`, `""",1`, `"a" ,1`, ` "a",1`, `""a"",1`, `"a,1`, `a",1`, `",1`, `"",1`, `"a"`, `"a",`,
		`"a",1"`,
		`"a","1"`, `"a"",1`, `"a""`, `"a"x1`, `"a"11`, `"a""11`, `,,1`, `a"""b,1`, "\"a\n\",1", `'a',1`, `"A",1`,
	}
}

// Near returns a policy whose keys differ by less than a double tells, and one whose keys are equal.
func Near(r *values.RNG) []File {
	f := base(r, even("1", 16, 3, 15000, 40773), 3)
	f.Fallback = []uint64{21845, 21846, 21845}
	const a = 1 << 30
	near := around(f, Geometry{Kind: "points", Axes: 2, In: []int64{0, 0, 0, 1, 5, 5}, Out: []int64{a, 1, 0, a, a, -2}})
	ties := around(f, Geometry{Kind: "points", Axes: 1, In: []int64{0, 2, -1}, Out: []int64{1, -1, 3}})
	tall := around(base(r, even("2", 16, 10, 2500, 18472), 10), Geometry{Kind: "grid", Rows: 5, Cols: 2})
	wide := around(base(r, even("2", 16, 6, 3000, 22167), 6), Geometry{Kind: "grid", Rows: 2, Cols: 3})
	ring := around(base(r, even("3", 16, 6, 3000, 60256), 6), Geometry{Kind: "ring"})
	return []File{near, ties, tall, wide, ring}
}

// Texts returns texts beside the limits of docs/spec/policy.md: policies, and what is none. Each of the latter breaks
// one rule.
func Texts() (good []File, bad []string) {
	with := func(change func(f *File)) File {
		f := small()
		change(&f)
		return f
	}
	accept := func(change func(f *File)) { good = append(good, with(change)) }
	refuse := func(change func(f *File)) { bad = append(bad, with(change).Text()) }
	swap := func(f File, old, new string) {
		text := f.Text()
		values.Must(strings.Count(text, old) > 0, "nothing to spoil: "+old)
		bad = append(bad, strings.Replace(text, old, new, 1))
	}

	// Objects: their depth, and what their strings may hold.
	deep := func(n int) string {
		return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}"
	}
	objects := func(n int) string {
		return strings.Repeat(`{"":`, n-1) + "{}" + strings.Repeat("}", n-1)
	}
	accept(func(f *File) { f.Cost = deep(9999) })
	accept(func(f *File) { f.Certificate = deep(10000) })
	accept(func(f *File) { f.Cost = objects(10000) })
	refuse(func(f *File) { f.Cost = deep(10001) })
	refuse(func(f *File) { f.Certificate = deep(10001) })
	refuse(func(f *File) { f.Cost = objects(10001) })
	for _, s := range []string{
		`{"a":"` + "\x7f" + `"}`, `{"` + "\u0085" + `":"` + "\u009f" + `"}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`,
		`{"\u0000":0}`,
		`{"a":1,"a":1e999}`, `{"":-0.0E-0}`, `{"a":"\/\b\f\n\r\t\"\\"}`, `{"a":[true,false,null,{},[]]}`,
		`{"a":"` + "\u2028\ufeff\uffff" + `"}`,
		`{"a":123456789012345678901234567890}`,
	} {
		accept(func(f *File) { f.Cost = s })
	}
	for _, s := range []string{
		`{"a":"` + "\x1f" + `"}`, `{"a":"` + "\t" + `"}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u123"}`, `{"a":1.}`,
		`{"a":.5}`, `{"a":+1}`,
		`{"a":-}`, `{"a":1e}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":00}`, `{"a":True}`, `{a:1}`, `{'a':1}`, `{"a":1,}`,
		`{"a":[1,]}`, `{,}`, `{"a"}`,
		`{"a":1]`, `{"a":[1}`, `{} `, ` {}`, `{}{}`, `{"a":1 }`, `{"a" :1}`, "{\"a\":\u00a01}", `[{}]`, `"{}"`, `1`,
		`true`, `{"a":"x}`, `{"a":١}`,
	} {
		refuse(func(f *File) { f.Cost = s })
	}

	// Texts: control characters, bytes that are not UTF-8, escapes, lengths.
	places := []func(f *File, s string){
		func(f *File, s string) { f.InputLabels = []string{"x", "a" + s + "b"} },
		func(f *File, s string) { f.OutputLabels = []string{"x", "a" + s + "b", "y"} },
		func(f *File, s string) { f.InputLabels, f.Aliases = []string{"x", "y"}, []Alias{{0, "a" + s + "b"}} },
		func(f *File, s string) { f.Metadata = `{"k":"a` + s + `b"}` },
		func(f *File, s string) { f.Metadata = `{"a` + s + `b":""}` },
		func(f *File, s string) {
			f.Provenance = strings.Replace(CleanProvenance, `"note":""`, `"note":"a`+s+`b"`, 1)
		},
	}
	broken := []string{"\xff", "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xed\xb0\x80", "\xf4\x90\x80\x80",
		"\xe2\x82", "\xf8\x88\x80\x80\x80"}
	for n, place := range places {
		for i, s := range []string{"\u00a0", "\u2028", "\ufeff", "\uffff", "\U0010ffff", "\u0300"} {
			if (i+n)%3 == 0 {
				accept(func(f *File) { place(f, s) })
			}
		}
		for i, s := range []string{"\x7f", "\u0080", "\u009f", "\x00", "\x1f", "\n"} {
			if i < 3 || (i+n)%3 == 0 {
				refuse(func(f *File) { place(f, s) })
			}
		}
		for i, s := range broken {
			if (i+n)%3 == 0 {
				refuse(func(f *File) { place(f, s) })
			}
		}
		f := with(func(f *File) { place(f, "#") })
		for _, escape := range []string{`\u0041`, `\ud800`, `\/`, `\n`, `\u007f`} {
			swap(f, "#", escape)
		}
	}
	for _, s := range broken {
		refuse(func(f *File) { f.Cost = `{"a":"` + s + `"}` })
	}
	refuse(func(f *File) { f.Certificate = "{\"\xff\":1}" })
	marks := strings.Repeat(`"`, 256)
	for _, fits := range []func(f *File, n int){
		func(f *File, n int) { f.InputLabels = []string{"x", (marks + marks)[:n]} },
		func(f *File, n int) {
			f.OutputLabels = []string{"x", "y", strings.Repeat("ü", 128) + strings.Repeat("x", n-256)}
		},
		func(f *File, n int) {
			f.InputLabels, f.Aliases = []string{"x", "y"}, []Alias{{1, strings.Repeat("é", n/2) + "x"[:n%2]}}
		},
	} {
		accept(func(f *File) { fits(f, 256) })
		refuse(func(f *File) { fits(f, 257) })
	}
	name := func(n int) func(f *File) {
		return func(f *File) { f.Metadata = "{" + quote(strings.Repeat("n", n)) + `:""}` }
	}
	value := func(n int) func(f *File) {
		return func(f *File) { f.Metadata = `{"a":` + quote(strings.Repeat(`\`, n)) + "}" }
	}
	note := func(n int) func(f *File) {
		return func(f *File) {
			f.Provenance = strings.Replace(CleanProvenance, `"note":""`, `"note":"`+strings.Repeat("n", n)+`"`, 1)
		}
	}
	metadata := func(n int) func(f *File) {
		return func(f *File) {
			var all []string
			for i := range n {
				all = append(all, fmt.Sprintf(`"%02d":""`, i))
			}
			f.Metadata = "{" + strings.Join(all, ",") + "}"
		}
	}
	for _, l := range []struct {
		of   func(n int) func(f *File)
		most int
	}{{name, 64}, {value, 4096}, {note, 4096}, {metadata, 64}} {
		accept(l.of(l.most))
		refuse(l.of(l.most + 1))
	}
	accept(func(f *File) { f.Metadata = `{"Z":"","a":"","é":""}` }) // by bytes
	refuse(func(f *File) { f.Metadata = `{"a":"","Z":""}` })
	accept(func(f *File) { f.Metadata = `{"` + "\uffff" + `":"","` + "\U00010000" + `":""}` }) // not by units of UTF-16
	refuse(func(f *File) { f.Metadata = `{"` + "\U00010000" + `":"","` + "\uffff" + `":""}` })

	// Labels.
	refuse(func(f *File) { f.OutputLabels = []string{"x", "y", "x"} })
	refuse(func(f *File) { f.OutputLabels = []string{"x", "", "y"} })
	refuse(func(f *File) { f.OutputLabels = []string{"x", "y"} })
	refuse(func(f *File) { f.OutputLabels = []string{"x", "y", "z", "u"} })
	accept(func(f *File) { f.OutputLabels, f.InputLabels = []string{"x", "y", "z"}, []string{"x", "y"} })
	accept(func(f *File) { f.InputLabels, f.Aliases = []string{"x", "y"}, []Alias{{0, "b"}, {1, "a"}} })
	accept(func(f *File) {
		f.InputLabels, f.Aliases = []string{"x", "y"}, []Alias{{0, "\uffff"}, {0, "\U00010000"}}
	})
	for _, a := range [][]Alias{
		{{0, "y"}}, {{0, "x"}}, {{0, "a"}, {1, "a"}}, {{1, "a"}, {0, "b"}}, {{0, "b"}, {0, "a"}}, {{0, ""}}, {{2, "a"}},
		{{-1, "a"}},
		{{0, "\U00010000"}, {0, "\uffff"}},
	} {
		refuse(func(f *File) { f.InputLabels, f.Aliases = []string{"x", "y"}, a })
	}

	// Epsilon: the denominator below 2^128, one text for one number.
	whole := func(n uint, d int64) string { // 2^n + d
		return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(d)).String()
	}
	lists := func(e string) func(f *File) {
		return func(f *File) { f.Box.Epsilon = e }
	}
	for _, e := range []string{
		"1", "1.00000000000000000000000000000000000001", whole(127, 1) + "/" + whole(127, 0), whole(128,
			0) + "/" + whole(128, -1),
		whole(129, 0) + "/" + whole(128, -1), whole(127, 0) + "/" + whole(127, -1),
	} {
		accept(lists(e))
	}
	for _, e := range []string{
		whole(128, 1) + "/" + whole(128, 0), whole(129, 1) + "/" + whole(128, 0), whole(129, 0) + "/" + whole(128, 1),
		"1.000000000000000000000000000000000000001", "1.0", "1e0", "2/2", "1/1", "3/2", "1.50", "01", "1E0", "+1", "1.",
		"10/9.0",
	} {
		refuse(lists(e))
	}

	// Statements.
	stated := func(geometry, g, base, b string) func(f *File) {
		return func(f *File) {
			f.Provenance = `{"geometry":"` + geometry + `","geometry_epsilon":` + g + `,"base_measure":"` + base +
				`","base_measure_epsilon":` + b + `,"note":""}`
		}
	}
	accept(stated("derived-dp", `"0.1"`, "derived-dp", `"1/3"`))
	accept(stated("unstated", "null", "unstated", "null"))
	for _, e := range []string{`"0.10"`, `"1e-1"`, `"1/10"`, `"2/6"`, `"0"`, `"65"`, `"1.0"`, `""`, "0.1", `"1e-18"`,
		`"` + whole(128, 1) + "/" + whole(128, 0) + `"`} {
		refuse(stated("derived-dp", e, "unstated", "null"))
		refuse(stated("public", "null", "derived-dp", e))
	}
	for _, s := range [][2]string{{"unstated", `"1"`}, {"derived-dp", "null"}, {"derived", `"1"`}, {"Public", "null"},
		{"", "null"}} {
		refuse(stated(s[0], s[1], "unstated", "null"))
		refuse(stated("public", "null", s[0], s[1]))
	}
	refuse(stated("public", "null", "data-independent", `"1"`))
	refuse(stated("public", "null", "public", "null"))

	// Modes.
	projection := func(f *File) { f.Mode, f.WorkLimit = "projection", 1 }
	accept(projection)
	accept(func(f *File) { projection(f); f.Rows = nil })
	accept(func(f *File) { projection(f); f.Rows, f.Inputs = nil, 1<<20 })
	refuse(func(f *File) { projection(f); f.Rows, f.Inputs = nil, 1<<20+1 })
	refuse(func(f *File) { projection(f); f.Rows, f.Inputs = nil, 0 })
	refuse(func(f *File) { projection(f); f.WorkLimit = 0 })
	accept(func(f *File) { projection(f); f.WorkLimit = 3600000 })
	refuse(func(f *File) { projection(f); f.WorkLimit = 3600001 })
	refuse(func(f *File) { f.WorkLimit = 1 })
	refuse(func(f *File) { f.Rows = nil })
	for _, mode := range []string{"Mixture", "", "none", "projection "} {
		refuse(func(f *File) { f.Mode = mode })
		refuse(func(f *File) { f.Mode, f.WorkLimit = mode, 1 })
	}

	// Rows: the one form of each. Output 3 cannot be raised.
	held := small()
	held.Box.Lo, held.Box.Hi = []uint64{50, 50, 50, 0, 20}, []uint64{125, 125, 125, 0, 20}
	held.Rows, held.Fallback = [][]uint64{{125, 61, 50, 0, 20}, {50, 61, 125, 0, 20}}, []uint64{79, 79, 78, 0, 20}
	good = append(good, held)
	for _, row := range []string{
		`{"full":[0,4],"extra":[[1,"11"]]}`, `{"full":[0,3],"extra":[[1,"11"]]}`, `{"full":[0],"extra":[[1,"11"],[2,"0"]]}`,
		`{"full":[0],"extra":[[1,"11"],[4,"0"]]}`, `{"full":[],"extra":[[0,"75"],[1,"11"]]}`,
		`{"full":[0],"extra":[[1,"10"]]}`,
		`{"full":[0],"extra":[[1,"12"]]}`, `{"full":[0],"extra":[[2,"5"],[1,"6"]]}`,
		`{"full":[0],"extra":[[1,"5"],[1,"6"]]}`,
		`{"full":[0,0],"extra":[[1,"11"]]}`, `{"full":[0],"extra":[[0,"11"]]}`, `{"full":[1,0],"extra":[]}`,
		`{"full":[5],"extra":[[1,"11"]]}`,
		`{"full":[0],"extra":[[5,"11"]]}`, `{"full":[],"extra":[[0,"76"],[1,"10"]]}`,
		`{"full":[0],"extra":[[1,"11"],[4,"18446744073709551616"]]}`,
		`{"extra":[[1,"11"]],"full":[0]}`, `{"full":[0],"extra":[["1","11"]]}`, `{"full":["0"],"extra":[[1,"11"]]}`,
		`{"full":[0],"extra":[[1,11]]}`,
		`{"full":[0.0],"extra":[[1,"11"]]}`, `{"full":[0],"extra":[[1,"11",0]]}`,
		`{"full":[0],"extra":[[1,"11"]],"more":0}`, `null`,
		`{"full":null,"extra":[[0,"50"],[1,"36"]]}`,
	} {
		swap(held, `{"full":[0],"extra":[[1,"11"]]}`, row)
	}
	swap(held, `"fallback":{"full":[],"extra":[[0,"29"],[1,"29"],[2,"28"]]}`,
		`"fallback":{"full":[],"extra":[[0,"29"],[1,"29"],[2,"28"],[4,"0"]]}`)
	swap(held, `"fallback":{"full":[],"extra":[[0,"29"],[1,"29"],[2,"28"]]}`,
		`"fallback":{"full":[4],"extra":[[0,"29"],[1,"29"],[2,"28"]]}`)

	pairs := small() // with two outputs at hi
	pairs.Box = even("0.5", 8, 5, 40, 65)
	pairs.Rows, pairs.Fallback = [][]uint64{{65, 65, 46, 40, 40}, {43, 43, 40, 65, 65}}, []uint64{51, 51, 51, 51, 52}
	good = append(good, pairs)
	swap(pairs, `"full":[0,1]`, `"full":[1,0]`)
	swap(pairs, `"full":[3,4],"extra":[[0,"3"],[1,"3"]]`, `"full":[3,4],"extra":[[1,"3"],[0,"3"]]`)
	swap(pairs, `"full":[3,4]`, `"full":[4,3]`)

	// The box.
	wide := small() // hi <= 2^B is the only rule that is broken
	wide.Box = box.Box{Epsilon: "1", Bits: 4, Lo: []uint64{7, 2, 0}, Hi: []uint64{16, 5, 0}}
	wide.Rows, wide.Fallback = [][]uint64{{14, 2, 0}, {11, 5, 0}}, []uint64{12, 4, 0}
	good = append(good, wide)
	wide.Box = wide.Box.Clone()
	wide.Box.Hi[0] = 17
	bad = append(bad, wide.Text())
	for _, b := range []string{"0", "63", "-1", "8.0", "08", `"8"`, "8e0", "null"} {
		swap(small(), `"bits":8`, `"bits":`+b)
	}
	swap(small(), `"lo":["50","50","50"]`, `"lo":"50"`) // of version 2 alone

	// Points: coordinates of 32 bits, and keys below 2^63 by one of two bounds.
	at := func(axes int, points ...int64) File {
		kv := len(points) / axes
		f := base(&values.RNG{}, even("2", 8, kv, 40, 255), kv)
		return around(f, Geometry{Kind: "points", Axes: axes, Out: points})
	}
	const half, root, edge = 1 << 30, 1518500249, 3037000499 // root^2 < 2^61, edge^2 < 2^63
	good = append(good,
		at(2, -half, -half, half-1, half, 0, 0, 1, 1), at(2, root, 0, -root, 0, 0, root, 0, -root),
		at(1, -half, edge-half, 0), at(1, math.MinInt32, 0, -5), at(1, math.MaxInt32, 0, 7))
	for _, f := range []File{
		at(2, -half, -half, half, half, 0, 0, 1, 1), at(2, root+1, 0, -root-1, 0, 0, root+1, 0, -root-1),
		at(1, math.MaxInt32-edge-1, math.MaxInt32, 0), at(1, math.MinInt32-1, -3, -9), at(1, math.MaxInt32+1,
			math.MaxInt32, 7),
		at(1, math.MinInt32, math.MaxInt32, 0),
	} {
		bad = append(bad, f.Text())
	}
	line := at(1, -1, 0, 4)
	good = append(good, line)
	swap(line, `"output_points":[-1,0,4]`, `"output_points":[-1,-0,4]`)
	swap(line, `"output_points":[-1,0,4]`, `"output_points":[-1,0]`)
	swap(line, `"output_points":[-1,0,4]`, `"output_points":[-1,0,4,5]`)
	swap(line, `"output_points":[-1,0,4]`, `"output_points":[-1,0.0,4]`)
	swap(line, `"output_points":[-1,0,4]`, `"output_points":null`)
	swap(line, `"input_points":null`, `"input_points":[1,2]`)
	swap(line, `"inputs":3`, `"inputs":2`)
	for _, kind := range []string{"Ring", "rings", "", "line"} {
		f := around(base(&values.RNG{}, even("2", 8, 4, 40, 255), 4), Geometry{Kind: "ring"})
		swap(f, `"kind":"ring"`, `"kind":`+quote(kind))
	}
	fewer := at(1, -1, 0, 4)
	fewer.Inputs, fewer.Thresholds = 2, fewer.Thresholds[:2]
	bad = append(bad, fewer.Text())
	swap(line, `"axes":1,"rows":0`, `"axes":0,"rows":0`)
	swap(line, `"rows":0,"cols":0`, `"rows":0,"cols":3`)
	swap(line, `"kind":"points"`, `"kind":"Points"`)
	swap(line, `"lo":"40"`, `"lo":["40","40","40"]`)
	swap(line, `"thresholds":[`, `"thresholds":[0,`)
	return good, bad
}

// Wrapped returns texts that are no policy: one number in each is larger by 2^32 or 2^64 than in a policy. A program whose
// integers wrap reads that policy.
func Wrapped() (bad []string) {
	projection := small()
	projection.Mode, projection.WorkLimit, projection.Rows = "projection", 1, nil
	named := small()
	named.InputLabels, named.Aliases = []string{"x", "y"}, []Alias{{0, "a"}}
	line := around(base(&values.RNG{}, even("2", 8, 3, 40, 255), 3), Geometry{Kind: "points", Axes: 1, Out: []int64{0, 1, 4}})
	grid := around(base(&values.RNG{}, even("2", 8, 6, 20, 147), 6), Geometry{Kind: "grid", Rows: 2, Cols: 3})
	for _, c := range []struct {
		f      File
		places []string // what is before each number, and the number
	}{
		{small(), []string{`"bits":8`, `"inputs":2`, `"outputs":3`, `"lo":["50`, `"hi":["135`, `{"full":[0`, `"extra":[[1`,
			`"extra":[[1,"21`, `"fallback":{"full":[],"extra":[[0`, `"fallback":{"full":[],"extra":[[0,"35`}},
		{projection, []string{`"work_limit_ms":1`, `"inputs":2`}},
		{named, []string{`"input_aliases":[[0`}},
		{line, []string{`"axes":1`, `"inputs":3`, `"lo":"40`, `"hi":"255`, `"output_points":[0`, `"thresholds":[0`}},
		{grid, []string{`"rows":2`, `"cols":3`}},
		{Coded()[0], []string{`"weight":"50`, `"low":"14`, `"high":"40`, `"colors":2`, `"thresholds":[4`}},
	} {
		text := c.f.Text()
		for _, place := range c.places {
			before := strings.TrimRight(place, "0123456789")
			for _, size := range []uint{32, 64} {
				n, _ := new(big.Int).SetString(place[len(before):], 10)
				n.Add(n, new(big.Int).Lsh(big.NewInt(1), size))
				spoiled := strings.Replace(text, place, before+n.String(), 1)
				values.Must(spoiled != text, "no "+place+" in\n"+text)
				bad = append(bad, spoiled)
			}
		}
	}
	return bad
}

// Blocks of deflate (RFC 1951), by zlib: "0,1\\n1,2\\n" with the fixed code, and dynamicText with one of its own.
const (
	fixedBlock   = "33d031e432d431e20200"
	dynamicBlock = "2dd0cb0d04310803d0fbd412597c9200fd37b676b4a791e609e360cb609faf827fb11cfbcbd598cf56c02f61108792c84b72" +
		"c3166edc4d74476bee208581d8c48b5d444305ad1032a4931a37488151e820359728a331db851b27d5c5315a79b015caf071" +
		"2ac3a58651d5c279a36812c395ca16451a749312e7353584da6cf4a88ee3aa0f8b1f291fab775cb4561aee2516b662595d93" +
		"0d6f5a40349824255a1b195e4adda8a3368e921e7d42e1fc9d0c2f9dce34a383cf43dc7771ef77f28c7772eed5c9efffe42c" +
		"f503"
)

// dynamicText is a text of counts for four inputs.
func dynamicText() []byte {
	var b []byte
	for i := range 60 {
		b = fmt.Appendf(b, "%d,%d.%d\n", i%4, i*7%13, i*i%97)
	}
	return b
}

// Zipped returns a text as gzip in many ways, good and bad. The policy has no input labels, and at least two inputs.
func Zipped() (data [][]byte) {
	const text, half = "0,1\n1,2\n", 4
	t := []byte(text)
	put := func(b ...[]byte) {
		var all []byte
		for _, part := range b {
			all = append(all, part...)
		}
		data = append(data, all)
	}
	full := member{extra: "ab\x02\x00xy", name: "a name", comment: "x", header: true}
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		values.Must(err == nil, "hexadecimal")
		return b
	}
	fixed, dynamic := unhex(fixedBlock), unhex(dynamicBlock)
	put(zip(t))
	put(member{header: true}.of(t))
	put(member{extra: "ab\x00\x00"}.of(t))
	put(member{name: "counts.csv"}.of(t))
	put(member{comment: "no"}.of(t))
	put(full.of(t))
	put(zip(t[:half]), full.of(t[half:]))
	put(zip(t[:half+2]), zip(t[half+2:]))
	put(zip(nil), zip(t), zip(nil))
	put(member{body: fixed}.of(t))
	put(member{body: dynamic}.of(dynamicText()))
	put(zip(nil))
	for bit := range 4 { // each of what checks it has one bit wrong
		put(member{badData: 1 << (bit*9 + 3)}.of(t))
		put(member{badSize: 1 << (bit*9 + 4)}.of(t))
		put(member{header: true, badHeader: 1 << (bit * 5)}.of(t))
	}
	put(member{badData: math.MaxUint32}.of(t))
	put(member{header: true, badHeader: math.MaxUint16}.of(t))
	put(zip(t[:half]), member{badData: 1}.of(t[half:]))
	put(member{badData: 1}.of(t[:half]), zip(t[half:]))
	put(zip(t[:half]), member{badSize: 1 << 31}.of(t[half:]))
	put(member{badSize: 1}.of(t[:half]), zip(t[half:]))
	put(zip(t[:half]), member{header: true, badHeader: 1}.of(t[half:]))
	put(member{body: append(append([]byte{}, fixed[:2]...), fixed[3:]...)}.of(t))
	put(member{body: append(append([]byte{}, dynamic[:4]...), 0)}.of(dynamicText()))
	put(member{body: []byte{7, 0}}.of(t))                  // a block of no kind
	put(member{body: []byte{1, 1, 0, 0xfe, 0xfe}}.of(nil)) // a length that is not the one beside it
	whole := zip(t)
	for _, n := range []int{2, 3, 9, 10, 11, len(whole) - 9, len(whole) - 8, len(whole) - 5, len(whole) - 4,
		len(whole) - 1} {
		put(whole[:n])
	}
	put(whole, []byte{0})
	put(whole, []byte("0,5\n"))
	put(whole, []byte{0x1f})
	put(whole, []byte{0x1f, 0x8b})
	put(whole, whole[:len(whole)-1])
	put(whole, []byte{0, 0, 0, 0, 0, 0, 0, 0})
	put(whole[:2], []byte{7}, whole[3:]) // another method
	put(full.of(t)[:14])
	return data
}
