package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v3"
	"golang.org/x/text/unicode/norm"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/policy"
)

// errSome says that a result was written although some of the input was refused: exit status 3.
var errSome = errors.New("some input was refused")

// countsFlags are the ways to read reports, for commands that need their counts only.
func countsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "counts", Usage: "read `FILE`, partial counts or CSV label,count or index,count, instead of reports"},
		&cli.StringFlag{Name: "epoch", Usage: "`NAME` of the period, for partial counts: written with -partial, compared with -counts"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse all of the input for one bad report: no output, exit status 2"},
	}
}

// readCounts reads the counts of a policy: from files of reports, standard input if there are none, or from -counts.
func readCounts(ctx context.Context, c *cli.Command, p policy.Policy, files []string) (aggregate.Counts, error) {
	var counts aggregate.Counts
	var err error
	if c.IsSet("epoch") && !c.IsSet("partial") && !c.IsSet("counts") {
		return counts, errors.New("-epoch goes with -partial or -counts: reports do not say their epoch")
	}
	switch file := c.String("counts"); {
	case !c.IsSet("counts"):
		if len(files) == 0 {
			files = []string{"-"}
		}
		counts, err = countFiles(ctx, p, files, c.String("epoch"), c.Root().Reader, c.Bool("strict"))
	case len(files) > 0:
		return counts, fmt.Errorf("-counts does not go with files of reports: %q", files[0])
	default:
		if counts, err = readPart(file, c.Root().Reader, p); err == nil && c.IsSet("epoch") && counts.Epoch != c.String("epoch") {
			return counts, fmt.Errorf("%s: %w: %q, want %q", file, aggregate.ErrEpoch, counts.Epoch, c.String("epoch"))
		}
	}
	if err != nil {
		return counts, err
	}
	refused := counts.AllRefused()
	if refused > 0 && c.Bool("strict") {
		return counts, fmt.Errorf("-strict: %s", refusedText(counts))
	}
	if counts.Total() == 0 {
		if refused > 0 {
			return counts, fmt.Errorf("no reports of this policy: %s", refusedText(counts))
		}
		return counts, errors.New("no reports")
	}
	return counts, nil
}

// someRefused is the error of a command that worked, but for what it refused to count.
func someRefused(c aggregate.Counts) error {
	if c.AllRefused() == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", refusedText(c), errSome)
}

func refusedText(c aggregate.Counts) string {
	var parts []string
	for _, v := range aggregate.Reasons() {
		if n := c.Refused[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, v))
		}
	}
	return fmt.Sprintf("%d of %d lines refused: %s", c.AllRefused(), c.Lines, strings.Join(parts, ", "))
}

// countFiles counts the reports of files, in O(kv) memory. If strict, the first line that is no report of the policy is an error.
func countFiles(ctx context.Context, p policy.Policy, files []string, epoch string, stdin io.Reader, strict bool) (aggregate.Counts, error) {
	n, err := aggregate.NewCounter(p)
	if err != nil {
		return aggregate.Counts{}, err
	}
	var shards []aggregate.Shard
	seen := make(map[string]string, len(files))
	for _, file := range files {
		if other, twice := seen[place(file)]; twice {
			return aggregate.Counts{}, fmt.Errorf("%s is %s once more: its reports would count twice", file, other)
		}
		seen[place(file)] = file
		shard, err := countFile(ctx, n, file, stdin, strict)
		if err != nil {
			return aggregate.Counts{}, err
		}
		shards = append(shards, shard)
	}
	return n.Counts(epoch, shards)
}

// place is one name for a file, whatever the path to it; but for hard links.
func place(file string) string {
	if file == "-" {
		return file
	}
	if path, err := filepath.EvalSymlinks(file); err == nil {
		file = path
	}
	if path, err := filepath.Abs(file); err == nil {
		file = path
	}
	return file
}

func countFile(ctx context.Context, n *aggregate.Counter, file string, stdin io.Reader, strict bool) (aggregate.Shard, error) {
	f, err := open(file, stdin)
	if err != nil {
		return aggregate.Shard{}, err
	}
	defer f.Close()
	raw := &hashed{r: f, sum: sha256.New()}
	in, err := costio.Unzip(raw)
	if err != nil {
		return aggregate.Shard{}, fmt.Errorf("%s: %w", file, err)
	}
	if head, _ := in.Peek(16); aggregate.IsCounts(head) {
		return aggregate.Shard{}, fmt.Errorf("%s has partial counts, not reports: read it with -counts", file)
	}
	before := n.Lines()
	err = eachReport(ctx, in, func(number int, record []byte, binary bool) error {
		count := n.Text
		if binary {
			count = n.Binary
		}
		verdict := count(record)
		if strict && verdict != aggregate.Counted {
			return fmt.Errorf("%s: %v", where(number, binary), verdict)
		}
		return nil
	})
	if err != nil {
		return aggregate.Shard{}, fmt.Errorf("%s:%w", file, err)
	}
	s := aggregate.Shard{ID: filepath.ToSlash(file), Bytes: raw.n, Lines: n.Lines() - before}
	raw.sum.Sum(s.SHA256[:0])
	if file == "-" || len(s.ID) > 256 || !utf8.ValidString(s.ID) || strings.ContainsFunc(s.ID, unicode.IsControl) {
		s.ID = fmt.Sprintf("%x", s.SHA256) // no name that a counts file can hold
	}
	return s, nil
}

// where is the place of a report in its file, after the colon.
func where(number int, binary bool) string {
	if binary {
		return fmt.Sprintf(" report %d", number)
	}
	return fmt.Sprint(number)
}

// hashed hashes what is read through it.
type hashed struct {
	r   io.Reader
	sum hash.Hash
	n   uint64
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.sum.Write(p[:n])
	h.n += uint64(n)
	return n, err
}

// maxReportLine bounds a line of reports with its blanks, far above the 80 characters of a report.
const maxReportLine = 4096

// eachReport gives do every line that is not blank, from 1, without the blanks around it, nil if it is too long; or, of a file that starts
// with the magic of a binary report, every 40 bytes and what is left at the end. The record is valid during the call.
func eachReport(ctx context.Context, in *bufio.Reader, do func(number int, record []byte, binary bool) error) error {
	if magic, _ := in.Peek(4); string(magic) == "wpm1" {
		record := make([]byte, policy.ReportSize)
		for n := 1; ; n++ {
			got, err := io.ReadFull(in, record)
			if err == io.EOF {
				return nil
			}
			if err != nil && !(errors.Is(err, io.ErrUnexpectedEOF) && atEnd(in)) {
				return fmt.Errorf("%s: %w", where(n, true), err)
			}
			if err := stopped(ctx, n); err != nil {
				return err
			}
			if err := do(n, record[:got], true); err != nil || got < len(record) {
				return err
			}
		}
	}
	lines := costio.NewLines(in, maxReportLine)
	for lines.Next() {
		if err := stopped(ctx, lines.Number()); err != nil {
			return err
		}
		record := bytes.TrimSpace(lines.Bytes())
		if len(record) == 0 && !lines.Long() {
			continue
		}
		if err := do(lines.Number(), record, false); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", where(lines.Number()+1, false), err)
	}
	return nil
}

// atEnd tells the end of a file from an archive that breaks off: io.ReadFull gives both one name.
func atEnd(in *bufio.Reader) bool {
	_, err := in.Peek(1)
	return err == io.EOF
}

// stopped looks at the context now and then.
func stopped(ctx context.Context, n int) error {
	if n%(1<<14) != 0 {
		return nil
	}
	return ctx.Err()
}

// readPart reads partial counts, or a table of counts as CSV, which holds no ID: its points must be the policy's.
func readPart(file string, stdin io.Reader, p policy.Policy) (aggregate.Counts, error) {
	return readWith(file, stdin, func(r io.Reader, name string) (none aggregate.Counts, err error) {
		in, err := costio.Unzip(r)
		if err != nil {
			return none, fmt.Errorf("%s: %w", name, err)
		}
		if head, _ := in.Peek(16); aggregate.IsCounts(head) {
			data, err := io.ReadAll(io.LimitReader(in, aggregate.MaxCountsBytes+1))
			if err != nil {
				return none, fmt.Errorf("%s: %w", name, err)
			}
			c, err := aggregate.DecodeCounts(data)
			if err == nil {
				err = c.Belongs(p)
			}
			if err != nil {
				return none, fmt.Errorf("%s: %w", name, err)
			}
			return c, nil
		}
		tally, err := costio.ReadTally(norm.NFC.Reader(in), name, labelsOf(p.OutputLabel, p.Outputs()))
		if err != nil {
			return none, err
		}
		if err := aggregate.CheckReports(p, tally); err != nil {
			return none, fmt.Errorf("%s: %w", name, err)
		}
		c := aggregate.Counts{Policy: p.ID(), Reports: tally}
		for _, n := range tally {
			c.Lines += n
		}
		return c, nil
	})
}
