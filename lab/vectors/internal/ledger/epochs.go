package ledger

import (
	"fmt"
	"regexp"
	"strconv"
)

// forms are those of epochs, each with the shape of its names.
var forms = map[string]*regexp.Regexp{
	"year":  regexp.MustCompile(`^[0-9]{4}$`),
	"month": regexp.MustCompile(`^[0-9]{4}-[0-9]{2}$`),
	"week":  regexp.MustCompile(`^[0-9]{4}-W[0-9]{2}$`),
	"day":   regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`),
}

const (
	firstYear, lastYear = 2000, 9999
	dayMillis           = 24 * 60 * 60 * 1000
)

// newYear has the number of the first day of each year from 1970 to 10001, counted from Monday, 1970-01-05.
var newYear = func() (n [10002]int) {
	n[1970] = -4
	for y := 1970; y < len(n)-1; y++ {
		n[y+1] = n[y] + 365
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			n[y+1]++
		}
	}
	return n
}()

// newMonth is the number of the first day of a month, from 1 to 13.
func newMonth(y, m int) int {
	n := newYear[y]
	for k, days := range []int{31, newYear[y+1] - newYear[y] - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if k+1 < m {
			n += days
		}
	}
	return n
}

// firstWeek is the number of week 1 of a year, which has January 4.
func firstWeek(y int) int { return (newYear[y] + 3) / 7 }

// numberOf returns the number of an epoch, by docs/spec/policy.md.
func numberOf(form, name string) (n int, ok bool) {
	if shape := forms[form]; shape == nil || !shape.MatchString(name) {
		return 0, false
	}
	part := func(from, to int) int {
		n, err := strconv.Atoi(name[from:to])
		if err != nil {
			panic(err) // the shape has digits here
		}
		return n
	}
	y := part(0, 4)
	if y < firstYear {
		return 0, false
	}
	switch form {
	case "year":
		return y, true
	case "month":
		m := part(5, 7)
		return 12*y + m, m >= 1 && m <= 12
	case "week":
		n := firstWeek(y) + part(6, 8) - 1
		return n, n >= firstWeek(y) && n < firstWeek(y+1)
	}
	m := part(5, 7)
	if m < 1 || m > 12 {
		return 0, false
	}
	n = newMonth(y, m) + part(8, 10) - 1
	return n, n >= newMonth(y, m) && n < newMonth(y, m+1)
}

// nameOf is the name of the epoch of a number, or empty if its year is not from 2000 to 9999.
func nameOf(form string, n int) string {
	for y := firstYear; y <= lastYear; y++ {
		switch {
		case form == "year" && n == y:
			return fmt.Sprint(y)
		case form == "month" && n > 12*y && n <= 12*y+12:
			return fmt.Sprintf("%d-%02d", y, n-12*y)
		case form == "week" && n >= firstWeek(y) && n < firstWeek(y+1):
			return fmt.Sprintf("%d-W%02d", y, n-firstWeek(y)+1)
		case form == "day" && n >= newYear[y] && n < newYear[y+1]:
			m := 1
			for newMonth(y, m+1) <= n {
				m++
			}
			return fmt.Sprintf("%d-%02d-%02d", y, m, n-newMonth(y, m)+1)
		}
	}
	return ""
}

// startOf returns when an epoch begins, in milliseconds since 1970-01-01.
func startOf(form, name string) int64 {
	n, ok := numberOf(form, name)
	if !ok {
		panic("no " + form + ": " + name)
	}
	switch form {
	case "year":
		n = newYear[n]
	case "month":
		n = newMonth((n-1)/12, (n-1)%12+1)
	case "week":
		n *= 7
	}
	return int64(n+4) * dayMillis
}

// reached reports whether the clock, in milliseconds since 1970-01-01, says this epoch or a later one.
func reached(form, name string, clock int64) bool {
	return clock < int64(newYear[lastYear+1]+4)*dayMillis && clock >= startOf(form, name)
}
