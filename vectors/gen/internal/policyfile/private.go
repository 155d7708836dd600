package policyfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
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

// zip returns data as gzip without compression: the same bytes whatever the library.
func zip(data []byte) []byte {
	b := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
	b = binary.LittleEndian.AppendUint16(b, ^uint16(len(data)))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(b, uint32(len(data)))
}

// unzip reads what zip writes, several in a row.
func unzip(b []byte) (text []byte, ok bool) {
	for len(b) > 0 {
		if len(b) < 23 || !bytes.Equal(b[:11], []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1}) {
			return nil, false
		}
		n := int(binary.LittleEndian.Uint16(b[11:]))
		if len(b) < 23+n || !bytes.Equal(b[:23+n], zip(b[15:15+n])) {
			return nil, false
		}
		text, b = append(text, b[15:15+n]...), b[23+n:]
	}
	return text, true
}
