package wpm_test

import (
	"context"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
)

// TestGoldenPolicies holds the policies of version 2 that mechanisms of every geometry publish, on every machine: the
// text, its ID, and all rows. The base measure is given: that of a design, and its certificate, are floats, whose last
// digits depend on the processor. testdata/policies/rows.json was written by another program in another language, which
// fills rows by sorting, in exact arithmetic; in policy/testdata:
//
//	python3 -c 'import json, verify; d = "../../testdata/policies/"; p = {n: verify.load(d+n+".json") for n in
//	["cosine", "earth", "earth2", "grid", "plane", "ring"]};
//	print(json.dumps({n: {"id": v["id"], "rows": v["rows"]} for n, v in p.items()}))'
func TestGoldenPolicies(t *testing.T) {
	places := [][]float64{{48.2082, 16.3738}, {52.52, 13.405}, {40.4168, -3.7038}, {-33.8688, 151.2093},
		{64.1466, -21.9426}}
	var want map[string]struct {
		ID   string     `json:"id"`
		Rows [][]uint64 `json:"rows"`
	}
	numtest.LoadJSON(t, "testdata/policies/rows.json", &want)
	for name, spec := range map[string]cost.Spec{
		"ring":   {Kind: "ring", N: 7, P: 1},
		"grid":   {Kind: "grid", Rows: 3, Cols: 4, P: 2},
		"plane":  {Kind: "points", X: places, V: places[1:], P: 2},
		"earth":  {Kind: "greatcircle", X: places, P: 1},
		"earth2": {Kind: "greatcircle-2", X: places, P: 1},
		"cosine": {Kind: "cosine", X: places},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := spec.Build()
			if err != nil {
				t.Fatal(err)
			}
			_, kv := c.Dims()
			m, err := wpm.New(context.Background(), c, slices.Repeat([]float64{1 / float64(kv)}, kv), given.Epsilon(t, "3/2"), wpm.Options{Bits: 40})
			if err != nil {
				t.Fatal(name, err)
			}
			p, err := m.Publish(t.Context(), published)
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := policy.Encode(p)
			if err != nil {
				t.Fatal(err)
			}
			numtest.GoldenBytes(t, "testdata/policies/"+name+".json", got)
			if id := p.ID(); hex.EncodeToString(id[:]) != want[name].ID {
				t.Errorf("%s: ID %x, want %s", name, id, want[name].ID)
			}
			if len(want[name].Rows) != p.Inputs() {
				t.Errorf("%s: %d rows, want %d", name, p.Inputs(), len(want[name].Rows))
				return
			}
			for i, row := range want[name].Rows {
				w, err := p.Row(i)
				if err != nil || w.Len() != len(row) {
					t.Fatal(name, i, err)
				}
				for j, n := range row {
					if w.At(j) != n {
						t.Errorf("%s: row %d has %d at %d, want %d", name, i, w.At(j), j, n)
					}
				}
			}
		})
	}
}
