//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/mincostflow"
)

// transportNames are the instances: both clouds, 2 and 50 dimensions, both powers, both kinds of mass, at one size.
func transportNames(k int) (names []string) {
	for _, space := range []string{"gauss", "square"} {
		for _, dim := range []int{2, 50} {
			for _, p := range []int{1, 2} {
				for _, mass := range []string{"equal", "dir"} {
					names = append(names, fmt.Sprintf("%s%dx%dp%d:%s", space, k, dim, p, mass))
				}
			}
		}
	}
	return names
}

// Peers that take minutes on larger problems are tried up to these sizes.
const (
	largestHiGHS = 250
	largestLSA   = 2000
)

func transports(c *config, w io.Writer) error {
	fmt.Fprint(w, "Gaussian clouds (N(0, 1) and N(1, 0.8^2)) and the unit square, in 2 and 50 dimensions, p = 1 and 2. LEMON: the best of its pivot rules.\n"+
		"assignment: scipy's linear_sum_assignment, equal weights only. HiGHS: dual simplex through scipy.\n\n")
	t := c.lines("POT", "LEMON", "assignment", "HiGHS")
	worst := 0.0
	for _, k := range []int{250, 1000, 2000, 4000} {
		for _, name := range transportNames(k) {
			if strings.Contains(name, c.Only) {
				pivots, err := c.transportLine(name, t)
				if err != nil {
					return err
				}
				worst = max(worst, pivots)
			}
		}
	}
	t.write(w)
	fmt.Fprintf(w, "\nwpm takes at most %.1f pivots for each row or column.\n", worst)
	return nil
}

func (c *config) transportLine(name string, t *lines) (pivots float64, err error) {
	in, err := newTransport(name)
	if err != nil {
		return 0, err
	}
	in.lo, in.hi = slices.Clone(in.target), slices.Clone(in.target)
	for j := range in.hi { // LEMON counts masses in units: room for their roundings
		in.lo[j] = max(0, in.lo[j]-1e-12)
		in.hi[j] += 1e-12
	}
	file := c.tmp + "/transport.bin"
	if err := in.write(file); err != nil {
		return 0, err
	}
	var stats mincostflow.Stats
	all := []runner{often(func() (answer, error) {
		r, err := mincostflow.Transport(context.Background(), in.C, in.mu, in.target)
		stats = r.Stats
		return answer{Value: r.Objective, Met: true}, err
	})}
	equal := strings.HasSuffix(name, ":equal")
	add := func(wanted bool, start func() (runner, error)) error {
		if !wanted {
			all = append(all, own(func() (answer, error) { return answer{CPU: math.NaN()}, nil }))
			return nil
		}
		r, err := start()
		if err == nil {
			all = append(all, r)
		}
		return err
	}
	defer func() {
		for _, r := range all {
			r.close()
		}
	}()
	python := func(driver string) func() (runner, error) {
		return func() (runner, error) { return c.python(driver, file) }
	}
	err = errors.Join(
		add(true, python("pot_transport.py")),
		add(equal && in.C.K <= largestLSA, python("lsa_transport.py")),
		add(in.C.K <= largestHiGHS, python("highs_transport.py")))
	for _, rule := range lemonRules {
		// Block search takes some 20 s at 4000 rows, and is not the best rule there.
		err = errors.Join(err, add(rule != "block" || in.C.K < 4000,
			func() (runner, error) { return c.compiled("lemon_exact", file, rule) }))
	}
	if err != nil {
		return 0, err
	}
	got, err := c.compare(all...)
	if err != nil {
		return 0, err
	}
	lemon := math.Inf(1)
	for n, a := range got[1:] {
		if math.IsNaN(a.CPU) {
			continue
		}
		if n >= 3 {
			lemon = min(lemon, a.CPU)
		}
		// HiGHS meets its constraints to 1e-7, and LEMON's columns may take 1e-12 more.
		if d := math.Abs(a.Value-got[0].Value) / got[0].Value; !(d <= 1e-6) {
			return 0, fmt.Errorf("%s: peer %d finds %v, wpm %v", name, n, a.Value, got[0].Value)
		}
	}
	t.add(fmt.Sprintf("%d points, %s weights", in.C.K, map[bool]string{true: "equal", false: "random"}[equal]), name,
		got[0].CPU, got[1].CPU, lemon, got[2].CPU, got[3].CPU)
	if strings.HasPrefix(name, "gauss") && strings.Contains(name, "x2p2:dir") {
		c.sized("transport", in.C.K, got[0].CPU, map[string]float64{"POT": got[1].CPU, "LEMON": lemon})
	}
	return float64(stats.Pivots) / float64(2*in.C.K), nil
}
