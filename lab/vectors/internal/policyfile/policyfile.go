// Package policyfile has the policies, private data and reports of docs/spec, by the letter: their texts, releases by
// them, samples, and texts that break one rule each.
package policyfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// A File is a policy as docs/spec/policy.md has it, with its rows written out. Provenance, Metadata, Certificate and
// Cost are JSON.
type File struct {
	Box          box.Box
	Mode         string
	WorkLimit    int
	Inputs       int
	Provenance   string
	Metadata     string
	Certificate  string
	Cost         string
	InputLabels  []string
	OutputLabels []string
	Aliases      []Alias
	Fallback     []uint64
	Rows         [][]uint64  // version 1; nil: none
	Geometry     *Geometry   // version 2; nil: version 1
	Thresholds   []int       // version 2
	Codes        []Component // version 3; nil: another
}

// An Alias is another label of an input.
type Alias struct {
	Input int
	Label string
}

// A Geometry says of a policy of version 2 where inputs and outputs are: In and Out are the coordinates of points.
type Geometry struct {
	Kind             string
	Axes, Rows, Cols int
	In, Out          []int64

	// Errors of a reader, see misread: cells of a grid that are squares, the largest index first among equal keys, keys
	// in floats.
	scaled, last, near bool
}

func quote(s string) string { return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"` }

func list[T any](xs []T, write func(T) string) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = write(x)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func quoted(n uint64) string { return quote(strconv.FormatUint(n, 10)) }

// compact writes a row: the columns at hi, and those between.
func (f File) compact(n []uint64) string {
	var full, extra []string
	for j, v := range n {
		switch {
		case v == f.Box.Lo[j]:
		case v == f.Box.Hi[j]:
			full = append(full, strconv.Itoa(j))
		default:
			extra = append(extra, fmt.Sprintf("[%d,%s]", j, quoted(v-f.Box.Lo[j])))
		}
	}
	return `{"full":[` + strings.Join(full, ",") + `],"extra":[` + strings.Join(extra, ",") + `]}`
}

// bound writes bounds: of a policy of version 2 that are all alike, one stands for all.
func (f File) bound(v []uint64) string {
	if f.Geometry != nil {
		same := true
		for _, x := range v {
			same = same && x == v[0]
		}
		if same {
			return quoted(v[0])
		}
	}
	return list(v, quoted)
}

func labels(names []string) string {
	if names == nil {
		return "null"
	}
	return list(names, quote)
}

func numbers(v []int64) string {
	if v == nil {
		return "null"
	}
	return list(v, func(n int64) string { return strconv.FormatInt(n, 10) })
}

// Text returns the canonical text of the policy.
func (f File) Text() string {
	var b strings.Builder
	put := func(name, value string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		} else {
			b.WriteByte('{')
		}
		b.WriteString("\n" + quote(name) + ":" + value)
	}
	version := "wpm-policy-1"
	if f.Geometry != nil {
		version = "wpm-policy-2"
	}
	if f.Codes != nil {
		version = "wpm-policy-3"
	}
	put("format", quote(version))
	put("epsilon", quote(f.Box.Epsilon))
	put("bits", strconv.Itoa(f.Box.Bits))
	put("mode", quote(f.Mode))
	put("work_limit_ms", strconv.Itoa(f.WorkLimit))
	put("inputs", strconv.Itoa(f.Inputs))
	put("outputs", strconv.Itoa(len(f.Box.Lo)))
	put("provenance", f.Provenance)
	put("metadata", f.Metadata)
	put("certificate", f.Certificate)
	put("cost", f.Cost)
	put("input_labels", labels(f.InputLabels))
	put("output_labels", labels(f.OutputLabels))
	if len(f.Aliases) > 0 {
		put("input_aliases", list(f.Aliases, func(a Alias) string { return fmt.Sprintf("[%d,%s]", a.Input, quote(a.Label)) }))
	}
	if f.Codes == nil {
		put("lo", f.bound(f.Box.Lo))
		put("hi", f.bound(f.Box.Hi))
		put("fallback", f.compact(f.Fallback))
	}
	if g := f.Geometry; g != nil {
		put("geometry", fmt.Sprintf(`{"kind":%s,"axes":%d,"rows":%d,"cols":%d}`, quote(g.Kind), g.Axes, g.Rows, g.Cols))
		put("input_points", numbers(g.In))
		put("output_points", numbers(g.Out))
	}
	if f.Codes != nil {
		lines := make([]string, len(f.Codes))
		for n, c := range f.Codes {
			lines[n] = "\n" + c.text()
		}
		put("codes", "["+strings.Join(lines, ",")+"\n]")
	} else if f.Geometry != nil {
		put("thresholds", list(f.Thresholds, strconv.Itoa))
	} else if f.Rows == nil {
		put("rows", "null")
	} else {
		lines := make([]string, len(f.Rows))
		for i, n := range f.Rows {
			lines[i] = "\n" + f.compact(n)
		}
		put("rows", "["+strings.Join(lines, ",")+"\n]")
	}
	return b.String() + "\n}\n"
}

// Label returns the label of input i.
func (f File) Label(i int) string {
	if f.InputLabels == nil {
		return strconv.Itoa(i)
	}
	return f.InputLabels[i]
}

// input returns the input that a label names.
func (f File) input(label string) (int, bool) {
	for i := range f.Inputs {
		if f.Label(i) == label {
			return i, true
		}
	}
	for _, a := range f.Aliases {
		if a.Label == label {
			return a.Input, true
		}
	}
	return 0, false
}

// order returns the outputs by key for an input, and by index.
func (f File) order(i int) []int {
	g, kv := f.Geometry, len(f.Box.Lo)
	key := make([]*big.Rat, kv)
	for j := range key {
		switch g.Kind {
		case "ring":
			d := int64((i - j + kv) % kv)
			key[j] = big.NewRat(min(d, int64(kv)-d), 1)
		case "grid": // the squared distance of the centres of cells in the unit square
			x := big.NewRat(int64(i%g.Cols-j%g.Cols), int64(g.Cols))
			y := big.NewRat(int64(i/g.Cols-j/g.Cols), int64(g.Rows))
			if g.scaled {
				x, y = big.NewRat(int64(i%g.Cols-j%g.Cols), 1), big.NewRat(int64(i/g.Cols-j/g.Cols), 1)
			}
			key[j] = exact.Add(exact.Mul(x, x), exact.Mul(y, y))
		default:
			in := g.In
			if in == nil {
				in = g.Out
			}
			key[j] = new(big.Rat)
			for a := range g.Axes {
				d := big.NewRat(in[i*g.Axes+a]-g.Out[j*g.Axes+a], 1)
				key[j].Add(key[j], d.Mul(d, d))
			}
			if g.near {
				v, _ := key[j].Float64()
				key[j] = exact.Rat(v)
			}
		}
	}
	order := make([]int, kv)
	for j := range order {
		order[j] = j
	}
	if g.last {
		slices.Reverse(order)
	}
	sort.SliceStable(order, func(a, b int) bool { return key[order[a]].Cmp(key[order[b]]) < 0 })
	return order
}

// threshold returns where the greedy fill of input i ends.
func (f File) threshold(i int) int {
	sum := values.Sum(f.Box.Lo)
	order := f.order(i)
	for _, j := range order {
		sum.Add(sum, values.Int(f.Box.Hi[j]-f.Box.Lo[j]))
		if sum.Cmp(values.Int(f.Box.Total())) >= 0 {
			return j
		}
	}
	panic("a fill that does not end")
}

// rows reports whether the policy has rows, or what they follow from.
func (f File) rows() bool { return f.Rows != nil || f.Geometry != nil || f.Codes != nil }

// row returns the row of input i: published, or what its threshold gives, or the fallback where that does not fit.
func (f File) row(i int) []uint64 {
	if f.Codes != nil {
		return f.coded(i)
	}
	if f.Geometry == nil {
		return f.Rows[i]
	}
	n, t := f.fill(i), f.Thresholds[i]
	if n == nil || n[t] < f.Box.Lo[t] || n[t] > f.Box.Hi[t] {
		return f.Fallback
	}
	return n
}

// fill returns what the threshold of input i gives, also where that does not fit, or nil where it is below 0.
func (f File) fill(i int) []uint64 {
	n, t := append([]uint64(nil), f.Box.Lo...), f.Thresholds[i]
	for _, j := range f.order(i) {
		if j == t {
			break
		}
		n[j] = f.Box.Hi[j]
	}
	n[t] = 0
	rest := new(big.Int).Sub(values.Int(f.Box.Total()), values.Sum(n))
	if rest.Sign() < 0 {
		return nil
	}
	n[t] = rest.Uint64()
	return n
}

// ID returns the SHA-256 of the text, in hexadecimal.
func (f File) ID() string {
	sum := sha256.Sum256([]byte(f.Text()))
	return hex.EncodeToString(sum[:])
}

// Report returns the text of a report of the output index, by the policy of that id.
func Report(id string, index int) string {
	return hex.EncodeToString([]byte("wpm1")) + id +
		hex.EncodeToString([]byte{byte(index), byte(index >> 8), byte(index >> 16), byte(index >> 24)})
}
