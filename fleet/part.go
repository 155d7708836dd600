package fleet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/policy"
)

// Part is the counts of some shards, or a sum of them, on its way through an engine. The zero Part is empty.
type Part struct {
	counts aggregate.Counts
	sum    *aggregate.Sum // in place of counts
}

func (p Part) isEmpty() bool { return p.sum == nil && p.counts.Reports == nil }

func (p Part) get() aggregate.Counts {
	if p.sum != nil {
		return p.sum.Counts()
	}
	return p.counts
}

func init() {
	beam.RegisterType(reflect.TypeOf((*Part)(nil)).Elem())
	beam.RegisterCoder(reflect.TypeOf((*Part)(nil)).Elem(), encodePart, decodePart)
}

var errPart = errors.New("fleet: not a part")

// encodePart writes a part in bytes: the policy, the epoch, the refused lines, the outputs that are not 0 as pairs of a
// step and a count, and the shards. Numbers are those of encoding/binary's Uvarint. An empty part has no bytes.
func encodePart(p Part) []byte {
	if p.isEmpty() {
		return nil
	}
	c := p.get()
	b := append([]byte(nil), c.Policy[:]...)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	text(c.Epoch)
	for _, v := range aggregate.Reasons() {
		b = binary.AppendUvarint(b, c.Refused[v])
	}
	b = binary.AppendUvarint(b, uint64(len(c.Reports)))
	some := 0
	for _, n := range c.Reports {
		if n > 0 {
			some++
		}
	}
	b = binary.AppendUvarint(b, uint64(some))
	last := -1
	for j, n := range c.Reports {
		if n > 0 {
			b = binary.AppendUvarint(b, uint64(j-last-1))
			b = binary.AppendUvarint(b, n)
			last = j
		}
	}
	b = binary.AppendUvarint(b, uint64(len(c.Shards)))
	for _, s := range c.Shards {
		text(s.ID)
		b = append(b, s.SHA256[:]...)
		b = binary.AppendUvarint(b, s.Bytes)
		b = binary.AppendUvarint(b, s.Lines)
	}
	return b
}

// decodePart reads what encodePart writes. Whether the numbers fit together is for aggregate.Sum to see.
func decodePart(data []byte) (Part, error) {
	if len(data) == 0 {
		return Part{}, nil
	}
	d := decoder{rest: data}
	var c aggregate.Counts
	d.bytes(c.Policy[:])
	c.Epoch = d.text()
	for _, v := range aggregate.Reasons() {
		c.Refused[v] = d.number(aggregate.MaxCount)
		c.Lines += c.Refused[v]
	}
	c.Reports = make([]uint64, d.number(policy.MaxOutputs))
	j := -1
	for n := d.number(uint64(len(c.Reports))); n > 0 && d.err == nil; n-- {
		if j += 1 + int(d.number(policy.MaxOutputs)); j >= len(c.Reports) {
			d.fail("an output too many")
			break
		}
		c.Reports[j] = d.number(aggregate.MaxCount)
		c.Lines += c.Reports[j]
	}
	for n := d.number(aggregate.MaxShards); n > 0 && d.err == nil; n-- {
		s := aggregate.Shard{ID: d.text()}
		d.bytes(s.SHA256[:])
		s.Bytes, s.Lines = d.number(aggregate.MaxCount), d.number(aggregate.MaxCount)
		c.Shards = append(c.Shards, s)
	}
	if len(d.rest) > 0 {
		d.fail("bytes after the end")
	}
	if d.err != nil {
		return Part{}, d.err
	}
	return Part{counts: c}, nil
}

// decoder reads values one after the other. The first fault is kept; after it all values are zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(problem string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errPart, problem)
	}
}

func (d *decoder) number(most uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	if d.err == nil && (n <= 0 || v > most) {
		d.fail("not a number within its limit")
	}
	if d.err != nil {
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bytes(dst []byte) {
	if d.err == nil && len(d.rest) < len(dst) {
		d.fail("it ends within a hash")
	}
	if d.err == nil {
		copy(dst, d.rest)
		d.rest = d.rest[len(dst):]
	}
}

func (d *decoder) text() string {
	n := d.number(1 << 10)
	if d.err == nil && uint64(len(d.rest)) < n {
		d.fail("it ends within a text")
	}
	if d.err != nil {
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}
