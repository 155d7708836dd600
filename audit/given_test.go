package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/policy"
)

// rowText writes rows as Given reads them.
func rowText(rows ...[]uint64) string {
	var b strings.Builder
	for _, n := range rows {
		b.WriteString(strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ","), "[]") + "\n")
	}
	return b.String()
}

// TestGiven: the published rows pass, in either file form; a unit out of place is found, with its line.
func TestGiven(t *testing.T) {
	ctx := context.Background()
	p := ring(t, 5, "1", 62, policy.Mixture)
	all, err := TableOf(p)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]uint64, 5)
	for i := range rows {
		rows[i] = append([]uint64(nil), all.Rows[i].N...)
	}
	good := rowText(rows...)
	for _, text := range []string{good, strings.TrimSuffix(good, "\n"), strings.ReplaceAll(good, "\n", "\r\n")} {
		c, err := Given(ctx, p, RowFile{"x", strings.NewReader(text)})
		if err != nil || !c.Passed || c.Rows != 5 || c.Worst == nil || !c.Worst.Within || !strings.Contains(c.What, "x") {
			t.Errorf("%v, %+v", err, c)
		}
	}
	want := Rows(all)
	if c, _ := Given(ctx, p, RowFile{"x", strings.NewReader(good)}); c.Worst.Num != want.Worst.Num ||
		c.Worst.Den != want.Worst.Den || c.Worst.Column != want.Worst.Column {
		t.Errorf("worst pair %v, want %v", c.Worst, want.Worst)
	}
	rows[3][0]++
	if c, err := Given(ctx, p, RowFile{"x", strings.NewReader(rowText(rows...))}); err != nil || c.Passed ||
		!strings.HasPrefix(c.Fault, "line 4: ") {
		t.Errorf("a unit too much: %v, %+v", err, c)
	}
	rows[3][1]--
	lo, hi := p.Polytope().Lo(1), p.Polytope().Hi(0)
	if c, err := Given(ctx, p, RowFile{"x", strings.NewReader(rowText(rows...))}); err != nil ||
		c.Passed != (rows[3][0] <= hi && rows[3][1] >= lo) {
		t.Errorf("a unit in another column: %v, %+v", err, c)
	}
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		text io.Reader
		want error
		line string
	}{
		"empty":      {strings.NewReader(""), ErrTable, "no rows"},
		"empty line": {strings.NewReader(good + "\n" + good), ErrTable, "line 6"},
		"short":      {strings.NewReader(good + "1,2,3,4\n"), ErrTable, "line 6"},
		"long":       {strings.NewReader("1,2,3,4,5,6\n"), ErrTable, "line 1"},
		"negative":   {strings.NewReader("1,2,3,4,-5\n"), ErrTable, "line 1"},
		"not whole":  {strings.NewReader("1,2,3,4,5.0\n"), ErrTable, "line 1"},
		"too large":  {strings.NewReader("1,2,3,4,18446744073709551616\n"), ErrTable, "line 1"},
		"spaces":     {strings.NewReader("1, 2, 3, 4, 5\n"), ErrTable, "line 1"},
		"endless":    {strings.NewReader(strings.Repeat("1", 1000)), nil, "line 1"},
		"reader":     {io.MultiReader(strings.NewReader(good), failing{broken}), broken, "line 6"},
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := Given(ctx, p, RowFile{"x", test.text}); err == nil || test.want != nil && !errors.Is(err, test.want) ||
				!strings.Contains(err.Error(), test.line) || c.Rows != 0 {
				t.Errorf("%s: %v, want %v at %s", name, err, test.want, test.line)
			}
		})
	}
	if _, err := Given(ctx, policy.Policy{}, RowFile{"x", strings.NewReader(good)}); !errors.Is(err, ErrTable) {
		t.Errorf("no policy: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Given(over, p, RowFile{"x", strings.NewReader(good)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// In a whole audit they decide like every other check.
	cfg := small(p)
	cfg.Rows = &RowFile{"rows.csv", strings.NewReader(good)}
	if r, err := Run(ctx, cfg); err != nil || !r.Passed || r.Exact[len(r.Exact)-1].Rows != 5 {
		t.Errorf("%v, %s", err, r.Verdict)
	}
	cfg.Rows = &RowFile{"rows.csv", strings.NewReader(rowText([]uint64{1, 2, 3, 4, 5}))}
	if r, err := Run(ctx, cfg); err != nil || r.Passed || !strings.Contains(r.Verdict, "integers") {
		t.Errorf("%v, %s", err, r.Verdict)
	}
	cfg.Rows = &RowFile{"rows.csv", strings.NewReader("x")}
	if _, err := Run(ctx, cfg); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "rows.csv: ") {
		t.Errorf("%v", err)
	}
}
