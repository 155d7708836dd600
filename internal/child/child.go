// Package child computes with private numbers in a process of its own. Whatever that process does, be it a panic on
// any goroutine, a stack overflow, an exit, a memory without end or no answer at all, its parent gets an error.
//
// The parent starts a program (Process.Project) that calls Serve. A request goes to its standard input, the answer
// comes from its standard output, and its standard error is thrown away. The child has no environment and its
// arguments are public. Both sides hold it to its time, and the child holds itself to its memory.
//
// # The request
//
// Integers of 64 bits, little-endian: when the work must be done and when the child ends itself, both in nanoseconds
// since 1970; k and kv; the length of the public part. Then the public part, and k numbers, the private part, as
// float64 bits. The answer is kv such numbers and nothing else.
package child

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"time"
)

var (
	// ErrChild is for a child that could not be started, failed, was late, or gave no answer of the right length.
	ErrChild = errors.New("child: no answer")
	// ErrRequest is for a request that Serve cannot read.
	ErrRequest = errors.New("child: malformed request")
)

const (
	// maxEntries bounds k and kv, maxPublic the public part.
	maxEntries = 1 << 20
	maxPublic  = 1 << 26

	// maxTime is the most that a child gets, whatever the deadline of its context.
	maxTime = time.Hour

	// maxStack is of one goroutine of a child, in bytes.
	maxStack = 1 << 26

	// ioDelay is how long pipes may stay open after the end of the child, when a process that it started has them.
	ioDelay = 100 * time.Millisecond
)

// Memory returns the number of bytes that a child may allocate for k inputs and kv outputs: 2^30 for the runtime and
// for reading the largest public part, and 64 for each pair of an input and an output, which is eight numbers. The
// solvers of this module need a third of that.
func Memory(k, kv int) uint64 { return 1<<30 + 64*uint64(k)*uint64(kv) }

// Process starts children. It is made by New and safe for concurrent use.
type Process struct {
	argv   []string
	public []byte
	k, kv  int
	ctx    context.Context // ends with Close
	stop   context.CancelFunc
	open   sync.RWMutex // read-locked while a child runs
}

// New returns a Process whose children are started with argv, the program first, and get the public part. They take k
// numbers, and answer with kv. Nothing is started yet.
func New(argv []string, public []byte, k, kv int) *Process {
	p := &Process{argv: argv, public: public, k: k, kv: kv}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Close ends the children that still run, and waits for them. Later calls of Project fail.
func (p *Process) Close() {
	p.stop()
	p.open.Lock()
	defer p.open.Unlock()
}

// Project has a child compute. The child knows ctx's deadline and should give the best it has by then; its answer may
// come later by a quarter of the time that there was, and then it is killed. If ctx is cancelled it is killed at once.
//
// Errors: ErrChild. They do not show what the child wrote.
func (p *Process) Project(ctx context.Context, mu []float64) ([]float64, error) {
	p.open.RLock()
	defer p.open.RUnlock()
	if len(p.argv) == 0 || len(mu) != p.k {
		return nil, fmt.Errorf("%w: no program, or %d numbers for %d inputs", ErrChild, len(mu), p.k)
	}
	now := time.Now()
	done, ok := ctx.Deadline()
	if most := now.Add(maxTime); !ok || done.After(most) {
		done = most
	}
	end := done.Add(done.Sub(now) / 4)
	life, kill := context.WithDeadline(p.ctx, end)
	defer kill()
	defer context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			kill()
		}
	})()

	request := make([]byte, 0, 40+len(p.public)+8*len(mu))
	for _, v := range []int64{done.UnixNano(), end.UnixNano(), int64(p.k), int64(p.kv), int64(len(p.public))} {
		request = binary.LittleEndian.AppendUint64(request, uint64(v))
	}
	request = append(request, p.public...)
	for _, v := range mu {
		request = binary.LittleEndian.AppendUint64(request, math.Float64bits(v))
	}
	cmd := exec.CommandContext(life, p.argv[0], p.argv[1:]...)
	cmd.Env = []string{} // nothing that turns on traces or core files
	cmd.Stdin = bytes.NewReader(request)
	out := answer{want: 8 * p.kv}
	cmd.Stdout = &out
	cmd.WaitDelay = ioDelay
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChild, err)
	}
	if len(out.b) != out.want {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrChild, len(out.b), out.want)
	}
	q := make([]float64, p.kv)
	for j := range q {
		q[j] = math.Float64frombits(binary.LittleEndian.Uint64(out.b[8*j:]))
	}
	return q, nil
}

// answer takes as many bytes as are wanted, and fails on more: the child then loses its pipe.
type answer struct {
	b    []byte
	want int
}

func (a *answer) Write(b []byte) (int, error) {
	if len(b) > a.want-len(a.b) {
		return 0, ErrChild
	}
	a.b = append(a.b, b...)
	return len(b), nil
}

// Serve is the child: it reads one request, has project compute, and writes the answer. It sets the memory limit of
// its process, and ends the process when its time is over, before it reads anything private. load makes the function
// from the public part.
//
// The limit stops what exceeds Memory on Linux. Elsewhere it only makes the garbage collector work harder.
//
// Errors: ErrRequest, those of in, out, load and of the function, and ErrChild if its answer has the wrong length.
func Serve(in io.Reader, out io.Writer,
	load func(public []byte) (func(context.Context, []float64) ([]float64, error), error)) error {
	var head [5]int64
	if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	done, end, k, kv, n := head[0], head[1], head[2], head[3], head[4]
	if !(1 <= k && k <= maxEntries && 1 <= kv && kv <= maxEntries && 0 <= n && n <= maxPublic) {
		return fmt.Errorf("%w: k = %d, kv = %d, %d public bytes", ErrRequest, k, kv, n)
	}
	limit := Memory(int(k), int(kv))
	limitMemory(limit)
	debug.SetMemoryLimit(int64(limit - limit/8)) // collect garbage before it counts
	debug.SetMaxStack(maxStack)
	time.AfterFunc(time.Until(time.Unix(0, end)), func() { os.Exit(1) })
	public := make([]byte, n)
	if _, err := io.ReadFull(in, public); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	project, err := load(public)
	if err != nil {
		return err
	}
	mu := make([]float64, k)
	if err := binary.Read(in, binary.LittleEndian, mu); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, done))
	defer cancel()
	q, err := project(ctx, mu)
	if err != nil {
		return err
	}
	if int64(len(q)) != kv {
		return fmt.Errorf("%w: %d numbers, want %d", ErrChild, len(q), kv)
	}
	return binary.Write(out, binary.LittleEndian, q)
}
