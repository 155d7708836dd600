package conform

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestWasmDrawsNothing: the linker leaves in the solvers for JavaScript nothing of package policy that releases or
// pays, and nothing of package ldp that samples.
func TestWasmDrawsNothing(t *testing.T) {
	if !numtest.Full() {
		t.Skip("links two programs")
	}
	draws := regexp.MustCompile(`wpm/policy\.(Release|Account|OpenLedger|NewLedger)$|wpm/ldp\.\S*Sample`)
	found := func(pkg string) []string {
		bin := filepath.Join(t.TempDir(), "program")
		build := exec.Command("go", "build", "-o", bin, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		symbols, err := exec.Command("go", "tool", "nm", bin).Output()
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(?m)`+draws.String()).FindAllString(string(symbols), -1)
	}
	if names := found("../js/wasm"); len(names) > 0 {
		t.Errorf("js/wasm has %q", names)
	}
	if names := found("../cmd/wpm-device"); len(names) < 2 {
		t.Errorf("the device's program has %q only: the pattern sees nothing", names)
	}
}
