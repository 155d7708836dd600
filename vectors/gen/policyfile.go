package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors/gen/internal/box"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

// file is a policy as docs/spec/policy.md has it, with its rows written out.
type file struct {
	box          box.Box
	mode         string
	workLimit    int
	inputs       int
	provenance   string
	metadata     string
	certificate  string
	cost         string
	inputLabels  []string
	outputLabels []string
	aliases      []alias
	fallback     []uint64
	rows         [][]uint64 // version 1; nil: none
	geometry     *geometry  // version 2
	thresholds   []int
}

type alias struct {
	input int
	label string
}

type geometry struct {
	kind             string
	axes, rows, cols int
	in, out          []int64
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
func (f file) compact(n []uint64) string {
	var full, extra []string
	for j, v := range n {
		switch {
		case v == f.box.Lo[j]:
		case v == f.box.Hi[j]:
			full = append(full, strconv.Itoa(j))
		default:
			extra = append(extra, fmt.Sprintf("[%d,%s]", j, quoted(v-f.box.Lo[j])))
		}
	}
	return `{"full":[` + strings.Join(full, ",") + `],"extra":[` + strings.Join(extra, ",") + `]}`
}

func (f file) bound(v []uint64) string {
	if f.geometry != nil {
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

// text is the canonical text of the policy.
func (f file) text() string {
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
	if f.geometry != nil {
		version = "wpm-policy-2"
	}
	put("format", quote(version))
	put("epsilon", quote(f.box.Epsilon))
	put("bits", strconv.Itoa(f.box.Bits))
	put("mode", quote(f.mode))
	put("work_limit_ms", strconv.Itoa(f.workLimit))
	put("inputs", strconv.Itoa(f.inputs))
	put("outputs", strconv.Itoa(len(f.box.Lo)))
	put("provenance", f.provenance)
	put("metadata", f.metadata)
	put("certificate", f.certificate)
	put("cost", f.cost)
	put("input_labels", labels(f.inputLabels))
	put("output_labels", labels(f.outputLabels))
	if len(f.aliases) > 0 {
		put("input_aliases", list(f.aliases, func(a alias) string { return fmt.Sprintf("[%d,%s]", a.input, quote(a.label)) }))
	}
	put("lo", f.bound(f.box.Lo))
	put("hi", f.bound(f.box.Hi))
	put("fallback", f.compact(f.fallback))
	if g := f.geometry; g != nil {
		put("geometry", fmt.Sprintf(`{"kind":%s,"axes":%d,"rows":%d,"cols":%d}`, quote(g.kind), g.axes, g.rows, g.cols))
		put("input_points", numbers(g.in))
		put("output_points", numbers(g.out))
		put("thresholds", list(f.thresholds, strconv.Itoa))
	} else if f.rows == nil {
		put("rows", "null")
	} else {
		lines := make([]string, len(f.rows))
		for i, n := range f.rows {
			lines[i] = "\n" + f.compact(n)
		}
		put("rows", "["+strings.Join(lines, ",")+"\n]")
	}
	return b.String() + "\n}\n"
}

func (f file) label(i int) string {
	if f.inputLabels == nil {
		return strconv.Itoa(i)
	}
	return f.inputLabels[i]
}

// input returns the input that a label names.
func (f file) input(label string) (int, bool) {
	for i := range f.inputs {
		if f.label(i) == label {
			return i, true
		}
	}
	for _, a := range f.aliases {
		if a.label == label {
			return a.input, true
		}
	}
	return 0, false
}

// order returns the outputs by key for an input, and by index.
func (f file) order(i int) []int {
	g, kv := f.geometry, len(f.box.Lo)
	key := make([]*big.Rat, kv)
	for j := range key {
		switch g.kind {
		case "ring":
			d := int64((i - j + kv) % kv)
			key[j] = big.NewRat(min(d, int64(kv)-d), 1)
		case "grid": // the squared distance of the centres of cells in the unit square
			x := big.NewRat(int64(i%g.cols-j%g.cols), int64(g.cols))
			y := big.NewRat(int64(i/g.cols-j/g.cols), int64(g.rows))
			key[j] = exact.Add(exact.Mul(x, x), exact.Mul(y, y))
		default:
			in := g.in
			if in == nil {
				in = g.out
			}
			key[j] = new(big.Rat)
			for a := range g.axes {
				d := big.NewRat(in[i*g.axes+a]-g.out[j*g.axes+a], 1)
				key[j].Add(key[j], d.Mul(d, d))
			}
		}
	}
	order := make([]int, kv)
	for j := range order {
		order[j] = j
	}
	sort.SliceStable(order, func(a, b int) bool { return key[order[a]].Cmp(key[order[b]]) < 0 })
	return order
}

// threshold returns where the greedy fill of input i ends.
func (f file) threshold(i int) int {
	sum := values.Sum(f.box.Lo)
	order := f.order(i)
	for _, j := range order {
		sum.Add(sum, values.Int(f.box.Hi[j]-f.box.Lo[j]))
		if sum.Cmp(values.Int(f.box.Total())) >= 0 {
			return j
		}
	}
	panic("a fill that does not end")
}

// row returns the row of input i: published, or what its threshold gives, or the fallback where that does not fit.
func (f file) row(i int) []uint64 {
	if f.geometry == nil {
		return f.rows[i]
	}
	n := append([]uint64(nil), f.box.Lo...)
	rest := new(big.Int).Sub(values.Int(f.box.Total()), values.Sum(n))
	for _, j := range f.order(i) {
		width := values.Int(f.box.Hi[j] - f.box.Lo[j])
		if j == f.thresholds[i] {
			if rest.Sign() < 0 || rest.Cmp(width) > 0 {
				return f.fallback
			}
			n[j] += rest.Uint64()
			return n
		}
		n[j] = f.box.Hi[j]
		rest.Sub(rest, width)
	}
	panic("a threshold that is no output")
}

func (f file) id() string {
	sum := sha256.Sum256([]byte(f.text()))
	return hex.EncodeToString(sum[:])
}

// report is the text of a report.
func report(id string, index int) string {
	return hex.EncodeToString([]byte("wpm1")) + id + hex.EncodeToString([]byte{byte(index), byte(index >> 8), byte(index >> 16), byte(index >> 24)})
}
