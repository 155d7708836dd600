package policy

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
)

// codesConfig has four inputs on a line, a code of two colours, one of three, and a disc of a bit more than one place.
// All sampler words can be enumerated.
func codesConfig(t testing.TB) Config {
	t.Helper()
	codes := []Code{
		{Weight: 60, Low: 17, Colors: 2, Packed: mustPack(t, 2, 0, 0, 1, 1)},
		{Weight: 96, Low: 21, Colors: 3, Packed: mustPack(t, 3, 2, 0, 1, 0)},
		{Weight: 100, Low: 15, High: 40, Thresholds: []int32{1, 2, 1, 2}},
	}
	return Config{
		Polytope: mustCodesBox(t, "1", smallBits, 4, codes), Codes: codes, Provenance: clean, InputLabels: []string{"a", "b", "c", "d"},
		Geometry: &Geometry{Kind: Points, Axes: 1, OutputPoints: []int32{0, 10, 11, 30}},
		Metadata: map[string]string{"seed": "1"},
	}
}

// codesRows are the rows of codesConfig, by hand.
var codesRows = [][]uint64{
	{43, 17, 21, 21, 54, 40, 30, 15, 15},
	{43, 17, 54, 21, 21, 15, 40, 30, 15},
	{17, 43, 21, 54, 21, 15, 30, 40, 15},
	{17, 43, 54, 21, 21, 15, 15, 30, 40},
}

func mustPack(t testing.TB, colors int, color ...int32) []byte {
	t.Helper()
	b, err := PackColors(color, colors)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustCodesBox(t testing.TB, eps string, bits, k int, codes []Code) *ldp.Polytope {
	t.Helper()
	box, err := CodesBox(mustEpsilon(t, eps), bits, k, codes)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func weightsOf(w ldp.Weights) (n []uint64) {
	for j := range w.Len() {
		n = append(n, w.At(j))
	}
	return n
}

// TestCodes: the rows are those that were found by hand, in memory and from the file, and private.
func TestCodes(t *testing.T) {
	made := mustNew(t, codesConfig(t))
	read, err := Decode(mustEncode(t, made))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{made, read} {
		if err := errors.Join(Verify(p), verifyRows(p)); err != nil {
			t.Fatal(err)
		}
		if p.ID() != made.ID() || p.Version() != 3 || !p.HasCodes() || !p.HasRows() {
			t.Errorf("%v, version %d", p, p.Version())
		}
		all := []ldp.Weights{p.Fallback()}
		if got, want := weightsOf(p.Fallback()), []uint64{30, 30, 32, 32, 32, 25, 25, 25, 25}; !slices.Equal(got, want) {
			t.Errorf("fallback %v, want %v", got, want)
		}
		for i, want := range codesRows {
			w, err := p.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			appended, err := p.AppendRow([]uint64{7}, i)
			if got := weightsOf(w); err != nil || !slices.Equal(got, want) || !slices.Equal(appended[1:], want) {
				t.Errorf("row %d: %v and %v, want %v; %v", i, got, appended, want, err)
			}
			all = append(all, w)
		}
		if err := ldp.CheckRows(p.Epsilon(), all); err != nil {
			t.Error(err)
		}
	}
	for j, want := range [][]int{{0, 1}, {2, 3}, {1, 3}, {2}, {0}, {0}, {0, 1, 2}, {1, 2, 3}, {3}, nil} {
		if got := made.Favours(j); !slices.Equal(got, want) {
			t.Errorf("output %d speaks for %v, want %v", j, got, want)
		}
	}
	for j, want := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}, {2, 3}, {-1, 0}} {
		if n, y := made.Component(j); n != want[0] || y != want[1] {
			t.Errorf("output %d is %d of component %d, want %v", j, y, n, want)
		}
	}
}

// TestCodesRelease: over all words, a release has the law of the row of its input; and that of the fallback row if the
// data are unusable.
func TestCodesRelease(t *testing.T) {
	p := mustNew(t, codesConfig(t))
	for i, private := range []string{"a,1", "b,1", "c,1", "d,1", "e,1"} {
		want := weightsOf(p.Fallback())
		if i < 4 {
			want = codesRows[i]
		}
		got := make([]uint64, p.Outputs())
		for word := range uint64(1) << smallBits {
			r, err := p.c.draw(context.Background(), []byte(private), nil, words(word<<56, word))
			if err != nil {
				t.Fatal(err)
			}
			got[r.Index()]++
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", private, got, want)
		}
	}
}

// TestCodesBox: for every weight, low weight and number of colours of a code of five bits beside a disc, the box is
// accepted if and only if each component is eps-private and can have its weight.
func TestCodesBox(t *testing.T) {
	const bits, total = 5, 32
	for _, eps := range []string{"1/2", "1", "2"} {
		lower, upper := mustEpsilon(t, eps).ExpBounds(64)
		within := func(high, low uint64) bool { // high <= e^eps low: e^eps is no fraction
			a, b := new(big.Rat).SetInt64(int64(high)), new(big.Rat).SetInt64(int64(low))
			if in := a.Cmp(new(big.Rat).Mul(lower, b)) <= 0; in == (a.Cmp(new(big.Rat).Mul(upper, b)) <= 0) {
				return in
			}
			t.Fatalf("e^%s is too near to %d/%d", eps, high, low)
			return false
		}
		accepted := 0
		for weight := range uint64(total + 2) {
			for low := range uint64(total + 2) {
				for colors := range 5 {
					for high := range uint64(total + 2) {
						if colors > 0 && high > 0 {
							break
						}
						c := Code{Weight: weight, Low: low, Colors: colors, High: high, Thresholds: []int32{0, 0}}
						n := uint64(2)
						if colors > 0 {
							n, c.Thresholds, c.Packed = uint64(colors), nil, []byte{0}
							high = weight - (n-1)*low
						}
						want := colors != 1 && weight > 0 && weight < total && n*low <= weight && weight <= n*high && within(high, low) &&
							high <= total
						rest := Code{Weight: total - weight, Low: (total - weight) / 2, Colors: 2, Packed: []byte{0}}
						want = want && within(rest.Weight-rest.Low, rest.Low)
						_, err := CodesBox(mustEpsilon(t, eps), bits, 2, []Code{c, rest})
						if (err == nil) != want {
							t.Fatalf("eps %s: %+v: %v, want %v", eps, c, err, want)
						}
						if want {
							accepted++
						}
					}
				}
			}
		}
		if accepted < 30 {
			t.Errorf("eps %s: only %d boxes", eps, accepted)
		}
	}
}

// TestColors: packed colours, read both ways, are those of the bits of one long number.
func TestColors(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 1))
	sizes := []int{2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 65, 255, 256, 257, 4095, 4097, 1<<19 + 1, MaxOutputs}
	for _, colors := range sizes {
		for _, k := range []int{1, 2, 3, 7, 8, 9, 40} {
			color := make([]int32, k)
			long := new(big.Int)
			for i := range color {
				color[i] = int32(r.IntN(colors))
				if r.IntN(4) == 0 {
					color[i] = int32(colors - 1)
				}
				long.Lsh(long, uint(colorBits(colors))).Or(long, big.NewInt(int64(color[i])))
			}
			c := Code{Colors: colors, Packed: mustPack(t, colors, color...)}
			spare := 8*len(c.Packed) - k*colorBits(colors)
			if want := long.Lsh(long, uint(spare)).FillBytes(make([]byte, len(c.Packed))); spare > 7 || !bytes.Equal(c.Packed, want) {
				t.Fatalf("%d colours of %d: %x, want %x", k, colors, c.Packed, want)
			}
			for i, want := range color {
				if got, scanned := c.Color(i), c.scanColor(i); got != int(want) || scanned != got {
					t.Fatalf("colour %d of %d: %d and %d, want %d of %d", i, k, got, scanned, want, colors)
				}
			}
			if err := c.checkEntries(k); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, bad := range []struct {
		colors int
		color  int32
	}{{1, 0}, {0, 0}, {MaxOutputs + 1, 0}, {2, 2}, {2, -1}} {
		if _, err := PackColors([]int32{bad.color}, bad.colors); !errors.Is(err, ErrShape) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestCodesThresholds: a threshold that is not where the fill ends gives the fallback's part for that disc, which is a
// point of the box, and VerifyRows finds it.
func TestCodesThresholds(t *testing.T) {
	for wrong := range int32(4) {
		cfg := codesConfig(t)
		cfg.Codes[2].Thresholds[0] = wrong
		p := mustNew(t, cfg)
		if err := Verify(p); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(codesRows[0])
		if wrong != 1 {
			copy(want[5:], []uint64{25, 25, 25, 25})
		}
		w, err := p.Row(0)
		appended, err2 := p.AppendRow(nil, 0)
		if got := weightsOf(w); err != nil || err2 != nil || !slices.Equal(got, want) || !slices.Equal(appended, want) {
			t.Errorf("threshold %d: %v and %v, want %v; %v, %v", wrong, got, appended, want, err, err2)
		}
		if err := verifyRows(p); (err == nil) != (wrong == 1) || err != nil && !errors.Is(err, ErrRow) {
			t.Errorf("threshold %d: %v", wrong, err)
		}
	}
}

// TestCodesErrors: what does not fit is refused, by New and in a file, with the line of the component.
func TestCodesErrors(t *testing.T) {
	base := codesConfig(t)
	for name, tt := range map[string]struct {
		spoil func(c *Config)
		want  error
	}{
		"projection":         {func(c *Config) { c.Mode = Projection }, ErrMode},
		"rows":               {func(c *Config) { c.Geometry, c.Rows = nil, make([]Row, 4) }, ErrShape},
		"thresholds":         {func(c *Config) { c.Thresholds = []int32{0, 0, 0, 0} }, ErrShape},
		"labels of outputs":  {func(c *Config) { c.OutputLabels = strings.Split("abcdefghi", "") }, ErrShape},
		"certificate":        {func(c *Config) { c.Certificate = []byte("{}") }, ErrShape},
		"fallback":           {func(c *Config) { c.Fallback = Row{full: []int32{0}} }, ErrShape},
		"no geometry":        {func(c *Config) { c.Geometry = nil }, ErrShape},
		"geometry of no use": {func(c *Config) { c.Codes, c.Polytope = rest(t, c.Codes) }, ErrShape},
		"input points":       {func(c *Config) { c.Geometry.InputPoints = c.Geometry.OutputPoints }, ErrShape},
		"other box":          {func(c *Config) { c.Codes[0].Low++ }, ErrShape},
		"other high":         {func(c *Config) { c.Codes[2].High-- }, ErrShape},
		"other inputs":       {func(c *Config) { c.Inputs, c.InputLabels = 3, nil }, ErrShape},
		"colour":             {func(c *Config) { c.Codes[1].Packed[0] |= 3 << 6 }, ErrRow},
		"spare bits":         {func(c *Config) { c.Codes[0].Packed[0] |= 1 }, ErrRow},
		"long colours":       {func(c *Config) { c.Codes[0].Packed = append(c.Codes[0].Packed, 0) }, ErrShape},
		"threshold":          {func(c *Config) { c.Codes[2].Thresholds[3] = 4 }, ErrRow},
		"threshold below 0":  {func(c *Config) { c.Codes[2].Thresholds[3] = -1 }, ErrRow},
		"few thresholds":     {func(c *Config) { c.Codes[2].Thresholds = []int32{1, 2, 1} }, ErrShape},
		"disc with colours":  {func(c *Config) { c.Codes[2].Packed = []byte{0} }, ErrShape},
		"code with a high":   {func(c *Config) { c.Codes[0].High = 43 }, ErrShape},
	} {
		cfg := codesConfig(t)
		g := *cfg.Geometry
		cfg.Geometry = &g
		tt.spoil(&cfg)
		if _, err := New(cfg); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	text := string(mustEncode(t, mustNew(t, base)))
	first := 1 + strings.Count(text[:strings.Index(text, `{"weight"`)], "\n")
	for name, tt := range map[string]struct {
		old, new string
		line     int
		want     error
	}{
		"weight":     {`"weight":"60"`, `"weight":"61"`, first + 2, ErrShape},
		"no weight":  {`"weight":"60"`, `"weight":"0"`, first, ErrShape},
		"huge":       {`"weight":"60"`, `"weight":"18446744073709551616"`, first, ErrShape},
		"less":       {`"weight":"100"`, `"weight":"99"`, first - 1, ErrShape},
		"low":        {`"low":"21"`, `"low":"20"`, first + 1, ldp.ErrBox},
		"low, large": {`"low":"21"`, `"low":"33"`, first + 1, ErrShape},
		"high":       {`"high":"40"`, `"high":"41"`, first + 2, ldp.ErrBox},
		"high, low":  {`"high":"40"`, `"high":"24"`, first + 2, ErrShape},
		"colors":     {`"colors":3`, `"colors":1`, first + 1, ErrShape},
		"negative":   {`"colors":3`, `"colors":-3`, first + 1, ErrShape},
		"outputs":    {`"outputs":9`, `"outputs":10`, 8, ErrShape},
		"empty":      {`"colors":3`, `"colors":}`, first + 1, ErrShape},
		"none":       {text[strings.Index(text, `{"weight"`):], "]\n}\n", first, ErrShape},
		"bits":       {`"bits":8`, `"bits":9`, first - 1, ErrShape},
		"colour":     {`"hA=="`, `"xA=="`, first + 1, ErrRow},
	} {
		_, err := Decode([]byte(strings.Replace(text, tt.old, tt.new, 1)))
		if !errors.Is(err, tt.want) || !strings.HasPrefix(fmt.Sprint(err), fmt.Sprintf("line %d: ", tt.line)) {
			t.Errorf("%s: %v, want line %d, %v", name, err, tt.line, tt.want)
		}
	}
	for _, change := range [][2]string{{`"weight":"60"`, `"weight":"0"`}, {`"colors":2`, `"colors":"2"`}} {
		_, err := Decode([]byte(strings.Replace(text, change[0], change[1], 1)))
		if want := fmt.Sprintf("line %d: ", first); !strings.HasPrefix(fmt.Sprint(err), want) ||
			!strings.Contains(fmt.Sprint(err), "is no component with a weight") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	for name, change := range map[string][2]string{
		"white space":   {`"colors":3`, `"colors": 3`},
		"zeros":         {`"low":"21"`, `"low":"021"`},
		"order":         {`"weight":"60","low":"17"`, `"low":"17","weight":"60"`},
		"another name":  {`"colors":3`, `"Colors":3`},
		"one more":      {`"colors":3`, `"more":0,"colors":3`},
		"padding":       {`=="}`, `="}`},
		"bounds":        {"\"geometry\":{", "\"lo\":[],\n\"geometry\":{"},
		"wrong version": {"wpm-policy-3", "wpm-policy-2"},
		"no end":        {"]\n}\n", "]\n"},
		"null high":     {`"colors":3`, `"high":null,"colors":3`},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if _, err := Decode([]byte(changed)); err == nil || changed == text {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rest is a list without its discs.
func rest(t *testing.T, codes []Code) ([]Code, *ldp.Polytope) {
	codes = slices.Clone(codes[:2])
	codes[0].Weight, codes[0].Low = 160, 50
	return codes, mustCodesBox(t, "1", smallBits, 4, codes)
}

// TestCodesImmutable: what New was given, and what accessors return, can be changed without effect.
func TestCodesImmutable(t *testing.T) {
	cfg := codesConfig(t)
	p := mustNew(t, cfg)
	before := mustEncode(t, p)
	for _, list := range [][]Code{cfg.Codes, p.Codes()} {
		list[0].Weight, list[0].Packed[0], list[2].Thresholds[0] = 1, 0xff, 3
	}
	if !bytes.Equal(mustEncode(t, p), before) || Verify(p) != nil {
		t.Error("the policy changed")
	}
}

// TestCodesLimits: a list of as many outputs, inputs or colours as there may be, and of more.
func TestCodesLimits(t *testing.T) {
	eps := mustEpsilon(t, "1")
	even := func(colors int) Code {
		return Code{Weight: 1 << 40, Low: 1 << 40 / uint64(colors), Colors: colors, Packed: make([]byte, packedLen(1, colors))}
	}
	a := even(1 << 19)
	if _, err := CodesBox(eps, 41, 1, []Code{a, a}); err != nil {
		t.Error(err)
	}
	if _, err := CodesBox(eps, 41, 1, []Code{a, even(1<<19 + 1)}); !errors.Is(err, ErrLimit) {
		t.Errorf("2^20 + 1 outputs: %v", err)
	}
	many := slices.Repeat([]Code{{}}, maxColorings/MaxInputs+1)
	if _, err := CodesBox(eps, 41, MaxInputs, many); !errors.Is(err, ErrLimit) {
		t.Errorf("many colours: %v", err)
	}
	if _, err := CodesBox(eps, 40, 1, []Code{even(MaxOutputs)}); err != nil {
		t.Errorf("2^20 colours: %v", err)
	}
	if _, err := CodesBox(eps, 41, MaxInputs, many[1:]); errors.Is(err, ErrLimit) {
		t.Errorf("as many colours as there may be: %v", err)
	}
	whole := []Code{{Weight: 1 << 62, Low: 1 << 61, Colors: 2, Packed: []byte{0}}}
	if _, err := CodesBox(eps, 62, 1, whole); err != nil {
		t.Errorf("62 bits: %v", err)
	}
	if _, err := CodesBox(eps, 1, 1, []Code{{Weight: 2, Low: 1, Colors: 2, Packed: []byte{0}}}); err != nil {
		t.Errorf("1 bit: %v", err)
	}
	for _, c := range []struct {
		k, bits int
		codes   []Code
	}{{0, 41, []Code{a, a}}, {-1, 41, []Code{a, a}}, {MaxInputs + 1, 41, []Code{a, a}}, {1, 41, nil}, {1, 0, []Code{a, a}},
		{1, 63, []Code{a, a}}} {
		_, err := CodesBox(eps, c.bits, c.k, c.codes)
		want := fmt.Sprintf("%d components for %d inputs and %d bits", len(c.codes), c.k, c.bits)
		if !errors.Is(err, ErrShape) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCodesOneColor: a code of one colour would tell nothing, and is none.
func TestCodesOneColor(t *testing.T) {
	if _, err := CodesBox(mustEpsilon(t, "1"), 5, 2, []Code{{Weight: 32, Low: 32, Colors: 1}}); !errors.Is(err, ErrShape) {
		t.Errorf("%v", err)
	}
}

// TestCodesBoxNamesComponent: a bound that ldp refuses is one of a component, of the first one, too.
func TestCodesBoxNamesComponent(t *testing.T) {
	good := Code{Weight: 16, Low: 8, Colors: 2, Packed: []byte{0}}
	bad := good
	bad.Low = 1
	for n, codes := range [][]Code{{bad, good}, {good, bad}} {
		if _, err := CodesBox(mustEpsilon(t, "1"), 5, 2, codes); !errors.Is(err, ldp.ErrBox) ||
			!strings.HasPrefix(fmt.Sprint(err), fmt.Sprintf("component %d: ", n)) {
			t.Errorf("%v, want component %d", err, n)
		}
	}
}

// TestSpareBits: the bits behind the last of 9 colours are 0.
func TestSpareBits(t *testing.T) {
	for last, want := range map[byte]error{0: nil, 0x80: nil, 0x40: ErrRow, 1: ErrRow} {
		if err := (Code{Weight: 2, Low: 1, Colors: 2, Packed: []byte{0, last}}).checkEntries(9); !errors.Is(err, want) {
			t.Errorf("%x: %v, want %v", last, err, want)
		}
	}
}

// TestFill: what a disc has above the low weights goes to whole outputs, and what is left, which is never 0, to one.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		weight, high uint64
		full         int
		rest         uint64
	}{{60, 40, 0, 0}, {61, 40, 0, 1}, {84, 40, 0, 24}, {85, 40, 0, 25}, {86, 40, 1, 1}, {109, 40, 1, 24}, {110, 40, 1, 25},
		{111, 40, 2, 1}, {160, 40, 3, 25}, {60, 15, 0, 0}} {
		full, rest := Code{Weight: c.weight, Low: 15, High: c.high}.fill(4)
		if full != c.full || rest != c.rest {
			t.Errorf("weight %d: %d and %d, want %d and %d", c.weight, full, rest, c.full, c.rest)
		}
	}
}

// TestVerifyDiscsLooks: a check of discs looks at its context before the first input and then at every 2^18 keys.
func TestVerifyDiscsLooks(t *testing.T) {
	const k = 1 << 10
	code := Code{Weight: k, Low: 1, High: 1}
	g := &Geometry{Kind: Points, Axes: 1}
	for i := range int32(k) {
		code.Thresholds, g.OutputPoints = append(code.Thresholds, i), append(g.OutputPoints, i)
	}
	p := mustNew(t, Config{Polytope: mustCodesBox(t, "1", 10, k, []Code{code}), Codes: []Code{code}, Geometry: g, Inputs: k,
		Provenance: clean})
	for _, part := range []struct{ from, to, looks int }{{0, k, 4}, {1, 2, 1}, {1, 257, 1}, {1, 258, 2}, {300, 300, 0}} {
		c := &ticking{Context: t.Context(), last: 1 << 30}
		if err := VerifyRows(c, p, part.from, part.to); err != nil || c.looks != part.looks {
			t.Errorf("%d to %d: %v after %d looks, want %d", part.from, part.to, err, c.looks, part.looks)
		}
		if part.looks == 0 {
			continue
		}
		if err := VerifyRows(&ticking{Context: t.Context(), last: part.looks}, p, part.from, part.to); !errors.Is(err, context.Canceled) {
			t.Errorf("%d to %d: %v", part.from, part.to, err)
		}
	}
}

// TestCodesSize: a disc takes at most 8 bytes an input in a file, and a code of four colours a third.
func TestCodesSize(t *testing.T) {
	const k = 20_000
	thresholds := make([]int32, k)
	for i := range thresholds {
		thresholds[i] = MaxInputs - 1
	}
	disc := len(appendCodes(nil, []Code{{Weight: 1 << 62, Low: 1 << 60, High: 1 << 61, Thresholds: thresholds}}))
	if disc > 8*k+128 {
		t.Errorf("a disc takes %d bytes", disc)
	}
	code := len(appendCodes(nil, []Code{{Weight: 1 << 62, Low: 1 << 60, Colors: 4, Packed: make([]byte, packedLen(k, 4))}}))
	if code > base64.StdEncoding.EncodedLen(k/4)+100 {
		t.Errorf("a code takes %d bytes", code)
	}
}
