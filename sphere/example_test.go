package sphere_test

import (
	"fmt"
	"log"

	"github.com/wpm-go/wpm/sphere"
)

// Unit vectors of 64 coordinates, squared distance, eps = 4.
func ExampleSolve() {
	m, err := sphere.Solve(63, 2, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the cap: <x,y> >= %.6f, %.4f of the sphere, with probability %.4f\n", m.T, m.S, m.Pin)
	fmt.Printf("worst case: W_2 = %.6f\n", m.W)
	fmt.Printf("as an unbiased estimate y/t of x: mean squared error %.4f\n", 1/(m.T*m.T)-1)
	// Output:
	// the cap: <x,y> >= 0.188482, 0.0663 of the sphere, with probability 0.7951
	// worst case: W_2 = 1.273984
	// as an unbiased estimate y/t of x: mean squared error 27.1487
}

// Proved: no eps-LDP mechanism on the circle has a worst case below the lower bound, and there is one at the upper.
func ExampleEnclose() {
	b, err := sphere.Enclose(1, 2, 1, 60)
	if err != nil {
		log.Fatal(err)
	}
	lower, upper := b.W()
	fmt.Printf("%.14f <= W_2 <= %.14f\n", lower, upper)
	fmt.Println(b.Verify(1, 2, 1))
	// Output:
	// 1.17619120052413 <= W_2 <= 1.17619120052413
	// <nil>
}
