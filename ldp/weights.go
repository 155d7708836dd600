package ldp

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// Weights is one row of a mechanism: index j has probability n_j / 2^B.
//
// Invariant: non-zero Weights have at least one column and sum n_j = 2^B, 1 <= B <= 62. Only Round and Polytope.Weights
// make them, and nothing changes them. The row of a client is as private as the client's data, so Weights print as a
// fixed text; At reads a weight.
type Weights struct{ *row }

// row is behind a pointer because fmt cannot call Format on what lies in another type's unexported field:
// there it prints fields, but of a pointer only the address.
type row struct {
	bits int
	n    []uint64
}

// get makes the zero Weights an empty row.
func (w Weights) get() row {
	if w.row == nil {
		return row{}
	}
	return *w.row
}

// Len returns the number of columns.
func (w Weights) Len() int { return len(w.get().n) }

// Bits returns B; 0 for the zero Weights.
func (w Weights) Bits() int { return w.get().bits }

// At returns n_j; 0 if there is no column j.
func (w Weights) At(j int) uint64 { return at(w.get().n, j) }

// Format prints a fixed text under every verb, so that no log shows a private row.
func (w Weights) Format(s fmt.State, _ rune) { io.WriteString(s, "ldp.Weights(not shown)") }

// Sample reads ceil(B/8) bytes from r, takes the low B bits of them, first byte lowest, as a number,
// and returns the first j with n_0 + .. + n_j above that number. If the bits are uniform, j has
// probability n_j / 2^B exactly. An index of weight 0 is never returned.
//
// It fails, with -1, only if w is zero (ErrWeights), or if r is nil or fails (ErrRandom, which wraps the error of r).
// It reads no further byte, and no byte twice.
//
// Argument: let c_j = n_0 + .. + n_j. These do not decrease, so the first j with c_j > x is the number
// of j with c_j <= x, which the loop counts: Sub64 borrows if and only if x < c_j. As x < 2^B = c_(kv-1),
// the count is at most kv - 1, and c_j <= 2^62 never wraps. The numbers x in [c_(j-1), c_j) give j,
// n_j of them. The loop does the same work, without a branch, whatever x and n are.
func (w Weights) Sample(r io.Reader) (int, error) {
	if w.Len() == 0 {
		return -1, fmt.Errorf("%w: zero Weights", ErrWeights)
	}
	if r == nil {
		return -1, fmt.Errorf("%w: nil reader", ErrRandom)
	}
	var buf [8]byte
	if _, err := io.ReadFull(r, buf[:(w.bits+7)/8]); err != nil {
		return -1, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	x := binary.LittleEndian.Uint64(buf[:]) & (1<<uint(w.bits) - 1)
	var c, count uint64
	for _, n := range w.n {
		c += n
		_, less := bits.Sub64(x, c, 0)
		count += 1 - less
	}
	return int(count), nil
}

// A Ratio is the largest quotient of two weights of one column: Num in row High, Den in row Low. Den = 0 < Num means an
// infinite quotient.
type Ratio struct {
	Column, High, Low int
	Num, Den          uint64
}

// WorstRatio returns the largest n_j / n'_j over all columns j and pairs of rows, the first of equals,
// leaving out 0/0. Its logarithm is the privacy loss of a mechanism with just these rows. It fails with
// ErrWeights if there is no row, a row is zero, or rows differ in Len or Bits.
//
// Argument: in a column, the largest quotient is the largest weight over the smallest. Quotients
// a/b, c/d with a, c > 0 compare as ad and cb do, also if b or d is 0, in 128 bits.
func WorstRatio(rows []Weights) (Ratio, error) {
	for i, w := range rows {
		if w.Len() == 0 || w.Len() != rows[0].Len() || w.Bits() != rows[0].Bits() {
			return Ratio{}, fmt.Errorf("%w: row %d has %d columns of %d bits, row 0 %d of %d",
				ErrWeights, i, w.Len(), w.Bits(), rows[0].Len(), rows[0].Bits())
		}
	}
	if len(rows) == 0 {
		return Ratio{}, fmt.Errorf("%w: no rows", ErrWeights)
	}
	worst := Ratio{Num: 0, Den: 1} // below every quotient with a positive numerator
	for j := range rows[0].n {
		r := Ratio{Column: j, Num: rows[0].n[j], Den: rows[0].n[j]}
		for i, w := range rows {
			if w.n[j] > r.Num {
				r.Num, r.High = w.n[j], i
			}
			if w.n[j] < r.Den {
				r.Den, r.Low = w.n[j], i
			}
		}
		ah, al := bits.Mul64(r.Num, worst.Den)
		ch, cl := bits.Mul64(worst.Num, r.Den)
		if ah > ch || ah == ch && al > cl {
			worst = r
		}
	}
	return worst, nil
}

// CheckRows returns nil if and only if n_j <= e^eps n'_j for every column j and every two of the rows,
// that is if the rows alone are an eps-LDP mechanism, in or out of a common box. Otherwise it returns
// ErrRows with the worst pair, or ErrEpsilon or ErrWeights. Cost: one pass over the rows.
func CheckRows(eps Epsilon, rows []Weights) error {
	if eps.IsZero() {
		return fmt.Errorf("%w: zero Epsilon", ErrEpsilon)
	}
	worst, err := WorstRatio(rows)
	if err != nil {
		return err
	}
	if worst.Num > newFactor(eps.Rat()).floor(worst.Den) { // Num <= 2^62: see Verify
		return fmt.Errorf("%w: column %d: weight %d in row %d against %d in row %d exceeds e^%v",
			ErrRows, worst.Column, worst.Num, worst.High, worst.Den, worst.Low, eps)
	}
	return nil
}
