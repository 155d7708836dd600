// Command estimate is "wpm solve" for WebAssembly with all its kinds, those of js/wasm and estimate. It is apart from
// that program because a page that only solves need not load what a map takes. js/wasm/build.js builds both.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/wpm-go/wpm/internal/machine"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: estimate KIND <LINES")
		os.Exit(2)
	}
	if _, _, err := machine.Run(context.Background(), os.Args[1], machine.Settings{}, os.Stdin,
		os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
