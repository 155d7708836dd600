package discs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// bitsOf is the B of the policies here: all words of a draw can be tried.
const bitsOf = 10

// world returns a policy with random outputs, of which many are at one place, and thresholds of which some are wrong.
func world(t *testing.T, r *rand.Rand) policy.Policy {
	t.Helper()
	kv := 1 + r.IntN(100)
	g := &policy.Geometry{Kind: policy.Points, Axes: 1 + r.IntN(3)}
	side := int32(1) << (1 + r.IntN(6))
	vectors := func(n int) (v []int32) {
		for range n * g.Axes {
			v = append(v, r.Int32N(side))
		}
		return v
	}
	switch r.IntN(4) {
	case 0:
		rows := 1 + r.IntN(9)
		kv = rows * (1 + r.IntN(9))
		g = &policy.Geometry{Kind: policy.Grid, Rows: rows, Cols: kv / rows}
	case 1: // the corners of boxes are farther from each other than places may be
		side = math.MaxInt32
		g.Axes = 1
		fallthrough
	case 2:
		g.InputPoints = vectors(1 + r.IntN(30))
		fallthrough
	default:
		g.OutputPoints = vectors(kv)
	}
	k := kv
	if g.InputPoints != nil {
		k = len(g.InputPoints) / g.Axes
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	m := make([]float64, kv)
	for j := range m {
		m[j] = (1 + r.Float64()) / (1.5 * float64(kv))
	}
	box, err := ldp.NewPolytope(eps, m, bitsOf)
	if err != nil {
		t.Fatal(err)
	}
	thresholds := make([]int32, k)
	for i := range thresholds {
		thresholds[i] = r.Int32N(int32(kv))
	}
	c := policy.Config{Polytope: box, Geometry: g, Thresholds: thresholds,
		Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated}}
	for i := range thresholds { // most are made right
		for t0 := range kv {
			if r.IntN(20) == 0 {
				break
			}
			thresholds[i] = int32(t0)
			p, err := policy.New(c)
			if err != nil {
				t.Fatal(err)
			}
			if policy.VerifyRows(t.Context(), p, i, i+1) == nil {
				break
			}
		}
	}
	p, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRows: discs are the rows of the policy, a wrong threshold is called so, and a draw has the law of the row to the
// last word.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 3))
	wrong, right, opened := 0, 0, 0
	for range 60 {
		p := world(t, r)
		rows := Of(p)
		opened += len(rows.nodes) - 1
		for i := range p.Inputs() {
			w, err := p.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			kv := p.Outputs()
			want, got, drawn := make([]uint64, kv), make([]uint64, kv), make([]uint64, kv)
			for j := range want {
				want[j], got[j] = w.At(j), p.Polytope().Lo(j)
			}
			spans, threshold, rest, ok := rows.Disc(i, []int32{7})
			if bad := policy.VerifyRows(t.Context(), p, i, i+1) != nil; bad && ok {
				t.Errorf("input %d: the wrong threshold %d is right", i, threshold)
			} else if !ok {
				if wrong++; !slices.Equal(want, all(p.Fallback())) {
					t.Errorf("input %d: no disc, but the row %v", i, want)
				}
				continue
			}
			right++
			for s := 1; s < len(spans); s += 2 {
				for _, j := range rows.cols[spans[s]:spans[s+1]] {
					got[j] = p.Polytope().Hi(int(j))
				}
			}
			got[threshold] += rest
			for x := range uint64(1) << bitsOf {
				j, ok := rows.Draw(i, x<<(64-bitsOf)|r.Uint64()>>bitsOf)
				if !ok {
					t.Fatalf("input %d: no draw", i)
				}
				drawn[j]++
			}
			if !slices.Equal(got, want) || !slices.Equal(drawn, want) {
				t.Errorf("%+v, input %d:\n%v, drawn\n%v, want\n%v", p.Geometry(), i, got, drawn, want)
			}
		}
	}
	if wrong < 20 || right < 200 || opened < 100 { // what the test is about
		t.Errorf("%d wrong thresholds, %d right ones, %d nodes below the first", wrong, right, opened)
	}
}

func all(w ldp.Weights) (list []uint64) {
	for j := range w.Len() {
		list = append(list, w.At(j))
	}
	return list
}

// TestOf: a ring and rows that are stated have no discs.
func TestOf(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.3, 0.3, 0.4}, bitsOf)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{Polytope: box, Geometry: &policy.Geometry{Kind: policy.Ring},
		Thresholds: []int32{0, 1, 2},
		Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated}})
	if err != nil {
		t.Fatal(err)
	}
	if Of(p) != nil || Of(policy.Policy{}) != nil {
		t.Error("discs of a ring, or of no policy")
	}
}
