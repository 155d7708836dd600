package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/device"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "verify certificates of any kind: exit status 0 only if all of them hold",
		ArgsUsage: "FILE...",
		Description: "Reads certificates, or answers of \"wpm solve -certificate\" and \"wpm flow -json -proof\", one\n" +
			"after the other, from each FILE (\"-\": standard input), plain or gzip, and recomputes the bounds that they\n" +
			"state, in fractions. It trusts no solver and needs no policy: \"wpm verify\" and \"wpm audit\" check the\n" +
			"certificate in one. Of an answer, the certificate alone is checked.\n" +
			"A certificate may leave its cost out; then -cost has it. A certificate that holds proves its bounds for the\n" +
			"problem in it; whether that is your problem, its hash says. Of a certificate that holds somebody's distribution\n" +
			"only the verdict is shown, and no number: it is as private as the distribution.\n" +
			"Exit status: 0 all hold, 1 one does not, 2 one cannot be read or there is none.",
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "cost",
				Usage: "every certificate must be about the cost in `FILE`: JSON as for wpm solve, or an object with " +
					"a member cost, such as a policy",
			},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object a line for each certificate"},
		},
		OnUsageError: usageError,
		Action:       checkCertificates,
	}
}

// checked is the verdict on one certificate.
type checked struct {
	audit.Certified
	Unreadable bool `json:"unreadable,omitempty"` // there is no verdict, and Fault says why
}

func checkCertificates(ctx context.Context, c *cli.Command) error {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return errors.New("check takes one file or more")
	}
	if countDashes(append(paths, c.String("cost"))...) > 1 {
		return errors.New("standard input can be read once")
	}
	var spec []byte
	if c.IsSet("cost") {
		var err error
		if spec, err = readCostFile(c.String("cost"), c.Root().Reader); err != nil {
			return fmt.Errorf("-cost: %w", err)
		}
	}
	all, failed, unreadable := 0, 0, 0
	for _, path := range paths {
		err := eachCertificate(path, c.Root().Reader, func(line int, made certificate.Certificate, err error) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			res := judge(made, err, spec)
			res.Source, res.Line = path, line
			all++
			switch {
			case res.Unreadable:
				unreadable++
			case !res.Passed:
				failed++
			}
			return res.print(c.Root().Writer, c.Bool("json"))
		})
		if err != nil {
			return err
		}
	}
	switch {
	case unreadable > 0:
		return fmt.Errorf("%d of %d certificates cannot be checked", unreadable, all)
	case failed > 0:
		return fmt.Errorf("%d of %d certificates do not hold: %w", failed, all, device.ErrNo)
	}
	return nil
}

// judge verifies a certificate; err is what kept it from being read.
func judge(c certificate.Certificate, err error, spec []byte) checked {
	if _, has := c.CostHash(); err == nil && has && spec != nil {
		kept := c
		if c, err = c.WithCost(spec); err != nil {
			c = kept
		}
	}
	kind := string(c.Kind())
	if kind == "" {
		kind = "certificate"
	}
	switch {
	case errors.Is(err, certificate.ErrShape), errors.Is(err, certificate.ErrCost): // it was read, and is false
		return checked{Certified: audit.Certified{
			Kind: kind, Private: c.Private(), Fault: audit.PublicReason(err),
		}}
	case err != nil:
		fault := err.Error()
		if format := (*certificate.FormatError)(nil); errors.As(err, &format) {
			fault = fmt.Sprintf("%v: byte %d", certificate.ErrFormat, format.Offset)
		}
		return checked{Certified: audit.Certified{Kind: kind, Fault: fault}, Unreadable: true}
	case c.NeedsCost():
		return checked{Certified: audit.Certified{
			Kind: kind, Private: c.Private(), Fault: "it leaves its cost out: give it with -cost",
		}, Unreadable: true}
	}
	return checked{Certified: audit.Certify(c)}
}

func (r checked) print(w io.Writer, asJSON bool) error {
	var b bytes.Buffer
	if asJSON {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r); err != nil {
			return err
		}
		_, err := w.Write(b.Bytes())
		return err
	}
	fmt.Fprintf(&b, "%s:%d: ", r.Source, r.Line)
	switch {
	case r.Unreadable:
		fmt.Fprintf(&b, "%s: not checked: %s\n", r.Kind, r.Fault)
	case !r.Passed:
		fmt.Fprintf(&b, "%s: does not hold: %s\n", r.Kind, r.Fault)
	case r.Private:
		fmt.Fprintf(&b, "%s: holds\n  about: %s\n  bounds: not shown, they are private\n", r.Kind, r.Meaning)
	default:
		fmt.Fprintf(&b, "%s: holds\n  about: %s\n  bounds: %s to %s\n  problem: %s\n",
			r.Kind, r.Meaning, r.Lower, r.Upper, r.Problem)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// eachCertificate calls each for every certificate of a file, with the line on which its object begins, or with the error
// of a certificate that cannot be read. Beyond text that is no object nothing can be found, and the file ends there.
func eachCertificate(path string, stdin io.Reader, each func(line int, c certificate.Certificate, err error) error) error {
	f, err := device.Open(path, stdin)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		in = bufio.NewReaderSize(z, 1<<16)
	}
	objects := objectReader{in: in, line: 1}
	for n := 0; ; n++ {
		text, line, err := objects.next()
		if err == io.EOF && n > 0 {
			return nil
		}
		if err == io.EOF {
			return fmt.Errorf("%s: there is no certificate in it", path)
		}
		if err != nil {
			return each(line, certificate.Certificate{}, err)
		}
		c, err := decodeCertificate(text)
		if err := each(line, c, err); err != nil {
			return err
		}
	}
}

var errObject = errors.New("neither a certificate nor an answer with one")

// decodeCertificate reads a certificate, or the one in an answer.
func decodeCertificate(text []byte) (certificate.Certificate, error) {
	members, err := topMembers(text, "format", "certificate")
	if err != nil {
		return certificate.Certificate{}, err
	}
	switch format := string(members["format"]); {
	case strings.HasPrefix(format, `"wpm-policy-`):
		return certificate.Certificate{}, errors.New(`a policy: "wpm verify" checks its certificate`)
	case format != "":
		return certificate.Decode(text)
	case members["certificate"] == nil:
		return certificate.Certificate{}, errObject
	}
	return certificate.Decode(members["certificate"])
}

// topMembers returns those members of an object that have one of the names.
func topMembers(text []byte, names ...string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errObject
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errObject
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errObject
		}
		for _, want := range names {
			if name == want {
				if out[want] != nil {
					return nil, fmt.Errorf("%w: member %q occurs twice", errObject, want)
				}
				out[want] = value
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, errObject
	}
	return out, nil
}

// maxObject bounds an answer of wpm solve: a certificate, and not more than as much beside it.
const maxObject = 2*certificate.MaxBytes + 1<<20

// objectReader cuts a text into JSON objects, with white space between them.
type objectReader struct {
	in   *bufio.Reader
	line int
}

// next returns the next object as it stands, and the line on which it begins, or io.EOF if there is none. That it is
// JSON is for others to find: next looks for the closing brace alone.
func (r *objectReader) next() (text []byte, line int, err error) {
	depth, quoted, escaped := 0, false, false
	for line = r.line; ; {
		b, err := r.in.ReadByte()
		switch {
		case err == io.EOF && text != nil:
			return nil, line, fmt.Errorf("the text ends inside an object: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, line, err
		case b == '\n':
			r.line++
		}
		if text == nil {
			line = r.line
			switch b {
			case ' ', '\t', '\r', '\n':
				continue
			case '{':
			default:
				return nil, line, fmt.Errorf("%w: it begins with %q", errObject, b)
			}
		}
		if text = append(text, b); len(text) > maxObject {
			return nil, line, fmt.Errorf("an object of more than %d bytes", maxObject)
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			quoted, escaped = b != '"', b == '\\'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return text, line, nil
			}
		}
	}
}

// readCostFile reads a cost, or the cost in an object, and returns its canonical text.
func readCostFile(path string, stdin io.Reader) ([]byte, error) {
	f, err := device.Open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxObject+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxObject {
		return nil, fmt.Errorf("%s: more than %d bytes", path, maxObject)
	}
	if members, err := topMembers(data, "cost"); err == nil && members["cost"] != nil {
		data = members["cost"]
	}
	spec, err := cost.ParseSpec(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return json.Marshal(spec)
}
