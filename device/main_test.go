package device

import (
	"context"
	"errors"
	"io"
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

// TestFill: what a file that is filled cannot take names the file; an error of what fills it comes back as it is.
func TestFill(t *testing.T) {
	own := errors.New("own")
	for _, c := range []struct {
		name string
		fill func(io.Writer) error
		want string
	}{
		{"long", func(w io.Writer) error { _, err := w.Write(make([]byte, 10_000)); return err },
			`cannot write "-": no space`},
		{"short", func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }, `cannot write "-": no space`},
		{"own", func(io.Writer) error { return own }, "own"},
	} {
		if err := WriteFiles(full{}, Output{Path: "-", Fill: c.fill}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
