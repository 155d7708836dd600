package sinkhorn

import (
	"context"
	"github.com/wpm-go/wpm/projection"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/grid"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// TestShared: which distributions share a kernel: those on at least half of the rows and more than 64, where a start at
// Reg itself may be the way.
func TestShared(t *testing.T) {
	const rng = 3. // of the cost below, exactly
	up := func(x float64) float64 { return math.Nextafter(x, 9) }
	for _, tt := range []struct {
		k, rows int
		reg     float64
		method  Method
		want    bool
	}{
		{130, 130, 0.1, Fast, true}, {130, 65, 0.1, Fast, true}, {131, 65, 0.1, Fast, false}, {128, 64, 0.1, Fast, false},
		{130, 130, 0.1, Paper, false},
		{130, 130, rng / probeRange, Fast, true}, {130, 130, rng / probeRange * 0.999, Fast, false},
		{130, 130, rng, Fast, true},
		{127, 127, rng / annealStart, Fast, false}, {127, 127, rng / annealStart * 0.999, Fast, true},
		{128, 128, up(rng / annealStart), Fast, true},
	} {
		d := &cost.Dense{K: tt.k, Kv: 5, Data: make([]float64, tt.k*5)}
		for e := range d.Data {
			d.Data[e] = float64(e % 4)
		}
		p, err := NewProjector(context.Background(), d, make([]float64, 5), []float64{1, 1, 1, 1, 1}, tt.reg, Settings{Method: tt.method})
		if err != nil {
			t.Fatal(err)
		}
		in := p.box
		in.Rows, in.mass = make([]int, tt.rows), make([]float64, tt.rows)
		if got := p.start(context.Background(), &in) != nil; got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestChunkStarts: a matrix is cut by its size alone: into one part for every 2^18 cells, at most 64, of at least a
// row, and of 256 where there would be more than 16; parts of 16 rows or more begin at multiples of 8.
func TestChunkStarts(t *testing.T) {
	for _, tt := range []struct{ k, n, want int }{
		{1, 1, 1}, {512, 512, 1}, {513, 512, 2}, {1024, 512, 2}, {1, 1 << 20, 1}, {3, 1 << 20, 3}, {1000, 4000, 16},
		{4000, 4000, 16}, {8192, 8192, 32}, {4351, 100_000, 16},
		{4352, 100_000, 17}, {100_000, 100_000, 64}, {1 << 20, 1, 4},
	} {
		m := loops.Chunks(tt.k, tt.n)
		if m != tt.want {
			t.Errorf("%d x %d: %d parts, want %d", tt.k, tt.n, m, tt.want)
		}
		for c := range m {
			from, to := loops.ChunkRows(tt.k, m, c)
			even := tt.k * c / m
			if tt.k/m >= 16 && from%8 != 0 || from > even || from < even-7 || tt.k/m < 16 && from != even ||
				c == m-1 && to != tt.k {
				t.Errorf("%d x %d: part %d of %d is [%d, %d), and begins at %d or just before", tt.k, tt.n, c, m, from, to, even)
			}
		}
	}
}

// TestLowerInFloats: on a large grid potentials are proved axis by axis. They may be as large as rounding allows
// anywhere, a few may be equal to the least C - G, and none above it.
func TestLowerInFloats(t *testing.T) {
	const rows, cols, same = 100, 101, 1e-12
	p := gridProblem(t, rows, cols, 1, 1e-3)
	v := verifierOf(t, p, nil)
	g := newGenerator(38)
	q := projection.Potentials{F: make([]float64, v.K), G: make([]float64, v.Kv)}
	for j := range q.G {
		q.G[j] = 0.02 * (g.float() - 0.5)
	}
	least := make([]float64, v.K)
	copy(least, grid.RowPotentials(p.Cost.(*cost.Grid), q.G)) // next to the least C - G, and not above
	var value, size float64
	for i, x := range least {
		q.F[i] = x - 1e-13
		value += p.Source[i] * q.F[i]
		value += min(p.Lo[i]*q.G[i], p.Hi[i]*q.G[i])
		size = max(size, math.Abs(q.G[i]))
	}
	got, err := v.lower(q)
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := got.Float64(); !(math.Abs(x-max(0, value)) <= same) {
		t.Errorf("%v is proved, want %v", x, value)
	}
	exact := func(i int) float64 { // the largest float that will do
		row, f := p.Cost.Row(i, make([]float64, v.Kv)), math.Inf(1)
		for j, c := range row {
			f = min(f, c-q.G[j])
		}
		return math.Nextafter(f, -1)
	}
	for _, i := range []int{cols - 1, 57*cols + 31} {
		was := q.F[i]
		for _, tt := range []struct {
			f    float64
			want bool
		}{{exact(i), true}, {exact(i) + 1e-14, false}, {math.NaN(), false}} {
			q.F[i] = tt.f
			if _, err := v.lower(q); (err == nil) != tt.want {
				t.Errorf("F[%d] = %v, where the least C - G is %v: %v", i, tt.f, least[i], err)
			}
		}
		q.F[i] = was
	}
	slack := 16 * 0x1p-53 * (size + 2)
	for i, x := range least {
		q.F[i] = x - 1.5*slack
	}
	if _, err := v.lower(q); err != nil {
		t.Errorf("potentials below the least C - G by more than rounding: %v", err)
	}
}

// TestGridAnswer: at the goal of a large Reg, and when the call is stopped on a coarse level, the Result is of the grid
// itself and its Reg the problem's or what was reached.
func TestGridAnswer(t *testing.T) {
	for _, tt := range []struct {
		most           int
		reached, final bool
	}{{1, false, false}, {30, true, false}, {3000, true, true}} {
		p := gridProblem(t, 18, 10, 1, 0.02)
		r, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-3, MaxIterations: tt.most})
		if (err == nil) != tt.final || (r.Reg == p.Reg) != tt.reached || r.Iterations > tt.most || len(r.Q) != 180 {
			t.Errorf("%d iterations: %v, Reg %v after %d", tt.most, err, r.Reg, r.Iterations)
		}
		checkReport(t, "stopped", p, r, 1e-9) // Reg is a tenth of the above
	}
}

// TestMargin: Upper is above the cost of a plan and of its repair by the share of the largest cost that its comment
// derives, and never above that cost.
func TestMargin(t *testing.T) {
	const same = 1e-14 // the cost itself is rounded
	g := newGenerator(39)
	for n := range 20 {
		p := g.problem(3+g.intn(5), 3+g.intn(5), 0.1)
		kv := len(p.Lo)
		if n%2 == 1 {
			for j := range p.Hi {
				p.Lo[j], p.Hi[j] = 0, 2*p.Hi[j]+1/float64(kv)
			}
			p.Hi[1] = 1e-220
		}
		_, c := loaded(t, p)
		pp := paper.Problem{C: c.row, Mu: c.mass, Lo: c.lo, Hi: c.hi, Lambda: c.reg}
		a, _, err := paper.Project(context.Background(), pp, 0, 200)
		if err != nil {
			t.Fatal(err)
		}
		it := newLogPlan(c, c.reg, a.LogV).iterate(a.Theta, a.Q)
		for _, noise := range []float64{it.noise, 0, 1e-7, 1} {
			it.noise = noise
			b := c.certify(it)
			tiny := 0.0
			if n%2 == 1 {
				tiny = tinyMass
			}
			want := float64(c.k+c.n+64)*0x1p-52 + float64(c.k*c.n)*0x1p-62 + 4*noise + tiny
			if !(math.Abs(b.slack-want) <= 0x1p-50*want) {
				t.Errorf("number %d: a margin of %v, want %v", n, b.slack, want)
			}
			var left float64
			for j, q := range it.q {
				left += max(0, q-it.cols[j])
			}
			if b.residual > coarse {
				continue
			}
			if want := min(c.most, b.transport+c.most*(left+b.slack)); !(math.Abs(b.upper-want) <= same*c.most) {
				t.Errorf("number %d: Upper = %v, want %v", n, b.upper, want)
			}
		}
	}
}

// TestThreshold: columns below the shift full and those above it empty leave the rest to the columns on it.
func TestThreshold(t *testing.T) {
	const same = 1e-12
	g := newGenerator(34)
	for n := range 300 {
		kv := 1 + n%40
		b := make([]float64, kv)
		for j := range b {
			if b[j] = g.float(); n%3 == 0 {
				b[j] = float64(g.intn(4))
			}
		}
		lo, hi := box(g.mass(kv), []float64{0.3, 3}[n%2])
		x := kl.BestShift(b, lo, hi)
		var least, most float64
		on := false
		for j, y := range b {
			switch {
			case y < x:
				least += hi[j]
				most += hi[j]
			case y > x:
				least += lo[j]
				most += lo[j]
			default:
				on = true
				least += lo[j]
				most += hi[j]
			}
		}
		if !on || !(least <= 1+same && most >= 1-same) {
			t.Errorf("%d columns: at %v the mass is between %v and %v", kv, x, least, most)
		}
	}
}
