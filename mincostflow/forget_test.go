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
		s := new(solver)
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

// TestWorkspaceIsReusable solves one problem after the other with one solver, whose slices are full of
// the last one.
func TestWorkspaceIsReusable(t *testing.T) {
	s := new(solver)
	for seed := range 300 {
		p := newDraw(uint64(seed) + 21e6).problem(9)
		if err := s.in.set(p); err != nil {
			t.Fatal(err)
		}
		if err := s.load(context.Background(), nil, 0); err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := s.finish(context.Background(), s.simplex(context.Background()), Settings{}, &r); err != nil {
			t.Fatal(err)
		}
		checkResult(t, p, r)
		checkGap(t, p, r)
	}
}
