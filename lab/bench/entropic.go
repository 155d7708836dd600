//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
)

// residual is where the solvers of the entropic problem stop: an L1 distance between what the plan's columns sum to and
// q.
const residual = 1e-9

// entropicInstances are those of the promise, each at three regularisations.
var entropicInstances = []string{
	"ring30:dir:5", "ring30:dir:2", "grid20:dir:2", "grid20:sp20:2", "sq300p1:dir:2", "sq300p1:sp20:2",
	"cos1346x250:dir:2", "cos1346x250:sp20:2",
	"ring1000:dir:2", "ring1000:sp20:2", "sq1000p1:dir:2", "sq1000p1:sp20:2", "sq1000p2:dir:2", "sq1000p2:sp20:2",
	"sq1000p1:dir:0.5", "sq1000p1:dir:5",
	"sq1000p2:dir:0.5", "sq1000p2:dir:5", "cos1346x250:dir:0.5", "cos1346x250:dir:5", "cos1346x250:sp20:0.5",
	"cos1346x250:sp20:5",
	"grid50:dir:2", "grid50:sp20:2", "sq4000p2:sp20:2", "sq4000p1:sp20:2", "sq4000p2:dir:2",
}

var relativeRegs = []float64{0.1, 0.01, 0.001}

// entropic compares the time to a small residual with Algorithm 1 in numpy, and with POT's stabilised solver between mu
// and the q found.
func entropic(c *config, w io.Writer) error {
	fmt.Fprintf(w, "numpy: Algorithm 1, kernel domain (logarithms absorbed where it fails), bisection; stopped after %v s, so that its time is a lower bound then. POT:\n"+
		"sinkhorn_stabilized from mu to wpm's q, the same residual asked for; left out where it did not get there in 200 000 iterations or that time.\n"+
		"reg is relative to max C; ring, square, cosine and grid, 30 to 4000 points.\n"+
		"Rows without mass are left out by everybody.\n\n", c.Limit)
	t := c.lines("numpy", "POT")
	for _, name := range entropicInstances {
		for _, rho := range relativeRegs {
			if !strings.Contains(fmt.Sprintf("%s:%v", name, rho), c.Only) {
				continue
			}
			if err := c.entropicLine(name, rho, t); err != nil {
				return err
			}
		}
	}
	t.write(w)
	return nil
}

func (c *config) entropicLine(name string, rho float64, t *lines) error {
	in, err := newInstance(name)
	if err != nil {
		return err
	}
	in.param[0] = rho * slices.Max(in.C.Data)
	p := sinkhorn.Problem{Problem: projection.Problem{Cost: in.C, Lo: in.lo, Hi: in.hi}, Reg: in.param[0]}
	p.Support, p.Source = in.support()
	settings := sinkhorn.Settings{Tolerance: residual}
	first, err := sinkhorn.Project(context.Background(), p, settings)
	if err != nil {
		return fmt.Errorf("%s, reg %v: %w", name, rho, err)
	}
	in.target = first.Q
	file := c.tmp + "/entropic.bin"
	if err := in.write(file); err != nil {
		return err
	}
	peer, err := c.python("numpy_algorithm1.py", file, "residual", fmt.Sprint(residual), fmt.Sprint(c.Limit))
	if err != nil {
		return err
	}
	defer peer.close()
	stabilised, err := c.python("pot_sinkhorn.py", file, "sinkhorn_stabilized", fmt.Sprint(residual), fmt.Sprint(c.Limit))
	if err != nil {
		return err
	}
	defer stabilised.close()
	got, err := c.compare(often(func() (answer, error) {
		r, err := sinkhorn.Project(context.Background(), p, settings)
		return answer{Value: r.Residual, Met: err == nil}, err
	}), peer, stabilised)
	if err != nil {
		return err
	}
	if !got[1].Met {
		fmt.Fprintf(c.Log, "numpy was stopped after %d iterations\n", got[1].Steps)
	}
	if !got[2].Met {
		got[2].CPU = math.NaN()
	}
	kind := "dense"
	if len(p.Support) == 20 {
		kind = "20 atoms"
	}
	t.add(fmt.Sprintf("%s, reg %v", kind, rho), fmt.Sprintf("%s, reg %v", name, rho), got[0].CPU, got[1].CPU, got[2].CPU)
	return nil
}

// iteration compares one iteration of Algorithm 1 with the kernel in memory. The peers' is the time of many less the
// time of few; wpm's inner loop is not exported, so its own benchmark runs.
func iteration(c *config, w io.Writer) error {
	fmt.Fprintln(w, "Points in the unit square, p = 2, reg = 0.1 max C, bounds of eps = 2. POT's plain solver has no box, and no protection against underflow.\n\n"+
		"| k = kv | wpm | numpy, bisection | POT sinkhorn | wpm / numpy | wpm / POT |\n| --: | --: | --: | --: | --: | --: |")
	for _, k := range []int{250, 1000, 4000} {
		name := fmt.Sprintf("sq%dp2:dir:2", k)
		if !strings.Contains(name, c.Only) {
			continue
		}
		in, err := newInstance(name)
		if err != nil {
			return err
		}
		in.param[0] = 0.1 * slices.Max(in.C.Data)
		in.target = in.mu // any distribution will do
		file := c.tmp + "/iteration.bin"
		if err := in.write(file); err != nil {
			return err
		}
		const few = 20
		many := few + max(200, 40_000_000/(k*k))
		all := []runner{own(func() (answer, error) {
			return c.benchmark("sinkhorn", fmt.Sprintf("BenchmarkIteration/^%d$/^safe$", k))
		})}
		for _, peer := range []string{"numpy_algorithm1.py", "pot_sinkhorn.py"} {
			for _, n := range []int{few, many} {
				r, err := c.python(peer, file, "steps", fmt.Sprint(n))
				if err != nil {
					return err
				}
				defer r.close()
				all = append(all, r)
			}
		}
		got, err := c.compare(all...)
		if err != nil {
			return err
		}
		us := got[0].CPU
		numpy := (got[2].CPU - got[1].CPU) / float64(many-few)
		pot := (got[4].CPU - got[3].CPU) / float64(many-few)
		fmt.Fprintf(w, "| %d | %s | %s | %s | %.2f | %.2f |\n", k, seconds(us), seconds(numpy), seconds(pot), us/numpy,
			us/pot)
	}
	return nil
}

// benchmark runs one of a package's own benchmarks on one thread. Its figure is the processor time if the benchmark
// reports it, as that of the peers.
func (c *config) benchmark(pkg, name string) (answer, error) {
	cmd := exec.Command(c.Built+"/"+pkg+".test", "-test.run=^$", "-test.bench="+name)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // -test.cpu comes too late for a loop by B.Loop
	out, err := cmd.CombinedOutput()
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	for _, unit := range []string{"cpu-ns/op", "ns/op"} {
		f := strings.Fields(string(out))
		if i := slices.Index(f, unit); i > 0 {
			ns, err := strconv.ParseFloat(f[i-1], 64)
			return answer{CPU: ns * 1e-9, Met: true}, err
		}
	}
	return answer{}, fmt.Errorf("%s: no result in\n%s", name, out)
}
