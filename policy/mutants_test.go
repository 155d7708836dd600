package policy

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// A mutant is a policy with a change or two, or without any, and what Decode and Verify make of it.
type mutant struct {
	text, kind, how string
	err             error
}

// ofTestdata is the kind of files that are changed in fixed ways.
const ofTestdata = "version 1, of testdata"

// mutants returns fourteen fixed mutants, and policies of all kinds and changes of them: 1,000 in all, with WPM_FULL=1
// 13,000. Others come from another WPM_SEED.
func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	seed, err := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if seed == 0 {
		seed = rand.Uint64() >> 1
	}
	t.Logf("WPM_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 13))
	// One bound for both outputs, followed by another number: a reader of digits may take the first for the bound, or two
	// bounds for two outputs.
	box, err := ldp.NewPolytope(mustEpsilon(t, "1"), []float64{0.5, 0.5}, 9)
	if err != nil {
		t.Fatal(err)
	}
	ring := mustNew(t, greedily(Config{Polytope: box, Provenance: clean, Geometry: &Geometry{Kind: Ring}}))
	for _, name := range []string{"lo", "hi"} {
		for _, more := range []string{".0", ",0", " 0", "\",\"0"} {
			text := regexp.MustCompile(`"`+name+`":"[0-9]+`).ReplaceAllString(string(mustEncode(t, ring)), "$0"+more)
			all = append(all, mutant{text, kindOf(ring), "a bound twice", decodes([]byte(text))})
		}
	}
	for _, name := range []string{"ring.json", "small.json", "projection.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"2", "3"} { // without a reason for it
			text := strings.Replace(string(text), "wpm-policy-1", "wpm-policy-"+version, 1)
			all = append(all, mutant{text, ofTestdata, "another version", decodes([]byte(text))})
		}
	}
	one, two := rapid.Custom(drawConfig), rapid.Custom(drawVersion2)
	for n := range numtest.Cases(100, 1300) {
		cfg := one
		if n%2 == 1 {
			cfg = two
		}
		c := cfg.Example(int(r.Uint32()))
		p := mustNew(t, c)
		text, kind := string(mustEncode(t, p)), kindOf(p)
		all = append(all, mutant{text, kind, "as it is", decodes([]byte(text))})
		for range 9 {
			changed, how := text, ""
			for more := r.IntN(5) == 0; changed == text || more; more = false {
				changed, how = mutate(r, changed, n%2 == 1)
			}
			all = append(all, mutant{changed, kind, how, decodes([]byte(changed))})
		}
	}
	return all
}

// kindOf says which of the kinds of policies p is.
func kindOf(p Policy) string {
	kind := "version 1, without rows"
	switch {
	case p.c.Geometry != nil:
		kind = fmt.Sprintf("version 2, %s", p.c.Geometry.Kind)
	case len(p.c.Rows) > 0:
		kind = "version 1, rows"
	}
	certificate := "no certificate"
	if len(p.c.Certificate) > 0 {
		certificate = "certificate"
	}
	return fmt.Sprintf("%s, %s, %s", kind, p.c.Mode, certificate)
}

// drawVersion2 generates policies of version 2, of every kind of geometry.
func drawVersion2(t *rapid.T) Config {
	cfg := drawConfig(t)
	kv := cfg.Polytope.Len()
	cfg.Rows, cfg.InputLabels = nil, nil
	cfg.Mode = rapid.SampledFrom([]Mode{Mixture, Projection}).Draw(t, "mode of version 2")
	cfg.Inputs = kv
	switch kind := rapid.SampledFrom([]string{Points, Points, Grid, Ring}).Draw(t, "kind"); kind {
	case Grid:
		divisors := slices.DeleteFunc([]int{1, 2, 3, 4, 5, 6, 7, 8}, func(d int) bool { return kv%d != 0 })
		rows := rapid.SampledFrom(divisors).Draw(t, "rows of the grid")
		cfg.Geometry = &Geometry{Kind: kind, Rows: rows, Cols: kv / rows}
	case Ring:
		cfg.Geometry = &Geometry{Kind: kind}
	default:
		axes := rapid.IntRange(1, 3).Draw(t, "axes")
		far := rapid.SampledFrom([]int32{1, 3, 100, 1e6, 1 << 29}).Draw(t, "far")
		points := func(name string, n int) []int32 {
			return rapid.SliceOfN(rapid.Int32Range(-far, far), n*axes, n*axes).Draw(t, name)
		}
		cfg.Geometry = &Geometry{Kind: kind, Axes: axes, OutputPoints: points("outputs", kv)}
		if rapid.Bool().Draw(t, "input points") {
			cfg.Inputs = rapid.IntRange(1, 5).Draw(t, "k of version 2")
			cfg.Geometry.InputPoints = points("inputs", cfg.Inputs)
		}
	}
	if rapid.Bool().Draw(t, "input labels of version 2") {
		for i := range cfg.Inputs {
			cfg.InputLabels = append(cfg.InputLabels, fmt.Sprintf("place %d", i))
		}
		cfg.InputAliases = []Alias{{0, "Place"}, {cfg.Inputs - 1, "platz"}}
	}
	return greedily(cfg)
}

// mutate changes a policy's text in one of the ways of this package's tests.
func mutate(r *rand.Rand, text string, two bool) (changed, how string) {
	if strings.Count(text, "\n") < 18 { // cut off by another change
		return text + " ", "text after"
	}
	switch n := r.IntN(10); {
	case n < 2:
		return tamper(r, text)
	case n < 4 && two:
		for _, name := range members2 {
			if !strings.Contains(text, "\n\""+name+"\":") { // lost by another change
				return text + "\n", "text after"
			}
		}
		return tamper2(r, text), "a member of version 2"
	case n < 5:
		at := r.IntN(len(text) + 1)
		to := min(len(text), at+r.IntN(3))
		return text[:at] + splices[r.IntN(len(splices))] + text[to:], "splice"
	case n < 6:
		b := []byte(text)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return string(b), "a bit"
	}
	return adjust(r, text)
}

var (
	digits  = regexp.MustCompile(`[0-9]+`)
	letters = regexp.MustCompile(`[a-z]+`)
	halves  = regexp.MustCompile(`\],"extra":\[.*`)
)

// adjust makes a change that often leaves a policy.
func adjust(r *rand.Rand, text string) (changed, how string) {
	lines := strings.SplitAfter(text, "\n")
	edit := func(name string, f func(value string) string) {
		for i, l := range lines {
			if value, ok := strings.CutPrefix(l, `"`+name+`":`); ok {
				value, end := strings.TrimRight(value, ",\n"), l[len(strings.TrimRight(l, ",\n")):]
				lines[i] = `"` + name + `":` + f(value) + end
				return
			}
		}
	}
	// one replaces one match in a value.
	one := func(what *regexp.Regexp, f func(s string) string) func(string) string {
		return func(value string) string {
			found := what.FindAllStringIndex(value, -1)
			if len(found) == 0 {
				return value
			}
			at := found[r.IntN(len(found))]
			return value[:at[0]] + f(value[at[0]:at[1]]) + value[at[1]:]
		}
	}
	near := func(s string) string {
		n, _ := strconv.ParseUint(s, 10, 64)
		return strconv.FormatUint(n+[]uint64{1, 2, ^uint64(0)}[r.IntN(3)], 10)
	}
	word := func(string) string { return []string{"x", "yz", "été", "🚲", `\\`, `q\"`, ""}[r.IntN(7)] }
	how = []string{"a text", "work limit", "a unit moved", "threshold", "coordinate", "epsilon raised", "object",
		"provenance", "outwards", "alias"}[r.IntN(10)]
	switch how {
	case "a text":
		edit([]string{"metadata", "input_labels", "output_labels"}[r.IntN(3)], one(letters, word))
	case "work limit":
		edit("work_limit_ms", func(string) string { return strconv.Itoa([]int{0, 1, 10000, 3600000, 3600001}[r.IntN(5)]) })
	case "a unit moved": // from one output of a row to another; in rows, too, for their lines have no name
		rows := []int{}
		for i, l := range lines {
			if strings.Contains(l, `"extra":[[`) {
				rows = append(rows, i)
			}
		}
		if len(rows) > 0 {
			i := rows[r.IntN(len(rows))]
			lines[i] = halves.ReplaceAllStringFunc(lines[i], func(s string) string {
				found := regexp.MustCompile(`"[0-9]+"`).FindAllStringIndex(s, -1)
				for n, v := range []uint64{1, ^uint64(0)} {
					at := found[(len(found)-1)*n]
					units, _ := strconv.ParseUint(s[at[0]+1:at[1]-1], 10, 64)
					s = s[:at[0]+1] + strconv.FormatUint(units+v, 10) + s[at[1]-1:]
					found = regexp.MustCompile(`"[0-9]+"`).FindAllStringIndex(s, -1)
				}
				return s
			})
		}
	case "threshold":
		edit("thresholds", one(digits, func(string) string { return strconv.Itoa(r.IntN(9)) }))
	case "coordinate":
		edit([]string{"input_points", "output_points"}[r.IntN(2)], one(digits, near))
	case "epsilon raised":
		edit("epsilon", func(string) string {
			return []string{`"12"`, `"12.5"`, `"64"`, `"37/3"`, `"63.99999999999999999999999999999999999999"`}[r.IntN(5)]
		})
	case "object":
		edit([]string{"cost", "certificate"}[r.IntN(2)], func(string) string {
			return []string{"null", "{}", `{"a":[{},[],"",1e5,-0.5,true,null]}`, `{"":"\ud800","a":"\n\u007f"}`,
				"{\"a\":\"\x7f\"}", `{"a":1,"a":2}`, `{"n":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}"}[r.IntN(7)]
		})
	case "provenance":
		edit("provenance", func(string) string {
			return `{"geometry":"` + []string{"public", "derived-dp", "unstated"}[r.IntN(3)] + `","geometry_epsilon":` +
				[]string{"null", `"1"`, `"0.5"`, `"1/3"`, `"0.50"`}[r.IntN(5)] +
				`,"base_measure":"unstated","base_measure_epsilon":null,"note":"` + word("") + `"}`
		})
	case "outwards": // lo down or hi up, past e^eps or not
		edit([]string{"lo", "hi"}[r.IntN(2)], one(digits, near))
	case "alias":
		edit("input_aliases", one(regexp.MustCompile(`[0-9]+|[A-Za-z ]+`), func(s string) string {
			return []string{"0", "1", "2", s + s, "a"}[r.IntN(5)]
		}))
	}
	return strings.Join(lines, ""), how
}

// report counts mutants by kind and verdict, and fails if one kind has no mutants of both verdicts.
func report(t *testing.T, all []mutant) {
	t.Helper()
	kinds, ways := map[string][2]int{}, map[string][2]int{}
	for _, m := range all {
		yes := 0
		if m.err == nil {
			yes = 1
		}
		k, w := kinds[m.kind], ways[m.how]
		k[yes]++
		w[yes]++
		kinds[m.kind], ways[m.how] = k, w
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		n := kinds[kind]
		t.Logf("%-50s %5d accepted, %5d refused", kind, n[1], n[0])
		if kind != ofTestdata && numtest.Full() && (n[0] < 20 || n[1] < 20) {
			t.Errorf("%s: %d accepted, %d refused: the test has gone blind", kind, n[1], n[0])
		}
	}
	for _, how := range slices.Sorted(maps.Keys(ways)) {
		t.Logf("%-50s %5d accepted, %5d refused", how, ways[how][1], ways[how][0])
	}
	if len(kinds) < numtest.Cases(8, 18) || len(ways) < numtest.Cases(25, 35) {
		t.Errorf("%d kinds, %d ways", len(kinds), len(ways))
	}
}

// askClient asks a client of docs/spec/conform.md, kind policy, for its verdict on each mutant.
func askClient(t *testing.T, all []mutant, dir, program string, args ...string) (accepted []bool) {
	t.Helper()
	var in bytes.Buffer
	for n, m := range all {
		fmt.Fprintf(&in, "{\"id\":%d,\"kind\":\"policy\",\"policy_hex\":\"%x\"}\n", n, m.text)
	}
	cmd := exec.Command(numtest.Program(t, program), args...)
	cmd.Dir, cmd.Stdin = dir, &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(all)+1 {
		t.Fatalf("%d answers to %d lines", len(lines)-1, len(all))
	}
	for n, line := range lines[1:] {
		var a struct {
			ID            int
			SHA256, Error string
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.ID != n || (a.SHA256 == "") == (a.Error == "") {
			t.Fatalf("%s: %v", line, err)
		}
		if a.SHA256 != "" {
			if p, err := Decode([]byte(all[n].text)); err == nil && a.SHA256 != hex.EncodeToString(p.c.id[:]) {
				t.Errorf("%s: ID %s", program, a.SHA256)
			}
		}
		accepted = append(accepted, a.Error == "")
	}
	return accepted
}

// written writes the mutants as files.
func written(t *testing.T, all []mutant) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for n, m := range all {
		name := filepath.Join(dir, strconv.Itoa(n))
		if err := os.WriteFile(name, []byte(m.text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// TestMutants: on policies of all kinds, changed in many ways, Go, docs/verify.py and the clients in JavaScript and
// Python have one verdict, and one ID.
func TestMutants(t *testing.T) {
	numtest.Program(t, "python3") // before anything is generated
	all := append(mutants(t), mutants3(t)...)
	report(t, all)
	verdicts := map[string][]bool{
		"js":        askClient(t, all, "../js", "node", "conform/client.js"),
		"client.py": askClient(t, all, "../vectors", "python3", "client.py"),
	}
	for chunk := range slices.Chunk(written(t, all), 1000) {
		accepted, _ := python(t, chunk...)
		verdicts["verify.py"] = append(verdicts["verify.py"], accepted...)
	}
	yes, differ := 0, 0
	for n, m := range all {
		if m.err == nil {
			yes++
		}
		for who, v := range verdicts {
			if v[n] != (m.err == nil) {
				differ++
				t.Errorf("%s, %s: %s accepts: %v; Go: %v\n%.2000q", m.kind, m.how, who, v[n], m.err, m.text)
			}
		}
	}
	t.Logf("%d mutants, %d accepted by all, %d verdicts differ", len(all), yes, differ)
}

// formOnly is the reason of a refusal that is about form alone: a text, its sizes, what is said about a policy. It is ""
// for a refusal that is about the box, epsilon, or the sum of a row.
func formOnly(err error) string {
	var f *FormatError
	switch {
	case errors.As(err, &f):
		return "another text than the one of its content"
	case errors.Is(err, ldp.ErrEpsilon) && strings.HasSuffix(err.Error(), "is neither a decimal nor a fraction"):
		return "another spelling of epsilon"
	case errors.Is(err, ldp.ErrBox), errors.Is(err, ldp.ErrBits), errors.Is(err, ldp.ErrEpsilon):
		return ""
	}
	for _, e := range []struct {
		err error
		say string
	}{
		{ErrProvenance, "provenance"}, {ErrMode, "mode, work limit or kind of geometry"}, {ErrText, "a label or text"},
		{ErrLimit, "a text or number above its limit"}, {ErrObject, "cost or certificate"},
		{ErrShape, "sizes of labels, points or a grid"}, {ledger.ErrSchedule, "a schedule"},
	} {
		if errors.Is(err, e.err) {
			return e.say
		}
	}
	if errors.Is(err, ErrRow) && !strings.Contains(err.Error(), "sum to") {
		return "another form of a row"
	}
	return ""
}

// TestExtractedMutants: the verifier that is extracted from the proofs accepts what Go accepts, and of what Go refuses
// only what is another form of a sound policy.
func TestExtractedMutants(t *testing.T) {
	if os.Getenv("WPM_CLIENTS") != "1" {
		t.Skip("WPM_CLIENTS=1 compares Go with the verifier extracted from the proofs")
	}
	const program = "../proofs/build/wpm-proofs"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("no %s: proofs/run builds it", program)
	}
	all := append(mutants(t), mutants3(t)...)
	var accepted []bool
	for chunk := range slices.Chunk(written(t, all), 1000) {
		out, err := exec.Command(program, chunk...).Output()
		if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			accepted = append(accepted, strings.HasPrefix(line, "accepted "))
		}
	}
	if len(accepted) != len(all) {
		t.Fatalf("%d verdicts on %d mutants", len(accepted), len(all))
	}
	both, neither, reasons := 0, 0, map[string]int{}
	for n, m := range all {
		switch {
		case m.err == nil && accepted[n]:
			both++
		case m.err == nil:
			t.Errorf("%s, %s: Go accepts, and the extracted verifier does not\n%.2000q", m.kind, m.how, m.text)
		case !accepted[n]:
			neither++
		default:
			why := formOnly(m.err)
			reasons[cmp.Or(why, "privacy")]++
			if why == "" {
				t.Errorf("%s, %s: the extracted verifier accepts, and Go does not: %v\n%.2000q", m.kind, m.how, m.err, m.text)
			}
		}
	}
	t.Logf("%d mutants: %d accepted by both, %d refused by both", len(all), both, neither)
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		t.Logf("%5d accepted by the extracted verifier alone: %s", reasons[why], why)
	}
	if both == 0 || neither == 0 || len(reasons) == 0 {
		t.Error("the test has gone blind")
	}
}
