package certificate_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// Two points at distance 1, everything on the first, at most three quarters of it may stay: the problem that
// docs/certificates.md checks with a pencil.
func Example() {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	p := projection.Problem{Cost: c, Source: []float64{1, 0}, Lo: []float64{0.25, 0.25}, Hi: []float64{0.75, 0.75}}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	made, err := certificate.NewProjection(context.Background(), p, r)
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
	proved, err := certificate.Verify(context.Background(), read)
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

// A file of certificates, one a line, read and verified one by one.
func ExampleRead() {
	ctx := context.Background()
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	best, err := basemeasure.Solve(ctx, c, 1, basemeasure.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	design, err := certificate.NewBaseMeasure(ctx, c, 1, best)
	if err != nil {
		log.Fatal(err)
	}
	a, b := []float64{1, 0}, []float64{0.5, 0.5}
	moved, err := mincostflow.Transport(ctx, c, a, b)
	if err != nil {
		log.Fatal(err)
	}
	distance, err := certificate.NewTransport(context.Background(), c, a, b, moved)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := certificate.Write(&file, design, distance); err != nil {
		log.Fatal(err)
	}

	err = certificate.Read(&file, func(line int, c certificate.Certificate) error {
		proved, err := certificate.Verify(ctx, c)
		if err != nil {
			return err
		}
		lower, upper := proved.Floats()
		fmt.Printf("line %d: %s, %.6f to %.6f, private: %t\n", line, c.Kind(), lower, upper, c.Private())
		return nil
	})
	fmt.Println(err)
	// Output:
	// line 1: base-measure, 0.268941 to 0.268941, private: false
	// line 2: transport, 0.500000 to 0.500000, private: true
	// <nil>
}
