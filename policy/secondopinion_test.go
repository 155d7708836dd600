package policy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"pgregory.net/rapid"
)

// python runs docs/verify.py on files and returns its verdicts in their order, and its exit status.
func python(t *testing.T, files ...string) (accepted []bool, status int) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("SECOND VERIFIER NOT RUN: no python3 on this machine (%v)", err)
	}
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
		"lower bound", "upper bound", "bounds exchanged", "epsilon lowered", "epsilon spelled", "bits", "row", "fallback", "no fallback", "inputs or outputs",
		"member twice", "member lost", "members exchanged", "member added", "white space", "number unquoted", "leading zero", "cut off", "text after", "mode",
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
		lines[at("epsilon")] = []string{"\"epsilon\":\"0.01\",\n", "\"epsilon\":\"0.3\",\n", "\"epsilon\":\"64\",\n", "\"epsilon\":\"65\",\n", "\"epsilon\":\"0\",\n"}[r.IntN(5)]
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
		number(at([]string{"lo", "hi", "bits", "fallback"}[r.IntN(4)]), func(n uint64) string { return "0" + strconv.FormatUint(n, 10) })
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
		number(1+r.IntN(17), func(n uint64) string { return strconv.FormatUint(n, 10) + []string{".0", "e0", "e1"}[r.IntN(3)] })
	}
	return strings.Join(lines, ""), how
}

// Two verifiers agree: Decode and Verify here, and docs/verify.py, which was written from the documentation in another language, on
// the policies of testdata, on generated ones, and on tampered ones. What this package refuses for the sake of privacy, for the box, a row,
// epsilon, or the form, the other one must refuse, too; and it accepts all that is accepted here. Only clean texts, sizes and
// the statement of origin are left to this package, and no generated case comes to that.
func TestSecondOpinion(t *testing.T) {
	generated, changes := 200, 5
	if testing.Short() {
		generated, changes = 20, 4
	}
	type file struct {
		text, how string
		err       error
	}
	var files []file
	add := func(text, how string) {
		files = append(files, file{text, how, decodes([]byte(text))})
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
			continue // the golden draws
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
	// Quotients within 2^-130 to 2^-254 of e^eps, for which both have to refine their bounds: the first of each pair lies above.
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
	tampered(t, func(text, how string, _ bool) { add(text, how) })
	dir := t.TempDir()
	var names []string
	for n, f := range files {
		name := filepath.Join(dir, strconv.Itoa(n))
		if err := os.WriteFile(name, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	verdict, status := python(t, names...)
	if status != 1 {
		t.Errorf("exit status %d for files of which some are refused", status)
	}
	both, neither, utility := 0, 0, 0
	kinds := map[string]int{}
	for n, f := range files {
		private := false
		for _, e := range []error{ErrFormat, ErrRow, ErrShape, ErrMode, ldp.ErrBox, ldp.ErrEpsilon, ldp.ErrBits} {
			private = private || errors.Is(f.err, e)
		}
		switch {
		case f.err == nil && verdict[n]:
			both++
		case f.err != nil && !verdict[n]:
			neither++
			kinds[f.how]++
		case f.err != nil && !private:
			utility++
			t.Logf("%s: refused here alone: %v", f.how, f.err)
		default:
			t.Errorf("%s: here %v, in Python accepted: %v\n%s", f.how, f.err, verdict[n], f.text)
		}
	}
	if !testing.Short() && (both < generated || neither < 2*generated || len(kinds) < 25) {
		t.Errorf("%d accepted, %d refused, by %d kinds of change: the test has gone blind", both, neither, len(kinds))
	}
	t.Logf("%d files: %d accepted by both, %d refused by both (%d kinds), %d refused here alone for other reasons than privacy", len(files), both, neither, len(kinds), utility)

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
const maxVerifier = 100

func TestSecondVerifierIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "verify.py"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > maxVerifier {
		t.Errorf("docs/verify.py has %d lines, at most %d", n, maxVerifier)
	}
}
