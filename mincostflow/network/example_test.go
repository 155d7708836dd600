package network_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/wpmerr"
)

// Two plants, two shops; one road is narrow, and the second plant has to send something directly.
func Example() {
	g := &network.Problem{}
	north, south := g.AddNode(30), g.AddNode(20)
	city, coast := g.AddNode(-35), g.AddNode(-15)
	g.AddArc(north, city, 0, 25, 4)
	g.AddArc(north, coast, 0, network.Unlimited, 6)
	g.AddArc(south, city, 5, network.Unlimited, 5)
	g.AddArc(south, coast, 0, network.Unlimited, 3)
	g.AddArc(city, coast, 0, network.Unlimited, 1)

	r, err := network.Solve(context.Background(), g, network.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Status, "cost", r.Objective)
	for e, x := range r.Flow {
		fmt.Printf("%d -> %d: %d\n", g.Arcs[e].From, g.Arcs[e].To, x)
	}
	fmt.Println("proof:", network.Verify(g, r))
	// Output:
	// optimal cost 210
	// 0 -> 2: 25
	// 0 -> 3: 5
	// 1 -> 2: 10
	// 1 -> 3: 10
	// 2 -> 3: 0
	// proof: <nil>
}

// What cannot be sent is proved by a cut: its nodes have more than the arcs out of them can carry.
func Example_infeasible() {
	g, err := network.ReadDIMACS(strings.NewReader(`c 5 units have to cross arcs of capacity 3
p min 4 3
n 1 5
n 4 -5
a 1 2 0 9 1
a 2 3 0 3 1
a 3 4 0 9 1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := network.Solve(context.Background(), g, network.Settings{})
	if !errors.Is(err, wpmerr.ErrInfeasible) {
		fmt.Println(err)
		return
	}
	if err := r.WriteSolution(os.Stdout, g, true); err != nil {
		fmt.Println(err)
	}
	// Output:
	// c infeasible
	// c cut 1
	// c cut 2
}
