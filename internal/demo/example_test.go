package demo_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/internal/demo"
)

func ExampleRun() {
	res, err := demo.Run(context.Background(),
		demo.Config{Users: 20, Rows: 4, Cols: 4, Epsilons: []string{"2"}, Epsilon: "2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(res.Policies), "policies verified, a report of", res.ReportBytes, "bytes, ε =", res.Spent, "spent")
	// Output: 2 policies verified, a report of 40 bytes, ε = 2 spent
}
