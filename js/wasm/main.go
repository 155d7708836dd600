// Command wasm is "wpm solve" for WebAssembly: it answers the lines of package internal/machine on standard input,
// whose kind is its only argument. It holds the solvers and nothing that draws. js/wasm/build.js builds it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/wpm-go/wpm/internal/machine"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wasm KIND <LINES")
		os.Exit(2)
	}
	if _, _, err := machine.RunSolvers(context.Background(), os.Args[1], machine.Settings{}, os.Stdin,
		os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
