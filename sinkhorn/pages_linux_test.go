package sinkhorn

import (
	"testing"
	"unsafe"
)

// TestWholePages checks that advice is given for whole pages, for all of those within the slice, and for nothing else.
func TestWholePages(t *testing.T) {
	const page = largePage / 8 // in numbers
	all := make([]float64, 4*page)
	for _, from := range []int{0, 1, 512, page - 1, page, page + 1} {
		for _, n := range []int{0, 1, page - 1, page, page + 1, 2*page - 1, 2 * page, 3*page - 1} {
			if from+n > len(all) {
				continue
			}
			x := all[from : from+n]
			start := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
			end := start + 8*uintptr(n)
			b := wholePages(x)
			want := int(end/largePage) - int((start+largePage-1)/largePage)
			if len(b) != max(0, want)*largePage {
				t.Errorf("%d numbers from %d: %d bytes, want %d pages", n, from, len(b), want)
			}
			if len(b) == 0 {
				continue
			}
			first := uintptr(unsafe.Pointer(&b[0]))
			if first%largePage != 0 || first < start || first+uintptr(len(b)) > end {
				t.Errorf("%d numbers from %d: pages %x + %x of %x to %x", n, from, first, len(b), start, end)
			}
		}
	}
}

// TestLargePages checks that advice leaves the numbers alone, those around them, too.
func TestLargePages(t *testing.T) {
	all := make([]float64, 1<<20)
	for i := range all {
		all[i] = float64(i)
	}
	largePages(all[3 : len(all)-3])
	largePages(nil)
	for i, x := range all {
		if x != float64(i) {
			t.Fatalf("number %d is %v", i, x)
		}
	}
}
