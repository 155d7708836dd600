package reports

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wpm-go/wpm/aggregate"
)

const (
	mark = "wpm-simulation-1"
	bom  = "\xef\xbb\xbf" // a byte order mark, which some editors put before a text
)

// Mark returns the first line, with its end, of a file of reports of a policy that were simulated from a seed.
func Mark(policy [32]byte, seed uint64) []byte {
	return fmt.Appendf(nil, "%s policy %x seed %d\n", mark, policy, seed)
}

// IsMark reports whether a file that starts with these 19 bytes starts with a mark, after a byte order mark or not.
func IsMark(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(head, []byte(bom)), []byte(mark))
}

// epochOf keeps simulated reports apart from others, and out of their epochs. It returns the epoch, which of simulated
// reports is aggregate.SimulatedEpoch where none is stated: their counts do not go with those of others, either.
func epochOf(read []facts, epoch string) (string, error) {
	var simulated, other string
	for _, f := range read {
		if f.simulated {
			simulated = f.ID
		} else {
			other = f.ID
		}
	}
	switch {
	case simulated == "":
		return epoch, nil
	case other != "":
		return "", fmt.Errorf("%w: in %q, and not in %q: count them apart", ErrSimulated, simulated, other)
	case epoch == "":
		return aggregate.SimulatedEpoch, nil
	case !strings.HasPrefix(epoch, aggregate.SimulatedEpoch):
		return "", fmt.Errorf("%w: in %q: the epoch is %q, and has to begin with %q",
			ErrSimulated, simulated, epoch, aggregate.SimulatedEpoch)
	}
	return epoch, nil
}
