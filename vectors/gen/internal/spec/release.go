package spec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/wpm-go/wpm/vectors/gen/internal/box"
	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
	"github.com/wpm-go/wpm/vectors/gen/internal/policyfile"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

type releaseIn struct {
	Policy    string   `json:"policy"`
	Private   string   `json:"private"` // hexadecimal
	Random    string   `json:"random"`  // hexadecimal
	Projected []string `json:"projected,omitempty"`
}

type releaseOut struct {
	ID     string `json:"id"`
	Usable bool   `json:"usable"`
	Index  int    `json:"index"`
	Report string `json:"report"`
}

// Release fills in the cases of the kind release: releases by a policy.
func Release(s *cases.Set) {
	r := &s.RNG
	policies := policyfile.Samples(r)
	for n, f := range policies {
		for i, spoiled := range f.Spoiled() {
			if (n+i)%4 != 0 && !slices.Contains(spoiled.Flags, "one-unit-out") { // every rule is broken in some policies
				continue
			}
			s.Invalid("policy", releaseIn{Policy: spoiled.Text, Private: "", Random: hex.EncodeToString(make([]byte, 16))},
				spoiled.Flags...)
		}
	}
	for _, n := range []int{0, 6} { // of version 1 with labels, of version 2 without
		mixtures(s, policies[n])
	}
	odd := policies[1].OddLines() // of the second policy, each once
	s.Until(360, 140, func(n int) {
		f := policies[n%len(policies)]
		private := f.Private(r)
		if n < len(odd) {
			f = policies[1]
			private = []byte(odd[n])
		}
		need := 8 + (f.Box.Bits+7)/8
		random := r.Bytes(need)
		flags := append(box.EpsFlags(f.Box.Epsilon), box.BitsFlags(f.Box.Bits)...)
		if counts := f.Read(private); counts != nil && r.Chance(60) {
			binary.LittleEndian.PutUint64(random, policyfile.BoundaryWord(r, counts))
			flags = append(flags, "boundary")
		}
		if n%37 == 36 {
			in := releaseIn{Policy: f.Text(), Private: hex.EncodeToString(private),
				Random: hex.EncodeToString(random[:r.Intn(need)])}
			s.Invalid("random", in, "short")
			return
		}
		var projected []float64
		if f.Mode == "projection" {
			projected = make([]float64, len(f.Box.Lo))
			for j, v := range f.Box.Row(r) {
				projected[j] = math.Ldexp(float64(v), -f.Box.Bits)
			}
			style := r.Intn(6)
			if n >= 200 { // the edge of the slack, for data that are usable
				style, private = 3, []byte(f.Label(0)+",1")
			}
			switch style {
			case 0:
				projected = nil
			case 1:
				projected[0] = values.Pick(r, math.NaN(), -0x1p-30, math.Inf(1), 3)
			case 2:
				projected = projected[1:]
			case 3:
				projected[len(projected)-1] += values.Pick(r, 0x1p-21, 0x1p-19)
			}
			flags = append(flags, "projection")
		}
		f.Tell(r, private, random, projected)
		answer(s, f, private, random, projected, flags...)
	})
}

// mixtures adds private data with one line at an edge of the format behind good ones. The random bytes give another
// index where that line is dropped.
func mixtures(s *cases.Set, f policyfile.File) {
	r := &s.RNG
	for _, m := range f.Mixtures() {
		random := r.Bytes(8 + (f.Box.Bits+7)/8)
		for range 1000 {
			index, usable := f.Release(m.All, random, nil)
			if dropped, _ := f.Release(m.Good, random, nil); usable || index != dropped {
				break
			}
			random = r.Bytes(len(random))
		}
		answer(s, f, m.All, random, nil, append(box.EpsFlags(f.Box.Epsilon), box.BitsFlags(f.Box.Bits)...)...)
	}
}

// answer adds a release with its answer.
func answer(s *cases.Set, f policyfile.File, private, random []byte, projected []float64, flags ...string) {
	in := releaseIn{Policy: f.Text(), Private: hex.EncodeToString(private), Random: hex.EncodeToString(random)}
	if len(projected) > 0 {
		in.Projected = values.HexFloats(projected)
	}
	index, usable := f.Release(private, random, projected)
	if !usable {
		flags = append(flags, "unusable")
	}
	if bytes.HasPrefix(private, []byte{0x1f, 0x8b}) {
		flags = append(flags, "gzip")
	}
	if f.Geometry != nil {
		flags = append(flags, "version-2")
	}
	if f.Inputs != len(f.Box.Lo) {
		flags = append(flags, "k!=kv")
	}
	s.Valid(in, releaseOut{f.ID(), usable, index, policyfile.Report(f.ID(), index)}, flags...)
}
