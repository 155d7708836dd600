// Package python_test runs the tests of the Python package, which has no Go of this module.
package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPythonPackage builds the library and runs the tests in python/tests, with WPM_CLIENTS=1: they need a C compiler.
func TestPythonPackage(t *testing.T) {
	if os.Getenv("WPM_CLIENTS") != "1" {
		t.Skip("it needs Python, numpy and a C compiler: WPM_CLIENTS=1 runs it")
	}
	python := withNumpy(t)
	if out, err := exec.Command("./build").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	lib := exec.Command("go", "test", "-count=1", ".")
	lib.Dir = "lib" // a module of its own
	if out, err := lib.CombinedOutput(); err != nil {
		t.Errorf("go test in lib: %v\n%s", err, out)
	}
	if out, err := exec.Command(python, "-B", "-m", "unittest").CombinedOutput(); err != nil {
		t.Errorf("unittest: %v\n%s", err, out)
	}
}

// withNumpy finds a Python that has numpy: of several on a machine, often only the system's does.
func withNumpy(t *testing.T) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin") {
		name := filepath.Join(dir, "python3")
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Fatal("no python3 has numpy, which WPM_CLIENTS=1 wants")
	return ""
}
