package compare_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/lab/compare"
)

func Example() {
	d, err := cost.Manhattan([][]float64{{0, 0}, {1, 0}, {4, 3}}, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := compare.Run(context.Background(), compare.Data{
		Distance: d, P: 1, Same: true,
		Users: []compare.User{{ID: "a", Mu: []float64{3, 1, 0}}, {ID: "b", Mu: []float64{0, 0, 1}}},
	}, compare.Config{Epsilons: []string{"2"}, Methods: []compare.Method{compare.WPM, compare.KPM}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range res.Rows {
		fmt.Printf("%s, %s: %.3f\n", row.Method.Name(), row.Metric, row.Mean)
	}
	// Output:
	// WPM, w1: 1.012
	// WPM, tv: 0.160
	// WPM, hit@1: 0.768
	// KPM, w1: 1.052
	// KPM, tv: 0.160
	// KPM, hit@1: 0.729
}
