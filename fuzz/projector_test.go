package fuzz

import (
	"context"
	"math/big"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/units"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// FuzzProjector: a stream of distributions, whatever came before, gives what a new Projector gives for each, bit for
// bit, and the same optimum or the same typed error as Project.
func FuzzProjector(f *testing.F) {
	f.Add([]byte{2, 2, 0, 0, 8, 16, 24, 8, 0, 8, 8, 16, 0, 0, 128, 0, 8, 8, 8, 0, 8, 8, 8, 3, 0, 8, 8, 8, 1, 0, 8, 16, 0,
		0, 8, 8, 8})
	f.Add([]byte{5, 5, 1, 0, 13, 21, 29, 37, 45, 5, 13, 21, 29, 37, 45, 2, 2, 0, 8})
	f.Add([]byte{1, 69, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(4), in.size(80) // wide enough for the start that few rows have
		style := in.byte()
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		lo, hi := in.box(kv)
		settings := mincostflow.Settings{AllRows: style%2 == 1}
		keptLo, keptHi := clone(lo), clone(hi)
		p, err := mincostflow.NewProjector(context.Background(), c, lo, hi, settings)
		sameBits(t, "lo", lo, keptLo)
		sameBits(t, "hi", hi, keptHi)
		if err != nil {
			typed(t, err, flowSentinels...)
		}
		var r mincostflow.Result
		for users := in.size(4); users > 0; users-- {
			mu := in.mass(k, 1)
			kept := clone(mu)
			want, wantErr := mincostflow.Project(context.Background(), projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi},
				settings)
			if p == nil {
				if wantErr == nil {
					t.Fatalf("NewProjector: %v, but Project finds nothing wrong", err)
				}
				return
			}
			err := p.Project(context.Background(), mu, nil, &r)
			sameBits(t, "mu", mu, kept)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("Projector says %v, Project %v", err, wantErr)
			}
			if err != nil {
				typed(t, err, flowSentinels...)
				if len(r.Q) != 0 || len(r.Plan) != 0 || len(r.Potentials.F) != 0 {
					t.Fatalf("a result beside %v: %+v", err, r)
				}
				continue
			}
			if want.Lower > r.Upper || r.Lower > want.Upper {
				t.Fatalf("[%v, %v], Project: [%v, %v]", r.Lower, r.Upper, want.Lower, want.Upper)
			}
			fresh, err := mincostflow.NewProjector(context.Background(), c, lo, hi, settings)
			if err != nil {
				t.Fatal(err)
			}
			want = mincostflow.Result{}
			if err := fresh.Project(context.Background(), mu, nil, &want); err != nil {
				t.Fatal(err)
			}
			sameBits(t, "q", r.Q, want.Q)
			sameBits(t, "f", r.Potentials.F, want.Potentials.F)
			sameBits(t, "g", r.Potentials.G, want.Potentials.G)
			sameBits(t, "bounds", []float64{r.Objective, r.Upper, r.Lower}, []float64{want.Objective, want.Upper, want.Lower})
			if len(r.Plan) != len(want.Plan) || r.Stats != want.Stats || r.Status != want.Status {
				t.Fatalf("%+v, want %+v", r, want)
			}
			for n, e := range r.Plan {
				if e != want.Plan[n] {
					t.Fatalf("Plan[%d] = %v, want %v", n, e, want.Plan[n])
				}
			}
		}
	})
}

// units returns n counts, most of them >= 0 and of sum at most 2^62.
func (f *feed) units(n int) []int64 {
	x := make([]int64, n)
	style := f.byte()
	for i := range x {
		switch v := f.byte(); style % 4 {
		case 0, 1:
			x[i] = int64(v % 16)
		case 2:
			x[i] = int64(v) << 51 // 128 of them at most: below 2^62 up to 16 entries or so
		default:
			x[i] = int64(f.uint64())
		}
	}
	return x
}

// FuzzProjectUnits: the certificate closes on every instance, to the exact optimum where that is found by other means.
func FuzzProjectUnits(f *testing.F) {
	f.Add([]byte{2, 2, 0, 0, 8, 16, 24, 8, 0, 8, 8, 16, 0, 0, 4, 4, 4, 0, 1, 1, 1, 0, 3, 3, 3})
	f.Add([]byte{1, 2, 0, 0, 5, 13, 21, 29, 37, 45, 2, 255, 255, 2, 1, 2, 3, 2, 200, 100, 250})
	f.Add([]byte{1, 70, 1, 0, 13, 21, 29, 37, 45, 5, 13, 21, 29, 37, 45})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(4), in.size(80)
		style := in.byte()
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		p := units.Problem{Cost: c, Source: in.units(k), Lo: in.units(kv), Hi: in.units(kv)}
		if style%4 < 3 { // a box, and room for all
			for j, l := range p.Lo {
				if h := p.Hi[j] + l; h >= l {
					p.Hi[j] = h
				}
			}
		}
		settings := units.Settings{AllRows: style%8 >= 4}
		kept := units.Problem{Source: append([]int64{}, p.Source...), Lo: append([]int64{}, p.Lo...),
			Hi: append([]int64{}, p.Hi...)}
		r, err := units.Project(context.Background(), p, settings)
		if !reflect.DeepEqual(kept.Source, p.Source) || !reflect.DeepEqual(kept.Lo, p.Lo) ||
			!reflect.DeepEqual(kept.Hi, p.Hi) {
			t.Fatal("an input has changed")
		}
		if err != nil {
			typed(t, err, append([]error{wpmerr.ErrOverflow}, flowSentinels...)...)
			if _, _, verr := units.Verify(context.Background(), p, r); verr == nil {
				t.Fatalf("Project: %v, but Verify finds nothing wrong", err)
			}
			return
		}
		upper, lower, err := units.Verify(context.Background(), p, r)
		if err != nil {
			t.Fatalf("Verify refuses the answer: %v\n%+v", err, p)
		}
		if upper.Cmp(lower) != 0 {
			t.Fatalf("[%v, %v] does not close on %+v", lower, upper, p)
		}
		finite(t, "objective", r.Objective)
		if k*kv <= 6 {
			if want := enumerate(rows, p); want != nil && want.Cmp(upper) != 0 {
				t.Fatalf("%v, enumeration says %v on %+v", upper, want, p)
			}
		}
	})
}

// enumerate tries all plans of a few units and returns the least cost over the units, or nil if there are more.
func enumerate(rows [][]float64, p units.Problem) *big.Rat {
	total := int64(0)
	for _, u := range p.Source {
		if total += u; u > 8 || total > 8 {
			return nil
		}
	}
	var best *big.Rat
	q := make([]int64, len(p.Lo))
	var place func(i, j int, left int64, carried *big.Rat)
	place = func(i, j int, left int64, carried *big.Rat) {
		if left > 0 {
			for ; j < len(q); j++ { // columns in ascending order, one unit at a time
				q[j]++
				place(i, j, left-1, new(big.Rat).Add(carried, num.Rat(rows[i][j])))
				q[j]--
			}
			return
		}
		if i++; i < len(rows) {
			place(i, 0, p.Source[i], carried)
			return
		}
		for j := range q {
			if q[j] < p.Lo[j] || q[j] > p.Hi[j] {
				return
			}
		}
		if best == nil || carried.Cmp(best) < 0 {
			best = carried
		}
	}
	place(-1, 0, 0, new(big.Rat))
	if best != nil {
		best.Quo(best, big.NewRat(total, 1))
	}
	return best
}
