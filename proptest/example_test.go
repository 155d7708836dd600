package proptest_test

import (
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
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

// Bounds on e^x from the power series, in rationals.
func ExampleExpBounds() {
	lower, upper := proptest.ExpBounds(big.NewRat(1, 1), 100)
	fmt.Println(lower.FloatString(25))
	fmt.Println(upper.FloatString(25))
	// Output:
	// 2.7182818284590452353602875
	// 2.7182818284590452353602875
}

// The laws and where they come from.
func ExampleLaw() {
	for _, l := range proptest.VerifyLaws() {
		fmt.Printf("%s: %s\n", l.Name, l.Statement)
	}
	for _, l := range proptest.MechanismLaws() {
		fmt.Printf("%s: %s\n", l.Name, l.Statement)
	}
	// Output:
	// PolytopeIf: thm:polytope, if; definition of the LDP polytope
	// PolytopeOnlyIf: thm:polytope, only if
	// ProjectionLDP: prop:projection-ldp
}
