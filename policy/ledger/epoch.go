package ledger

import (
	"fmt"
	"strconv"
	"time"
)

// Form is how a policy counts time: in epochs of one form, in UTC, each with a name and a number. Years are from 2000
// to 9999.
type Form string

// The forms of epochs.
const (
	Free  Form = ""      // any word is an epoch, in no order
	Year  Form = "year"  // 2026
	Month Form = "month" // 2026-01
	Week  Form = "week"  // 2026-W01, a week of ISO 8601
	Day   Form = "day"   // 2026-01-31
)

// MaxPeriod is the longest period of a Schedule, in epochs.
const MaxPeriod = 10_000

// Schedule is when clients release. The zero Schedule has epochs in free form and no end.
type Schedule struct {
	Epochs Form
	// First and Last are the first and the last epoch of the policy; empty means that there is none.
	First, Last string
	// Period is the number T of epochs in which a client releases once, from 2 to MaxPeriod: in the epochs t = s mod T of
	// its slot s. 0 means that it releases in every epoch that its budget allows.
	Period int
}

// At returns the epoch of a time, or an empty text before the year 2000, after 9999, and in free form.
func (f Form) At(t time.Time) string {
	epoch := f.name(t.UTC())
	if _, err := f.Number(epoch); err != nil {
		return ""
	}
	return epoch
}

func (f Form) name(t time.Time) string {
	switch f {
	case Year:
		return t.Format("2006")
	case Month:
		return t.Format("2006-01")
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case Day:
		return t.Format(time.DateOnly)
	}
	return ""
}

// Name returns the epoch of a number, the inverse of Number.
func (f Form) Name(number int) string {
	switch f {
	case Year:
		return f.name(time.Date(number, 1, 1, 0, 0, 0, 0, time.UTC))
	case Month:
		return f.name(time.Date(0, time.Month(number), 1, 0, 0, 0, 0, time.UTC))
	case Week:
		number *= 7
	}
	return f.name(time.Date(1970, 1, 5+number, 0, 0, 0, 0, time.UTC))
}

// Number returns the number of an epoch; epochs in a row have numbers in a row. A year has its own, a month 12 times
// the year plus 1 to 12. Weeks and days are counted from Monday, 1970-01-05, which has number 0 of both.
//
// Errors: ErrEpoch for a text that is not of the form, and for every text in free form.
func (f Form) Number(epoch string) (int, error) {
	t, ok := f.begin(epoch)
	if !ok || f.name(t) != epoch || epoch[:4] < "2000" { // all names of other length have been refused
		return 0, fmt.Errorf("%w: %.64q, want %s from the year 2000 on", ErrEpoch, epoch, f.example())
	}
	days := int(t.Unix()/(24*60*60)) - 4 // since Monday, 1970-01-05: a time.Duration would end in 2262
	switch f {
	case Year:
		return t.Year(), nil
	case Month:
		return 12*t.Year() + int(t.Month()), nil
	case Week:
		return days / 7, nil
	}
	return days, nil
}

// begin returns when an epoch of the form begins, if it may be one.
func (f Form) begin(epoch string) (time.Time, bool) {
	var layout string
	switch f {
	case Year:
		layout = "2006"
	case Month:
		layout = "2006-01"
	case Day:
		layout = time.DateOnly
	case Week:
		if len(epoch) != len("2006-W01") {
			return time.Time{}, false
		}
		year, _ := strconv.Atoi(epoch[:4]) // what is no number is in no name of the form, which Number compares
		week, _ := strconv.Atoi(epoch[6:])
		first := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in week 1, which begins on a Monday
		return first.AddDate(0, 0, 7*(week-1)-(int(first.Weekday())+6)%7), true
	default:
		return time.Time{}, false
	}
	t, err := time.Parse(layout, epoch)
	return t, err == nil
}

func (f Form) example() string {
	switch f {
	case Year:
		return "a year such as 2026"
	case Month:
		return "a month such as 2026-01"
	case Week:
		return "a week such as 2026-W01"
	case Day:
		return "a day such as 2026-01-31"
	}
	return "a form of epochs, year, month, week or day,"
}

// Check returns what is wrong with a schedule: ErrSchedule, or nil.
func (s Schedule) Check() error {
	if s == (Schedule{}) {
		return nil
	}
	if f := s.Epochs; f != Year && f != Month && f != Week && f != Day {
		return fmt.Errorf("%w: epochs %.24q, want %q, %q, %q or %q", ErrSchedule, f, Year, Month, Week, Day)
	}
	if s.Period != 0 && (s.Period < 2 || s.Period > MaxPeriod) {
		return fmt.Errorf("%w: a period of %d epochs, want 2 to %d", ErrSchedule, s.Period, MaxPeriod)
	}
	var bound [2]int
	for n, epoch := range []string{s.First, s.Last} {
		if epoch == "" {
			continue
		}
		var err error
		if bound[n], err = s.Epochs.Number(epoch); err != nil {
			return fmt.Errorf("%w: %w", ErrSchedule, err)
		}
	}
	if s.Last != "" && bound[0] > bound[1] {
		return fmt.Errorf("%w: it ends in %s, before it begins in %s", ErrSchedule, s.Last, s.First)
	}
	return nil
}

// Number returns the number of an epoch in which a schedule that is not free has reports.
//
// Errors: those of Check, and ErrEpoch for a text that is no epoch of the form, or one before First or after Last.
func (s Schedule) Number(epoch string) (int, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	t, err := s.Epochs.Number(epoch)
	if err != nil {
		return 0, err
	}
	if epoch < s.First { // names of one form order as their numbers do
		return 0, fmt.Errorf("%w: %s is before %s, the first of the policy", ErrEpoch, epoch, s.First)
	}
	if s.Last != "" && epoch > s.Last {
		return 0, fmt.Errorf("%w: %s is after %s, the last of the policy", ErrEpoch, epoch, s.Last)
	}
	return t, nil
}
