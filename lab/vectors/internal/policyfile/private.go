package policyfile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var numeral = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

// Read returns the counts by input that private data say, or nil if they are unusable.
func (f File) Read(data []byte) []float64 {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var ok bool
		if data, ok = unzip(data); !ok {
			return nil
		}
	}
	counts := make([]float64, f.Inputs)
	users, first := false, ""
	for n, line := range strings.Split(string(data), "\n") {
		if len(line) > 4096 {
			return nil
		}
		line = strings.TrimSuffix(line, "\r")
		if n == 0 {
			line = strings.TrimPrefix(line, "\xef\xbb\xbf")
			if users = line == "user,label,count"; users || line == "label,count" {
				continue
			}
		}
		if line == "" {
			continue
		}
		fields := cutLine(line, users)
		if fields == nil {
			return nil
		}
		if users {
			user := fields[0]
			if first == "" {
				first = user
			}
			if user != first || len(user) > 256 || !utf8.ValidString(user) || control(user) {
				return nil
			}
			fields = fields[1:]
		}
		i, known := f.input(fields[0])
		if !known || len(fields[1]) > 64 || !numeral.MatchString(fields[1]) {
			return nil
		}
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || v > 1<<53 {
			return nil
		}
		counts[i] += v
	}
	if slices.Max(counts) == 0 {
		return nil
	}
	return counts
}

func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || 0x7f <= r && r < 0xa0 })
}

// cutLine returns the fields of a line, the last of which is the count; nil if there are too few.
func cutLine(line string, users bool) (fields []string) {
	want := 1
	if users {
		want = 2
	}
	for range want {
		field, rest, ok := cutField(line)
		if !ok {
			return nil
		}
		fields, line = append(fields, field), rest
	}
	return append(fields, line)
}

// cutField takes the first field of a line off, and the comma behind it.
func cutField(line string) (field, rest string, ok bool) {
	if !strings.HasPrefix(line, `"`) {
		field, rest, ok = strings.Cut(line, ",")
		return field, rest, ok && field != "" && rest != ""
	}
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] != '"':
			field += line[i : i+1]
		case strings.HasPrefix(line[i+1:], `"`):
			field += `"`
			i++
		default:
			rest, ok = strings.CutPrefix(line[i+1:], ",")
			return field, rest, ok && field != "" && rest != ""
		}
	}
	return "", "", false
}

// A member is a member of gzip without compression: the same bytes whatever the library. What is added to a checksum or
// to the size spoils it.
type member struct {
	extra, name, comment string // in the header, if not empty
	header               bool   // with a checksum of the header
	badHeader            uint16
	badData, badSize     uint32
	body                 []byte // compressed, in place of the stored data
}

func (m member) of(data []byte) []byte {
	b := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	if m.header {
		b[3] |= 2
	}
	if m.extra != "" {
		b[3] |= 4
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(m.extra))), m.extra...)
	}
	if m.name != "" {
		b[3] |= 8
		b = append(append(b, m.name...), 0)
	}
	if m.comment != "" {
		b[3] |= 16
		b = append(append(b, m.comment...), 0)
	}
	if m.header {
		b = binary.LittleEndian.AppendUint16(b, uint16(crc32.ChecksumIEEE(b))^m.badHeader)
	}
	if m.body != nil {
		b = append(b, m.body...)
	} else {
		b = append(b, 1)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
		b = binary.LittleEndian.AppendUint16(b, ^uint16(len(data)))
		b = append(b, data...)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(data)^m.badData)
	return binary.LittleEndian.AppendUint32(b, uint32(len(data))^m.badSize)
}

// zip returns data as gzip.
func zip(data []byte) []byte { return member{}.of(data) }

// unzip reads members in a row. Only the decompression is the library's.
func unzip(b []byte) (text []byte, ok bool) {
	for len(b) > 0 {
		start := b
		take := func(n int) (part []byte) {
			if len(b) < n {
				b, n = nil, 0
				ok = false
				return make([]byte, 8)
			}
			part, b = b[:n], b[n:]
			return part
		}
		ok = true
		head := take(10)
		if !ok || !bytes.Equal(head[:3], []byte{0x1f, 0x8b, 8}) || head[3] >= 32 {
			return nil, false
		}
		if head[3]&4 != 0 {
			take(int(binary.LittleEndian.Uint16(take(2))))
		}
		for _, flag := range []byte{8, 16} {
			if head[3]&flag != 0 {
				_, after, found := bytes.Cut(b, []byte{0})
				b, ok = after, ok && found
			}
		}
		if head[3]&2 != 0 {
			sum := crc32.ChecksumIEEE(start[:len(start)-len(b)])
			ok = binary.LittleEndian.Uint16(take(2)) == uint16(sum) && ok
		}
		if !ok {
			return nil, false
		}
		in := bytes.NewReader(b)
		data, err := io.ReadAll(flate.NewReader(in))
		b = b[len(b)-in.Len():]
		sum, size := binary.LittleEndian.Uint32(take(4)), binary.LittleEndian.Uint32(take(4))
		if !ok || err != nil || sum != crc32.ChecksumIEEE(data) || size != uint32(len(data)) {
			return nil, false
		}
		text = append(text, data...)
	}
	return text, true
}
