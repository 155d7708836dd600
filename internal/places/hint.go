package places

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/private"
)

// LabelHint returns a remark on the first label of private data that the policy does not have: the nearest one that it
// has. It is for "release -check" on the device alone, where whoever reads it may see the data. Empty if err is about
// something else, or nothing is near.
func LabelHint(p policy.Policy, data []byte, err error) string {
	var at *private.Error
	if !errors.As(err, &at) || at.Line < 1 {
		return ""
	}
	lines := bytes.SplitN(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"), at.Line+1)
	if len(lines) < at.Line {
		return ""
	}
	r := csv.NewReader(bytes.NewReader(lines[at.Line-1]))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	record, csvErr := r.Read()
	if csvErr != nil || len(record) < 2 || record[0] == "" || len(record[0]) > 4*policy.MaxLabel {
		return ""
	}
	label := record[0]
	known := make(map[string]bool, p.Inputs())
	for i := range p.Inputs() {
		known[p.InputLabel(i)] = true
	}
	for _, a := range p.InputAliases() {
		known[a.Label] = true
	}
	if known[label] { // the fault is in the count
		return ""
	}
	folded := norm.NFC.String(label)
	want := []rune(folded)
	near, best := "", min(3, max(1, len(want)/3))+1
	for i := range p.Inputs() {
		s := p.InputLabel(i)
		c := norm.NFC.String(s)
		if c == folded {
			return fmt.Sprintf("; %q has this label in another Unicode spelling", s)
		}
		if strings.EqualFold(strings.TrimSpace(c), strings.TrimSpace(folded)) {
			near, best = s, 0
		}
		if d := utf8.RuneCountInString(c) - len(want); d < best && -d < best {
			if n := editDistance(want, []rune(c), best); n < best {
				near, best = s, n
			}
		}
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; is %q meant?", near)
}

// editDistance returns how many runes must be put in, taken out or exchanged to make b of a, or limit if that is more.
// O(len(b) limit).
func editDistance(a, b []rune, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = min(j, limit)
	}
	for i := range a {
		from, to := max(0, i-limit), min(len(b), i+1+limit) // beyond, the distance is limit at least
		diagonal := row[from]
		row[from] = limit
		if from == 0 {
			row[0] = min(i+1, limit)
		}
		least := row[from]
		for j := from; j < to; j++ {
			n := diagonal
			if a[i] != b[j] {
				n = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], min(n, limit)
			least = min(least, row[j+1])
		}
		if least == limit {
			return limit
		}
	}
	return row[len(b)]
}
