package conform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kinds are the kinds of lines that a client may offer, sorted.
var kinds = []string{
	"aggregate", "basemeasure", "certificate", "draw", "draw-projection", "entropic", "hilbert", "kl", "kpm", "ledger", "phi", "policy", "project",
	"project-large",
	"round", "round-in-box", "sample", "schedule", "sphere", "transport", "verify",
}

const (
	maxLine       = 64 << 20 // bytes of an answer
	brokenInGroup = 5        // broken dialogues until a group is given up
	brokenInAll   = 40       // and until the run is; one that takes all its time counts as four
)

// A hello is the first line of a client.
type hello struct {
	Version int      `json:"wpm-conform"`
	Name    string   `json:"name"`
	Kinds   []string `json:"kinds"`
}

// A refusal is an answer {"error": "..."}.
type refusal struct{ reason string }

func (r refusal) Error() string { return "refused: " + r.reason }

// A broken error is a client that did not answer as it must.
type broken struct{ what string }

func (b broken) Error() string { return b.what }

func breaks(format string, a ...any) error { return broken{fmt.Sprintf(format, a...)} }

// errNotStarted is a command that cannot be run at all.
var errNotStarted = errors.New("conform: the client cannot be started")

// client is a dialogue with the program under test, one process after another.
type client struct {
	command []string
	limit   time.Duration
	hello   hello

	cmd    *exec.Cmd // nil if none runs
	in     io.WriteCloser
	pipe   io.ReadCloser
	out    *bufio.Reader
	stderr *tail

	id      int    // of the last line
	request string // the last line
	hasty   bool   // a group of vectors ends at its first failure
	group   int    // broken dialogues in this group
	all     int    // and in the run
}

// begin starts a group.
func (c *client) begin() { c.group, c.request = 0, "" }

// lost reports whether the client has broken too many dialogues to be started again.
func (c *client) lost() bool {
	return c.cmd == nil && (c.group >= brokenInGroup || c.all >= brokenInAll)
}

// start runs the program and reads its first line.
func (c *client) start() error {
	if c.lost() {
		return breaks("given up, after too many dialogues that the client broke")
	}
	cmd := exec.Command(c.command[0], c.command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotStarted, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotStarted, err)
	}
	c.stderr = &tail{}
	cmd.Stderr, cmd.WaitDelay = c.stderr, time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", errNotStarted, err)
	}
	c.cmd, c.in, c.pipe, c.out, c.id = cmd, in, out, bufio.NewReaderSize(out, 1<<16), 0
	lines, err := c.exchange(nil, 1)
	if err != nil {
		return err
	}
	if err := c.hello.read(lines[0]); err != nil {
		return c.fail("the first line %s: %v", quote(lines[0]), err)
	}
	return nil
}

func (h *hello) read(line []byte) error {
	*h = hello{}
	var o map[string]json.RawMessage
	if err := object(line, &o); err != nil {
		return err
	}
	if err := fill(o, h); err != nil {
		return err
	}
	if h.Version != 1 {
		return fmt.Errorf("version %d of the lines, want 1", h.Version)
	}
	for i, kind := range h.Kinds {
		if !slices.Contains(kinds, kind) || slices.Contains(h.Kinds[:i], kind) {
			return fmt.Errorf("kind %q is unknown, or there twice", kind)
		}
	}
	return nil
}

// offers reports whether the client offers all of some kinds.
func (c *client) offers(all []string) bool {
	return !slices.ContainsFunc(all, func(kind string) bool { return !slices.Contains(c.hello.Kinds, kind) })
}

// ask sends a line and reads the answer into a struct, which must have all its fields. The error is a refusal, or the
// dialogue is broken.
func (c *client) ask(kind string, fields, answer any) error {
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return err
		}
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("conform: a line has no text: %w", err)
	}
	c.id++
	c.request = fmt.Sprintf(`{"id":%d,"kind":%q,%s`, c.id, kind, body[1:])
	lines, err := c.exchange([]byte(c.request+"\n"), 1)
	if err != nil {
		return err
	}
	err = read(lines[0], fmt.Sprint(c.id), answer)
	var r refusal
	if err != nil && !errors.As(err, &r) {
		return c.fail("%v", err)
	}
	return err
}

// read takes an answer to the line of an id, as JSON, apart.
func read(line []byte, id string, answer any) error {
	var o map[string]json.RawMessage
	if err := object(line, &o); err != nil {
		return fmt.Errorf("the answer %s: %w", quote(line), err)
	}
	if string(o["id"]) != id {
		return fmt.Errorf("the answer %s: its id is %q, want %s", quote(line), o["id"], id)
	}
	if raw, ok := o["error"]; ok {
		var reason string
		if err := json.Unmarshal(raw, &reason); err != nil || reason == "" {
			return fmt.Errorf("the answer %s: error is no text", quote(line))
		}
		return refusal{reason}
	}
	if err := fill(o, answer); err != nil {
		return fmt.Errorf("the answer %s: %w", quote(line), err)
	}
	return nil
}

// object reads one JSON object of UTF-8.
func object(line []byte, o *map[string]json.RawMessage) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	if err := json.Unmarshal(line, o); err != nil || *o == nil {
		return errors.New("not a JSON object")
	}
	return nil
}

// fill sets the fields of a struct from members of their names, which must be there and not null.
func fill(o map[string]json.RawMessage, to any) error {
	if all, ok := to.(*members); ok {
		*all = o
		return nil
	}
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		raw, ok := o[name]
		if !ok || string(raw) == "null" {
			return fmt.Errorf("no member %q", name)
		}
		if err := json.Unmarshal(raw, v.Field(i).Addr().Interface()); err != nil {
			return fmt.Errorf("member %q: %w", name, err)
		}
	}
	return nil
}

// exchange writes and then reads n lines, all within the limit.
func (c *client) exchange(text []byte, n int) ([][]byte, error) {
	timer := c.killAfter(c.limit)
	_, werr := c.in.Write(text)
	var lines [][]byte
	var err error
	for err == nil && werr == nil && len(lines) < n {
		var line []byte
		if line, err = c.line(); err == nil {
			lines = append(lines, line)
		}
	}
	switch {
	case !timer.Stop():
		c.all += 3 // for a whole run of them would take long
		return nil, c.fail("no answer within %v", c.limit)
	case errors.Is(err, errLong):
		return nil, c.fail("%v", err)
	case err != nil || werr != nil:
		return nil, c.fail("the client ended instead of an answer")
	}
	return lines, nil
}

var errLong = fmt.Errorf("an answer of more than %d bytes", maxLine)

// line reads to the end of a line. An answer that is cut off is none.
func (c *client) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.out.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLong
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// killAfter ends the process and the dialogue after a time, also if a child of it still holds the pipes.
func (c *client) killAfter(d time.Duration) *time.Timer {
	cmd, in, pipe := c.cmd, c.in, c.pipe
	return time.AfterFunc(d, func() {
		_ = cmd.Process.Kill()
		_ = in.Close()
		_ = pipe.Close()
	})
}

// fail ends a broken dialogue and says how.
func (c *client) fail(format string, a ...any) error {
	c.group++
	c.all++
	_ = c.in.Close()
	timer := c.killAfter(time.Second) // time to die of what it was dying of, and to say so
	if _, err := io.Copy(io.Discard, io.LimitReader(c.out, maxLine)); err == nil {
		_ = c.pipe.Close()
	}
	state := c.cmd.Wait()
	timer.Stop()
	what := fmt.Sprintf(format, a...)
	if state != nil {
		what += " (" + state.Error() + ")"
	}
	if text := c.stderr.String(); text != "" {
		what += "; it said: " + text
	}
	c.cmd = nil
	return broken{what}
}

// end closes the dialogue: the client must end, with status 0 and nothing more to say.
func (c *client) end() error {
	if c.cmd == nil {
		return nil
	}
	timer := c.killAfter(c.limit)
	_ = c.in.Close()
	rest, _ := io.ReadAll(io.LimitReader(c.out, 1000))
	_ = c.pipe.Close()
	state := c.cmd.Wait()
	c.cmd = nil
	switch {
	case !timer.Stop():
		return breaks("the client goes on after the end of its input, for %v", c.limit)
	case len(rest) > 0:
		return breaks("after the last answer the client says %s", quote(rest))
	case state != nil:
		return breaks("at the end of its input the client ends with %v: %s", state, c.stderr)
	}
	return nil
}

// quote cuts what a client said.
func quote(b []byte) string {
	const most = 300
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// tail keeps the last bytes written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 500
	if t.b = append(t.b, p...); len(t.b) > most {
		t.b = append([]byte(nil), t.b[len(t.b)-most:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(strings.Join(strings.Fields(string(t.b)), " "), "?")
}
