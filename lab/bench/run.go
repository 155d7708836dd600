//go:build unix

package bench

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// config is a Config that runs.
type config struct {
	Config
	tmp     string
	sizes   []sized   // what the figure shows
	reached []reached // what the figure of distances shows
}

// table is one comparison; its lines are printed as they are measured.
type table struct {
	name, title string
	run         func(c *config, w io.Writer) error
}

var tables = []table{
	{"exact", "Exact projection: from mu and the cost in memory to q", exact},
	{"transport", "Plain transport: from the cost and both distributions in memory to the optimum", transports},
	{"foreign", "Transport and projection on instances as others draw them", foreigns},
	{"network", "General minimum-cost flow: from arcs in memory to the optimum", networks},
	{"entropic", "Entropic projection: from the cost in memory to an L1 residual of 1e-9", entropic},
	{"distance", "What a projection costs and how near it is: exact, Algorithm 1, fast", distances},
	{"grids", "Entropic projection on grids, Reg given", grids},
	{"blobs", "Entropic projection on grids, Reg chosen by a gap of 1 %", blobs},
	{"iteration", "One iteration of Algorithm 1, the kernel in memory", iteration},
	{"knapsack", "f(m), the worst point mass, over presorted costs", knapsacks},
	{"basemeasure", "Optimal base measure: from the cost in memory to the optimum", baseMeasures},
	{"policy", "Policies of many places, on a device", policies},
	{"places", "Waits with many places", waits},
}

// names are those of the tables.
func names() (all []string) {
	for _, t := range tables {
		all = append(all, t.name)
	}
	return all
}

func run(of Config) error {
	c := &config{Config: of}
	var err error
	if c.tmp, err = os.MkdirTemp("", "wpm-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.tmp)
	w := c.Stdout
	if c.Out != "" {
		f, err := os.Create(c.Out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = io.MultiWriter(w, f)
	}
	runtime.GOMAXPROCS(1) // one thread for everybody; tables about two threads set it
	fmt.Fprintf(w, "# wpm beside its peers\n\nMade by `%s`.\n\n%s\n", command(c.Args), machine())
	for _, t := range tables {
		if len(c.Groups) > 0 && !slices.Contains(c.Groups, t.name) {
			continue
		}
		fmt.Fprintf(w, "\n## %s\n\n", t.title)
		if err := t.run(c, w); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if c.Distance != "" {
		if err := c.drawDistances(c.Distance); err != nil {
			return err
		}
	}
	if c.Figure != "" {
		return c.draw(c.Figure)
	}
	return nil
}

// command is the script that made the page, with its arguments. Folders of drivers are those of one run.
func command(args []string) string {
	words := []string{"lab/bench/run"}
	for n := 0; n < len(args); n++ {
		switch args[n] {
		case "bench":
		case "-built", "-peers":
			n++
		default:
			words = append(words, args[n])
		}
	}
	return strings.Join(words, " ")
}

// machine says what the figures were measured on: the class of the machine and versions, no names.
func machine() string {
	model := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("Machine: %s, %d logical cores, %s/%s, %s; wpm at commit %s.\nPeers: %s.",
		model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), commit, os.Getenv("WPM_BENCH_PEERS"))
}

// seconds writes a time with three digits, in the unit that it has once it is rounded.
func seconds(s float64) string {
	switch {
	case math.IsNaN(s):
		return "-"
	case s < 0.9995e-3:
		return fmt.Sprintf("%.3g us", s*1e6)
	case s < 0.9995:
		return fmt.Sprintf("%.3g ms", s*1e3)
	default:
		return fmt.Sprintf("%.3g s", s)
	}
}
