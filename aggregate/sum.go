package aggregate

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// EqualLines is the largest number of lines at which two shards may have equal contents by chance: there are few
// different reports, so short shards are easily equal.
const EqualLines = 100

// Sum adds up the counts of parts, of one policy and one epoch. The zero Sum is empty. Neither the order nor the
// grouping of the parts matters: compatible parts give the same counts in any order and grouping, and incompatible
// parts fail in any order and grouping.
//
// Adding takes time and memory linear in the part, whatever has been added before.
type Sum struct {
	// AllowEqual allows two parts to have shards with the same contents of more than EqualLines lines. Without it one
	// shard is taken for a copy of the other.
	AllowEqual bool

	total    Counts // its shards in the order of adding
	bytes    uint64 // of all shards
	names    map[string]bool
	contents contents
}

// Add adds a part. After an error the sum is what it was.
//
// Errors: ErrPolicy; ErrEpoch, where one part has an epoch and the other has none or another; ErrShape; ErrDuplicate
// for a shard ID that is there already, or for equal contents; ErrFormat and ErrLimit for what Encode would refuse.
func (s *Sum) Add(part Counts) error {
	if err := part.check(); err != nil {
		return err
	}
	if s.names == nil {
		s.total = Counts{Policy: part.Policy, Epoch: part.Epoch, Reports: make([]uint64, len(part.Reports))}
		s.names, s.contents = map[string]bool{}, contents{}
	}
	size := s.bytes
	for _, shard := range part.Shards {
		size += shard.Bytes // at most 2^53 in the part, and before it
	}
	switch t := &s.total; {
	case t.Policy != part.Policy:
		return fmt.Errorf("%w: %x and %x", ErrPolicy, t.Policy[:6], part.Policy[:6])
	case t.Epoch != part.Epoch:
		return fmt.Errorf("%w: %q and %q", ErrEpoch, t.Epoch, part.Epoch)
	case len(t.Reports) != len(part.Reports):
		return fmt.Errorf("%w: %d and %d outputs", ErrShape, len(t.Reports), len(part.Reports))
	case t.Lines+part.Lines > MaxCount || size > MaxCount:
		return fmt.Errorf("%w: the shards have more than %d lines or bytes", ErrLimit, uint64(MaxCount))
	case len(t.Shards)+len(part.Shards) > MaxShards:
		return fmt.Errorf("%w: %d shards, at most %d", ErrLimit, len(t.Shards)+len(part.Shards), MaxShards)
	}
	for _, shard := range part.Shards {
		if s.names[shard.ID] {
			return fmt.Errorf("%w: shard %q", ErrDuplicate, shard.ID)
		}
		if other, ok := s.contents.of(shard); ok && !s.AllowEqual {
			return equal(other, shard)
		}
	}
	for _, shard := range part.Shards {
		s.names[shard.ID] = true
		s.contents.keep(shard)
	}
	s.bytes = size
	s.total.add(part)
	s.total.Shards = append(s.total.Shards, part.Shards...)
	return nil
}

// Counts returns the sum so far; the zero Counts, which Encode refuses, if it is empty.
func (s *Sum) Counts() Counts {
	out := s.total
	out.Reports, out.Shards = slices.Clone(out.Reports), slices.Clone(out.Shards)
	slices.SortFunc(out.Shards, byID)
	return out
}

// add adds numbers, and no shards.
func (c *Counts) add(part Counts) {
	for j, n := range part.Reports {
		c.Reports[j] += n
	}
	for v, n := range part.Refused {
		c.Refused[v] += n
	}
	c.Lines += part.Lines
}

// Merge returns the counts of both parts together: a Sum of two. Errors: those of Sum.Add.
func Merge(a, b Counts) (Counts, error) {
	var s Sum
	for _, part := range []Counts{a, b} {
		if err := s.Add(part); err != nil {
			return Counts{}, err
		}
	}
	return s.Counts(), nil
}

// contents name a shard for each hash, of the shards that are too long to be equal by chance.
type contents map[[sha256.Size]byte]string

func (c contents) keep(s Shard) {
	if s.Lines > EqualLines {
		c[s.SHA256] = s.ID
	}
}

// of names a shard of the same contents.
func (c contents) of(s Shard) (other string, ok bool) {
	if s.Lines > EqualLines {
		other, ok = c[s.SHA256]
	}
	return other, ok
}

func equal(other string, s Shard) error {
	return fmt.Errorf("%w: shards %q and %q have the same %d lines", ErrDuplicate, other, s.ID, s.Lines)
}

// CheckEqual finds two shards of equal contents, of more than EqualLines lines. Two devices may send the same report,
// but this many devices do not send the same reports in the same order: one shard is a copy of the other. Contents are
// compared as they are stored, by their hash, so a copy that was compressed again is not found. The error is
// ErrDuplicate.
func CheckEqual(shards []Shard) error {
	seen := contents{}
	for _, s := range shards {
		if other, ok := seen.of(s); ok {
			return equal(other, s)
		}
		seen.keep(s)
	}
	return nil
}
