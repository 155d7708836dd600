package spec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/policyfile"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

type releaseIn struct {
	Policy    string   `json:"policy,omitempty"`
	PolicyHex string   `json:"policy_hex,omitempty"` // its bytes, where they are no text
	Private   string   `json:"private"`              // hexadecimal
	Random    string   `json:"random"`               // hexadecimal
	Projected []string `json:"projected,omitempty"`
}

type releaseOut struct {
	ID     string `json:"id"`
	Usable bool   `json:"usable"`
	Index  int    `json:"index"`
	Input  int    `json:"input"` // that w drew, where its row decides; else -1
	Report string `json:"report"`
}

// Release fills in the cases of the kind release: releases by a policy.
func Release(s *cases.Set) {
	r := &s.RNG
	policies := policyfile.Samples(r)
	for n, f := range policies {
		for i, spoiled := range f.Spoiled() {
			if (n+i)%4 != 0 && !slices.Contains(spoiled.Flags, "one-unit-out") { // every rule is broken in some policies
				continue
			}
			refuse(s, spoiled.Text, spoiled.Flags...)
		}
	}
	for _, n := range []int{0, 6} { // of version 1 with labels, of version 2 without
		mixtures(s, policies[n])
	}
	edges(s, policies)
	odd := policies[1].OddLines() // of the second policy, each once
	for n := range 280 {
		f := policies[n%len(policies)]
		private := f.Private(r)
		if n < len(odd) {
			f = policies[1]
			private = []byte(odd[n])
		}
		need := 8 + (f.Box.Bits+7)/8
		random := r.Bytes(need)
		flags := append(box.EpsFlags(f.Box.Epsilon), box.BitsFlags(f.Box.Bits)...)
		if counts := f.Read(private); counts != nil && r.Chance(60) {
			binary.LittleEndian.PutUint64(random, policyfile.BoundaryWord(r, counts))
			flags = append(flags, "boundary")
		}
		if n%37 == 36 {
			in := releaseIn{Policy: f.Text(), Private: hex.EncodeToString(private),
				Random: hex.EncodeToString(random[:r.Intn(need)])}
			s.Invalid("random", in, "short")
			continue
		}
		var projected []float64
		if f.Mode == "projection" {
			projected = make([]float64, len(f.Box.Lo))
			for j, v := range f.Box.Row(r) {
				projected[j] = math.Ldexp(float64(v), -f.Box.Bits)
			}
			style := r.Intn(6)
			if n >= 200 { // the edge of the slack, for data that are usable
				style, private = 3, []byte(f.Label(0)+",1")
			}
			switch style {
			case 0:
				projected = nil
			case 1:
				projected[0] = values.Pick(r, math.NaN(), -0x1p-30, math.Inf(1), 3)
			case 2:
				projected = projected[1:]
			case 3:
				projected[len(projected)-1] += values.Pick(r, 0x1p-21, 0x1p-19)
			}
			flags = append(flags, "projection")
		}
		f.Tell(r, private, random, projected)
		answer(s, f, private, random, projected, flags...)
	}
	coded(s)
}

// coded adds releases by policies with codes, and texts that are none, by their numbers, too.
func coded(s *cases.Set) {
	r := &s.RNG
	files := policyfile.Coded()
	for _, f := range files {
		for i := range f.Inputs {
			for range 2 {
				random := r.Bytes(8 + (f.Box.Bits+7)/8)
				private := []byte(f.Label(i) + ",1\n")
				f.Tell(r, private, random, nil)
				answer(s, f, private, random, nil)
			}
		}
		for _, text := range []string{"", "9,1\n", f.Label(0) + ",1\n" + f.Label(3) + ",2\n"} {
			random := r.Bytes(8 + (f.Box.Bits+7)/8)
			f.Tell(r, []byte(text), random, nil)
			answer(s, f, []byte(text), random, nil)
		}
	}
	for _, spoiled := range files[0].SpoiledCodes() {
		refuse(s, spoiled.Text, append(spoiled.Flags, "version-3")...)
	}
	for _, text := range policyfile.Wrapped() {
		refuse(s, text, "wraps")
	}
}

// refuse adds a text that is no policy: in hexadecimal if it is no text.
func refuse(s *cases.Set, policy string, flags ...string) {
	in := releaseIn{Policy: policy, Random: strings.Repeat("00", 16)}
	if !utf8.ValidString(policy) {
		in.Policy, in.PolicyHex = "", hex.EncodeToString([]byte(policy))
	}
	s.Invalid("policy", in, flags...)
}

// mixtures adds private data with one line at an edge of the format behind good ones. The random bytes give another
// index where that line is dropped.
func mixtures(s *cases.Set, f policyfile.File) {
	r := &s.RNG
	for _, m := range f.Mixtures() {
		random := r.Bytes(8 + (f.Box.Bits+7)/8)
		for range 1000 {
			d := f.Release(m.All, random, nil)
			if d.Usable || d.Index != f.Release(m.Good, random, nil).Index {
				break
			}
			random = r.Bytes(len(random))
		}
		answer(s, f, m.All, random, nil, append(box.EpsFlags(f.Box.Epsilon), box.BitsFlags(f.Box.Bits)...)...)
	}
}

// edges adds what each rule of policy.md and release.md decides, one below, at and above its limit. The random bytes tell
// the right row from those that a client with an error would draw from.
func edges(s *cases.Set, policies []policyfile.File) {
	r := &s.RNG
	tell := func(f policyfile.File, private string, projected []float64, words ...uint64) {
		if len(words) == 0 {
			words = []uint64{r.Next()}
		}
		for _, w := range words {
			random := binary.LittleEndian.AppendUint64(nil, w)
			random = append(random, make([]byte, (f.Box.Bits+7)/8)...)
			f.Tell(r, []byte(private), random, projected)
			answer(s, f, []byte(private), random, projected, "limit")
		}
	}
	name := func(f policyfile.File, i int) string { return `"` + strings.ReplaceAll(f.Label(i), `"`, `""`) + `"` }

	good, bad := policyfile.Texts()
	for _, f := range good {
		tell(f, name(f, 0)+",1", nil)
	}
	for _, text := range bad {
		refuse(s, text, "limit")
	}
	for _, f := range slices.Concat(policies, policyfile.Near(r)) { // the row of each input
		for i := range f.Inputs {
			tell(f, name(f, i)+",1\n", nil)
		}
	}
	quoted, lines := policyfile.Quoted(r)
	for _, line := range lines {
		tell(quoted, line+"\n", nil)
	}
	plain := policyfile.Plain()
	for _, data := range policyfile.Zipped() {
		tell(plain, string(data), nil)
	}

	// The length of a line, the byte order mark, ends of lines, headers.
	for _, n := range []int{4095, 4096, 4097} {
		long := strings.Repeat("0", n-2) + ",1"
		for _, text := range []string{long, long + "\n", long + "\n1,1\n"} {
			tell(plain, "1,1\n"+text, nil)
		}
	}
	tell(plain, "1,1\n"+strings.Repeat("0", 4095)+",1\r\n", nil)
	const mark = "\xef\xbb\xbf"
	for _, text := range []string{
		mark + "1,1", mark + mark + "1,1", "1,1\n" + mark + "1,1", mark + "label,count\n1,1", mark + "\n1,1", mark,
		"\xef\xbb1,1",
		"\xfe\xff1,1", "1,1\r", "1,1\r\n", "1,1\r\r\n", "\r", "\r\n1,1", "\n\n1,1\n\n", "label,count", "label,count\r",
		"label,count\r\n1,1\r",
		"label,count\r\r\n1,1", "1,1\nlabel,count\n", "label,count\nlabel,count\n1,1", "Label,Count\n1,1",
		"label,count \n1,1",
		"label, count\n1,1", "count,label\n1,1", "\"label\",count\n1,1", "user,label,count\r\nu,1,1\r", "user,label,count",
		"user,label,count\nu,1,1",
		"user,label,count\n1,1", "label,count\nu,1,1", "u,1,1", "\nlabel,count\n1,1", "user,label\n1,1", "", "\n",
		"1,1\x00", "1,1\x00\n2,2", "1,1;2",
		"1;1", "1\t1", "#1,1", "1,1\x1a", "1,1\u2028", "1,1\v", "1,1\n\f", "1,1\r2,2",
	} {
		tell(plain, text, nil)
	}

	// Counts: their spelling, their limits, their sums.
	for _, text := range []string{
		"0,0", "0,0\n1,0\n", "0,0\n1,1", "0,1\n0,0", "1,1e-400", "1,1e-400\n2,1", "1,5e-324", "1,4.9406564584124654e-324",
		"1,2.4703282292062327e-324",
		"1,2.4703282292062328e-324", "1,9007199254740992", "1,9007199254740992.999", "1,9007199254740993",
		"1,9007199254740993.0000000000000000000000000000001",
		"1,9007199254740994", "1,9.007199254740992e15", "1,9.007199254740994e15", "1,90071992547409920e-1", "1,1e15",
		"1,1e16", "1,1e+15", "1,1E-15", "1,1e00000000015",
		"1,1e99999999999999999999", "1,1e-99999999999999999999", "1,0e99999999999999999999", "1," + strings.Repeat("0",
			63) + "1",
		"1," + strings.Repeat("0", 64) + "1", "1,0." + strings.Repeat("1", 62), "1,0." + strings.Repeat("1", 63), "1,1.",
		"1,.1", "1,.", "1,1..", "1,1.e1",
		"1,1e1.0", "1,1d1", "1,1f", "1,1_000", "1,1'000", "1,0x1", "1,0b1", "1,1/2", "1,NaN", "1,Infinity", "1,\u0661",
		"1,1%", "1, 1", "1,1 ", "1,+1",
		"1,-1", "1,-0", "1,1,1", "1,", "1", ",", "01,1", "+1,1", "-0,1", "1.0,1", "1e0,1", "4,1", "3,1", "4294967297,1",
		"18446744073709551617,1",
		"0x1,1", " 1,1", "1 ,1", "\"1\",1", "\"1\",\"1\"", "\"\",1", "\u0661,1", "1\x00,1",
	} {
		tell(plain, text, nil)
	}

	// The units of the draw of an input, and their boundaries.
	for _, counts := range [][4]string{
		{"4.3368086899420177e-19", "1", "0", "0"}, {"6.505213034913027e-19", "1", "0", "0"}, {"0", "1",
			"6.505213034913027e-19", "0"},
		{"1", "1", "0", "0"}, {"0.001953125", "9007199254740991", "0.4", "0.4"}, {"0.4", "0.4", "9007199254740991",
			"0.001953125"},
		{"9007199254740992", "0.0019531250000000002", "1", "1"}, {"9007199254740992", "9007199254740992",
			"9007199254740992", "9007199254740992"},
		{"5e-324", "5e-324", "0", "0"}, {"5e-324", "0", "0", "0"}, {"1.5e-323", "5e-324", "1e-323", "0"}, {"1e-300", "1",
			"1e-18", "3e-19"},
		{"0.1", "0.2", "0.3", "0.4"}, {"1", "2", "3", "4"}, {"0", "0.9999999999999999", "3e-19", "7e-19"}, {"3", "0", "0",
			"1"},
		{"1.9999999999999998", "4.3368086899420177e-19", "4.3368086899420177e-19", "0"}, {"1", "1.1102230246251565e-16",
			"1e-18", "1e-19"},
		{"7", "0.3333333333333333", "1e15", "2e-3"},
	} {
		text := ""
		for i, c := range counts {
			text += string(rune('0'+i)) + "," + c + "\n"
		}
		words := policyfile.TellWords(plain.Read([]byte(text)))
		tell(plain, text, nil, append(words, 0, math.MaxUint64)...)
	}
	for _, text := range []string{ // one input, in the order of its lines
		"0,9007199254740992\n0,1\n0,1\n1,9007199254740992\n", "0,1\n0,1\n0,9007199254740992\n1,9007199254740992\n",
		"0,0.1\n1,0.6\n0,0.2\n0,0.3\n", "0,0.3\n1,0.6\n0,0.2\n0,0.1\n",
	} {
		counts := plain.Read([]byte(text))
		other := slices.Clone(counts)
		for _, v := range []float64{math.Nextafter(counts[0], 0), math.Nextafter(counts[0], math.Inf(1)), counts[0] + 2} {
			other[0] = v
			tell(plain, text, nil, policyfile.TellCounts(counts, other)...)
		}
	}

	// The solver's answer.
	for _, f := range []policyfile.File{policies[4], policies[5]} {
		row := f.Box.Row(r)
		answers := [][]float64{nil}
		for _, change := range []func(q []float64) []float64{
			func(q []float64) []float64 { return q },
			func(q []float64) []float64 { return q[1:] },
			func(q []float64) []float64 { return append(q, 0) },
			func(q []float64) []float64 { return append(q[:2], math.NaN()) },
			func(q []float64) []float64 { q[0], q[1] = -0x1p-1074, q[0]+q[1]; return q },
			func(q []float64) []float64 { q[0] = math.Inf(1); return q },
			func(q []float64) []float64 { clear(q); q[0], q[1] = 1, math.Copysign(0, -1); return q },
			func(q []float64) []float64 { clear(q); q[1] = 1 + 0x1p-20; return q },
			func(q []float64) []float64 { clear(q); q[1] = 1 + 0x1p-20 + 0x1p-52; return q },
			func(q []float64) []float64 { clear(q); q[1] = 1 - 0x1p-20; return q },
			func(q []float64) []float64 { clear(q); q[1] = 1 - 0x1p-20 - 0x1p-53; return q },
			func(q []float64) []float64 { clear(q); q[0], q[1], q[2] = 1+0x1p-20, 0x1p-53, 0x1p-53; return q },
			func(q []float64) []float64 { clear(q); q[0], q[1], q[2] = 0x1p-53, 0x1p-53, 1+0x1p-20; return q },
		} {
			q := make([]float64, len(row))
			for j, v := range row {
				q[j] = math.Ldexp(float64(v), -f.Box.Bits)
			}
			answers = append(answers, change(q))
		}
		for _, q := range answers {
			tell(f, name(f, 1)+",1\n", q)
		}
		tell(f, name(f, 1)+",0\n", answers[1])
	}
	enough := plain // more random bytes than needed
	random := r.Bytes(8 + 8 + 5)
	answer(s, enough, []byte("2,1"), random, nil)
}

// answer adds a release with its answer.
func answer(s *cases.Set, f policyfile.File, private, random []byte, projected []float64, flags ...string) {
	in := releaseIn{Policy: f.Text(), Private: hex.EncodeToString(private), Random: hex.EncodeToString(random)}
	if len(projected) > 0 {
		in.Projected = values.HexFloats(projected)
	}
	d := f.Release(private, random, projected)
	if !d.Usable {
		flags = append(flags, "unusable")
	}
	if bytes.HasPrefix(private, []byte{0x1f, 0x8b}) {
		flags = append(flags, "gzip")
	}
	switch {
	case f.Codes != nil:
		flags = append(flags, "version-3")
	case f.Geometry != nil:
		flags = append(flags, "version-2")
	}
	if f.Inputs != len(f.Box.Lo) {
		flags = append(flags, "k!=kv")
	}
	s.Valid(in, releaseOut{f.ID(), d.Usable, d.Index, d.Input, policyfile.Report(f.ID(), d.Index)}, flags...)
}
