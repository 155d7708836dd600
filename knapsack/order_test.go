package knapsack_test

import (
	"context"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
)

// TestOrder: columns by cost, the lowest first among equals; nothing for a row that is not there.
func TestOrder(t *testing.T) {
	c, err := cost.FromRows([][]float64{{2, 0, 2, 1}, {0, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		table *knapsack.Table
		i     int
		want  []int32
	}{
		{table, 0, []int32{1, 3, 0, 2}}, {table, 1, []int32{0, 1, 2, 3}}, {table, -1, nil}, {table, 2, nil}, {nil, 0, nil},
	} {
		if got := tt.table.Order(tt.i); !slices.Equal(got, tt.want) {
			t.Errorf("row %d: %v, want %v", tt.i, got, tt.want)
		}
	}
	if order := append(table.Order(0), 9); table.Order(1)[0] != 0 || len(order) != 5 { // no row reaches into the next
		t.Error("appending to one row changes another")
	}
}
