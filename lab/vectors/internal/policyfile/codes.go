package policyfile

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
)

// A Component of a policy with codes is a code, or a disc if it has no colours.
type Component struct {
	Weight, Low uint64
	Colors      int
	Color       []int  // of each input
	High        uint64 // of a disc
	Thresholds  []int
}

func (c Component) size(k int) int {
	if c.Color == nil {
		return k
	}
	return c.Colors
}

func (c Component) high() uint64 {
	if c.Color == nil {
		return c.High
	}
	return c.Weight - uint64(c.Colors-1)*c.Low
}

func (c Component) text() string {
	start := fmt.Sprintf(`{"weight":%s,"low":%s,`, quoted(c.Weight), quoted(c.Low))
	if c.Color == nil {
		return start + fmt.Sprintf(`"high":%s,"thresholds":%s}`, quoted(c.High), list(c.Thresholds, strconv.Itoa))
	}
	each := bits.Len(uint(c.Colors - 1))
	all := new(big.Int)
	for _, g := range c.Color {
		all.Lsh(all, uint(each)).Or(all, big.NewInt(int64(g)))
	}
	n := (each*len(c.Color) + 7) / 8
	all.Lsh(all, uint(8*n-each*len(c.Color)))
	packed := base64.StdEncoding.EncodeToString(all.FillBytes(make([]byte, n)))
	return start + fmt.Sprintf(`"colors":%d,"color":%s}`, c.Colors, quote(packed))
}

// coded returns the row of input i of a policy with codes.
func (f File) coded(i int) (row []uint64) {
	for _, c := range f.Codes {
		part := slices.Repeat([]uint64{c.Low}, c.size(f.Inputs))
		if c.Color != nil {
			part[c.Color[i]] = c.high()
			row = append(row, part...)
			continue
		}
		left, width := c.Weight-uint64(f.Inputs)*c.Low, c.High-c.Low
		places := f
		places.Box.Lo = make([]uint64, f.Inputs)
		for _, j := range places.order(i) {
			if left <= width {
				part[j] += left
				if j != c.Thresholds[i] {
					part = c.even(f.Inputs)
				}
				break
			}
			part[j] = c.High
			left -= width
		}
		row = append(row, part...)
	}
	return row
}

// even is the part of the fallback row.
func (c Component) even(k int) []uint64 {
	n := c.size(k)
	part := make([]uint64, n)
	for y := range part {
		part[y] = c.Weight / uint64(n)
		if uint64(y) < c.Weight%uint64(n) {
			part[y]++
		}
	}
	return part
}

// withCodes fills in what follows from the components.
func (f File) withCodes(eps string, b int, codes ...Component) File {
	f.Codes = codes
	f.Box = box.Box{Epsilon: eps, Bits: b}
	f.Fallback = nil
	for _, c := range codes {
		n := c.size(f.Inputs)
		f.Box.Lo = append(f.Box.Lo, slices.Repeat([]uint64{c.Low}, n)...)
		f.Box.Hi = append(f.Box.Hi, slices.Repeat([]uint64{c.high()}, n)...)
		f.Fallback = append(f.Fallback, c.even(f.Inputs)...)
	}
	return f
}

// Coded returns policies with codes: two codes and a disc on a line, codes alone of many colours, and thresholds of a
// disc that are not where the fill ends.
func Coded() []File {
	base := File{
		Mode: "mixture", Inputs: 5, Metadata: `{"seed":"1"}`, Certificate: "null", Cost: "null",
		Provenance: `{"geometry":"public","geometry_epsilon":null,"base_measure":"data-independent","base_measure_epsilon":null,"note":""}`,
	}
	line := base
	line.Geometry = &Geometry{Kind: "points", Axes: 1, Out: []int64{0, 10, 11, 30, -4}}
	disc := Component{Weight: 110, Low: 15, High: 40, Thresholds: []int{4, 2, 1, 2, 0}}
	wrong := disc
	wrong.Thresholds = []int{1, 2, 3, 3, 0}
	two := Component{Weight: 50, Low: 14, Colors: 2, Color: []int{0, 0, 1, 1, 0}}
	three := Component{Weight: 96, Low: 21, Colors: 3, Color: []int{2, 0, 1, 0, 2}}
	many := Component{Weight: 1 << 61, Low: 1 << 61 / 100, Colors: 65, Color: []int{64, 0, 33, 1, 64}}
	ring := base
	ring.Geometry, ring.InputLabels = &Geometry{Kind: "ring"}, []string{"a", "b", "c", "d", "e"}
	grid := base
	grid.Geometry = &Geometry{Kind: "grid", Rows: 1, Cols: 5}
	return []File{
		line.withCodes("1", 8, two, three, disc), line.withCodes("1", 8, wrong, three, two),
		base.withCodes("4", 62, many, many),
		ring.withCodes("1", 8, Component{Weight: 256, Low: 36, High: 97, Thresholds: []int{4, 0, 1, 2, 3}}),
		grid.withCodes("1", 8, three, Component{Weight: 160, Low: 22, High: 59, Thresholds: []int{1, 0, 1, 2, 3}}),
	}
}

// SpoiledCodes returns texts that are no policy, by the rules for codes.
func (f File) SpoiledCodes() (out []Spoiled) {
	text := f.Text()
	swap := func(old, new string, flags ...string) {
		if !strings.Contains(text, old) {
			panic("no " + old)
		}
		out = append(out, Spoiled{strings.Replace(text, old, new, 1), flags})
	}
	swap(`"weight":"50"`, `"weight":"51"`, "limit")
	swap(`"weight":"50"`, `"weight":"0"`, "limit")
	swap(`"weight":"110"`, `"weight":"109"`, "limit")
	swap(`"low":"14"`, `"low":"13"`, "one-unit-out")
	swap(`"low":"14"`, `"low":"26"`, "limit")
	swap(`"low":"21"`, `"low":"20"`, "one-unit-out")
	swap(`"high":"40"`, `"high":"41"`, "one-unit-out")
	swap(`"high":"40"`, `"high":"21"`, "limit")
	swap(`"colors":3`, `"colors":4`, "limit")
	swap(`"colors":3`, `"colors":1`, "limit")
	swap(`"thresholds":[4,`, `"thresholds":[5,`, "limit")
	swap(`"thresholds":[4,`, `"thresholds":[`, "limit")
	swap(`"color":"MA=="`, `"color":"MA="`, "spelling")
	swap(`"color":"MA=="`, `"color":"MB=="`, "spelling")
	swap(`"color":"MA=="`, `"color":"NA=="`, "limit")
	swap(`"outputs":10`, `"outputs":11`, "limit")
	swap(`"mode":"mixture"`, `"mode":"projection"`, "limit")
	swap(`"certificate":null`, `"certificate":{}`, "limit")
	swap(`"input_points":null`, `"input_points":[0,10,11,30,-4]`, "limit")
	swap(`"wpm-policy-3"`, `"wpm-policy-2"`, "spelling")
	swap("\n\"codes\"", "\n\"lo\":[],\n\"codes\"", "spelling")
	swap(`,"low"`, `, "low"`, "spelling")
	return out
}
