package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// A row is what pairs of releases did under one limit: [0] with usable data, [1] with unusable data.
type row struct {
	limit   int64
	pairs   int
	reports [2]int
	lost    [2]int // a debit, and no report
}

// add counts further pairs.
func (r *row) add(more row) {
	r.pairs += more.pairs
	for i := range 2 {
		r.reports[i] += more.reports[i]
		r.lost[i] += more.lost[i]
	}
}

// rate is the part of all runs that reported.
func (r row) rate() float64 { return float64(r.reports[0]+r.reports[1]) / float64(2*r.pairs) }

// between reports whether luck decides there: between 2 and 98 % of the runs report.
func (r row) between() bool { return 0.02 <= r.rate() && r.rate() <= 0.98 }

// p is Fisher's, that the rate of reports is the same for usable and unusable data.
func (r row) p() float64 { return fisher(r.reports[0], r.pairs, r.reports[1], r.pairs) }

// A plan says where to look.
type plan struct {
	most, unit int64 // a limit that is none, and the finest step
	pairs      int   // at each limit
	many       int   // where a limit is between
	wanted     int   // limits between, which finer steps look for
}

// The coarse search makes few pairs at each limit. Then come this many steps below the least limit at which all of
// them report and above it, and at most so many finer ones.
const (
	few          = 3
	below, above = 8, 12
	finest       = 16
)

// sweep looks for the limits at which releases begin to report, and for those between. try makes pairs under a limit.
func (p plan) sweep(try func(limit int64, pairs int) (row, error)) ([]row, error) {
	var rows []row // ascending
	look := func(limit int64, pairs int) error {
		more, err := try(limit, pairs)
		if err != nil {
			return err
		}
		i, there := slices.BinarySearchFunc(rows, limit, func(r row, l int64) int { return int(r.limit - l) })
		if there {
			rows[i].add(more)
		} else {
			rows = slices.Insert(rows, i, more)
		}
		return nil
	}

	low, high := int64(0), p.most
	for first := true; first || high-low > max(p.unit, high/16); first = false {
		middle := low + (high-low)/2
		if first {
			middle = p.most
		}
		r, err := try(middle, few)
		switch {
		case err != nil:
			return nil, err
		case r.rate() == 1:
			high = middle
		case first:
			return nil, fmt.Errorf("%d of %d releases report under the limit %d, which should be none",
				r.reports[0]+r.reports[1], 2*few, p.most)
		default:
			low = middle
		}
	}

	step := max(p.unit, high/16)
	for limit := max(step, high-below*step); limit <= high+above*step; limit += step {
		if err := look(limit, p.pairs); err != nil {
			return nil, err
		}
	}
	for range finest + 1 {
		between := 0
		for _, r := range slices.Clone(rows) {
			if r.between() && r.pairs < p.many {
				if err := look(r.limit, p.many-r.pairs); err != nil {
					return nil, err
				}
			}
		}
		for _, r := range rows {
			if r.between() {
				between++
			}
		}
		middle, ok := p.finer(rows)
		if between >= p.wanted || !ok {
			break
		}
		if err := look(middle, p.pairs); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// finer returns the middle of the two neighbours that differ most, if there is a limit between them.
func (p plan) finer(rows []row) (middle int64, ok bool) {
	most := 0.0
	for i := range rows[1:] {
		a, b := rows[i], rows[i+1]
		if d := math.Abs(a.rate() - b.rate()); d > most && b.limit-a.limit >= 2*p.unit {
			middle, most, ok = a.limit+(b.limit-a.limit)/2, d, true
		}
	}
	return middle, ok
}

// level is the chance with which a run of everything fails by luck.
const level = 0.001

// A table is a sweep by what was made short and for which command.
type table struct {
	subject, resource string
	rows              []row
}

// judge writes all tables in Markdown, without the rows of which every run is alike, and returns an error if somewhere
// the rates of usable and of unusable data differ.
func judge(w io.Writer, tables []table) error {
	limits := 0
	for _, t := range tables {
		limits += len(t.rows)
	}
	least, where := 1.0, ""
	say := func(format string, a ...any) { _, _ = fmt.Fprintf(w, format, a...) }
	say("| release | limit | limits | in between | at | reports, usable | unusable | debit without report | p |\n")
	say("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, t := range tables {
		between := 0
		for _, r := range t.rows {
			if r.between() {
				between++
			}
		}
		say("| %s | %s | %d: %d to %d | %d | | | | | |\n", t.subject, t.resource, len(t.rows), t.rows[0].limit,
			t.rows[len(t.rows)-1].limit, between)
		for _, r := range t.rows {
			p := r.p()
			if p < least {
				least, where = p, fmt.Sprintf("%s, %s %d", t.subject, t.resource, r.limit)
			}
			if r.between() || r.lost != [2]int{} || p < 1 {
				say("| | | | | %d | %d of %d | %d of %d | %d / %d | %.2g |\n", r.limit, r.reports[0], r.pairs, r.reports[1],
					r.pairs, r.lost[0], r.lost[1], p)
			}
		}
	}
	say("\nThe least p of %d limits is %.2g (%s); below %.2g the rates differ.\n", limits, least, where,
		level/float64(limits))
	if least*float64(limits) < level {
		return fmt.Errorf("whether there is a report depends on the data: %s, p = %.2g", where, least)
	}
	return nil
}
