package codebook_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// A publisher writes the policy; a client releases a direction of three coordinates; the server reads the point that
// the report stands for.
func Example() {
	eps, err := ldp.ParseEpsilon("4")
	if err != nil {
		log.Fatal(err)
	}
	book, err := codebook.New(codebook.Config{
		Dim: 2, P: 2, Epsilon: eps,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		log.Fatal(err)
	}
	file, err := codebook.Encode(book)
	if err != nil {
		log.Fatal(err)
	}

	// On the device.
	dir, err := os.MkdirTemp("", "codebook")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	book, err = codebook.Decode(file)
	if err != nil {
		log.Fatal(err)
	}
	ledger, err := ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Epoch: "2026-11", Budget: "8"})
	if err != nil {
		log.Fatal(err)
	}
	defer ledger.Close()
	report, err := codebook.Release(context.Background(), book, ledger, []byte("1,0.6,0,0.8\n"))
	if err != nil {
		log.Fatal(err)
	}

	y, err := book.Point(report)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a report of %d characters, a vector of %d coordinates\n", len(report.String()), len(y))
	fmt.Printf("worst case W_2 %.3f, %v spent\n", book.Measure().W, ledger.Spent())
	// Output:
	// a report of 144 characters, a vector of 3 coordinates
	// worst case W_2 0.691, 4/1 spent
}
