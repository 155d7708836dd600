// Command wasm is the engine of the playground as a program: lines of JSON in, lines of JSON out (see package engine).
// The page runs it as WebAssembly.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/wpm-go/wpm/internal/playground/engine"
)

func main() {
	debug.SetGCPercent(400) // garbage is some megabytes a step, and the collector has no other thread
	if err := engine.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
