package numtest

import (
	"os"
	"os/exec"
	"testing"
)

// Full reports whether this run is to be thorough: with WPM_FULL=1, as `.ci/full` runs every test, and not with
// -short. By itself a test takes its fixed cases and some of the drawn ones; with Full it takes all, and the largest
// sizes. Mutants are judged by what a test does by itself.
func Full() bool { return os.Getenv("WPM_FULL") != "" && !testing.Short() }

// Cases returns few, or all if the run is Full.
func Cases(few, all int) int {
	if Full() {
		return all
	}
	return few
}

// SkipUnlessFull skips a test that only a Full run affords, for a reason.
func SkipUnlessFull(t testing.TB, reason string) {
	t.Helper()
	if !Full() {
		t.Skip(reason + ": WPM_FULL=1 runs it")
	}
}

// Program returns where a program of another language is that a test starts, as python3 or node. Such tests run only
// with WPM_CLIENTS=1, as `.ci/run clients` runs them; that the program is not there is then an error.
func Program(t testing.TB, name string) string {
	t.Helper()
	if os.Getenv("WPM_CLIENTS") == "" {
		t.Skip("starts " + name + ": WPM_CLIENTS=1 runs it")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("WPM_CLIENTS=1 wants %s: %v", name, err)
	}
	return path
}
