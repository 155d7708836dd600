package patch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/wpmerr"
)

func channelOf(t testing.TB, rows [][]float64) *estimate.Channel {
	t.Helper()
	ch, err := estimate.NewChannel(len(rows), len(rows[0]), func(i int, dst []float64) { copy(dst, rows[i]) })
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func find(t testing.TB, rows [][]float64, prior []float64, devices int64) Patches {
	t.Helper()
	p, err := Find(context.Background(), channelOf(t, rows), prior, devices)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFind(t *testing.T) {
	a, b, c := []float64{4, 1, 1, 1}, []float64{1, 4, 1, 1}, []float64{1, 1, 4, 1}
	near := []float64{4, 1 + 1e-4, 1, 1} // apart at 10^12, not at 10^6
	for name, x := range map[string]struct {
		rows    [][]float64
		prior   []float64
		devices int64
		want    []int
	}{
		"all differ":   {[][]float64{a, b, c}, nil, Countless, []int{0, 1, 2}},
		"equal rows":   {[][]float64{a, b, a, c, b, a}, nil, Countless, []int{0, 1, 0, 2, 1, 0}},
		"one place":    {[][]float64{a}, nil, Countless, []int{0}},
		"all equal":    {[][]float64{a, a, a}, nil, Countless, []int{0, 0, 0}},
		"one device":   {[][]float64{a, b, c}, nil, 1, []int{0, 0, 0}},
		"nearly equal": {[][]float64{a, near, c}, nil, 1_000_000, []int{0, 0, 1}},
		"told apart":   {[][]float64{a, near, c}, nil, Countless, []int{0, 1, 2}},
		// Rows 1 and 2 are separable, and each is inseparable from row 0: 3/2 of 10^-3 is the least between two that are.
		"on both sides":      {[][]float64{{.5, .5}, {.501, .499}, {.4989, .5011}}, nil, 1_000_000, []int{0, 0, 1}},
		"no mass at the two": {[][]float64{a, b, c}, []float64{0, 0, 1}, Countless, []int{0, 0, 1}},
	} {
		got := find(t, x.rows, x.prior, x.devices)
		if !reflect.DeepEqual(got.Of, x.want) {
			t.Errorf("%s: patches %v, want %v", name, got.Of, x.want)
		}
	}
}

// TestLink: for random signals with ties, patches are those of the plain rule: join the two sets with the least largest
// signal until none is below 4. Where all signals differ the outcome is unique; with ties, what must hold is checked.
func TestLink(t *testing.T) {
	for n := range 400 {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		k := 1 + r.IntN(14)
		ties := n%2 == 1
		apart := make([]float64, k*k)
		for i := range k {
			for j := range i {
				v := 8 * r.Float64()
				if ties {
					v = float64(r.IntN(8))
				}
				apart[i*k+j], apart[j*k+i] = v, v
			}
		}
		got := linked(t, apart, k)
		far := func(a, b int) float64 {
			most := 0.0
			for i, x := range got.Of {
				for j, y := range got.Of {
					if x == a && y == b && i != j {
						most = max(most, apart[i*k+j])
					}
				}
			}
			return most
		}
		for a := range got.Size {
			if far(a, a) >= separable {
				t.Fatalf("case %d: patch %d has a separable pair", n, a)
			}
			for b := range a {
				if far(a, b) < separable {
					t.Fatalf("case %d: patches %d and %d could be one", n, a, b)
				}
			}
		}
		if want := plain(apart, k); !ties && !reflect.DeepEqual(got.Of, want) {
			t.Fatalf("case %d: patches %v, want %v", n, got.Of, want)
		}
	}
}

// linked are the patches by the pairs that are inseparable.
func linked(t *testing.T, apart []float64, k int) Patches {
	t.Helper()
	var pairs []pair
	of := make([]int32, k)
	for i := range k {
		of[i] = int32(i)
		for j := i + 1; j < k; j++ {
			if apart[i*k+j] < separable {
				pairs = append(pairs, pair{int32(i), int32(j), apart[i*k+j]})
			}
		}
	}
	root, err := newGraph(k, pairs).link(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return patches(of, root)
}

// plain is complete linkage as one would write it down.
func plain(apart []float64, k int) []int {
	of := make([]int, k)
	for i := range of {
		of[i] = i
	}
	for {
		least, x, y := float64(separable), -1, -1
		for a := range k {
			for b := range a {
				most, any := 0.0, false
				for i := range k {
					for j := range k {
						if of[i] == a && of[j] == b {
							most, any = max(most, apart[i*k+j]), true
						}
					}
				}
				if any && most < least {
					least, x, y = most, a, b
				}
			}
		}
		if x < 0 {
			break
		}
		for i := range of {
			if of[i] == x {
				of[i] = y
			}
		}
	}
	names := map[int]int{}
	for i, a := range of {
		if _, ok := names[a]; !ok {
			names[a] = len(names)
		}
		of[i] = names[a]
	}
	return of
}

func TestBest(t *testing.T) {
	p := Patches{Of: []int{0, 1, 0, 1, 2}, Size: []int{2, 2, 1}}
	got, err := p.Best([]float64{0.1, 0.2, 0.3, 0.3, 0.1}, []float64{3, 0, 1, 0, 1})
	want := []float64{0.3, 0.25, 0.1, 0.25, 0.1}
	for i, v := range want {
		if err != nil || math.Abs(got[i]-v) > 1e-15 {
			t.Fatalf("Best = %v, %v, want %v", got, err, want)
		}
	}
	if p.Shared() != 4 || p.Alone(0) || !p.Alone(4) {
		t.Errorf("%d shared, want 4", p.Shared())
	}
	if _, err := p.Best([]float64{1}, nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("a short map: %v", err)
	}
	if _, err := p.Best(want, []float64{0, 0, 0, 0, 0}); !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("a prior without mass: %v", err)
	}
	if s := (Patches{Of: []int{0}, Size: []int{1}}).String(); s != "" {
		t.Errorf("%q", s)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	ch := channelOf(t, [][]float64{{1, 2}, {2, 1}})
	for name, x := range map[string]struct {
		want error
		do   func() error
	}{
		"no channel": {wpmerr.ErrShape, func() error { _, err := Find(ctx, nil, nil, 1); return err }},
		"no device":  {wpmerr.ErrSettings, func() error { _, err := Find(ctx, ch, nil, 0); return err }},
		"too many":   {wpmerr.ErrSettings, func() error { _, err := Find(ctx, ch, nil, Countless+1); return err }},
		"a prior":    {wpmerr.ErrMass, func() error { _, err := Find(ctx, ch, []float64{0, 0}, 1); return err }},
		"a map": {wpmerr.ErrNotFinite, func() error {
			_, err := Patches{Of: []int{0}, Size: []int{1}}.Best([]float64{math.NaN()}, nil)
			return err
		}},
		"context over": {context.Canceled, func() error { c, f := context.WithCancel(ctx); f(); _, err := Find(c, ch, nil, 1); return err }},
	} {
		if err := x.do(); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
}

// TestSame: the same patches at any GOMAXPROCS.
func TestSame(t *testing.T) {
	rows, r := make([][]float64, 60), rand.New(rand.NewPCG(3, 3))
	for i := range rows {
		rows[i] = make([]float64, 40)
		for j := range rows[i] {
			rows[i][j] = 1 + 0.01*r.Float64()
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, devices := range []int64{1_000_000, 100_000_000} {
		runtime.GOMAXPROCS(1)
		a := find(t, rows, nil, devices)
		runtime.GOMAXPROCS(8)
		if b := find(t, rows, nil, devices); !reflect.DeepEqual(a, b) {
			t.Errorf("%d devices: patches depend on GOMAXPROCS", devices)
		}
	}
}

// Places 0 and 2 have the same row.
func ExampleFind() {
	rows := [][]float64{{3, 1, 1}, {1, 3, 1}, {3, 1, 1}}
	ch, err := estimate.NewChannel(3, 3, func(i int, dst []float64) { copy(dst, rows[i]) })
	if err != nil {
		panic(err)
	}
	p, err := Find(context.Background(), ch, nil, Countless)
	if err != nil {
		panic(err)
	}
	fmt.Println(p)
	fmt.Println(p.Of)
	// Output:
	// 2 of 3 places have the same report odds as another place, or nearly: a map draws such places as one, however many report
	// [0 1 0]
}
