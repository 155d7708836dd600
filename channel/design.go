package channel

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

const (
	// enough is the predicted root risk, of that of the best single disc, up to which codes are taken. Predicted gains
	// below 3 % are not seen in maps.
	enough = 0.97
	// leastDevices is the number of devices from which on codes are taken. With fewer, the risk says little of maps: on a
	// grid of 3 x 3 with 50 devices at eps 2, codes of a predicted 0.96 made maps 1.29 times as far as the default's.
	leastDevices = 500
	// dropped is the share of the mean weight below which a component is left out.
	dropped = 0.05
	// fine is the weight of single places where they would be inseparable otherwise.
	fine = 0.03
	// fineCodes and mostFine are how many codes of single places are added at a time, and in all.
	fineCodes, mostFine = 4, 96
	// The shares of places that a disc may favour are from largestDisc to a single place, as in estimate.Disc.
	largestDisc, discShares = 0.6, 33
)

// Design is the best mixture that is known, with its evidence.
type Design struct {
	*Mixture
	// Risk is the predicted root risk of the mixture, divided by that of the best single disc: above 1 only by what single
	// places cost.
	Risk float64
	// Disc is the share of the places that the best single disc favours.
	Disc float64
	// Mixed is the predicted root risk of the best list of codes and discs, in the unit of Risk. It is not taken if it is
	// above 0.97, or for fewer than 500 devices.
	Mixed float64
	// Gap bounds how much smaller, relative, the squared risk of another weighting of that list is: the duality gap.
	Gap float64
	// Codes says that the list was taken, and Fine how many codes of single places were added to tell all places apart.
	Codes bool
	Fine  int
}

// candidate is a component before its weights are integers.
type candidate struct {
	Component
	size int // of a disc
	info []float64
}

// New returns the best mixture that is known for a problem. Errors: ErrShape, ErrLimit, ErrBits, those of
// estimate.Guess for the prior and of cost.Validate, and that of ctx.
func New(ctx context.Context, p Problem) (*Design, error) {
	ctx = wpmerr.Context(ctx)
	d, prior, err := p.check(ctx)
	if err != nil {
		return nil, err
	}
	risk, err := newRisk(d, prior, float64(p.Devices))
	if err != nil {
		return nil, err
	}
	eps := p.Epsilon.Float64()
	discs, err := discsOf(ctx, risk, d.k, eps)
	if err != nil {
		return nil, err
	}
	risk.balance(discs)
	best, single := 0, math.Inf(1)
	for n, c := range discs {
		if v := risk.value(c.info, nil); v < single {
			best, single = n, v
		}
	}
	out := &Design{Disc: float64(discs[best].size) / float64(d.k), Risk: 1, Mixed: 1}
	list, w := []candidate{discs[best]}, []float64{1}
	if single > 0 {
		codes, err := codesOf(ctx, d, risk, eps, p.Seed)
		if err != nil {
			return nil, err
		}
		for n, c := range discs { // every other one, with the best
			if n%2 == best%2 && !p.CodesAlone && d.k <= comparable {
				codes = append(codes, c)
			}
		}
		taken, weights, err := out.mix(ctx, risk, codes, single, room{p.MostOutputs, d.k})
		if err != nil {
			return nil, err
		}
		if out.Codes = out.Mixed <= enough && p.Devices >= leastDevices; out.Codes {
			list, w, out.Risk = taken, weights, out.Mixed
		}
	}
	if out.Codes || !p.CodesAlone {
		if list, w, err = out.separate(ctx, d, risk, list, w, p); err != nil {
			return nil, err
		}
	}
	if out.Fine > 0 && single > 0 {
		all := make([]float64, risk.entries())
		for n, c := range list {
			blasOf.Daxpy(len(all), w[n], c.info, 1, all, 1)
		}
		out.Risk = math.Sqrt(risk.value(all, nil) / single)
	}
	out.Mixture, err = integers(d, p, list, w)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// room is how many outputs a list may have, 0 for any number, and how many a disc has.
type room struct{ most, places int }

// outputs counts those of a list.
func (m room) outputs(list ...candidate) (n int) {
	for _, c := range list {
		n += c.Outputs(m.places)
	}
	return n
}

// fitting returns the components of the largest weight an output that have room together, in their order.
func (m room) fitting(list []candidate, w []float64) []candidate {
	order := make([]int, len(list))
	for n := range order {
		order[n] = n
	}
	each := func(n int) float64 { return w[n] / float64(m.outputs(list[n])) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(each(b), each(a)) })
	left, taken := m.most, make([]bool, len(list))
	for _, n := range order {
		if need := m.outputs(list[n]); need <= left {
			left, taken[n] = left-need, true
		}
	}
	var out []candidate
	for n, c := range list {
		if taken[n] {
			out = append(out, c)
		}
	}
	return out
}

// mix finds the weights of what there is room for. The gap is that of the list that is left.
func (d *Design) mix(ctx context.Context, r *risk, list []candidate, single float64, m room) ([]candidate, []float64, error) {
	taken, w, err := d.weigh(ctx, r, list, single)
	if err != nil || m.most == 0 || m.outputs(taken...) <= m.most {
		return taken, w, err
	}
	if taken = m.fitting(taken, w); len(taken) == 0 {
		d.Mixed, d.Gap = 1, 0
		return nil, nil, nil
	}
	return d.weigh(ctx, r, taken, single)
}

// weigh finds the weights, and leaves small ones out.
func (d *Design) weigh(ctx context.Context, r *risk, list []candidate, single float64) ([]candidate, []float64, error) {
	infos, w := make([][]float64, len(list)), make([]float64, len(list))
	for n, c := range list {
		infos[n], w[n] = c.info, 1/float64(len(list))
	}
	r.weights(infos, w, maxSteps)
	if ctx.Err() != nil {
		return nil, nil, wpmerr.Ended(ctx)
	}
	sum := 0.0
	for n, v := range w {
		if v < dropped/float64(len(w)) {
			w[n] = 0
		}
		sum += w[n]
	}
	for n := range w {
		w[n] /= sum
	}
	value, gap := r.weights(infos, w, 0)
	d.Mixed, d.Gap = math.Sqrt(value/single), gap/value
	var taken []candidate
	var left []float64
	for n, c := range list {
		if w[n] > 0 {
			taken, left = append(taken, c), append(left, w[n])
		}
	}
	return taken, left, nil
}

// discsOf returns discs of falling size.
func discsOf(ctx context.Context, r *risk, k int, eps float64) ([]candidate, error) {
	var out []candidate
	least := 1 / float64(k)
	for t := range discShares {
		share := largestDisc * math.Pow(min(1, least/largestDisc), float64(t)/(discShares-1))
		size := max(1, int(math.Round(share*float64(k))))
		if n := len(out); n == 0 || out[n-1].size > size {
			out = append(out, candidate{size: size})
		}
	}
	err := parallel.Each(ctx, len(out), func(n int) error {
		out[n].info = r.ofDisc(eps, float64(out[n].size))
		return nil
	}, nil)
	return out, err
}

// codesOf returns the codes of all scales.
func codesOf(ctx context.Context, d metric, r *risk, eps float64, seed uint64) ([]candidate, error) {
	scales, each := d.scales(d.near(), r.largest, seed), codesAt(eps)
	all := make([]candidate, len(scales)*each)
	err := parallel.Each(ctx, len(all), func(n int) error {
		random := generator(seed, 1+uint64(n))
		block, blocks := d.net(scales[n/each], d.k, random)
		if blocks > 1 {
			all[n] = code(block, blocks, eps, random.Uint64())
			all[n].info = r.ofCode(eps, all[n].Colors, all[n].Color)
		}
		return nil
	}, nil)
	return slices.DeleteFunc(all, func(c candidate) bool { return c.Colors == 0 }), err
}

func code(block []int32, blocks int, eps float64, seed uint64) candidate {
	g := colours(eps, blocks)
	return candidate{Component: Component{Colors: g, Color: paint(block, blocks, g, generator(seed, 0))}}
}

// separate gives weight to codes of single places if there are places that the list cannot tell apart.
func (d *Design) separate(
	ctx context.Context, m metric, r *risk, list []candidate, w []float64, p Problem,
) ([]candidate, []float64, error) {
	eps := p.Epsilon.Float64()
	alike, err := r.alike(ctx, m, list, w, eps)
	if err != nil || !alike {
		return list, w, err
	}
	block, blocks := m.net(0, m.k, nil)
	var added []candidate
	space := room{p.MostOutputs, m.k}
	for len(added) < mostFine {
		if next := fineCodes * colours(eps, blocks); space.most > 0 && space.outputs(list...)+space.outputs(added...)+next > space.most {
			break
		}
		for range fineCodes {
			c := code(block, blocks, eps, generator(p.Seed, math.MaxUint64-uint64(len(added))).Uint64())
			c.info = r.ofCode(eps, c.Colors, c.Color)
			added = append(added, c)
		}
		even := slices.Repeat([]float64{fine / float64(len(added))}, len(added))
		alike, err := r.alike(ctx, m, added, even, eps)
		if err != nil {
			return nil, nil, err
		}
		if !alike {
			break
		}
	}
	if len(added) == 0 {
		return list, w, nil
	}
	w = slices.Clone(w)
	for n := range w {
		w[n] *= 1 - fine
	}
	w = append(w, slices.Repeat([]float64{fine / float64(len(added))}, len(added))...)
	d.Fine = len(added)
	return append(slices.Clip(list), added...), w, nil
}

const (
	// separable is the square of two standard deviations: see package estimate, Patches.
	separable = 4
	// comparable is the largest number of places of which all pairs are compared.
	comparable = 2000
)

var errAlike = errors.New("alike")

// alike reports whether two places at a distance are inseparable at MaxDevices. Above comparable places it looks at
// codes alone, for places whose colours are all the same.
func (r *risk) alike(ctx context.Context, m metric, list []candidate, w []float64, eps float64) (bool, error) {
	if m.k > comparable {
		return twins(list, m.k), nil
	}
	u := make([]float64, m.k)
	for i, v := range r.share {
		u[i] = v * r.mass[r.of[i]]
	}
	// inverse[n][y] is what a favoured output y of a component adds to the sum if it is of one place of a pair alone.
	inverse, within := make([][]float64, len(list)), make([][]bool, len(list))
	buf := make([]float64, m.k)
	for n, c := range list {
		size, outs := 1, c.Colors
		if c.Colors == 0 {
			size, outs = c.size, m.k
			within[n] = make([]bool, m.k*m.k)
		}
		high := w[n] / (math.Exp(-eps)*float64(outs-size) + float64(size))
		low := high * math.Exp(-eps)
		q := make([]float64, outs)
		for i, v := range u {
			if c.Colors > 0 {
				q[c.Color[i]] += v
				continue
			}
			for _, j := range nearest(m.row(i, buf))[:size] {
				within[n][i*m.k+int(j)] = true
				q[j] += v
			}
		}
		for y, v := range q {
			q[y] = (high - low) * (high - low) / (low + (high-low)*v)
		}
		inverse[n] = q
	}
	err := parallel.Each(ctx, m.k, func(i int) error {
		buf := make([]float64, m.k)
		row := m.row(i, buf)
		for j := range i {
			if row[j] == 0 {
				continue
			}
			want := separable / (MaxDevices * (u[i] + u[j]) * (u[i] + u[j]))
			sum := 0.0
			for n, c := range list {
				if c.Colors > 0 {
					if a, b := c.Color[i], c.Color[j]; a != b {
						sum += inverse[n][a] + inverse[n][b]
					}
				} else {
					a, b := within[n][i*m.k:][:m.k], within[n][j*m.k:][:m.k]
					for y := 0; y < m.k && sum < want; y++ {
						if a[y] != b[y] {
							sum += inverse[n][y]
						}
					}
				}
				if sum >= want {
					break
				}
			}
			if !(sum >= want) {
				return errAlike
			}
		}
		return nil
	}, nil)
	if errors.Is(err, errAlike) {
		return true, nil
	}
	return false, err
}

// twins reports whether there are codes, and two places that have the same colour in all of them.
func twins(list []candidate, k int) bool {
	var codes []candidate
	for _, c := range list {
		if c.Colors > 0 {
			codes = append(codes, c)
		}
	}
	if len(codes) == 0 {
		return false
	}
	order := make([]int32, k)
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(a, b int32) int {
		for _, c := range codes {
			if c.Color[a] != c.Color[b] {
				return int(c.Color[a]) - int(c.Color[b])
			}
		}
		return 0
	}
	slices.SortFunc(order, compare)
	for n := range k - 1 {
		if compare(order[n], order[n+1]) == 0 {
			return true
		}
	}
	return false
}

// integers writes the list with integer weights, and has it checked.
func integers(d metric, p Problem, list []candidate, w []float64) (*Mixture, error) {
	m := &Mixture{Epsilon: p.Epsilon, Bits: p.Bits, Inputs: d.k, near: d}
	weights, err := shares(w, p.Bits)
	if err != nil {
		return nil, err
	}
	for n, c := range list {
		c.Weight = weights[n]
		if err := c.integer(p.Epsilon, d.k, c.size); err != nil {
			return nil, err
		}
		m.Components = append(m.Components, c.Component)
	}
	return m, m.Verify()
}
