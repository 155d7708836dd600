package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// array is a borrowed or an own array of numbers of one type.
type array struct {
	name       string
	rows, cols int
	floats     []float64
	ints       []int64
}

func (a array) size() int { return len(a.floats) + len(a.ints) }

// vector is an array of an answer.
func vector(name string, xs []float64) array {
	return array{name: name, rows: 1, cols: len(xs), floats: xs}
}

// indices is one of whole numbers.
func indices(name string, xs []int64) array {
	return array{name: name, ints: xs}
}

// answer is what an operation returns: a JSON object and arrays.
type answer struct {
	value any
	out   []array
	free  func() // when the arrays have been read, or nil
}

// request is what an operation reads.
type request struct {
	args   json.RawMessage
	arrays map[string]array
}

// decode reads the arguments, strictly.
func (r request) decode(dst any) error {
	dec := json.NewDecoder(bytes.NewReader(r.args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// floats returns an array of numbers, nil if there is none.
func (r request) floats(name string) []float64 { return r.arrays[name].floats }

// own makes the request's copy of an array, some pages at a time: nothing can interrupt the runtime while it copies, and a
// collection that waits for the end of 200 MB keeps every processor busy.
func (r request) own(name string) {
	if a, ok := r.arrays[name]; ok {
		own := make([]float64, len(a.floats))
		for from := 0; from < len(own); from += ownChunk {
			copy(own[from:min(from+ownChunk, len(own))], a.floats[from:])
			runtime.Gosched()
		}
		a.floats = own
		r.arrays[name] = a
	}
}

// ownChunk numbers are copied at a time, 128 kB.
const ownChunk = 1 << 14

// places returns an array of indices, nil if there is none.
func (r request) places(name string) []int {
	a, ok := r.arrays[name]
	if !ok {
		return nil
	}
	out := make([]int, len(a.ints))
	for n, v := range a.ints {
		out[n] = int(v)
	}
	return out
}

// operations are what a call can ask for.
var operations map[string]func(context.Context, request) (answer, error)

func init() { // not a literal: operations start others
	operations = map[string]func(context.Context, request) (answer, error){
		"transport": transport, "project": project, "projector": newProjector,
		"project-one": projectOne, "project-many": projectMany,
		"solve": solve, "design": design, "pairs": pairs, "rows": rows, "cost": costOf, "publish": publish, "policy": readPolicy, "plan": predict,
		"report": readReport,
		"count":  count, "counts": readCounts, "readcounts": readFile, "simulate": simulate,
		"panic": throw,
	}
}

type state int

const (
	running state = iota
	done
	failed
)

// job is one call: started, awaited, read.
type job struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  parallel.Group
	over   chan struct{}
	finish sync.Once

	steps atomic.Uint64 // done and in all, 32 bits each
	out   []array
	free  func()
	err   error
	text  []byte // of the answer or the error
}

// start begins an operation on a goroutine of its own; or performs it on the caller's, which takes a tenth of a
// millisecond less, if the caller is going to wait for it anyway.
func start(op string, args []byte, arrays []array, wait bool) *job {
	c := &job{over: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.WithValue(context.Background(), stepsKey{}, &c.steps))
	task := func() {
		defer close(c.over)
		c.text, c.err = c.run(op, args, arrays)
	}
	if wait {
		if err := guard(task); err != nil {
			c.err = err
		}
	} else {
		c.group.Go(task)
	}
	return c
}

// stepsKey is the key of a call's steps in its context.
type stepsKey struct{}

// stepsOf returns what an operation calls with the steps that it has done, and how many there are.
func stepsOf(ctx context.Context) func(done, total int) {
	steps, ok := ctx.Value(stepsKey{}).(*atomic.Uint64)
	if !ok {
		return func(int, int) {}
	}
	return func(done, total int) { steps.Store(uint64(uint32(done))<<32 | uint64(uint32(total))) }
}

// guard calls f, and returns what it throws.
func guard(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	f()
	return nil
}

// run performs the operation and writes its answer.
func (c *job) run(op string, args []byte, arrays []array) ([]byte, error) {
	f := operations[op]
	if f == nil {
		return nil, fmt.Errorf("unknown operation %q", op)
	}
	var in struct {
		Args   json.RawMessage `json:"args"`
		Arrays []string        `json:"arrays"`
		Bare   bool            `json:"bare"` // the answer needs no text
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if len(in.Arrays) != len(arrays) {
		return nil, fmt.Errorf("%d names for %d arrays", len(in.Arrays), len(arrays))
	}
	r := request{args: in.Args, arrays: map[string]array{}}
	for n, name := range in.Arrays {
		arrays[n].name = name
		r.arrays[name] = arrays[n]
	}
	ans, err := f(c.ctx, r)
	if err != nil {
		return nil, err
	}
	if c.out, c.free = ans.out, ans.free; in.Bare {
		return nil, nil
	}
	type shape struct {
		Name string `json:"name"`
		Size int    `json:"size"`
		Ints bool   `json:"ints"`
	}
	shapes := []shape{}
	for _, a := range ans.out {
		shapes = append(shapes, shape{a.name, a.size(), a.ints != nil})
	}
	return json.Marshal(map[string]any{"value": ans.value, "arrays": shapes})
}

// wait waits for the end, without limit if d is negative.
func (c *job) wait(d time.Duration) state {
	select {
	case <-c.over:
	default:
		var limit <-chan time.Time
		if d >= 0 {
			timer := time.NewTimer(d)
			defer timer.Stop()
			limit = timer.C
		}
		select {
		case <-c.over:
		case <-limit:
			return running
		}
	}
	c.finish.Do(c.end)
	if c.err != nil {
		return failed
	}
	return done
}

// end collects a panic, and writes the error.
func (c *job) end() {
	if err := guard(c.group.Wait); err != nil {
		c.err = err
	}
	c.cancel()
	if c.err == nil {
		return
	}
	c.out = nil
	c.text, _ = json.Marshal(map[string]string{"error": c.err.Error(), "kind": c.kind()}) // strings can be written
}

var (
	errPanic = errors.New("internal error, please report it")
	// errRefused: a policy that does not hold.
	errRefused = errors.New("refused")
)

// classes of errors, the first that fits. What is in none is bad input.
var classes = []struct {
	name string
	errs []error
}{
	{"panic", []error{errPanic}},
	{"refused", []error{errRefused}},
	{"not-converged", []error{wpmerr.ErrNotConverged}},
	{"infeasible", []error{wpmerr.ErrInfeasible, ldp.ErrInfeasible}},
}

// kind says what class of exception the error is.
func (c *job) kind() string {
	for _, class := range classes {
		if slices.ContainsFunc(class.errs, func(e error) bool { return errors.Is(c.err, e) }) {
			return class.name
		}
	}
	return "input"
}

// throw panics on a goroutine of its own, below the one of the call: what a test needs to see that it is caught.
func throw(ctx context.Context, _ request) (answer, error) {
	return answer{}, parallel.For(ctx, 8, func(i int) {
		if i == 3 {
			panic("asked for")
		}
	})
}

// registry numbers calls and objects. Numbers are never used again.
type registry struct {
	mu   sync.Mutex
	next uint64
	all  map[uint64]any
}

var handles = registry{all: map[uint64]any{}}

func (r *registry) add(v any) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.all[r.next] = v
	return r.next
}

func (r *registry) get(n uint64) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[n]
}

func (r *registry) remove(n uint64) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.all[n]
	delete(r.all, n)
	return v
}

// object returns what a number stands for.
func object[T any](n uint64) (v T, err error) {
	v, ok := handles.get(n).(T)
	if !ok {
		err = fmt.Errorf("no object %d: it has been freed", n)
	}
	return v, err
}
