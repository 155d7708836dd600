//go:build !js && !wasip1 && !ios

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/internal/child"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
)

// TestMain lets this test binary be wpm: under the name wpm-FAULT it is the whole command with a fault planted into
// its child, and under any name it is the child.
func TestMain(m *testing.M) {
	name, planted := strings.CutPrefix(filepath.Base(os.Args[0]), "wpm-")
	solves := len(os.Args) > 1 && os.Args[1] == published.SolverName
	if solves && planted {
		faults[name]()
	}
	if planted && !solves {
		switch name {
		case "deleted":
			_ = os.Remove(os.Args[0])
		case "not executable":
			_ = os.Chmod(os.Args[0], 0o600)
		}
	}
	if solves || planted {
		os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// solverWith is a child that does everything but solve: instead it calls f.
func solverWith(f func(ctx context.Context, mu []float64) ([]float64, error)) func() {
	return func() {
		err := child.Serve(os.Stdin, os.Stdout,
			func([]byte) (func(context.Context, []float64) ([]float64, error), error) { return f, nil })
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
}

// solverDoing is solverWith for what never comes to an answer.
func solverDoing(f func(mu []float64)) func() {
	return solverWith(func(_ context.Context, mu []float64) ([]float64, error) {
		f(mu)
		return nil, errors.New("came back")
	})
}

// raw is a child that says that it is ready, reads its request and writes what it likes.
func raw(f func(request []byte)) func() {
	return func() {
		var head [3]int64
		_ = binary.Read(os.Stdin, binary.LittleEndian, &head)
		_, _ = io.CopyN(io.Discard, os.Stdin, head[2])
		keep("started")
		_, _ = os.Stdout.Write([]byte{1})
		request, _ := io.ReadAll(os.Stdin)
		f(request)
		os.Exit(0)
	}
}

// keep copies the ledger as it is now.
func keep(name string) {
	b, _ := os.ReadFile("ledger")
	_ = os.WriteFile(name, b, 0o600)
}

// recurse has a large frame: a stack of small ones takes a second to grow.
func recurse(n int) int {
	var frame [1 << 12]byte
	frame[n%len(frame)] = byte(n)
	//lint:ignore SA5007 a fault that a child can have
	return recurse(n+1) + int(frame[0])
}

var hoard [][]byte

// faults are what a child can do wrong. Most tell private data to whoever listens.
var faults = map[string]func(){
	"none":     func() {},
	"at start": func() { panic("at start") },
	"panic":    solverDoing(func(mu []float64) { panic(mu) }),
	"goroutine": solverDoing(func(mu []float64) {
		go func() { panic(mu) }()
		select {}
	}),
	"overflow": solverDoing(func([]float64) { recurse(0) }),
	"memory": solverDoing(func([]float64) {
		for range 64 { // 4 GiB, far above the limit
			hoard = append(hoard, make([]byte, 1<<26))
		}
	}),
	"goexit": solverDoing(func([]float64) { runtime.Goexit() }),
	"exit 0": solverDoing(func([]float64) { os.Exit(0) }),
	"exit 3": solverDoing(func(mu []float64) {
		fmt.Println(mu)
		fmt.Fprintln(os.Stderr, mu)
		os.Exit(3)
	}),
	"error": solverWith(func(_ context.Context, mu []float64) ([]float64, error) {
		return nil,
			fmt.Errorf("%v", mu)
	}),
	"wrong length": solverWith(func(context.Context, []float64) ([]float64, error) { return []float64{1}, nil }),
	"not a number": solverWith(func(_ context.Context, mu []float64) ([]float64, error) {
		return slices.Repeat([]float64{math.NaN()}, len(mu)), nil
	}),
	"hang": solverDoing(func([]float64) {
		_ = os.WriteFile("pid", []byte(strconv.Itoa(os.Getpid())), 0o600)
		select {}
	}),
	"killed": solverDoing(func([]float64) {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}),
	"debit":   raw(func([]byte) { keep("asked") }),
	"echo":    raw(func(request []byte) { _, _ = os.Stdout.Write(request) }),
	"nothing": raw(func([]byte) {}),
	"short":   raw(func([]byte) { _, _ = os.Stdout.Write(make([]byte, 39)) }),
	"long":    raw(func([]byte) { _, _ = os.Stdout.Write(make([]byte, 41)) }),
	"zeros":   raw(func([]byte) { _, _ = os.Stdout.Write(make([]byte, 40)) }),
	"endless": raw(func([]byte) {
		for {
			_, _ = os.Stdout.Write(make([]byte, 1<<16))
			_, _ = os.Stderr.Write(make([]byte, 1<<16))
		}
	}),
	"deaf": func() { time.Sleep(time.Hour) }, // reads nothing
	"grandchild": raw(func([]byte) { // somebody else keeps the pipes
		cmd := exec.Command(os.Args[0], published.SolverName)
		cmd.Args[0] = "wpm-sleeper"
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		_ = cmd.Start()
	}),
	"sleeper":        func() { time.Sleep(2 * time.Second); os.Exit(0) },
	"deleted":        func() {},
	"not executable": func() {},
}

// unready are the faults that strike before the child is ready.
var unready = map[string]bool{"at start": true, "deaf": true, "deleted": true, "not executable": true}

// plantedCommand returns the name of this test binary as wpm with a fault.
func plantedCommand(t *testing.T, fault string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "wpm-"+fault)
	if fault != "not executable" && os.Link(exe, path) == nil { // a link shares its mode with this binary
		return path
	}
	b, err := os.ReadFile(exe)
	if err == nil {
		err = os.WriteFile(path, b, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSolverFaults: whatever the solver's process does once it is ready, wpm release has status 0, one debit, one report
// of the usual length and says nothing; that process starts before the debit, is asked when the debit is on disk, and is
// over when wpm release ends. A process that does not become ready is a refusal before the debit.
func TestSolverFaults(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a program that runs cannot be renamed or deleted here")
	}
	// By itself without rows for one fault of each kind: an answer of the solver, none, none in time.
	plain := map[string]bool{"none": true, "error": true, "killed": true, "zeros": true}
	policies := map[string]string{}
	for _, limit := range []string{patient, brief} {
		policies[limit] = filepath.Join(t.TempDir(), "policy")
		must(t, "", "design", "-ring", "5", "-eps", "1", "-mode", "projection", "-work-limit", limit, "-o", policies[limit])
	}
	policies[""] = write(t, t.TempDir(), "policy", string(mustRead(t, policies[patient])))
	withoutRows(t, policies[""])
	for fault := range faults {
		if fault == "sleeper" || fault == "deaf" && !numtest.Full() || fault == "memory" && (!numtest.Full() || runtime.GOOS != "linux") {
			continue
		}
		for _, rows := range []bool{true, false} {
			if !rows && (workLimit(fault) != patient || !plain[fault] && !numtest.Full()) {
				continue
			}
			policyFile := policies[workLimit(fault)]
			if !rows {
				policyFile = policies[""]
			}
			t.Run(fmt.Sprintf("%s, rows %v", fault, rows), func(t *testing.T) {
				if workLimit(fault) == brief { // they only wait
					t.Parallel()
				}
				testFault(t, fault, policyFile)
			})
		}
	}
}

// testFault is a row of TestSolverFaults.
func testFault(t *testing.T, fault, policyFile string) {
	dir := t.TempDir()
	cmd := exec.Command(plantedCommand(t, fault), "release", "-ledger", "ledger", "-budget", "1", "-epoch", "e",
		policyFile)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTRACEBACK=crash") // must not reach the child
	cmd.Stdin = strings.NewReader("0,3\n2,1\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	ledger, ledgerErr := os.ReadFile(filepath.Join(dir, "ledger"))
	if ledgerErr != nil {
		t.Fatal(ledgerErr)
	}
	if unready[fault] {
		if err == nil || len(out) != 0 || !strings.Contains(errs.String(), "the solver's process: child: not started") ||
			bytes.Count(ledger, []byte("\n")) != 1 {
			t.Errorf("%v, report %q, error output %q, ledger %q", err, out, errs.Bytes(), ledger)
		}
		return
	}
	if err != nil || len(out) != 81 || errs.Len() != 0 {
		t.Fatalf("%v, report %q, error output %q", err, out, errs.Bytes())
	}
	if err != nil || bytes.Count(ledger, []byte("\ndebit 1 ")) != 1 || bytes.Count(ledger, []byte("\nreport ")) != 1 ||
		bytes.Count(ledger, []byte("\n")) != 3 {
		t.Errorf("ledger %q, %v", ledger, err)
	}
	switch fault {
	case "debit":
		seen, err := os.ReadFile(filepath.Join(dir, "started"))
		if err != nil || bytes.Count(seen, []byte("\n")) != 1 || !bytes.HasPrefix(ledger, seen) {
			t.Errorf("when the solver started the ledger was %q, %v", seen, err)
		}
		seen, err = os.ReadFile(filepath.Join(dir, "asked"))
		if err != nil || bytes.Count(seen, []byte("\ndebit 1 ")) != 1 || !bytes.HasPrefix(ledger, seen) {
			t.Errorf("when the solver was asked the ledger was %q, %v", seen, err)
		}
	case "hang":
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
			t.Errorf("the solver's process %d is still there", pid)
		}
	}
}

// workLimit is long where the child is to come to its fault, and short where its time must run out.
func workLimit(fault string) string {
	switch fault {
	case "hang", "deaf", "goexit": // the process goes on without its first goroutine
		return brief
	}
	return patient
}

const patient, brief = "1m0s", "2s"

// withoutRows takes the rows out of a policy file.
func withoutRows(t *testing.T, path string) {
	t.Helper()
	text, err := published.Bare(decoded(t, path))
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func decoded(t *testing.T, path string) policy.Policy {
	t.Helper()
	p, err := policy.Decode(mustRead(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProjector: the process answers what the solver answers here, bit for bit.
func TestProjector(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy")
	must(t, "", "design", "-eps", "1/2", "-mode", "projection", "-o", file, "-grid", "3x4")
	p := decoded(t, file)
	mu := make([]float64, p.Inputs())
	mu[0], mu[7] = 1./3, 2./3
	for _, solver := range []wpm.Solver{wpm.Exact, wpm.Entropic} {
		m, err := wpm.Load(context.Background(), p, wpm.Options{Solver: solver})
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Projector()(context.Background(), mu)
		if err != nil {
			t.Fatal(err)
		}
		by, err := published.Projector(context.Background(), p, solver)
		if err != nil {
			t.Fatal(err)
		}
		project, end, err := by.Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := project(context.Background(), mu); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v, want %v", solver, got, err, want)
		}
		end()
	}
}
