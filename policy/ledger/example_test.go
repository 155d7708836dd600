package ledger_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// A mechanism of one's own under a ledger: two reports at eps 1 fit into a budget of 2.5, a third does not, and what was
// drawn in an epoch is drawn once.
func ExampleAccount() {
	dir, err := os.MkdirTemp("", "wpm")
	check(err)
	defer os.RemoveAll(dir)
	eps, err := ldp.ParseEpsilon("1")
	check(err)
	debit := ledger.Debit{Policy: sha256.Sum256([]byte("what is published of the mechanism")), Epsilon: eps}
	draws := 0
	ready := func() (ledger.Draw, error) {
		return func() ([]byte, error) { // here a mechanism draws, from private data
			draws++
			return append([]byte("own1"), append(debit.Policy[:], byte(draws))...), nil
		}, nil
	}
	for _, epoch := range []string{"may", "june", "june", "july"} {
		books, err := ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Epoch: epoch, Budget: "2.5"})
		check(err)
		report, err := ledger.Account(books, debit, ready)
		if err != nil {
			fmt.Println(epoch, err)
		} else {
			fmt.Println(epoch, "draw", report[len(report)-1], "spent", books.Spent().FloatString(1))
		}
		check(books.Close())
	}
	// Output:
	// may draw 1 spent 1.0
	// june draw 2 spent 2.0
	// june draw 2 spent 2.0
	// july ledger: privacy budget: this release costs 1; of the ledger's 5/2, 2 is spent and 1/2 is left
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
