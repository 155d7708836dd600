// Package reports reads files of reports into counts.
//
// # The problem
//
// A file has one report on each line, in hexadecimal, with blanks around it or not, and empty lines between; or binary
// reports one after the other, if it starts as one. Both may be gzipped. Some of it may be no report at all: a server
// must not lose a million reports to one bad line, and must say what it left out.
//
// # The guarantee
//
// Every line that is not blank, and every record of a binary file with what is left at its end, is given to the
// counter, which counts it or says why not: see aggregate.Verdict. A file that cannot be read to its end, as an
// archive that breaks off, is an error, and so is one file under two names. With Strict the first line that is not
// counted is an error. The counts name each file with its SHA-256.
//
// # Cost
//
// It takes the memory of one line and of the counter, whatever the number of reports.
package reports

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

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/places"
)

// MaxLine bounds a line of reports with its blanks, far above the characters of a report.
const MaxLine = 4096

// Reader reads files of reports of one kind.
type Reader struct {
	Open   func(name string) (io.ReadCloser, error) // "-" is standard input
	Magic  string                                   // four bytes that start a binary report
	Size   int                                      // bytes of a binary report
	Strict bool
}

// Count counts the reports of files.
func (r Reader) Count(ctx context.Context, n *aggregate.Counter, files []string, epoch string) (aggregate.Counts, error) {
	var shards []aggregate.Shard
	seen := make(map[string]string, len(files))
	for _, file := range files {
		if other, twice := seen[place(file)]; twice {
			return aggregate.Counts{}, fmt.Errorf("%s is %s once more: its reports would count twice", file, other)
		}
		seen[place(file)] = file
		shard, err := r.countFile(ctx, n, file)
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

func (r Reader) countFile(ctx context.Context, n *aggregate.Counter, file string) (s aggregate.Shard, err error) {
	before := n.Lines()
	s.Bytes, s.SHA256, err = r.each(ctx, file, func(number int, record []byte, binary bool) error {
		count := n.Text
		if binary {
			count = n.Binary
		}
		if verdict := count(record); r.Strict && verdict != aggregate.Counted {
			return fmt.Errorf("%s: %v", where(number, binary), verdict)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	s.ID, s.Lines = filepath.ToSlash(file), n.Lines()-before
	if file == "-" || len(s.ID) > 256 || !utf8.ValidString(s.ID) || strings.ContainsFunc(s.ID, unicode.IsControl) {
		s.ID = fmt.Sprintf("%x", s.SHA256) // no name that a counts file can hold
	}
	return s, nil
}

// Each gives do the reports of a file one by one. The first error of do is Each's, with the place of the report. The
// record is valid during the call; it is nil if its line is too long.
func (r Reader) Each(ctx context.Context, file string, do func(record []byte, binary bool) error) error {
	_, _, err := r.each(ctx, file, func(number int, record []byte, binary bool) error {
		if err := do(record, binary); err != nil {
			return fmt.Errorf("%s: %w", where(number, binary), err)
		}
		return nil
	})
	return err
}

// each also returns the number of bytes of the file, as they are stored, and their hash.
func (r Reader) each(ctx context.Context, file string, do visit) (size uint64, sum [sha256.Size]byte, err error) {
	f, err := r.Open(file)
	if err != nil {
		return 0, sum, err
	}
	defer f.Close()
	raw := &hashed{r: f, sum: sha256.New()}
	in, err := costio.Unzip(raw)
	if err != nil {
		return 0, sum, fmt.Errorf("%s: %w", file, err)
	}
	head, _ := in.Peek(16)
	switch {
	case aggregate.IsCounts(head):
		return 0, sum, fmt.Errorf("%s has partial counts, not reports: read it with -counts", file)
	case bytes.HasPrefix(head, []byte(r.Magic)):
		err = r.records(ctx, in, do)
	default:
		err = lines(ctx, in, do)
	}
	if err != nil {
		return 0, sum, fmt.Errorf("%s:%w", file, err)
	}
	raw.sum.Sum(sum[:0])
	return raw.n, sum, nil
}

// visit takes a record, numbered from 1.
type visit = func(number int, record []byte, binary bool) error

// records visits binary records, and what is left at the end.
func (r Reader) records(ctx context.Context, in *bufio.Reader, do visit) error {
	record := make([]byte, r.Size)
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

// atEnd tells the end of a file from an archive that breaks off: io.ReadFull gives both one name.
func atEnd(in *bufio.Reader) bool {
	_, err := in.Peek(1)
	return err == io.EOF
}

// blanks may stand around a report on its line, and no other white space.
const blanks = " \t\r"

// lines visits the lines that are not blank, without the blanks around them.
func lines(ctx context.Context, in *bufio.Reader, do visit) error {
	text := costio.NewLines(in, MaxLine)
	for text.Next() {
		if err := stopped(ctx, text.Number()); err != nil {
			return err
		}
		record := bytes.Trim(text.Bytes(), blanks)
		if len(record) == 0 && !text.Long() {
			continue
		}
		if err := do(text.Number(), record, false); err != nil {
			return err
		}
	}
	if err := text.Err(); err != nil {
		return fmt.Errorf("%s: %w", where(text.Number()+1, false), err)
	}
	return nil
}

// stopped looks at the context now and then.
func stopped(ctx context.Context, n int) error {
	if n%(1<<14) != 0 {
		return nil
	}
	return ctx.Err()
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

// ReadCounts reads partial counts, or a table of counts as CSV by label, which states no policy: table says so, and
// its counts have a zero ID. That they belong to the policy at hand is for the caller to check.
func ReadCounts(r io.Reader, name string, labels []string) (c aggregate.Counts, table bool, err error) {
	in, err := costio.Unzip(r)
	if err != nil {
		return c, false, fmt.Errorf("%s: %w", name, err)
	}
	if head, _ := in.Peek(16); !aggregate.IsCounts(head) {
		c.Reports, err = costio.ReadTally(places.NFC(in), name, labels)
		for _, n := range c.Reports {
			c.Lines += n
		}
		return c, true, err
	}
	data, err := io.ReadAll(io.LimitReader(in, aggregate.MaxCountsBytes+1))
	if err == nil {
		c, err = aggregate.DecodeCounts(data)
	}
	if err != nil {
		return c, false, fmt.Errorf("%s: %w", name, err)
	}
	return c, false, nil
}
