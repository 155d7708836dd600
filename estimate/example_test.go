package estimate_test

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
)

// problem has 5,000 releases of eight places on a line. The true place has e^2 times the weight of every other one in a
// release. The people are at places 1 and 2, and the counts are those that are expected.
func problem() (estimate.Problem, error) {
	const k = 8
	line := make([][]float64, k)
	for i := range line {
		line[i] = []float64{float64(i)}
	}
	c, err := cost.NewPoints(line, nil, 1)
	if err != nil {
		return estimate.Problem{}, err
	}
	geometry, err := estimate.NewGeometry(context.Background(), c, 1)
	if err != nil {
		return estimate.Problem{}, err
	}
	channel, err := estimate.NewChannel(k, k, func(i int, dst []float64) {
		for j := range dst {
			dst[j] = 1
		}
		dst[i] = math.Exp(2)
	})
	return estimate.Problem{
		Counts:   []uint64{347, 1778, 1140, 347, 347, 347, 347, 347},
		Channel:  channel,
		Geometry: geometry,
	}, err
}

func ExampleMap() {
	p, err := problem()
	if err != nil {
		panic(err)
	}
	raw, err := estimate.Raw(p.Counts)
	if err != nil {
		panic(err)
	}
	m, err := estimate.Map(context.Background(), p, estimate.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("raw %.2f\n", raw)
	fmt.Printf("map %.2f\n", m.Theta)
	fmt.Println("signal", m.Signal)
	// Output:
	// raw [0.07 0.36 0.23 0.07 0.07 0.07 0.07 0.07]
	// map [0.00 0.64 0.35 0.00 0.00 0.00 0.00 0.00]
	// signal ok
}

// EM needs no distances. It stops early on the way to the likeliest map.
func ExampleEM() {
	p, err := problem()
	if err != nil {
		panic(err)
	}
	path, err := estimate.EM(context.Background(), p)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f\n", path.Theta)
	// Output:
	// [0.00 0.64 0.35 0.00 0.00 0.00 0.00 0.00]
}

func ExampleMLE() {
	p, err := problem()
	if err != nil {
		panic(err)
	}
	m, err := estimate.MLE(context.Background(), p, 0)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, proved to %.0e\n", m.Theta, estimate.DefaultGap)
	fmt.Println(m.Gap <= estimate.DefaultGap)
	// Output:
	// [0.00 0.64 0.36 0.00 0.00 0.00 0.00 0.00], proved to 1e-06
	// true
}

// The share of people who are at the first three places.
func ExampleInterval() {
	p, err := problem()
	if err != nil {
		panic(err)
	}
	s, err := estimate.Interval(context.Background(), p, []float64{1, 1, 1, 0, 0, 0, 0, 0}, 0.9)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f to %.2f\n", s.Lower, s.Upper)
	// Output:
	// 0.98 to 1.00
}

// More devices are worth a smaller disc of favoured outputs.
func ExampleDisc() {
	grid, err := cost.NewGrid(10, 10, 1)
	if err != nil {
		panic(err)
	}
	for _, devices := range []int{100, 10_000} {
		share, err := estimate.Disc(context.Background(), grid, 1, 1, devices)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d devices: %.2f of the outputs\n", devices, share)
	}
	// Output:
	// 100 devices: 0.36 of the outputs
	// 10000 devices: 0.22 of the outputs
}
