package costio

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadPairs(t *testing.T) {
	from, to := []string{"a", "b"}, []string{"b", "c", "a"}
	for _, c := range []struct {
		text string
		want [][2]int
		err  error
		line int
	}{
		{"from,to\na,b\nb,a\n", [][2]int{{0, 0}, {1, 2}}, nil, 0},
		{"b,c\n", [][2]int{{1, 1}}, nil, 0}, // no header
		{"From; To\na;b\n", [][2]int{{0, 0}}, nil, 0},
		{"from,to\na,b\nb,a\na,b\n", nil, ErrDuplicate, 4},
		{"from,to\nc,b\n", nil, ErrLabel, 2}, // of the other side only
		{"from,to\na,x\n", nil, ErrLabel, 2},
		{"from,to\n,b\n", nil, ErrLabel, 2},
		{"from,to,n\na,b,1\n", nil, ErrFormat, 1},
		{"from,to\na,b,1\n", nil, ErrFormat, 2},
		{"from,to\n", nil, ErrFormat, 0},
		{"", nil, ErrFormat, 0},
	} {
		got, err := ReadPairs(strings.NewReader(c.text), "list.csv", from, to)
		var at *Error
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) || c.err != nil && (!errors.As(err, &at) || c.line > 0 && at.Line != c.line) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
	if _, err := ReadPairs(strings.NewReader("a,b\n"), "list.csv", []string{"a", "a"}, to); !errors.Is(err, ErrDuplicate) {
		t.Errorf("two equal labels: %v", err)
	}
}
