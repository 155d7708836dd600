package atlas

import (
	"fmt"
	"math"
	"strings"

	"github.com/wpm-go/wpm/internal/plane"
)

// knows says in a sentence what the reports know, and what they say of the guess; "" if that is not known.
func (e Estimate) knows() string {
	switch {
	case e.Information == "" || e.Unexplained:
		return ""
	case e.Information == None && e.Verdict == Confirm:
		return "The reports say next to nothing: they do not contradict the guess. "
	case e.Verdict == Confirm:
		return fmt.Sprintf("The reports say %s, and confirm the guess. ", e.Information)
	case e.Information == None:
		return "The reports say next to nothing, but contradict the guess. "
	}
	return fmt.Sprintf("The reports say %s, and change the guess. ", e.Information)
}

// headline answers where the population is, as far as the counts can tell.
func (m Map) headline(label func(int) string) string {
	text := m.knows()
	if len(m.Shares) == 1 {
		return text + "There is one place."
	}
	if len(m.Single) > 0 {
		var list []string
		for n, i := range m.Single {
			b := m.bands[n]
			share := plane.Exact(plane.Rounded(m.Drawn[i], (b.Upper-b.Lower)/2))
			list = append(list, fmt.Sprintf("%s, %s (90 %% interval: %s)", label(i), share, plane.Interval(plane.Outward(b.Lower, b.Upper))))
		}
		if len(list) == 1 {
			return text + "Largest place: " + list[0] + "."
		}
		return text + "Largest places: " + strings.Join(list, "; ") + "."
	}
	if m.Squares == 1 {
		return text + "The reports do not settle which parts of the map have more people than in the guess."
	}
	part := m.Parts[0]
	if part.Size == 1 {
		return strings.TrimSpace(text)
	}
	return text + fmt.Sprintf("The largest group, %d places around %s, has %s of the population.",
		part.Size, label(part.Center), plane.Percent(part.Share))
}

// Coarse says how fine the drawn map is.
func (m Map) Coarse() string {
	but := ""
	if m.apart > 0 {
		but = ", but for the places that are named,"
	}
	switch squares := m.Squares - m.apart; {
	case m.Level == 0 || len(m.Shares) == 1:
		return ""
	case squares <= 1 && but != "":
		return "The picture is the guess" + but + " because the reports do not settle its larger parts."
	case squares <= 1:
		return "The picture is the guess, because the reports do not settle its parts."
	case m.Side > 0:
		return fmt.Sprintf("The picture has squares of %d x %d cells%s because the reports do not tell smaller parts apart.", m.Side,
			m.Side, but)
	}
	return fmt.Sprintf("The picture has %d parts, groups or single places, because the reports do not tell smaller ones apart.", m.Squares)
}

// small is a weight that is as good as none.
const small = 0.005

// estimated is what holds of every map that a model makes.
const estimated = "The map and its error are estimates: neither is proved."

// Unexplained is what people are told of a map that is, in place of its error.
const Unexplained = "No map explains these counts: honest reports are so far from every map less than once in a million times. " +
	"Some are of another policy, changed or made up, and how far the map is from the truth is not known."

// Assumes says in words what is in a map beside the counts. prior names the guess: the same share at every
// place, or a file.
func (m Map) Assumes(prior string) string {
	text := ""
	if m.Biased {
		text += "Biased: the policy is of projection mode, and the map is what the reports would say in mixture mode. " +
			"More reports do not lessen that, and may make the map worse. No error is stated, because nobody knows it. "
	}
	switch m.Estimator {
	case ByMap:
		guess, even := 0.0, 0.0
		for _, m := range m.Models {
			switch {
			case m.Even:
				even += m.Weight
			case m.Guess():
				guess += m.Weight
			}
		}
		text += "The map is an average of many models of where people may be. Those that agree better with the reports weigh more. "
		if guess < small {
			text += fmt.Sprintf("The guess (%s) has next to no weight: the reports speak against it. ", prior)
		} else {
			text += fmt.Sprintf("The guess (%s) has a weight of %s. ", prior, plane.Percent(guess))
		}
		if even > 0.5 {
			text += fmt.Sprintf("Models that do without the guess have %s: it helps little. ", plane.Percent(even))
		}
		text += estimated
	case ByEM:
		text += fmt.Sprintf("The map is an average over the path of expectation-maximization that starts from the guess (%s). ",
			prior) + estimated
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
	if m.Error == nil && !m.Biased && m.Estimator != ByMap {
		text += " No error is stated, because the places have no distances."
	}
	return text
}
