package policy

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// drawCodes generates policies with lists of codes and discs.
func drawCodes(r *rand.Rand) Config {
	k, bits := 1+r.IntN(6), 8+r.IntN(54)
	text := []string{"0.5", "1", "1.7", "3", "7/3"}[r.IntN(5)]
	eps, err := ldp.ParseEpsilon(text)
	if err != nil {
		panic(err)
	}
	ratio := math.Exp(eps.Float64())
	left := uint64(1) << bits
	var codes []Code
	for n := range 1 + r.IntN(4) {
		weight := left/2 + 1
		if n == 3 || r.IntN(3) == 0 || weight < 32 {
			weight = left
		}
		left -= weight
		c := Code{Weight: weight}
		if r.IntN(3) > 0 {
			c.Colors = 2 + r.IntN(4)
			c.Low = uint64(math.Ceil(float64(weight)/(ratio+float64(c.Colors-1)))) + 1
			if r.IntN(4) == 0 {
				c.Low = weight / uint64(c.Colors)
			}
			color := make([]int32, k)
			for i := range color {
				color[i] = int32(r.IntN(c.Colors))
			}
			if c.Packed, err = PackColors(color, c.Colors); err != nil {
				panic(err)
			}
		} else {
			share := 0.1 + 0.8*r.Float64()
			c.Low = uint64(float64(weight)/(float64(k)*(1-share+share*ratio))) + 1
			c.Low = min(c.Low, weight/uint64(k))
			c.High = max(uint64(float64(c.Low)*ratio*(1-1e-9)), (weight-1)/uint64(k)+1)
			for range k {
				c.Thresholds = append(c.Thresholds, int32(r.IntN(k)))
			}
		}
		codes = append(codes, c)
		if left == 0 {
			break
		}
	}
	if left > 0 {
		codes[0].Weight += left
		if c := &codes[0]; c.Colors > 0 {
			c.Low = c.Weight / uint64(c.Colors)
		} else {
			c.Low, c.High = c.Weight/uint64(k), c.Weight/uint64(k)+1
		}
	}
	cfg := Config{Codes: codes, Provenance: clean, Inputs: k, Metadata: map[string]string{"seed": "1"}}
	switch r.IntN(3) {
	case 0:
		cfg.Geometry = &Geometry{Kind: Ring}
	case 1:
		cfg.Geometry = &Geometry{Kind: Grid, Rows: 1, Cols: k}
	default:
		cfg.Geometry = &Geometry{Kind: Points, Axes: 1}
		for i := range k {
			cfg.Geometry.OutputPoints = append(cfg.Geometry.OutputPoints, int32(i*i-3*i))
		}
	}
	if !slices.ContainsFunc(codes, func(c Code) bool { return c.Colors == 0 }) {
		cfg.Geometry = nil
	}
	if r.IntN(2) == 0 {
		for i := range k {
			cfg.InputLabels = append(cfg.InputLabels, fmt.Sprintf("place %d", i))
		}
	}
	if cfg.Polytope, err = CodesBox(eps, bits, k, codes); err != nil {
		return Config{}
	}
	return cfg
}

// drawSchedule generates a schedule.
func drawSchedule(r *rand.Rand) ledger.Schedule {
	form := []ledger.Form{ledger.Year, ledger.Month, ledger.Week, ledger.Day}[r.IntN(4)]
	s := ledger.Schedule{Epochs: form}
	from := map[ledger.Form]int{ledger.Year: 2020, ledger.Month: 12 * 2020, ledger.Week: 2700, ledger.Day: 19000}[form]
	if r.IntN(2) == 0 {
		s.First = form.Name(from + r.IntN(60))
	}
	if r.IntN(2) == 0 {
		s.Last = form.Name(from + 60 + r.IntN(60))
	}
	if r.IntN(2) == 0 {
		s.Period = []int{2, 3, 12, ledger.MaxPeriod}[r.IntN(4)]
	}
	return s
}

// members3 are the members that only version 3 has, and what they are about.
var members3 = regexp.MustCompile(`"(weight|low|high|colors|color|thresholds|epochs|first|last|period)":("[^"]*"|[0-9]+|null|\[[0-9,]*\])`)

// change3 changes one of them.
func change3(r *rand.Rand, text string) (changed, how string) {
	found := members3.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text + " ", "text after"
	}
	at := found[r.IntN(len(found))]
	name, value := text[at[2]:at[3]], text[at[4]:at[5]]
	inner := strings.Trim(value, `"`)
	quoted := value != inner
	number := func(n uint64) string {
		if quoted {
			return `"` + strconv.FormatUint(n, 10) + `"`
		}
		return strconv.FormatUint(n, 10)
	}
	replacement := value
	switch n, err := strconv.ParseUint(inner, 10, 64); {
	case err == nil && r.IntN(4) > 0:
		replacement = number([]uint64{n + 1, n - 1, n + 2, 2 * n, n / 2, 0, 1, 1 << 20, 1 << 62}[r.IntN(9)])
	case name == "color" && r.IntN(2) == 0:
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_"
		b := []byte(inner)
		if len(b) > 0 {
			b[r.IntN(len(b))] = alphabet[r.IntN(len(alphabet))]
		}
		replacement = `"` + string(b) + `"`
	case name == "epochs" && r.IntN(3) > 0:
		replacement = `"` + []string{"year", "month", "week", "day", "", "hour", "Month"}[r.IntN(7)] + `"`
	case (name == "first" || name == "last") && r.IntN(3) > 0:
		replacement = []string{`"2026-01"`, `"2026-13"`, `"2026"`, `"1999"`, `"2026-W53"`, `"2027-W53"`, `"2026-02-29"`,
			`"2024-02-29"`, `null`, `""`, `"9999-12"`, `"10000"`}[r.IntN(12)]
	case name == "thresholds":
		replacement = digits.ReplaceAllStringFunc(value, func(string) string { return strconv.Itoa(r.IntN(8)) })
	default:
		replacement = []string{"null", `""`, "0", `"0"`, `"1"`, "[]", "1.0", `"01"`, "-1", `"x"`}[r.IntN(10)]
	}
	return text[:at[4]] + replacement + text[at[5]:], "version 3: " + name
}

// lines3 exchanges, repeats or drops a component, or a line of another member.
func lines3(r *rand.Rand, text string) (changed, how string) {
	lines := strings.SplitAfter(text, "\n")
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	switch r.IntN(3) {
	case 0:
		lines[i], lines[j] = lines[j], lines[i]
	case 1:
		lines = slices.Insert(lines, i, lines[j])
	default:
		lines = slices.Delete(lines, i, i+1)
	}
	return strings.Join(lines, ""), "version 3: lines"
}

// mutants3 are policies of version 3 and changes of them: 400 in all, with WPM_FULL=1 2,000.
func mutants3(t *testing.T) (all []mutant) {
	t.Helper()
	seed, err := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 3))
	one, two := rapid.Custom(drawConfig), rapid.Custom(drawVersion2)
	for n := range numtest.Cases(40, 200) {
		kind, cfg := "version 3, codes", Config{}
		switch n % 4 {
		case 0:
			kind = "version 3, a schedule"
			if cfg = one.Example(int(r.Uint32())); n%8 == 0 {
				cfg = two.Example(int(r.Uint32()))
			}
			cfg.Schedule = drawSchedule(r)
		case 1:
			kind = "version 3, codes and a schedule"
			cfg = drawCodes(r)
			cfg.Schedule = drawSchedule(r)
		default:
			cfg = drawCodes(r)
		}
		if cfg.Polytope == nil { // numbers that fit no box
			continue
		}
		p, err := New(cfg)
		if err != nil {
			t.Fatalf("%s: %v\n%+v", kind, err, cfg)
		}
		text := string(mustEncode(t, p))
		all = append(all, mutant{text, kind, "version 3: as it is", decodes([]byte(text))})
		for range 9 {
			changed, how := text, ""
			for more := r.IntN(5) == 0; changed == text || more; more = false {
				switch r.IntN(5) {
				case 0:
					changed, how = mutate(r, changed, false)
				case 1:
					changed, how = lines3(r, changed)
				default:
					changed, how = change3(r, changed)
				}
			}
			all = append(all, mutant{changed, kind, how, decodes([]byte(changed))})
		}
	}
	return all
}
