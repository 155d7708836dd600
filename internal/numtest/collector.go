package numtest

import (
	"os"
	"runtime/debug"
)

// Tests make much garbage and end soon: collecting it an eighth as often saves a fifth of their processor time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
