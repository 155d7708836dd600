package private

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/wpm-go/wpm/internal/numtest"
)

func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestText: plain or packed, in one member or two, the text comes as it is; what is damaged or too long ends in
// an Error.
func TestText(t *testing.T) {
	text := bytes.Repeat([]byte("home,12\n"), 2000)
	z := zipped(t, text)
	flipped := bytes.Clone(z)
	flipped[len(flipped)-5] ^= 1 // of the checksum
	type privateText struct {
		name       string
		data, want []byte
		ok         bool
	}
	cases := []privateText{
		{"nothing", nil, nil, true},
		{"plain", text, text, true},
		{"packed", z, text, true},
		{"two members", append(bytes.Clone(z), z...), append(bytes.Clone(text), text...), true},
		{"the magic bytes alone", z[:2], nil, false},
		{"cut off", z[:len(z)-1], text, false},
		{"a wrong checksum", flipped, text, false},
		{"something after", append(bytes.Clone(z), 'x'), text, false},
	}
	most := make([]byte, MaxBytes+1)
	cases = append(cases, privateText{"as long as may be", most[:MaxBytes], most[:MaxBytes], true},
		privateText{"too long", most, nil, false})
	if numtest.Full() {
		cases = append(cases, privateText{"packed, as long as may be", zipped(t, most[:MaxBytes]), most[:MaxBytes], true},
			privateText{"packed, too long", zipped(t, most), most[:MaxBytes], false})
	}
	for _, c := range cases {
		room := bytes.NewBuffer(make([]byte, 0, len(c.data)+len(c.want)+bytes.MinRead))
		_, err := room.ReadFrom(Text(c.data))
		got := room.Bytes()
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrUnusable) || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes and %v, want %d bytes and success %v", c.name, len(got), err, len(c.want), c.ok)
		}
	}
	if err := iotest.TestReader(Text(z), text); err != nil {
		t.Error(err)
	}
}

// TestLimit: a text that goes on behind its limit ends there, with an error; one that ends there has none.
func TestLimit(t *testing.T) {
	for size, fine := range map[int]bool{9: true, 10: true, 11: false, 30: false} {
		for _, step := range []int{1, 4, 64} {
			u := &unpacked{in: iotest.OneByteReader(bytes.NewReader(make([]byte, size))), left: 10}
			if step == 64 {
				u.in = bytes.NewReader(make([]byte, size))
			}
			got, chunk := 0, make([]byte, step)
			var err error
			for err == nil {
				var n int
				n, err = u.Read(chunk)
				got += n
			}
			if got != min(size, 10) || (err == io.EOF) != fine || !fine && !errors.Is(err, ErrUnusable) {
				t.Errorf("%d bytes, %d at a time: %d, %v", size, step, got, err)
			}
		}
	}
}
