package proptest_test

import (
	"fmt"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/privacy"
)

// The exact value of a small projection, by successive shortest paths on integers. Half the mass is at
// either input; the box lets at most 3/4 of it go to the first output, and at least 1/2.
func ExampleProblem_Optimum() {
	p := proptest.Problem{
		C:  [][]float64{{0, 1}, {3, 1}},
		Mu: []float64{0.5, 0.5},
		Lo: []float64{0.625, 0.125},
		Hi: []float64{0.75, 0.5},
	}
	v, err := p.Optimum()
	fmt.Println(v, err)
	// Output: 3/4 <nil>
}

// The laws and where they come from.
func ExampleLaw() {
	for _, l := range privacy.VerifyLaws() {
		fmt.Printf("%s: %s\n", l.Name, l.Statement)
	}
	for _, l := range privacy.MechanismLaws() {
		fmt.Printf("%s: %s\n", l.Name, l.Statement)
	}
	// Output:
	// PolytopeIf: thm:polytope, if; definition of the LDP polytope
	// PolytopeOnlyIf: thm:polytope, only if
	// ProjectionLDP: prop:projection-ldp
}
