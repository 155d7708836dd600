//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// policies measures what a device does with policies of version 2: of random points of the unit square, without labels,
// under the uniform base measure of mass 1 at eps = 2. There is no peer.
func policies(c *config, w io.Writer) error {
	fmt.Fprintln(w, "Random points of the unit square, eps = 2, the uniform base measure of mass 1, no labels. `policy.Release` is on a")
	fmt.Fprintln(w, "decoded policy, without a ledger. The commands are those of `wpm-device`, from start to end; the release makes its")
	fmt.Fprintln(w, "ledger. Times are processor time with one thread, medians; memory is the largest resident set. Growth is the exponent of")
	fmt.Fprintln(w, "the number of places, from the row above.")
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| places | file | growth | policy.Release | growth | command release | growth | memory | growth | "+
		"command verify -privacy-only | growth | memory |")
	fmt.Fprintln(w, "| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	device := filepath.Join(c.tmp, "wpm-device")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", device,
		"github.com/wpm-go/wpm/cmd/wpm-device")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	var last []float64
	before := 0
	for _, n := range []int{4_000, 20_000, 100_000} {
		if c.Only != "" && !strings.Contains(fmt.Sprint(n), c.Only) {
			continue
		}
		now, err := c.policy(device, n)
		if err != nil {
			return fmt.Errorf("%d places: %w", n, err)
		}
		growth := func(i int) string {
			if last == nil {
				return "-"
			}
			return fmt.Sprintf("%.2f", exponent(last[i], now[i], before, n))
		}
		fmt.Fprintf(w, "| %d | %.2f MB | %s | %s | %s | %s | %s | %.1f MB | %s | %s | %s | %.1f MB |\n", n, now[0]/1e6,
			growth(0), seconds(now[1]), growth(1),
			seconds(now[2]), growth(2), now[3]/1e6, growth(3), seconds(now[4]), growth(4), now[5]/1e6)
		last, before = now, n
	}
	return nil
}

// policy returns medians for a policy of n places: bytes of the file, seconds of a release, and seconds and bytes of
// the commands release and verify.
func (c *config) policy(device string, n int) ([]float64, error) {
	text, err := published(n)
	if err != nil {
		return nil, err
	}
	p, err := policy.Decode(text)
	if err != nil {
		return nil, err
	}
	private := []byte("7,1\n9,2\n")
	dir, err := os.MkdirTemp(c.tmp, "policy-")
	if err != nil {
		return nil, err
	}
	file, counts := filepath.Join(dir, "policy"), filepath.Join(dir, "counts")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(counts, private, 0o600); err != nil {
		return nil, err
	}
	a, err := often(func() (answer, error) {
		_, err := policy.Release(context.Background(), p, ledger.UnaccountedForTesting(), private, nil)
		return answer{Met: true}, err
	}).run()
	if err != nil {
		return nil, err
	}
	var release, verify [][2]float64
	for run := range c.Runs {
		ledger := filepath.Join(dir, fmt.Sprintf("ledger-%d", run))
		r, err := used(device, "release", "-ledger", ledger, "-budget", "2", "-epoch", "a", file, counts)
		if err != nil {
			return nil, err
		}
		v, err := used(device, "verify", "-privacy-only", file)
		if err != nil {
			return nil, err
		}
		release, verify = append(release, r), append(verify, v)
	}
	return []float64{float64(len(text)), a.CPU, middle(release, 0), middle(release, 1), middle(verify, 0),
		middle(verify, 1)}, nil
}

func middle(runs [][2]float64, at int) float64 {
	var all []float64
	for _, r := range runs {
		all = append(all, r[at])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// published is the text of a policy of n places.
func published(n int) ([]byte, error) {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	x := make([][]float64, n)
	for i := range x {
		x[i] = []float64{r.Float64(), r.Float64()}
	}
	points, err := cost.NewPoints(x, nil, 1)
	if err != nil {
		return nil, err
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		return nil, err
	}
	m, err := wpm.New(context.Background(), points, slices.Repeat([]float64{1 / float64(n)}, n), eps, wpm.Options{})
	if err != nil {
		return nil, err
	}
	p, err := m.Publish(context.Background(),
		policy.Config{Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		return nil, err
	}
	return policy.Encode(p)
}

// used runs a command in a child of a child of this process, and returns its processor time in seconds and its largest
// resident set in bytes. A process starts with the resident set of the one that started it as its largest: that of this
// one is large, and that of a fresh one is small.
func used(command ...string) (u [2]float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return u, err
	}
	cmd := exec.Command(self, append([]string{measureFlag}, command...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return u, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, &errs)
	}
	return u, json.Unmarshal(out, &u)
}

// measure runs a command with one thread and prints what it used.
func measure(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("no usage of %s", command[0])
	}
	s := cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()
	return json.NewEncoder(os.Stdout).Encode([2]float64{s.Seconds(), float64(usage.Maxrss) * 1024}) // kilobytes, on Linux
}

// exponent is how a figure grows with a size.
func exponent(a, b float64, from, to int) float64 {
	return math.Log(b/a) / math.Log(float64(to)/float64(from))
}
