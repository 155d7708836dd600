package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors/gen/internal/box"
	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

type releaseIn struct {
	Policy    string   `json:"policy"`
	Private   string   `json:"private"` // hexadecimal
	Random    string   `json:"random"`  // hexadecimal
	Projected []string `json:"projected,omitempty"`
}

type releaseOut struct {
	ID     string `json:"id"`
	Usable bool   `json:"usable"`
	Index  int    `json:"index"`
	Report string `json:"report"`
}

var numeral = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

// read reads private data; nil if they are unusable.
func (f file) read(data []byte) []float64 {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var ok bool
		if data, ok = unzip(data); !ok {
			return nil
		}
	}
	counts := make([]float64, f.inputs)
	users, first := false, ""
	for n, line := range strings.Split(string(data), "\n") {
		if len(line) > 4096 {
			return nil
		}
		line = strings.TrimSuffix(line, "\r")
		if n == 0 {
			line = strings.TrimPrefix(line, "\xef\xbb\xbf")
			if users = line == "user,label,count"; users || line == "label,count" {
				continue
			}
		}
		if line == "" {
			continue
		}
		fields := cutLine(line, users)
		if fields == nil {
			return nil
		}
		if users {
			user := fields[0]
			if first == "" {
				first = user
			}
			if user != first || len(user) > 256 || !utf8.ValidString(user) || control(user) {
				return nil
			}
			fields = fields[1:]
		}
		i, known := f.input(fields[0])
		if !known || len(fields[1]) > 64 || !numeral.MatchString(fields[1]) {
			return nil
		}
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || v > 1<<53 {
			return nil
		}
		counts[i] += v
	}
	if slices.Max(counts) == 0 {
		return nil
	}
	return counts
}

func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || 0x7f <= r && r < 0xa0 })
}

// cutLine returns the fields of a line, the last of which is the count; nil if there are too few.
func cutLine(line string, users bool) (fields []string) {
	want := 1
	if users {
		want = 2
	}
	for range want {
		field, rest, ok := cutField(line)
		if !ok {
			return nil
		}
		fields, line = append(fields, field), rest
	}
	return append(fields, line)
}

// cutField takes the first field of a line off, and the comma behind it.
func cutField(line string) (field, rest string, ok bool) {
	if !strings.HasPrefix(line, `"`) {
		field, rest, ok = strings.Cut(line, ",")
		return field, rest, ok && field != "" && rest != ""
	}
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] != '"':
			field += line[i : i+1]
		case strings.HasPrefix(line[i+1:], `"`):
			field += `"`
			i++
		default:
			rest, ok = strings.CutPrefix(line[i+1:], ",")
			return field, rest, ok && field != "" && rest != ""
		}
	}
	return "", "", false
}

// zip returns data as gzip without compression: the same bytes whatever the library.
func zip(data []byte) []byte {
	b := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
	b = binary.LittleEndian.AppendUint16(b, ^uint16(len(data)))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(b, uint32(len(data)))
}

// unzip reads what zip writes, several in a row.
func unzip(b []byte) (text []byte, ok bool) {
	for len(b) > 0 {
		if len(b) < 23 || !bytes.Equal(b[:11], []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1}) {
			return nil, false
		}
		n := int(binary.LittleEndian.Uint16(b[11:]))
		if len(b) < 23+n || !bytes.Equal(b[:23+n], zip(b[15:15+n])) {
			return nil, false
		}
		text, b = append(text, b[15:15+n]...), b[23+n:]
	}
	return text, true
}

// unitsOf returns counts in units of 2^-s, so that the total has 62 bits, and their sum.
func unitsOf(counts []float64) (units []*big.Int, sum *big.Int) {
	total := 0.0
	for _, v := range counts {
		total += v
	}
	_, e := math.Frexp(total)
	units, sum = make([]*big.Int, len(counts)), new(big.Int)
	for i, v := range counts {
		x := exact.Rat(v)
		if s := 62 - e; s >= 0 {
			x.Mul(x, values.Power(s))
		} else {
			x.Quo(x, values.Power(-s))
		}
		units[i] = values.Floor(x)
		sum.Add(sum, units[i])
	}
	return units, sum
}

// boundaryWord returns the first word that draws an input after the first few, or the last one that does not.
func boundaryWord(r *values.RNG, counts []float64) uint64 {
	units, sum := unitsOf(counts)
	c := new(big.Int)
	for _, u := range units[:r.Intn(len(units))] {
		c.Add(c, u)
	}
	word := values.Ceil(new(big.Rat).SetFrac(new(big.Int).Lsh(c, 64), sum))
	if r.Chance(50) {
		word.Sub(word, big.NewInt(1))
	}
	if !word.IsUint64() {
		return r.Next()
	}
	return word.Uint64()
}

// pickInput returns the input that a word draws.
func pickInput(counts []float64, word uint64) int {
	units, sum := unitsOf(counts)
	t := new(big.Int).Mul(values.Int(word), sum)
	t.Rsh(t, 64)
	c := new(big.Int)
	for i, u := range units {
		if c.Add(c, u).Cmp(t) > 0 {
			return i
		}
	}
	panic("a word beyond the counts")
}

// distributionOf reports whether a solver's answer is one that counts.
func distributionOf(q []float64, kv int) bool {
	sum := 0.0
	for _, v := range q {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return len(q) == kv && math.Abs(sum-1) <= 0x1p-20
}

// release draws.
func (f file) release(private, random []byte, projected []float64) (index int, usable bool) {
	counts := f.read(private)
	var n []uint64
	switch {
	case counts == nil:
		n = f.fallback
	case f.mode == "projection" && distributionOf(projected, len(f.box.Lo)):
		n = box.Round(f.box, projected)
	case f.rows == nil && f.geometry == nil:
		n = f.fallback
	default:
		n = f.row(pickInput(counts, box.LittleEndian(random[:8], 64).Uint64()))
	}
	return box.First(n, box.LittleEndian(random[8:], f.box.Bits)), counts != nil
}

const cleanProvenance = `{"geometry":"public","geometry_epsilon":null,"base_measure":"data-independent","base_measure_epsilon":null,"note":""}`

// samplePolicies are the policies of the vectors, by what is special about them.
func samplePolicies(r *values.RNG) []file {
	e := box.Expos{}
	named := func(kv, bits int, epsilon string) box.Box {
		for {
			if b := box.Random(r, e, kv); b.Bits == bits && b.Epsilon == epsilon {
				return b
			}
		}
	}
	base := func(b box.Box, inputs int) file {
		f := file{
			box: b, mode: "mixture", inputs: inputs, provenance: cleanProvenance, metadata: "{}", certificate: "null", cost: "null",
			fallback: b.Row(r),
		}
		for range inputs {
			f.rows = append(f.rows, b.Row(r))
		}
		return f
	}
	small := base(named(4, 8, "1.5"), 3)
	small.inputLabels, small.outputLabels = []string{"home", `say "hi", x\y`, "køb 🚲"}, []string{"a", "b", "c", "d"}
	small.metadata = `{"a":"","title":"small","unit":"the user's whole distribution"}`
	small.cost, small.certificate = `{"kind":"ring","n":4,"p":1}`, `{"upper":"3/2","lower":"1.4999"}`
	small.provenance = `{"geometry":"derived-dp","geometry_epsilon":"1/3","base_measure":"unstated","base_measure_epsilon":null,"note":"a \"note\" \\"}`
	plain := base(named(5, 62, "0.5"), 4)
	aliased := base(named(3, 33, "2"), 3)
	aliased.inputLabels, aliased.aliases = []string{"café", "b", "c"}, []alias{{0, "cafe\u0301"}, {2, "C"}, {2, "see"}}
	one := base(named(1, 16, "1"), 1)
	projection := base(named(4, 31, "10"), 4)
	projection.mode, projection.workLimit = "projection", 250
	bare := base(named(3, 62, "5/7"), 3)
	bare.mode, bare.workLimit, bare.rows = "projection", 3600000, nil
	around := func(f file, g geometry) file {
		f.geometry, f.rows = &g, nil
		for i := range f.inputs {
			f.thresholds = append(f.thresholds, f.threshold(i))
		}
		return f
	}
	ring := around(base(named(5, 54, "1"), 5), geometry{kind: "ring"})
	grid := around(base(named(12, 52, "3.25"), 12), geometry{kind: "grid", rows: 3, cols: 4})
	points := around(base(named(5, 62, "2"), 3), geometry{
		kind: "points", axes: 2, in: []int64{0, 0, 3, -4, 7, 7}, out: []int64{1, 0, 0, -1, 0, 0, -1, 0, 5, -5},
	})
	points.inputLabels, points.aliases = []string{"x", "y", "z"}, []alias{{1, "Y"}}
	// Coordinates at the ends of int32, on one axis: keys up to (2^32 - 1)^2 would pass 2^63.
	far := around(base(named(3, 16, "0.25"), 3), geometry{kind: "points", axes: 1, out: []int64{-1 << 31, 0, 1<<29 - 1}})
	equal := file{box: box.Box{Epsilon: "1", Bits: 10, Lo: []uint64{150, 150, 150, 150}, Hi: []uint64{407, 407, 407, 407}}}
	equal = base(equal.box, 4)
	equal = around(equal, geometry{kind: "grid", rows: 2, cols: 2})
	wrong := equal // thresholds that are not those of the fill: a policy all the same
	wrong.thresholds = []int{0, 3, 1, 1}
	return []file{small, plain, aliased, one, projection, bare, ring, grid, points, far, equal, wrong}
}

// privates returns private data for a policy: usable, and not.
func (f file) privates(r *values.RNG) []byte {
	name := func(i int) string {
		s := f.label(i)
		if i < len(f.aliases) && r.Chance(30) {
			s = f.aliases[i].label
		}
		if strings.ContainsAny(s, `,"`) || r.Chance(10) {
			s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
		return s
	}
	count := func() string {
		return values.Pick(r, "1", "0", "12", "0.5", "1e-3", "9007199254740992", "1e-320", "3.", "007", "2E+2", strconv.Itoa(r.Intn(1000)), "0.1",
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
		b.WriteString(users + name(r.Intn(f.inputs)) + "," + count() + end)
	}
	if r.Chance(25) {
		b.WriteString(users + values.Pick(r, f.oddLines()...))
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

// oddLines are lines at the edges of the private format; most make data unusable.
func (f file) oddLines() []string {
	name := `"` + strings.ReplaceAll(f.label(0), `"`, `""`) + `"`
	zeros := strings.Repeat("0", 63)
	lines := []string{
		"nowhere,1", ",1", `"`, `"",1`, `""` + name, name, name + "x,1", name + ",", "label,count", strings.Repeat("x", 4100) + ",1", "00,1", "v," + name + ",1",
	}
	for _, count := range []string{
		"-1", "+1", " 1", "1 ", "inf", "nan", "0x10", "9007199254740992", "9007199254740992.1", "9007199254740993", "9007199254740993.5", "1e400",
		"1e-400", ".5", "5.", "1,1", zeros + "1", zeros + "01", "1e", "1e+", "1e5.", "1_0", "１", "1E2", "1.5e-1", "\r", "1\r", "1\r\r", "1\x00",
	} {
		lines = append(lines, name+","+count)
	}
	return lines
}

// telling changes the bytes that draw the index to some that tell apart, of a few tries, as many as can be of the row,
// the fallback, the row of the mixture and the solver's answer.
func (f file) telling(r *values.RNG, private, random []byte, projected []float64) {
	mixture := f
	mixture.mode = "mixture"
	best, kept := 0, slices.Clone(random[8:])
	for range 60 {
		seen := map[int]bool{}
		for _, draw := range []func() (int, bool){
			func() (int, bool) { return f.release(private, random, projected) },
			func() (int, bool) { return f.release(nil, random, nil) },
			func() (int, bool) { return mixture.release(private, random, nil) },
		} {
			index, _ := draw()
			seen[index] = true
		}
		if len(projected) == len(f.box.Lo) {
			seen[box.First(box.Round(f.box, projected), box.LittleEndian(random[8:], f.box.Bits))] = true
		}
		if len(seen) > best {
			best, kept = len(seen), slices.Clone(random[8:])
		}
		copy(random[8:], r.Bytes(len(kept)))
	}
	copy(random[8:], kept)
}

func releaseVectors(s *cases.Set) {
	r := &s.RNG
	policies := samplePolicies(r)
	for n, f := range policies {
		for i, spoiled := range f.spoiled() {
			if (n+i)%4 != 0 && !slices.Contains(spoiled.flags, "one-unit-out") { // every rule is broken in some policies
				continue
			}
			s.Invalid("policy", releaseIn{Policy: spoiled.text, Private: "", Random: hex.EncodeToString(make([]byte, 16))}, spoiled.flags...)
		}
	}
	odd := policies[1].oddLines() // of the second policy, each once
	s.Until(240, 140, func(n int) {
		f := policies[n%len(policies)]
		private := f.privates(r)
		if n < len(odd) {
			f = policies[1]
			private = []byte(odd[n])
		}
		need := 8 + (f.box.Bits+7)/8
		random := r.Bytes(need)
		flags := append(box.EpsFlags(f.box.Epsilon), box.BitsFlags(f.box.Bits)...)
		if counts := f.read(private); counts != nil && r.Chance(60) {
			binary.LittleEndian.PutUint64(random, boundaryWord(r, counts))
			flags = append(flags, "boundary")
		}
		in := releaseIn{Policy: f.text(), Private: hex.EncodeToString(private)}
		if n%37 == 36 {
			in.Random = hex.EncodeToString(random[:r.Intn(need)])
			s.Invalid("random", in, "short")
			return
		}
		var projected []float64
		if f.mode == "projection" {
			projected = make([]float64, len(f.box.Lo))
			for j, v := range f.box.Row(r) {
				projected[j] = math.Ldexp(float64(v), -f.box.Bits)
			}
			style := r.Intn(6)
			if n >= 200 { // the edge of the slack, for data that are usable
				style, private = 3, []byte(f.label(0)+",1")
				in.Private = hex.EncodeToString(private)
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
			in.Projected = values.HexFloats(projected)
			flags = append(flags, "projection")
			if len(in.Projected) == 0 {
				in.Projected = nil
			}
		}
		f.telling(r, private, random, projected)
		in.Random = hex.EncodeToString(random)
		index, usable := f.release(private, random, projected)
		if !usable {
			flags = append(flags, "unusable")
		}
		if bytes.HasPrefix(private, []byte{0x1f, 0x8b}) {
			flags = append(flags, "gzip")
		}
		if f.geometry != nil {
			flags = append(flags, "version-2")
		}
		if f.inputs != len(f.box.Lo) {
			flags = append(flags, "k!=kv")
		}
		s.Valid(in, releaseOut{f.id(), usable, index, report(f.id(), index)}, flags...)
	})
}
