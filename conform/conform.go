package conform

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wpm-go/wpm/vectors"
	"pgregory.net/rapid"
)

// ErrSettings says that settings are not what Run takes.
var ErrSettings = errors.New("conform: bad settings")

// Levels are the names of the levels, and for each how many cases of a law it runs. Vectors are run in full at all.
var levels = map[string]int{"quick": 10, "default": 100, "audit": 5000}

const defaultLimit = 10 * time.Second

// Settings say what to run. All but Command have a default.
type Settings struct {
	Command []string      // the client and its arguments
	Level   string        // quick, default ("" too) or audit
	Limit   time.Duration // of an answer, and of the end; 0: 10 s
	Seed    uint64        // of the laws; 0: 1, the same cases every time
	Memory  int64         // bytes that 64 MiB of private text may take of a client on Linux; 0: not measured
}

// Run runs everything that the client offers. The error is for settings and for a command that cannot be started; the
// faults of the client are in the report.
func Run(s Settings) (Report, error) {
	if s.Level == "" {
		s.Level = "default"
	}
	if s.Limit == 0 {
		s.Limit = defaultLimit
	}
	if s.Seed == 0 {
		s.Seed = 1
	}
	checks, ok := levels[s.Level]
	switch {
	case !ok:
		return Report{}, fmt.Errorf("%w: level %q, want quick, default or audit", ErrSettings, s.Level)
	case len(s.Command) == 0:
		return Report{}, fmt.Errorf("%w: no command", ErrSettings)
	case s.Limit < 0:
		return Report{}, fmt.Errorf("%w: limit %v", ErrSettings, s.Limit)
	case s.Memory < 0:
		return Report{}, fmt.Errorf("%w: memory of %d bytes", ErrSettings, s.Memory)
	}
	c := &client{command: s.Command, limit: s.Limit}
	r := Report{Command: s.Command, Level: s.Level}
	err := c.start()
	if errors.Is(err, errNotStarted) {
		return Report{}, err
	}
	if err != nil {
		r.add(Group{Name: "lines/hello", Status: Failed, Cases: 1, Failures: 1, Reason: err.Error()})
		return r, nil
	}
	r.Client, r.Kinds = c.hello.Name, c.hello.Kinds
	for _, g := range dialogue() {
		r.add(g.run(c))
	}
	for _, g := range vectorGroups() {
		r.add(g.run(c))
	}
	setRapid(checks, s.Seed)
	for _, l := range laws() {
		r.add(l.run(c))
	}
	if s.Memory > 0 {
		r.add(memoryGroup(c, s.Memory))
	}
	end := Group{Name: "lines/end", Statement: "docs/spec/conform.md, The end", Status: Passed, Cases: 1}
	if err := c.end(); err != nil {
		end.fail("", err)
	}
	r.add(end)
	return r, nil
}

// name is that of the file, and of the kind where it differs.
func (g vectorGroup) name() string {
	if g.file == g.kind {
		return "vectors/" + g.file
	}
	return "vectors/" + g.file + ", " + g.kind
}

// run asks the vectors of a group.
func (g vectorGroup) run(c *client) Group {
	r := Group{Name: g.name(), Kinds: []string{g.kind}, Status: Passed}
	if !c.offers(r.Kinds) {
		r.Status = NotOffered
		return r
	}
	f, err := vectors.Read(g.file)
	if err != nil {
		r.fail("", err)
		return r
	}
	c.begin()
	for _, v := range f.Cases {
		if g.pick != nil && !g.pick(v) {
			continue
		}
		if r.Cases > 0 && c.lost() {
			r.Reason += "\nand the other vectors are given up, after too many dialogues that the client broke"
			break
		}
		r.Cases++
		r.Statement = v.Statement
		l, err := lineOf(g.kind, v)
		c.request = ""
		if err == nil {
			err = g.ask(c, g.kind, l, v)
		}
		if err != nil {
			r.fail(c.request, fmt.Errorf("%s: %w", v.ID, err))
			if c.hasty {
				break
			}
		}
	}
	return r
}

// setRapid gives rapid its settings, which are global flags.
func setRapid(checks int, seed uint64) {
	if !testing.Testing() { // rapid asks whether tests are to be short
		once.Do(func() {
			testing.Init()
			_ = flag.CommandLine.Parse(nil)
		})
	}
	for name, value := range map[string]string{
		"checks": strconv.Itoa(checks), "seed": strconv.FormatUint(seed, 10), "shrinktime": "10s", "nofailfile": "true",
		"failfile": "",
		"v":        "false", "log": "false", "debug": "false", "debugvis": "false",
	} {
		if err := flag.Set("rapid."+name, value); err != nil {
			panic("conform: " + err.Error()) // the flags are rapid's, and the values right
		}
	}
}

var once sync.Once

// run checks a law on a client.
func (l law) run(c *client) (r Group) {
	r = Group{Name: "laws/" + l.name, Statement: l.statement, Kinds: l.kinds, Status: Passed}
	if !c.offers(l.kinds) {
		r.Status = NotOffered
		return r
	}
	c.begin()
	tb := &recorder{name: l.name}
	defer func() {
		if p := recover(); p != nil && p != any(tb) {
			tb.failed = append(tb.failed, fmt.Sprint("the law panics: ", p))
		}
		if len(tb.failed) > 0 {
			reason, _, _ := strings.Cut(tb.failed[0], "\nTo reproduce")
			r.fail(c.request, errors.New(strings.TrimPrefix(reason, "[rapid] ")))
		}
	}()
	for _, first := range l.first {
		r.Cases++
		first(tb, c)
	}
	rapid.Check(tb, func(t *rapid.T) {
		r.Cases++
		l.check(t, c)
	})
	return r
}

// recorder is a test that is no test: rapid fails it.
type recorder struct {
	name   string
	failed []string
}

func (*recorder) Helper()                {}
func (r *recorder) Name() string         { return r.name }
func (*recorder) Logf(string, ...any)    {}
func (*recorder) Log(...any)             {}
func (r *recorder) Skipf(string, ...any) { panic(r) }
func (r *recorder) Skip(...any)          { panic(r) }
func (r *recorder) SkipNow()             { panic(r) }
func (r *recorder) Fail()                { r.failed = append(r.failed, "failed") }
func (r *recorder) FailNow()             { r.Fail(); panic(r) }
func (r *recorder) Failed() bool         { return len(r.failed) > 0 }
func (r *recorder) Error(a ...any)       { r.failed = append(r.failed, fmt.Sprint(a...)) }
func (r *recorder) Errorf(format string, a ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, a...))
}
func (r *recorder) Fatal(a ...any)                 { r.Error(a...); panic(r) }
func (r *recorder) Fatalf(format string, a ...any) { r.Errorf(format, a...); panic(r) }

// talk is a case of what every client must do with lines of any kind: it sends lines, and expects as many answers,
// each a refusal with the id that the line had.
type talk struct {
	name  string
	lines []string
	ids   []string // "": absent or null
}

// dialogue are the cases about lines.
func dialogue() []talk {
	many := talk{name: "order"}
	for id := range 20 {
		many.lines = append(many.lines, fmt.Sprintf(`{"kind":"nothing","id":%d}`, id))
		many.ids = append(many.ids, strconv.Itoa(id))
	}
	return []talk{
		{"unknown kind", []string{`{"id":1,"kind":"nothing"}`, `{"id":2}`, `{"id":3,"kind":7}`}, []string{"1", "2", "3"}},
		{"id of any text", []string{`{"id":"a b","kind":"nothing"}`}, []string{`"a b"`}},
		many,
		{"bad line", []string{`{`, `[]`, `no JSON`, `7`, "\xff", `{"id":1,"kind":"nothing"} {}`},
			[]string{"", "", "", "", "", "?"}},
		// What a reader makes of such numbers and members is its own business; it must go on reading.
		{"odd numbers and members", []string{`{"id":1,"kind":"nothing","bits":4.0}`,
			`{"id":2,"kind":"nothing","bits":4,"bits":5}`, `{"id":3,"id":3,"kind":"nothing"}`, `{"id":4,"kind":"nothing"}`},
			[]string{"?", "?", "?", "4"}},
		{"one of policy and policy_hex", either(), []string{"1", "2", "3", "4", "5", "6"}},
		{"long line", []string{`{"id":4,"kind":"nothing","text":"` + strings.Repeat("x", 1<<20) + `"}`}, []string{"4"}},
	}
}

// either returns lines with both of policy and policy_hex, and with none.
func either() (lines []string) {
	file, err := vectors.Read("release")
	if err != nil {
		panic(err) // the files are part of the program
	}
	n := slices.IndexFunc(file.Cases, func(c vectors.Case) bool { return c.Valid && bytes.Contains(c.In, []byte(`"mixture`)) })
	var in struct{ Policy, Private, Random string }
	if err := json.Unmarshal(file.Cases[n].In, &in); err != nil {
		panic(err)
	}
	for _, both := range []bool{true, false} {
		for _, kind := range []string{"policy", "draw", "draw-projection"} {
			line := map[string]any{"id": len(lines) + 1, "kind": kind}
			if both {
				line["policy"], line["policy_hex"] = in.Policy, hex.EncodeToString([]byte(in.Policy))
			}
			if kind != "policy" {
				line["private"], line["random"] = in.Private, in.Random
			}
			if kind == "draw-projection" {
				line["projected"] = []float64{}
			}
			text, err := json.Marshal(line)
			if err != nil {
				panic(err)
			}
			lines = append(lines, string(text))
		}
	}
	return lines
}

// run sends all lines at a time.
func (g talk) run(c *client) Group {
	r := Group{Name: "lines/" + g.name, Statement: "docs/spec/conform.md, Lines", Status: Passed, Cases: len(g.lines)}
	c.begin()
	if c.cmd == nil {
		if err := c.start(); err != nil {
			r.fail("", err)
			return r
		}
	}
	answers, err := c.exchange([]byte(strings.Join(g.lines, "\n")+"\n"), len(g.lines))
	if err != nil {
		r.fail(slices.MinFunc(g.lines, func(a, b string) int { return len(a) - len(b) }), err)
		return r
	}
	for i, answer := range answers {
		if err := refusalOf(answer, g.ids[i]); err != nil {
			r.fail(g.lines[i], err)
		}
	}
	return r
}

// refusalOf checks that an answer is a refusal with an id; "?" is any.
func refusalOf(answer []byte, id string) error {
	var o members
	if err := object(answer, &o); err != nil {
		return fmt.Errorf("the answer %s: %w", quote(answer), err)
	}
	got := string(o["id"])
	if got == "null" {
		got = ""
	}
	if got != id && id != "?" {
		return fmt.Errorf("the answer %s: its id is %q, want %q", quote(answer), got, id)
	}
	var reason string
	if json.Unmarshal(o["error"], &reason) != nil || reason == "" {
		return fmt.Errorf("the answer %s is no refusal", quote(answer))
	}
	return nil
}
