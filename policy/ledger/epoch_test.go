package ledger

import (
	"errors"
	"testing"
	"time"
)

// Every day from 2000 on is in one epoch of each form. The numbers go up by one where the names change, and only there,
// and each number has its name.
func TestEpochNumbers(t *testing.T) {
	for _, f := range []Form{Year, Month, Week, Day} {
		last, number := "", 0
		for day := time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC); day.Year() < 10_000; day = day.AddDate(0, 0, 1) {
			if day.Year() == 2130 { // in 2262 a time.Duration since 1970 overflows
				day, last = time.Date(2262, 1, 6, 0, 0, 0, 0, time.UTC), ""
			} else if day.Year() == 2263 {
				day, last = time.Date(9999, 1, 4, 0, 0, 0, 0, time.UTC), ""
			}
			epoch := f.At(day.Add(23*time.Hour + 59*time.Minute))
			n, err := f.Number(epoch)
			if err != nil {
				t.Fatal(f, day, err)
			}
			if step := n - number; last != "" && (epoch == last && step != 0 || epoch != last && step != 1) {
				t.Fatalf("%s: %s has number %d after %d of %s", f, epoch, n, number, last)
			}
			if epoch != last && f.Name(n) != epoch {
				t.Fatalf("%s: %d is the number of %s and the name of it is %s", f, n, epoch, f.Name(n))
			}
			last, number = epoch, n
		}
	}
}

func TestEpochs(t *testing.T) {
	for _, tc := range []struct {
		form  Form
		epoch string
		want  int // -1: refused
	}{
		{Year, "2026", 2026}, {Year, "1999", -1}, {Year, "9999", 9999}, {Year, "10000", -1}, {Year, "26", -1}, {Year, "", -1},
		{Month, "2026-01", 24313}, {Month, "2026-12", 24324}, {Month, "2026-13", -1}, {Month, "2026-00", -1},
		{Month, "2026-1", -1}, {Month, "2026-01-01", -1}, {Month, "2026", -1}, {Month, " 2026-01", -1},
		{Month, "2026-W01", -1},
		{Week, "2026-W01", 2921}, {Week, "2026-W53", 2973}, {Week, "2025-W53", -1}, {Week, "2026-W00", -1},
		{Week, "2026-w01", -1}, {Week, "2026-W1", -1}, {Week, "2026-W+1", -1}, {Week, "2026--01", -1}, {Week, "1999-W52", -1},
		{Week, "9999-W52", 418984}, {Week, "2300-W01", 17218}, {Day, "9999-12-31", 2932892},
		{Day, "2026-01-05", 56*365 + 14}, {Day, "2024-02-29", 19778}, {Day, "2026-02-29", -1}, {Day, "2026-01-5", -1},
		{Free, "2026", -1}, {"decade", "2026", -1},
	} {
		n, err := tc.form.Number(tc.epoch)
		if tc.want < 0 != errors.Is(err, ErrEpoch) || err == nil && n != tc.want {
			t.Errorf("%s %q: %d, %v, want %d", tc.form, tc.epoch, n, err, tc.want)
		}
	}
	zone := time.FixedZone("far east", 14*3600)
	names := map[Form]string{Year: "2026", Month: "2026-12", Week: "2026-W53", Day: "2026-12-31", Free: ""}
	for form, want := range names {
		if got := form.At(time.Date(2027, 1, 1, 13, 59, 0, 0, zone)); got != want { // 23:59 the day before, in UTC
			t.Errorf("%s: %q, want %q", form, got, want)
		}
	}
	for _, year := range []int{-1, 0, 1999, 10_000} {
		if got := Month.At(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); got != "" {
			t.Errorf("year %d: %q", year, got)
		}
	}
}

// A schedule is of a form, has a period or none, and does not end before it begins. It has its first epoch, its last, and
// those between.
func TestSchedules(t *testing.T) {
	month := func(first, last string, period int) Schedule {
		return Schedule{Epochs: Month, First: first, Last: last, Period: period}
	}
	for _, tc := range []struct {
		s     Schedule
		epoch string
		want  error
	}{
		{month("", "", 0), "2000-01", nil},
		{month("2026-02", "", 0), "2026-01", ErrEpoch}, {month("2026-02", "", 0), "2026-02", nil},
		{month("2026-02", "", 0), "9999-12", nil},
		{month("", "2026-02", 0), "2000-01", nil}, {month("", "2026-02", 0), "2026-02", nil},
		{month("", "2026-02", 0), "2026-03", ErrEpoch},
		{month("2026-02", "2026-04", 0), "2026-03", nil}, {month("2026-02", "2026-04", 0), "2026-05", ErrEpoch},
		{month("2026-02", "2026-02", 0), "2026-02", nil}, {month("2026-02", "2026-01", 0), "2026-01", ErrSchedule},
		{month("2026", "", 0), "2026-01", ErrSchedule}, {month("", "2026", 0), "2026-01", ErrSchedule},
		{month("", "", 2), "2026-01", nil}, {month("", "", MaxPeriod), "2026-01", nil},
		{month("", "", 1), "2026-01", ErrSchedule}, {month("", "", -1), "2026-01", ErrSchedule},
		{month("", "", MaxPeriod+1), "2026-01", ErrSchedule},
		{Schedule{Epochs: "decade"}, "2026", ErrSchedule}, {Schedule{Period: 2}, "2026", ErrSchedule},
		{Schedule{Epochs: Year, Period: 2}, "2026", nil}, {Schedule{Epochs: Week, Period: 2}, "2026-W01", nil},
		{Schedule{Epochs: Day, Period: 2}, "2026-01-01", nil}, {Schedule{Epochs: Day, Period: 2}, "2026-01", ErrEpoch},
	} {
		n, err := tc.s.Number(tc.epoch)
		of, _ := tc.s.Epochs.Number(tc.epoch)
		if !errors.Is(err, tc.want) || err == nil && n != of {
			t.Errorf("%+v: %s has number %d, %v, want %d, %v", tc.s, tc.epoch, n, err, of, tc.want)
		}
		if check := tc.s.Check(); (check != nil) != (tc.want == ErrSchedule) {
			t.Errorf("%+v: %v", tc.s, check)
		}
	}
	if err := (Schedule{}).Check(); err != nil {
		t.Errorf("no schedule: %v", err)
	}
}
