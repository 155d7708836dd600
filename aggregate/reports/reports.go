// Package reports reads files of reports into counts.
//
// # The problem
//
// A text file has one report on each line, in hexadecimal, possibly with blanks around the report and empty lines
// between. A file that starts like a binary report has binary reports one after the other. Both may be gzipped. Some
// lines may be no report at all: a server must not lose a million reports to one bad line, and must say what it left
// out.
//
// # The guarantee
//
// The counter gets every line that is not blank, and every record of a binary file, also an incomplete one at the end.
// The counter counts it or gives a reason: see aggregate.Verdict. A file that cannot be read to its end, such as a
// truncated archive, is an error. So are two names of one file, and two files with equal contents: see
// aggregate.CheckEqual. With Strict the first line that is not counted is an error. The counts name each file with its
// SHA-256, and are the same at any GOMAXPROCS.
//
// Lines that are missing from a file cannot be detected from the file alone. A [Manifest] says what should be there.
//
// # Simulations
//
// A file of simulated reports starts with a mark, a line of its own: see [Mark]. Its reports are counted only for an
// epoch that begins with [aggregate.SimulatedEpoch], which is the default for such files, and never together with other reports.
// So such a file cannot get into the counts of a population. A mark further down, as when one file was appended to
// another, counts as a malformed line, and a notice says where it is. It is not an error, because then a client could
// prevent the counting of all others by sending a mark.
//
// # Cost
//
// Memory is one line and one counter for each core, whatever the number of reports.
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
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/wpmerr"
)

// MaxLine bounds a line of reports with its blanks, far above the characters of a report.
const MaxLine = 4096

// Reader reads files of reports of one kind.
type Reader struct {
	Open   func(name string) (io.ReadCloser, error) // "-" is standard input; called from several goroutines
	Magic  string                                   // four bytes that start a binary report
	Size   int                                      // bytes of a binary report
	Strict bool
	// Shard is the ID of the only file. It is empty for the usual: the name of the file with slashes, or the SHA-256 of
	// its bytes where that is no ID.
	Shard string
	// AllowEqual lets two files have equal contents.
	AllowEqual bool
	// InOrder reads one file after the other, for a counter that has to see the reports in order.
	InOrder bool
	// Notice, if not nil, is called after all files have been read. It gets a sentence without its full stop if the
	// reports are simulated, for each shard that has a mark within it, and for each shard whose end suggests that it was
	// cut off.
	Notice func(text string)
	// Progress, if not nil, is called with the number of files that have been read.
	Progress func(done int)
}

// Errors of what was read as a whole. They are wrapped with what, where and the value.
var (
	ErrSimulated = errors.New("reports: simulated reports")
	ErrManifest  = errors.New("reports: not what the manifest says")
)

// Count counts the reports of files, which take turns on all cores. Errors: those of the files, of aggregate.Counter
// and of ctx, aggregate.ErrFormat for a name of a shard that does not fit, and ErrSimulated or ErrManifest where the
// files are not what is expected.
func (r Reader) Count(
	ctx context.Context, n *aggregate.Counter, files []string, epoch string,
) (aggregate.Counts, error) {
	if err := r.checkNames(n, files, epoch); err != nil {
		return aggregate.Counts{}, err
	}
	var (
		mu   sync.Mutex
		idle []*aggregate.Counter
		all  []*aggregate.Counter
		read = make([]facts, len(files))
	)
	take := func() *aggregate.Counter {
		mu.Lock()
		defer mu.Unlock()
		if len(idle) == 0 {
			all = append(all, n.Fork())
			return all[len(all)-1]
		}
		last := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		return last
	}
	give := func(c *aggregate.Counter) {
		mu.Lock()
		defer mu.Unlock()
		idle = append(idle, c)
	}
	task := func(i int) (err error) {
		c := take()
		read[i], err = r.countFile(ctx, c, files[i])
		give(c)
		return err
	}
	if err := r.each(ctx, len(files), task); err != nil {
		return aggregate.Counts{}, err
	}
	for _, c := range all {
		n.Join(c)
	}
	return r.counts(n, read, epoch)
}

// CountShard reads one file once, and gives each of its reports to all counters. The counters are of different
// policies, and each refuses the reports of the others. For each counter it returns the result of Count, without the
// earlier contents of the counter. r.Strict has no use here. Errors: those of Count.
func (r Reader) CountShard(
	ctx context.Context, ns []*aggregate.Counter, file, epoch string,
) ([]aggregate.Counts, error) {
	forks := make([]*aggregate.Counter, len(ns))
	for i, n := range ns {
		if err := r.checkNames(n, []string{file}, epoch); err != nil {
			return nil, err
		}
		forks[i] = n.Fork()
	}
	f, err := r.visit(ctx, file, func(_ int, record []byte, binary bool) error {
		for _, n := range forks {
			if binary {
				n.Binary(record)
			} else {
				n.Text(record)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]aggregate.Counts, len(ns))
	for i, n := range forks {
		f.Lines = n.Lines()
		f.ID = r.nameOf(file, f)
		if out[i], err = r.counts(n, []facts{f}, epoch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each calls task for each file.
func (r Reader) each(ctx context.Context, files int, task func(i int) error) error {
	ctx = wpmerr.Context(ctx)
	if !r.InOrder {
		return parallel.Each(ctx, files, task, r.Progress)
	}
	for i := range files {
		if err := wpmerr.Ended(ctx); err != nil {
			return err
		}
		if err := task(i); err != nil {
			return err
		}
		if r.Progress != nil {
			r.Progress(i + 1)
		}
	}
	return nil
}

// checkNames refuses, before anything is read, what could not be written down in the end.
func (r Reader) checkNames(n *aggregate.Counter, files []string, epoch string) error {
	if r.Shard != "" && len(files) != 1 {
		return fmt.Errorf("%w: shard ID %q for %d files", aggregate.ErrFormat, r.Shard, len(files))
	}
	seen := make(map[string]string, len(files))
	var shards []aggregate.Shard
	for _, file := range files {
		if other, twice := seen[place(file)]; twice {
			return fmt.Errorf("%s is %s once more: its reports would count twice", file, other)
		}
		seen[place(file)] = file
		if id := r.id(file); id != "" {
			shards = append(shards, aggregate.Shard{ID: id})
		}
	}
	_, err := n.Fork().Counts(epoch, shards)
	return err
}

// id returns the ID of a file, or "" where it is to be its hash.
func (r Reader) id(file string) string {
	id := filepath.ToSlash(file)
	switch {
	case r.Shard != "":
		return r.Shard
	case file == "-" || len(id) > 256 || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return ""
	}
	return id
}

// counts puts together what the files had.
func (r Reader) counts(n *aggregate.Counter, read []facts, epoch string) (aggregate.Counts, error) {
	shards := make([]aggregate.Shard, len(read))
	for i, f := range read {
		shards[i] = f.Shard
	}
	epoch, err := epochOf(read, epoch)
	if err != nil {
		return aggregate.Counts{}, err
	}
	c, err := n.Counts(epoch, shards)
	if err == nil && !r.AllowEqual {
		err = aggregate.CheckEqual(c.Shards)
	}
	if err != nil {
		return aggregate.Counts{}, err
	}
	r.tell(read)
	return c, nil
}

// tell calls Notice.
func (r Reader) tell(read []facts) {
	if r.Notice == nil || len(read) == 0 {
		return
	}
	if read[0].simulated { // and so are all others
		r.Notice("the reports are simulated")
	}
	for _, f := range read {
		if f.mark > 0 && !f.simulated {
			r.Notice(fmt.Sprintf("%q has the mark of a simulation on line %d: it may hold simulated reports",
				f.ID, f.mark))
		}
		if f.cut {
			what := "ends within a line or a record"
			if f.Bytes == 0 {
				what = "is empty, and no archive of nothing"
			}
			r.Notice(fmt.Sprintf("%q %s: it may have been cut off", f.ID, what))
		}
	}
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

func (r Reader) countFile(ctx context.Context, n *aggregate.Counter, file string) (facts, error) {
	before := n.Lines()
	f, err := r.visit(ctx, file, func(number int, record []byte, binary bool) error {
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
		return f, err
	}
	f.Lines = n.Lines() - before
	f.ID = r.nameOf(file, f)
	return f, nil
}

// nameOf is the ID of a file that has been read.
func (r Reader) nameOf(file string, f facts) string {
	if id := r.id(file); id != "" {
		return id
	}
	return fmt.Sprintf("%x", f.SHA256)
}

// Each calls do for the reports of a file one by one. It returns the first error of do, with the place of the report.
// The record is valid during the call; it is nil if its line is too long. Other errors are those of the file and of
// ctx.
func (r Reader) Each(ctx context.Context, file string, do func(record []byte, binary bool) error) error {
	_, err := r.visit(ctx, file, func(number int, record []byte, binary bool) error {
		if err := do(record, binary); err != nil {
			return fmt.Errorf("%s: %w", where(number, binary), err)
		}
		return nil
	})
	return err
}

// facts are what reading a file tells of it.
type facts struct {
	aggregate.Shard      // but for ID and lines
	cut             bool // it ends within a line, within a record, or before an archive begins
	simulated       bool // it starts with a mark
	mark            int  // the first line after it that is a mark, or 0
}

// visit gives do the reports of a file.
func (r Reader) visit(ctx context.Context, file string, do visit) (f facts, err error) {
	ctx = wpmerr.Context(ctx)
	if r.Open == nil {
		return f, fmt.Errorf("%w: the Reader has no Open", wpmerr.ErrShape)
	}
	stored, err := r.Open(file)
	if err != nil {
		return f, err
	}
	defer stored.Close()
	raw := &hashed{r: stored, sum: sha256.New()}
	in, err := costio.Unzip(raw)
	if err != nil {
		return f, fmt.Errorf("%s: %w", file, err)
	}
	head, _ := in.Peek(len(bom) + len(mark))
	switch f.simulated = IsMark(head); {
	case aggregate.IsCounts(head):
		return f, fmt.Errorf("%s has partial counts, not reports: read it with -counts", file)
	case bytes.HasPrefix(head, []byte(r.Magic)):
		f.cut, err = r.records(ctx, in, do)
	default:
		err = lines(ctx, in, &f, do)
	}
	if err != nil {
		return f, fmt.Errorf("%s:%w", file, err)
	}
	f.cut = f.cut || raw.n == 0 && strings.HasSuffix(file, ".gz") // an archive of nothing has some bytes
	raw.sum.Sum(f.SHA256[:0])
	f.Bytes = raw.n
	return f, nil
}

// visit takes a record, numbered from 1.
type visit = func(number int, record []byte, binary bool) error

// records visits binary records, and what is left at the end; cut says that something is.
func (r Reader) records(ctx context.Context, in *bufio.Reader, do visit) (cut bool, err error) {
	record := make([]byte, r.Size)
	for n := 1; ; n++ {
		got, err := io.ReadFull(in, record)
		if err == io.EOF {
			return false, nil
		}
		if err != nil && !(errors.Is(err, io.ErrUnexpectedEOF) && atEnd(in)) {
			return false, fmt.Errorf("%s: %w", where(n, true), err)
		}
		if err := stopped(ctx, n); err != nil {
			return false, err
		}
		if err := do(n, record[:got], true); err != nil || got < len(record) {
			return true, err
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

// lines visits the lines that are not blank, without the blanks around them, after the mark if f says that there is
// one, and says in f where there is another, and whether the last line has no end.
func lines(ctx context.Context, in *bufio.Reader, f *facts, do visit) error {
	text := costio.NewLines(in, MaxLine)
	for text.Next() {
		if err := stopped(ctx, text.Number()); err != nil {
			return err
		}
		record := bytes.Trim(text.Bytes(), blanks)
		if len(record) == 0 && !text.Long() || f.simulated && text.Number() == 1 {
			continue
		}
		if f.mark == 0 && IsMark(record) {
			f.mark = text.Number()
		}
		if err := do(text.Number(), record, false); err != nil {
			return err
		}
	}
	if err := text.Err(); err != nil {
		return fmt.Errorf("%s: %w", where(text.Number()+1, false), err)
	}
	f.cut = text.Cut()
	return nil
}

// stopped looks at the context now and then.
func stopped(ctx context.Context, n int) error {
	if n%(1<<14) != 0 {
		return nil
	}
	return wpmerr.Ended(ctx)
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
// its counts have a zero ID. That they belong to the policy at hand is for the caller to check. Errors: those of
// aggregate.Decode, or of costio.ReadTally for a table, with the name.
func ReadCounts(r io.Reader, name string, labels []string) (c aggregate.Counts, table bool, err error) {
	in, err := costio.Unzip(r)
	if err != nil {
		return c, false, fmt.Errorf("%s: %w", name, err)
	}
	if head, _ := in.Peek(16); aggregate.IsCounts(head) {
		c, err = decode(in, name)
		return c, false, err
	}
	c.Reports, err = costio.ReadTally(places.NFC(in), name, labels)
	for _, n := range c.Reports {
		c.Lines += n
	}
	return c, true, err
}

// ReadPart reads partial counts, gzipped or not. Errors: those of aggregate.Decode, with the name.
func ReadPart(r io.Reader, name string) (aggregate.Counts, error) {
	in, err := costio.Unzip(r)
	if err != nil {
		return aggregate.Counts{}, fmt.Errorf("%s: %w", name, err)
	}
	return decode(in, name)
}

func decode(in io.Reader, name string) (c aggregate.Counts, err error) {
	data, err := io.ReadAll(io.LimitReader(in, aggregate.MaxCountsBytes+1))
	if err == nil {
		c, err = aggregate.DecodeCounts(data)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}
