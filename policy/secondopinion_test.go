package policy

import (
	"bytes"
	"errors"
	"fmt"
	"math"
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
)

// python runs docs/verify.py on files and returns its verdicts in their order, and its exit status.
func python(t *testing.T, files ...string) (accepted []bool, status int) {
	t.Helper()
	interpreter := numtest.Program(t, "python3")
	cmd := exec.Command(interpreter, append([]string{filepath.Join("..", "docs", "verify.py")}, files...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		accepted = append(accepted, strings.Contains(line, " accepted "))
	}
	if len(accepted) != len(files) && cmd.ProcessState.ExitCode() != 2 {
		t.Fatalf("%d verdicts for %d files: %s", len(accepted), len(files), stderr.Bytes())
	}
	return accepted, cmd.ProcessState.ExitCode()
}

// tamper changes a policy's text in one of many ways. The change may leave a policy: a wider fallback, another label.
func tamper(r *rand.Rand, text string) (changed, how string) {
	lines := strings.SplitAfter(text, "\n")
	at := func(name string) int {
		for i, l := range lines {
			if strings.HasPrefix(l, `"`+name+`":`) {
				return i
			}
		}
		return 0
	}
	// number replaces one number of a line, in a string or not.
	number := func(i int, f func(n uint64) string) {
		var ends [][2]int
		l := lines[i]
		for from := 0; from < len(l); from++ {
			to := from
			for to < len(l) && '0' <= l[to] && l[to] <= '9' {
				to++
			}
			if to > from {
				ends = append(ends, [2]int{from, to})
				from = to
			}
		}
		if len(ends) > 0 {
			e := ends[r.IntN(len(ends))]
			n, _ := strconv.ParseUint(l[e[0]:e[1]], 10, 64)
			lines[i] = l[:e[0]] + f(n) + l[e[1]:]
		}
	}
	step := func(n uint64) string {
		return strconv.FormatUint(n+[]uint64{1, ^uint64(0), 2, n, 1 << 62}[r.IntN(5)], 10)
	}
	replace := func(i int, old, new string) { lines[i] = strings.Replace(lines[i], old, new, 1) }
	row := at("rows") + 1 + r.IntN(max(1, len(lines)-at("rows")-3)) // a row, if there are any
	switch how = []string{
		"lower bound", "upper bound", "bounds exchanged", "epsilon lowered", "epsilon spelled", "bits", "row", "fallback",
		"no fallback", "inputs or outputs",
		"member twice", "member lost", "members exchanged", "member added", "white space", "number unquoted", "leading zero",
		"cut off", "text after", "mode",
		"column lost", "row twice", "escape", "NaN", "not UTF-8", "format", "float",
	}[r.IntN(27)]; how {
	case "lower bound":
		number(at("lo"), step)
	case "upper bound":
		number(at("hi"), step)
	case "bounds exchanged":
		lo, hi := at("lo"), at("hi")
		lines[lo], lines[hi] = strings.Replace(lines[hi], `"hi"`, `"lo"`, 1), strings.Replace(lines[lo], `"lo"`, `"hi"`, 1)
	case "epsilon lowered":
		lines[at("epsilon")] = []string{"\"epsilon\":\"0.01\",\n", "\"epsilon\":\"0.3\",\n", "\"epsilon\":\"64\",\n",
			"\"epsilon\":\"65\",\n", "\"epsilon\":\"0\",\n"}[r.IntN(5)]
	case "epsilon spelled":
		replace(at("epsilon"), `":"`, []string{`":"0`, `":" `, `":"+`, `":"-`}[r.IntN(4)])
	case "bits":
		number(at("bits"), step)
	case "row":
		number(row, step)
	case "fallback":
		number(at("fallback"), step)
	case "no fallback":
		lines[at("fallback")] = "\"fallback\":{\"full\":[],\"extra\":[]},\n"
	case "inputs or outputs":
		number(at([]string{"inputs", "outputs"}[r.IntN(2)]), step)
	case "member twice":
		i := 1 + r.IntN(17)
		lines[i] += lines[i]
	case "member lost":
		lines[1+r.IntN(17)] = ""
	case "members exchanged":
		i := 1 + r.IntN(15)
		lines[i], lines[i+1] = lines[i+1], lines[i]
	case "member added":
		lines[1+r.IntN(17)] += "\"delta\":\"0\",\n"
	case "white space":
		replace(1+r.IntN(17), []string{":", ",", "["}[r.IntN(3)], []string{": ", ", ", "[ "}[r.IntN(3)])
	case "number unquoted":
		i := at([]string{"lo", "hi", "epsilon"}[r.IntN(3)])
		lines[i] = strings.NewReplacer(`["`, `[`, `","`, `,`, `"]`, `]`).Replace(lines[i])
	case "leading zero":
		number(at([]string{"lo", "hi", "bits", "fallback"}[r.IntN(4)]),
			func(n uint64) string { return "0" + strconv.FormatUint(n, 10) })
	case "cut off":
		return text[:r.IntN(len(text))], how
	case "text after":
		return text + []string{"\n", " ", "{}", "\x00"}[r.IntN(4)], how
	case "mode":
		lines[at("mode")] = []string{"\"mode\":\"projection\",\n", "\"mode\":\"mixture\",\n", "\"mode\":\"\",\n"}[r.IntN(3)]
	case "column lost":
		replace(at([]string{"lo", "hi"}[r.IntN(2)]), `["`, `["1","`)
	case "row twice":
		lines[row] += lines[row]
	case "escape":
		replace(at("provenance"), "p", `\u0070`)
	case "NaN":
		number(1+r.IntN(17), func(uint64) string { return "NaN" })
	case "not UTF-8":
		replace(at("provenance"), `"note":"`, "\"note\":\"\xff")
	case "format":
		replace(at("format"), "-1", []string{"-2", "", "-1 "}[r.IntN(3)])
	case "float":
		number(1+r.IntN(17), func(n uint64) string {
			return strconv.FormatUint(n, 10) +
				[]string{".0", "e0", "e1"}[r.IntN(3)]
		})
	}
	return strings.Join(lines, ""), how
}

// members2 are the members that are read differently in version 2.
var members2 = []string{"format", "lo", "hi", "geometry", "input_points", "output_points", "thresholds", "inputs",
	"outputs"}

// tamper2 changes one of members2.
func tamper2(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	member := `"` + members2[r.IntN(len(members2))] + `":`
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, member) })
	value := strings.TrimRight(lines[at][len(member):], ",\n")
	numerals := regexp.MustCompile("-?[0-9]+").FindAllStringIndex(value, -1)
	var e []int
	if len(numerals) > 0 {
		e = numerals[r.IntN(len(numerals))]
	}
	change := r.IntN(8)
	switch {
	case change < 4 && e != nil:
		n, _ := strconv.ParseInt(value[e[0]:e[1]], 10, 64)
		spellings := []string{
			fmt.Sprint(n + 1), fmt.Sprint(n - 1), fmt.Sprint(-n), fmt.Sprint(-n - 1), "0", "1", "-1", "-0",
			fmt.Sprintf("0%d", n), fmt.Sprintf("%d.0", n), "2147483647",
			"2147483648", "-2147483648", "-2147483649", "1073741824", "4294967296", "1e3", "null", "true", `"1"`,
			strings.Repeat("9", 30), "", fmt.Sprintf("%d,%d", n, n),
		}
		value = value[:e[0]] + spellings[r.IntN(len(spellings))] + value[e[1]:]
	case change == 4:
		n := r.IntN(len(value) + 1)
		value = value[:n] + splices[r.IntN(len(splices)-1)] + value[n:]
	case change == 5:
		n := r.IntN(len(value))
		value = value[:n] + value[n+1:]
	default:
		values := []string{
			"null", "[]", "[0]", "0", `""`, `"7"`, "{}", `{"kind":"ring","axes":0,"rows":0,"cols":0}`,
			`{"kind":"grid","axes":0,"rows":1,"cols":12}`,
			`{"kind":"grid","axes":0,"rows":-1,"cols":-12}`, `{"kind":"grid","axes":2,"rows":3,"cols":4}`,
			`{"kind":"grid","axes":0,"rows":12,"cols":1}`,
			`{"kind":"points","axes":1,"rows":0,"cols":0}`, `{"kind":"points","axes":2,"rows":0,"cols":0}`,
			`{"kind":"ring","axes":0,"rows":1,"cols":0}`,
			`{"axes":0,"kind":"ring","rows":0,"cols":0}`, `{"kind":"ring"}`,
			`{"kind":"ring","axes":0,"rows":0,"cols":0,"cols":0}`, `{"Kind":"ring","axes":0,"rows":0,"cols":0}`,
			`"wpm-policy-1"`, `"wpm-policy-3"`, "[0,0,0]", "[0,0,0,0,0,0,0,0,0,0,0,0]", "[1,2,1]",
		}
		value = values[r.IntN(len(values))]
	}
	end := ",\n"
	if !strings.HasSuffix(lines[at], end) {
		end = "\n"
	}
	lines[at] = member + value + end
	return strings.Join(lines, "")
}

// limits calls f with policies and near-policies on both sides of every limit of the format, and with what readers of
// JSON differ in.
func limits(t testing.TB, f func(text, how string)) {
	t.Helper()
	small := string(mustEncode(t, mustNew(t, smallConfig(t))))
	bare := string(mustEncode(t, mustNew(t, projectionConfig(t, false))))
	put := func(how, base, old, new string) {
		if !strings.Contains(base, old) {
			t.Fatalf("no %s", old)
		}
		f(strings.Replace(base, old, new, 1), how)
	}
	around := func(n int, g func(n int)) {
		for _, d := range []int{-1, 0, 1} {
			g(n + d)
		}
	}
	const cost, certificate = `{"kind":"ring","n":4,"p":1}`, `{"kind":"uniform","f":1.5,"upper":"3/2","lower":"1.4999"}`
	for _, member := range []string{cost, certificate} {
		around(10_000, func(n int) {
			put("nesting", small, member, strings.Repeat(`{"":`, n)+"0"+strings.Repeat("}", n))
			put("nesting", small, member, `{"x":`+strings.Repeat("[", n-1)+strings.Repeat("]", n-1)+"}")
			put("nesting, not closed", small, member, strings.Repeat(`{"":`, n)+"0"+strings.Repeat("}", n-1))
			put("nesting, closed twice", small, member, `{"x":`+strings.Repeat("[", n-1)+strings.Repeat("]", n)+"}")
		})
		for _, n := range []int{500, 5000, 100_000} {
			put("nesting", small, member, `{"x":`+strings.Repeat("[", n)+strings.Repeat("]", n)+"}")
		}
		for _, n := range []int{19, 310, 4299, 4300, 4301, 5000, 100_000} {
			digits := strings.Repeat("9", n)
			for _, number := range []string{digits, "-" + digits, "0." + digits, "1e" + digits, "1E-" + digits} {
				put("long number", small, member, `{"n":`+number+"}")
			}
		}
		for _, value := range []string{
			"0", "-0", "00", "01", "-", "+1", ".5", "5.", "1e", "1e+", "1e5", "1E+05", "0x1", "NaN", "Infinity", "-Infinity",
			"nan", "true", "True", "tru", "nulls",
			"null", `""`, `"`, `"a`, `'a'`, `"\u2028"`, "\"\u2028\"", `"\ud800"`, `"\ud83d\ude00"`, `"\uD83D"`, `"\u12g4"`,
			`"\x"`, `"\/"`, `"\b\f\n\r\t\\\""`, "\"\t\"",
			"\"\x7f\"", "\"\u0085\"", "\"\x00\"", "\"\xff\"", "\"\xed\xa0\x80\"", `"<&>"`, "[]", "[,]", "[1,]", "[,1]", "[1 ,2]",
			"[1,2]", "[1;2]", "[1", "1]", "[1}", "{}", `{"a"}`,
			`{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a":1,"a":2}`, `{"a" :1}`, `{a:1}`, `{"a":{"a":[{"a":[]}]}}`, "\u00a0",
			"\u20281", "//", "/**/1", "[[[]", "\ufeff1",
		} {
			put("value in an object", small, member, `{"x":`+value+"}")
			put("object", small, member, value)
			put("object and text", small, member, "{}"+value)
			put("element", small, member, `{"x":[0,`+value+`,{}],"x":`+value+"}")
		}
	}
	around(maxLabel, func(n int) {
		put("label", small, "home", strings.Repeat("l", n))
		put("label", small, "home", strings.Repeat("é", n/2)+strings.Repeat("l", n%2)) // bytes, not characters
		put("label", small, "home", strings.Repeat(`\"`, n))
		put("label", small, `"a","b"`, `"`+strings.Repeat("🚲", n/4)+strings.Repeat("l", n%4)+`","b"`)
	})
	around(maxNote, func(n int) {
		put("note", small, "tuned on a survey", strings.Repeat("n", n))
		put("note", small, "tuned on a survey", strings.Repeat("é", n/2)+strings.Repeat("n", n%2))
		put("metadata value", small, `"a":""`, `"a":"`+strings.Repeat("v", n)+`"`)
	})
	around(maxKey, func(n int) {
		put("metadata key", small, `"a":""`, `"`+strings.Repeat("a", n)+`":""`)
		put("metadata key", small, `"unit":"the user's whole distribution"`,
			`"`+strings.Repeat("é", n/2)+strings.Repeat("a", n%2)+`":""`)
	})
	put("metadata key", small, `"a":""`, `"":""`)
	put("metadata key", small, `"a":"",`, `"a":"","a":"",`)
	put("metadata key", small, `"a":""`, `"a":1`)
	put("metadata key", small, `"a":"","title":"small","unit":"the user's whole distribution"`, "")
	put("metadata order", small, `"unit"`, `"ab"`)
	put("metadata order", small, `"title":"small","unit"`, `"\ufeff":"","🚲"`) // another order in UTF-16
	put("metadata order", small, `"title":"small","unit"`, `"🚲":"","\ufeff"`)
	around(maxMetadata, func(n int) {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`"%03d":""`, i))
		}
		put("metadata", small, `"a":"","title":"small","unit":"the user's whole distribution"`, strings.Join(entries, ","))
	})
	for r := rune(0); r < 0xb0; r++ {
		put("character", small, "home", string(r))
		put("character", small, `"a":""`, `"a":"`+string(r)+`"`)
	}
	for _, s := range []string{"\u2028", "\u2029", "\ufeff", "\ufffd", "\U0010ffff", "\ufdd0", "\u202e", "é", "e\u0301",
		"<", `\u2028`, `\/`, `\ud800`, "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "", "b", "c"} {
		put("character", small, "home", s)
		put("character", small, `"b"`, `"`+s+`"`)
		put("character", small, "tuned on a survey", s)
	}
	for _, n := range []string{"-1", "0", "1", "3600000", "3600001", "2147483647", "2147483648", "4294967297",
		strings.Repeat("9", 5000)} {
		for _, member := range []string{`"work_limit_ms":10000`, `"inputs":3`, `"outputs":4`, `"bits":8`} {
			name, _, _ := strings.Cut(member, ":")
			put("number", bare, member, name+":"+n)
			put("number", small, `[2,"6"]`, `[`+n+`,"6"]`)
			put("number", small, `[2,"6"]`, `[2,"`+n+`"]`)
			put("number", small, `"160"`, `"`+n+`"`)
		}
	}
	noLabels := strings.Replace(bare, `["home","say \"hi\", x\\y","køb 🚲"]`, "null", 1)
	around(MaxInputs, func(n int) { put("inputs", noLabels, `"inputs":3`, fmt.Sprintf(`"inputs":%d`, n)) })
	for _, bits := range []int{1, 2, 7, 8, 9, 61, 62, 63, 64} {
		put("bits", bare, `"bits":8`, fmt.Sprintf(`"bits":%d`, bits))
	}
	for _, origin := range []string{"public", "data-independent", "derived-dp", "unstated", "Unstated", "", "none"} {
		for _, eps := range []string{
			"null", `"0.25"`, `"0"`, `""`, `"64"`, `"64.1"`, `"65"`, `"1/3"`, `"2/6"`, `"0.10"`, `"1e-3"`,
			`"0.000000000000000001"`, `"0.0000000000000000001"`, "0.25", "[]",
		} {
			put("provenance", small, `"geometry":"public","geometry_epsilon":null`,
				`"geometry":"`+origin+`","geometry_epsilon":`+eps)
			put("provenance", small, `"base_measure":"derived-dp","base_measure_epsilon":"0.25"`,
				`"base_measure":"`+origin+`","base_measure_epsilon":`+eps)
		}
	}
	aliased := string(mustEncode(t, mustNew(t, aliasConfig(t))))
	const all = `[[1,"Cafe"],[1,"` + decomposed + `"],[2,"office"]]`
	for _, list := range []string{
		"", "null", "{}", `""`, "0", "[]", "[[]]", "[{}]", "[null]", `["1a"]`, `[[1]]`, `[["a",1]]`, `[[1,"a",2]]`, `[[1,2]]`,
		`[[null,"a"]]`, `[[1,null]]`,
		`[[true,"a"]]`, `[{"1":"a"}]`, `[{"1":1,"a":1}]`, `[[1.0,"a"]]`, `[["1","a"]]`, `[[1,["a"]]]`, `[[-0,"a"]]`,
		`[[01,"a"]]`, `[[1e0,"a"]]`, `[[1, "a"]]`, `[[1,"a"],]`,
		`[[-1,"a"]]`, `[[0,"a"]]`, `[[2,"a"]]`, `[[3,"a"]]`, `[[2147483648,"a"]]`, `[[4294967296,"a"]]`,
		`[[` + strings.Repeat("9", 5000) + `,"a"]]`,
		`[[1,""]]`, `[[1,"home"]]`, `[[0,"home"]]`, `[[1,"A"]]`, `[[0,"a"],[0,"a"]]`, `[[0,"a"],[1,"a"]]`,
		`[[0,"b"],[0,"a"]]`, `[[1,"a"],[0,"b"]]`, `[[0,"a"],[0,"ab"],[1,"aa"]]`,
		`[[0,"\u0061"]]`, `[[0,"\"\\"]]`, `[[0,"\/"]]`, "[[0,\"\x7f\"]]", "[[0,\"\u0085\"]]", "[[0,\"\xff\"]]",
		"[[0,\"\u2028\"]]",
		"[[0,\"\ufeff\"],[0,\"🚲\"]]", "[[0,\"🚲\"],[0,\"\ufeff\"]]", // another order in UTF-16
	} {
		put("aliases", aliased, all, list)
	}
	around(maxLabel, func(n int) {
		put("aliases", aliased, "office", strings.Repeat("o", n))
		put("aliases", aliased, "office", strings.Repeat("é", n/2)+strings.Repeat("o", n%2))
		put("aliases", aliased, "office", strings.Repeat(`\"`, n))
	})
	put("aliases without labels", noLabels, `"lo":`, `"input_aliases":[[0,"a"]],`+"\n"+`"lo":`)
	put("no aliases and no labels", noLabels, `"lo":`, `"input_aliases":[],`+"\n"+`"lo":`)
	line := `"input_aliases":` + all + ",\n"
	put("aliases twice", aliased, line, line+line)
	for _, member := range []string{`"input_labels":`, `"output_labels":`, `"hi":`, `"rows":`} {
		f(strings.Replace(strings.Replace(aliased, line, "", 1), member, line+member, 1), "place of the aliases")
	}
	if numtest.Full() {
		b := []byte("[") // one more than the most there may be; at the most, the second verifier takes ten seconds
		for i := range MaxInputs + 1 {
			b = fmt.Appendf(b, "[0,\"%07d\"],", i)
		}
		put("number of aliases", aliased, all, string(append(b[:len(b)-1], ']')))
	}
	put("provenance", small, `,"note":"tuned on a survey"`, "")
	put("provenance", small, `"note":"tuned on a survey"`, `"note":null`)
	put("provenance", small, `"note":"tuned on a survey"`, `"note":"","note":""`)
}

// Two verifiers give one verdict: Decode and Verify here, and docs/verify.py, which was written from the documentation
// in another language, on the policies of testdata, on generated ones, on tampered ones, at every limit, and on texts
// of which most are no policies.
// tamper3 changes a policy with codes in one or two places: a digit, a character, a line, or one of two spellings.
func tamper3(r *rand.Rand, text string) string {
	for range 1 + r.IntN(2) {
		lines := strings.Split(text, "\n")
		n := r.IntN(len(lines))
		if r.IntN(4) > 0 { // the codes are the last lines
			n = len(lines) - 3 - r.IntN(4)
		}
		line := []byte(lines[n])
		switch at := r.IntN(len(line) + 1); {
		case at == len(line) || r.IntN(20) == 0:
			m := r.IntN(len(lines))
			lines[n], lines[m] = lines[m], lines[n]
		case line[at] >= '0' && line[at] <= '9':
			line[at] = byte('0' + r.IntN(10))
			lines[n] = string(line)
		case r.IntN(3) == 0:
			lines[n] = string(slices.Delete(line, at, at+1))
		default:
			line[at] = "AZaz09+/=,\"[]{} -"[r.IntN(17)]
			lines[n] = string(line)
		}
		text = strings.Join(lines, "\n")
	}
	return text
}

func TestSecondOpinion(t *testing.T) {
	numtest.Program(t, "python3") // before anything is generated
	generated, changes := 120, 4
	if !numtest.Full() {
		generated, changes = 20, 4
	}
	type file struct {
		text, how string
		err       error
	}
	var files []file
	add := func(text, how string) { files = append(files, file{text, how, decodes([]byte(text))}) }
	seen := 0
	some := func(text, how string) { // of many, one in ten does for a first look
		if seen++; numtest.Full() || seen%10 == 0 {
			add(text, how)
		}
	}
	known, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var good []string
	for _, name := range known {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("{\n\"format\"")) {
			continue // the verdicts
		}
		good = append(good, string(data))
	}
	if len(good) < 3 {
		t.Fatalf("%d policies in testdata", len(good))
	}
	generator := rapid.Custom(drawConfig)
	for n := range generated {
		good = append(good, string(mustEncode(t, mustNew(t, generator.Example(n)))))
	}
	for _, text := range good {
		add(text, "as it is")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for _, text := range good {
		for range changes {
			if changed, how := tamper(r, text); changed != text {
				add(changed, how)
			}
		}
	}
	for name, cfg := range geometryConfigs(t) {
		for range changes * 30 {
			add(tamper2(r, string(mustEncode(t, mustNew(t, cfg)))), "version 2, "+name)
		}
	}
	coded := string(mustEncode(t, mustNew(t, codesConfig(t))))
	add(coded, "codes, as they are")
	for range changes * 100 {
		add(tamper3(r, coded), "codes")
	}
	for _, out := range [][]int32{
		{-1518500250, 1518500249}, {-1518500250, 1518500250}, {math.MinInt32, math.MaxInt32},
		{math.MaxInt32, math.MaxInt32 - 1}, {math.MinInt32, math.MinInt32},
	} {
		text := string(mustEncode(t, mustNew(t, geometryConfigs(t)["far2.json"])))
		add(strings.Replace(text, "[-1518500250,0,1518500249,2,1518500249,1,0,0]",
			fmt.Sprintf("[%d,0,%d,0,%[1]d,0,%[1]d,0]", out[0], out[1]), 1), "version 2, keys next to 2^63")
	}
	// Quotients within 2^-130 to 2^-254 of e^eps, for which both have to refine their bounds: the first of each pair lies
	// above.
	for _, eps := range []string{
		"18695831399896629401/46109593713571066869", "65774962311046698888/162221017285413774271",
		"8947639430618428499622453462707681827/22067594107830114006276874171519759124",
		"24942243647088880284597506564851849267/61515141866251862496500126770406093641",
	} {
		const box = "{\n\"format\":\"wpm-policy-1\",\n\"epsilon\":\"%s\",\n\"bits\":2,\n\"mode\":\"projection\",\n\"work_limit_ms\":1,\n\"inputs\":1,\n\"outputs\":2,\n" +
			"\"provenance\":{\"geometry\":\"public\",\"geometry_epsilon\":null,\"base_measure\":\"data-independent\",\"base_measure_epsilon\":null,\"note\":\"\"},\n" +
			"\"metadata\":{},\n\"certificate\":null,\n\"cost\":null,\n\"input_labels\":null,\n\"output_labels\":null,\n" +
			"\"lo\":[\"2\",\"1\"],\n\"hi\":[\"3\",\"1\"],\n\"fallback\":{\"full\":[0],\"extra\":[]},\n\"rows\":null\n}\n"
		add(fmt.Sprintf(box, eps), "3/2 beside e^eps")
	}
	tampered(t, func(text, how string, _ bool) { some(text, how) })
	limits(t, some)
	n, each := 0, 60
	if !numtest.Full() {
		each = 200
	}
	eachVerdict(t, func(v verdict) {
		if n++; v.kind == "nested" && n%6 == 0 && numtest.Full() || n%each == 0 {
			add(v.text, v.kind)
		}
	})
	dir := t.TempDir()
	var names []string
	for n, f := range files {
		name := filepath.Join(dir, strconv.Itoa(n))
		if err := os.WriteFile(name, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var verdict []bool
	for chunk := range slices.Chunk(names, 1000) { // a command line has its limit, too
		accepted, status := python(t, chunk...)
		if want := map[bool]int{true: 1, false: 0}[slices.Contains(accepted, false)]; status != want {
			t.Errorf("exit status %d, want %d", status, want)
		}
		verdict = append(verdict, accepted...)
	}
	both, neither := 0, 0
	kinds := map[string]int{}
	for n, f := range files {
		switch {
		case f.err == nil && verdict[n]:
			both++
		case f.err != nil && !verdict[n]:
			neither++
			kinds[f.how]++
		default:
			t.Errorf("%s: here %v, in Python accepted: %v\n%.2000s", f.how, f.err, verdict[n], f.text)
		}
	}
	if numtest.Full() && (both < 2*generated || neither < 4*generated || len(kinds) < 40) {
		t.Errorf("%d accepted, %d refused, by %d kinds of change: the test has gone blind", both, neither, len(kinds))
	}
	t.Logf("%d files: %d accepted by both, %d refused by both (%d kinds)", len(files), both, neither, len(kinds))

	// The exit status alone tells a script what to do.
	if _, status := python(t, names[:3]...); status != 0 {
		t.Errorf("exit status %d for good policies", status)
	}
	if _, status := python(t); status != 2 {
		t.Errorf("exit status %d without files", status)
	}
	if _, status := python(t, filepath.Join(dir, "none")); status != 2 {
		t.Errorf("exit status %d for a file that is not there", status)
	}
}

// maxVerifier is what an auditor is asked to read, in lines.
const maxVerifier = 170

func TestSecondVerifierIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "verify.py"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > maxVerifier {
		t.Errorf("docs/verify.py has %d lines, at most %d", n, maxVerifier)
	}
}
