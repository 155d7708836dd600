package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every day from 2000 on is in one epoch of each form. The numbers go up by one where the names change, and only there.
func TestEpochNumbers(t *testing.T) {
	for _, f := range []Form{Year, Month, Week, Day} {
		last, number := "", 0
		for day := time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC); day.Year() < 2130; day = day.AddDate(0, 0, 1) {
			epoch := f.At(day.Add(23*time.Hour + 59*time.Minute))
			n, err := f.Number(epoch)
			if err != nil {
				t.Fatal(f, day, err)
			}
			if step := n - number; last != "" && (epoch == last && step != 0 || epoch != last && step != 1) {
				t.Fatalf("%s: %s has number %d after %d of %s", f, epoch, n, number, last)
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

// scheduled are policies of version 3, with rows and with thresholds.
func scheduled(t testing.TB) map[string]Config {
	rows, ranked := smallConfig(t), geometryConfigs(t)["grid2.json"]
	rows.Schedule = Schedule{Epochs: Month, First: "2026-01", Period: 12}
	ranked.Schedule = Schedule{Epochs: Day, Last: "2026-01-31"}
	return map[string]Config{"rows": rows, "thresholds": ranked}
}

// A schedule adds one line, and makes a file of version 3 whose rows are those of the other versions.
func TestVersion3Files(t *testing.T) {
	line := map[string]string{
		"rows":       `"schedule":{"epochs":"month","first":"2026-01","last":null,"period":12},` + "\n",
		"thresholds": `"schedule":{"epochs":"day","first":null,"last":"2026-01-31","period":0},` + "\n",
	}
	for name, cfg := range scheduled(t) {
		p := mustNew(t, cfg)
		data := mustEncode(t, p)
		q, err := Decode(data)
		if err != nil || q.ID() != p.ID() || q.Version() != 3 || q.Schedule() != cfg.Schedule {
			t.Fatalf("%s: %v, %v", name, q, err)
		}
		if err := errors.Join(Verify(q), verifyRows(q)); err != nil {
			t.Error(name, err)
		}
		cfg.Schedule = Schedule{}
		old := mustNew(t, cfg)
		for i := range p.Inputs() {
			a, err := q.Row(i)
			b, worse := old.Row(i)
			if err != nil || worse != nil || !slices.Equal(weights(a), weights(b)) {
				t.Errorf("%s, row %d: %v, %v", name, i, err, worse)
			}
		}
		text := bytes.Replace(data, []byte(line[name]), nil, 1)
		text = bytes.Replace(text, []byte("policy-3"), fmt.Appendf(nil, "policy-%d", old.Version()), 1)
		if !bytes.Equal(text, mustEncode(t, old)) { // the bounds differ, so both versions have lists
			t.Errorf("%s: without its schedule\n%s", name, text)
		}
		for i := range data {
			for _, changed := range [][]byte{slices.Concat(data[:i], data[i+1:]), slices.Concat(data[:i+1], data[i:])} {
				if p, err := Decode(changed); err == nil && !bytes.Equal(mustEncode(t, p), changed) {
					t.Fatalf("%s: a byte less or more at %d: decoded", name, i)
				}
			}
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, tc := range []struct {
		s    Schedule
		want error
		text string
	}{
		{Schedule{Epochs: Month, Period: 2}, nil, ""},
		{Schedule{Epochs: Week, Period: MaxPeriod, First: "2026-W01", Last: "2026-W01"}, nil, ""},
		{Schedule{Period: 12}, ErrSchedule, "epochs"},
		{Schedule{Last: "2026"}, ErrSchedule, "epochs"},
		{Schedule{Epochs: "decade"}, ErrSchedule, `"decade"`},
		{Schedule{Epochs: Month, Period: 1}, ErrSchedule, "a period of 1"},
		{Schedule{Epochs: Month, Period: -1}, ErrSchedule, "a period of -1"},
		{Schedule{Epochs: Month, Period: 1e9}, ErrSchedule, "a period of 1000000000"},
		{Schedule{Epochs: Month, Last: "2026"}, ErrSchedule, `"2026", want a month`},
		{Schedule{Epochs: Month, First: "x"}, ErrSchedule, `"x", want a month`},
		{Schedule{Epochs: Month, First: "2026-02", Last: "2026-01"}, ErrSchedule, "ends in 2026-01"},
	} {
		cfg := smallConfig(t)
		cfg.Schedule = tc.s
		if _, err := New(cfg); !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%+v: %v, want %v", tc.s, err, tc.want)
		}
	}
	good := string(mustEncode(t, mustNew(t, scheduled(t)["rows"])))
	const line = `"schedule":{"epochs":"month","first":"2026-01","last":null,"period":12},` + "\n"
	for other, want := range map[string]error{
		strings.Replace(line, "12", "0", 1):              nil,
		strings.Replace(line, "12", "-1", 1):             ErrSchedule,
		strings.Replace(line, "12", "1", 1):              ErrSchedule,
		strings.Replace(line, "12", "1000000000", 1):     ErrSchedule,
		strings.Replace(line, "12", "1e1", 1):            ErrFormat,
		strings.Replace(line, "12", "012", 1):            ErrFormat,
		strings.Replace(line, "12", "null", 1):           ErrFormat,
		strings.Replace(line, "12", `"12"`, 1):           ErrFormat,
		strings.Replace(line, "null", `""`, 1):           ErrFormat,
		strings.Replace(line, "null", `"2026"`, 1):       ErrSchedule,
		strings.Replace(line, "month", "week", 1):        ErrSchedule,
		strings.Replace(line, "month", "", 1):            ErrSchedule,
		strings.Replace(line, `}`, `,"x":1}`, 1):         ErrFormat,
		strings.Replace(line, `"epochs"`, `"Epochs"`, 1): ErrFormat,
		"\"schedule\":null,\n":                           ErrFormat,
		"\"schedule\":{},\n":                             ErrFormat,
		"":                                               ErrFormat, // another version
		line + line:                                      ErrFormat,
	} {
		if _, err := Decode([]byte(strings.Replace(good, line, other, 1))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", other, err, want)
		}
	}
	// Rows of two forms, and of none.
	two := string(mustEncode(t, mustNew(t, scheduled(t)["thresholds"])))
	rows := good[strings.Index(good, `"rows":`):strings.LastIndex(good, "\n}")]
	both := strings.Replace(two, `"geometry":{"kind"`, rows+",\n"+`"geometry":{"kind"`, 1)
	none := two[:strings.Index(two, ",\n\"geometry\":{\"kind\"")] + "\n}\n"
	for name, text := range map[string]string{"both": both, "none": none} {
		if _, err := Decode([]byte(text)); err == nil || text == two {
			t.Errorf("%s: decoded", name)
		}
	}
}
