package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// controlSeed fixes the draws of the controls: they find the same in every audit.
const controlSeed = 1

// controlAlarm is the false-alarm rate at which the controls are judged. It does not follow the audit's: their
// n are chosen for it, with a margin of two or more.
const controlAlarm = 1e-6

// Control is a planted bug and what the gates said about it.
type Control struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Loss is the true loss of the mechanism with the bug, counted over all random words; the published eps is
	// 1. Unknown (nil) where the words are too many.
	Loss *Real `json:"loss,omitempty"`
	// Exact is the gate of integers: box, rows, random words. Statistical is the lower bound on the loss, and
	// Law the comparison of draws with published rows, from N draws for each input.
	Exact       Gate `json:"exact"`
	Statistical Gate `json:"statistical"`
	Law         Gate `json:"law"`
	N           int  `json:"n"`
	// Needed is approximately the n at which the loss would be found with probability 1/2, if the loss is above eps and
	// was not found; 0 means more than 2^40.
	Needed int64 `json:"needed,omitempty"`
	// Found: every gate that must reject did. For the control without a bug: none did.
	Found bool `json:"found"`
}

// Gate is what one gate must and did say.
type Gate struct {
	Must     bool   `json:"must"` // reject
	Rejected bool   `json:"rejected"`
	Fault    string `json:"fault,omitempty"`
}

// seen is the gate set of a planted bug.
type seen uint8

const (
	byExact seen = 1 << iota
	byLoss
	byLaw
)

// plant is a bug to be planted: what is published, what the device does, and which gates must see it.
type plant struct {
	name, about string
	table       Table
	// device draws for row i by a random word of wordBits; nil: what the table says.
	device   func(i int, word uint64) int
	wordBits int
	sees     seen
	n        int
	// mixed clients follow the rows of the table; a device sees them as rows 5, 6, ...
	mixed []Row
}

// The mechanism of the controls: four inputs and the fallback, four outputs, eps = 1, B = 10. floor(150 e) =
// 407.
const (
	controlBits = 10
	controlLo   = 150
	controlHi   = 407
)

func mechanism(diagonal, next, rest uint64) [][]uint64 {
	rows := make([][]uint64, 4)
	for i := range rows {
		rows[i] = []uint64{rest, rest, rest, rest}
		rows[i][i], rows[i][(i+1)%4] = diagonal, next
	}
	return append(rows, []uint64{256, 256, 256, 256})
}

func controlTable(eps ldp.Epsilon, bits int, lo, hi uint64, rows [][]uint64) Table {
	t := Table{Epsilon: eps, Bits: bits}
	for range 4 {
		t.Lo, t.Hi = append(t.Lo, lo), append(t.Hi, hi)
	}
	for i, n := range rows {
		row := Row{Name: fmt.Sprintf("input %d", i), Input: i, N: n}
		if i == 4 {
			row.Name = "fallback"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// plants returns the planted bugs, and first the mechanism without one.
func plants() ([]plant, error) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		return nil, err
	}
	good := mechanism(controlHi, 317, controlLo)
	fair := controlTable(eps, controlBits, controlLo, controlHi, good)
	// from returns a device that draws from other rows than the published ones.
	from := func(rows [][]uint64) func(int, uint64) int {
		draws := make([]func(uint64) int, len(rows))
		for i, n := range rows {
			draws[i] = inverse(n)
		}
		return func(i int, word uint64) int { return draws[i](word) }
	}
	honest := from(good)

	dropped := controlTable(eps, controlBits, controlLo, controlHi, mechanism(controlHi, 317, controlLo))
	dropped.Lo[3], dropped.Hi[3] = 0, 0
	dropped.Rows[0].N = []uint64{407, 407, 210, 0}
	dropped.Rows[1].N = []uint64{210, 407, 407, 0}
	dropped.Rows[2].N = []uint64{407, 210, 407, 0} // and row 3 still has output 3
	dropped.Rows[4].N = []uint64{342, 341, 341, 0}

	// Clients with data on several inputs, beside the five rows. Their devices take a word of 16 bits: 6 choose an
	// input, 10 draw from its row.
	const choiceBits = 6
	var mixed []Row
	for n, shares := range mixedShares(4, 0, 2) {
		m := newMixer(fmt.Sprintf("mixed client %d", n), 4, shares)
		for i := range 4 {
			m.add(i, good[i])
		}
		mixed = append(mixed, m.done(controlBits))
	}
	// choose returns the input that a part of a word, of so many bits, chooses for a row; rows of one input are that
	// input's.
	choose := func(i int, part uint64, bits int) int {
		if i < 5 {
			return i
		}
		total, c := uint64(0), uint64(0)
		for _, s := range mixed[i-5].Shares {
			total += s.Count
		}
		for _, s := range mixed[i-5].Shares {
			if c += s.Count; c<<uint(bits) > part*total {
				return s.Input
			}
		}
		return mixed[i-5].Shares[0].Input
	}
	// client returns a device that chooses an input by the first bits of the word, and then draws for it.
	client := func(draw func(i, input int, word uint64) int) func(int, uint64) int {
		return func(i int, word uint64) int {
			return draw(i, choose(i, word>>controlBits, choiceBits), word&(1<<controlBits-1))
		}
	}

	codes, codesLow := coded(eps)
	honestCode := from(codesRows)

	const unit = 1 << 52
	deep := Table{Epsilon: eps, Bits: 62, Lo: []uint64{250 * unit, 250 * unit, 250 * unit, 1},
		Hi: []uint64{679 * unit, 679 * unit, 679 * unit, 2}}
	for i, n := range [][]uint64{
		{524*unit - 1, 250 * unit, 250 * unit, 1}, {250 * unit, 524*unit - 1, 250 * unit, 1},
		{250 * unit, 250 * unit, 524*unit - 1, 1}, {342 * unit, 341 * unit, 341*unit - 2, 2},
	} {
		deep.Rows = append(deep.Rows, Row{Name: fmt.Sprintf("input %d", i), Input: i, N: n})
	}

	return []plant{
		{
			name: "no bug", about: "nothing may reject it", table: fair, n: 200_000,
		},
		{
			name:  "swapped alpha and beta",
			about: "lo made with e^(eps/2) and hi with e^(-eps/2); a clamp then gives everybody one row",
			table: controlTable(eps, controlBits, controlHi, controlLo, slices.Repeat([][]uint64{{256, 256, 256, 256}}, 5)),
			sees:  byExact, n: 1_000,
		},
		{
			name: "wrong eps by 5 %", about: "a box for eps = 1.05, published as eps = 1",
			table: controlTable(eps, controlBits, controlLo, 428, mechanism(428, 296, 150)),
			sees:  byExact | byLoss, n: 1_000_000,
		},
		{
			name: "bound rounded up", about: "hi to the nearest integer, 408 for 407.7, instead of down",
			table: controlTable(eps, controlBits, controlLo, 408, mechanism(408, 316, 150)),
			sees:  byExact, n: 100_000,
		},
		{
			name: "renormalised box", about: "rows divided by their sum after the clamp, and so out of the box by 1 % (a search stopped by a tolerance does it too)",
			table: controlTable(eps, controlBits, controlLo, controlHi, mechanism(411, 317, 148)),
			sees:  byExact, n: 100_000,
		},
		{
			name: "dropped column", about: "a column that the box no longer has, still in one row",
			table: dropped, sees: byExact | byLoss, n: 2_000,
		},
		{
			name: "stale policy", about: "the device has the rows of an older policy, with eps = 2",
			table: fair, device: from(mechanism(517, 367, 70)),
			sees: byExact | byLoss | byLaw, n: 10_000,
		},
		{
			name: "wrong probability", about: "the true value kept too often, a formula copied wrongly (pure-LDP, issue 11)",
			table: fair, device: from(mechanism(557, 167, 150)),
			sees: byExact | byLoss | byLaw, n: 20_000,
		},
		{
			name:  "unprotected last output",
			about: "noise for all but the last position: it shows in clear (OpenDP, issue 2707)",
			table: fair, device: func(i int, word uint64) int {
				if j := honest(i, word); j < 3 || i == 3 {
					return j
				}
				return 0
			},
			sees: byExact | byLoss | byLaw, n: 2_000,
		},
		{
			name: "lost fallback row", about: "a client without usable data always gives output 0: a crash that shows",
			table: fair, device: func(i int, word uint64) int {
				if i == 4 {
					return 0
				}
				return honest(i, word)
			},
			sees: byExact | byLoss | byLaw, n: 2_000,
		},
		{
			name:  "cumulative sum off by one",
			about: "the sum is compared before the weight is added: every output one too late",
			table: fair, device: func(i int, word uint64) int {
				c := uint64(0)
				for j, v := range good[i] {
					if c > word {
						return j
					}
					c += v
				}
				return 3
			},
			sees: byExact | byLaw, n: 2_000,
		},
		{
			name: "threshold <=", about: "the first sum >= the word, not > it: one word in 1024 goes astray",
			table: fair, device: func(i int, word uint64) int {
				c := uint64(0)
				for j, v := range good[i] {
					if c += v; c >= word {
						return j
					}
				}
				return 3
			},
			sees: byExact, n: 100_000,
		},
		{
			name: "modulo bias", about: "a 16-bit word modulo 1000, for weights that sum to 1024",
			table: fair, device: func(i int, word uint64) int { return honest(i, word%1000) }, wordBits: 16,
			sees: byExact | byLoss | byLaw, n: 300_000,
		},
		{
			name: "mixed clients", about: "clients with data on several inputs, without a bug: nothing may reject it",
			table: fair, mixed: mixed, wordBits: controlBits + choiceBits, n: 200_000,
			device: client(func(_, input int, word uint64) int { return honest(input, word) }),
		},
		{
			name: "reused random word", about: "the word that chose an input from the client's data draws the output too",
			table: fair, mixed: mixed, wordBits: controlBits + choiceBits, n: minReleases, sees: byLaw,
			device: func(i int, word uint64) int {
				return honest(choose(i, word, controlBits+choiceBits), word>>choiceBits)
			},
		},
		{
			name: "biased pick", about: "every input with data is as likely as any other, whatever its count",
			table: fair, mixed: mixed, wordBits: controlBits + choiceBits, n: minReleases, sees: byLaw,
			device: func(i int, word uint64) int {
				input := i
				if i >= 5 {
					shares := mixed[i-5].Shares
					input = shares[int(word>>controlBits)*len(shares)>>choiceBits].Input
				}
				return honest(input, word&(1<<controlBits-1))
			},
		},
		{
			name: "row of the next input", about: "a scan one too far, for clients with data on several inputs alone",
			table: fair, mixed: mixed, wordBits: controlBits + choiceBits, n: minReleases, sees: byLaw,
			device: client(func(i, input int, word uint64) int {
				if i >= 5 {
					input = (input + 1) % 4
				}
				return honest(input, word)
			}),
		},
		{
			name: "one line read", about: "a parser that ends after the first count",
			table: fair, mixed: mixed, wordBits: controlBits + choiceBits, n: minReleases, sees: byLaw,
			device: client(func(i, input int, word uint64) int {
				if i >= 5 {
					input = mixed[i-5].Shares[0].Input
				}
				return honest(input, word)
			}),
		},
		{
			name: "coarse probabilities", about: "weights cut to 7 bits, the rest to the true value (RAPPOR's 1/128 and 1/256)",
			table: fair, device: func(i int, word uint64) int {
				coarse, rest := make([]uint64, 4), uint64(128)
				for j, v := range good[i] {
					coarse[j] = v / 8
					rest -= coarse[j]
				}
				coarse[i%4] += rest
				return inverse(coarse)(word / 8)
			},
			sees: byExact | byLoss | byLaw, n: 300_000,
		},
		{
			name: "wrong row", about: "the row of the next input: no loss of privacy, and useless",
			table: fair, device: func(i int, word uint64) int {
				if i < 4 {
					i = (i + 1) % 4
				}
				return honest(i, word)
			},
			sees: byExact | byLaw, n: 2_000,
		},
		{
			name:  "silent entropy failure",
			about: "a failed read leaves the word 0: everybody gives output 0 (SampCert's unchecked read)",
			table: fair, device: func(i int, _ uint64) int { return honest(i, 0) },
			sees: byExact | byLaw, n: 2_000,
		},
		{
			name: "codes", about: "two codes of two colours, without a bug: nothing may reject it", table: codes, n: 200_000,
		},
		{
			name:  "code chosen by the data",
			about: "a client takes the code that its place has to itself: which code was taken then shows it",
			table: codes, device: func(i int, word uint64) int {
				if i == 0 {
					word /= 2 // the first half of the words draws the first code
				}
				return honestCode(i, word)
			},
			sees: byExact | byLoss | byLaw, n: 2_000,
		},
		{
			name: "low weight of a code", about: "one unit less for the other colour, and one more for the own: in one code of two",
			table: codesLow, sees: byExact, n: 100_000,
		},
		{
			name: "colour of the next input", about: "packed colours read one too far, in the second code",
			table: codes, device: func(i int, word uint64) int {
				if i < 4 && word >= 512 {
					i = (i + 1) % 4
				}
				return honestCode(i, word)
			},
			sees: byExact | byLaw, n: 10_000,
		},
		{
			name: "fallback of one colour", about: "a client without usable data has the colour 0 of every code: bits that were not set",
			table: codes, device: func(i int, word uint64) int {
				if i == 4 {
					return int(word / 512 * 2)
				}
				return honestCode(i, word)
			},
			sees: byExact | byLoss | byLaw, n: 2_000,
		},
		{
			name: "tail lost to 53 bits", about: "a float64 as random number: an output of weight 2^-62 is never drawn",
			table: deep, device: func(i int, word uint64) int {
				u, c := float64(word>>9)*0x1p-53, 0.0
				for j, v := range deep.Rows[i].N {
					if c += math.Ldexp(float64(v), -62); c > u {
						return j
					}
				}
				return 3
			},
			sees: byExact, n: 100_000,
		},
	}, nil
}

// codesRows are four inputs with all pairs of two colours in two codes, of weight 2^9 each, and the fallback: ceil(512 /
// (1 + e)) = 138.
var codesRows = [][]uint64{
	{374, 138, 374, 138}, {374, 138, 138, 374}, {138, 374, 374, 138}, {138, 374, 138, 374}, {256, 256, 256, 256},
}

// coded returns the table of codesRows, and one with a unit less for the lowest weights of the first code.
func coded(eps ldp.Epsilon) (good, low Table) {
	good = controlTable(eps, controlBits, 138, 374, codesRows)
	low = controlTable(eps, controlBits, 138, 374, nil)
	low.Lo[0], low.Lo[1], low.Hi[0], low.Hi[1] = 137, 137, 375, 375
	for _, row := range good.Rows {
		row.N = slices.Clone(row.N)
		for j, v := range row.N[:2] {
			switch v {
			case 138:
				row.N[j]--
			case 374:
				row.N[j]++
			}
		}
		low.Rows = append(low.Rows, row)
	}
	return good, low
}

// Controls plants bugs into a small mechanism and runs every gate on each. The result is the same every time. The error
// is that of the context.
func Controls(ctx context.Context) ([]Control, error) {
	ctx = wpmerr.Context(ctx)
	list, err := plants()
	if err != nil {
		return nil, err
	}
	out := make([]Control, len(list))
	for i, p := range list {
		if out[i], err = p.run(ctx, int64(i)); err != nil {
			return nil, fmt.Errorf("control %q: %w", p.name, err)
		}
	}
	return out, nil
}

// tabulate returns a device that looks up what another does with each word.
func tabulate(device func(int, uint64) int, rows, bits int) func(int, uint64) int {
	outputs := make([][]uint8, rows)
	for i := range outputs {
		outputs[i] = make([]uint8, 1<<uint(bits))
		for word := range outputs[i] {
			outputs[i][word] = uint8(device(i, uint64(word)))
		}
	}
	return func(i int, word uint64) int { return int(outputs[i][word]) }
}

func (p plant) run(ctx context.Context, number int64) (Control, error) {
	t := p.table
	published := make([]func(uint64) int, len(t.Rows))
	for i, row := range t.Rows {
		published[i] = inverse(row.N)
	}
	exact := t // of mixed clients nothing is known in integers
	t.Rows = slices.Concat(t.Rows, p.mixed)
	for i := range t.Rows {
		t.Rows[i].Input = i
	}
	device, bits := p.device, p.wordBits
	if device == nil {
		device = func(i int, word uint64) int { return published[i](word) }
	}
	if bits == 0 {
		bits = t.Bits
	}
	if bits <= maxEnumerated { // tabulate: the device is then as fast as a lookup, whatever its bug
		device = tabulate(device, len(t.Rows), bits)
	}
	c := Control{
		Name: p.name, About: p.about, N: p.n,
		Exact: Gate{Must: p.sees&byExact != 0}, Statistical: Gate{Must: p.sees&byLoss != 0},
		Law: Gate{Must: p.sees&byLaw != 0},
	}
	reject := func(g *Gate, fault string) {
		if !g.Rejected {
			g.Rejected, g.Fault = true, fault
		}
	}

	// The gate of integers.
	for _, check := range []Check{Box(exact), Rows(exact)} {
		if !check.Passed {
			reject(&c.Exact, check.Name+": "+check.Fault)
		}
	}
	for i, row := range exact.Rows {
		draw := func(word uint64) (int, error) { return device(i, word), nil }
		fault := ""
		if bits <= maxEnumerated {
			fault = countFault(row.N, t.Bits, bits, t.output, draw)
		} else {
			fault = wordFault(row.N, t.Bits, t.output, draw)
		}
		if fault != "" {
			reject(&c.Exact, "random words: "+row.Name+": "+fault)
		}
	}

	// The gates of statistics.
	st, err := Statistical(ctx, Design{Table: t, Samples: p.n, FalseAlarm: controlAlarm, Serial: true},
		func(ctx context.Context, client Row, n int, counts []uint64) error {
			rng := rand.NewChaCha8(key("controls", controlSeed, number<<32|int64(client.Input)))
			for range n {
				counts[device(client.Input, rng.Uint64()>>uint(64-bits))]++
			}
			return wpmerr.Ended(ctx)
		})
	if err != nil {
		return Control{}, err
	}
	if st.Violated {
		reject(&c.Statistical, fmt.Sprintf("output %s: loss at least %v", st.Column.Output, st.Lower.short()))
	}
	if st.Law.Differs {
		reject(&c.Law, fmt.Sprintf("%s, output %s: %d draws of %d, published %v", st.Law.Row, st.Law.Output, st.Law.Count,
			p.n, st.Law.Published.short()))
	}

	if bits <= maxEnumerated {
		loss, high, low := trueLoss(len(t.Rows), len(t.Lo), bits, device)
		c.Loss = &loss
		if eps := t.Epsilon.Float64(); float64(loss) > eps && !c.Statistical.Rejected {
			c.Needed = samplesFor(high, low, eps, float64(st.Level))
		}
	}
	c.Found = c.Exact.ok() && c.Statistical.ok() && c.Law.ok()
	if p.sees == 0 {
		c.Found = !c.Exact.Rejected && !c.Statistical.Rejected && !c.Law.Rejected
	}
	return c, nil
}

// ok: a gate that must reject did. One that need not may do so all the same, by luck.
func (g Gate) ok() bool { return g.Rejected || !g.Must }

// trueLoss runs a device on every word and returns the largest loss, with the probabilities of the pair that
// has it.
func trueLoss(rows, columns, bits int, device func(i int, word uint64) int) (loss Real, high, low float64) {
	counts := make([][]uint64, rows)
	for i := range counts {
		counts[i] = make([]uint64, columns)
		for word := range uint64(1) << uint(bits) {
			counts[i][device(i, word)]++
		}
	}
	num, den := uint64(0), uint64(1)
	for j := range columns {
		for _, a := range counts {
			for _, b := range counts {
				if farther(a[j], b[j], num, den) {
					num, den = a[j], b[j]
				}
			}
		}
	}
	ratio, _ := new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(max(den, 1))).Float64()
	loss = Real(math.Log(ratio))
	if den == 0 {
		loss = Real(math.Inf(1))
	}
	return loss, math.Ldexp(float64(num), -bits), math.Ldexp(float64(den), -bits)
}
