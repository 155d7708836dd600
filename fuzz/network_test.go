package fuzz

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/wpmerr"
)

var networkSentinels = []error{network.ErrArc, wpmerr.ErrBox, network.ErrBalance, wpmerr.ErrOverflow}

// int64 returns a number: small in most cases, else of any size, with a liking for edges.
func (f *feed) int64() int64 {
	switch v := f.byte(); {
	case v < 200:
		return int64(v%21) - 5
	case v < 230:
		return int64(1)<<(f.byte()%64) - int64(v%3)
	case v < 250:
		return -(int64(1) << (f.byte() % 64)) + int64(v%3)
	}
	return int64(f.uint64())
}

// network returns a network of at most six nodes and fifteen arcs. Its supplies balance unless style asks
// for more freedom.
func (f *feed) network() *network.Problem {
	g := &network.Problem{Supply: make([]int64, f.size(6))}
	n := len(g.Supply)
	style := f.byte()
	for range int(f.byte()) % 16 {
		a := network.Arc{From: int(f.byte()) % n, To: int(f.byte()) % n, Cost: f.int64()}
		switch kind := f.byte(); kind % 4 {
		case 0:
			a.Upper = int64(kind)
		case 1:
			a.Lower, a.Upper = f.int64(), network.Unlimited
		case 2:
			a.Lower, a.Upper = -network.Unlimited, f.int64()
		default:
			a.Lower, a.Upper = f.int64(), f.int64()
			if a.Lower > a.Upper && style%8 != 7 {
				a.Lower, a.Upper = a.Upper, a.Lower
			}
		}
		g.Arcs = append(g.Arcs, a)
	}
	for range n {
		u, v, b := int(f.byte())%n, int(f.byte())%n, f.int64()
		g.Supply[u] += b
		if style%16 != 15 {
			g.Supply[v] -= b
		}
	}
	if style == 255 && len(g.Arcs) > 0 {
		g.Arcs[0].To += n
	}
	return g
}

// bellmanFord returns the best cost of a flow in g, found the slowest way there is; ok is false if
// numbers are too large for it. It cancels negative cycles, then saturates cheapest paths.
func bellmanFord(g *network.Problem) (status network.Status, cost int64, ok bool) {
	const (
		small = 1 << 16
		inf   = 1 << 40 // more than any flow there can be
	)
	type edge struct {
		from, to   int
		room, cost int64
	}
	n := len(g.Supply)
	var edges []edge // e and e^1 are opposite
	left := slices.Clone(g.Supply)
	limit := func(x int64, infinite bool) int64 {
		ok = ok && (infinite || -small <= x && x <= small)
		if infinite {
			return inf
		}
		return x
	}
	ok = true
	for _, b := range g.Supply {
		limit(b, false)
	}
	for _, a := range g.Arcs {
		limit(a.Cost, false)
		lower, upper := limit(a.Lower, a.Lower <= -network.Unlimited), limit(a.Upper, a.Upper == network.Unlimited)
		start, room, back := lower, upper-lower, int64(0)
		switch {
		case lower == inf && upper == inf:
			start, room, back = 0, inf, inf
		case lower == inf:
			start, room, back = upper, 0, inf
		case upper == inf:
			room = inf
		}
		edges = append(edges, edge{a.From, a.To, room, a.Cost}, edge{a.To, a.From, back, -a.Cost})
		left[a.From] -= start
		left[a.To] += start
		cost += start * a.Cost
	}
	if !ok {
		return 0, 0, false
	}
	for v, b := range left {
		if b > 0 {
			edges = append(edges, edge{n, v, b, 0}, edge{v, n, 0, 0})
		} else {
			edges = append(edges, edge{v, n + 1, -b, 0}, edge{n + 1, v, 0, 0})
		}
	}
	send := func(path []int) {
		most := int64(inf)
		for _, e := range path {
			most = min(most, edges[e].room)
		}
		for _, e := range path {
			if edges[e].room < inf/2 {
				edges[e].room -= most
			}
			if edges[e^1].room < inf/2 {
				edges[e^1].room += most
			}
			cost += most * edges[e].cost
		}
	}
	cycle := func(least int64) []int {
		dist, via := make([]int64, n+2), make([]int, n+2)
		last := 0
		for range n + 3 {
			last = -1
			for e, a := range edges {
				if a.room >= least && dist[a.from]+a.cost < dist[a.to] {
					dist[a.to], via[a.to], last = dist[a.from]+a.cost, e, a.to
				}
			}
		}
		if last < 0 {
			return nil
		}
		for range n + 2 {
			last = edges[via[last]].from
		}
		path := []int{via[last]}
		for v := edges[via[last]].from; v != last; v = edges[via[v]].from {
			path = append(path, via[v])
		}
		return path
	}
	ray := cycle(inf/2) != nil
	if ray {
		for e := range edges {
			edges[e].cost = 0
		}
	}
	for c := cycle(1); c != nil; c = cycle(1) {
		send(c)
	}
	for {
		dist, via := slices.Repeat([]int64{math.MaxInt64 / 2}, n+2), make([]int, n+2)
		dist[n] = 0
		for range n + 2 {
			for e, a := range edges {
				if a.room > 0 && dist[a.from] < math.MaxInt64/2 && dist[a.from]+a.cost < dist[a.to] {
					dist[a.to], via[a.to] = dist[a.from]+a.cost, e
				}
			}
		}
		if dist[n+1] == math.MaxInt64/2 {
			break
		}
		var path []int
		for v := n + 1; v != n; v = edges[via[v]].from {
			path = append(path, via[v])
		}
		send(path)
	}
	for _, e := range edges {
		if e.from == n && e.room > 0 {
			return network.Infeasible, 0, true
		}
	}
	if ray {
		return network.Unbounded, 0, true
	}
	return network.Optimal, cost, true
}

// FuzzNetwork solves any network: the proof must hold, whatever the size of the numbers, and the answer agree
// with the slow solver where that can be asked. What is spoilt in the answer afterwards must not
// turn Verify's yes into a lie.
func FuzzNetwork(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 0, 4, 0, 1, 6, 8, 1, 2, 7, 12, 0, 2, 15, 4, 2, 3, 6, 3, 5, 9, 0, 3, 8, 1, 2, 6, 0, 0, 5})
	f.Add([]byte{1, 0, 2, 0, 1, 3, 1, 5, 1, 0, 1, 1, 5, 0, 1, 9})
	f.Add([]byte{1, 0, 2, 0, 1, 201, 60, 1, 5, 1, 0, 231, 61, 2, 201, 62, 0, 1, 202, 62})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		g := in.network()
		kept := network.Problem{Supply: slices.Clone(g.Supply), Arcs: slices.Clone(g.Arcs)}
		r, err := network.Solve(context.Background(), g, network.Settings{})
		if !reflect.DeepEqual(*g, kept) {
			t.Fatalf("Solve changed %+v to %+v", kept, *g)
		}
		if err != nil && r.Status == network.Unknown {
			typed(t, err, networkSentinels...)
			if !reflect.DeepEqual(r, network.Result{}) {
				t.Fatalf("%+v beside %v", r, err)
			}
			return
		}
		if want := noOptimum[r.Status]; !errors.Is(err, want) {
			t.Fatalf("%v beside %v", r.Status, err)
		}
		if err := network.Verify(g, r); err != nil {
			t.Fatalf("%v\n%+v\n%+v", err, *g, r)
		}
		status, cost, ok := bellmanFord(g)
		if !ok {
			return
		}
		if status != r.Status || status == network.Optimal && r.Objective.Cmp(big.NewInt(cost)) != 0 {
			t.Fatalf("%+v\n%v with cost %v, the slow way %v with cost %d", *g, r.Status, r.Objective, status, cost)
		}
		for range int(in.byte()) % 4 {
			switch at := int(in.byte()); in.byte() % 8 {
			case 0:
				r.Status = network.Status(at % 7)
			case 1:
				if len(r.Flow) > 0 {
					r.Flow[at%len(r.Flow)] += in.int64()
				}
			case 2:
				if len(r.Potentials) > 0 {
					r.Potentials[at%len(r.Potentials)] += in.int64()
				}
			case 3:
				r.Objective = big.NewInt(in.int64())
			case 4:
				r.Cut = append(r.Cut, int(in.int64()))
			case 5:
				r.Cycle = append(r.Cycle, network.Step{Arc: int(in.int64()), Backward: at%2 == 0})
			case 6:
				r.Cut, r.Cycle = r.Cut[:len(r.Cut)/2], r.Cycle[:len(r.Cycle)/2]
			case 7:
				r.Potentials = make([]int64, len(g.Supply))
			}
		}
		switch err := network.Verify(g, r); {
		case err != nil:
			typed(t, err, wpmerr.ErrCertificate)
		case r.Status == network.PivotLimit || r.Status == network.Cancelled: // claims a flow at most
		case r.Status != status || status == network.Optimal && r.Objective.Cmp(big.NewInt(cost)) != 0:
			t.Fatalf("Verify accepts %+v\nof %+v\nwhich is %v with cost %d", r, *g, status, cost)
		}
	})
}

// noOptimum has the errors that go with a status.
var noOptimum = map[network.Status]error{network.Infeasible: wpmerr.ErrInfeasible,
	network.Unbounded: network.ErrUnbounded}

// FuzzDIMACS reads any file. What is read can be written and read again, and the answer to it can be
// printed.
func FuzzDIMACS(f *testing.F) {
	f.Add([]byte("c example\np min 4 5\nn 1 4\nn 4 -4\na 1 2 0 4 2\na 1 3 0 2 2\na 2 3 0 2 1\na 2 4 0 3 3\na 3 4 0 5 1\n"))
	f.Add([]byte("p min 2 3\r\na 1 2 -inf inf -3\r\na 1 2 -5 inf 3\na 2 1 4 -1 0"))
	f.Add([]byte("p min 2 1\nn 1 9223372036854775807\nn 2 -9223372036854775807\na 1 2 0 9223372036854775806 -9223372036854775808"))
	f.Add([]byte("p min 500000000 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := network.ReadDIMACS(bytes.NewReader(data))
		if err != nil {
			if g != nil {
				t.Fatalf("%+v beside %v", g, err)
			}
			typed(t, err, network.ErrSyntax)
			return
		}
		if len(g.Supply) > 1000 || len(g.Arcs) > 1000 {
			return
		}
		var text bytes.Buffer
		if err := g.WriteDIMACS(&text); err != nil {
			t.Fatalf("%+v cannot be written: %v", *g, err)
		}
		again, err := network.ReadDIMACS(bytes.NewReader(text.Bytes()))
		if err != nil || !reflect.DeepEqual(g, again) {
			t.Fatalf("%+v\nread again as %+v, %v from\n%s", *g, again, err, text.Bytes())
		}
		r, err := network.Solve(context.Background(), g, network.Settings{MaxPivots: 10_000})
		if err != nil {
			typed(t, err, append(networkSentinels, wpmerr.ErrNotConverged, wpmerr.ErrInfeasible, network.ErrUnbounded)...)
			if r.Status == network.Unknown {
				return
			}
		}
		if err := network.Verify(g, r); err != nil {
			t.Fatalf("%v\n%+v\n%+v", err, *g, r)
		}
		var out bytes.Buffer
		if err := r.WriteSolution(&out, g, true); err != nil {
			t.Fatal(err)
		}
		lines := 1 + len(r.Potentials) + len(r.Cut) + len(r.Cycle) + len(r.Flow)
		if r.Flow != nil {
			lines++
		}
		if got := bytes.Count(out.Bytes(), []byte{'\n'}); got != lines {
			t.Fatalf("%d lines, want %d:\n%s", got, lines, out.Bytes())
		}
	})
}
