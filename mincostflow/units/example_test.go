package units_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow/units"
)

// Ten people, counted, are moved to rooms for two to four.
func ExampleProject() {
	c, err := cost.FromRows([][]float64{{0, 1, 3}, {1, 0, 1}})
	if err != nil {
		panic(err)
	}
	p := units.Problem{Cost: c, Source: []int64{7, 3}, Lo: []int64{2, 2, 2}, Hi: []int64{4, 4, 4}}
	r, err := units.Project(context.Background(), p, units.Settings{})
	if err != nil {
		panic(err)
	}
	upper, lower, err := units.Verify(context.Background(), p, r)
	fmt.Println(r.Q, upper, lower, err)
	// Output: [4 4 2] 1/2 1/2 <nil>
}
