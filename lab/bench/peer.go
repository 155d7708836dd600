//go:build unix

package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// answer is one run: processor time, the value reached and whether the goal was met.
type answer struct {
	CPU   float64 `json:"cpu"`
	Value float64 `json:"value"`
	Steps int     `json:"steps"`
	Met   bool    `json:"met"`
}

// runner solves its instance once more at each call.
type runner interface {
	run() (answer, error)
	close()
}

// own is wpm itself, in this process.
type own func() (answer, error)

func (f own) run() (answer, error) {
	runtime.GC() // nobody else's garbage
	start := cpu()
	a, err := f()
	if a.CPU == 0 {
		a.CPU = cpu() - start
	}
	return a, err
}

func (own) close() {}

// often runs f so many times that the clock can see it, and reports the time of one.
func often(f func() (answer, error)) own {
	return func() (answer, error) {
		for n := 1; ; n *= 4 {
			start := cpu()
			var a answer
			var err error
			for range n {
				if a, err = f(); err != nil {
					return a, err
				}
			}
			if used := cpu() - start; used > 0.02 {
				a.CPU = used / float64(n)
				return a, nil
			}
		}
	}
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	s := func(t syscall.Timeval) float64 { return float64(t.Sec) + 1e-6*float64(t.Usec) }
	return s(u.Utime) + s(u.Stime)
}

// process is a peer's driver.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a driver with one thread and waits until it has read its instance.
func start(name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...)}
	p.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := p.out.ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		p.close()
		return nil, fmt.Errorf("%s %s: %q, %w", name, strings.Join(args, " "), line, errors.Join(err))
	}
	return p, nil
}

func (p *process) run() (answer, error) {
	a := answer{Met: true}
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		return a, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("%s: %w", p.cmd.Path, err)
	}
	return a, json.Unmarshal(line, &a)
}

func (p *process) close() {
	p.in.Close()
	_ = p.cmd.Wait()
}

// python and compiled start a driver on an instance file.
func (c *config) python(driver string, args ...string) (runner, error) {
	return start("/usr/bin/python3", append([]string{c.Peers + "/" + driver}, args...)...)
}

func (c *config) compiled(driver string, args ...string) (runner, error) {
	return start(c.Built+"/"+driver, args...)
}

// patience is how long a run of a peer may take, in seconds, to be repeated.
const patience = 3

// apart is the time between two rounds of runs. A virtual machine whose neighbours are busy is slow for a second or so;
// that may be in one round of five, or in two, and does not change the median.
const apart = 1500 * time.Millisecond

// compare runs all in alternation and returns the median times, with the last answer of each.
func (c *config) compare(all ...runner) ([]answer, error) {
	times := make([][]float64, len(all))
	last := make([]answer, len(all))
	var round time.Time
	for range c.Runs {
		for time.Since(round) < apart { // awake: a processor that has slept is slow at first
		}
		round = time.Now()
		for n, r := range all {
			if n > 0 && len(times[n]) > 0 && times[n][0] > patience {
				continue
			}
			a, err := r.run()
			if err != nil {
				return nil, err
			}
			times[n], last[n] = append(times[n], a.CPU), a
		}
	}
	for n := range last {
		slices.Sort(times[n])
		last[n].CPU = times[n][len(times[n])/2]
	}
	return last, nil
}
