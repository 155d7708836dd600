package machine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
)

// ErrKind says that the kind of problem is not one of Kinds.
var ErrKind = errors.New("unknown kind")

// ErrCertificate says that the answers of a kind have no certificate.
var ErrCertificate = errors.New("answers of this kind have no certificate")

// Settings say what an answer has beside its fields. The zero value: nothing.
type Settings struct {
	// Certificate adds the field certificate, the object that certificate.Encode writes, byte for byte. A line whose
	// answer cannot be proved is answered by an error. What it takes does not count in seconds.
	Certificate bool
	// Files is the folder below which lines may name files, "" for none: costs {"kind":"npy","path":"C.npy"}.
	Files string
	// ReadNPY reads those files: costio.ReadNPY. Nil means that none can be read.
	ReadNPY func(r io.Reader, name string) (*cost.Dense, error)
	// Costs have names that lines may use, as if a line before had defined them. They must be valid (cost.Validate).
	Costs map[string]*cost.Dense
	// Progress, if not nil, is called with the steps done and all steps of an estimate, never concurrently for one line.
	Progress func(done, total int)
}

// check refuses settings that the kind does not have, and kinds that there are not.
func (s Settings) check(name string, k kind) error {
	switch {
	case k.solve == nil:
		return fmt.Errorf("%w %q: want one of %s", ErrKind, name, strings.Join(Kinds(), ", "))
	case s.Certificate && k.certificate == "":
		return fmt.Errorf("%w: %s", ErrCertificate, name)
	}
	return nil
}

// Run answers every line of r on w, as many at a time as there are processors, in order. It returns how many lines were
// answered and how many of those by an error object; err is for a kind or settings that there are not, before anything
// is read, for a reader or a writer that fails, or for a context that ends.
func Run(ctx context.Context, kind string, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	return newSession(kind, s).run(ctx, s, r, w)
}

func (shared *session) run(ctx context.Context, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	if err := s.check(shared.kind, shared.of); err != nil {
		return 0, 0, err
	}
	in := bufio.NewReaderSize(r, 1<<16)
	out := bufio.NewWriterSize(w, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3) // a byte order mark
	}
	var batch [][]byte
	// Some lines for each processor: what they take differs. No more, for their answers are held.
	most := 4 * runtime.GOMAXPROCS(0)
	for {
		if err := ctx.Err(); err != nil {
			return lines, bad, errors.Join(err, out.Flush())
		}
		line, rerr := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			batch = append(batch, line)
		}
		// A caller in a dialogue waits for the answer: go on only if a whole line is at hand.
		rest, _ := in.Peek(in.Buffered())
		alone := bytes.IndexByte(rest, '\n') < 0
		if alone || rerr != nil || len(batch) == most || mayDefine(line) {
			n, failed, err := shared.answerAll(ctx, s, batch, out)
			if lines, bad, batch = lines+n, bad+failed, batch[:0]; err != nil {
				return lines, bad, errors.Join(err, out.Flush())
			}
		}
		if alone || rerr != nil {
			if err := out.Flush(); err != nil {
				return lines, bad, err
			}
		}
		if rerr == io.EOF {
			return lines, bad, nil
		}
		if rerr != nil {
			return lines, bad, rerr
		}
	}
}

// mayDefine says whether a line may have the field define; a backslash may hide it.
func mayDefine(line []byte) bool {
	return bytes.Contains(line, []byte(`"define"`)) || bytes.Contains(line, []byte(`\u`))
}

// answerAll answers lines of which only the last may define a name, and writes the answers in order.
func (s *session) answerAll(ctx context.Context, settings Settings, batch [][]byte, w io.Writer) (lines, bad int,
	err error) {
	answers, ok := make([][]byte, len(batch)), make([]bool, len(batch))
	task := func(i int) { answers[i], ok[i] = s.answer(ctx, settings, batch[i]) }
	n := len(batch)
	if n > 0 && mayDefine(batch[n-1]) {
		n--
	}
	if err = parallel.For(ctx, n, task); err == nil && n < len(batch) {
		task(n)
	}
	for i, answer := range answers {
		if answer == nil {
			break // the context has ended
		}
		lines++
		if !ok[i] {
			bad++
		}
		if _, err := w.Write(append(answer, '\n')); err != nil {
			return lines, bad, err
		}
	}
	return lines, bad, err
}

// Answer answers one line. ok is false when the answer is an error object.
func Answer(ctx context.Context, kind string, s Settings, line []byte) (answer []byte, ok bool) {
	return newSession(kind, s).answer(ctx, s, line)
}

// Solve is Answer for callers who want the error itself.
func Solve(ctx context.Context, kind string, s Settings, line []byte) (answer []byte, err error) {
	in, body, err := newSession(kind, s).try(ctx, s, line)
	if err != nil {
		return nil, err
	}
	return withID(in, body), nil
}

func (s *session) answer(ctx context.Context, settings Settings, line []byte) (answer []byte, ok bool) {
	in, body, err := s.try(ctx, settings, line)
	if err != nil {
		body, _ = marshal(struct {
			Error string `json:"error"`
		}{oneLine(err.Error())})
	}
	return withID(in, body), err == nil
}

// try answers one line, without its id. The object is there with an error, too.
func (s *session) try(ctx context.Context, settings Settings, line []byte) (in *object, body []byte, err error) {
	in, err = parseObject(line)
	if serr := settings.check(s.kind, s.of); serr != nil {
		err = serr
	}
	in.shared, in.certified = s, settings.Certificate
	switch {
	case err != nil:
	case in.has("define"):
		var res any
		if res, err = s.define(ctx, in); err == nil {
			body, err = marshal(res)
		}
	default:
		body, err = s.solve(ctx, settings, in)
	}
	return in, body, err
}

func (s *session) solve(ctx context.Context, settings Settings, in *object) (body []byte, err error) {
	if in.want, err = readWant(in); err != nil {
		return nil, err
	}
	var clock stopwatch
	res, err := s.of.solve(ctx, in, &clock)
	if err != nil {
		return nil, err
	}
	body, err = encode(res, in.want, clock.total)
	if err == nil && settings.Certificate {
		body, err = certify(res, body)
	}
	return body, err
}

// encode writes the answer's fields and then seconds; of these, what is wanted.
func encode(res any, want []string, d time.Duration) ([]byte, error) {
	var body []byte
	var err error
	if want == nil {
		body, err = marshal(res)
	} else {
		body, err = marshalSome(res, want)
	}
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte(`"nan"`)) {
		return nil, errors.New("the solver returned a NaN: please report this input")
	}
	if body = body[:len(body)-1]; want == nil || slices.Contains(want, "seconds") {
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = appendNumber(append(body, `"seconds":`...), d.Seconds())
	}
	return append(body, '}'), nil
}

// marshalSome writes those fields of the answer, a struct, that want names, in the order of the struct. One that this
// answer leaves out stays out.
func marshalSome(res any, want []string) ([]byte, error) {
	v := reflect.ValueOf(res)
	body, known := []byte{'{'}, []string{"seconds"}
	for n := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(n).Tag.Get("json"), ",")
		if name == "" {
			continue // the evidence
		}
		known = append(known, name)
		f := v.Field(n)
		if !slices.Contains(want, name) ||
			option == "omitempty" && (f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0) {
			continue
		}
		text, err := marshal(f.Interface())
		if err != nil {
			return nil, err
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(append(append(append(body, '"'), name...), `":`...), text...)
	}
	for _, name := range want {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("field %q: %q is not a field of this answer; these are: %s", "want", name,
				strings.Join(known, ", "))
		}
	}
	return append(body, '}'), nil
}

// certify adds the certificate to the text of an answer.
func certify(res any, body []byte) ([]byte, error) {
	proved, ok := res.(interface {
		certify() (certificate.Certificate, error)
	})
	if !ok { // not possible: see Settings.check
		return nil, ErrCertificate
	}
	c, err := proved.certify()
	if err != nil {
		return nil, err
	}
	text, err := certificate.Encode(c)
	if err != nil {
		return nil, err
	}
	if body = body[:len(body)-1]; len(body) > 1 {
		body = append(body, ',')
	}
	body = append(body, `"certificate":`...)
	return append(append(body, text...), '}'), nil
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// withID puts the caller's id first.
func withID(in *object, body []byte) []byte {
	if in == nil || in.id == nil {
		return body
	}
	out := append([]byte(`{"id":`), in.id...)
	if len(body) > len("{}") {
		out = append(out, ',')
	}
	return append(out, body[1:]...)
}

// oneLine makes a message of one line, cut where an input that it quotes is very long.
func oneLine(s string) string {
	const most = 400
	if len(s) > most {
		s = s[:most] + " ..."
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
}
