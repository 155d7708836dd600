package costio_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
)

// A cost matrix from text, with its header.
func ExampleReadCSV() {
	d, err := costio.ReadCSV(strings.NewReader("near,far\n0,1\n1,0.5\n"), "c.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.K, d.Kv, d.Data)
	// Output: 2 2 [0 1 1 0.5]
}

// Points, and the cost between them.
func ExampleReadPoints() {
	p, err := costio.ReadPoints(strings.NewReader("label,x,y\na,0,0\nb,3,4\n"), "points.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := cost.NewPoints(p.X, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Labels, c.Row(0, nil))

	_, err = costio.ReadPoints(strings.NewReader("a,0,0\nb,3,abc\n"), "points.csv")
	fmt.Println(err)
	// Output:
	// [a b] [0 5]
	// points.csv:2: field 3: "abc" is not a number
}

// Counts of several users, against the labels that are known.
func ExampleReadCounts() {
	c, err := costio.ReadCounts(strings.NewReader("user,label,count\nann,b,2\nbob,a,1\nann,a,3\n"), "counts.csv",
		[]string{"a", "b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for u, rows := range c.ByUser() {
		for _, r := range rows {
			fmt.Println(c.Users[u], c.Labels[r.Label], r.N)
		}
	}
	// Output:
	// ann a 3
	// ann b 2
	// bob a 1
}

func ExampleWriteCSV() {
	c, err := cost.NewGrid(1, 3, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := costio.WriteCSV(context.Background(), os.Stdout, c); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0,0.3333333333333333,0.6666666666666666
	// 0.3333333333333333,0,0.3333333333333333
	// 0.6666666666666666,0.3333333333333333,0
}
