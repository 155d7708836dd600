package city

import (
	"errors"
	"fmt"
	"math"
)

// Errors of this package, wrapped with what, where and the value.
var (
	// ErrSize: a number of users, rows or columns out of range.
	ErrSize = errors.New("city: size out of range")
	// ErrUser: counts that are not a user's visits to cells of the grid.
	ErrUser = errors.New("city: bad user")
)

// Limits of a population. They keep every product and sum of this package inside an int and a float64's integers.
const (
	MaxSide  = 1 << 12 // rows, columns
	MaxUsers = 1 << 22
	MaxCount = 1 << 30 // check-ins of one user
)

// Population is the check-ins of users over a grid. Cell (row, col) has index row*Cols + col; row 0 is the southern
// edge, column 0 the western.
type Population struct {
	Rows, Cols int
	Users      []User
}

// User is one user's visits: Counts[n] >= 1 check-ins in cell Cells[n], cells ascending.
type User struct {
	ID     int64
	Cells  []int
	Counts []int
}

// Total is the number of check-ins.
func (u User) Total() int {
	t := 0
	for _, c := range u.Counts {
		t += c
	}
	return t
}

// Distribution returns the check-in frequencies as weights on the user's cells. The weights are nearest floats of
// count/total; their sum differs from 1 by at most len(Cells) * 2^-53.
func (u User) Distribution() (support []int, weight []float64) {
	support = append([]int{}, u.Cells...)
	weight = make([]float64, len(u.Counts))
	total := float64(u.Total())
	for n, c := range u.Counts {
		weight[n] = float64(c) / total
	}
	return support, weight
}

// Cells is the number of cells of the grid.
func (p Population) Cells() int { return p.Rows * p.Cols }

// Checkins is the number of check-ins of all users.
func (p Population) Checkins() int {
	t := 0
	for _, u := range p.Users {
		t += u.Total()
	}
	return t
}

// Truth is the mean of the users' distributions: what an analyst would compute if she saw everything. Every entry is a
// sum of at most MaxUsers non-negative terms in the order of the users, so its relative error is below MaxUsers * 2^-52
// (1e-9) at the very worst and near 1e-13 for a thousand users.
func (p Population) Truth() []float64 {
	t := make([]float64, p.Cells())
	for _, u := range p.Users {
		total := float64(u.Total())
		for n, j := range u.Cells {
			t[j] += float64(u.Counts[n]) / total
		}
	}
	for j := range t {
		t[j] /= float64(len(p.Users))
	}
	return t
}

// Validate checks the whole population. Errors: ErrSize, ErrUser (naming the user's position and id).
func (p Population) Validate() error {
	if err := checkSize(len(p.Users), p.Rows, p.Cols); err != nil {
		return err
	}
	sum := 0
	for i, u := range p.Users {
		if len(u.Cells) == 0 || len(u.Cells) != len(u.Counts) {
			return fmt.Errorf("%w: user %d (id %d): %d cells with %d counts", ErrUser, i, u.ID, len(u.Cells), len(u.Counts))
		}
		total := 0
		for n, j := range u.Cells {
			if j < 0 || j >= p.Cells() || n > 0 && j <= u.Cells[n-1] {
				return fmt.Errorf("%w: user %d (id %d): cell %d at position %d of a grid of %d cells (want ascending)", ErrUser, i,
					u.ID, j, n, p.Cells())
			}
			if u.Counts[n] < 1 || u.Counts[n] > MaxCount-total {
				return fmt.Errorf("%w: user %d (id %d): %d check-ins in cell %d", ErrUser, i, u.ID, u.Counts[n], j)
			}
			total += u.Counts[n]
		}
		if total > math.MaxInt-sum {
			return fmt.Errorf("%w: too many check-ins in all", ErrSize)
		}
		sum += total
	}
	return nil
}

func checkSize(users, rows, cols int) error {
	for _, v := range []struct {
		what   string
		n, max int
	}{{"users", users, MaxUsers}, {"rows", rows, MaxSide}, {"columns", cols, MaxSide}} {
		if v.n < 1 || v.n > v.max {
			return fmt.Errorf("%w: %d %s, want 1 to %d", ErrSize, v.n, v.what, v.max)
		}
	}
	return nil
}
