package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// kind is a policy of either kind, as those need it who read its reports.
type kind interface {
	device.Mechanism
	// format is what a binary report starts with, and its size.
	format() (magic string, size int)
	// labels name the outputs, for a table of counts.
	labels() []string
	// belongs checks that counts can be those of the policy; of a table, its outputs alone.
	belongs(c aggregate.Counts, table bool) error
	// show reads a report: its output, and what that stands for in words and as JSON.
	show(record []byte, binary bool) (output int, text string, asJSON []byte, err error)
}

func (p points) format() (string, int) { return "wpm1", policy.ReportSize }

func (p points) labels() []string { return places.Labels(p.OutputLabel, p.Outputs()) }

func (p points) belongs(c aggregate.Counts, table bool) error {
	if table {
		return aggregate.CheckReports(p.Policy, c.Reports)
	}
	return c.Belongs(p.Policy)
}

func (p points) show(record []byte, binary bool) (int, string, []byte, error) {
	var r policy.Report
	err := unmarshal(&r, record, binary)
	if err == nil {
		err = p.Belongs(r)
	}
	if err != nil {
		return 0, "", nil, err
	}
	label := p.OutputLabel(r.Index())
	quoted, err := json.Marshal(label)
	return r.Index(), label, append([]byte(`"label":`), quoted...), err
}

// textOrBinary is a report of any kind.
type textOrBinary interface {
	UnmarshalText([]byte) error
	UnmarshalBinary([]byte) error
}

func unmarshal(r textOrBinary, record []byte, binary bool) error {
	if binary {
		return r.UnmarshalBinary(record)
	}
	return r.UnmarshalText(record)
}

func (v vectors) format() (string, int) { return "wpc1", codebook.ReportSize }

// counter returns a counter that also gives each every report that counts.
func (v vectors) counter(each func(codebook.Report)) (*aggregate.Counter, error) {
	id, cfg := v.ID(), v.Config()
	read := func(record []byte, binary bool) (int, aggregate.Verdict) {
		var r codebook.Report
		switch {
		case unmarshal(&r, record, binary) != nil:
			return 0, aggregate.Malformed
		case r.PolicyID() != id:
			return 0, aggregate.OtherPolicy
		case r.Index() >= cfg.Points:
			return 0, aggregate.NoSuchOutput
		case v.Belongs(r) != nil:
			return 0, aggregate.NeverReleased
		}
		each(r)
		return r.Index(), aggregate.Counted
	}
	return aggregate.NewKindCounter(aggregate.Kind{ID: id, Outputs: cfg.Points, Read: read})
}

func (v vectors) labels() []string { return places.Labels(strconv.Itoa, v.Config().Points) }

var errFresh = errors.New("the policy has fresh seeds, and then a count of indices means nothing")

func (v vectors) belongs(c aggregate.Counts, table bool) error {
	switch id, points := v.ID(), v.Config().Points; {
	case v.Fresh():
		return errFresh
	case !table && c.Policy != id:
		return fmt.Errorf("%w: %x, not %x", aggregate.ErrPolicy, c.Policy[:6], id[:6])
	case len(c.Reports) != points:
		return fmt.Errorf("%w: counts of %d candidates, the policy has %d", aggregate.ErrShape, len(c.Reports), points)
	}
	return nil
}

func (v vectors) show(record []byte, binary bool) (int, string, []byte, error) {
	var r codebook.Report
	err := unmarshal(&r, record, binary)
	if err == nil {
		err = v.Belongs(r)
	}
	if err != nil {
		return 0, "", nil, err
	}
	y, err := v.Point(r)
	if err != nil {
		return 0, "", nil, err
	}
	text, err := json.Marshal(y)
	return r.Index(), string(bytes.Trim(text, "[]")), append([]byte(`"point":`), text...), err
}

// policyAndFiles reads the policy of a command's arguments, and returns the names of the files of reports after it.
func policyAndFiles(c *cli.Command, args []string) (kind, []string, error) {
	if len(args) < 1 {
		return nil, nil, fmt.Errorf("%s takes a policy and files of reports", c.Name)
	}
	if args[0] == "-" && readsStdin(c, args[1:]) {
		return nil, nil, errors.New("policy and reports cannot both be standard input")
	}
	m, err := env(c).OpenPolicy(args[0])
	if err != nil {
		return nil, nil, err
	}
	return m.(kind), args[1:], nil
}

// readsStdin reports whether reports or counts are standard input.
func readsStdin(c *cli.Command, files []string) bool {
	if c.IsSet("counts") {
		files = append([]string{c.String("counts")}, files...)
	}
	return len(files) == 0 || shell.CountDashes(files...) > 0
}

// reader reads files of a kind's reports.
func reader(c *cli.Command, k kind) reports.Reader {
	magic, size := k.format()
	return reports.Reader{
		Open:  func(name string) (io.ReadCloser, error) { return device.Open(name, c.Root().Reader) },
		Magic: magic, Size: size, Strict: c.Bool("strict"), AllowEqual: c.Bool("allow-equal"),
	}
}
