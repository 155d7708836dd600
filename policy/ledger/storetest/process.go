package storetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/policy/ledger"
)

// variable is set in the environment of a process that Test has started.
const variable = "WPM_STORETEST"

// mark begins each answer of such a process: whatever else it prints is not for Test.
const mark = "storetest "

// request is a call for a handle, as a line of JSON.
type request struct {
	Op     string
	Handle int
	Name   string `json:",omitempty"` // open
	Ended  bool   `json:",omitempty"` // lock: the context has ended
	At     int64  `json:",omitempty"` // append
	Text   []byte `json:",omitempty"`
}

// answer is what the call returned.
type answer struct {
	Text   []byte `json:",omitempty"`
	Error  string `json:",omitempty"`
	Locked bool   `json:",omitempty"` // the error is ErrLedgerLocked
}

// Main does nothing, unless Test has started this process: then it does what Test asks of it, and does not return. Call
// it first of all, in TestMain or an init function, with what is given to Test.
func Main(open Open) {
	if os.Getenv(variable) == "" {
		return
	}
	serve(os.Stdin, os.Stdout, open)
	os.Exit(0)
}

// serve answers requests until there are no more.
func serve(in io.Reader, out io.Writer, open Open) {
	type task struct {
		request
		ctx context.Context
	}
	tasks := make(chan task, 1)
	var worker parallel.Group
	worker.Go(func() {
		handles := map[int]ledger.Store{}
		for t := range tasks {
			b, _ := json.Marshal(act(t.ctx, handles, t.request, open))
			fmt.Fprintf(out, "%s%s\n", mark, b)
		}
	})
	stop := func() {}
	for d := json.NewDecoder(in); ; {
		var r request
		if d.Decode(&r) != nil {
			break
		}
		if r.Op == "cancel" {
			stop()
			continue
		}
		ctx := context.Background()
		if r.Op == "lock" {
			ctx, stop = context.WithCancel(ctx)
		}
		if r.Ended {
			stop()
		}
		tasks <- task{r, ctx}
	}
	stop()
	close(tasks)
	worker.Wait()
}

// act makes one call.
func act(ctx context.Context, handles map[int]ledger.Store, r request, open Open) (a answer) {
	s, err := handles[r.Handle], error(nil)
	if s == nil && r.Op != "open" {
		return answer{Error: "no such handle"}
	}
	switch r.Op {
	case "open":
		handles[r.Handle], err = open(r.Name)
	case "lock":
		err = s.Lock(ctx)
	case "load":
		a.Text, err = s.Load()
	case "append":
		err = s.Append(r.At, r.Text)
	case "unlock":
		err = s.Unlock()
	}
	if err != nil {
		a.Error, a.Locked = err.Error(), errors.Is(err, ledger.ErrLocked)
	}
	return a
}

// process is another process of this program, which holds handles.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answer // closed when the process has ended
	reader  parallel.Group
	handles int
	errors  bytes.Buffer
}

// start starts the program again.
func start() (*process, error) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		return nil, fmt.Errorf("none can be started on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, "-test.run=^$"), answers: make(chan answer, 1)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), variable+"=1"), &p.errors
	p.in, err = p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	p.reader.Go(func() {
		defer close(p.answers)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			text, ours := bytes.CutPrefix(line, []byte(mark))
			var a answer
			if ours && json.Unmarshal(text, &a) == nil {
				p.answers <- a
			}
		}
	})
	return p, nil
}

// kill ends the process at once, as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	for range p.answers { // what nobody waits for
	}
	p.reader.Wait()
	_ = p.cmd.Wait()
}

// send sends a request, and waits for nothing.
func (p *process) send(r request) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(b, '\n'))
	return err
}

// ask sends a request, and waits for the answer. When done is closed it calls the request off.
func (p *process) ask(done <-chan struct{}, r request) ([]byte, error) {
	err := p.send(r)
	for late := time.After(4 * patience); ; {
		select {
		case <-done:
			done = nil
			err = p.send(request{Op: "cancel"})
		case a, ok := <-p.answers:
			switch {
			case !ok:
				p.kill() // it has ended: now it has said all
				return nil, fmt.Errorf("it has ended: does it call Main? %v\n%.1000s", err, p.errors.String())
			case a.Locked:
				return nil, fmt.Errorf("%w: %s", ledger.ErrLocked, a.Error)
			case a.Error != "":
				return nil, errors.New(a.Error)
			}
			return a.Text, nil
		case <-late:
			return nil, fmt.Errorf("no answer to %q", r.Op)
		}
	}
}

// open opens a handle there.
func (p *process) open(name string) (ledger.Store, error) {
	p.handles++
	_, err := p.ask(nil, request{Op: "open", Handle: p.handles, Name: name})
	return &remote{p, p.handles}, err
}

// remote is a handle in another process.
type remote struct {
	*process
	handle int
}

func (r *remote) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		_, err := r.ask(nil, request{Op: "lock", Handle: r.handle, Ended: true})
		return err
	}
	_, err := r.ask(ctx.Done(), request{Op: "lock", Handle: r.handle})
	return err
}

func (r *remote) Load() ([]byte, error) { return r.ask(nil, request{Op: "load", Handle: r.handle}) }

func (r *remote) Append(at int64, b []byte) error {
	_, err := r.ask(nil, request{Op: "append", Handle: r.handle, At: at, Text: b})
	return err
}

func (r *remote) Unlock() error {
	_, err := r.ask(nil, request{Op: "unlock", Handle: r.handle})
	return err
}

// testProcesses tests handles in several processes, of which some are killed.
func testProcesses(open Open, dir string, lease time.Duration) error {
	for turn := range 2 { // of two handles the first is here, and then there
		if err := testTurns(open, filepath.Join(dir, fmt.Sprintf("turn%d-", turn)), turn); err != nil {
			return err
		}
	}
	if err := testBystanders(open, filepath.Join(dir, "bystanders")); err != nil {
		return fmt.Errorf("bystanders: %w", err)
	}
	if err := testKills(open, filepath.Join(dir, "kills"), lease); err != nil {
		return fmt.Errorf("killed: %w", err)
	}
	return nil
}

// testTurns tests handles of which every second is in a process of its own.
func testTurns(open Open, prefix string, turn int) error {
	var started []*process
	defer func() {
		for _, p := range started {
			p.kill()
		}
	}()
	return testHandles(func(name string) (ledger.Store, error) {
		if turn++; turn%2 == 1 {
			return open(prefix + name)
		}
		p, err := start()
		if err != nil {
			return nil, err
		}
		started = append(started, p)
		return p.open(prefix + name)
	})
}

// testBystanders: what others do who do not get the lock, and their end, takes it from nobody.
func testBystanders(open Open, name string) error {
	var text []byte
	for turn := range 2 { // who has the lock is here, and then there
		p, err := start()
		if err != nil {
			return err
		}
		defer p.kill()
		home, away := open, p.open
		if turn == 1 {
			home, away = p.open, open
		}
		owner, err := home(name)
		beside, err2 := home(name)
		other, err3 := away(name)
		if err := errors.Join(err, err2, err3); err != nil {
			return err
		}
		err = inTurn(owner, text, patience, func() error {
			if err := inVain(name, beside, other); err != nil {
				return err
			}
			if err := owner.Append(int64(len(text)), []byte("x")); err != nil {
				return fmt.Errorf("Append by who has it, after Locks in vain: %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		text = append(text, 'x')
	}
	return nil
}

// inVain asks for a lock that is taken: by a handle in the process that has it, and by a process that then is killed.
func inVain(name string, beside, other ledger.Store) error {
	if err := refuses(beside); err != nil {
		return err
	}
	_ = beside.Unlock() // an error is as good as none
	if err := refuses(other); err != nil {
		return fmt.Errorf("after a Lock in vain of another handle in the process that has it: %w", err)
	}
	p, err := start()
	if err != nil {
		return err
	}
	s, err := p.open(name)
	if err == nil {
		err = refuses(s)
	}
	p.kill()
	if err != nil {
		return err
	}
	if err := refuses(other); err != nil {
		return fmt.Errorf("after a Lock in vain of a process that was killed: %w", err)
	}
	return nil
}

// testKills: a process that is killed between two calls, or in an Append, loses its lock, and nothing that it has
// appended before.
func testKills(open Open, name string, lease time.Duration) error {
	here, err := open(name)
	if err != nil {
		return err
	}
	var text []byte
	long := string(bytes.Repeat([]byte("0123456\n"), 1<<17))
	for calls := range 6 {
		p, err := start()
		if err != nil {
			return err
		}
		err = killAfter(p, name, calls, int64(len(text)), []byte(long))
		p.kill()
		if err != nil {
			return err
		}
		last := [...]string{"being started", "Lock", "Load", "Append", "Unlock", "in an Append"}[calls]
		switch calls {
		case 3, 4:
			text = append(text, "there"...)
		case 5:
			if text, err = beginning(here, text, long, lease); err != nil {
				return fmt.Errorf("%s: %w", last, err)
			}
		}
		err = inTurn(here, text, lease, func() error { return here.Append(int64(len(text)), []byte("here")) })
		if err != nil {
			return fmt.Errorf("after %s: %w", last, err)
		}
		text = append(text, "here"...)
	}
	return nil
}

// killAfter makes the first so many calls of Lock, Load, Append and Unlock; and instead of a fifth it begins to append.
func killAfter(p *process, name string, calls int, size int64, long []byte) error {
	s, err := p.open(name)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return s.Lock(context.Background()) },
		func() error { _, err := s.Load(); return err },
		func() error { return s.Append(size, []byte("there")) },
		s.Unlock,
	}
	if calls > len(steps) {
		steps = append(steps[:2], func() error {
			return p.send(request{Op: "append", Handle: p.handles, At: size, Text: long})
		})
	}
	for _, step := range steps[:min(calls, len(steps))] {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
