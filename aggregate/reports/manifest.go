package reports

import (
	"cmp"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost/costio"
)

// Manifest says which shards there are. Whoever writes them makes it. It is sorted by ID, and its Bytes are 0.
type Manifest []aggregate.Shard

var manifestHeader = []string{"shard", "lines", "sha256"}

// ReadManifest reads CSV with a line shard,lines,sha256 for each shard, gzipped or not: the ID, the number of lines
// that are not blank or of binary reports, and the SHA-256 of its bytes as they are stored, in hexadecimal. A header of
// these three words may come first. name stands for the file in errors, which are ErrManifest.
func ReadManifest(r io.Reader, name string) (Manifest, error) {
	bad := func(line int, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %w: %s", name, line, ErrManifest, fmt.Sprintf(format, args...))
	}
	in, err := costio.Unzip(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if head, _ := in.Peek(len(bom)); string(head) == bom {
		_, _ = in.Discard(len(bom))
	}
	limited := &io.LimitedReader{R: in, N: aggregate.MaxCountsBytes + 1}
	rows := csv.NewReader(limited)
	rows.FieldsPerRecord, rows.ReuseRecord = len(manifestHeader), true
	var m Manifest
	for first := true; ; first = false {
		row, err := rows.Read()
		switch parse := (*csv.ParseError)(nil); {
		case limited.N <= 0:
			return nil, bad(len(m)+1, "more than %d bytes", aggregate.MaxCountsBytes)
		case err == io.EOF && len(m) == 0:
			return nil, bad(1, "no shards")
		case err == io.EOF:
			return m.sorted(name)
		case errors.As(err, &parse):
			return nil, bad(parse.Line, "%v, want the fields shard,lines,sha256", parse.Err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case first && slices.Equal(row, manifestHeader):
			continue
		}
		line, _ := rows.FieldPos(0)
		s := aggregate.Shard{ID: strings.Clone(row[0])}
		if s.Lines, err = strconv.ParseUint(row[1], 10, 64); err != nil || s.Lines > aggregate.MaxCount {
			return nil, bad(line, "%.40q lines, want a number from 0 to 2^53", row[1])
		}
		if len(row[2]) != 2*len(s.SHA256) {
			return nil, bad(line, "%.70q is not a SHA-256 in hexadecimal", row[2])
		}
		if _, err := hex.Decode(s.SHA256[:], []byte(row[2])); err != nil {
			return nil, bad(line, "%.70q is not a SHA-256 in hexadecimal", row[2])
		}
		if m = append(m, s); len(m) > aggregate.MaxShards {
			return nil, bad(line, "more than %d shards", aggregate.MaxShards)
		}
	}
}

func (m Manifest) sorted(name string) (Manifest, error) {
	slices.SortStableFunc(m, func(a, b aggregate.Shard) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(m); i++ {
		if m[i].ID == m[i-1].ID {
			return nil, fmt.Errorf("%s: %w: shard %.256q is there twice", name, ErrManifest, m[i].ID)
		}
	}
	return m, nil
}

// Check compares the manifest with the shards that were read, by ID. Shards that are absent, not in the manifest, of
// another number of lines, or of other bytes are ErrManifest, which names the first of each kind.
func (m Manifest) Check(shards []aggregate.Shard) error {
	read := make(map[string]aggregate.Shard, len(shards))
	for _, s := range shards {
		read[s.ID] = s
	}
	var absent, lines, contents, extra []string
	for _, want := range m {
		got, ok := read[want.ID]
		delete(read, want.ID)
		switch {
		case !ok:
			absent = append(absent, fmt.Sprintf("%q", want.ID))
		case got.Lines != want.Lines:
			lines = append(lines, fmt.Sprintf("%q with %d of %d", want.ID, got.Lines, want.Lines))
		case got.SHA256 != want.SHA256:
			contents = append(contents, fmt.Sprintf("%q", want.ID))
		}
	}
	for id := range read {
		extra = append(extra, fmt.Sprintf("%q", id))
	}
	slices.Sort(extra)
	var faults []string
	for _, kind := range []struct {
		what string
		list []string
	}{
		{"absent", absent}, {"another number of lines", lines}, {"other contents", contents}, {"not in the manifest", extra},
	} {
		if len(kind.list) > 0 {
			faults = append(faults, fmt.Sprintf("%s: %s", kind.what, some(kind.list)))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrManifest, strings.Join(faults, "; "))
}

// some names the first of a list.
func some(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
