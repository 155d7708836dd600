//go:build unix

// Command bench runs wpm and its peers on the same instances, one after the other in alternation, and prints their
// times and ratios.
//
//	bench/run                     installs the peers from the distribution's packages, compiles the drivers, then everything below
//	bench/run -group entropic     one table: exact, transport, entropic, distance, blobs, iteration, basemeasure, knapsack, network, policy
//	bench/run -only sq300 -runs 5 instances whose name contains sq300, medians of five runs
//	bench/run -figure FILE        also draws time against size; -figure-distance FILE W_1 against time
//
// Times are processor time, user and system, of the whole call from data in memory to the answer (the lines of a table
// say what that is); one thread for everybody unless the table says otherwise. Peers are separate processes that hold
// their instance and answer one request per line, so no process start and no reading of files is in a figure. The
// drivers in bench/peers are what a user of the peer would write. A run of a peer that takes more than three seconds is
// its only one. The tables have a line for each workload; the log has every instance.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// config is what every table is made with.
type config struct {
	runs  int
	only  string
	limit float64 // seconds of processor time after which a peer's iteration is stopped
	peers string  // drivers in Python
	built string  // drivers in C++, compiled
	tmp   string
	log   io.Writer
	sizes []sized // what the figure shows

	distance string    // file of the figure of distances
	reached  []reached // what the figure of distances shows
}

// table is one comparison; its lines are printed as they are measured.
type table struct {
	name, title string
	run         func(c *config, w io.Writer) error
}

var tables = []table{
	{"exact", "Exact projection: from mu and the cost in memory to q", exact},
	{"transport", "Plain transport: from the cost and both distributions in memory to the optimum", transports},
	{"network", "General minimum-cost flow: from arcs in memory to the optimum", networks},
	{"entropic", "Entropic projection: from the cost in memory to an L1 residual of 1e-9", entropic},
	{"distance", "What a projection costs and how near it is: exact, Algorithm 1, fast", distances},
	{"blobs", "Entropic projection on grids, Reg chosen by a gap of 1 %", blobs},
	{"iteration", "One iteration of Algorithm 1, the kernel in memory", iteration},
	{"knapsack", "f(m), the worst point mass, over presorted costs", knapsacks},
	{"basemeasure", "Optimal base measure: from the cost in memory to the optimum", baseMeasures},
	{"policy", "Policies of many places, on a device", policies},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == measureFlag {
		if err := measure(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	c := &config{log: os.Stderr}
	group := flag.String("group", "", "comma-separated tables; all by default")
	flag.IntVar(&c.runs, "runs", 3, "runs of everything; the figures are medians")
	flag.StringVar(&c.only, "only", "", "instances whose name contains this")
	flag.Float64Var(&c.limit, "limit", 60, "seconds after which a peer's iteration is stopped")
	flag.StringVar(&c.peers, "peers", filepath.Join("bench", "peers"), "folder of the drivers")
	flag.StringVar(&c.built, "built", "", "folder of the compiled drivers")
	out := flag.String("o", "", "also write the tables to this file")
	figure := flag.String("figure", "", "draw time against size to this SVG file")
	flag.StringVar(&c.distance, "figure-distance", "", "draw W_1 against time to this SVG file")
	flag.Parse()
	if err := run(c, *group, *out, *figure); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(c *config, group, out, figure string) error {
	if c.runs < 1 {
		return fmt.Errorf("-runs %d: want at least 1", c.runs)
	}
	wanted := strings.FieldsFunc(group, func(r rune) bool { return r == ',' })
	for _, g := range wanted {
		if !slices.ContainsFunc(tables, func(t table) bool { return t.name == g }) {
			return fmt.Errorf("no table %q", g)
		}
	}
	var err error
	if c.tmp, err = os.MkdirTemp("", "wpm-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.tmp)
	w := io.Writer(os.Stdout)
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = io.MultiWriter(w, f)
	}
	runtime.GOMAXPROCS(1) // one thread for everybody; tables about two threads set it
	fmt.Fprintf(w, "# wpm beside its peers\n\nMade by `%s`.\n\n%s\n", command(os.Args[1:]), machine())
	for _, t := range tables {
		if len(wanted) > 0 && !slices.Contains(wanted, t.name) {
			continue
		}
		fmt.Fprintf(w, "\n## %s\n\n", t.title)
		if err := t.run(c, w); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if c.distance != "" {
		if err := c.drawDistances(c.distance); err != nil {
			return err
		}
	}
	if figure != "" {
		return c.draw(figure)
	}
	return nil
}

// command is the command that made the page. The folder of the compiled drivers is that of one run.
func command(args []string) string {
	if n := slices.Index(args, "-built"); n >= 0 {
		args = slices.Delete(slices.Clone(args), n, n+2)
	}
	return strings.Join(append([]string{"bench/run"}, args...), " ")
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
