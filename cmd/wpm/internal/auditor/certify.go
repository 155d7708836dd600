package auditor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
)

// Certify is the command certify.
func Certify() *cli.Command {
	return &cli.Command{
		Name:      "certify",
		Usage:     "verify certificates of any kind: exit status 0 only if all of them hold",
		ArgsUsage: "FILE...",
		Description: "Reads certificates, or answers of \"wpm solve KIND -certificate\" and \"wpm flow -json -proof\", one\n" +
			"after the other, from each FILE (\"-\": standard input), plain or gzip, and recomputes the bounds that they\n" +
			"state, in fractions. It trusts no solver and needs no policy: \"wpm verify\" and \"wpm audit\" check the\n" +
			"certificate in one. Of an answer, the certificate alone is checked.\n" +
			"A certificate may leave its cost out; then -cost supplies it. A certificate that holds proves its bounds for the\n" +
			"problem in it; the hash of the problem tells whether that is yours. A certificate that holds somebody's distribution\n" +
			"is as private as the distribution: only the verdict on it is shown, and no number.\n" +
			"Exit status: 0 all hold, 1 one does not, 2 one cannot be read or there is none.",
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "cost",
				Usage: "every certificate must be about the cost in `FILE`: JSON as for wpm solve, or an object with " +
					"a member cost, such as a policy",
			},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object a line for each certificate"},
		},
		OnUsageError: shell.UsageError,
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
		return errors.New("certify takes one file or more")
	}
	if shell.CountDashes(append(paths, c.String("cost"))...) > 1 {
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
		err := eachCertificate(c, path, func(line int, made certificate.Certificate, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			res, err := judge(ctx, made, err, spec)
			if err != nil {
				return err
			}
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
func judge(ctx context.Context, c certificate.Certificate, err error, spec []byte) (checked, error) {
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
		}}, nil
	case err != nil:
		fault := err.Error()
		if format := (*certificate.FormatError)(nil); errors.As(err, &format) {
			fault = fmt.Sprintf("%v: byte %d", certificate.ErrFormat, format.Offset)
		}
		return checked{Certified: audit.Certified{Kind: kind, Fault: fault}, Unreadable: true}, nil
	case c.NeedsCost():
		return checked{Certified: audit.Certified{
			Kind: kind, Private: c.Private(), Fault: "it leaves its cost out: give it with -cost",
		}, Unreadable: true}, nil
	}
	res, err := audit.Certify(ctx, c)
	return checked{Certified: res}, err
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

// eachCertificate calls each for every certificate of a file, as certificate.ReadAnswers does. A file without one is an
// error.
func eachCertificate(c *cli.Command, path string,
	each func(line int, made certificate.Certificate, err error) error) error {
	f, err := device.Open(path, c.Root().Reader)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := costio.Unzip(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	found := false
	err = certificate.ReadAnswers(in, func(line int, made certificate.Certificate, err error) error {
		found = true
		return each(line, made, err)
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: there is no certificate in it", path)
	}
	return err
}

// readCostFile reads a cost, or the cost in an object, and returns its canonical text.
func readCostFile(path string, stdin io.Reader) ([]byte, error) {
	f, err := device.Open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, certificate.MaxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(data) > certificate.MaxAnswer {
		return nil, fmt.Errorf("%s: more than %d bytes", path, certificate.MaxAnswer)
	}
	if inside := certificate.CostOf(data); inside != nil {
		data = inside
	}
	spec, err := cost.ParseSpec(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return json.Marshal(spec)
}
