// Package child computes with private numbers in a process of its own. Whatever that process does, be it a panic on
// any goroutine, a stack overflow, an exit, a memory without end or no answer at all, its parent gets an error.
//
// The parent starts a program that calls Serve (Program.Start), and gives it the public part. When the child has
// loaded that, and not before, Start returns. Then comes at most one request (Process.Project). What can fail for want
// of processes, pipes or memory has failed by then, before the parent touches anything private; Project itself starts
// nothing. The child's standard error is thrown away, it has no environment, and its arguments are public. Both sides
// hold it to its time, and the child holds itself to its memory.
//
// # The protocol
//
// Integers of 64 bits, little-endian, and numbers as the bits of a float64. The child's standard input has k and kv, the
// length of the public part, and the public part. The child answers with one byte of value 1. Then its input has when
// the work must be done and when the child ends itself, both in nanoseconds since 1970, and k numbers. The answer is kv
// numbers and nothing else.
package child

import (
	"cmp"
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
	// ErrStart is for a child that could not be started, or did not load its public part.
	ErrStart = errors.New("child: not started")
	// ErrChild is for a child that failed, was late, or gave no answer of the right length.
	ErrChild = errors.New("child: no answer")
	// ErrRequest is for a request that Serve cannot read.
	ErrRequest = errors.New("child: malformed request")
)

const (
	// maxEntries bounds k and kv, maxPublic the public part.
	maxEntries = 1 << 20
	maxPublic  = 1 << 26

	// maxTime is the most that a child gets to load, and again to answer, whatever the deadline of its context.
	maxTime = time.Hour

	// maxStack is of one goroutine of a child, in bytes.
	maxStack = 1 << 26
)

// Memory returns the number of bytes that a child may allocate for k inputs and kv outputs: 2^30 for the runtime and
// for reading the largest public part, and 64 for each pair of an input and an output, which is eight numbers. The
// solvers of this module need a third of that.
func Memory(k, kv int) uint64 { return 1<<30 + 64*uint64(k)*uint64(kv) }

// ready is what a child writes when it has loaded its public part.
const ready = 1

// Program says how to start children.
type Program struct {
	Argv   []string // the program and its arguments
	Public []byte   // the public part
	K, KV  int      // how many numbers a child gets, and answers with
}

// Process is a child that is ready for one request.
type Process struct {
	k, kv  int
	cmd    *exec.Cmd
	to     *os.File // its standard input
	from   *os.File // its standard output
	closed sync.Once
}

// Start starts a child and waits until it has loaded its public part, at most until ctx ends.
//
// Errors: ErrStart. They do not show what the child wrote.
func (p Program) Start(ctx context.Context) (*Process, error) {
	if len(p.Argv) == 0 {
		return nil, fmt.Errorf("%w: no program", ErrStart)
	}
	c := &Process{k: p.K, kv: p.KV, cmd: exec.Command(p.Argv[0], p.Argv[1:]...)}
	c.cmd.Env = []string{} // nothing that turns on traces or core files
	in, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrStart, err), in.Close(), to.Close())
	}
	c.cmd.Stdin, c.cmd.Stdout, c.to, c.from = in, out, to, from
	err = c.cmd.Start()
	_, _ = in.Close(), out.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrStart, err), to.Close(), from.Close())
	}
	life, stop := context.WithTimeout(ctx, maxTime)
	defer stop()
	defer context.AfterFunc(life, c.kill)()
	head := make([]byte, 0, 24+len(p.Public))
	for _, v := range []int{p.K, p.KV, len(p.Public)} {
		head = binary.LittleEndian.AppendUint64(head, uint64(v))
	}
	answer := make([]byte, 1)
	_, err = to.Write(append(head, p.Public...))
	if err == nil {
		_, err = io.ReadFull(from, answer)
	}
	if err == nil && answer[0] != ready {
		err = errors.New("another first byte")
	}
	if err = cmp.Or(life.Err(), err); err != nil {
		c.Close()
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	return c, nil
}

// kill ends the child, and gives up its pipes in case that another process has them.
func (c *Process) kill() {
	_ = c.cmd.Process.Kill()
	_, _ = c.to.Close(), c.from.Close()
}

// Close ends the child and waits for it. Later calls of Project fail.
func (c *Process) Close() {
	c.closed.Do(func() {
		c.kill()
		_ = c.cmd.Wait()
	})
}

// Project has the child compute; only the first call can have an answer. The child knows ctx's deadline and should give
// the best it has by then; its answer may come later by a quarter of the time that there was, and then it is killed. If
// ctx is cancelled it is killed at once. A killed child is waited for by Close.
//
// Errors: ErrChild. They do not show what the child wrote.
func (c *Process) Project(ctx context.Context, mu []float64) ([]float64, error) {
	if len(mu) != c.k {
		return nil, fmt.Errorf("%w: %d numbers for %d inputs", ErrChild, len(mu), c.k)
	}
	now := time.Now()
	done, ok := ctx.Deadline()
	if most := now.Add(maxTime); !ok || done.After(most) {
		done = most
	}
	end := done.Add(done.Sub(now) / 4)
	defer time.AfterFunc(time.Until(end), c.kill).Stop()
	defer context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.kill()
		}
	})()
	request := make([]byte, 0, 16+8*len(mu))
	for _, v := range []int64{done.UnixNano(), end.UnixNano()} {
		request = binary.LittleEndian.AppendUint64(request, uint64(v))
	}
	for _, v := range mu {
		request = binary.LittleEndian.AppendUint64(request, math.Float64bits(v))
	}
	answer := make([]byte, 8*c.kv+1) // one more than is wanted
	n := 0
	_, err := c.to.Write(request)
	_ = c.to.Close()
	if err == nil {
		n, err = io.ReadFull(c.from, answer)
	}
	c.kill() // whatever it did, it is not needed any more
	if n != 8*c.kv || !errors.Is(err, io.ErrUnexpectedEOF) && !(n == 0 && errors.Is(err, io.EOF)) {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrChild, n, 8*c.kv)
	}
	q := make([]float64, c.kv)
	for j := range q {
		q[j] = math.Float64frombits(binary.LittleEndian.Uint64(answer[8*j:]))
	}
	return q, nil
}

// Serve is the child: it sets the memory limit of its process, has load make the function from the public part, says
// that it is ready, reads one request, has the function compute, and writes the answer. It ends the process when its
// time is over.
//
// The limit stops what exceeds Memory on Linux. Elsewhere it only makes the garbage collector work harder.
//
// Errors: ErrRequest, those of in, out, load and of the function, and ErrChild if its answer has the wrong length.
func Serve(in io.Reader, out io.Writer,
	load func(public []byte) (func(context.Context, []float64) ([]float64, error), error)) error {
	var head [3]int64
	if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	k, kv, n := head[0], head[1], head[2]
	if !(1 <= k && k <= maxEntries && 1 <= kv && kv <= maxEntries && 0 <= n && n <= maxPublic) {
		return fmt.Errorf("%w: k = %d, kv = %d, %d public bytes", ErrRequest, k, kv, n)
	}
	limit := Memory(int(k), int(kv))
	limitMemory(limit)
	debug.SetMemoryLimit(int64(limit - limit/8)) // collect garbage before it counts
	debug.SetMaxStack(maxStack)
	life := time.AfterFunc(maxTime, func() { os.Exit(1) })
	public := make([]byte, n)
	if _, err := io.ReadFull(in, public); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	project, err := load(public)
	if err != nil {
		return err
	}
	if _, err := out.Write([]byte{ready}); err != nil {
		return err
	}
	life.Stop() // for a request the parent may take its time: if it ends, so does the input
	var times [2]int64
	if err := binary.Read(in, binary.LittleEndian, &times); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	time.AfterFunc(time.Until(time.Unix(0, times[1])), func() { os.Exit(1) })
	mu := make([]float64, k)
	if err := binary.Read(in, binary.LittleEndian, mu); err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, times[0]))
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
