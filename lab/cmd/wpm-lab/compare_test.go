package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
)

// words are ten words with embeddings in three dimensions, and people who use them: data of a comparison.
// channel is randomised response at eps 1.
type words struct{ points, outputs, users, numbered, public, costs, channel string }

func makeWords(t *testing.T, dir string) words {
	t.Helper()
	const k = 10
	var points, users, numbered, public, costs, channel strings.Builder
	chance := func(i, j int) float64 { return map[bool]float64{true: math.E, false: 1}[i == j] / (math.E + k - 1) }
	points.WriteString("label,x,y,z\n")
	users.WriteString("user,label,count\n")
	numbered.WriteString("user,label,count\n")
	public.WriteString("label,weight\n")
	at := func(i int) [3]int { return [3]int{i, i * i % 7, 3 * i % 5} }
	for i := range k {
		fmt.Fprintf(&points, "word %d,%d,%d,%d\n", i, at(i)[0], at(i)[1], at(i)[2])
		fmt.Fprintf(&public, "word %d,%d\n", i, 1+i%3)
		for j := range k {
			sum := 0
			for d := range 3 {
				sum += max(at(i)[d]-at(j)[d], at(j)[d]-at(i)[d])
			}
			end := map[bool]string{true: ",", false: "\n"}[j < k-1]
			fmt.Fprintf(&costs, "%d%s", sum, end)
			fmt.Fprintf(&channel, "%v%s", chance(i, j), end)
		}
		for n := range 1 + i%3 {
			fmt.Fprintf(&users, "person %d,word %d,%d\n", i, (i*i+3*n)%k, 1+n)
			fmt.Fprintf(&numbered, "person %d,%d,%d\n", i, (i*i+3*n)%k, 1+n)
		}
	}
	return words{
		points: write(t, dir, "words.csv", points.String()), users: write(t, dir, "users.csv", users.String()),
		outputs:  write(t, dir, "outputs.csv", "label,x,y,z\nnew,1,2,3\nother,4,4,4\n"),
		numbered: write(t, dir, "numbered.csv", numbered.String()), public: write(t, dir, "public.csv", public.String()),
		costs: write(t, dir, "costs.csv", costs.String()), channel: write(t, dir, "channel.csv", channel.String()),
	}
}

// compareSettings is what a run of compare reports of its settings.
type compareSettings struct {
	Config struct {
		Out                        string
		Epsilons, Methods, Metrics []string
		Maps                       []string
		Objective                  string
		Lambda, Gamma              float64
		Rounds, Seeds              int
		Seed                       uint64
		Public                     []float64
		NPY                        bool
	}
	Source, Unit    string
	P               float64
	Inputs, Outputs int
	IDs             []string
	Rows            []struct {
		Method, Epsilon, Metric string
		Users, Sampled          []float64
		Mean                    float64
	}
	Maps struct {
		Guess float64
		Rows  []struct{ Method, Reading string }
	}
}

func compareJSON(t *testing.T, args ...string) (r compareSettings) {
	t.Helper()
	out := must(t, "", slices.Concat([]string{"compare", "-json"}, args)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return r
}

// compareRows has a flag, or several that go together, and what a run with them must show.
var compareRows = []struct {
	flags string // beside the defaults of TestCompareFlags; words in capitals are its files
	holds func(r, plain compareSettings) bool
}{
	{"-eps 1/3,2 -methods kpm,wpm", func(r, plain compareSettings) bool {
		return slices.Equal(r.Config.Epsilons, []string{"1/3", "2"}) &&
			slices.Equal(r.Config.Methods, []string{"kpm", "wpm"}) && r.Rows[0].Method == "kpm"
	}},
	{"-metric w2,hit@1,hit@10", func(r, plain compareSettings) bool {
		return len(r.Rows) == 6 && r.Rows[0].Metric == "w2" && r.Rows[0].Mean > plain.Rows[0].Mean
	}},
	{"-seed 9 -seeds 3 -npy -out NAMED", func(r, plain compareSettings) bool {
		m, err1 := costio.ReadFile(filepath.Join(r.Config.Out, "laws-wpm-1.npy"))
		_, err2 := os.Stat(filepath.Join(r.Config.Out, "index.html"))
		return r.Config.Seed == 9 && r.Rows[0].Mean == plain.Rows[0].Mean &&
			r.Rows[0].Sampled[0] != plain.Rows[0].Sampled[0] && len(r.Rows[0].Sampled) == 3 &&
			err1 == nil && r.Config.NPY && m.K == 10 && m.Kv == 10 &&
			err2 == nil && filepath.Base(r.Config.Out) == "named"
	}},
	{"-distance manhattan -methods wpm,algorithm1 -lambda 5", func(r, plain compareSettings) bool {
		return r.Rows[0].Mean > plain.Rows[0].Mean && r.Config.Lambda == 5 && r.Rows[1].Mean > r.Rows[0].Mean*1.01
	}},
	{"-distance cosine -methods local -public PUBLIC", func(r, plain compareSettings) bool {
		return r.Rows[0].Mean < 2 && slices.Equal(r.Config.Public, []float64{1, 2, 3, 1, 2, 3, 1, 2, 3, 1})
	}},
	{"-channel CHANNEL", func(r, plain compareSettings) bool {
		return slices.Equal(r.Config.Methods, []string{"wpm", "uniform", "own"})
	}},
	{"-channel CHANNEL -methods own,response", func(r, plain compareSettings) bool {
		return r.Rows[0].Method == "own" && math.Abs(r.Rows[0].Mean-r.Rows[1].Mean) <= 1e-8 // rounded to integers in two ways
	}},
	{"-methods hierarchy,oue", func(r, plain compareSettings) bool {
		return len(r.Rows) == 0 && slices.Equal(r.Config.Maps, []string{"hierarchy", "oue"}) && r.Maps.Guess > 0 &&
			r.Maps.Rows[0].Method == "wpm" && r.Maps.Rows[len(r.Maps.Rows)-1].Method == "oue"
	}},
	{"-methods olh,response,uniform", func(r, plain compareSettings) bool {
		return len(r.Rows) == 2 && r.Maps.Rows[len(r.Maps.Rows)-1].Method == "response"
	}},
	{"-p 2", func(r, plain compareSettings) bool {
		return r.P == 2 && r.Rows[0].Mean != plain.Rows[0].Mean && r.Rows[1].Mean == plain.Rows[1].Mean
	}},
	{"-outputs OUTPUTS", func(r, plain compareSettings) bool { return r.Inputs == 10 && r.Outputs == 2 }},
	{"-objective minimax", func(r, plain compareSettings) bool {
		return r.Config.Objective == "minimax" && r.Rows[0].Mean != plain.Rows[0].Mean
	}},
	{"-methods local,uniform -metric kl -gamma 1e9", func(r, plain compareSettings) bool { // all users are served alike
		return r.Config.Gamma == 1e9 && math.Abs(r.Rows[0].Mean-r.Rows[1].Mean) < 1e-6
	}},
	{"-cost COSTS -users NUMBERED -methods algorithm1 -metric kl -rounds 7", func(r, plain compareSettings) bool {
		return r.Inputs == 10 && r.P == 1 && r.Config.Rounds == 7
	}},
	{"-preset ring -methods uniform -metric kl", func(r, plain compareSettings) bool {
		return r.P == 2 && r.Inputs == 30 && len(r.IDs) == 500
	}},
	{"-preset city -methods uniform -metric kl", func(r, plain compareSettings) bool {
		return r.Inputs == 400 && len(r.IDs) == 500
	}},
	{"-preset gowalla -data DATA -methods uniform -metric kl", func(r, plain compareSettings) bool {
		return r.Inputs == 400 && r.Unit == "cell widths" && strings.Contains(r.Source, "Gowalla_totalCheckins.txt")
	}},
}

// TestCompareFlags: each flag of compare does what its help says, in any order of the flags.
func TestCompareFlags(t *testing.T) {
	dir := t.TempDir()
	w := makeWords(t, dir)
	out := 0
	// with returns a row's flags and, of the defaults of this test, those that it does not give.
	with := func(flags []string) (args []string, given map[string]bool) {
		out++
		given = map[string]bool{}
		for _, f := range flags {
			if name, ok := strings.CutPrefix(f, "-"); ok {
				given[name] = true
			}
		}
		args = flags
		for _, d := range []struct {
			flag, value string
			leave       bool
		}{
			{"points", w.points, given["cost"] || given["preset"]}, {"users", w.users, given["preset"]}, {"eps", "1", false},
			{"seeds", "1", false}, {"metric", "w1", false}, {"methods", "wpm,uniform", false}, {"npy", "false", false},
			{"o", filepath.Join(dir, strconv.Itoa(out)), given["out"]},
		} {
			if !given[d.flag] && !d.leave {
				args = append(args, "-"+d.flag+"="+d.value)
			}
		}
		return args, given
	}
	args, _ := with(nil)
	plain := compareJSON(t, args...)
	tested := map[string]bool{"points": true, "users": true, "json": true, "help": true, "quiet": true}
	file := strings.NewReplacer("OUTPUTS", w.outputs, "PUBLIC", w.public, "COSTS", w.costs, "CHANNEL", w.channel, "NUMBERED", w.numbered,
		"NAMED", filepath.Join(dir, "named"), "DATA", checkins(t, dir))
	for _, tt := range compareRows {
		args, given := with(strings.Fields(file.Replace(tt.flags)))
		maps.Copy(tested, given)
		if r := compareJSON(t, args...); !tt.holds(r, plain) {
			t.Errorf("%s: %+v", tt.flags, r)
		}
	}
	for _, name := range helpFlags(t, "compare") {
		if !tested[name] {
			t.Errorf("no row tests -%s", name)
		}
	}
}

// checkins are made-up check-ins of 500 users in the original format, in Austin.
func checkins(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for user := range 500 {
		for n := range 12 {
			fmt.Fprintf(&b, "%d\t2010-10-19T23:55:27Z\t%.4f\t%.4f\t%d\n", user, 30.16+0.02*float64((user+n)%12),
				-97.89+0.02*float64((user*n)%12), 100*user+n)
		}
	}
	return write(t, dir, "Gowalla_totalCheckins.txt", b.String())
}

// TestCompareOrder: the same files and flags give the same bytes, in another order of the flags too.
func TestCompareOrder(t *testing.T) {
	dir := t.TempDir()
	w := makeWords(t, dir)
	pairs := [][]string{{"-points", w.points}, {"-users", w.users}, {"-eps", "0.5,2"}, {"-seeds", "2"},
		{"-metric", "w1"}, {"-methods", "wpm,kpm-tuned,linear"}, {"-public", w.public}}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	must(t, "", slices.Concat([]string{"compare", "-o", a}, slices.Concat(pairs...))...)
	slices.Reverse(pairs)
	must(t, "", slices.Concat([]string{"compare"}, slices.Concat(pairs...), []string{"-out", b})...)
	files, err := os.ReadDir(a)
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		one, err1 := os.ReadFile(filepath.Join(a, f.Name()))
		two, err2 := os.ReadFile(filepath.Join(b, f.Name()))
		if err1 != nil || err2 != nil || string(one) != string(two) {
			t.Errorf("%s differs (%v, %v)", f.Name(), err1, err2)
		}
	}
}

// TestCompareRecomputed: what the CSV says follows from the NPY and the two files that were given, by the definitions
// of total variation, divergence and hit rate; and the matrix of Manhattan distances gives what the points give.
func TestCompareRecomputed(t *testing.T) {
	dir := t.TempDir()
	w := makeWords(t, dir)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	common := []string{"compare", "-eps", "1", "-seeds", "1", "-methods", "wpm,kpm,response"}
	must(t, "", slices.Concat(common, []string{"-metric", "w1,tv,kl,hit@2", "-points", w.points, "-distance", "manhattan",
		"-users", w.users, "-o", a})...)
	must(t, "", slices.Concat(common, []string{"-metric", "w1,hit@2", "-cost", w.costs, "-users", w.numbered, "-o", b})...)
	table, other := longTable(t, a), longTable(t, b)
	word := func(i int) string { return fmt.Sprintf("word %d", i) }
	counts, err := costio.ReadCountsFile(w.users, places.Labels(word, 10))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"wpm", "kpm", "response"} {
		laws, err := costio.ReadFile(filepath.Join(a, "laws-"+method+"-1.npy"))
		if err != nil {
			t.Fatal(err)
		}
		for u, rows := range counts.ByUser() {
			q := laws.Row(u, nil)
			mu, total := make([]float64, 10), 0.0
			for _, row := range rows {
				total += row.N
			}
			hit := 0.0 // counts are 1, 2, ...: no ties
			for _, row := range rows {
				mu[row.Label] = row.N / total
				if row.N > float64(len(rows)-2) {
					hit += q[row.Label]
				}
			}
			tv, kl := 0.0, 0.0
			for j := range q {
				tv += math.Abs(q[j]-mu[j]) / 2
				if mu[j] > 0 {
					kl += mu[j] * math.Log(mu[j]/q[j])
				}
			}
			for metric, want := range map[string]float64{"tv": tv, "kl": kl, "hit@2": hit} {
				key := [4]string{method, metric, "user", counts.Users[u]}
				if got, ok := table[key]; !ok || !(math.Abs(got-want) <= 1e-12) { // some ten operations on numbers near one
					t.Errorf("%s: %v, recomputed %v", key, got, want)
				}
			}
		}
	}
	if len(other) == 0 || 2*len(other) > 3*len(table) {
		t.Errorf("%d numbers by the matrix, %d by points", len(other), len(table))
	}
	for key, v := range other {
		// Both matrices have the same whole numbers; the minimisers are those of one problem.
		if got, ok := table[key]; !ok || got != v {
			t.Errorf("%s: %v by points, %v by the matrix", key, got, v)
		}
	}
}

// longTable is long.csv of a folder for one eps, by method, metric, kind and user or seed.
func longTable(t *testing.T, dir string) map[[4]string]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "long.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "method,eps,metric,kind,of,value" {
		t.Fatalf("%q, %v", rows[0], err)
	}
	out := map[[4]string]float64{}
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[[4]string{r[0], r[2], r[3], r[4]}] = v
	}
	return out
}

// TestCompareRefused: what is wrong is named: the flag, or the file, its line and the value; and nothing is written.
func TestCompareRefused(t *testing.T) {
	dir := t.TempDir()
	w := makeWords(t, dir)
	files := "-points " + w.points + " -users " + w.users + " "
	table := func(name, text string) string {
		return "-points " + w.points + " -users " + write(t, dir, name, "user,label,count\na,word 1,1\nb,word 2,1\n"+text)
	}
	matrix := func(name, text string) string {
		users := write(t, dir, name+"-users.csv", "a,0,1\nb,1,1\n")
		return "-users " + users + " -cost " + write(t, dir, name, text)
	}
	file := write(t, dir, "file", "")
	for _, tt := range []struct{ args, want string }{
		{"", "needs one of -points, -cost and -preset"},
		{"-points " + w.points, "-users goes with -points or -cost"},
		{"-users " + w.users, "needs one of -points, -cost and -preset"},
		{files + "-cost " + w.costs, "needs one of -points, -cost and -preset"},
		{files + "-preset ring", "needs one of"},
		{"-preset ring -users " + w.users, "a preset has users of its own"},
		{"-preset films", `"films" is not ring, city or gowalla`},
		{"-preset gowalla", "needs -data"},
		{files + "-data x", "-data goes with -preset gowalla"},
		{"-cost " + w.costs + " -users " + w.numbered + " -distance manhattan", "-outputs and -distance go with -points"},
		{"-cost " + w.costs + " -users " + w.users, `"word 0" is not known; the rows of -cost are places 0 to 9`},
		{files + "extra", `unexpected argument "extra"`},
		{files + "-epsilon 1", "-epsilon"},

		{files + "-distance hamming", `-distance hamming: "hamming" is none of euclidean, manhattan, cosine and greatcircle`},
		{files + "-distance greatcircle", "-distance greatcircle: it needs columns lat and lon"},
		{files + "-channel " + w.channel + " -eps 1,2", "-channel is a mechanism of one eps"},
		{files + "-channel " + w.channel + " -eps 0.9", "are a factor e^1 apart, more than e^0.9"},
		{files + "-channel " + w.costs + " -eps 1", "row 0 of the matrix sums to"},
		{files + "-methods best", `method "best" is not one of [wpm wpm-mixture`},
		{files + "-methods wpm,dam", "dam, the disk area mechanism, needs places that are a full grid"},
		{files + "-methods oue,oue", `"oue", want each once`},
		{files + "-methods oue -eps 13", "is 13, want at most 12"},
		{files + "-methods oue -objective minimax", "-objective is of wpm"},
		{files + "-methods oue -outputs " + w.outputs, `method "oue" needs outputs that are the inputs`},
		{matrix("oneway.cost", "0,1\n2,0\n") + " -methods oue", "no distances between inputs"},
		{files + "-methods wpm,wpm", `method "wpm" is there twice`},
		{files + "-methods wpm,", `method ""`},
		{files + "-methods=", "-methods: nothing is given"},
		{files + "-metric js", `metric "js" is not w1 to w10, tv, kl or hit@n`},
		{files + "-metric tv,tv", `metric "tv" is there twice`},
		{files + "-metric hit@11", `metric "hit@11": there are 10 inputs`},
		{files + "-metric=", "-metric: nothing is given"},
		{files + "-eps 0", `"0" is below`},
		{files + "-eps -1", `"-1"`},
		{files + "-eps NaN", `"NaN"`},
		{files + "-eps 2,1", "want ascending"},
		{files + "-eps 1,1.0", "want ascending"},
		{files + "-eps=", "-eps: nothing is given"},
		{files + "-p 0", "want 0.1 to 10"},
		{files + "-p NaN", "want 0.1 to 10"},
		{files + "-seeds 0", "-seeds: 0 is not positive"},
		{files + "-seeds 1001", "want 1 to 1000"},
		{files + "-seed -1", "-seed"},
		{files + "-objective best", `objective "best"`},
		{files + "-methods algorithm1 -lambda 0", "-lambda: 0 is not positive"},
		{files + "-methods algorithm1 -rounds 0", "-rounds: 0 is not positive"},
		{files + "-methods local -gamma 0.5", "Gamma is 0.5, want 1 or more"},
		{files + "-lambda 1", "-lambda is of algorithm1"},
		{files + "-rounds 7", "-rounds is of algorithm1"},
		{files + "-methods linear -gamma 2", "-gamma is of local"},
		{files + "-public " + w.public, "-public is of local, linear"},
		{files + "-methods kpm -objective minimax", "-objective is of wpm"},
		{files + "-outputs " + w.outputs + " -methods kpm", `method "kpm" needs outputs that are the inputs`},
		{files + "-outputs " + w.outputs + " -metric tv", `metric "tv" needs outputs that are the inputs`},
		{files + "-out " + file, "not a directory"},
		{files + "-methods local -metric kl -public " + write(t, dir, "some.csv", "word 1,1\n"),
			"a public distribution without zeros"},

		{table("unknown.csv", "a,polka,1\n"), `unknown.csv:4: field 2: label "polka" is not known`},
		{table("twice.csv", "a,word 1,1\n"), `twice.csv:4: field 2: label "word 1" of user "a" is on line 2 already`},
		{table("negative.csv", "a,word 3,-1\n"), `negative.csv:4: field 3: "-1" is negative`},
		{table("nan.csv", "a,word 3,NaN\n"), `nan.csv:4: field 3: "NaN" is not finite`},
		{table("zero.csv", "c,word 3,0\n"), `zero.csv:4: user "c" has no count above 0`},
		{table("short.csv", "c,word 3\n"), "short.csv:4: 2 fields"},
		{"-points " + w.points + " -users " + write(t, dir, "header.csv", "who,what,times\na,word 1,2\n"),
			`header.csv:1: field 3: "times" is not a number`},
		{"-points " + w.points + " -users " + write(t, dir, "pairs.csv", "word 1,2\n"), "needs user,label,count"},
		{"-points " + w.points + " -users " + write(t, dir, "one.csv", "a,word 1,2\n"), "1 users, want 2"},
		{"-points " + w.points + " -users " + filepath.Join(dir, "missing.csv"), "missing.csv"},
		{"-points " + filepath.Join(dir, "missing.csv") + " -users " + w.users, "missing.csv"},
		{"-users " + w.users + " -points " + write(t, dir, "odd.csv", "label,x\na,1\nb,NaN\n"), `odd.csv:3: field 2: "NaN"`},
		{matrix("negative.cost", "0,1\n-1,0\n"), `negative.cost:2: field 1: "-1" is negative`},
		{matrix("nan.cost", "0,1\nnan,0\n"), `nan.cost:2: field 1: "nan" is not finite`},
		{matrix("ragged.cost", "0,1\n1\n"), "ragged.cost:2: 1 fields, the first row has 2"},
		{matrix("diagonal.cost", "1,2\n2,1\n") + " -methods kpm", "a square matrix with zeros on the diagonal"},
	} {
		out := filepath.Join(dir, "out")
		args := append([]string{"compare"}, strings.Fields(tt.args)...)
		if !strings.Contains(tt.args, "-out ") {
			args = append(args, "-out", out)
		}
		status, text, errs := try(t, "", args...)
		if status != device.Bad || text != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: status %d, %q, want %q\n%s", tt.args, status, errs, tt.want, text)
		}
		if _, err := os.Stat(filepath.Join(out, "index.html")); err == nil {
			t.Errorf("%s: a report is there", tt.args)
		}
	}
}

// TestComparePage: the tables of a city and of maps in docs/compare.md are what their commands print.
func TestComparePage(t *testing.T) {
	docs, err := filepath.Abs("../../../docs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, "compare.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command, quick string
		lines          int
	}{
		{"-preset city -eps", "-seeds 1 -npy=false", 4}, // the table has no simulated maps
		{"-points colours.csv -distance manhattan -users votes.csv -eps 4 -seeds", "-npy=false", 14},
	} {
		t.Run(tt.command, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if strings.Contains(tt.command, "votes.csv") {
				python, err := exec.LookPath("python3")
				if err != nil {
					t.Skip("the data come from a program in Python")
				}
				if out, err := exec.Command(python, filepath.Join(docs, "compare.py")).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			_, flags, ok := strings.Cut(string(text), "\nwpm-lab compare "+tt.command)
			flags, _, _ = strings.Cut(flags, "\n")
			if !ok {
				t.Fatal("the page has no such command")
			}
			out := must(t, "", slices.Concat([]string{"compare"}, strings.Fields(tt.quick), strings.Fields(tt.command+flags))...)
			if !strings.Contains(out, " in ") {
				t.Errorf("no unit: %s", out)
			}
			_, table, _ := strings.Cut(out, "\n\n")
			table, _, _ = strings.Cut(table, "\n\nAll laws")
			lines := strings.Split(table, "\n")
			if len(lines) != tt.lines {
				t.Fatalf("it prints %q", out)
			}
			for _, line := range lines {
				if line = strings.TrimRight(line, " "); line != "" && !strings.Contains(string(text), "\n    "+line+"\n") {
					t.Errorf("the page has no line %q", line)
				}
			}
		})
	}
}
