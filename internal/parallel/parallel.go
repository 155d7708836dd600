// Package parallel is the module's one way to share work among goroutines.
//
// A goroutine that panics ends the whole process, and no caller can recover from it. On a device that would tell
// something about private data, after the release was paid for. So every function here catches what a task throws and
// throws it again on the goroutine that called: as a *Panic, once all tasks that had begun are over. A task that ends
// its goroutine (runtime.Goexit) counts as one that panics. No other package of the module outside tests, policy and
// commands has a go statement; a test holds that.
//
// What a task computes must not depend on the goroutine that runs it: then the outcome is the same at any GOMAXPROCS.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/wpm-go/wpm/wpmerr"
)

// A Panic is what a task threw, with the stack of the goroutine it ran on.
type Panic struct {
	Value any
	Stack []byte
}

// Error says what was thrown and where.
func (p *Panic) Error() string {
	return fmt.Sprintf("panic in a parallel task: %v\n\n%s", p.Value, p.Stack)
}

// Unwrap returns the value if it is an error, as a runtime error is.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// A Group runs functions on goroutines of their own, for work that is no loop. The zero Group is ready.
type Group struct {
	wg    sync.WaitGroup
	first atomic.Pointer[Panic]
}

// Go runs f on a new goroutine.
func (g *Group) Go(f func()) {
	g.wg.Go(func() { g.guard(f) })
}

// guard calls f and keeps the first panic. A goroutine that f ends is one that never came back.
func (g *Group) guard(f func()) {
	back := false
	defer func() {
		if back {
			return
		}
		v := recover() // nil after runtime.Goexit
		if v == nil {
			v = "the task ended its goroutine"
		}
		p, ok := v.(*Panic) // from a loop within the task: its stack says more
		if !ok {
			p = &Panic{v, debug.Stack()}
		}
		g.first.CompareAndSwap(nil, p)
	}()
	f()
	back = true
}

// Failed reports whether a function has panicked, so that the others can end early.
func (g *Group) Failed() bool { return g.first.Load() != nil }

// Wait waits for all functions, and panics with the *Panic of the first that did.
func (g *Group) Wait() {
	g.wg.Wait()
	if p := g.first.Load(); p != nil {
		panic(p)
	}
}

// For calls task(0) to task(n-1) on up to GOMAXPROCS goroutines, or in order on the caller's if one is all it may use.
// It looks at ctx before each task and starts none once ctx is over; its error is then ctx.Err(), unless all tasks had
// been done. A nil ctx never ends.
func For(ctx context.Context, n int, task func(i int)) error {
	ctx = wpmerr.Context(ctx)
	if threads := min(n, runtime.GOMAXPROCS(0)); threads > 1 {
		return share(ctx, n, threads, task)
	}
	for i := range n { // no goroutine, and a panic goes its own way
		if err := ctx.Err(); err != nil {
			return err
		}
		task(i)
	}
	return nil
}

// share is For on several threads.
func share(ctx context.Context, n, threads int, task func(i int)) error {
	var next, done atomic.Int64
	var g Group
	for range threads {
		g.Go(func() {
			for ctx.Err() == nil && !g.Failed() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				task(i)
				done.Add(1)
			}
		})
	}
	g.Wait()
	if int(done.Load()) < n {
		return ctx.Err()
	}
	return nil
}

// Each calls task(0) to task(n-1) on GOMAXPROCS goroutines and done with the number finished, never twice at a time.
// Tasks are started in order.
//
// The error is that of the lowest task that fails, whatever the schedule: after a failure no further task is started,
// but all lower ones have been, and are waited for. The context is looked at between tasks, and its error comes before
// all others. done may be nil.
func Each(ctx context.Context, n int, task func(i int) error, done func(finished int)) error {
	var (
		mu       sync.Mutex
		next     int
		finished int
		failed   = n
		first    error
		g        Group
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= n || failed < n || g.Failed() || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	finish := func(i int, err error) {
		mu.Lock()
		defer mu.Unlock() // also when done panics
		if err != nil && i < failed {
			failed, first = i, err
		}
		finished++
		if err == nil && done != nil {
			done(finished)
		}
	}
	for range min(runtime.GOMAXPROCS(0), n) {
		g.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				finish(i, task(i))
			}
		})
	}
	g.Wait()
	// a task that the context stopped fails with an error of its own; say the reason instead
	if ctx.Err() != nil {
		return wpmerr.Ended(ctx)
	}
	return first
}
