package numtest

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // defines the flag
)

// Rapid draws the same cases in every run: a change is judged by the same cases before and after, and no run fails by
// chance. Every test package that draws imports this one, which a test of the module's root holds. Other cases come
// from the environment variable WPM_SEED, a number or "random", or from the flag -rapid.seed. `.ci/full` draws at random.
func init() {
	seed := os.Getenv("WPM_SEED")
	switch seed {
	case "":
		seed = "20260101"
	case "random":
		seed = "0" // rapid's word for it
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic("WPM_SEED: " + err.Error())
	}
}
