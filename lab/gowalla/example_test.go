package gowalla_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/lab/gowalla"
)

// The study on a synthetic village instead of real data.
func ExampleCompare() {
	people, err := city.Generate(1, 50, 5, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := gowalla.Compare(context.Background(), people, gowalla.Config{Epsilons: []string{"2"}, Runs: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	wpm, _ := res.Row(gowalla.WPM, "2")
	kpm, _ := res.Row(gowalla.KPM, "2")
	fmt.Println("WPM is closer to the truth than KPM:", wpm.Expected < kpm.Expected)
	// Output: WPM is closer to the truth than KPM: true
}
