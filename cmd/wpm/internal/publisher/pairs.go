package publisher

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/discs"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// sampledRows of a policy tell how many spans all of them have.
const sampledRows = 256

// mappable refuses a policy whose rows have more spans than a map can be made of, and says how many inputs could be
// mapped: pairs have four coordinates or more, in which a disc has far more of an edge than in the plane.
func mappable(p policy.Policy, most int) error {
	d := discs.Of(p) // nil for what is no disc
	if d == nil {
		return nil
	}
	rows, ends := 0, 0
	for i := 0; i < p.Inputs(); i += max(p.Inputs()/sampledRows, 1) {
		spans, _, _, _ := d.Disc(i, nil)
		rows, ends = rows+1, ends+len(spans)
	}
	all := float64(ends) / 2 / float64(rows) * float64(p.Inputs())
	if all <= float64(most) {
		return nil
	}
	// The spans of four coordinates grow as the inputs to the power 7/4, those of more by less than their square.
	return fmt.Errorf("%w: no map can be made of %d pairs at this eps: their rows have %.2g spans, at most %d; "+
		"merge places, to some %.2g pairs",
		wpmerr.ErrTooLarge, p.Inputs(), all, most, float64(p.Inputs())*math.Sqrt(float64(most)/all))
}
