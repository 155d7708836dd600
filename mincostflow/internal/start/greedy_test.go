package start

import (
	"testing"

	"pgregory.net/rapid"
)

// TestGreedy: every node that hangs from another does so by an arc of the costs, which carries something there, and all
// that columns must have is served. There is no start where rows or columns are many, or columns must have little.
func TestGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(1, 8).Draw(t, "columns")
		m := matrix{n: n}
		p := Problem{Room: make([]uint64, n)}
		units := func(low int) []uint64 {
			return rapid.SliceOfN(rapid.Uint64Range(uint64(low), 20), n, n).Draw(t, "units")
		}
		p.Low = units(0)
		total, low := uint64(0), uint64(0)
		for range k {
			p.Supply = append(p.Supply, rapid.Uint64Range(1, 20).Draw(t, "supply"))
			total += p.Supply[len(p.Supply)-1]
			m.data = append(m.data, rapid.SliceOfN(rapid.Float64Range(0, 3), n, n).Draw(t, "costs")...)
		}
		for _, u := range p.Low {
			low += u
		}
		if low > total { // infeasible: the first row has the rest
			p.Supply[0] += low - total
			total = low
		}
		p.Costs = m
		var f Forest
		half := uint64(0)
		for _, u := range p.Supply {
			half += u / 2
		}
		if got := Greedy(p, &f); got != (low >= half) {
			t.Fatalf("columns must have %d of %d, and there is a start: %v", low, total, got)
		} else if !got {
			return
		}
		net := make([]int64, k+n) // what a subtree has
		for i, u := range p.Supply {
			net[i] = int64(u)
		}
		waiting := make([]int, k+n)
		for j, u := range p.Low {
			net[k+j] = -int64(u)
			if f.Need[j] != u {
				t.Fatalf("column %d gets %d of %d", j, f.Need[j], u)
			}
		}
		for _, v := range f.Parent {
			if v >= 0 {
				waiting[v]++
			}
		}
		for done := 0; done < k+n; {
			before := done
			for v, w := range waiting {
				if w != 0 {
					continue
				}
				waiting[v] = -1
				done++
				up := f.Parent[v]
				if up < 0 {
					if v >= k && net[v] < 0 {
						t.Fatalf("column %d lacks %d", v-k, -net[v])
					}
					continue
				}
				if (v < k) == (int(up) < k) || v < k && net[v] <= 0 || v >= k && net[v] >= 0 {
					t.Fatalf("node %d hangs from %d and has %d", v, up, net[v])
				}
				if i, j := min(v, int(up)), max(v, int(up))-k; f.Cost[v] != m.data[i*n+j] {
					t.Fatalf("the arc of row %d and column %d costs %v", i, j, f.Cost[v])
				}
				net[up] += net[v]
				waiting[up]--
			}
			if done == before {
				t.Fatal("a cycle")
			}
		}
	})
	many := Problem{Supply: make([]uint64, leastNodes), Low: make([]uint64, 2), Room: make([]uint64, 2)}
	few := Problem{Supply: make([]uint64, 2), Low: make([]uint64, leastNodes), Room: make([]uint64, leastNodes)}
	if Greedy(many, new(Forest)) || Greedy(few, new(Forest)) {
		t.Error("a start of many")
	}
}
