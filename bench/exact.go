//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wpm-go/wpm/mincostflow"
)

// exactGroups are the instances of each promise.
var exactGroups = []struct {
	name      string
	instances []string
}{
	{"dense, k = kv <= 300", crossed([]string{"ring30", "ring100", "ring300", "sq100p1", "sq100p2", "sq300p1", "sq300p2"}, "dir", "0.5", "2", "5")},
	{"dense, k = 1000 to 4000, eps >= 2", append(crossed([]string{"ring1000", "sq1000p1", "sq1000p2", "sq2000p1", "sq2000p2", "cos2000x1000", "cos4000x500", "grid50"}, "dir", "2", "5"), "sq4000p1:dir:2", "sq4000p2:dir:2")},
	{"dense, ring, eps = 0.5", []string{"ring30:dir:0.5", "ring100:dir:0.5", "ring300:dir:0.5", "ring1000:dir:0.5", "ring2000:dir:0.5"}},
	{"dense, 129 to 300 rows, eps = 0.5", crossed([]string{"ring140", "ring200", "ring250", "sq140p1", "sq140p2", "sq200p1", "sq200p2",
		"sq250p1", "sq250p2", "sq300p1", "sq300p2", "path140", "path200", "path300", "clus140", "clus200", "clus300", "grid12", "grid14", "grid17",
		"cos140", "cos200", "cos300", "cos140x300", "cos300x140"}, "dir", "0.5")},
	{"20 atoms", append(crossed([]string{"sq1000p1", "sq1000p2", "sq4000p1", "sq4000p2", "ring1000"}, "sp20", "0.5", "2", "5"), crossed([]string{"sq250p1", "sq250p2", "cos1346x250"}, "sp20", "0.5", "2", "5")...)},
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
	for _, g := range exactGroups {
		fmt.Fprintf(w, "### %s\n\n| instance | wpm | LEMON block | candidate list | altering list | POT | wpm / best LEMON | wpm / POT | agree |\n", g.name)
		fmt.Fprintln(w, "| --- | --: | --: | --: | --: | --: | --: | --: | --: |")
		var lemon, pot mean
		for _, name := range g.instances {
			if !strings.Contains(name, c.only) {
				continue
			}
			if err := c.exactLine(w, name, &lemon, &pot); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "\nwpm / best LEMON: %v. wpm / POT: %v.\n\n", &lemon, &pot)
	}
	return nil
}

func (c *config) exactLine(w io.Writer, name string, lemon, pot *mean) error {
	in, err := newInstance(name)
	if err != nil {
		return err
	}
	file := c.tmp + "/exact.bin"
	if err := in.write(file); err != nil {
		return err
	}
	p := mincostflow.Problem{Cost: in.C, Lo: in.lo, Hi: in.hi}
	p.Support, p.Source = in.support()
	all := []runner{often(func() (answer, error) {
		r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
		return answer{Value: r.Objective, Met: true}, err
	})}
	for _, rule := range lemonRules {
		if rule == "block" && in.C.K >= 4000 && len(p.Support) > 20 {
			all = append(all, own(func() (answer, error) { return answer{CPU: math.NaN()}, nil })) // some 20 s: see the note under the table
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
	lemon.add(got[0].CPU / best)
	pot.add(got[0].CPU / got[4].CPU)
	fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %.2f | %.2f | %.0e |\n", name, seconds(got[0].CPU), seconds(got[1].CPU), seconds(got[2].CPU),
		seconds(got[3].CPU), seconds(got[4].CPU), got[0].CPU/best, got[0].CPU/got[4].CPU, agree)
	return nil
}
