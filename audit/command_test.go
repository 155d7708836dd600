//go:build !js

package audit

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/policy"
)

// TestMain lets the tests run this very binary as the command to be audited: its first argument then says what
// to do.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "sampler:") {
		os.Exit(samplerMain(strings.TrimPrefix(os.Args[1], "sampler:"), os.Args[2:]))
	}
	os.Exit(m.Run())
}

// samplerMain is a program under audit: mode, policy file, n, input, label.
func samplerMain(mode string, args []string) int {
	data, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	p, err := policy.Decode(data)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return 3
	}
	input, label := args[2], args[3]
	private, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 3
	}
	// What it gets must fit together.
	w := p.Fallback()
	if input == "fallback" {
		if label != "" || len(private) != 0 {
			fmt.Fprintln(os.Stderr, "the fallback has data")
			return 4
		}
	} else {
		i, _ := strconv.Atoi(input)
		mu, err := policy.ParsePrivate(p, private)
		if err != nil || mu.Mu()[i] != 1 || p.InputLabel(i) != label {
			fmt.Fprintf(os.Stderr, "input %s, label %s, data %q, %v\n", input, label, private, err)
			return 4
		}
		if w, err = p.Row(i); err != nil {
			return 3
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	rng := rand.NewChaCha8(key("command", 1, int64(len(input))<<32+int64(input[0])))
	id := p.ID()
	for i := range n {
		j, err := w.Sample(rng)
		if err != nil {
			return 3
		}
		switch mode {
		case "good":
		case "leak": // the first output tells the first input
			if input == "0" && i%2 == 0 {
				j = 0
			}
		case "report":
			var r policy.Report
			b := binary.LittleEndian.AppendUint32(slices.Concat([]byte("wpm1"), id[:]), uint32(j))
			if r.UnmarshalBinary(b) != nil {
				return 3
			}
			fmt.Fprintln(out, r)
			continue
		case "foreign report":
			fmt.Fprintln(out, "77706d31"+strings.Repeat("ab", 32)+"00000000")
			continue
		case "short":
			if i == n-1 {
				return 0
			}
		case "long":
			if i == 0 {
				fmt.Fprintln(out, p.OutputLabel(j))
			}
		case "endless":
			for {
				if _, err := fmt.Fprintln(out, p.OutputLabel(j)); err != nil {
					return 0
				}
			}
		case "garbage":
			if i == 5 {
				fmt.Fprintln(out, "no such output")
				continue
			}
		case "long line":
			fmt.Fprint(out, strings.Repeat("x", 1<<20))
		case "fail":
			if i == 5 {
				out.Flush()
				fmt.Fprintln(os.Stderr, "something\nbroke", strings.Repeat("x", 10_000))
				return 7
			}
		case "late fail":
			if i == n-1 {
				fmt.Fprintln(out, p.OutputLabel(j))
				out.Flush()
				return 9
			}
		case "hang":
			time.Sleep(time.Hour)
		}
		fmt.Fprintln(out, p.OutputLabel(j))
	}
	return 0
}

// self returns the command line that runs this binary as a sampler.
func self(t *testing.T, mode, policyFile string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, "sampler:" + mode, policyFile, "{n}", "{input}", "{label}"}
}

func writePolicy(t *testing.T, p policy.Policy) string {
	t.Helper()
	b, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/policy"
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCommand audits programs: good ones pass, a leak is found, and what breaks the protocol is an error that
// says where.
func TestCommand(t *testing.T) {
	p := ring(t, 4, "1", 62, policy.Mixture)
	path := writePolicy(t, p)
	table := must(TableOf(p, 0, 1, 2, Fallback))
	for _, test := range []struct {
		mode     string
		violated bool
		want     string // in the error
	}{
		{"good", false, ""},
		{"report", false, ""},
		{"leak", true, ""},
		{"foreign report", false, "line 1"},
		{"short", false, "1999, want 2000"},
		{"long", false, "line 2001: more than the 2000"},
		{"endless", false, "more than the 2000"},
		{"garbage", false, `line 6: "no such output"`},
		{"long line", false, "line 1: bufio.Scanner: token too long"},
		{"fail", false, "exit status 7: something broke xxx"},
		{"late fail", false, "exit status 9"},
	} {
		s := must(Command(p, self(t, test.mode, path)))
		st, err := Statistical(context.Background(), Design{Table: table, Samples: 2000}, s)
		if test.want != "" {
			if !errors.Is(err, ErrSampler) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 1000 {
				t.Errorf("%s: %v, want an error with %q", test.mode, err, test.want)
			}
			continue
		}
		if err != nil || st.Violated != test.violated || st.Law.Differs != test.violated {
			t.Errorf("%s: %v, violated %v, law %+v", test.mode, err, st.Violated, st.Law)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := must(Command(p, self(t, "hang", path)))
	_, err := Statistical(ctx, Design{Table: table, Samples: 10, Serial: true},
		func(ctx context.Context, client Row, n int, counts []uint64) error {
			cancel() // before the program starts, or while it hangs: it must not be waited for
			return started(ctx, client, n, counts)
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("hang: %v", err)
	}
	for _, argv := range [][]string{nil, {}, {""}, {"/no/such/program"}, {t.TempDir()}} {
		if _, err := Command(p, argv); !errors.Is(err, ErrCommand) {
			t.Errorf("Command(%q): %v", argv, err)
		}
	}
}
