package ledger

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// blockedThreads is how many threads can be blocked in the system at once after a debit, beside those that run: one
// that writes the ledger, one each that writes to a solver's process, reads from it and waits for it, and two for what
// the caller's Store does.
const blockedThreads = 6

// standBy collects garbage, and leaves this process with as many idle threads as a draw can use: Go starts a thread
// when a goroutine wants to run and none is idle, never ends an idle one, and ends the process if it may not have
// another. A shortage after the debit would show in the absence of a report, so it must strike before it. That many
// goroutines take a thread each, wait for one another, and let go.
func standBy() {
	runtime.GC()
	if runtime.GOARCH == "wasm" { // one thread is all that there is
		return
	}
	interrupt()
	var here, gone sync.WaitGroup
	leave := make(chan struct{})
	for range runtime.GOMAXPROCS(0) + blockedThreads {
		here.Add(1)
		gone.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here.Done()
			<-leave
		})
	}
	here.Wait()
	close(leave)
	gone.Wait()
}

// interrupt lets the runtime interrupt a goroutine in the middle of a loop, once in a process. The runtime allocates room
// for registers when it does so for the first time, and ends the process if there is none: a draw that takes long must
// not be the first.
var interrupt = sync.OnceFunc(func() {
	const turns = 1 << 26 // some 50 ms: where loops cannot be interrupted, this one ends
	var running, stop atomic.Bool
	var gone sync.WaitGroup
	gone.Go(func() {
		running.Store(true)
		for turn := 0; turn < turns && !stop.Load(); turn++ {
		}
	})
	for !running.Load() { // on one processor this goes on when the loop has been interrupted
		time.Sleep(time.Microsecond)
	}
	runtime.GC() // which interrupts all loops
	stop.Store(true)
	gone.Wait()
})
