//go:build !js && !wasip1 && !ios

package child

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestMain lets this test binary be the child: its first argument then says which.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && len(os.Args[1]) > 0 && os.Args[1][0] != '-' {
		os.Exit(play(os.Args[1]))
	}
	os.Exit(m.Run())
}

func play(part string) int {
	switch part {
	case "babble":
		_, _ = os.Stdout.WriteString("x")
		return 0
	case "mute":
		return 0
	case "deaf":
		time.Sleep(time.Hour)
	}
	load := func(public []byte) (func(context.Context, []float64) ([]float64, error), error) {
		switch part {
		case "refuse":
			return nil, errors.New("refused")
		case "short":
			return func(context.Context, []float64) ([]float64, error) { return nil, nil }, nil
		case "long":
			return func(context.Context, []float64) ([]float64, error) {
				_, err := os.Stdout.Write(make([]byte, 1<<20))
				return make([]float64, 3), err
			}, nil
		case "fail":
			return func(_ context.Context, mu []float64) ([]float64, error) { return mu, errors.New("failed") }, nil
		case "environment":
			return func(context.Context, []float64) ([]float64, error) {
				for _, v := range os.Environ() {
					if v != "" && v[0] != '=' && v[:min(len(v), 11)] != "SYSTEMROOT=" {
						return nil, errors.New(v)
					}
				}
				return []float64{1}, nil
			}, nil
		case "half", "twice":
			return func(context.Context, []float64) ([]float64, error) {
				n := Memory(1, 1) / 2
				if part == "twice" {
					n *= 4
				}
				b := make([]byte, n) // no page of it is touched
				return []float64{float64(len(b))}, nil
			}, nil
		case "deadline":
			return func(ctx context.Context, mu []float64) ([]float64, error) {
				<-ctx.Done() // and then answers in the time that is left
				return mu, nil
			}, nil
		case "hang":
			return func(context.Context, []float64) ([]float64, error) { select {} }, nil
		}
		return func(_ context.Context, mu []float64) ([]float64, error) {
			if string(public) != "public" {
				return nil, errors.New("another public part")
			}
			return append(slices.Clone(mu), -mu[0]), nil
		}, nil
	}
	if Serve(os.Stdin, os.Stdout, load) != nil {
		return 5
	}
	return 0
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// begin starts this test binary in a part.
func begin(t *testing.T, part string, k, kv int) *Process {
	t.Helper()
	c, err := Program{[]string{self(t), part}, []byte("public"), k, kv}.Start(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", part, err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestProject: numbers go there and back bit for bit, whatever they are, once.
func TestProject(t *testing.T) {
	c := begin(t, "negate", 5, 6)
	mu := []float64{0.1, math.NaN(), math.Inf(-1), math.Copysign(0, -1), 5e-324}
	q, err := c.Project(context.Background(), mu)
	if err != nil || len(q) != 6 || q[5] != -0.1 {
		t.Fatalf("%v, %v", q, err)
	}
	for i, v := range mu {
		if math.Float64bits(q[i]) != math.Float64bits(v) {
			t.Errorf("%v came back as %v", v, q[i])
		}
	}
	if q, err := c.Project(context.Background(), mu); q != nil || !errors.Is(err, ErrChild) {
		t.Errorf("a second request: %v, %v", q, err)
	}
	if _, err := begin(t, "negate", 5, 6).Project(context.Background(), mu[:4]); !errors.Is(err, ErrChild) {
		t.Errorf("4 numbers for 5 inputs: %v", err)
	}
	if q, err := begin(t, "environment", 1, 1).Project(context.Background(), mu[:1]); err != nil || len(q) != 1 {
		t.Errorf("the child has an environment: %v", err)
	}
}

// TestStartFailures: a program that cannot be started, or does not load, is an error of Start.
func TestStartFailures(t *testing.T) {
	for name, argv := range map[string][]string{
		"refuse": {self(t), "refuse"}, "no program": nil, "no such program": {t.TempDir() + "/none"},
		"a folder": {t.TempDir()}, "another first byte": {self(t), "babble"}, "no byte": {self(t), "mute"},
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := (Program{argv, []byte("public"), 1, 3}).Start(t.Context()); c != nil || !errors.Is(err, ErrStart) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if c, err := (Program{[]string{self(t), "negate"}, nil, 0, 3}).Start(t.Context()); c != nil || !errors.Is(err, ErrStart) {
		t.Errorf("no inputs: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c, err := Program{[]string{self(t), "deaf"}, make([]byte, maxPublic), 1, 3}.Start(ctx)
	if c != nil || !errors.Is(err, ErrStart) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a child that never reads: %v", err)
	}
}

// TestProjectFailures: a child that does not answer is an error, with no number.
func TestProjectFailures(t *testing.T) {
	for name, part := range map[string]string{"fail": "fail", "short": "short", "too short": "negate", "long": "long"} {
		t.Run(name, func(t *testing.T) {
			if q, err := begin(t, part, 1, 3).Project(context.Background(), []float64{1}); q != nil || !errors.Is(err, ErrChild) {
				t.Errorf("%s: %v, %v", name, q, err)
			}
		})
	}
}

// TestMemory: the child gets what it may have, and dies at more.
func TestMemory(t *testing.T) {
	if !numtest.Full() || runtime.GOOS != "linux" || bits.UintSize == 32 {
		t.Skip("a gigabyte, and a system with a limit")
	}
	for part, works := range map[string]bool{"half": true, "twice": false} {
		if q, err := begin(t, part, 1, 1).Project(context.Background(), []float64{1}); (err == nil) != works {
			t.Errorf("%s of the memory: %v, %v", part, q, err)
		}
	}
}

// TestTime: a child is told its deadline and may answer a little later; when that is over, when the context is
// cancelled and when the Process is closed, it is killed.
func TestTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second) // one more to answer
	defer cancel()
	if !numtest.Full() {
		t.Log("the deadline is not waited for")
	} else if q, err := begin(t, "deadline", 1, 1).Project(ctx, []float64{0.5}); err != nil || q[0] != 0.5 ||
		ctx.Err() == nil {
		t.Errorf("at the deadline: %v, %v", q, err)
	}
	for name, stop := range map[string]func(c *Process) context.Context{
		"late": func(*Process) context.Context {
			ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
			t.Cleanup(stop)
			return ctx
		},
		"over": func(*Process) context.Context {
			ctx, stop := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
			t.Cleanup(stop)
			return ctx
		},
		"cancelled": func(*Process) context.Context {
			ctx, stop := context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, stop)
			return ctx
		},
		"closed": func(c *Process) context.Context {
			time.AfterFunc(50*time.Millisecond, c.Close)
			return context.Background()
		},
		"closed before": func(c *Process) context.Context { c.Close(); return context.Background() },
	} {
		t.Run(name, func(t *testing.T) {
			c := begin(t, "hang", 1, 1)
			if q, err := c.Project(stop(c), []float64{1}); q != nil || !errors.Is(err, ErrChild) {
				t.Errorf("%s: %v, %v", name, q, err)
			}
			c.Close()
			if c.cmd.ProcessState == nil {
				t.Errorf("%s: the child was not waited for", name)
			}
		})
	}
}

func head(v ...int64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// TestOrphan: a child whose parent is no more ends itself when its time is over.
func TestOrphan(t *testing.T) {
	now := time.Now().UnixNano()
	cmd := exec.Command(self(t), "hang")
	cmd.Stdin = bytes.NewReader(append(head(1, 1, 0, now, now+5e7), make([]byte, 8)...))
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the child ended with %v, want its own status 1", err)
	}
}

// TestServeErrors: a request that is cut or out of range is refused before anything is computed. Only the last two get
// as far as the limits of the process.
func TestServeErrors(t *testing.T) {
	never := func([]byte) (func(context.Context, []float64) ([]float64, error), error) {
		return nil, fmt.Errorf("load was called")
	}
	for name, request := range map[string][]byte{
		"empty": nil, "half a head": head(1), "k = 0": head(0, 1, 0), "kv = 0": head(1, 0, 0),
		"k too large": head(maxEntries+1, 1, 0), "kv too large": head(1, math.MaxInt64, 0),
		"public too long": head(1, 1, maxPublic+1), "negative": head(1, 1, -1),
	} {
		t.Run(name, func(t *testing.T) {
			if err := Serve(bytes.NewReader(request), io.Discard, never); !errors.Is(err, ErrRequest) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	// What comes after the limits, in a process that may have them.
	end := time.Now().Add(time.Hour).UnixNano()
	for name, request := range map[string][]byte{
		"no public part": head(1, 1, 5), "no times": append(head(2, 1, 6), "public"...),
		"no numbers": append(append(append(head(2, 1, 6), "public"...), head(end, end)...), "1234567"...),
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(self(t), "negate")
			cmd.Stdin = bytes.NewReader(request)
			var exit *exec.ExitError
			if out, err := cmd.Output(); !errors.As(err, &exit) || exit.ExitCode() != 5 || len(bytes.TrimPrefix(out, []byte{ready})) != 0 {
				t.Errorf("%s: %v, %q", name, err, out)
			}
		})
	}
}
