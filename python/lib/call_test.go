package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// ask performs a call to its end.
func ask(t *testing.T, op, args string, arrays ...array) (*job, state) {
	t.Helper()
	var names []string
	for _, a := range arrays {
		names = append(names, a.name)
	}
	list, err := json.Marshal(append([]string{}, names...))
	if err != nil {
		t.Fatal(err)
	}
	c := start(op, fmt.Appendf(nil, `{"args":%s,"arrays":%s}`, args, list), arrays, false)
	s := c.wait(-1)
	if op != "exit" { // the same on the caller's goroutine, but for times
		d := start(op, fmt.Appendf(nil, `{"args":%s,"arrays":%s}`, args, list), arrays, true)
		if d.wait(0) != s || (d.err == nil) != (c.err == nil) || s == failed && d.kind() != c.kind() {
			t.Errorf("%s: %v, %v, and at once %v, %v", op, s, c.err, d.wait(0), d.err)
		}
	}
	return c, s
}

func matrix(name string, rows, cols int, xs ...float64) array {
	return array{name: name, rows: rows, cols: cols, floats: xs}
}

// TestPanic: what a task of an operation throws on another goroutine, what the operation itself throws, and the end of
// its goroutine are errors of the call; those of others go on.
func TestPanic(t *testing.T) {
	defer func(old map[string]func(context.Context, request) (answer, error)) { operations = old }(operations)
	operations = map[string]func(context.Context, request) (answer, error){
		"below": throw,
		"here":  func(context.Context, request) (answer, error) { panic(errors.New("here")) },
		"exit":  func(context.Context, request) (answer, error) { runtime.Goexit(); return answer{}, nil },
		"index": func(_ context.Context, r request) (answer, error) { return answer{value: r.floats("x")[5]}, nil },
		"nan":   func(context.Context, request) (answer, error) { return answer{value: math.NaN()}, nil },
	}
	for op, want := range map[string]string{"below": "asked for", "here": "here", "exit": "ended its goroutine",
		"index": "out of range"} {
		c, s := ask(t, op, "{}", vector("x", []float64{1}))
		if s != failed || !errors.Is(c.err, errPanic) || c.kind() != "panic" ||
			!strings.Contains(string(c.text), want) {
			t.Errorf("%s: %v, %s", op, s, c.text)
		}
	}
	if c, s := ask(t, "nan", "{}"); s != failed || c.err == nil {
		t.Errorf("an answer of NaN: %v, %s", s, c.text)
	}
}

// TestCancel: a call that is cancelled ends, and its end can be waited for more than once, from several goroutines.
func TestCancel(t *testing.T) {
	defer func(old map[string]func(context.Context, request) (answer, error)) { operations = old }(operations)
	operations = map[string]func(context.Context, request) (answer, error){
		"wait": func(ctx context.Context, _ request) (answer, error) { <-ctx.Done(); return answer{}, ctx.Err() },
	}
	c := start("wait", []byte(`{"args":{},"arrays":[]}`), nil, false)
	if s := c.wait(time.Millisecond); s != running {
		t.Fatalf("state %v before the end", s)
	}
	ends := make(chan state, 4)
	for range cap(ends) {
		go func() { ends <- c.wait(-1) }()
	}
	c.cancel()
	for range cap(ends) {
		if s := <-ends; s != failed {
			t.Errorf("state %v after the end", s)
		}
	}
	if !errors.Is(c.err, context.Canceled) {
		t.Errorf("%v", c.err)
	}
}

// TestKinds: the classes of exceptions.
func TestKinds(t *testing.T) {
	square := matrix("C", 2, 2, 0, 1, 1, 0)
	box := []array{vector("lo", []float64{0.6, 0.6}), vector("hi", []float64{1, 1})}
	for _, test := range []struct {
		op, args, kind, want string
		arrays               []array
	}{
		{"none", "{}", "input", "unknown operation", nil},
		{"transport", "[]", "input", "arguments", nil},
		{"transport", `{"none":1}`, "input", "none", nil},
		{"transport", "{}", "input", "cost", nil},
		{"transport", `{"cost":{"kind":"ring","n":2,"p":1}}`, "input", "not both", []array{square}},
		{"project", "{}", "infeasible", "infeasible", append(box, square, vector("mu", []float64{1, 1}))},
		{"project-one", `{"handle":0}`, "input", "freed", nil},
		{"policy", `{"policy":"{}","verify":true}`, "refused", "policy", nil},
		{"design", `{"cost":{"kind":"ring","n":2,"p":1},"eps":"x","objective":"uniform"}`, "input", "epsilon", nil},
	} {
		c, s := ask(t, test.op, test.args, test.arrays...)
		if s != failed || c.kind() != test.kind || !strings.Contains(c.err.Error(), test.want) {
			t.Errorf("%s %s: state %v, %s, %v", test.op, test.args, s, c.kind(), c.err)
		}
	}
	if c := start("transport", []byte(`{"args":{},"arrays":["C"]}`), nil, false); c.wait(-1) != failed {
		t.Error("a name without an array is accepted")
	}
}

// TestMany: a batch refuses arrays that do not fit before it writes, and rows that go backwards.
func TestMany(t *testing.T) {
	c, s := ask(t, "projector", "{}",
		matrix("C", 2, 2, 0, 1, 1, 0), vector("lo", []float64{0, 0}), vector("hi", []float64{1, 1}))
	var out struct{ Value made }
	if err := json.Unmarshal(c.text, &out); s != done || err != nil {
		t.Fatal(string(c.text), err)
	}
	args := fmt.Sprintf(`{"handle":%d}`, out.Value.Handle)
	for _, test := range []struct {
		ptr  []int64
		q    int
		want error
	}{
		{[]int64{0, 1, 2}, 4, nil},
		{[]int64{0, 1, 2}, 3, wpmerr.ErrShape}, {[]int64{0, 2, 1, 2}, 6, wpmerr.ErrShape},
		{[]int64{0, -1, 2}, 4, wpmerr.ErrShape},
		{[]int64{0, 1}, 2, wpmerr.ErrShape}, {[]int64{1, 1, 2}, 4, wpmerr.ErrShape},
		{nil, 0, wpmerr.ErrShape},
	} {
		n := max(len(test.ptr)-1, 0)
		call, s := ask(t, "project-many", args, indices("indptr", test.ptr), indices("support", []int64{0, 1}),
			vector("mass", []float64{1, 2}),
			vector("q", make([]float64, test.q)), vector("value", make([]float64, n)),
			vector("lower", make([]float64, n)),
			vector("upper", make([]float64, n)), indices("status", make([]int64, n)))
		if (s == done) != (test.want == nil) || !errors.Is(call.err, test.want) {
			t.Errorf("%v, q of %d: %v, %v", test.ptr, test.q, s, call.err)
		}
	}
	handles.remove(out.Value.Handle)
}

// TestColumn: a column is the bytes of its numbers, and no more than there are.
func TestColumn(t *testing.T) {
	a := indices("s0", []int64{0x0807060504030201, 0x0a09})
	text, err := column(a, 10)
	if err != nil || string(text) != "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a" {
		t.Errorf("%q, %v", text, err)
	}
	for _, size := range []int{-1, 17} {
		if _, err := column(a, size); err == nil {
			t.Errorf("%d bytes in 16", size)
		}
	}
}

// TestSteps: what an operation says of its steps is seen from outside, and what has no call is told none.
func TestSteps(t *testing.T) {
	defer func(old map[string]func(context.Context, request) (answer, error)) { operations = old }(operations)
	operations = map[string]func(context.Context, request) (answer, error){
		"step": func(ctx context.Context, _ request) (answer, error) { stepsOf(ctx)(3, 7); return answer{}, nil },
	}
	c, s := ask(t, "step", "{}")
	if got := c.steps.Load(); s != done || got != 3<<32|7 {
		t.Errorf("%v, %x", s, got)
	}
	stepsOf(t.Context())(1, 2) // nothing
}

// BenchmarkProjector is the time of a projection in Go, on the instance in the folder WPM_BENCH, which python/bench.py
// writes, or on one of its kind.
func BenchmarkProjector(b *testing.B) {
	const k, atoms, users = 1000, 20, 200
	rng := rand.New(rand.NewPCG(1, 1))
	fill := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.Float64()
		}
		return x
	}
	numbers := func(name string, n int, make func() []float64) []float64 {
		dir := os.Getenv("WPM_BENCH")
		if dir == "" {
			return make()
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(data) != 8*n {
			b.Fatalf("%s: %d bytes, %v", name, len(data), err)
		}
		x := slices.Grow([]float64(nil), n)[:n]
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		return x
	}
	constant := func(v float64) func() []float64 { return func() []float64 { return slices.Repeat([]float64{v}, k) } }
	c, err := cost.NewDense(k, k, numbers("C", k*k, func() []float64 { return fill(k * k) }))
	if err != nil {
		b.Fatal(err)
	}
	p, err := mincostflow.NewProjector(b.Context(), c,
		numbers("lo", k, constant(0.5/k)), numbers("hi", k, constant(3.5/k)), mincostflow.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	mass := numbers("mass", users*atoms, func() []float64 { return fill(users * atoms) })
	support := make([]int, 0, users*atoms)
	for _, x := range numbers("support", users*atoms, func() (all []float64) {
		for range users {
			rows := rng.Perm(k)[:atoms]
			slices.Sort(rows)
			for _, i := range rows {
				all = append(all, float64(i))
			}
		}
		return all
	}) {
		support = append(support, int(x))
	}
	var res mincostflow.Result
	before := processor(b)
	for b.Loop() {
		for u := range users {
			from, to := u*atoms, (u+1)*atoms
			if err := p.Project(b.Context(), mass[from:to], support[from:to], &res); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64((processor(b)-before).Nanoseconds())/1e3/float64(b.N*users), "cpu-us/projection")
}

// processor is the processor time of the process.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
