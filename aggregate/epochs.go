package aggregate

import (
	"fmt"
	"strings"

	"github.com/wpm-go/wpm/policy/ledger"
)

// SimulatedEpoch begins the name of every epoch of simulated reports.
const SimulatedEpoch = "simulation"

// EpochNumbers returns the number of each epoch, which is greater for a later one: that of its name, which may be that of a simulation, or, if no name has a
// form, its place in the list.
//
// Errors: ErrEpoch for names that have no order together, because they are not of one form, or some are of simulations.
func EpochNumbers(names []string) ([]int, error) {
	var number []int
	for n, name := range names {
		form, simulated, i := numberOf(name)
		first, also, _ := numberOf(names[0])
		switch {
		case simulated != also:
			return nil, fmt.Errorf("%w: epochs %s and %s: one is simulated, and one is not", ErrEpoch, names[0], name)
		case form != first:
			return nil, fmt.Errorf("%w: epochs %s and %s: their names are not of one form, so they have no order", ErrEpoch,
				names[0], name)
		case form == ledger.Free:
			i = n
		}
		number = append(number, i)
	}
	return number, nil
}

// numberOf returns the form of a name and its number, and whether it is that of a simulation.
func numberOf(name string) (form ledger.Form, simulated bool, number int) {
	simulated = strings.HasPrefix(name, SimulatedEpoch)
	name = strings.TrimPrefix(name, SimulatedEpoch+"-")
	for _, form := range []ledger.Form{ledger.Year, ledger.Month, ledger.Week, ledger.Day} {
		if n, err := form.Number(name); err == nil {
			return form, simulated, n
		}
	}
	return ledger.Free, simulated, 0
}
