package aggregate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Errors of partial counts. They are wrapped with what, where and the value.
var (
	ErrFormat    = errors.New("aggregate: not canonical counts")
	ErrLimit     = errors.New("aggregate: limit exceeded")
	ErrPolicy    = errors.New("aggregate: counts of another policy")
	ErrEpoch     = errors.New("aggregate: counts of another epoch")
	ErrDuplicate = errors.New("aggregate: counted twice")
)

// Limits of partial counts.
const (
	MaxCount       = 1 << 53  // of any number in them, and so of the lines read
	MaxShards      = 1 << 16  // shards of one file
	MaxCountsBytes = 64 << 20 // of the text
	maxShardID     = 256      // bytes
)

// Verdict is what a line of reports, or a binary report, turned out to be.
type Verdict int

// The verdicts. All but Counted are reasons to refuse.
const (
	Counted       Verdict = iota
	Malformed             // not a report
	OtherPolicy           // a report of another policy
	NoSuchOutput          // of an output that the policy does not have
	NeverReleased         // of an output that the policy gives weight 0, or of a seed that it does not have
	verdicts
)

var verdictNames = [verdicts]string{"counted", "malformed", "other-policy", "no-such-output", "never-released"}

// String returns the word for v in counts files.
func (v Verdict) String() string {
	if v < 0 || v >= verdicts {
		return "verdict(" + strconv.Itoa(int(v)) + ")"
	}
	return verdictNames[v]
}

// Reasons are the verdicts that refuse a line, in the order of counts files.
func Reasons() []Verdict { return []Verdict{Malformed, OtherPolicy, NoSuchOutput, NeverReleased} }

// Counts are the numbers of reports of one policy: all that a histogram needs, in O(kv) memory whatever the number of
// reports. They are sums, so the counts of parts add up to those of the whole; see Merge.
//
// A report holds no name and no serial number. Counts cannot tell a report that was sent twice from two equal ones, and
// Merge detects a repeated shard only by its ID. Whoever receives reports must refuse the second report of a client in
// an epoch.
type Counts struct {
	Policy  [sha256.Size]byte // the ID of the policy
	Epoch   string            // as ledgers name it; empty if it is not stated
	Reports []uint64          // of each output
	Refused [verdicts]uint64  // by reason; Refused[Counted] is 0
	Lines   uint64            // lines that are not empty, or binary reports: the sum of Reports and Refused
	Shards  []Shard           // what was read, by ID
}

// Shard is one file of reports, by the name that the reader gave it.
type Shard struct {
	ID     string            // distinct; 1 to 256 bytes of UTF-8 without control characters
	SHA256 [sha256.Size]byte // of its bytes, as they are stored
	Bytes  uint64
	Lines  uint64
}

// Total returns the number of reports counted.
func (c Counts) Total() uint64 { return c.Lines - c.AllRefused() }

// AllRefused returns the number of lines that were refused, for all reasons.
func (c Counts) AllRefused() uint64 {
	var n uint64
	for _, v := range c.Refused {
		n += v
	}
	return n
}

// Counter counts the reports of a policy one by one. Use NewCounter.
type Counter struct {
	counts Counts
	prefix []byte // of the text of every report of the policy
	never  []bool // outputs of weight 0
	kind   *Kind  // of the reports, if they are not those of a policy.Policy
	epochs ledger.Schedule
}

// Kind is what a counter has to know about the reports of a mechanism of a kind other than policy.Policy.
type Kind struct {
	ID      [sha256.Size]byte // the ID of the mechanism
	Outputs int               // 1 to policy.MaxOutputs
	// Read reads a report in its text or binary form. Unless it is Counted, the output is of no interest.
	Read func(record []byte, binary bool) (output int, v Verdict)
}

// NewKindCounter returns an empty counter for the reports of a kind. The error is ErrLimit for the number of outputs.
func NewKindCounter(k Kind) (*Counter, error) {
	if k.Outputs < 1 || k.Outputs > policy.MaxOutputs {
		return nil, fmt.Errorf("%w: %d outputs, want 1 to %d", ErrLimit, k.Outputs, policy.MaxOutputs)
	}
	return &Counter{counts: Counts{Policy: k.ID, Reports: make([]uint64, k.Outputs)}, kind: &k}, nil
}

// countRecord counts a report of the counter's kind.
func (c *Counter) countRecord(record []byte, binary bool) Verdict {
	j, v := c.kind.Read(record, binary)
	if v == Counted {
		c.counts.Reports[j]++
	}
	return c.count(v)
}

// NewCounter returns an empty counter for the policy. The error is that of the zero Policy.
func NewCounter(p policy.Policy) (*Counter, error) {
	if p.IsZero() {
		return nil, fmt.Errorf("aggregate: %w", policy.ErrPolicy)
	}
	box, never := p.Polytope(), make([]bool, p.Outputs())
	for j := range never {
		never[j] = box.Hi(j) == 0
	}
	c, err := NewCounterOf(p.ID(), never)
	if err == nil {
		c.epochs = p.Schedule()
	}
	return c, err
}

// NewCounterOf is NewCounter for a program that knows only the ID of a policy and which of its outputs have weight 0.
// The error is ErrLimit for the number of outputs.
func NewCounterOf(id [sha256.Size]byte, never []bool) (*Counter, error) {
	if len(never) < 1 || len(never) > policy.MaxOutputs {
		return nil, fmt.Errorf("%w: %d outputs, want 1 to %d", ErrLimit, len(never), policy.MaxOutputs)
	}
	return &Counter{
		counts: Counts{Policy: id, Reports: make([]uint64, len(never))},
		never:  slices.Clone(never),
		prefix: hex.AppendEncode(nil, append([]byte("wpm1"), id[:]...)),
	}, nil
}

// Text counts a report in its text form, without white space around it. Anything that is not a report, such as nil, is
// malformed.
func (c *Counter) Text(line []byte) Verdict {
	if c.kind != nil {
		return c.countRecord(line, false)
	}
	// Reports of the policy, nearly all there are, differ in the last eight digits only: a little-endian uint32.
	if digits, ok := bytes.CutPrefix(line, c.prefix); ok && len(digits) == 8 {
		var b [4]byte
		for i, d := range digits {
			switch {
			case '0' <= d && d <= '9':
				d -= '0'
			case 'a' <= d && d <= 'f':
				d -= 'a' - 10
			default:
				return c.count(Malformed)
			}
			b[i/2] = b[i/2]<<4 | d
		}
		return c.index(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
	var r policy.Report
	if r.UnmarshalText(line) != nil {
		return c.count(Malformed)
	}
	return c.count(OtherPolicy)
}

// Binary counts a report in its binary form.
func (c *Counter) Binary(record []byte) Verdict {
	if c.kind != nil {
		return c.countRecord(record, true)
	}
	var r policy.Report
	switch {
	case r.UnmarshalBinary(record) != nil:
		return c.count(Malformed)
	case r.PolicyID() != c.counts.Policy:
		return c.count(OtherPolicy)
	}
	return c.index(uint32(r.Index()))
}

func (c *Counter) index(j uint32) Verdict {
	switch {
	case j >= policy.MaxOutputs: // as UnmarshalBinary has it
		return c.count(Malformed)
	case int(j) >= len(c.never):
		return c.count(NoSuchOutput)
	case c.never[j]:
		return c.count(NeverReleased)
	}
	c.counts.Reports[j]++
	return c.count(Counted)
}

func (c *Counter) count(v Verdict) Verdict {
	if c.counts.Lines++; v != Counted {
		c.counts.Refused[v]++
	}
	return v
}

// Fork returns an empty counter for the same reports, for use at the same time as c. If c is of a Kind, its Read must
// then be safe for concurrent use.
func (c *Counter) Fork() *Counter {
	fresh := *c
	fresh.counts = Counts{Policy: c.counts.Policy, Reports: make([]uint64, len(c.counts.Reports))}
	return &fresh
}

// Join adds the counts of a counter from Fork to c, and empties that counter.
func (c *Counter) Join(fork *Counter) {
	c.counts.add(fork.counts)
	*fork = *fork.Fork()
}

// Lines returns how many lines were counted or refused.
func (c *Counter) Lines() uint64 { return c.counts.Lines }

// In returns ErrEpoch for the name of an epoch in which no device of the policy reports, because it has another form, or is
// before its first or after its last one. A counter of NewCounterOf or of a Kind takes all, and so does an epoch that is "",
// or of a simulation.
func (c *Counter) In(epoch string) error {
	if c.epochs.Epochs == ledger.Free || epoch == "" || strings.HasPrefix(epoch, SimulatedEpoch) {
		return nil
	}
	if _, err := c.epochs.Number(epoch); err != nil {
		return fmt.Errorf("%w: of the policy: %w", ErrEpoch, err)
	}
	return nil
}

// Counts returns what was counted, as read from these shards.
//
// Errors: ErrFormat if the shards do not make up the lines, or have bad IDs; ErrDuplicate; ErrLimit; those of In, if there
// are reports.
func (c *Counter) Counts(epoch string, shards []Shard) (Counts, error) {
	if c.counts.Total() > 0 {
		if err := c.In(epoch); err != nil {
			return Counts{}, err
		}
	}
	out := c.counts
	out.Epoch, out.Reports, out.Shards = epoch, slices.Clone(out.Reports), slices.Clone(shards)
	slices.SortStableFunc(out.Shards, byID)
	if err := out.check(); err != nil {
		return Counts{}, err
	}
	return out, nil
}

func byID(a, b Shard) int { return cmp.Compare(a.ID, b.ID) }

// check holds counts to their invariants.
func (c Counts) check() error {
	if len(c.Reports) < 1 || len(c.Reports) > policy.MaxOutputs {
		return fmt.Errorf("%w: %d outputs, want 1 to %d", ErrLimit, len(c.Reports), policy.MaxOutputs)
	}
	if len(c.Shards) > MaxShards {
		return fmt.Errorf("%w: %d shards, at most %d", ErrLimit, len(c.Shards), MaxShards)
	}
	if c.Epoch != "" && !isWord(c.Epoch) {
		return fmt.Errorf("%w: epoch %q is not of 1 to 64 letters, digits, '.', '_', ':' or '-'", ErrFormat, c.Epoch)
	}
	if c.Refused[Counted] != 0 {
		return fmt.Errorf("%w: %d lines refused as counted", ErrFormat, c.Refused[Counted])
	}
	var sum uint64
	for _, list := range [][]uint64{c.Refused[:], c.Reports, {c.Lines}} {
		for _, n := range list {
			if n > MaxCount {
				return fmt.Errorf("%w: the number %d, at most %d", ErrLimit, n, uint64(MaxCount))
			}
		}
	}
	for _, list := range [][]uint64{c.Refused[:], c.Reports} {
		for _, n := range list {
			if sum += n; sum > c.Lines { // no overflow: each step adds at most 2^53 to at most 2^53
				return fmt.Errorf("%w: %d lines, and more reports than that", ErrFormat, c.Lines)
			}
		}
	}
	if sum != c.Lines {
		return fmt.Errorf("%w: %d lines, of which %d are accounted for", ErrFormat, c.Lines, sum)
	}
	return c.checkShards()
}

func (c Counts) checkShards() error {
	var lines, size uint64
	for i, s := range c.Shards {
		switch {
		case s.ID == "" || len(s.ID) > maxShardID || !utf8.ValidString(s.ID) || strings.ContainsFunc(s.ID, unicode.IsControl):
			return fmt.Errorf("%w: shard ID %q is not 1 to %d bytes of plain text", ErrFormat, s.ID[:min(len(s.ID), maxShardID)],
				maxShardID)
		case i > 0 && s.ID == c.Shards[i-1].ID:
			return fmt.Errorf("%w: shard %q", ErrDuplicate, s.ID)
		case i > 0 && s.ID < c.Shards[i-1].ID:
			return fmt.Errorf("%w: shard %q after %q", ErrFormat, s.ID, c.Shards[i-1].ID)
		case s.Bytes > MaxCount || s.Lines > MaxCount:
			return fmt.Errorf("%w: shard %q has %d bytes and %d lines, at most %d", ErrLimit, s.ID, s.Bytes, s.Lines,
				uint64(MaxCount))
		}
		if lines, size = lines+s.Lines, size+s.Bytes; lines > MaxCount || size > MaxCount {
			return fmt.Errorf("%w: the shards have more than %d lines or bytes", ErrLimit, uint64(MaxCount))
		}
	}
	if lines != c.Lines {
		return fmt.Errorf("%w: %d lines, of which the shards have %d", ErrFormat, c.Lines, lines)
	}
	return nil
}

// isWord accepts the epochs of ledgers.
func isWord(s string) bool {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("._:-", r)
	}
	return len(s) >= 1 && len(s) <= 64 && !strings.ContainsFunc(s, other)
}

// Belongs checks that counts can be those of a policy: they have its ID and its number of outputs, and no report of an
// output of weight 0.
//
// Errors: ErrPolicy, ErrShape, ErrIndex.
func (c Counts) Belongs(p policy.Policy) error {
	if id := p.ID(); p.IsZero() || c.Policy != id {
		return fmt.Errorf("%w: %x, not %x", ErrPolicy, c.Policy[:6], id[:6])
	}
	return CheckReports(p, c.Reports)
}

// CheckReports checks the length of a table of reports by output, and that none is of an output of weight 0.
//
// Errors: ErrShape, ErrIndex.
func CheckReports(p policy.Policy, reports []uint64) error {
	if len(reports) != p.Outputs() || len(reports) == 0 {
		return fmt.Errorf("%w: counts of %d outputs, the policy has %d", ErrShape, len(reports), p.Outputs())
	}
	box := p.Polytope()
	for j, n := range reports {
		if n > 0 && box.Hi(j) == 0 {
			return fmt.Errorf("%w: %d reports of output %d, which the policy never releases", ErrIndex, n, j)
		}
	}
	return nil
}
