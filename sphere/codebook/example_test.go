package codebook_test

import (
	"fmt"
	"log"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// A client releases a direction of three coordinates; the server reads the point that the report stands for.
func Example() {
	eps, err := ldp.ParseEpsilon("4")
	if err != nil {
		log.Fatal(err)
	}
	book, err := codebook.New(codebook.Config{Dim: 2, P: 2, Epsilon: eps})
	if err != nil {
		log.Fatal(err)
	}
	report, err := book.Release([]float64{0.6, 0, 0.8}) // private; crypto/rand inside
	if err != nil {
		log.Fatal(err)
	}
	wire, err := report.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var got codebook.Report
	if err := got.UnmarshalBinary(wire); err != nil {
		log.Fatal(err)
	}
	y, err := book.Point(got)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(wire), "bytes, a vector of", len(y), "coordinates")
	fmt.Printf("worst case W_2 %.3f; %d of %d candidates high\n", book.Measure().W, book.Config().High, book.Config().Points)
	// Output:
	// 40 bytes, a vector of 3 coordinates
	// worst case W_2 0.691; 122 of 1024 candidates high
}
