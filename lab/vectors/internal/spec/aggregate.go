package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"sort"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/policyfile"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

type aggregateIn struct {
	Op     string   `json:"op"` // count, decode or merge
	Policy string   `json:"policy,omitempty"`
	Name   string   `json:"name,omitempty"`
	Epoch  string   `json:"epoch,omitempty"`
	File   string   `json:"file,omitempty"`
	Counts []string `json:"counts,omitempty"`
}

type aggregateOut struct {
	Counts string `json:"counts"`
}

// countsFile is the content of a text of partial counts.
type countsFile struct {
	policy, epoch string
	refused       [4]uint64 // malformed, other-policy, no-such-output, never-released
	shards        []shard
	reports       []uint64
}

type shard struct {
	sha256, id   string
	bytes, lines uint64
}

var reasonNames = []string{"malformed", "other-policy", "no-such-output", "never-released"}

func (c countsFile) lines() *big.Int {
	return new(big.Int).Add(values.Sum(c.reports), values.Sum(c.refused[:]))
}

// body is the text without its last line.
func (c countsFile) body() string {
	var b strings.Builder
	fmt.Fprintf(&b, "wpm-counts-1\npolicy %s\nepoch", c.policy)
	if c.epoch != "" {
		b.WriteString(" " + c.epoch)
	}
	fmt.Fprintf(&b, "\nlines %v\n", c.lines())
	for n, name := range reasonNames {
		fmt.Fprintf(&b, "refused %s %d\n", name, c.refused[n])
	}
	fmt.Fprintf(&b, "shards %d\n", len(c.shards))
	for _, s := range c.shards {
		fmt.Fprintf(&b, "%s %d %d %s\n", s.sha256, s.bytes, s.lines, s.id)
	}
	fmt.Fprintf(&b, "reports %d\n", len(c.reports))
	for _, n := range c.reports {
		fmt.Fprintf(&b, "%d\n", n)
	}
	return b.String()
}

func seal(body string) string { return body + "sha256 " + hash(body) + "\n" }

func (c countsFile) text() string { return seal(c.body()) }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// randomCounts returns counts of one or more shards.
func randomCounts(r *values.RNG, policy, epoch string, kv int, names ...string) countsFile {
	c := countsFile{policy: policy, epoch: epoch, reports: make([]uint64, kv)}
	large := r.Chance(15)
	for j := range c.reports {
		if c.reports[j] = uint64(values.Pick(r, 0, 1, r.Intn(50))); large {
			c.reports[j] = r.Upto(1 << 42)
		}
	}
	for n := range c.refused {
		c.refused[n] = uint64(values.Pick(r, 0, 0, r.Intn(9)))
	}
	rest := c.lines().Uint64()
	sort.Strings(names)
	for n, name := range names {
		lines := r.Upto(rest)
		if n == len(names)-1 {
			lines = rest
		}
		rest -= lines
		c.shards = append(c.shards, shard{hash(name + epoch), name, lines * 81, lines})
	}
	return c
}

// merge adds counts up.
func merge(a, b countsFile) countsFile {
	c := countsFile{policy: a.policy, epoch: a.epoch, refused: a.refused}
	for n, v := range b.refused {
		c.refused[n] += v
	}
	for j := range a.reports {
		c.reports = append(c.reports, a.reports[j]+b.reports[j])
	}
	c.shards = append(append(c.shards, a.shards...), b.shards...)
	sort.SliceStable(c.shards, func(i, j int) bool { return c.shards[i].id < c.shards[j].id })
	return c
}

// countReports reads a file of reports for policy f, a line each with blanks around it.
func countReports(f policyfile.File, name, epoch, text string) countsFile {
	c := countsFile{policy: f.ID(), epoch: epoch, reports: make([]uint64, len(f.Box.Lo))}
	lines := uint64(0)
	for line := range strings.SplitSeq(text, "\n") {
		long := len(line) > 4096
		line = strings.Trim(line, " \t\r")
		if line == "" && !long {
			continue
		}
		lines++
		b, err := hex.DecodeString(line)
		switch malformed := long || err != nil || len(b) != 40 || string(b[:4]) != "wpm1" || line != strings.ToLower(line); {
		case malformed || box.LittleEndian(b[36:], 32).Cmp(values.Int(1<<20)) >= 0 ||
			hex.EncodeToString(b[4:]) == strings.Repeat("0", 72):
			c.refused[0]++
		case hex.EncodeToString(b[4:36]) != f.ID():
			c.refused[1]++
		default:
			j := box.LittleEndian(b[36:], 32).Uint64()
			switch {
			case j >= uint64(len(f.Box.Lo)):
				c.refused[2]++
			case f.Box.Hi[j] == 0:
				c.refused[3]++
			default:
				c.reports[j]++
			}
		}
	}
	c.shards = []shard{{hash(text), name, uint64(len(text)), lines}}
	return c
}

// Aggregate fills in the cases of the kind aggregate: partial counts, made, read and merged.
func Aggregate(s *cases.Set) {
	r := &s.RNG
	var policies []policyfile.File
	for kv := range 3 { // each with outputs that are never released
		f := policyfile.File{
			Box:  box.Box{Epsilon: "1", Bits: 8, Lo: []uint64{60, 40, 0, 30}[:2+kv], Hi: []uint64{163, 108, 0, 81}[:2+kv]},
			Mode: "projection", WorkLimit: 1000, Inputs: 2, Provenance: policyfile.CleanProvenance, Metadata: "{}",
			Certificate: "null", Cost: "null",
		}
		f.Fallback = f.Box.Row(r)
		policies = append(policies, f)
	}
	shardNames := []string{"a", "b.txt", "eu/west 1.txt.gz", "zürich", "part 07", "~", "z"}
	epochs := []string{"", "2026-07", "e", strings.Repeat("x", 64), "a:b_c.d-1"}
	for n, f := range policies[:2] { // what may stand around a report, and what may not
		good := policyfile.Report(f.ID(), 0)
		for _, white := range []string{"\v", "\f", "\u00a0", "\u0085", "\u2028", "\ufeff", "\x00", "\r", "\t \r"} {
			in := aggregateIn{Op: "count", Policy: f.Text(), Name: "a",
				File: white + good + "\n" + good + white + "\n" + white + "\n" + good}
			s.Valid(in, aggregateOut{countReports(f, in.Name, "", in.File).text()}, "spelling")
		}
		if n > 0 {
			continue
		}
		for _, size := range []int{4095, 4096, 4097} { // a line with a report, and one without
			for _, line := range []string{strings.Repeat(" ", size-len(good)) + good, strings.Repeat("\t", size)} {
				for _, end := range []string{"", "\n", "\n" + good + "\n"} {
					in := aggregateIn{Op: "count", Policy: f.Text(), Name: "a", File: line + end}
					s.Valid(in, aggregateOut{countReports(f, in.Name, "", in.File).text()}, "long", "limit")
				}
			}
		}
	}
	limits(s, policies[0])
	s.Until(290, 120, func(n int) {
		f := values.Pick(r, policies...)
		kv := len(f.Box.Lo)
		switch n % 4 {
		case 0: // a file of reports
			var b strings.Builder
			for range r.Intn(5) {
				j := r.Intn(kv)
				good := policyfile.Report(f.ID(), j)
				b.WriteString(values.Pick(r, good, good, good, " "+good+"\t", strings.ToUpper(good), good[:79], good+"0", "",
					"wpm2",
					policyfile.Report(values.Pick(r, policies...).ID(), 0), policyfile.Report(f.ID(), kv),
					policyfile.Report(f.ID(), 1<<20-1), policyfile.Report(f.ID(), 1<<20),
					policyfile.Report(strings.Repeat("0", 64), 0), policyfile.Report(strings.Repeat("0", 64), 1),
					"x"+good[1:], strings.Replace(good, "77706d31", "77706d32", 1)))
				b.WriteString(values.Pick(r, "\n", "\n", "\r\n"))
			}
			if r.Chance(30) {
				b.WriteString(policyfile.Report(f.ID(), 0))
			}
			in := aggregateIn{Op: "count", Policy: f.Text(), Name: values.Pick(r, shardNames...),
				Epoch: values.Pick(r, epochs...), File: b.String()}
			s.Valid(in, aggregateOut{countReports(f, in.Name, in.Epoch, in.File).text()})
		case 1, 2: // two parts
			epoch := values.Pick(r, epochs...)
			cut := r.Between(1, len(shardNames)-1)
			a := randomCounts(r, f.ID(), epoch, kv, append([]string(nil), shardNames[:cut][:min(cut, 2)]...)...)
			b := randomCounts(r, f.ID(), epoch, kv, append([]string(nil), shardNames[cut:][:1]...)...)
			reason := ""
			var flags []string
			switch {
			case n%12 == 1:
				b.policy, reason = hash("another"), "policy"
			case n%12 == 5:
				b.epoch, reason = epoch+"1", "epoch"
				if len(b.epoch) > 64 {
					b.epoch = ""
				}
			case n%12 == 9:
				b.reports, reason = append(b.reports, 0), "shape"
				flags = []string{"k!=kv"}
			case n%12 == 2:
				b.shards[0].id, reason = a.shards[0].id, "duplicate"
				flags = []string{"tie"}
			}
			in := aggregateIn{Op: "merge", Counts: []string{a.text(), b.text()}}
			if reason != "" {
				s.Invalid(reason, in, flags...)
				return
			}
			s.Valid(in, aggregateOut{merge(a, b).text()})
		case 3: // one text, as it is and spoiled
			c := randomCounts(r, f.ID(), values.Pick(r, epochs...), kv, "a", "b c")
			s.Valid(aggregateIn{Op: "decode", Counts: []string{c.text()}}, aggregateOut{c.text()})
			reason, text, flags := spoiledCounts(r, n/4, c)
			s.Invalid(reason, aggregateIn{Op: "decode", Counts: []string{text}}, flags...)
		}
	})
}

// limits adds simulated reports, binary ones, and counts at the limits of docs/spec/counts.md.
func limits(s *cases.Set, f policyfile.File) {
	good := policyfile.Report(f.ID(), 0)
	count := func(epoch, said, file string, counted ...string) {
		in := aggregateIn{Op: "count", Policy: f.Text(), Name: "a", Epoch: epoch, File: file}
		c := countReports(f, "a", said, strings.Join(counted, "\n"))
		c.shards[0].sha256, c.shards[0].bytes = hash(file), uint64(len(file))
		s.Valid(in, aggregateOut{c.text()}, "spelling")
	}
	const mark, seed = "wpm-simulation-1", " policy 0 seed 1\n"
	count("", "simulation", mark+seed+good+"\n", good)
	count("", "simulation", "\xef\xbb\xbf"+mark+seed+good, good)
	count("", "simulation", mark)
	count("simulation-2026", "simulation-2026", mark+seed+good+"\n"+mark+seed, good, mark)
	count("simulations", "simulations", mark+"23\n"+good, good)
	count("simulation", "simulation", good, good)
	count("", "", good+"\n"+mark+seed+good, good, mark, good)
	count("", "", " "+mark+seed+good, mark, good)
	count("", "", good[:8]+strings.ToUpper(good[8:])+"\n"+good, "x", good) // one fault: the ID in capital letters
	count("", "", "wpm1"+strings.Repeat("x", 36)+"wpm1", "x", "x")
	count("", "", "wpm1\n"+good+"\n", "x", "x", "x") // 86 bytes
	for _, epoch := range []string{"2026-07", "Simulation", "simulatio", "my-simulation"} {
		s.Invalid("epoch", aggregateIn{Op: "count", Policy: f.Text(), Name: "a", Epoch: epoch, File: mark + seed + good},
			"spelling")
	}
	const most = 1 << 53
	of := func(reports uint64, names ...string) countsFile {
		c := countsFile{policy: f.ID(), reports: []uint64{reports, 0}}
		for n, name := range names {
			c.shards = append(c.shards, shard{hash(name), name, 0, 0})
			if n == 0 {
				c.shards[0].bytes, c.shards[0].lines = reports, reports
			}
		}
		return c
	}
	decode := func(reason string, c countsFile) {
		in := aggregateIn{Op: "decode", Counts: []string{c.text()}}
		s.Add(reason, in, aggregateOut{c.text()}, "limit")
	}
	decode("", of(most, "a"))
	decode("format", of(most+1, "a"))
	decode("", of(5, strings.Repeat("a", 256)))
	decode("format", of(5, strings.Repeat("a", 257)))
	decode("", of(5, strings.Repeat("ü", 128)))
	decode("format", of(5, strings.Repeat("ü", 129)))
	decode("", of(0))
	decode("format", of(1)) // a line in no shard
	decode("", of(0, "\uffff", "\U00010000"))
	decode("format", of(0, "\U00010000", "\uffff")) // their order in UTF-16
	bytes := of(1, "a", "b")
	bytes.shards[0].bytes, bytes.shards[1].bytes = most-1, 1
	decode("", bytes)
	bytes.shards = append([]shard(nil), bytes.shards...)
	bytes.shards[1].bytes = 2
	decode("limit", bytes)
	add := func(reason string, a, b countsFile) {
		in := aggregateIn{Op: "merge", Counts: []string{a.text(), b.text()}}
		if reason != "" {
			s.Invalid(reason, in, "limit")
			return
		}
		s.Valid(in, aggregateOut{merge(a, b).text()}, "limit")
	}
	add("", of(most-1, "a"), of(1, "b"))
	add("limit", of(most-1, "a"), of(2, "b"))
	for _, lines := range []uint64{1, 100, 101} { // a copy, or equal by chance
		for _, other := range []uint64{lines, 100} {
			a, b := of(lines, "a"), of(other, "b")
			b.shards[0].sha256 = a.shards[0].sha256
			reason := ""
			if lines > 100 && other > 100 {
				reason = "duplicate"
			} else if lines != other {
				continue // of one hash, and of different lines: not of this world
			}
			add(reason, a, b)
		}
	}
	apart := of(1, "b")
	apart.epoch = "e"
	add("epoch", of(1, "a"), apart)
}

// spoiledCounts returns a text that breaks a rule of docs/spec/counts.md, another one at each turn.
func spoiledCounts(r *values.RNG, turn int, c countsFile) (reason, text string, flags []string) {
	c.reports = append([]uint64(nil), c.reports...)
	c.shards = append([]shard(nil), c.shards...)
	good := c.body()
	swap := func(old, new string) string { return seal(strings.Replace(good, old, new, 1)) }
	switch turn % 23 {
	case 0:
		return "format", c.text() + "\n", []string{"spelling"}
	case 1:
		return "format", strings.TrimSuffix(c.text(), "\n"), []string{"spelling"}
	case 2:
		return "format", swap("lines ", "lines 0"), []string{"spelling"}
	case 3:
		return "format", swap("policy ", "policy  "), []string{"spelling"}
	case 4:
		return "format", strings.ReplaceAll(c.text(), "\n", "\r\n"), []string{"spelling"}
	case 5: // a hash of another text
		return "format", good + "sha256 " + hash(good+" ") + "\n", []string{"sums-out"}
	case 6:
		return "format", strings.Replace(c.text(), "sha256 "+hash(good), "sha256 "+strings.ToUpper(hash(good)), 1) +
			values.Pick(r, "", "x"), []string{"spelling"}
	case 7:
		return "format", swap(fmt.Sprintf("lines %v\n", c.lines()),
			fmt.Sprintf("lines %v\n", new(big.Int).Add(c.lines(), big.NewInt(1)))), []string{"sums-out", "one-unit-out"}
	case 8:
		c.shards[0].lines++
		return "format", c.text(), []string{"sums-out", "one-unit-out"}
	case 9:
		c.shards[0], c.shards[1] = c.shards[1], c.shards[0]
		return "format", c.text(), []string{"wrong-order"}
	case 10:
		c.shards[1].id = c.shards[0].id
		return "duplicate", c.text(), []string{"tie"}
	case 11:
		c.shards[0].id = values.Pick(r, "", "a\x01", strings.Repeat("a", 257), "a\u0085")
		return "format", c.text(), []string{"spelling"}
	case 12:
		c.epoch = values.Pick(r, "a b", strings.Repeat("x", 65), "ü", "a/b")
		return "format", c.text(), []string{"spelling"}
	case 13:
		return "format", swap("refused malformed", "refused other-policy"), []string{"wrong-order"}
	case 14:
		c.policy = strings.ToUpper(c.policy)
		return "format", c.text(), []string{"spelling"}
	case 15:
		return "format", seal(strings.Replace(good, fmt.Sprintf("reports %d\n", len(c.reports)),
			fmt.Sprintf("reports %d\n", len(c.reports)+1), 1)), []string{"short"}
	case 16:
		return "limit", seal(good[:strings.LastIndex(good, "reports ")] + "reports 0\n"), []string{"short"}
	case 17:
		c.shards[0].bytes = 1<<53 + 1
		return "format", c.text(), []string{"one-unit-out"}
	case 18, 19, 20: // a number below zero, in sums that are right
		first := fmt.Sprintf("reports %d\n%d\n%d\n", len(c.reports), c.reports[0], c.reports[1])
		return "format", swap(first, fmt.Sprintf("reports %d\n-1\n%d\n", len(c.reports), c.reports[0]+c.reports[1]+1)),
			[]string{"negative"}
	case 21:
		first := fmt.Sprintf("reports %d\n", len(c.reports))
		return "format", swap(first, first+values.Pick(r, "0", "+", " ", "-0\n")), []string{"spelling"}
	}
	return "format", swap("wpm-counts-1", "wpm-counts-2"), []string{"spelling"}
}
