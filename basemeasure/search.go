package basemeasure

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// search finds the multiple t*shape with the least objective F.
type search struct {
	p            *problem
	shape        []float64 // sums to 1
	count, limit int       // of evaluations

	left, right line // lines that bracket the minimum, once run has ended without an error
	bracketed   bool // left and right are set
	best, bestF float64
	last        float64 // where the last two lines met

	// The answer, by choose: the measure, an upper bound on its objective, its costs and its thresholds.
	m        []float64
	upper    float64
	phi, tau []float64
}

// search returns a search along the multiples of shape.
func (p *problem) search(shape []float64, limit int) *search {
	return &search{p: p, shape: normalise(shape), limit: limit}
}

// line is a cut of the objective: tau + t*slope <= F(t*shape), with equality at t = at. The search is Kelley's
// cutting-plane method in one dimension. For the worst case it is the cut of one input at its threshold; otherwise the
// combination of the cuts of all inputs with the weights of the objective.
type line struct {
	at, tau, slope float64
	row            int  // the worst input
	mean           bool // other inputs have a weight, too
}

// same reports whether two evaluations gave the same line.
func (l line) same(m line) bool {
	return l.row == m.row && l.tau == m.tau && (!l.mean || l.slope == m.slope)
}

// at returns the measure t*shape.
func (r *search) at(t float64) []float64 {
	m := make([]float64, len(r.shape))
	for j, w := range r.shape {
		m[j] = t * w
	}
	return m
}

// eval evaluates F at t and returns its line there.
func (r *search) eval(t float64) (line, float64) {
	r.count++
	l, f := r.line(t)
	if r.count == 1 || f < r.bestF {
		r.best, r.bestF = t, f
	}
	return l, f
}

// line returns the line of F at t, and F.
func (r *search) line(t float64) (line, float64) {
	p, obj := r.p, r.p.criterion
	phi, tau, err := p.evaluate(r.at(t))
	if err != nil {
		return line{at: t}, math.NaN() // cannot happen: the scale is in the range
	}
	g := make([]float64, p.kv)
	slope := func(i int) float64 {
		p.table.Subgradient(i, tau[i], p.priv.alpha.Near, p.priv.beta.Near, g)
		return num.Dot(r.shape, g)
	}
	_, row := obj.worst(phi)
	l := line{at: t, row: row, mean: obj.share < 1}
	if obj.share > 0 {
		l.tau, l.slope = obj.share*tau[row], obj.share*slope(row)
	}
	if l.mean {
		l.tau += num.Dot(obj.floor, tau)
		for i, w := range obj.floor {
			if w > 0 {
				l.slope += w * slope(i)
			}
		}
	}
	return l, obj.value(phi)
}

// closedTol is the relative difference between f and the meeting point of two lines at which the search is
// over. Both are sums of non-negative terms with relative errors below 2^-48.
const closedTol = 0x1p-47

// run finds the minimum of F over the feasible scales. It returns nil, or why it stopped early.
func (r *search) run(ctx context.Context) error {
	// Mass 1 is inside the range whatever eps is, and the natural answer where f is constant.
	middle, _ := r.eval(1)
	if middle.slope == 0 || r.p.priv.alpha.Near == r.p.priv.beta.Near {
		return nil
	}
	if err := r.interrupted(ctx); err != nil {
		return err
	}
	// At an end of the range the box is a point and f the cost of a constant mechanism. By convention the
	// thresholds there are the extreme ones of the row, so the slopes point inwards or f is constant.
	var end line
	if middle.slope < 0 {
		end, _ = r.eval(r.p.priv.beta.Near)
		r.left, r.right = middle, end
	} else {
		end, _ = r.eval(r.p.priv.alpha.Near)
		r.left, r.right = end, middle
	}
	if end.slope == 0 {
		return nil // that input costs the same whatever is released, and no input costs more
	}
	r.bracketed = true
	for round := 1; ; round++ {
		if err := r.interrupted(ctx); err != nil {
			return err
		}
		t, closed, flat := r.meet(round%bisectEvery == 0)
		if flat {
			return nil
		}
		if !closed {
			continue
		}
		if more, err := r.beyond(ctx, t); !more {
			return err
		}
	}
}

// meet evaluates f where the two lines meet (or, to bisect, in the middle of the bracket) and replaces one of
// them. closed says that the bracket is down to rounding, flat that f is constant.
func (r *search) meet(bisect bool) (t float64, closed, flat bool) {
	t = (r.left.tau - r.right.tau) / (r.right.slope - r.left.slope)
	if bisect {
		t = math.Sqrt(r.left.at) * math.Sqrt(r.right.at)
	}
	if !(t > r.left.at && t < r.right.at) {
		return t, true, false
	}
	meet, f := r.eval(t)
	// On the right line nothing cancels: all three numbers are non-negative.
	value := r.right.tau + t*r.right.slope
	closed = !bisect && (f <= value+closedTol*value || meet.same(r.left) || meet.same(r.right))
	switch {
	case meet.slope == 0:
		return t, closed, true
	case meet.slope < 0:
		r.left = meet
	default:
		r.right = meet
	}
	return t, closed, false
}

// beyond looks a few roundings to the right of t, where f can still be falling steeply: the left line cancels, so it is
// good to a rounding of its threshold, which may be many times f. It reports whether the search goes on.
func (r *search) beyond(ctx context.Context, t float64) (more bool, err error) {
	r.last = min(max(t, r.left.at), r.right.at)
	t = r.last * (1 + nudges[len(nudges)-1])
	if !(t < r.right.at) {
		return false, nil
	}
	if err := r.interrupted(ctx); err != nil {
		return false, err
	}
	before := r.bestF
	line, f := r.eval(t)
	if !(line.slope < 0 && f < before-closedTol*before) {
		return false, nil
	}
	r.left = line
	return true, nil
}

// bisectEvery: every so many rounds the bracket is halved (in the logarithm) instead. Tangents alone are
// slow where many lines crowd on one side and the range covers hundreds of orders of magnitude.
const bisectEvery = 5

// interrupted reports why the search must not go on.
func (r *search) interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return wpmerr.Ended(ctx)
	}
	if r.count >= r.limit {
		return fmt.Errorf("limit of %d evaluations", r.limit)
	}
	return nil
}

// nudges are steps to the right, relative to the scale, that rounding cannot undo: the meeting point of two
// lines is good to about five units of 2^-53, each entry of M to one, and each bound of the certified box to
// five. f rises by at most the relative step to the right of the minimum (there t*slope = f - tau <= f), but
// may rise to any multiple of f on the left.
var nudges = [...]float64{0, 0x1p-50, 0x1p-49, 0x1p-48}

// choose takes the scale whose certified value is smallest: where the last lines meet, or the best value seen, each as it
// is or nudged to the right.
func (r *search) choose() {
	tried := []float64{r.best}
	if r.bracketed && r.last != r.best && r.last > 0 {
		tried = append(tried, r.last)
	}
	r.upper = math.Inf(1)
	for _, t := range tried {
		for _, nudge := range nudges {
			m := r.at(min(t*(1+nudge), max(t, r.p.priv.beta.Near)))
			if upper := r.p.certified(m); r.m == nil || upper < r.upper {
				r.m, r.upper = m, upper
			}
		}
	}
	r.look()
}

// look evaluates the answer.
func (r *search) look() {
	var err error
	if r.phi, r.tau, err = r.p.evaluate(r.m); err != nil {
		return // cannot happen: the same box was evaluated before
	}
	r.upper = max(r.upper, r.p.criterion.value(r.phi))
}
