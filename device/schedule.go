package device

import (
	"fmt"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// DescribeSchedule says when a policy is released, and what that costs over time; "" for one without a schedule.
func DescribeSchedule(s ledger.Schedule, eps ldp.Epsilon) string {
	if s == (ledger.Schedule{}) {
		return ""
	}
	text := fmt.Sprintf("one report a %s", s.Epochs)
	if s.Period > 0 {
		text = fmt.Sprintf("one report in %d %ss, in a slot that each device draws", s.Period, s.Epochs)
	}
	if s.First != "" {
		text += ", from " + s.First
	}
	if s.Last != "" {
		text += ", until " + s.Last
	}
	if s.Period == 0 {
		return text + fmt.Sprintf("; each costs eps = %s", eps)
	}
	return text + fmt.Sprintf("; any %d %ss in a row cost eps = %s together, any L at most ceil(L/%d) times that", s.Period,
		s.Epochs, eps, s.Period)
}
