package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/policy/ledger"
)

// scheduled are policies of version 3, with rows and with thresholds.
func scheduled(t testing.TB) map[string]Config {
	rows, ranked := smallConfig(t), geometryConfigs(t)["grid2.json"]
	rows.Schedule = ledger.Schedule{Epochs: ledger.Month, First: "2026-01", Period: 12}
	ranked.Schedule = ledger.Schedule{Epochs: ledger.Day, Last: "2026-01-31"}
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
		cfg.Schedule = ledger.Schedule{}
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
		s    ledger.Schedule
		want error
		text string
	}{
		{ledger.Schedule{Epochs: ledger.Month, Period: 2}, nil, ""},
		{ledger.Schedule{Epochs: ledger.Week, Period: ledger.MaxPeriod, First: "2026-W01", Last: "2026-W01"}, nil, ""},
		{ledger.Schedule{Period: 12}, ledger.ErrSchedule, "epochs"},
		{ledger.Schedule{Last: "2026"}, ledger.ErrSchedule, "epochs"},
		{ledger.Schedule{Epochs: "decade"}, ledger.ErrSchedule, `"decade"`},
		{ledger.Schedule{Epochs: ledger.Month, Period: 1}, ledger.ErrSchedule, "a period of 1"},
		{ledger.Schedule{Epochs: ledger.Month, Period: -1}, ledger.ErrSchedule, "a period of -1"},
		{ledger.Schedule{Epochs: ledger.Month, Period: 1e9}, ledger.ErrSchedule, "a period of 1000000000"},
		{ledger.Schedule{Epochs: ledger.Month, Last: "2026"}, ledger.ErrSchedule, `"2026", want a month`},
		{ledger.Schedule{Epochs: ledger.Month, First: "x"}, ledger.ErrSchedule, `"x", want a month`},
		{ledger.Schedule{Epochs: ledger.Month, First: "2026-02", Last: "2026-01"}, ledger.ErrSchedule, "ends in 2026-01"},
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
		strings.Replace(line, "12", "-1", 1):             ledger.ErrSchedule,
		strings.Replace(line, "12", "1", 1):              ledger.ErrSchedule,
		strings.Replace(line, "12", "1000000000", 1):     ledger.ErrSchedule,
		strings.Replace(line, "12", "1e1", 1):            ErrFormat,
		strings.Replace(line, "12", "012", 1):            ErrFormat,
		strings.Replace(line, "12", "null", 1):           ErrFormat,
		strings.Replace(line, "12", `"12"`, 1):           ErrFormat,
		strings.Replace(line, "null", `""`, 1):           ErrFormat,
		strings.Replace(line, "null", `"2026"`, 1):       ledger.ErrSchedule,
		strings.Replace(line, "month", "week", 1):        ledger.ErrSchedule,
		strings.Replace(line, "month", "", 1):            ledger.ErrSchedule,
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
