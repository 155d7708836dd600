package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// The machine interface: round a distribution into the integer box of a mechanism.
func Example_solve() {
	in := strings.NewReader(`{"m":[0.5,0.5],"eps":"1","bits":4,"q":[0.7,0.3]}` + "\n")
	var out strings.Builder
	status := run(context.Background(), []string{"wpm", "solve", "round"}, in, &out, os.Stderr)
	answer, _, _ := strings.Cut(out.String(), `,"seconds"`)
	fmt.Println(status, answer)
	// Output:
	// 0 {"lo":["6","6"],"hi":["16","16"],"weights":["10","6"],"verified":true
}
