package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// talk answers lines and decodes the answers.
func talk(t *testing.T, kind string, s Settings, in ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if lines, _, err := Run(context.Background(), kind, s, strings.NewReader(strings.Join(in, "\n")), &out); err != nil ||
		lines != len(in) {
		t.Fatalf("%d lines of %d are answered, %v", lines, len(in), err)
	}
	var answers []map[string]any
	for dec := json.NewDecoder(&out); dec.More(); {
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, m)
	}
	return answers
}

// TestNames: a line whose cost and box have names has the answer of a line that writes them out, of every kind.
func TestNames(t *testing.T) {
	const ring = `{"kind":"ring","n":4,"p":2}`
	for _, test := range []struct{ kind, box, rest string }{
		{"project", `"lo":[0,0,0,0.1],"hi":[1,0.5,0.5,0.5]`, `,"mu":{"index":[3,1],"weight":[0.25,0.75]}`},
		{"project", `"m":[0.25,0.25,0.25,0.25],"eps":1`, `,"mu":{"index":[3,1],"weight":[0.25,0.75]}`},
		{"entropic", `"m":[0.25,0.25,0.25,0.25],"eps":1`, `,"mu":[1,0,0,0],"reg":0.5`},
		{"units", `"lo":[1,0,0,0],"hi":[9,9,2,9223372036854775807]`, `,"source":[4611686018427387900,0,3,0]`},
		{"phi", `"m":[0.25,0.25,0.25,0.25],"eps":1`, ``},
	} {
		got := talk(t, test.kind, Settings{},
			`{"cost":`+ring+`,`+test.box+test.rest+`}`,
			`{"id":"c","define":"a cost","cost":`+ring+`}`,
			`{"define":"a box",`+test.box+`}`,
			`{"cost":"a cost","box":"a box"`+test.rest+`}`,
			`{"cost":"a cost",`+test.box+test.rest+`}`,
			`{"cost":`+ring+`,"box":"a box"`+test.rest+`}`,
			`{"cost":"a cost","box":"a box"`+test.rest+`}`,
		)
		if fmt.Sprint(got[1]) != "map[defined:a cost id:c]" || fmt.Sprint(got[2]) != "map[defined:a box]" {
			t.Errorf("%s: %v, %v", test.kind, got[1], got[2])
		}
		for _, m := range got {
			delete(m, "seconds")
		}
		for _, m := range got[3:] {
			if _, bad := m["error"]; bad || fmt.Sprint(m) != fmt.Sprint(got[0]) {
				t.Errorf("%s %s:\n%v, want\n%v", test.kind, test.box, m, got[0])
			}
		}
	}
	const hilbert = `"reg":0.5}`
	got := talk(t, "hilbert", Settings{}, `{"define":"r","cost":`+ring+`}`, `{"cost":"r",`+hilbert,
		`{"cost":`+ring+`,`+hilbert)
	if got[1]["diameter"] == nil || got[1]["diameter"] != got[2]["diameter"] {
		t.Errorf("%v", got)
	}
}

// TestNameErrors: what is wrong with a name, each with its line.
func TestNameErrors(t *testing.T) {
	const mu, ring = `"mu":[1,0,0,0]`, `{"kind":"ring","n":4,"p":2}`
	got := talk(t, "project", Settings{},
		`{"define":"c","cost":`+ring+`}`, `{"define":"b","m":[0.25,0.25,0.25,0.25],"eps":1}`,
		`{"define":"short","m":[1],"eps":1}`,
		`{"define":"c","cost":`+ring+`}`, `{"define":"b","cost":`+ring+`}`, `{"define":"c","lo":[0],"hi":[1]}`,
		`{"define":"","cost":`+ring+`}`, `{"define":3,"cost":`+ring+`}`, `{"define":"x","cost":`+ring+`,"lo":[0],"hi":[1]}`,
		`{"define":"x","cost":`+ring+`,"want":["q"]}`, `{"define":"x"}`, `{"define":"x","cost":{"kind":"ring","n":-4}}`,
		`{"define":"x","cost":"c"}`, `{"define":"y","cost":"y"}`,
		`{"define":"z","cost":`+ring+`,"eps":1,"m":[1]}`,
		`{"cost":"d","box":"b",`+mu+`}`, `{"cost":"c","box":"d",`+mu+`}`, `{"cost":"b","box":"b",`+mu+`}`,
		`{"cost":"c","box":"c",`+mu+`}`,
		`{"cost":"","box":"b",`+mu+`}`, `{"cost":"c","box":"",`+mu+`}`, `{"cost":"c","box":"b","eps":1,`+mu+`}`,
		`{"cost":"c","box":7,`+mu+`}`,
		`{"cost":"c","box":"short",`+mu+`}`, `{"cost":"c",`+mu+`}`,
		`{"cost":"c","box":"b","want":[],`+mu+`}`, `{"cost":"c","box":"b","want":["q","q"],`+mu+`}`,
		`{"cost":"c","box":"b","want":["Q"],`+mu+`}`,
		`{"cost":"c","box":"b","want":"q",`+mu+`}`, `{"cost":"c","box":"b","want":[1],`+mu+`}`,
		`{"cost":"c","box":"b","want":["seconds"],`+mu+`}`,
		`{"def\u0069ne":"late","cost":`+ring+`}`, `{"cost":"late","box":"b","want":["objective"],`+mu+`}`,
	)
	for n, want := range []string{"", "", "", `"c" is defined already`, `"b" is defined already`, `"c" is defined already`,
		"the name is empty", `"define"`, `to a cost or to a box, one a line: this line has "cost" and "lo"`,
		`unknown field "want"`, "the box is missing", `"cost"`, "", `no line before has defined "y"`, `has "cost" and "m"`,
		`no line before has defined "d" as a cost`, `"d" as a box`, `"b" as a cost`, `"c" as a box`,
		"the name is empty", `"" as a box`, "not both", `"box"`,
		`"m" has 1 entries`, "the box is missing",
		`"want" is empty`, `"q" occurs twice`, `"Q" is not a field`, `"want"`, `"want"`, "", "", "",
	} {
		msg, bad := got[n]["error"].(string)
		if bad != (want != "") || !strings.Contains(msg, want) {
			t.Errorf("answer %d: %v, want %q", n, got[n], want)
		}
	}
	if last := got[len(got)-1]; len(last) != 1 || last["objective"] == nil {
		t.Errorf("want objective: %v", last)
	}
}

// TestWant: the fields that are wanted are those of the whole answer, in its order, and nothing else.
func TestWant(t *testing.T) {
	for _, kind := range Kinds() {
		for _, line := range certified[kind] {
			whole, ok := Answer(context.Background(), kind, Settings{}, []byte(line))
			if !ok {
				t.Fatalf("%s %s: %s", kind, line, whole)
			}
			in, err := parseObject(whole)
			if err != nil {
				t.Fatal(err)
			}
			fields := in.names[:len(in.names)-1] // without seconds
			if fields[0] == "id" {
				fields = fields[1:]
			}
			for _, pair := range [][]string{{fields[0]}, {fields[len(fields)-1], fields[0]}} {
				names, _ := json.Marshal(pair)
				got, ok := Answer(context.Background(), kind, Settings{},
					[]byte(strings.TrimSuffix(line, "}")+`,"want":`+string(names)+`}`))
				some, err := parseObject(got)
				if !ok || err != nil {
					t.Fatalf("%s %s: %s", kind, names, got)
				}
				if want := len(pair) + len(in.names) - 1 - len(fields); len(some.names) != want {
					t.Errorf("%s %s: %s", kind, names, got)
				}
				for _, name := range pair {
					if !bytes.Equal(some.fields[name], in.fields[name]) {
						t.Errorf("%s: %s is %s, in the whole answer %s", kind, name, some.fields[name], in.fields[name])
					}
				}
			}
			short := strings.TrimSuffix(line, "}") + `,"want":["seconds"]}`
			certified, ok := Answer(context.Background(), kind, Settings{Certificate: true}, []byte(short))
			full, _ := Answer(context.Background(), kind, Settings{Certificate: true}, []byte(line))
			from := func(b []byte) []byte { return b[bytes.Index(b, []byte(`"certificate":`)):] }
			if !ok || !bytes.Equal(from(certified), from(full)) {
				t.Errorf("%s: the certificate depends on want: %s", kind, certified)
			}
		}
	}
}

// TestManyLines: any number of lines at any GOMAXPROCS has the answers of the lines alone, in order.
func TestManyLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := []string{`{"define":"c","cost":{"kind":"grid","rows":4,"cols":5,"p":1}}`,
		`{"define":"b","m":[` + strings.TrimSuffix(strings.Repeat("0.05,", 20), ",") + `],"eps":2}`}
	for n := range 200 {
		line := fmt.Sprintf(`{"id":%d,"cost":"c","box":"b","mu":{"index":[%d,%d],"weight":[0.25,0.75]},"want":["q","objective"]}`,
			n, rng.IntN(10), 10+rng.IntN(11))
		if n%50 == 7 {
			line = fmt.Sprintf(`{"id":%d,"define":"c%d","cost":{"kind":"ring","n":%d}}`, n, n, n)
		}
		lines = append(lines, line)
	}
	var first string
	for _, procs := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(procs)
		var out bytes.Buffer
		n, bad, err := Run(context.Background(), "project", Settings{}, strings.NewReader(strings.Join(lines, "\n")), &out)
		runtime.GOMAXPROCS(old)
		if n != len(lines) || err != nil || bad == 0 || bad > 100 { // an index of 20 is off the grid
			t.Fatalf("%d lines, %d bad, %v", n, bad, err)
		}
		if first == "" {
			first = out.String()
		}
		if out.String() != first {
			t.Errorf("GOMAXPROCS=%d changes answers", procs)
		}
	}
	for n, line := range strings.Split(strings.TrimSpace(first), "\n")[2:] {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"id":%d,`, n)) {
			t.Fatalf("answer %d is %s", n, line)
		}
	}
}

// TestFiles: a cost comes from a file below the folder, and from nowhere else.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "in", "deep")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	var npy bytes.Buffer
	if err := costio.WriteNPY(context.Background(), &npy, &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "out.npy"), filepath.Join(dir, "in", "C.npy"),
		filepath.Join(inside, "C.npy")} {
		if err := os.WriteFile(path, npy.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	links := os.Symlink("C.npy", filepath.Join(dir, "in", "link.npy")) == nil &&
		os.Symlink("deep", filepath.Join(dir, "in", "also")) == nil
	if err := os.WriteFile(filepath.Join(dir, "in", "text.npy"), []byte("0,1\n1,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, want string }{
		{"C.npy", ""}, {"deep/C.npy", ""},
		{"../out.npy", "below the folder"}, {"deep/../C.npy", "below the folder"},
		{filepath.ToSlash(dir) + "/out.npy", "below the folder"},
		{"", "below the folder"}, {".", "below the folder"}, {`deep\C.npy`, "below the folder"},
		{"deep", "not a regular file"}, {"none.npy", "none.npy"}, {"text.npy", "text.npy"},
		{"link.npy", "through a link"}, {"also/C.npy", "through a link"},
	} {
		if !links && test.want == "through a link" {
			continue // Windows asks for a privilege
		}
		path, _ := json.Marshal(test.path)
		line := `{"cost":{"kind":"npy","path":` + string(path) + `},"mu":[1,0],"lo":[0.25,0.25],"hi":[0.75,0.75]}`
		got := talk(t, "project", Settings{Files: filepath.Join(dir, "in"), ReadNPY: costio.ReadNPY}, line)[0]
		msg, bad := got["error"].(string)
		if bad != (test.want != "") || !strings.Contains(msg, test.want) || !bad && got["objective"] != 0.25 {
			t.Errorf("%q: %v, want %q", test.path, got, test.want)
		}
		if got := talk(t, "project", Settings{}, line)[0]; !strings.Contains(fmt.Sprint(got["error"]), "-files") {
			t.Errorf("%q without a folder: %v", test.path, got)
		}
	}
	for fields, want := range map[string]string{
		`"path":"out.npy","more":1`: `unknown field "more"`, `"path":"out.npy","id":1`: `unknown field "id"`,
		`"path":"none","path":"out.npy"`: `field "path" occurs twice`,
		`"path":"out.npy","kind":"npy"`:  `field "kind" occurs twice`,
		`"Path":"out.npy"`:               `field "path" is missing`, `"path":7`: `field "path": number where`,
		`"path":null`: `field "path" is null`,
	} {
		line := `{"cost":{"kind":"npy",` + fields + `},"mu":[1,0],"lo":[0,0],"hi":[1,1]}`
		got := talk(t, "project", Settings{Files: dir, ReadNPY: costio.ReadNPY}, line)[0]["error"]
		if !strings.HasPrefix(fmt.Sprint(got), `field "cost": `+want) {
			t.Errorf("%s: %v, want %s", fields, got, want)
		}
	}
}

// TestFlow: the three ends that a network has, and what is no network.
func TestFlow(t *testing.T) {
	for line, want := range map[string][]string{
		`{"nodes":3,"arcs":[[0,1,0,4,2],[1,2,0,"inf",1],[0,2,0,1,5]],"supply":[3,0,-3]}`: {
			`status:optimal`, `objective:9 `, `flow:[3 3 0]`, `potentials:[`,
		},
		`{"nodes":2,"arcs":[[0,1,0,1,1]],"supply":[2,-2]}`:                {`status:infeasible`, `cut:[0]`},
		`{"nodes":1,"arcs":[[0,0,0,"inf",-1]],"supply":[0]}`:              {`status:unbounded`, `flow:[0]`, `cycle:[[0 1]]`},
		`{"nodes":1,"arcs":[[0,0,"-inf",0,1]],"supply":[0]}`:              {`status:unbounded`, `cycle:[[0 -1]]`},
		`{"nodes":2,"arcs":[[0,2,0,1,1]],"supply":[0,0]}`:                 {`error:`},
		`{"nodes":3,"arcs":[],"supply":[0,0]}`:                            {`error:field "supply" has 2 entries`},
		`{"nodes":1,"arcs":[[0,0,0,1]],"supply":[0]}`:                     {`4 numbers`},
		`{"nodes":1,"arcs":[[0,0,"inf",1,1]],"supply":[0]}`:               {`arc 0: "inf" where`},
		`{"nodes":1,"arcs":[[0,0,0,1.5,1]],"supply":[0]}`:                 {`1.5 where`},
		`{"nodes":1,"arcs":[],"supply":[0.5]}`:                            {`number 0.5 where an integer is wanted`},
		`{"nodes":1,"arcs":[[0,0,0,1,9223372036854775808]],"supply":[0]}`: {`9223372036854775808 where`},
		`{"nodes":1,"arcs":[[4294967296,0,0,1,1]],"supply":[0]}`:          {`error:`},
	} {
		got := fmt.Sprint(ask(t, "flow", line))
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s, want %s", line, got, part)
			}
		}
	}
}

// BenchmarkLines is a projection of 20 atoms among 1,000 points, asked in lines with names and of a Projector.
func BenchmarkLines(b *testing.B) {
	const k, atoms = 1000, 20
	rng := rand.New(rand.NewPCG(3, 4))
	c := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
	x := make([][2]float64, k)
	for i := range x {
		x[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	for i := range k {
		for j := range k {
			dx, dy := x[i][0]-x[j][0], x[i][1]-x[j][1]
			c.Data[i*k+j] = dx*dx + dy*dy
		}
	}
	lo, hi := make([]float64, k), make([]float64, k)
	for j := range lo {
		lo[j], hi[j] = 0.3/k, 2.5/k
	}
	support, weight := make([][]int, b.N), make([]float64, atoms)
	for n := range weight {
		weight[n] = 1.0 / atoms
	}
	for n := range support {
		first := rng.IntN(k / atoms)
		for a := range atoms {
			support[n] = append(support[n], first+a*(k/atoms))
		}
	}
	dir := b.TempDir()
	var npy bytes.Buffer
	if err := costio.WriteNPY(context.Background(), &npy, c); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C.npy"), npy.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("projector", func(b *testing.B) {
		p, err := mincostflow.NewProjector(context.Background(), c, lo, hi, mincostflow.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		var r mincostflow.Result
		for n := 0; b.Loop(); n++ {
			if err := p.Project(context.Background(), weight, support[n%len(support)], &r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lines", func(b *testing.B) {
		text := func(v any) string {
			s, _ := json.Marshal(v)
			return string(s)
		}
		var in strings.Builder
		for n := range b.N {
			in.WriteString(`{"cost":"c","box":"b","want":["q","objective"],"mu":{"index":` + text(support[n%len(support)]) +
				`,"weight":` + text(weight) + "}}\n")
		}
		names := `{"define":"c","cost":{"kind":"npy","path":"C.npy"}}` + "\n" + `{"define":"b","lo":` + text(lo) + `,"hi":` +
			text(hi) + "}\n"
		var out bytes.Buffer
		b.ResetTimer()
		lines := strings.NewReader(names + in.String())
		if _, bad, err := Run(context.Background(), "project", Settings{Files: dir, ReadNPY: costio.ReadNPY}, lines,
			&out); bad > 0 || err != nil {
			b.Fatal(bad, err)
		}
	})
}

// TestGivenCosts: a cost of the settings has a name like one of a line, and Solve returns the error that Answer writes.
func TestGivenCosts(t *testing.T) {
	c, err := cost.FromRows([][]float64{{0, 1}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Costs: map[string]*cost.Dense{"C": c}}
	const box = `"mu":[1,0],"lo":[0.25,0.25],"hi":[1,1],"want":["q","objective"]`
	got := talk(t, "project", s, `{"cost":"C",`+box+`}`, `{"define":"C","cost":{"kind":"ring","n":3,"p":1}}`,
		`{"id":1,"cost":"D",`+box+`}`)
	if fmt.Sprint(got[0]) != "map[objective:0.25 q:[0.75 0.25]]" ||
		!strings.Contains(fmt.Sprint(got[1]), "defined already") {
		t.Errorf("%v", got)
	}
	if _, err := Solve(context.Background(), "project", s, []byte(`{"id":1,"cost":"D",`+box+`}`)); err == nil ||
		err.Error() != got[2]["error"] {
		t.Errorf("Solve: %v, Answer: %v", err, got[2])
	}
	_, err = Solve(context.Background(), "project", s, []byte(`{"cost":"C","mu":[1,0],"lo":[0.75,0.75],"hi":[1,1]}`))
	if !errors.Is(err, wpmerr.ErrInfeasible) {
		t.Errorf("an empty box: %v", err)
	}
	text, err := Solve(context.Background(), "project", s, []byte(`{"id":1,"cost":"C",`+box+`}`))
	if err != nil || string(text) != `{"id":1,"q":[0.75,0.25],"objective":0.25}` {
		t.Errorf("Solve: %s, %v", text, err)
	}
}
