//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// exactInstances are dense distributions and distributions of 20 atoms, on spaces of all sizes.
var exactInstances = slices.Concat(
	crossed([]string{"ring30", "ring100", "sq100p1", "sq100p2", "ring300", "sq300p1", "sq300p2"}, "dir", "0.5", "2", "5"),
	crossed([]string{"ring140", "ring200", "ring250", "sq140p1", "sq140p2", "sq200p1", "sq200p2", "sq250p1", "sq250p2",
		"path140", "path200",
		"path300", "clus140", "clus200", "clus300", "grid12", "grid14", "grid17", "cos140", "cos200", "cos300", "cos140x300",
		"cos300x140"},
		"dir", "0.5"),
	crossed([]string{"ring1000", "ring2000", "sq1000p1", "sq1000p2", "sq2000p1"}, "dir", "0.5"),
	crossed([]string{"ring1000", "sq1000p1", "sq1000p2", "sq2000p1", "sq2000p2", "cos2000x1000", "cos4000x500", "grid50"},
		"dir", "2", "5"),
	crossed([]string{"sq4000p1", "sq4000p2"}, "dir", "2"),
	crossed([]string{"sq250p1", "sq250p2", "cos1346x250", "ring1000", "sq1000p1", "sq1000p2", "sq4000p1", "sq4000p2"},
		"sp20", "0.5", "2", "5"),
)

// exactWorkload is the line of the table that an instance belongs to.
func exactWorkload(in *instance) string {
	eps := "eps 2 and 5"
	if in.eps == 0.5 {
		eps = "eps 0.5"
	}
	if rows, _ := in.support(); len(rows) == 20 {
		if in.C.Kv == 250 {
			return "20 atoms, 250 columns, " + eps
		}
		return "20 atoms, 1000 to 4000 columns, " + eps
	}
	size := "1000 to 4000 rows"
	switch {
	case in.C.K <= 100:
		size = "30 to 100 rows"
	case in.C.K <= 300:
		size = "140 to 300 rows"
	}
	return fmt.Sprintf("dense, %s, %s", size, eps)
}

func crossed(spaces []string, mass string, eps ...string) (names []string) {
	for _, s := range spaces {
		for _, e := range eps {
			names = append(names, s+":"+mass+":"+e)
		}
	}
	return names
}

// lemonRules are LEMON's pivot rules worth trying; the best of them counts, instance by instance.
var lemonRules = []string{"block", "cand", "alt"}

func exact(c *config, w io.Writer) error {
	fmt.Fprint(w, "LEMON: the best of its pivot rules block search, candidate list and altering list, instance by instance. Times are geometric means;\n"+
		"a number in brackets says how many instances the peer was tried on, if not all.\n\n")
	t := c.lines("LEMON", "POT")
	for _, name := range exactInstances {
		if strings.Contains(name, c.Only) {
			if err := c.exactLine(name, t); err != nil {
				return err
			}
		}
	}
	t.write(w)
	return nil
}

func (c *config) exactLine(name string, t *lines) error {
	in, err := newInstance(name)
	if err != nil {
		return err
	}
	file := c.tmp + "/exact.bin"
	if err := in.write(file); err != nil {
		return err
	}
	p := projection.Problem{Cost: in.C, Lo: in.lo, Hi: in.hi}
	p.Support, p.Source = in.support()
	all := []runner{often(func() (answer, error) {
		r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
		return answer{Value: r.Objective, Met: true}, err
	})}
	for _, rule := range lemonRules {
		if rule == "block" && in.C.K >= 4000 && len(p.Support) > 20 {
			// some 20 s: see the note under the table
			all = append(all, own(func() (answer, error) { return answer{CPU: math.NaN()}, nil }))
			continue
		}
		peer, err := c.compiled("lemon_exact", file, rule)
		if err != nil {
			return err
		}
		defer peer.close()
		all = append(all, peer)
	}
	peer, err := c.python("pot_exact.py", file)
	if err != nil {
		return err
	}
	defer peer.close()
	got, err := c.compare(append(all, peer)...)
	if err != nil {
		return err
	}
	best, agree := math.Inf(1), 0.0
	for _, a := range got[1:] {
		if math.IsNaN(a.CPU) {
			continue
		}
		agree = max(agree, math.Abs(a.Value-got[0].Value)/got[0].Value)
	}
	for _, a := range got[1:4] {
		if a.CPU < best {
			best = a.CPU
		}
	}
	if !(agree <= 1e-9) { // LEMON's masses are multiples of 2^-60, its costs of 2^-44 of the largest
		return fmt.Errorf("%s: optima differ by %.0e", name, agree)
	}
	t.add(exactWorkload(in), name, got[0].CPU, best, got[4].CPU)
	if strings.HasPrefix(name, "sq") && strings.HasSuffix(name, "p1:dir:2") {
		c.sized("projection", in.C.K, got[0].CPU, map[string]float64{"LEMON": best, "POT": got[4].CPU})
	}
	return nil
}
