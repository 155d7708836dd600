package grid

import (
	"math"
	"slices"
)

// This file holds the one-dimensional transforms that a separable grid is made of. A line has n
// points at distance 1; a transform at sharpness kappa = spacing^2/Reg reads log-weights w and gives
//
//	out[c] = log sum_j exp(w[j] - kappa (c-j)^2),
//
// and, for the certificate, means under the weights of that sum.

const (
	// lineCut is the exponent below the largest term at which terms are left out: each is less than
	// e^-36 = 2.4e-16 of the sum.
	lineCut = 36
	// lineRange bounds the exponents of the tables of a block: products of two numbers within
	// e^(+-600) and e^(-700) stay in the range of float64.
	lineRange = 600
	// lineBlock is the largest number of neighbouring targets that share their exponentials.
	lineBlock = 64
)

// lineTable holds what the transforms of all lines of one length and sharpness share. It is read-only
// once made.
type lineTable struct {
	n       int
	kappa   float64
	reach   int       // s = t: see windows
	targets int       // number of neighbouring targets that share their exponentials
	half    int       // largest offset of a source from the reference of its block
	rho     []float64 // rho[d*(2*half+1) + half+t] = exp(2 kappa (d - (targets-1)/2) t)
	plain   []float64 // plain[n-1+t] = exp(-kappa t^2), where none is below e^-lineRange
}

func newLineTable(n int, kappa float64) *lineTable {
	t := &lineTable{n: n, kappa: kappa}
	// Two windows of s and t cells cut at least 2 kappa s t: see windows.
	t.reach = n
	if r := math.Ceil(math.Sqrt(lineCut / (2 * kappa))); r < float64(n) {
		t.reach = int(r)
	}
	// For each target, a block of B has (B + 2 reach)/B exponentials and B + 2 reach products, which cost 1/25 each.
	t.targets = lineBlock
	for t.targets > 8 && t.targets*t.targets > 80*t.reach {
		t.targets /= 2
	}
	mid := t.middle()
	t.half = n - 1
	if h := math.Floor(lineRange / (2 * kappa * mid)); h < float64(t.half) {
		t.half = int(h)
	}
	width := 2*t.half + 1
	t.rho = make([]float64, t.targets*width)
	for d := range t.targets {
		for i := range width {
			t.rho[d*width+i] = math.Exp(2 * kappa * (float64(d) - mid) * float64(i-t.half))
		}
	}
	if e := kappa * float64((n-1)*(n-1)); e <= lineRange {
		for i := range 2*n - 1 {
			d := float64(i - n + 1)
			t.plain = append(t.plain, math.Exp(-kappa*d*d))
		}
	}
	return t
}

// middle is the middle of a block.
func (t *lineTable) middle() float64 { return float64(t.targets-1) / 2 }

// lineScratch is the working space of one worker.
type lineScratch struct {
	stack   []int
	cross   []float64
	arg     []int
	weight  []float64
	in, out []float64 // columns
}

// windows finds, for every target c, a source arg that maximises w[j] - kappa (c-j)^2, for c from -reach to
// n-1+reach: in s.arg, shifted by reach. It reports false if all weights are -Inf.
//
// The maximiser is monotone in c, because the squared distance has the Monge property, so that the sources that matter
// at c lie in [arg(c-s)-t, arg(c+s)+t]: let J = arg(c+s), and j > J. At c+s, j is no better than J, and from there to c
// the parabola of J gains 2 kappa s (j-J) on that of j. With j-J > t it is behind by more than 2 kappa s t.
func (t *lineTable) windows(w []float64, s *lineScratch) bool {
	s.envelope(w, 1/t.kappa, math.Inf(-1))
	if len(s.stack) == 0 {
		return false
	}
	s.arg = slices.Grow(s.arg[:0], t.n+2*t.reach)[:t.n+2*t.reach]
	p := 0
	for i := range s.arg {
		c := float64(i - t.reach)
		for p < len(s.cross) && s.cross[p] < c {
			p++
		}
		s.arg[i] = s.stack[p]
	}
	return true
}

// block prepares the targets from c0 up: weights of the sources [a, b) in s.weight, relative to
// e^top, and the offset of a in the table. It reports false if the sources are too far apart for the table.
func (t *lineTable) block(w []float64, c0, c1 int, s *lineScratch) (a, b, at int, delta, top float64, ok bool) {
	a = max(s.arg[c0]-t.reach, 0)
	b = min(s.arg[c1-1+2*t.reach]+t.reach, t.n-1) + 1
	ref := s.arg[c0+(c1-c0)/2+t.reach]
	if ref-a > t.half || b-1-ref > t.half {
		return a, b, 0, 0, 0, false
	}
	delta = float64(c0-ref) + t.middle()
	top = w[ref] - t.kappa*delta*delta
	s.weight = slices.Grow(s.weight[:0], b-a)[:b-a]
	for i := range s.weight {
		j := a + i
		d := delta - float64(j-ref)
		if e := w[j] - t.kappa*d*d - top; e > -700 {
			s.weight[i] = math.Exp(e)
		} else {
			s.weight[i] = 0
		}
	}
	return a, b, a - ref + t.half, delta, top, true
}

// shift is the part of the exponents of target d of a block that its sources share.
func (t *lineTable) shift(d int, delta float64) float64 {
	x := float64(d) - t.middle()
	return -t.kappa * x * (2*delta + x)
}

// sumPlain is sum where all sources are within the range of floats of all targets.
func (t *lineTable) sumPlain(out, w []float64, s *lineScratch) {
	n, top := t.n, slices.Max(w)
	if math.IsInf(top, -1) {
		copy(out, w)
		return
	}
	s.weight = slices.Grow(s.weight[:0], n)[:n]
	for j, x := range w {
		s.weight[j] = math.Exp(x - top)
	}
	c := 0
	for ; c+4 <= n; c += 4 {
		weight := s.weight[:n]
		r0 := t.plain[n-1-c:][:n]
		r1 := t.plain[n-2-c:][:n]
		r2 := t.plain[n-3-c:][:n]
		r3 := t.plain[n-4-c:][:n]
		var s0, s1, s2, s3 float64
		for i, x := range weight {
			s0 += x * r0[i]
			s1 += x * r1[i]
			s2 += x * r2[i]
			s3 += x * r3[i]
		}
		out[c], out[c+1], out[c+2], out[c+3] = top+math.Log(s0), top+math.Log(s1), top+math.Log(s2), top+math.Log(s3)
	}
	for ; c < n; c++ {
		var sum float64
		for i, x := range t.plain[n-1-c:][:n] {
			sum += x * s.weight[i]
		}
		out[c] = top + math.Log(sum)
	}
}

// sum sets out[c] = log sum_j exp(w[j] - kappa (c-j)^2).
func (t *lineTable) sum(out, w []float64, s *lineScratch) {
	n := t.n
	if t.plain != nil {
		t.sumPlain(out, w, s)
		return
	}
	if !t.windows(w, s) {
		for c := range out {
			out[c] = math.Inf(-1)
		}
		return
	}
	width := 2*t.half + 1
	var sums [lineBlock]float64
	for c0 := 0; c0 < n; c0 += t.targets {
		c1 := min(c0+t.targets, n)
		a, b, at, delta, top, ok := t.block(w, c0, c1, s)
		if !ok {
			for c := c0; c < c1; c++ {
				out[c] = t.direct(w, c, s)
			}
			continue
		}
		m := b - a
		for d := 0; d < t.targets; d += 4 {
			weight := s.weight[:m]
			r0 := t.rho[d*width+at:][:m]
			r1 := t.rho[(d+1)*width+at:][:m]
			r2 := t.rho[(d+2)*width+at:][:m]
			r3 := t.rho[(d+3)*width+at:][:m]
			var s0, s1, s2, s3 float64
			for i, x := range weight {
				s0 += x * r0[i]
				s1 += x * r1[i]
				s2 += x * r2[i]
				s3 += x * r3[i]
			}
			sums[d], sums[d+1], sums[d+2], sums[d+3] = s0, s1, s2, s3
		}
		for c := c0; c < c1; c++ {
			out[c] = top + t.shift(c-c0, delta) + math.Log(sums[c-c0])
		}
	}
}

// direct is sum for one target, one exponential for each source.
func (t *lineTable) direct(w []float64, c int, s *lineScratch) float64 {
	ref := s.arg[c+t.reach]
	d := float64(c - ref)
	top := w[ref] - t.kappa*d*d
	a, b := max(s.arg[c]-t.reach, 0), min(s.arg[c+2*t.reach]+t.reach, t.n-1)
	var sum float64
	for j := a; j <= b; j++ {
		d := float64(c - j)
		if e := w[j] - t.kappa*d*d - top; e > -lineCut {
			sum += math.Exp(e)
		}
	}
	return top + math.Log(sum)
}

// moments are means over the sources of a target.
type moments struct {
	log    []float64 // log of the total weight
	here   []float64 // mean of source - target along this line
	across []float64 // mean of what the sources carry in across
	square []float64 // mean of what they carry in square, plus scale (source - target)^2
}

// means is sum with moments: in carries across and square (nil for the first axis). scale is the
// squared spacing of this axis.
func (t *lineTable) means(out moments, in moments, scale float64, s *lineScratch) {
	n, w := t.n, in.log
	if !t.windows(w, s) {
		for c := range n {
			out.log[c], out.here[c], out.across[c], out.square[c] = math.Inf(-1), 0, 0, 0
		}
		return
	}
	width := 2*t.half + 1
	for c0 := 0; c0 < n; c0 += t.targets {
		c1 := min(c0+t.targets, n)
		a, b, at, delta, top, ok := t.block(w, c0, c1, s)
		for c := c0; c < c1; c++ {
			ref, up := top, t.shift(c-c0, delta)
			if !ok {
				a, b = max(s.arg[c]-t.reach, 0), min(s.arg[c+2*t.reach]+t.reach, n-1)+1
				j := s.arg[c+t.reach]
				d := float64(c - j)
				ref, up = w[j]-t.kappa*d*d, 0
			}
			var total, here, across, square float64
			for j := a; j < b; j++ {
				d := float64(j - c)
				var p float64
				if ok {
					p = s.weight[j-a] * t.rho[(c-c0)*width+at+j-a]
				} else if e := w[j] - t.kappa*d*d - ref; e > -lineCut {
					p = math.Exp(e)
				}
				if p == 0 {
					continue
				}
				total += p
				here += p * d
				sq := scale * d * d
				if in.square != nil {
					across += p * in.across[j]
					sq += in.square[j]
				}
				square += p * sq
			}
			out.log[c] = ref + up + math.Log(total)
			out.here[c], out.across[c], out.square[c] = here/total, across/total, square/total
		}
	}
}

// envelope finds the sources that are best somewhere, in order, and where each gives way to the next. The
// value of source j at c is w[j] - (c-j)^2/inv, to be maximised if inv > 0 and minimised if inv < 0; those
// with w[j] = none take no part.
func (s *lineScratch) envelope(w []float64, inv, none float64) {
	stack, cross := s.stack[:0], s.cross[:0]
	for j, x := range w {
		if x == none {
			continue
		}
		for len(stack) > 0 {
			k := stack[len(stack)-1]
			z := ((w[k]-x)*inv/float64(j-k) + float64(j+k)) / 2
			if m := len(cross); m > 0 && z <= cross[m-1] {
				stack, cross = stack[:len(stack)-1], cross[:m-1]
				continue
			}
			cross = append(cross, z)
			break
		}
		stack = append(stack, j)
	}
	s.stack, s.cross = stack, cross
}
