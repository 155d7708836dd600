package fleet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/policy"
)

// ErrOptions says that a field of Options means nothing.
var ErrOptions = errors.New("fleet: bad options")

// Options say what to count.
type Options struct {
	// Policies are those that the reports may be of, at least one, each once. A shard is counted for all of them: of
	// each, the reports of the others are refused as other-policy, as wpm count does with these shards.
	Policies []policy.Policy
	// Epoch is that of all shards. Or EpochPattern is a regular expression, of which group 1 in the path of a shard is
	// its epoch. One of the two is given.
	Epoch, EpochPattern string
	// AllowEqual lets two shards have equal contents: see aggregate.Sum.
	AllowEqual bool
	// Quarantine leaves out a shard that cannot be read to its end, and names it. Without it such a shard is an error of
	// the pipeline.
	Quarantine bool
}

// Aggregate counts shards. paths is a PCollection<string> of their paths, for a file system that Beam knows: import
// its package, such as beam/io/filesystem/gcs. A path is the ID of its shard.
//
// parts is a PCollection<[]byte>, of a part for each policy and epoch. unreadable is a PCollection<string>: of each
// shard that Quarantine left out, the path and what was wrong.
//
// The pipeline fails for a shard that cannot be read, that is there twice, or whose path has no epoch.
func Aggregate(s beam.Scope, paths beam.PCollection, o Options) (parts, unreadable beam.PCollection, err error) {
	fn, err := newCountFn(o)
	if err != nil {
		return parts, unreadable, err
	}
	s = s.Scope("fleet.Aggregate")
	keyed, unreadable := beam.ParDo2(s, fn, beam.Reshuffle(s, paths))
	sums := beam.CombinePerKey(s, &sumFn{AllowEqual: o.AllowEqual}, keyed)
	return beam.DropKey(s, sums), unreadable, nil
}

// counted is what a worker has to know of a policy: little, for it travels with the function.
type counted struct {
	ID      string // hexadecimal
	Outputs int
	Never   []int // outputs of weight 0
}

// countFn counts a shard: a part for each policy, under its key.
type countFn struct {
	Policies       []counted
	Epoch, Pattern string
	Quarantine     bool

	pattern  *regexp.Regexp
	counters []*aggregate.Counter
}

func newCountFn(o Options) (*countFn, error) {
	fn := &countFn{Epoch: o.Epoch, Pattern: o.EpochPattern, Quarantine: o.Quarantine}
	if (o.Epoch == "") == (o.EpochPattern == "") {
		return nil, fmt.Errorf("%w: epoch %q and pattern %q, want one of them", ErrOptions, o.Epoch, o.EpochPattern)
	}
	if len(o.Policies) == 0 {
		return nil, fmt.Errorf("%w: no policies", ErrOptions)
	}
	seen := map[[32]byte]bool{}
	for n, p := range o.Policies {
		switch {
		case p.IsZero():
			return nil, fmt.Errorf("%w: policy %d: %w", ErrOptions, n, policy.ErrPolicy)
		case seen[p.ID()]:
			return nil, fmt.Errorf("%w: policy %x is there twice", ErrOptions, p.ID())
		}
		seen[p.ID()] = true
		c := counted{ID: fmt.Sprintf("%x", p.ID()), Outputs: p.Outputs()}
		box := p.Polytope()
		for j := range c.Outputs {
			if box.Hi(j) == 0 {
				c.Never = append(c.Never, j)
			}
		}
		fn.Policies = append(fn.Policies, c)
	}
	if err := fn.Setup(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if fn.pattern != nil && fn.pattern.NumSubexp() < 1 {
		return nil, fmt.Errorf("%w: the pattern %q has no group", ErrOptions, o.EpochPattern)
	}
	if fn.Epoch != "" {
		if _, err := fn.counters[0].Counts(fn.Epoch, nil); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrOptions, err)
		}
	}
	return fn, nil
}

// Setup makes the counters, which stay empty: each shard is counted in forks of them.
func (f *countFn) Setup() (err error) {
	if f.Pattern != "" {
		if f.pattern, err = regexp.Compile(f.Pattern); err != nil {
			return err
		}
	}
	f.counters = nil
	for _, p := range f.Policies {
		var id [32]byte
		if _, err := hex.Decode(id[:], []byte(p.ID)); err != nil {
			return err
		}
		never := make([]bool, p.Outputs)
		for _, j := range p.Never {
			never[j] = true
		}
		n, err := aggregate.NewCounterOf(id, never)
		if err != nil {
			return err
		}
		f.counters = append(f.counters, n)
	}
	return nil
}

// ProcessElement counts one shard.
func (f *countFn) ProcessElement(
	ctx context.Context, path string, emit func(string, Part), unreadable func(string),
) error {
	epoch, err := f.epochOf(path)
	if err != nil {
		return err
	}
	open := func(name string) (io.ReadCloser, error) { return openShard(ctx, name) }
	r := reports.Reader{Magic: "wpm1", Size: policy.ReportSize, Open: open}
	list, err := r.CountShard(ctx, f.counters, path, epoch)
	if err != nil {
		if ctx.Err() == nil && f.Quarantine {
			unreadable(named(path, err).Error())
			return nil
		}
		return fmt.Errorf("fleet: %w", named(path, err))
	}
	for n, c := range list {
		emit(f.Policies[n].ID+" "+epoch, Part{counts: c})
	}
	return nil
}

// named puts the path before an error that does not name it.
func named(path string, err error) error {
	if strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (f *countFn) epochOf(path string) (string, error) {
	if f.pattern == nil {
		return f.Epoch, nil
	}
	m := f.pattern.FindStringSubmatch(path)
	if len(m) < 2 || m[1] == "" {
		return "", fmt.Errorf("fleet: shard %s: %w: the path has none by %q", path, aggregate.ErrEpoch, f.Pattern)
	}
	return m[1], nil
}

// openShard opens a file of any file system that Beam knows.
func openShard(ctx context.Context, name string) (io.ReadCloser, error) {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	file, err := fs.OpenRead(ctx, name)
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	return both{file, fs}, nil
}

// both closes a file and its file system.
type both struct {
	io.ReadCloser
	fs io.Closer
}

func (b both) Close() error { return errors.Join(b.ReadCloser.Close(), b.fs.Close()) }

// sumFn adds up parts.
type sumFn struct{ AllowEqual bool }

// CreateAccumulator returns the sum of nothing.
func (f *sumFn) CreateAccumulator() Part { return Part{} }

// AddInput adds a part. The accumulator is its own.
func (f *sumFn) AddInput(a, p Part) (Part, error) {
	if p.isEmpty() {
		return a, nil
	}
	if a.sum == nil {
		first := a
		a = Part{sum: &aggregate.Sum{AllowEqual: f.AllowEqual}}
		if !first.isEmpty() {
			if err := a.sum.Add(first.counts); err != nil {
				return Part{}, err
			}
		}
	}
	return a, a.sum.Add(p.get())
}

// MergeAccumulators adds one sum to another.
func (f *sumFn) MergeAccumulators(a, b Part) (Part, error) { return f.AddInput(a, b) }

// ExtractOutput writes the sum.
func (f *sumFn) ExtractOutput(a Part) ([]byte, error) { return a.get().Encode() }

func init() {
	register.DoFn4x1[context.Context, string, func(string, Part), func(string), error](&countFn{})
	register.Emitter2[string, Part]()
	register.Emitter1[string]()
	register.Combiner2[Part, []byte](&sumFn{})
}
