package certificate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
)

// Two points at distance 1, everything on the first, at most three quarters of it may stay: the problem that
// docs/certificates.md checks with a pencil.
func Example() {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	p := mincostflow.Problem{Cost: c, Source: []float64{1, 0}, Lo: []float64{0.25, 0.25}, Hi: []float64{0.75, 0.75}}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	made, err := certificate.NewProjection(p, r)
	if err != nil {
		log.Fatal(err)
	}
	text, err := certificate.Encode(made)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made) // it is about somebody's distribution: only Encode shows it

	// Somebody else, later.
	read, err := certificate.Decode(text)
	if err != nil {
		log.Fatal(err)
	}
	proved, err := certificate.Verify(read)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Kind(), "private:", read.Private())
	fmt.Println("proved:", proved.Lower, "<= best cost <=", proved.Upper)
	// Output:
	// certificate(private, not shown)
	// projection private: true
	// proved: 1/4 <= best cost <= 1/4
}
