package mincostflow

import (
	"context"
	"reflect"
	"testing"
)

// callers is a context of a type of its own, which holds finds.
type callers struct{ context.Context }

// holds reports whether a value of type callers can be reached from v.
func holds(v reflect.Value, seen map[uintptr]bool) bool {
	switch v.Kind() {
	case reflect.Interface:
		return !v.IsNil() && holds(v.Elem(), seen)
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return false
		}
		seen[v.Pointer()] = true
		return holds(v.Elem(), seen)
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Interface:
			for i := range v.Len() {
				if holds(v.Index(i), seen) {
					return true
				}
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[callers]() {
			return true
		}
		for i := range v.NumField() {
			if holds(v.Field(i), seen) {
				return true
			}
		}
	}
	return false
}

// TestForget: a solver that is used again holds no context of the caller's, whichever way it solved the problem.
func TestForget(t *testing.T) {
	for _, n := range []int{5, 140, 400} { // a star, a start from a smaller problem, blocks of rows
		c, a, b := clouds(n, 2)
		s := newSolver()
		if err := s.in.setTransport(c, a, b); err != nil {
			t.Fatal(err)
		}
		if _, err := s.solve(callers{t.Context()}, Settings{Memory: -1}); err != nil {
			t.Fatal(err)
		}
		if !holds(reflect.ValueOf(s), map[uintptr]bool{}) {
			t.Errorf("%d points: no context while in use: the test looks at nothing", n)
		}
		s.forget()
		if holds(reflect.ValueOf(s), map[uintptr]bool{}) {
			t.Errorf("%d points: the context of the caller is held", n)
		}
	}
}

// TestBlocksCover: blocks are all rows, one after the other, at numbers of rows whose square is above 2^32, too.
func TestBlocksCover(t *testing.T) {
	for _, k := range []int{1, 7, 300, 2304, 760_000, 1 << 22} {
		for _, blocks := range []int{1, sweepBlocks, max(sweepBlocks, k/sweepRows), mostBlocks} {
			p := &pricer{tree: &basis{k: k}, blocks: blocks}
			if p.first(0) != 0 || p.first(blocks) != k {
				t.Fatalf("%d rows in %d blocks: from %d to %d", k, blocks, p.first(0), p.first(blocks))
			}
			for b := range blocks {
				if rows := p.first(b+1) - p.first(b); rows < k/blocks || rows > k/blocks+1 {
					t.Fatalf("%d rows in %d blocks: %d in block %d", k, blocks, rows, b)
				}
			}
		}
	}
}
