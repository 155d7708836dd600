package reports

import (
	"bytes"
	"fmt"
	"strings"
)

const mark = "wpm-simulation-1"

// SimulatedEpoch begins the name of every epoch of simulated reports.
const SimulatedEpoch = "simulation"

// Mark returns the first line, with its end, of a file of reports of a policy that were simulated from a seed.
func Mark(policy [32]byte, seed uint64) []byte {
	return fmt.Appendf(nil, "%s policy %x seed %d\n", mark, policy, seed)
}

// IsMark reports whether a file that starts with these 16 bytes starts with a mark.
func IsMark(head []byte) bool { return bytes.HasPrefix(head, []byte(mark)) }

// checkSimulated keeps simulated reports apart from others, and out of their epochs.
func checkSimulated(read []facts, epoch string) error {
	var simulated, other string
	for _, f := range read {
		if f.simulated {
			simulated = f.ID
		} else {
			other = f.ID
		}
	}
	named := strings.HasPrefix(epoch, SimulatedEpoch)
	switch {
	case simulated == "":
		return nil
	case other != "":
		return fmt.Errorf("%w: in %q, and not in %q: count them apart", ErrSimulated, simulated, other)
	case epoch != "" && !named:
		return fmt.Errorf("%w: in %q: the epoch is %q, and has to begin with %q",
			ErrSimulated, simulated, epoch, SimulatedEpoch)
	}
	return nil
}
