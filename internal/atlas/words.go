package atlas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/estimate"
)

// Headline answers where the population is, as far as the counts can tell, in a sentence or two.
func Headline(r Reading, s Resolution, label func(int) string) string {
	var text string
	if r.Signal != nil {
		switch *r.Signal {
		case estimate.NoSignal:
			text = "Signal none: the map is no better than the guess. "
		case estimate.WeakSignal:
			text = "Signal weak: the map is somewhat better than the guess. "
		default:
			text = fmt.Sprintf("Signal %s: the map is better than the guess. ", r.Signal)
		}
	}
	if len(r.Map) == 1 {
		return text + "There is one place."
	}
	if len(s.Single) > 0 {
		var list []string
		for _, i := range s.Single {
			list = append(list, fmt.Sprintf("%s %s", label(i), Percent(r.Map[i])))
		}
		if len(list) == 1 {
			return text + "Largest place: " + list[0] + "."
		}
		return text + "Largest places: " + strings.Join(list, ", ") + "."
	}
	if s.Squares == 1 {
		return text + "The data cannot resolve single places, nor any part of the map."
	}
	if s.Tested {
		text += "The data cannot resolve single places. "
	} else {
		text += "There are too many places to name single ones. "
	}
	part := s.Parts(r)[0]
	if part.Size == 1 {
		return strings.TrimSpace(text)
	}
	return text + fmt.Sprintf("The largest part has %s, on %d places around %s.",
		Percent(part.Map), part.Size, label(part.Center))
}

// Part is a square of a map as it is drawn.
type Part struct {
	Center     int // the input with the largest share
	Size       int // inputs
	Guess, Map float64
}

// Parts lists the squares of a map, the largest share first.
func (s Resolution) Parts(r Reading) []Part {
	out := make([]Part, s.Squares)
	for i := range out {
		out[i].Center = -1
	}
	for i, b := range s.Of {
		p := &out[b]
		if p.Center < 0 || r.Map[i] > r.Map[p.Center] {
			p.Center = i
		}
		p.Size++
		p.Guess += r.Guess[i]
		p.Map += r.Map[i]
	}
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(b.Map, a.Map) })
	return out
}

// Coarse says how fine the drawn map is.
func (s Resolution) Coarse() string {
	switch {
	case s.Squares == 1:
		return "The map is drawn as the guess: the reports say no more."
	case s.Level == 0:
		return ""
	case s.Side > 0:
		return fmt.Sprintf("The map is drawn in squares of %d x %d cells: the reports do not tell finer parts apart.", s.Side,
			s.Side)
	}
	return fmt.Sprintf("The map is drawn in %d groups of places: the reports do not tell finer parts apart.", s.Squares)
}

// Assumes says in words what is in a map beside the counts. prior names the guess: every place alike, or a file.
func Assumes(r Reading, prior string) string {
	switch r.Estimator {
	case Map:
		guess := 0.0
		for _, m := range r.Models {
			if m.Guess() {
				guess += m.Weight
			}
		}
		return fmt.Sprintf("The map is an average of the guess (weight %.2g; %s) and of models from smooth to rough around it. "+
			"It is an estimate, and its error has no bound.",
			guess, prior)
	case EM:
		return fmt.Sprintf("The map is an average over the path of expectation-maximization that starts from the guess (%s). "+
			"It is an estimate, and its error has no bound.", prior)
	case MLE:
		return fmt.Sprintf("The map is the most likely one, within %.2g of the largest log-likelihood per report. "+
			"It piles mass on few places, and has no prior in it.", *r.Gap)
	}
	return "The map is the reports as they are, biased by what privacy moved."
}

// Percent prints a share with two digits.
func Percent(v float64) string {
	if v >= 0.995 {
		return fmt.Sprintf("%.4g %%", 100*v)
	}
	return fmt.Sprintf("%.2g %%", 100*v)
}
