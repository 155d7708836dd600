package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
)

// reportsOf writes n reports of a policy's outputs in turn, from the first on.
func reportsOf(t *testing.T, path string, n, first int) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	id, text := p.ID(), ""
	for i := range n {
		text += fmt.Sprintf("77706d31%x%02x000000\n", id, (first+i)%p.Outputs())
	}
	return text
}

// readPartFile reads a part.
func readPartFile(t *testing.T, path string) aggregate.Counts {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := aggregate.DecodeCounts(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCountAndMerge counts shards of every form at once, apart, and on one core or several: the part is the same, and
// aggregate reads it as it reads the reports.
func TestCountAndMerge(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "p")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", p)
	must(t, "", "design", "-ring", "4", "-eps", "2", "-o", filepath.Join(dir, "q"))
	foreign := reportsOf(t, filepath.Join(dir, "q"), 2, 0)
	a := write(t, dir, "a.txt", reportsOf(t, p, 150, 0)+"\n \nnothing\n"+foreign)
	// three members
	b := write(t, dir, "b.gz", zipped(t, reportsOf(t, p, 120, 1))+zipped(t, "")+zipped(t, reportsOf(t, p, 7, 2)))
	empty := write(t, dir, "empty", "")
	all, one, two, sum := filepath.Join(dir, "all"), filepath.Join(dir, "1"), filepath.Join(dir, "2"),
		filepath.Join(dir, "sum")
	const name = "2026-11"
	count := func(out string, shards ...string) {
		t.Helper()
		args := append([]string{"count", "-policy", p, "-epoch", name, "-o", out}, shards...)
		if status, text, errs := try(t, "", args...); status != device.Some && status != device.Yes ||
			!strings.Contains(text, "Completeness not checked") {
			t.Fatalf("count: %d, %s, %s", status, text, errs)
		}
	}
	count(all, a, b, empty)
	count(one, b)
	count(two, empty, a)
	if status, text, _ := try(t, "", "merge", two, one, "-o", sum); status != device.Some ||
		!strings.Contains(text, "277 reports") ||
		!strings.Contains(text, "3 of 280 lines refused: 1 malformed, 2 other-policy") ||
		!strings.Contains(text, "Completeness not checked") {
		t.Errorf("merge: %d, %s", status, text)
	}
	want, got := readPartFile(t, all), readPartFile(t, sum)
	wantText, _ := want.Encode()
	if text, _ := got.Encode(); !bytes.Equal(text, wantText) {
		t.Errorf("the sum of the parts is\n%s, of the whole\n%s", text, wantText)
	}
	if want.Total() != 277 || want.Refused[aggregate.OtherPolicy] != 2 || want.Refused[aggregate.Malformed] != 1 ||
		len(want.Shards) != 3 {
		t.Errorf("%+v", want)
	}
	before := runtime.GOMAXPROCS(1)
	status, text, _ := try(t, "", "count", "-policy", p, "-epoch", name, empty, b, a) // to standard output
	runtime.GOMAXPROCS(before)
	if status != device.Some || text != string(wantText) {
		t.Errorf("on one core: %d\n%s", status, text)
	}
	_, whole, _ := try(t, "", "aggregate", "-json", p, a, b, empty)
	_, parts, _ := try(t, "", "aggregate", "-json", "-counts", sum, p)
	if parts = strings.Replace(parts, `"epoch": "2026-11",`, "", 1); strings.Join(strings.Fields(whole),
		"") != strings.Join(strings.Fields(parts), "") {
		t.Errorf("aggregate prints\n%s of reports, of their counts\n%s", whole, parts)
	}
	if text := must(t, reportsOf(t, p, 3, 0), "count", "-policy", p, "-epoch", name, "-shard", "eu/1", "-o", one,
		"-"); !strings.Contains(text, "3 reports") ||
		readPartFile(t, one).Shards[0].ID != "eu/1" {
		t.Error(text)
	}
	// What can be seen of a shard that lost its end.
	cut := write(t, dir, "cut", strings.TrimSuffix(reportsOf(t, p, 3, 0), "\n"))
	if text := must(t, "", "count", "-policy", p, "-epoch", name, "-o", one, cut); !strings.Contains(text, "3 reports") ||
		!strings.Contains(text, `cut" ends within a line or a record`) {
		t.Error(text)
	}
	none := write(t, dir, "none.gz", "")
	if text := must(t, "", "count", "-policy", p, "-epoch", name, "-o", one, none, empty); !strings.Contains(text,
		`none.gz" is empty`) ||
		strings.Contains(text, `empty" is`) {
		t.Error(text)
	}
}

// TestCountJSON: -json has the numbers of the part, and writes a part only where -out says so. A manifest that agrees makes
// it complete.
func TestCountJSON(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operation.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", "p")
	text := reportsOf(t, "p", 6, 0) + "nothing\n"
	write(t, ".", "a", text)
	write(t, ".", "manifest", fmt.Sprintf("a,7,%x\n", sha256.Sum256([]byte(text))))
	type shard struct {
		ID, SHA256   string
		Bytes, Lines uint64
	}
	type metrics struct {
		Policy, Epoch  string
		Lines, Reports uint64
		Refused        map[string]uint64
		Outputs        []uint64
		Shards         []shard
		Complete       bool
	}
	write(t, ".", "good", reportsOf(t, "p", 6, 0))
	must(t, "", "count", "-policy", "p", "-epoch", "2026-11", "-o", "whole", "good")
	part := readPartFile(t, "whole")
	args := []string{"count", "-json", "-policy", "p", "-epoch", "2026-11"}
	for _, more := range [][]string{{"a"}, {"-o", "part", "a"}, {"-o", "-", "a"}, {"-manifest", "manifest", "a"}} {
		status, out, errs := try(t, "", append(args, more...)...)
		if status != device.Some {
			t.Fatalf("%v: %d, %s", more, status, errs)
		}
		if _, err := os.Stat("part"); (err == nil) != slices.Contains(more, "part") {
			t.Errorf("%v: part: %v", more, err)
		}
		if more[1%len(more)] == "-" {
			c, err := aggregate.DecodeCounts([]byte(out))
			if err != nil || c.Total() != 6 {
				t.Errorf("the part has %d reports: %v", c.Total(), err)
			}
			out, _, _ = strings.Cut(errs, "\nwpm: ")
		}
		var got metrics
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v: %v\n%s", more, err, out)
		}
		_ = os.Remove("part")
		want := metrics{
			Policy: fmt.Sprintf("%x", part.Policy), Epoch: "2026-11", Lines: 7, Reports: 6, Outputs: part.Reports,
			Refused:  map[string]uint64{"malformed": 1, "other-policy": 0, "no-such-output": 0, "never-released": 0},
			Shards:   []shard{{"a", fmt.Sprintf("%x", sha256.Sum256([]byte(text))), uint64(len(text)), 7}},
			Complete: more[0] == "-manifest",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, want %+v", more, got, want)
		}
	}
	// The members of the page are those that are printed.
	_, table, _ := strings.Cut(string(page), "\n| member | what it says |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	said := map[string]bool{"policy": true, "epoch": true} // as given
	for _, m := range regexp.MustCompile("`([a-z0-9]+)`").FindAllStringSubmatch(table, -1) {
		said[m[1]] = true
	}
	var tree map[string]any
	write(t, ".", "cut", strings.TrimSuffix(reportsOf(t, "p", 3, 1), "\n"))
	_, out, _ := try(t, "", append(args, "cut")...)
	if err := json.Unmarshal([]byte(out), &tree); err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for name, v := range tree {
		printed[name] = true
		if shards, ok := v.([]any); ok && name == "shards" {
			for name := range shards[0].(map[string]any) {
				printed[name] = true
			}
		}
	}
	if !maps.Equal(said, printed) {
		t.Errorf("docs/operation.md has the members %v, printed are %v", said, printed)
	}
	// merge has the flag, too.
	var got metrics
	if err := json.Unmarshal([]byte(must(t, "", "merge", "-json", "whole")), &got); err != nil || got.Reports != 6 ||
		got.Shards[0].ID != "good" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestManifest: a manifest makes absent, extra, short and changed shards an error of count and of merge, and says
// "complete" else.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", "p")
	texts := map[string]string{"a": reportsOf(t, "p", 5, 0), "b": reportsOf(t, "p", 6, 1), "c": reportsOf(t, "p", 5, 1)}
	row := func(id, text string) string {
		return fmt.Sprintf("%s,%d,%x\n", id, strings.Count(text, "\n"), sha256.Sum256([]byte(text)))
	}
	for id, text := range texts {
		write(t, dir, id, text)
		must(t, "", "count", "-policy", "p", "-epoch", "e", "-o", "part."+id, id)
	}
	good := row("b", texts["b"]) + row("a", texts["a"])
	for _, c := range []struct{ manifest, shards, want string }{
		{good, "a b", ""},
		{"shard,lines,sha256\r\n" + strings.ReplaceAll(good, "\n", "\r\n"), "b a", ""},
		{"\xef\xbb\xbfshard,lines,sha256\n" + strings.ToUpper(good[:2]) + good[2:], "b a",
			`absent: "B"; not in the manifest: "b"`},
		{good, "a", `absent: "b"`},
		{good, "a b c", `not in the manifest: "c"`},
		{row("a", texts["a"]) + row("b", texts["b"]+texts["a"]), "a b", `another number of lines: "b" with 6 of 11`},
		{row("a", texts["c"]) + row("b", texts["b"]), "a b", `other contents: "a"`},
		{good + good, "a b", "is there twice"},
		{"shard,lines,sha256\n", "a b", "no shards"},
		{"", "a b", "no shards"},
		{"a,5\n", "a b", "number of fields"},
		{"a,-5," + strings.Repeat("0", 64) + "\n", "a b", "lines"},
		{"a,5,00\n", "a b", "SHA-256"},
		{"a,5," + strings.Repeat("g", 64) + "\n", "a b", "SHA-256"},
		{"a,9007199254740993," + strings.Repeat("0", 64) + "\n", "a b", "2^53"},
		{"\"a\n", "a b", "quote"},
	} {
		write(t, dir, "m.csv", c.manifest)
		_ = os.Remove("out")
		parts := "part." + strings.ReplaceAll(c.shards, " ", " part.")
		for _, args := range []string{"count -policy p -epoch e " + c.shards, "merge " + parts} {
			status, out, errs := try(t, "", strings.Fields(args+" -manifest m.csv -o out")...)
			_, err := os.Stat("out")
			switch {
			case c.want == "" && (status != device.Yes || !strings.Contains(out, "Complete:") || err != nil):
				t.Errorf("%s with %q: %d, %s%s", args, c.manifest, status, out, errs)
			case c.want != "" && (status != device.Bad || !strings.Contains(errs, c.want) || err == nil):
				t.Errorf("%s with %q: %d, %s, want %q", args, c.manifest, status, errs, c.want)
			}
		}
	}
}

// TestManifestOfThePage: what docs/fleet.md tells people to run counts the lines as count does.
func TestManifestOfThePage(t *testing.T) {
	script := numtest.Blocks(t, filepath.Join("..", "..", "docs", "fleet.md"))["manifest"]
	for _, program := range []string{"sh", "awk", "gzip", "sha256sum", "cut"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	t.Chdir(t.TempDir())
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", "p")
	must(t, "", "simulate", "-devices", "50", "-o", "s.txt", "p")
	simulated, err := os.ReadFile("s.txt")
	if err != nil {
		t.Fatal(err)
	}
	odd := "\nx\r\n \t\r\n\x00\n\xff\xfe\n\v\n\u00a0\n" + strings.Repeat(" ", 4096) + "\n" + strings.Repeat(" ", 4097) +
		"\n\r"
	for name, text := range map[string]string{
		"s.gz": zipped(t, string(simulated)+odd), "bom.txt": "\ufeff" + string(simulated),
		"none.txt": string(simulated[:strings.Index(string(simulated), "\n")]),
		"a b.txt":  string(simulated) + odd + string(simulated) + "no end",
	} {
		write(t, ".", name, text)
	}
	shards := []string{"a b.txt", "bom.txt", "none.txt", "s.txt", "s.gz"}
	for _, want := range []uint64{5*50 + 2*6 + 2, 4*50 + 6 + 2} { // with packed shards, and without one
		if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		args := []string{"count", "-policy", "p", "-epoch", "simulation", "-manifest", "shards.csv", "-o", "part"}
		status, text, errs := try(t, "", append(args, shards...)...)
		if status != device.Some || !strings.Contains(text, "Complete: ") {
			t.Errorf("%d, %s%s", status, text, errs)
		}
		if lines := readPartFile(t, "part").Lines; lines != want {
			t.Errorf("%d lines, want %d", lines, want)
		}
		_ = os.Remove("s.gz")
		shards = shards[:4]
	}
}

// TestCountErrors: what would give a wrong count gives none.
func TestCountErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", "p")
	must(t, "", "design", "-ring", "4", "-eps", "2", "-o", "q")
	must(t, "", "sphere", "-d", "2", "-eps", "4", "-points", "100", "-out", "fresh")
	few, many := reportsOf(t, "p", 100, 0), reportsOf(t, "p", 101, 0)
	packed := zipped(t, many)
	for name, text := range map[string]string{
		"few": few, "few2": few, "many": many, "many2": many, "bad": few + "x\n", "cut.gz": packed[:len(packed)-9],
		"sum.gz":    packed[:len(packed)-8] + "\x00\x00\x00\x00" + packed[len(packed)-4:],
		"second.gz": packed + packed[:len(packed)-1],
		"tail.gz":   packed + "tail", "q.txt": reportsOf(t, "q", 101, 0),
		"mark":  "wpm-simulation-1 policy " + strings.Repeat("0", 64) + " seed 1\n" + few,
		"table": "index,count\n0,5\n", "newer": "wpm-counts-2\n", "text.part": "wpm-counts-1\r\n",
	} {
		write(t, dir, name, text)
	}
	if err := os.Symlink("many", "link"); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"few", "few2", "many", "many2"} {
		must(t, "", "count", "-policy", "p", "-epoch", "e", "-o", "part."+name, name)
	}
	must(t, "", "count", "-policy", "p", "-epoch", "f", "-o", "part.f", "few")
	must(t, "", "count", "-policy", "q", "-epoch", "e", "-o", "part.q", "q.txt")
	must(t, "", "count", "-policy", "p", "-epoch", "simulation:1", "-o", "part.mark", "mark")
	damaged, err := os.ReadFile("part.few")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "part.damaged", strings.Replace(string(damaged), "\n25\n", "\n26\n", 1))
	for _, c := range []struct{ args, want string }{
		{"count -policy p -epoch e", "takes shards"},
		{"count -epoch e few", "policy"},
		{"count -policy p few", "epoch"},
		{"count -policy p -epoch a/b few", "a/b"},
		{"count -policy p -epoch e -shard s few many", "2 files"},
		{"count -policy p -epoch e few ./few", "once more"},
		{"count -policy p -epoch e many link", "once more"},
		{"count -policy p -epoch e many many2", `"many" and "many2" have the same 101 lines`},
		{"count -policy p -epoch e absent", "absent"},
		{"count -policy p -epoch e .", "folder"},
		{"count -policy p -epoch e part.few", "partial counts"},
		{"count -policy p -epoch e newer", "partial counts"},
		{"count -policy p -epoch e text.part", "partial counts"},
		{"aggregate -counts newer p", `newer: aggregate: not canonical counts: line 1: "wpm-counts-2"`},
		{"aggregate -counts text.part p", "text.part: aggregate: not canonical counts: line 1"},
		{"count -policy p -epoch e -o nowhere/part absent", "cannot write"}, // before anything is read
		{"count -policy p -epoch e -o . absent", "it is a folder"},
		{"merge -o nowhere/part absent", "cannot write"},
		{"aggregate -partial nowhere/part p absent", "cannot write"},
		{"count -policy p -epoch e -strict few bad", "bad:101: malformed"},
		{"count -policy p -epoch e few cut.gz", "cut.gz"},
		{"count -policy p -epoch e few sum.gz", "sum.gz"},
		{"count -policy p -epoch e few second.gz", "second.gz"},
		{"count -policy p -epoch e few tail.gz", "tail.gz"},
		{"count -policy p -epoch e -o few few", "written over"},
		{"count -policy p -epoch e -o p few", "written over"},
		{"count -policy p -epoch e mark", "simulat"},
		{"count -policy p -epoch simulation mark few", "simulat"},
		{"count -policy fresh -epoch e few", "fresh seeds"},
		{"count -policy - -epoch e -", "both"},
		{"merge", "takes parts"},
		{"merge - -", "only one"},
		{"merge part.few part.few", `counted twice: shard "few"`},
		{"merge part.many part.many2", "the same 101 lines"},
		{"merge part.few part.f", "another epoch"},
		{"merge part.few part.q", "another policy"},
		{"merge part.few part.mark", "another epoch"},
		{"merge part.few few2", "few2: aggregate: not canonical"},
		{"merge part.few table", "table: aggregate: not canonical"},
		{"merge part.damaged", "part.damaged"},
		{"merge part.few absent", "absent"},
		{"merge -o part.few part.few", "written over"},
		{"merge -manifest - -", "standard input"},
		{"aggregate p many many2", "the same 101 lines"},
	} {
		if status, _, errs := try(t, "", strings.Fields(c.args)...); status != device.Bad || !strings.Contains(errs, c.want) {
			t.Errorf("wpm %s: %d, %q, want %q", c.args, status, errs, c.want)
		}
	}
	for _, args := range []string{
		"count -policy p -epoch e few few2",                // a hundred lines may be equal
		"count -policy p -epoch e -allow-equal many many2", // by the user's word
		"merge part.few part.few2", "merge -allow-equal part.many2 part.many",
		"aggregate -allow-equal p many many2",
	} {
		must(t, "", strings.Fields(args)...)
	}
}

// TestUnexplainedReports: reports that are all of one output are mapped, with a warning, and in place of the error with a
// word in the text, in every file, and in those of epochs, from then on; others have none of these. -strict refuses them.
func TestUnexplainedReports(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p")
	must(t, "", "design", "-grid", "4x4", "-eps", "2", "-table", "none", "-menu", "no", "-o", file)
	lines := strings.SplitAfter(reportsOf(t, file, 1600, 0), "\n")
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"one output": {strings.Repeat(lines[0], 1600), true}, "all outputs": {strings.Join(lines, ""), false},
	} {
		status, out, errs := try(t, c.text, "aggregate", "-json", file)
		if status != device.Yes || strings.Contains(out, `"unexplained": true`) != c.want ||
			strings.Contains(errs, "warning: No map explains these counts") != c.want {
			t.Errorf("%s: status %d, %s\n%.300s", name, status, errs, out)
		}
		if _, out, _ := try(t, c.text, "aggregate", file); strings.Contains(out, "Map       No map explains") != c.want ||
			strings.Contains(out, "from the truth, and within") == c.want || strings.Contains(out, "The reports say") == c.want {
			t.Errorf("%s: %s", name, out)
		}
		if status, out, errs := try(t, c.text, "aggregate", "-strict", file); (status == device.Bad && out == "" &&
			strings.Contains(errs, "-strict: No map explains")) != c.want {
			t.Errorf("%s, -strict: status %d, %s\n%s", name, status, errs, out)
		}
		for end, has := range map[string]string{"csv": ",,place,true\n", "geojson": `"error":null,"guess":0.0625,`, "html": "No map explains"} {
			text := mapFile(t, "m."+end, c.text, "aggregate", file)
			if strings.Contains(text, has) != c.want || end != "csv" && strings.Contains(text, "No map explains these counts: honest") != c.want ||
				strings.Contains(text, "from the truth, and within") == c.want && end != "csv" ||
				end == "geojson" && strings.Contains(text, `"unexplained":true`) != c.want {
				t.Errorf("%s: %s\n%s", name, end, text)
			}
		}
	}
	for n, text := range []string{strings.Join(lines, ""), strings.Repeat(lines[0], 1600), strings.Join(lines, "")} {
		must(t, text, "count", "-policy", file, "-epoch", fmt.Sprintf("2026-0%d", n+1), "-shard", fmt.Sprint(n),
			"-o", filepath.Join(dir, fmt.Sprint("e", n)), "-")
	}
	args := []string{"aggregate", "-epochs", file, filepath.Join(dir, "e0"), filepath.Join(dir, "e1"), filepath.Join(dir, "e2")}
	var got struct {
		Epochs []struct {
			Rate        float64
			Unexplained bool
			Headline    string
		}
	}
	_, out, errs := try(t, "", append(args, "-json")...)
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Epochs) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	for n, e := range got.Epochs {
		if want := n == 1 || n == 2 && e.Rate > 0; e.Unexplained != want || strings.HasPrefix(e.Headline, "No map explains") != want ||
			strings.Contains(errs, fmt.Sprintf("warning: epoch 2026-0%d: No map explains", n+1)) != want {
			t.Errorf("epoch %d: %+v\n%s", n, e, errs)
		}
	}
	if text := must(t, "", args[:5]...); strings.Contains(text, "from the truth, and within") || !strings.Contains(text, "unexplained") {
		t.Errorf("an epoch of forged reports: %s", text)
	}
	for end, has := range map[string]string{"csv": "2026-02,0,0.125,0.125,0.0625,,",
		"geojson": `"unexplained":true`, "html": "No map explains"} {
		text := mapFile(t, "n."+end, "", args...)
		if !strings.Contains(text, has) || end == "csv" && strings.Count(text, ",place,true\n") < 16 {
			t.Errorf("epochs, %s: %s", end, text)
		}
	}
}

// mapFile returns the file of -map of a command.
func mapFile(t *testing.T, name, stdin string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must(t, stdin, append([]string{args[0], "-map", file}, args[1:]...)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCountEpochOfPolicy: a name that no device of the policy reports in is refused before the work, and by -partial and the
// counter after it; that of a simulation, and any name of a policy without a schedule, is taken.
func TestCountEpochOfPolicy(t *testing.T) {
	dir := t.TempDir()
	monthly, free := filepath.Join(dir, "monthly"), filepath.Join(dir, "free")
	must(t, "", "design", "-grid", "3x3", "-eps", "2", "-epochs", "month", "-first", "2026-11", "-last", "2027-10", "-o", monthly)
	must(t, "", "design", "-grid", "3x3", "-eps", "2", "-o", free)
	for _, c := range []struct{ file, epoch, want string }{
		{monthly, "2026-11", ""}, {monthly, "2027-10", ""}, {monthly, "simulation-2026-10", ""}, {free, "2026-10", ""}, {free, "any", ""},
		{monthly, "2026-10", "before 2026-11"}, {monthly, "2027-11", "after 2027-10"}, {monthly, "2026-W50", "month"},
		{monthly, "november", "month"},
	} {
		lines := reportsOf(t, c.file, 9, 0)
		for _, args := range [][]string{{"count", "-policy", c.file, "-epoch", c.epoch, "-"},
			{"aggregate", "-partial", filepath.Join(t.TempDir(), "part"), "-epoch", c.epoch, c.file}} {
			status, _, errs := try(t, lines, args...)
			if (status == device.Yes) != (c.want == "") || c.want != "" && (status != device.Bad || !strings.Contains(errs, c.want)) {
				t.Errorf("%s: status %d, %s", args, status, errs)
			}
		}
	}
}

// TestCountQuietly: -q leaves the part alone, on standard output or in a file.
func TestCountQuietly(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p")
	must(t, "", "design", "-grid", "3x3", "-eps", "2", "-o", file)
	lines := reportsOf(t, file, 9, 0)
	if out := must(t, lines, "-q", "count", "-policy", file, "-epoch", "e", "-out", filepath.Join(dir, "part"), "-"); out != "" {
		t.Errorf("%q", out)
	}
	if out := must(t, lines, "count", "-policy", file, "-epoch", "e", "-out", filepath.Join(dir, "part2"), "-"); !strings.Contains(out,
		"Completeness not checked") {
		t.Errorf("%q", out)
	}
	if _, _, errs := try(t, "", "aggregate", "-counts", "a", "-counts", "b", file); !strings.Contains(errs, "wpm merge adds") {
		t.Error(errs)
	}
}
