package policy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/private"
)

// formPolicies are small policies as people use them: rows of version 1 on a ring with labels, and a grid of version 2.
func formPolicies(t testing.TB) map[string]Policy {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "ring.json"))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	const side = 20
	box, err := ldp.NewPolytope(mustEpsilon(t, "2"), slices.Repeat([]float64{0.5 / side / side}, side*side), 62)
	if err != nil {
		t.Fatal(err)
	}
	grid := mustNew(t, greedily(Config{Polytope: box, Geometry: &Geometry{Kind: Grid, Rows: side, Cols: side},
		Provenance: clean}))
	return map[string]Policy{"ring": ring, "grid20x20": grid}
}

// readableLines are so many lines for a policy, whose counts have width characters.
func readableLines(p Policy, lines, width int) string {
	numeral := "1234567890.12345678901234567890123456789012345678901234567890"[:width]
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s,%s\n", p.InputLabel(i*7%p.Inputs()), numeral)
	}
	return b.String()
}

// unusableForms are texts as long as readable, line by line, that are unusable. Each of the first kind has one fault on
// every line; of the last ones, "one" has it on the line in the middle.
func unusableForms(readable string) map[string]string {
	forms := map[string]string{}
	lines := strings.SplitAfter(readable, "\n")
	lines = lines[:len(lines)-1]
	each := func(name string, change func(label, count string) string) {
		var b strings.Builder
		for _, line := range lines {
			label, count, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ",")
			b.WriteString(change(label, count) + "\n")
		}
		forms[name] = b.String()
	}
	pad := func(start, fill string, n int) string {
		s := start + strings.Repeat(fill, n)
		return s[:min(n, len(s))]
	}
	for _, count := range []struct{ name, start, fill string }{
		{"0", "0", "0"}, {"1e", "1e", ""}, {"x", "x", "x"}, {"1+", "1+", "+"}, {"1.", "1.", "."}, {"+1", "+1", "1"},
		{"-1", "-1", "1"}, {".1", ".1", "1"}, {"e1", "e1", "1"}, {"1_", "1_", "1"}, {"1e+", "1e+", ""}, {"1e999", "1e", "9"},
		{"9e308", "9e30", "8"}, {"9e18", "9e1", "8"}, {"99", "99", "9"}, {"1ee", "1e", "e"}, {"inf", "inf", "i"},
		{"nan", "nan", "n"}, {"0x1", "0x1", "1"}, {" 1", " 1", "1"}, {"1 ", "1 ", " "}, {"1.e", "1.e", "+"},
	} {
		each("count "+count.name, func(label, c string) string {
			s := pad(count.start, count.fill, len(c))
			if len(s) < len(c) { // digits in between: 1000e
				s = s[:1] + strings.Repeat("0", len(c)-len(s)) + s[1:]
			}
			return label + "," + s
		})
	}
	for _, first := range []string{"x", "00", `"`, `"x"`, "\xff", "\x00"} {
		each(fmt.Sprintf("label %q", first), func(label, c string) string { return pad(first, "0", len(label)) + "," + c })
	}
	each("no comma", func(label, c string) string { return label + "0" + c })
	each("no label", func(label, c string) string { return "," + label[1:] + "0" + c })
	each("commas", func(label, c string) string { return strings.Repeat(",", len(label+","+c)) })
	each("quotation marks", func(label, c string) string { return strings.Repeat(`"`, len(label+","+c)) })
	each("three fields", func(label, c string) string { return label + "," + c[:len(c)-1] + "," })
	forms["garbage"] = strings.Repeat("x", len(readable))
	forms["line ends"] = strings.Repeat("\n", len(readable))
	forms["short lines"] = strings.Repeat("x\n", len(readable))[:len(readable)]
	forms["commas and ends"] = strings.Repeat(",\n", len(readable))[:len(readable)]
	forms["three commas"] = strings.Repeat(",,,\n", len(readable))[:len(readable)]
	middle := len(lines) / 2
	for _, name := range []string{"count 1e", "count x", `label "x"`} {
		bad := strings.SplitAfter(forms[name], "\n")
		forms["one "+name] = strings.Join(slices.Concat(lines[:middle], bad[middle:middle+1], lines[middle+1:]), "")
	}
	for name, text := range forms {
		if text == readable {
			delete(forms, name)
		}
	}
	return forms
}

// TestUnusableNumeralsCostAsMuch: whatever the fault is, and on however many lines, reading allocates what readable data
// of the same length do: no conversion fails.
func TestUnusableNumeralsCostAsMuch(t *testing.T) {
	for name, p := range formPolicies(t) {
		for _, width := range []int{2, 5, 30} {
			readable := readableLines(p, 20, width)
			want := testing.AllocsPerRun(20, func() { private.Read(p.c.labels(), []byte(readable)) })
			unusable := 0
			for form, text := range unusableForms(readable) {
				if len(text) != len(readable) {
					t.Fatalf("%s: %d bytes, want %d", form, len(text), len(readable))
				}
				_, usable, _ := private.Read(p.c.labels(), []byte(text))
				unusable += 1 - usable
				if n := testing.AllocsPerRun(20, func() { private.Read(p.c.labels(), []byte(text)) }); n != want {
					t.Errorf("%s, %d characters, %s: %v allocations, readable data take %v", name, width, form, n, want)
				}
			}
			if unusable < 30 {
				t.Errorf("%s, %d characters: %d unusable forms", name, width, unusable)
			}
		}
	}
}

// BenchmarkUnusableForms compares the time of a whole release of unusable data with one of readable data as long, in
// rounds in which each comes once, in random order, by their medians. It reports the form that differs most, in percent
// of the readable data.
func BenchmarkUnusableForms(b *testing.B) {
	const calls = 8 // in one measurement
	for name, p := range formPolicies(b) {
		for _, lines := range []int{20, 400} {
			for _, width := range []int{2, 5} {
				b.Run(fmt.Sprintf("%s/%d/%d", name, lines, width), func(b *testing.B) {
					readable := readableLines(p, lines, width)
					names, texts := []string{"readable"}, []string{readable}
					for form, text := range unusableForms(readable) {
						names, texts = append(names, form), append(texts, text)
					}
					took := make([][]float64, len(texts))
					private, words := make([]byte, len(readable)), make([]byte, 16)
					rng := rand.New(rand.NewPCG(1, 2))
					for range b.N {
						for _, n := range rng.Perm(len(texts)) {
							copy(private, texts[n])
							start := time.Now()
							for range calls {
								if _, err := p.c.draw(b.Context(), private, nil, strings.NewReader(string(words))); err != nil {
									b.Fatal(err)
								}
							}
							took[n] = append(took[n], float64(time.Since(start).Nanoseconds())/calls)
						}
					}
					least, most := 0, 0
					medians := make([]float64, len(texts))
					for n, x := range took {
						slices.Sort(x)
						medians[n] = x[len(x)/2]
						if medians[n] < medians[least] {
							least = n
						}
						if medians[n] > medians[most] {
							most = n
						}
					}
					percent := func(n int) float64 { return 100 * (medians[n]/medians[0] - 1) }
					b.ReportMetric(medians[0], "ns/op")
					b.ReportMetric(percent(most), "%-longer")
					b.ReportMetric(percent(least), "%-shorter")
					b.Logf("longest: %s; shortest: %s", names[most], names[least])
					for n := range names {
						if testing.Verbose() && b.N > 1 {
							b.Logf("%+6.2f %% %s", percent(n), names[n])
						}
					}
				})
			}
		}
	}
}
