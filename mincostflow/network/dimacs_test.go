package network

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wpm-go/wpm/wpmerr"
)

const smallDIMACS = `c the example of the format's description, with a bound more
p min 4 5
n 1 4
n 4 -4
a 1 2 0 4 2
a 1 3 0 2 2
a 2 3 0 2 1

a 2	4  0 3 3
a 3 4 1 -1 1
`

func TestReadDIMACS(t *testing.T) {
	inf := int64(Unlimited)
	long := strings.Repeat("x", 3*maxLine)
	for _, c := range []struct {
		name, in string
		want     *Problem
	}{
		{"the example", smallDIMACS, &Problem{[]int64{4, 0, 0, -4},
			[]Arc{{0, 1, 0, 4, 2}, {0, 2, 0, 2, 2}, {1, 2, 0, 2, 1}, {1, 3, 0, 3, 3}, {2, 3, 1, inf, 1}}}},
		{"nothing", "p min 0 0", &Problem{Supply: []int64{}}},
		{"no end of line", "p min 1 1\na 1 1 0 1 -5", &Problem{[]int64{0}, []Arc{{0, 0, 0, 1, -5}}}},
		{"other ends of line", "c\r\np min 1 0\r\n\r\n", &Problem{Supply: []int64{0}}},
		{"long comments", "c " + long + "\np min 1 0\nc " + long, &Problem{Supply: []int64{0}}},
		{"a long blank line within the limit", strings.Repeat(" ", maxLine-1) + "\np min 1 0", &Problem{Supply: []int64{0}}},
		{"infinities", "p min 2 4\na 1 2 -inf inf 0\na 1 2 -3 inf 0\na 1 2 -inf -1 0\na 2 1 -1 -1 0", &Problem{[]int64{0, 0},
			[]Arc{{0, 1, -inf, inf, 0}, {0, 1, -3, inf, 0}, {0, 1, -inf, -1, 0}, {1, 0, -1, -1, 0}}}},
		{"numbers at the edge", "p min 2 1\nn 1 -9223372036854775808\nn 2 9223372036854775807\na 1 2 -9223372036854775806 9223372036854775806 -9223372036854775808",
			&Problem{[]int64{-1 << 63, 1<<63 - 1}, []Arc{{0, 1, -inf + 1, inf - 1, -1 << 63}}}},
		{"leading zeros, minus zero", "p min 01 00\nn 01 -0", &Problem{Supply: []int64{0}}},
	} {
		for kind, r := range map[string]io.Reader{"at once": strings.NewReader(c.in),
			"byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			g, err := ReadDIMACS(r)
			if err != nil || !reflect.DeepEqual(g, c.want) {
				t.Errorf("%s, %s: %+v, %v; want %+v", c.name, kind, g, err, c.want)
			}
		}
	}
}

func TestReadDIMACSRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, says string }{
		{"nothing", "", `line 1: the file ends without a line "p min`},
		{"comments only", "c hello\n", `the file ends without`},
		{"another problem", "p max 4 5\n", `line 1: the problem is "max"`},
		{"a short problem line", "p min 4\n", "line 1: 3 fields"},
		{"a long problem line", "p min 4 5 6\n", "line 1: 5 fields"},
		{"two problem lines", "p min 4 5\nc\np min 4 5\n", "line 3: a second"},
		{"arc first", "c\na 1 2 0 1 1\np min 2 1\n", `line 2: "a" before`},
		{"node first", "n 1 2\np min 2 1\n", `line 1: "n" before`},
		{"another line", "p min 2 1\nx 1 2\n", `line 2: begins with "x"`},
		{"a long word", "p min 2 1\n" + strings.Repeat("y", 100), `yyy"; want c, p, n or a`},
		{"a comment without a blank", "p min 2 1\ncomment\n", `line 2: begins with "comment"`},
		{"capital letters", "P MIN 2 1\n", `line 1: begins with "P"`},
		{"negative nodes", "p min -2 1\n", "line 1: NODES is -2"},
		{"too many nodes", "p min 9999999999 1\n", "line 1: NODES is 9999999999"},
		{"too many arcs", "p min 1 9999999999\n", "line 1: ARCS is 9999999999"},
		{"one node too many", "p min 536870912 1\n", "line 1: NODES is 536870912"},
		{"one arc too many", "p min 1 536870912\n", "line 1: ARCS is 536870912"},
		{"as many arcs as may be", "p min 1 536870911\n", "the file ends after 0 arcs; 536870911 were announced"},
		{"a fraction", "p min 2 1\nn 1 0.5\n", `line 2: SUPPLY is "0.5"; want an integer`},
		{"an exponent", "p min 2 1\na 1 2 0 1e3 1\n", `line 2: UPPER is "1e3"`},
		{"hexadecimal", "p min 2 1\na 1 2 0 0x10 1\n", `line 2: UPPER is "0x10"`},
		{"underscores", "p min 2 1\na 1 2 0 1_0 1\n", `line 2: UPPER is "1_0"`},
		{"plus", "p min 2 1\na 1 2 0 +1 1\n", `line 2: UPPER is "+1"`},
		{"minus alone", "p min 2 1\nn 1 -\n", `line 2: SUPPLY is "-"`},
		{"two minuses", "p min 2 1\nn 1 --1\n", `line 2: SUPPLY is "--1"`},
		{"beyond 64 bits", "p min 2 1\na 1 2 0 1 9223372036854775808\n",
			`line 2: COST is "9223372036854775808"; want an integer of 64 bits`},
		{"infinity in digits", "p min 2 1\na 1 2 0 9223372036854775807 1\n",
			"line 2: UPPER is 9223372036854775807, which is too large"},
		{"minus infinity in digits", "p min 2 1\na 1 2 -9223372036854775808 0 1\n",
			"line 2: LOWER is -9223372036854775808, which is too large"},
		{"inf below", "p min 2 1\na 1 2 inf inf 1\n", `line 2: LOWER is "inf"`},
		{"-inf above", "p min 2 1\na 1 2 -inf -inf 1\n", `line 2: UPPER is "-inf"`},
		{"an infinite cost", "p min 2 1\na 1 2 0 1 inf\n", `line 2: COST is "inf"`},
		{"node zero", "p min 2 1\nn 0 1\n", "line 2: NODE is 0; want 1 to 2"},
		{"a node too far", "p min 2 1\na 1 3 0 1 1\n", "line 2: TO is 3"},
		{"an arc from too far", "p min 2 1\na 18446744073709551617 1 0 1 1\n", "line 2: FROM is"},
		{"a supply twice", "p min 2 0\nn 1 4\nn 2 1\nn 1 4\n", "line 4: the supply of node 1 has been given in line 2"},
		{"nodes after arcs", "p min 2 1\na 1 2 0 1 1\nn 1 4\n", `line 3: a line "n" after`},
		{"a short node line", "p min 2 1\nn 1\n", "line 2: 2 fields"},
		{"a short arc line", "p min 2 1\na 1 2 0 1\n", "line 2: 5 fields"},
		{"a long arc line", "p min 2 1\na 1 2 0 1 1 1\n", "line 2: 7 fields"},
		{"bounds crossed", "p min 2 1\na 1 2 5 4 1\n", "line 2: UPPER is 4, below LOWER, which is 5"},
		{"another negative upper bound", "p min 2 1\na 1 2 0 -2 1\n", "line 2: UPPER is -2, below"},
		{"more arcs", "p min 2 1\na 1 2 0 1 1\na 1 2 0 1 1\n", "line 3: more arcs than the 1 announced"},
		{"fewer arcs", "p min 2 2\na 1 2 0 1 1\n", "the file ends after 1 arcs; 2 were announced"},
		{"a long line", "p min 2 1\na 1 2 0 1 1" + strings.Repeat(" ", maxLine), "line 2: longer than"},
		{"a line of zeros", "p min 2 1\n" + strings.Repeat("\x00", 10*maxLine), "line 2: longer than"},
		{"gigabytes of nodes", "p min 500000000 0\n", "500000000 nodes were announced"},
	} {
		g, err := ReadDIMACS(strings.NewReader(c.in))
		if g != nil || !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v; want an error that says %q", c.name, g, err, c.says)
		}
	}
	// An error of the reader is not one of the file.
	for _, in := range []string{"", "p min 2 1\na 1 2 0 1 1", "p min 2 1\nc comment"} {
		_, err := ReadDIMACS(io.MultiReader(strings.NewReader(in), iotest.ErrReader(io.ErrClosedPipe)))
		if !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, ErrSyntax) {
			t.Errorf("a reader that fails after %q: %v", in, err)
		}
	}
}

// TestReadDIMACSMemory holds that a header asks for nothing.
func TestReadDIMACSMemory(t *testing.T) {
	const few = 1 << 20 // bytes; the headers ask for 4 GB at least
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, in := range []string{"p min 536870000 0\n", "p min 1 536870000\n",
		"p min 536870000 536870000\na 1 536870000 0 1 1"} {
		if _, err := ReadDIMACS(strings.NewReader(in)); err == nil {
			t.Errorf("%q was read", in)
		}
	}
	runtime.ReadMemStats(&after)
	got := after.TotalAlloc - before.TotalAlloc
	if got > few {
		t.Errorf("%d bytes for three hostile headers, want %d at most", got, few)
	}
}

func TestDIMACSRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		g := newDraw(seed + 35e6).network(9)
		var b bytes.Buffer
		if err := g.WriteDIMACS(&b); err != nil {
			t.Fatal(err)
		}
		h, err := ReadDIMACS(&b)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Arcs) == 0 {
			g.Arcs = nil
		}
		if !reflect.DeepEqual(g, h) {
			t.Fatalf("%+v\nread back as\n%+v", g, h)
		}
	}
	for _, g := range []*Problem{{Supply: []int64{0}, Arcs: []Arc{{To: 1}}},
		{Supply: []int64{0}, Arcs: []Arc{{Lower: 1}}}} {
		if err := g.WriteDIMACS(io.Discard); err == nil {
			t.Errorf("%+v was written, which cannot be read", g)
		}
	}
	if err := (&Problem{Supply: []int64{1}}).WriteDIMACS(io.Discard); err != nil {
		t.Errorf("an unbalanced network can be read, but not written: %v", err)
	}
}

func TestWriteDIMACS(t *testing.T) {
	inf := int64(Unlimited)
	g := &Problem{[]int64{2, 0, -2},
		[]Arc{{0, 1, 0, inf, -7}, {0, 2, 1, inf, 0}, {2, 0, -1, inf, 3}, {1, 2, -inf, inf, 3}, {1, 2, -inf, -1, 3},
			{1, 2, 4, 5, 3}}}
	want := "p min 3 6\nn 1 2\nn 3 -2\na 1 2 0 -1 -7\na 1 3 1 -1 0\na 3 1 -1 inf 3\na 2 3 -inf inf 3\na 2 3 -inf -1 3\na 2 3 4 5 3\n"
	var b bytes.Buffer
	if err := g.WriteDIMACS(&b); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

func TestWriteSolution(t *testing.T) {
	read := func(text string) *Problem {
		g, err := ReadDIMACS(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []struct{ name, in, want string }{
		{"optimal", smallDIMACS, "c optimal\ns 14\nf 1 2 2\nf 1 3 2\nf 2 3 2\nf 2 4 0\nf 3 4 4\n" +
			"c potential 1 0\nc potential 2 2\nc potential 3 3\nc potential 4 4\n"},
		{"infeasible", "p min 3 2\nn 1 2\nn 3 -2\na 1 2 0 1 0\na 2 3 0 9 0\n", "c infeasible\nc cut 1\n"},
		{"unbounded", "p min 2 2\na 1 2 0 inf 3\na 1 2 -inf 0 4\n",
			"c unbounded\ns 0\nf 1 2 0\nf 1 2 0\nc cycle 1 2 1\nc cycle 2 1 2 backward\n"},
	} {
		g := read(c.in)
		r := mustSolve(t, g)
		var b bytes.Buffer
		if err := r.WriteSolution(&b, g, true); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, b.String(), c.want)
		}
		var short bytes.Buffer
		if err := r.WriteSolution(&short, g, false); err != nil || !strings.HasPrefix(c.want, short.String()) ||
			short.Len() == b.Len() {
			t.Errorf("%s without proof:\n%s%v", c.name, short.String(), err)
		}
	}
	g := read(smallDIMACS)
	r := mustSolve(t, g)
	if err := r.WriteSolution(io.Discard, &Problem{}, true); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("the flow of another network: %v", err)
	}
	if err := (Result{Cycle: []Step{{Arc: 5}}}).WriteSolution(io.Discard, g, true); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("the cycle of another network: %v", err)
	}
	if err := r.WriteSolution(failing{}, g, true); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestDIMACSEnds: a last line of spaces without an end is none; a header that is no number; a solution of no network.
func TestDIMACSEnds(t *testing.T) {
	if g, err := ReadDIMACS(strings.NewReader("p min 2 1\na 1 2 0 3 1\n  ")); err != nil || len(g.Arcs) != 1 {
		t.Errorf("%+v, %v", g, err)
	}
	for _, text := range []string{"p min two 1\n", "p min 2 one\n"} {
		if _, err := ReadDIMACS(strings.NewReader(text)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %v, want ErrSyntax", text, err)
		}
	}
	r := Result{Status: Optimal, Flow: []int64{1}, Objective: big.NewInt(1)}
	if err := r.WriteSolution(io.Discard, nil, true); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("%v, want ErrShape", err)
	}
}
