package atlas

import (
	"fmt"
	"math"
	"strings"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/plane"
)

// headline answers where the population is, as far as the counts can tell.
func (m Map) headline(label func(int) string) string {
	var text string
	if m.Signal != nil {
		switch *m.Signal {
		case estimate.NoSignal:
			text = "Signal none: the map is no better than the guess. "
		case estimate.WeakSignal:
			text = "Signal weak: the map is somewhat better than the guess. "
		default:
			text = fmt.Sprintf("Signal %s: the map is better than the guess. ", m.Signal)
		}
	}
	if len(m.Shares) == 1 {
		return text + "There is one place."
	}
	if len(m.Single) > 0 {
		var list []string
		for _, i := range m.Single {
			list = append(list, fmt.Sprintf("%s %s", label(i), plane.Percent(m.Shares[i])))
		}
		if len(list) == 1 {
			return text + "Largest place: " + list[0] + "."
		}
		return text + "Largest places: " + strings.Join(list, ", ") + "."
	}
	if m.Squares == 1 {
		return text + "The data cannot resolve single places, nor any part of the map."
	}
	if m.Tested {
		text += "The data cannot resolve single places. "
	} else {
		text += "There are too many places to name single ones. "
	}
	part := m.Parts[0]
	if part.Size == 1 {
		return strings.TrimSpace(text)
	}
	return text + fmt.Sprintf("The largest part has %s, on %d places around %s.",
		plane.Percent(part.Share), part.Size, label(part.Center))
}

// Coarse says how fine the drawn map is, and which places no number of reports tells apart.
func (m Map) Coarse() string {
	text, rows := m.fineness(), m.Patches.String()
	switch {
	case rows == "":
		return text
	case text == "":
		return rows + "."
	}
	return text + "\n" + rows + "."
}

func (m Map) fineness() string {
	switch {
	case m.Squares == 1:
		return "The map is drawn as the guess: the reports say no more."
	case m.Level == 0:
		return ""
	case m.Side > 0:
		return fmt.Sprintf("The map is drawn in squares of %d x %d cells: the reports do not tell finer parts apart.", m.Side,
			m.Side)
	}
	return fmt.Sprintf("The map is drawn in %d groups of places: the reports do not tell finer parts apart.", m.Squares)
}

// Assumes says in words what is in a map beside the counts. prior names the guess: every place alike, or a file.
func (m Map) Assumes(prior string) string {
	text := ""
	if m.Biased {
		text = "Biased: the policy is of projection mode, and the map is what the reports would say in mixture mode. "
	}
	switch m.Estimator {
	case ByMap:
		guess := 0.0
		for _, m := range m.Models {
			if m.Guess() {
				guess += m.Weight
			}
		}
		text += fmt.Sprintf("The map is an average of the guess (weight %.2g; %s) and of models from smooth to rough around it. "+
			"It is an estimate, and its error has no bound.",
			guess, prior)
	case ByEM:
		text += fmt.Sprintf("The map is an average over the path of expectation-maximization that starts from the guess (%s). "+
			"It is an estimate, and its error has no bound.", prior)
	case ByMLE:
		gap := math.Inf(1)
		if m.Gap != nil {
			gap = *m.Gap
		}
		text += fmt.Sprintf("The map is the most likely one, within %.2g of the largest log-likelihood per report. "+
			"It piles mass on few places, and has no prior in it.", gap)
	case ByRaw:
		text += "The map is the reports as they are, biased by what privacy moved."
	}
	return text
}
