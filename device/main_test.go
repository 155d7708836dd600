package device

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// TestMainStops: an interrupt and a SIGTERM let the program end by itself, with its own status.
func TestMainStops(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("no process can send itself a signal")
	}
	signals := map[string]os.Signal{"interrupt": os.Interrupt, "terminate": syscall.SIGTERM}
	const child = "WPM_TEST_SIGNAL"
	if sig, ok := signals[os.Getenv(child)]; ok {
		Main("test", func(ctx context.Context) int {
			self, err := os.FindProcess(os.Getpid())
			if err != nil || self.Signal(sig) != nil {
				return 1
			}
			<-ctx.Done()
			return 77
		})
	}
	for name := range signals {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMainStops$")
		cmd.Env = append(os.Environ(), child+"="+name)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 77 {
			t.Errorf("%s: %v, want exit status 77: %s", name, err, out)
		}
	}
}
