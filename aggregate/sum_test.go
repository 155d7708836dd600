package aggregate_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/aggregate"
)

// alike are parts whose shards may have a name or contents in common.
var alike = rapid.Custom(func(t *rapid.T) aggregate.Counts {
	c := aggregate.Counts{Policy: sha256.Sum256([]byte("p")), Epoch: "e", Reports: []uint64{0, 0}}
	ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 0, 3, rapid.ID[int]).Draw(t, "ids")
	for _, id := range ids {
		lines := rapid.SampledFrom([]uint64{0, 1, 100, 101, 250}).Draw(t, "lines")
		text := fmt.Sprint(lines, rapid.IntRange(0, 5).Draw(t, "contents"))
		c.Shards = append(c.Shards,
			aggregate.Shard{ID: fmt.Sprintf("%02d", id), SHA256: sha256.Sum256([]byte(text)), Bytes: 81 * lines, Lines: lines})
		c.Lines += lines
	}
	slices.SortFunc(c.Shards, func(a, b aggregate.Shard) int { return strings.Compare(a.ID, b.ID) })
	c.Reports[0] = rapid.Uint64Range(0, c.Lines).Draw(t, "first")
	c.Reports[1] = c.Lines - c.Reports[0]
	return c
})

// TestSumLaws: parts in any order and any grouping have one sum, or none. There is none where two of them have a name
// in common, or the contents of a shard of more than 100 lines and no leave for it.
func TestSumLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(alike, 1, 5).Draw(t, "parts")
		leave := rapid.Bool().Draw(t, "allow equal")
		add := func(parts []aggregate.Counts) (aggregate.Counts, error) {
			s := aggregate.Sum{AllowEqual: leave}
			for _, p := range parts {
				before := s.Counts()
				if err := s.Add(p); err != nil {
					if !cmp.Equal(before, s.Counts()) {
						t.Fatalf("after %v the sum is another", err)
					}
					return aggregate.Counts{}, err
				}
			}
			return s.Counts(), nil
		}
		want, wantErr := add(list)

		clash := false
		for i, a := range list {
			for _, b := range list[:i] {
				for _, s := range a.Shards {
					clash = clash || slices.ContainsFunc(b.Shards, func(o aggregate.Shard) bool {
						return o.ID == s.ID || !leave && o.SHA256 == s.SHA256 && s.Lines > 100
					})
				}
			}
		}
		if clash != errors.Is(wantErr, aggregate.ErrDuplicate) || !clash && wantErr != nil {
			t.Fatalf("clash %v: %v", clash, wantErr)
		}
		got, err := add(rapid.Permutation(list).Draw(t, "order"))
		if (err == nil) != (wantErr == nil) || !cmp.Equal(got, want) {
			t.Fatalf("in another order: %v, %v; want %v, %v", got, err, want, wantErr)
		}
		cut := rapid.IntRange(0, len(list)-1).Draw(t, "cut")
		tail, err := add(list[cut:])
		if err == nil {
			got, err = add(append(slices.Clone(list[:cut]), tail))
		}
		if (err == nil) != (wantErr == nil) || err == nil && !cmp.Equal(got, want) {
			t.Fatalf("grouped at %d: %v, %v; want %v, %v", cut, got, err, want, wantErr)
		}
		if wantErr != nil {
			return
		}
		text, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := aggregate.DecodeCounts(text); err != nil || !cmp.Equal(again, want) {
			t.Fatalf("%v, %v", again, err)
		}
	})
}

// TestCheckEqual: a hundred lines may be equal, and more may not.
func TestCheckEqual(t *testing.T) {
	hash := sha256.Sum256([]byte("x"))
	for lines, want := range map[uint64]bool{0: false, 1: false, 100: false, 101: true} {
		err := aggregate.CheckEqual([]aggregate.Shard{{ID: "a", SHA256: hash, Lines: lines}, {ID: "b"},
			{ID: "c", SHA256: hash, Lines: lines}})
		if errors.Is(err, aggregate.ErrDuplicate) != want || want && !strings.Contains(err.Error(), `"a" and "c"`) {
			t.Errorf("%d lines: %v", lines, err)
		}
	}
	if _, err := (&aggregate.Sum{}).Counts().Encode(); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("the sum of nothing: %v", err)
	}
	full := aggregate.Counts{Reports: []uint64{0}, Shards: make([]aggregate.Shard, aggregate.MaxShards)}
	for n := range full.Shards {
		full.Shards[n].ID = fmt.Sprintf("%05d", n)
	}
	if _, err := aggregate.Merge(full,
		aggregate.Counts{Reports: []uint64{0}, Shards: []aggregate.Shard{{ID: "z"}}}); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("a shard too many: %v", err)
	}
	heavy := func(id string) aggregate.Counts {
		return aggregate.Counts{Reports: []uint64{0}, Shards: []aggregate.Shard{{ID: id, Bytes: 1 << 53}}}
	}
	if _, err := aggregate.Merge(heavy("a"), heavy("b")); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("too many bytes: %v", err)
	}
}

// TestForkAndJoin: counting beside and joining is counting in one.
func TestForkAndJoin(t *testing.T) {
	p := small(t)
	one, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	n := one.Fork()
	f, g := n.Fork(), n.Fork()
	for i, c := range []*aggregate.Counter{n, f, g, f, n, f} {
		line := []byte(text(reportOf(p.ID(), uint32(i))))
		if v := c.Text(line); v != one.Text(line) {
			t.Errorf("line %d: %v", i, v)
		}
	}
	n.Join(f)
	n.Join(g)
	n.Join(f) // it is empty by now
	want, err1 := one.Counts("e", []aggregate.Shard{{ID: "s", Lines: 6}})
	got, err2 := n.Counts("e", []aggregate.Shard{{ID: "s", Lines: 6}})
	if err1 != nil || err2 != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v, %v", got, err2, want, err1)
	}
}
