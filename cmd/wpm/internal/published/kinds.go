package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// Kind is a policy of either kind, as those need it who read its reports.
type Kind interface {
	device.Mechanism
	// Format is what a binary report starts with, and its size.
	Format() (magic string, size int)
	// Labels name the outputs, for a table of counts.
	Labels() []string
	// Fits checks that counts can be those of the policy; of a table, its outputs alone.
	Fits(c aggregate.Counts, table bool) error
	// Show reads a report: its output, and what that stands for in words and as JSON.
	Show(record []byte, binary bool) (output int, text string, asJSON []byte, err error)
}

// Format implements Kind.
func (p Points) Format() (string, int) { return "wpm1", policy.ReportSize }

// Labels implements Kind.
func (p Points) Labels() []string { return places.Labels(p.OutputLabel, p.Outputs()) }

// Fits implements Kind.
func (p Points) Fits(c aggregate.Counts, table bool) error {
	if table {
		return aggregate.CheckReports(p.Policy, c.Reports)
	}
	return c.Belongs(p.Policy)
}

// Show implements Kind.
func (p Points) Show(record []byte, binary bool) (int, string, []byte, error) {
	var r policy.Report
	err := unmarshal(&r, record, binary)
	if err == nil {
		err = p.Belongs(r)
	}
	if err != nil {
		return 0, "", nil, err
	}
	if p.HasCodes() {
		return p.showSet(r.Index())
	}
	label := p.OutputLabel(r.Index())
	quoted, err := json.Marshal(label)
	return r.Index(), label, append([]byte(`"label":`), quoted...), err
}

// shownPlaces is how many places of a set are named in words.
const shownPlaces = 8

// showSet says what an output of a policy with codes stands for: a set of places, and by how much each of them is likelier
// than another place.
func (p Points) showSet(j int) (int, string, []byte, error) {
	f := places.FavouredBy(p.Policy, j)
	text := fmt.Sprintf("one of %d of %d places, each at odds of %.4g to 1: %s", len(f.Places), p.Inputs(), f.Odds,
		strings.Join(f.Places[:min(len(f.Places), shownPlaces)], ", "))
	if n := len(f.Places) - shownPlaces; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	quoted, err := json.Marshal(f)
	return j, text, bytes.Trim(quoted, "{}"), err
}

// textOrBinary is a report of any kind.
type textOrBinary interface {
	UnmarshalText([]byte) error
	UnmarshalBinary([]byte) error
}

func unmarshal(r textOrBinary, record []byte, binary bool) error {
	if binary {
		return r.UnmarshalBinary(record)
	}
	return r.UnmarshalText(record)
}

// Format implements Kind.
func (v Vectors) Format() (string, int) { return "wpc1", codebook.ReportSize }

// Counter returns a counter that also gives each every report that counts.
func (v Vectors) Counter(each func(codebook.Report)) (*aggregate.Counter, error) {
	id, cfg := v.ID(), v.Config()
	read := func(record []byte, binary bool) (int, aggregate.Verdict) {
		var r codebook.Report
		switch {
		case unmarshal(&r, record, binary) != nil:
			return 0, aggregate.Malformed
		case r.PolicyID() != id:
			return 0, aggregate.OtherPolicy
		case r.Index() >= cfg.Points:
			return 0, aggregate.NoSuchOutput
		case v.Belongs(r) != nil:
			return 0, aggregate.NeverReleased
		}
		each(r)
		return r.Index(), aggregate.Counted
	}
	return aggregate.NewKindCounter(aggregate.Kind{ID: id, Outputs: cfg.Points, Read: read})
}

// Labels implements Kind.
func (v Vectors) Labels() []string { return places.Labels(strconv.Itoa, v.Config().Points) }

// ErrFresh is for counts of a codebook with fresh seeds.
var ErrFresh = errors.New("the policy has fresh seeds, and then a count of indices means nothing")

// Fits implements Kind.
func (v Vectors) Fits(c aggregate.Counts, table bool) error {
	switch id, points := v.ID(), v.Config().Points; {
	case v.Fresh():
		return ErrFresh
	case !table && c.Policy != id:
		return fmt.Errorf("%w: %x, not %x", aggregate.ErrPolicy, c.Policy[:6], id[:6])
	case len(c.Reports) != points:
		return fmt.Errorf("%w: counts of %d candidates, the policy has %d", aggregate.ErrShape, len(c.Reports), points)
	}
	return nil
}

// Show implements Kind.
func (v Vectors) Show(record []byte, binary bool) (int, string, []byte, error) {
	var r codebook.Report
	err := unmarshal(&r, record, binary)
	if err == nil {
		err = v.Belongs(r)
	}
	if err != nil {
		return 0, "", nil, err
	}
	y, err := v.Point(r)
	if err != nil {
		return 0, "", nil, err
	}
	text, err := json.Marshal(y)
	return r.Index(), string(bytes.Trim(text, "[]")), append([]byte(`"point":`), text...), err
}
