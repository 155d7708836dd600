package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/simulation"
	"github.com/wpm-go/wpm/policy"
)

// binaryReport is what a binary report starts with.
const binaryReport = "wpm1"

// countsAnswer are counts of reports.
type countsAnswer struct {
	Policy  string            `json:"policy"`
	Epoch   string            `json:"epoch"`
	Lines   uint64            `json:"lines"`
	Refused map[string]uint64 `json:"refused"`
	Shards  []shardAnswer     `json:"shards"`
	Text    string            `json:"text"` // wpm-counts-1
	Notices []string          `json:"notices"`
}

type shardAnswer struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
	Bytes  uint64 `json:"bytes"`
	Lines  uint64 `json:"lines"`
}

// answerCounts are the counts, with their numbers in the array reports.
func answerCounts(c aggregate.Counts, notices []string) (answer, error) {
	text, err := c.Encode()
	if err != nil {
		return answer{}, err
	}
	out := countsAnswer{Policy: hex.EncodeToString(c.Policy[:]), Epoch: c.Epoch, Lines: c.Lines,
		Refused: map[string]uint64{}, Shards: []shardAnswer{}, Text: string(text), Notices: append([]string{}, notices...)}
	for _, v := range aggregate.Reasons() {
		out.Refused[v.String()] = c.Refused[v]
	}
	for _, s := range c.Shards {
		out.Shards = append(out.Shards, shardAnswer{s.ID, hex.EncodeToString(s.SHA256[:]), s.Bytes, s.Lines})
	}
	numbers := make([]int64, len(c.Reports))
	for j, n := range c.Reports {
		numbers[j] = int64(n) // at most 2^53
	}
	return answer{value: out, out: []array{indices("reports", numbers)}}, nil
}

// column is the bytes that an array of whole numbers holds, eight in each.
func column(a array, size int) ([]byte, error) {
	if size < 0 || size > 8*len(a.ints) {
		return nil, fmt.Errorf("a column of %d bytes in %d", size, 8*len(a.ints))
	}
	text := make([]byte, 0, 8*len(a.ints))
	for _, v := range a.ints {
		text = binary.LittleEndian.AppendUint64(text, uint64(v))
	}
	return text[:size], nil
}

// source is where reports come from: a file, or the array of that name, which holds text.
type source struct {
	Name string `json:"name"` // of the file, and of the shard
	Size *int   `json:"size"` // bytes in the array "sN" of source N; nil for a file
}

// count counts the reports of a policy in files and columns.
func count(ctx context.Context, r request) (answer, error) {
	var in struct {
		Policy     string   `json:"policy"`
		Sources    []source `json:"sources"`
		Epoch      string   `json:"epoch"`
		Strict     bool     `json:"strict"`
		AllowEqual bool     `json:"allow_equal"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	p, err := policy.Decode([]byte(in.Policy))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	var names []string
	columns := map[string][]byte{}
	for n, s := range in.Sources {
		names = append(names, s.Name)
		if s.Size == nil {
			continue
		}
		if columns[s.Name], err = column(r.arrays[fmt.Sprintf("s%d", n)], *s.Size); err != nil {
			return answer{}, err
		}
	}
	counter, err := aggregate.NewCounter(p)
	if err != nil {
		return answer{}, err
	}
	var notices []string
	reader := reports.Reader{
		Open: func(name string) (io.ReadCloser, error) {
			if text, ok := columns[name]; ok {
				return io.NopCloser(bytes.NewReader(text)), nil
			}
			return openFile(name)
		},
		Magic: binaryReport, Size: policy.ReportSize, Strict: in.Strict, AllowEqual: in.AllowEqual,
		Notice: func(text string) { notices = append(notices, text) },
	}
	c, err := reader.Count(ctx, counter, names, in.Epoch)
	if err != nil {
		return answer{}, err
	}
	return answerCounts(c, notices)
}

// openFile opens what can be read to its end.
func openFile(name string) (io.ReadCloser, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", name)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// readCounts reads the text of counts, or adds up several.
func readCounts(_ context.Context, r request) (answer, error) {
	var in struct {
		Texts []string `json:"texts"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	var sum aggregate.Sum
	for _, text := range in.Texts {
		c, err := aggregate.DecodeCounts([]byte(text))
		if err == nil {
			err = sum.Add(c)
		}
		if err != nil {
			return answer{}, err
		}
	}
	return answerCounts(sum.Counts(), nil)
}

// readFile reads a file of counts: partial ones, or of a policy a table as CSV, which becomes its own shard.
func readFile(_ context.Context, r request) (answer, error) {
	var in struct {
		Path   string  `json:"path"`
		Policy string  `json:"policy"` // empty for none
		Epoch  *string `json:"epoch"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	f, err := openFile(in.Path)
	if err != nil {
		return answer{}, err
	}
	defer f.Close()
	var p policy.Policy
	labels := []string{}
	if in.Policy != "" {
		if p, err = policy.Decode([]byte(in.Policy)); err != nil {
			return answer{}, fmt.Errorf("%w: %w", errRefused, err)
		}
		labels = places.Labels(p.OutputLabel, p.Outputs())
	}
	hash := sha256.New()
	size := new(counted)
	c, table, err := reports.ReadCounts(io.TeeReader(f, io.MultiWriter(hash, size)), in.Path, labels)
	switch {
	case in.Policy == "" && (table || err != nil && !errors.Is(err, aggregate.ErrFormat)):
		return answer{}, fmt.Errorf("%s: these are not partial counts; a table of counts states no policy, so give it", in.Path)
	case err != nil:
		return answer{}, err
	case table:
		if err := aggregate.CheckReports(p, c.Reports); err != nil {
			return answer{}, fmt.Errorf("%s: %w", in.Path, err)
		}
		c.Policy = p.ID()
		if in.Epoch != nil {
			c.Epoch = *in.Epoch
		}
		c.Shards = []aggregate.Shard{{ID: filepath.Base(in.Path), SHA256: [32]byte(hash.Sum(nil)), Bytes: uint64(*size), Lines: c.Lines}}
	case in.Epoch != nil && *in.Epoch != c.Epoch:
		return answer{}, fmt.Errorf("%s: %w: %q, want %q", in.Path, aggregate.ErrEpoch, c.Epoch, *in.Epoch)
	case in.Policy != "":
		if err := c.Belongs(p); err != nil {
			return answer{}, fmt.Errorf("%s: %w", in.Path, err)
		}
	}
	return answerCounts(c, nil)
}

// counted is how many bytes were written.
type counted uint64

func (n *counted) Write(b []byte) (int, error) {
	*n += counted(len(b))
	return len(b), nil
}

// simulate draws the reports of made-up devices: counts of them, and the file that wpm simulate writes.
func simulate(ctx context.Context, r request) (answer, error) {
	var in struct {
		Policy  string `json:"policy"`
		Devices int    `json:"devices"`
		Atoms   int    `json:"atoms"`
		Seed    uint64 `json:"seed"`
		Epoch   string `json:"epoch"`
		Path    string `json:"path"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	p, err := policy.Decode([]byte(in.Policy))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	cfg := simulation.Config{Policy: p, Devices: in.Devices, Atoms: in.Atoms, Seed: in.Seed}
	steps := stepsOf(ctx)
	cfg.Progress = func(done int) { steps(done, in.Devices) }
	ptr, support, counts := r.places("indptr"), r.places("support"), r.floats("counts")
	if ptr != nil {
		if err := checkRows(ptr, len(support), len(counts)); err != nil {
			return answer{}, err
		}
		for u := range ptr[1:] {
			from, to := ptr[u], ptr[u+1]
			cfg.Users = append(cfg.Users, simulation.User{Inputs: support[from:to], Counts: counts[from:to]})
		}
	}
	name := aggregate.SimulatedEpoch
	if in.Epoch != "" {
		if cfg, err = cfg.In(in.Epoch); err != nil {
			return answer{}, err
		}
		name += "-" + in.Epoch
	}
	c, err := simulated(ctx, cfg, name, in.Path)
	if err != nil {
		return answer{}, err
	}
	return answerCounts(c, nil)
}

// simulated counts the reports of a simulation as they are drawn, and writes them to a new file, unless path is empty.
func simulated(ctx context.Context, cfg simulation.Config, epoch, path string) (c aggregate.Counts, err error) {
	counter, err := aggregate.NewCounter(cfg.Policy)
	if err != nil {
		return c, err
	}
	read, write := io.Pipe()
	var to io.Writer = write
	if path != "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return c, err
		}
		defer func() {
			if err = errors.Join(err, f.Close()); err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}()
		to = io.MultiWriter(f, write)
	}
	over := make(chan error, 1)
	go func() {
		err := guard(func() { write.CloseWithError(simulation.Run(ctx, cfg, to)) })
		write.CloseWithError(err)
		over <- err
	}()
	reader := reports.Reader{Open: func(string) (io.ReadCloser, error) { return read, nil }, Magic: binaryReport,
		Size: policy.ReportSize}
	c, err = reader.Count(ctx, counter, []string{"simulation"}, epoch)
	read.CloseWithError(err)
	return c, errors.Join(err, <-over)
}
