package country_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/lab/country"
)

func ExampleRun() {
	res, err := country.Run(context.Background(),
		country.Config{Places: 200, Devices: 50, Epsilons: []string{"8"}, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := res.Rows[0]
	fmt.Println(row.Lower <= row.Worst, row.Map < res.Uniform)
	// Output: true true
}
