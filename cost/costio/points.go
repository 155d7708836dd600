package costio

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/wpm-go/wpm/cost"
)

// Points are labelled points of R^n, as NewPoints, NewCosine and NewGreatCircle of package cost take
// them.
type Points struct {
	Header []string // the header row, nil if there was none; for information
	Labels []string // distinct
	X      [][]float64
}

// ReadPoints reads points from CSV rows label,x1,...,xn. name stands for the file in errors.
func ReadPoints(r io.Reader, name string) (*Points, error) {
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	var p Points
	seen := make(map[string]int)
	n := 0
	for first := true; ; first = false {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if first {
			n = len(t.record) - 1
			if n < 1 {
				return nil, t.bad(0, ErrFormat, "one field, need a label and at least one coordinate")
			}
			if isHeader(t.record[1:]) {
				p.Header = append([]string(nil), t.record...)
				continue
			}
		}
		if err := t.width(n + 1); err != nil {
			return nil, err
		}
		if len(p.X) >= min(cost.MaxPoints, cost.MaxEntries/n) {
			return nil, t.bad(0, cost.ErrTooLarge, "more points than allowed: "+strconv.Itoa(len(p.X)))
		}
		label, err := t.label(1)
		if err != nil {
			return nil, err
		}
		if line, twice := seen[label]; twice {
			return nil, t.bad(1, ErrDuplicate, fmt.Sprintf("label %s is on line %d already", quote(label), line))
		}
		seen[label] = t.line
		x := make([]float64, n)
		for j := range x {
			if x[j], err = t.number(j + 2); err != nil {
				return nil, err
			}
		}
		p.Labels = append(p.Labels, label)
		p.X = append(p.X, x)
	}
	if len(p.X) == 0 {
		return nil, t.empty("points")
	}
	return &p, nil
}

// ReadPointsFile is ReadPoints on a file.
func ReadPointsFile(path string) (*Points, error) { return withFile(path, ReadPoints) }

// WritePoints writes points as CSV with the header label,x1,...,xn (p.Header is not used). What
// would not read back is refused before anything is written: ErrFormat, ErrLabel, ErrDuplicate or
// cost.ErrNotFinite.
func WritePoints(w io.Writer, p *Points) error {
	if p == nil || len(p.X) == 0 || len(p.X) != len(p.Labels) || len(p.X[0]) == 0 {
		return fmt.Errorf("%w: need as many labels as points, at least one, with at least one coordinate", ErrFormat)
	}
	n := len(p.X[0])
	if err := checkLabels(p.Labels); err != nil {
		return err
	}
	for i, x := range p.X {
		if len(x) != n {
			return fmt.Errorf("%w: point %d has %d coordinates, point 0 has %d", ErrFormat, i, len(x), n)
		}
		for j, a := range x {
			if math.IsNaN(a) || math.IsInf(a, 0) {
				return fmt.Errorf("%w: coordinate %d of point %d is %v", cost.ErrNotFinite, j, i, a)
			}
		}
	}
	return writeAll(w, func(write func([]string) error) error {
		rec := make([]string, n+1)
		rec[0] = "label"
		for j := range n {
			rec[j+1] = "x" + strconv.Itoa(j+1)
		}
		if err := write(rec); err != nil {
			return err
		}
		for i, x := range p.X {
			rec[0] = p.Labels[i]
			for j, a := range x {
				rec[j+1] = formatNumber(a)
			}
			if err := write(rec); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkLabels refuses bad and equal labels.
func checkLabels(labels []string) error {
	seen := make(map[string]int, len(labels))
	for i, s := range labels {
		if why := labelFault(s); why != "" {
			return fmt.Errorf("%w: label %d, %s, %s", ErrLabel, i, quote(s), why)
		}
		if j, twice := seen[s]; twice {
			return fmt.Errorf("%w: labels %d and %d are both %s", ErrDuplicate, j, i, quote(s))
		}
		seen[s] = i
	}
	return nil
}
