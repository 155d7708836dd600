package city

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/wpm-go/wpm/internal/numtest"
)

func TestGenerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, users := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 20).Draw(t, "users")
		rows, cols := rapid.IntRange(1, 30).Draw(t, "rows"), rapid.IntRange(1, 30).Draw(t, "cols")
		p, err := Generate(seed, users, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(p.Users) != users || p.Rows != rows || p.Cols != cols {
			t.Fatalf("Generate(%d, %d, %d, %d) has %d users on %dx%d", seed, users, rows, cols, len(p.Users), p.Rows, p.Cols)
		}
		sum := 0
		for _, u := range p.Users {
			if u.Total() < minCheckins || u.Total() > minCheckins+maxExtra {
				t.Fatalf("user %d has %d check-ins", u.ID, u.Total())
			}
			sum += u.Total()
		}
		if p.Checkins() != sum {
			t.Fatalf("Checkins = %d, want %d", p.Checkins(), sum)
		}
		again, err := Generate(seed, users, rows, cols)
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("the same seed gives another city (err %v)", err)
		}
		total := 0.0
		for _, v := range p.Truth() {
			total += v
		}
		// 900 cells and 20 users: fewer than 1000 roundings of 2^-53 relative each.
		const tol = 1000 * 0x1p-53
		if !(math.Abs(total-1) <= tol) {
			t.Fatalf("Truth sums to %v", total)
		}
	})
}

// The city has the shape the package comment promises: uneven map, few cells per user, heavy tail; and other seeds give
// other cities.
func TestGenerateShape(t *testing.T) {
	p, err := Generate(1, 500, 20, 20)
	if err != nil {
		t.Fatal(err)
	}
	truth := p.Truth()
	sorted := slices.Clone(truth)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	top := 0.0
	for _, v := range sorted[:20] {
		top += v
	}
	if top < 0.4 || top > 0.95 {
		t.Errorf("the 20 busiest of 400 cells hold %.2f of the mass, want an uneven map (0.4 to 0.95)", top)
	}
	var cells, totals []int
	for _, u := range p.Users {
		cells = append(cells, len(u.Cells))
		totals = append(totals, u.Total())
	}
	slices.Sort(cells)
	slices.Sort(totals)
	if m := cells[len(cells)/2]; m < 3 || m > 12 {
		t.Errorf("median of %d cells per user, want 3 to 12", m)
	}
	if med, high := totals[250], totals[495]; high < 8*med {
		t.Errorf("99th percentile of check-ins %d, median %d: not heavy-tailed", high, med)
	}
	other, err := Generate(2, 500, 20, 20)
	if err != nil || reflect.DeepEqual(p, other) {
		t.Errorf("seed 2 gives the city of seed 1 (err %v)", err)
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, tt := range []struct {
		users, rows, cols int
		says              string
	}{{0, 1, 1, "0 users"}, {-1, 1, 1, "-1 users"}, {MaxUsers + 1, 1, 1, "users"}, {1, 0, 1, "0 rows"},
		{1, 1, 0, "0 columns"}, {1, MaxSide + 1, 1, "rows"}, {1, 1, math.MaxInt, "columns"}} {
		if _, err := Generate(1, tt.users, tt.rows, tt.cols); !errors.Is(err, ErrSize) ||
			!strings.Contains(err.Error(), tt.says) {
			t.Errorf("Generate(%d users, %d, %d) = %v, want ErrSize saying %q", tt.users, tt.rows, tt.cols, err, tt.says)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() Population {
		return Population{Rows: 2, Cols: 2, Users: []User{{ID: 7, Cells: []int{0, 3}, Counts: []int{1, 2}}}}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		edit func(*Population)
		want error
	}{
		{"no users", func(p *Population) { p.Users = nil }, ErrSize},
		{"no rows", func(p *Population) { p.Rows = 0 }, ErrSize},
		{"no visits", func(p *Population) { p.Users[0].Cells, p.Users[0].Counts = nil, nil }, ErrUser},
		{"lengths", func(p *Population) { p.Users[0].Counts = []int{1} }, ErrUser},
		{"cell beyond", func(p *Population) { p.Users[0].Cells[1] = 4 }, ErrUser},
		{"negative cell", func(p *Population) { p.Users[0].Cells[0] = -1 }, ErrUser},
		{"cell twice", func(p *Population) { p.Users[0].Cells[1] = 0 }, ErrUser},
		{"zero count", func(p *Population) { p.Users[0].Counts[0] = 0 }, ErrUser},
		{"overflow", func(p *Population) { p.Users[0].Counts = []int{math.MaxInt, 1} }, ErrUser},
		{"sum", func(p *Population) { p.Users[0].Counts = []int{MaxCount, 1} }, ErrUser},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := good()
			tt.edit(&p)
			if err := p.Validate(); !errors.Is(err, tt.want) {
				t.Errorf("%s: Validate = %v, want %v", tt.name, err, tt.want)
			}
		})
	}
}

func TestDistribution(t *testing.T) {
	u := User{Cells: []int{1, 4}, Counts: []int{1, 3}}
	support, weight := u.Distribution()
	if !reflect.DeepEqual(support, []int{1, 4}) || !reflect.DeepEqual(weight, []float64{0.25, 0.75}) {
		t.Errorf("Distribution = %v, %v", support, weight)
	}
	support[0] = 9
	if u.Cells[0] != 1 {
		t.Error("Distribution shares memory with the user")
	}
	p := Population{Rows: 1, Cols: 5, Users: []User{u, {Cells: []int{4}, Counts: []int{100}}}}
	if got, want := p.Truth(), []float64{0, 0.125, 0, 0, 0.875}; !reflect.DeepEqual(got, want) {
		t.Errorf("Truth = %v, want %v: users count alike", got, want)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		if _, err := Generate(1, 500, 20, 20); err != nil {
			b.Fatal(err)
		}
	}
}

// below maps every group of 2^32 draws evenly: the accepted words are a whole number of rounds through 0..n-1.
func TestBelow(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1 << 30} {
		word := func(v uint64) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
		limit := uint64(1<<32) / uint64(n) * uint64(n)
		for _, v := range []uint64{0, 1, uint64(n) - 1, uint64(n), limit - 1} {
			if got, err := below(n, bytes.NewReader(word(v))); err != nil || got != int(v%uint64(n)) {
				t.Errorf("below(%d) of the word %d = %d, %v", n, v, got, err)
			}
		}
		if limit < 1<<32 { // the first word is rejected, the second taken
			if got, err := below(n, bytes.NewReader(append(word(limit), word(1)...))); err != nil || got != 1%n {
				t.Errorf("below(%d) after a rejection = %d, %v", n, got, err)
			}
		}
	}
	if _, err := below(3, bytes.NewReader([]byte{1, 2})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("below on a short stream: %v", err)
	}
}
