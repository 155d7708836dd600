package policy

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
)

// hostileTexts are texts of policies, each of some MiB in the one place that says so, that ask for much more memory or work
// than they have bytes. The value is what the error is, nil if the text is a policy.
func hostileTexts(t *testing.T) map[string]struct {
	text string
	want error
} {
	t.Helper()
	base := string(mustEncode(t, mustNew(t, smallConfig(t))))
	with := func(member, value string) string {
		start := strings.Index(base, "\n\""+member+"\":") + len(member) + 4
		end := start + strings.Index(base[start:], "\n")
		return base[:start] + value + "," + base[end:]
	}
	list := func(entry string) string { return "[" + strings.Repeat(entry+",", 4<<20/len(entry)) + entry + "]" }
	return map[string]struct {
		text string
		want error
	}{
		"labels":     {with("input_labels", list(`"a"`)), ErrShape},
		"outputs":    {with("output_labels", list(`""`)), ErrShape},
		"aliases":    {with("output_labels", "null,\n\"input_aliases\":"+"["+strings.Repeat(`[0,"a"],`, MaxInputs)+`[0,"a"]]`), ErrLimit},
		"huge size":  {with("outputs", "1000000000000000"), ErrFormat},
		"size":       {with("outputs", "2147483647"), ErrShape},
		"lo":         {with("lo", list(`"1"`)), ErrShape},
		"bits":       {with("bits", "2147483647"), ldp.ErrBits},
		"epsilon":    {with("epsilon", `"`+strings.Repeat("3", 4<<20)+`"`), ldp.ErrEpsilon},
		"fraction":   {with("epsilon", `"`+strings.Repeat("3", 2<<20)+"/"+strings.Repeat("7", 2<<20)+`"`), ldp.ErrEpsilon},
		"fallback":   {with("fallback", `{"full":`+list("0")+`,"extra":[]}`), ErrRow},
		"string":     {with("certificate", `{"a":"`+strings.Repeat("x", 4<<20)+`"}`), nil},
		"ones":       {with("certificate", `{"a":`+list("1")+"}"), nil},
		"members":    {with("certificate", `{"":`+strings.Repeat(`1,"":`, 1<<20)+"1}"), nil},
		"deep":       {with("certificate", strings.Repeat(`{"a":`, 1<<19)+"1"+strings.Repeat("}", 1<<19)), ErrObject},
		"deep lists": {with("certificate", `{"a":`+strings.Repeat("[", 1<<20)+strings.Repeat("]", 1<<20)+"}"), ErrObject},
	}
}

// TestHostileTextsAllocateLittle: reading allocates a bounded number of bytes for each byte of a text, whatever is in it.
func TestHostileTextsAllocateLittle(t *testing.T) {
	const most = 24 // bytes for each byte; the labels of a policy as long as it may be take 20
	for name, tt := range hostileTexts(t) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode([]byte(tt.text))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if per := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(tt.text)); per > most {
			t.Errorf("%s: %.1f bytes allocated for each of %d, at most %d", name, per, len(tt.text), most)
		}
	}
}

// manyRows is a policy of version 1 with k rows of kv columns that raise nothing: each is lo, which sums to 2^B.
func manyRows(t *testing.T, k, kv, bits int) Policy {
	t.Helper()
	lo := slices.Repeat([]uint64{1 << bits / uint64(kv)}, kv)
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), lo, lo, bits)
	if err != nil {
		t.Fatal(err)
	}
	return mustNew(t, Config{Polytope: box, Rows: make([]Row, k), Provenance: clean})
}

// TestVerifyOfManyRows: where rows have too many columns to be written out, Verify takes their own length. The rows have
// 2^34 columns here.
func TestVerifyOfManyRows(t *testing.T) {
	if err := Verify(manyRows(t, 1<<17, 1<<17, 20)); err != nil {
		t.Error(err)
	}
}

// TestVerifySparse: it decides as ldp does on the row as written, for rows that New accepts and for others.
func TestVerifySparse(t *testing.T) {
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), []uint64{1, 2, 2, 1}, []uint64{2, 5, 2, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := &content{}
	c.Polytope, c.base = box, 6
	n, width := columns(box)
	lo := slices.Clone(n)
	right := 0
	huge := []uint64{0, 1, 2, 3, 1 << 62, 1<<64 - 1, 1<<64 - 2}
	for full := range 16 {
		for col := range int32(4) {
			for _, a := range huge {
				for _, b := range huge {
					r := Row{extra: []extra{{col, a}, {(col + 1) % 4, b}}}
					for j := range int32(4) {
						if full>>j&1 == 1 {
							r.full = append(r.full, j)
						}
					}
					_, want := r.weights(box)
					got := c.verifySparse(r, n, width)
					if fmt.Sprint(got == nil) != fmt.Sprint(want == nil) {
						t.Fatalf("%+v: %v, ldp says %v", r, got, want)
					}
					if got == nil {
						right++
					}
					if !slices.Equal(n, lo) {
						t.Fatalf("%+v: the lower bounds are %v after it", r, n)
					}
				}
			}
		}
	}
	if right < 5 {
		t.Errorf("%d rows are right", right)
	}
}

// TestVerifySparsePast64Bits: the weights of this row sum to 2^64 + 2^62, which is the total modulo 2^64.
func TestVerifySparsePast64Bits(t *testing.T) {
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "64"), slices.Repeat([]uint64{1}, 5), slices.Repeat([]uint64{1 << 62}, 5), 62)
	if err != nil {
		t.Fatal(err)
	}
	c := &content{}
	c.Polytope, c.base = box, 5
	n, width := columns(box)
	if err := c.verifySparse(Row{full: []int32{0, 1, 2, 3, 4}}, n, width); !errors.Is(err, ErrRow) {
		t.Errorf("%v, want ErrRow", err)
	}
}
