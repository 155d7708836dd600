package wpmerr_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// One value for each kind of error, whichever solver returns it. The text says what was wrong, where, and with which value.
func Example() {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	_, err := mincostflow.Transport(context.Background(), c, []float64{1, -1}, []float64{1, 1})
	fmt.Println(errors.Is(err, wpmerr.ErrNegative), err)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = mincostflow.Transport(ctx, c, []float64{1, 1}, []float64{1, 1})
	fmt.Println(errors.Is(err, wpmerr.ErrNotConverged), errors.Is(err, context.Canceled))
	// Output:
	// true negative value: Source[1] = -1
	// true true
}
