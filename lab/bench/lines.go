//go:build unix

package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// lines gathers the figures of a table: the instances of one workload become one line.
type lines struct {
	peers []string // the columns beside wpm's own
	log   io.Writer
	order []string
	by    map[string]*line
	all   []mean // of the ratios, peer by peer
}

type line struct {
	times  []mean // wpm's, and the peers'
	ratios []mean
}

func (c *config) lines(peers ...string) *lines {
	return &lines{peers: peers, log: c.Log, by: map[string]*line{}, all: make([]mean, len(peers))}
}

// add adds an instance: wpm's seconds first, then those of every peer, NaN where it has none. The log has every
// instance.
func (t *lines) add(workload, instance string, times ...float64) {
	l := t.by[workload]
	if l == nil {
		l = &line{times: make([]mean, len(times)), ratios: make([]mean, len(t.peers))}
		t.by[workload] = l
		t.order = append(t.order, workload)
	}
	fmt.Fprintf(t.log, "%s: wpm %s", instance, seconds(times[0]))
	for n, s := range times {
		if math.IsNaN(s) {
			continue
		}
		l.times[n].add(s)
		if n > 0 {
			l.ratios[n-1].add(times[0] / s)
			t.all[n-1].add(times[0] / s)
			fmt.Fprintf(t.log, ", %s %s (%.2f)", t.peers[n-1], seconds(s), times[0]/s)
		}
	}
	fmt.Fprintln(t.log)
}

// write writes a line for each workload: the geometric means of the times, and the mean and the largest of wpm's time
// over each peer's.
func (t *lines) write(w io.Writer) {
	head := []string{"workload", "instances", "wpm"}
	head = append(head, t.peers...)
	for _, p := range t.peers {
		head = append(head, "wpm / "+p, "largest")
	}
	fmt.Fprintf(w, "| %s |\n| ---%s |\n", strings.Join(head, " | "), strings.Repeat(" | --:", len(head)-1))
	for _, name := range t.order {
		l := t.by[name]
		cells := []string{name, fmt.Sprint(l.times[0].n)}
		for n := range l.times {
			s := seconds(l.times[n].value())
			if short := l.times[n].n; short > 0 && short < l.times[0].n {
				s += fmt.Sprintf(" (%d)", short)
			}
			cells = append(cells, s)
		}
		for n := range l.ratios {
			cells = append(cells, ratio(l.ratios[n].value()), ratio(l.ratios[n].largest()))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Fprintln(w)
	for n, p := range t.peers {
		fmt.Fprintf(w, "wpm / %s: %v. ", p, &t.all[n])
	}
	fmt.Fprintln(w)
}

func ratio(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2g", x)
}

// mean is a geometric mean.
type mean struct {
	sum float64
	n   int
	max float64
}

func (m *mean) add(x float64) { m.sum, m.n, m.max = m.sum+math.Log(x), m.n+1, max(m.max, x) }

func (m *mean) value() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return math.Exp(m.sum / float64(m.n))
}

func (m *mean) largest() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return m.max
}

func (m *mean) String() string {
	if m.n == 0 {
		return "no instance"
	}
	return fmt.Sprintf("geometric mean %.2g over %d instances, largest %.2g", m.value(), m.n, m.max)
}
