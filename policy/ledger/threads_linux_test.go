package ledger

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
)

// A process that stands by has a thread for each goroutine that runs and each that may block, beside the one of the
// runtime that runs none. A new process has fewer, so a child is asked.
func TestStandBy(t *testing.T) {
	const variable = "WPM_TEST_THREADS"
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStandBy$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestStandBy") {
			t.Fatalf("%v\n%.4000s", err, out)
		}
		return
	}
	const running = 2
	runtime.GOMAXPROCS(running)
	threads := pprof.Lookup("threadcreate").Count
	before := threads()
	standBy()
	if want := running + blockedThreads + 1; threads() < want {
		t.Errorf("%d threads became %d, want %d", before, threads(), want)
	}
}
