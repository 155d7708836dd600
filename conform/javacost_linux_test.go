package conform

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestJavaCost: a release takes at most 1.5 of the memory of the JavaScript package, with the settings of java/README.md,
// from nothing, from text and from gzip. The two take turns, and medians are compared. Processor times are logged, for the
// table of that page; no test depends on a clock.
func TestJavaCost(t *testing.T) {
	classes, node := javaClasses(t), numtest.Program(t, "node")
	text, _ := example(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := bytes.Repeat([]byte("home,12\nwork,0.5\n"), 4<<20/17)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	programs := [][]string{
		{node, "../js/conform/hold.js"},
		{"java", "-Xmx40m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes, "wpm.Hold"},
	}
	for name, private := range map[string][]byte{"nothing": nil, "text": plain, "gzip": packed.Bytes()} {
		path := filepath.Join(dir, "private")
		if err := os.WriteFile(path, private, 0o600); err != nil {
			t.Fatal(err)
		}
		var took, most [2][]float64
		for range 7 {
			for n, program := range programs {
				in, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				os.Remove(filepath.Join(dir, "ledger"))
				cmd := exec.Command(program[0], append(program[1:], filepath.Join(dir, "ledger"), file, "2026-11")...)
				cmd.Stdin = in
				out, err := cmd.Output()
				in.Close()
				if err != nil || len(bytes.TrimSpace(out)) != 80 {
					t.Fatalf("%s: %q, %v", program[0], out, err)
				}
				took[n] = append(took[n], (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
				most[n] = append(most[n], float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
			}
		}
		for what, xs := range map[string][2][]float64{"s of processor time": took, "MiB": most} {
			for n := range xs {
				slices.Sort(xs[n])
			}
			js, java := xs[0][len(xs[0])/2], xs[1][len(xs[1])/2]
			t.Logf("%s: Java %.3g, JavaScript %.3g %s", name, java, js, what)
			if what == "MiB" && java > 1.5*js {
				t.Errorf("%s: Java takes %.3g %s, JavaScript %.3g", name, java, what, js)
			}
		}
	}
}
