package numtest

import (
	"flag"
	"os"
	"slices"

	_ "pgregory.net/rapid" // defines the flag
)

// Rapid draws the same cases in every run: a change is judged by the same cases before and after, and no run fails by
// chance. Every test package that draws imports this one, which a test of the module's root holds. Other cases come
// from the environment variable WPM_SEED, a number or "random", or from the flag -rapid.seed. `.ci/full` draws at
// random.
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
	if err := flag.Set("rapid.nofailfile", "true"); err != nil { // nothing is written into the tree
		panic(err)
	}
	if os.Getenv("WPM_FULL") == "" && !slices.Contains(os.Args, "-test.short=true") {
		if err := flag.Set("rapid.checks", drawn); err != nil {
			panic(err)
		}
	}
}

// drawn is how many cases of a law are drawn. Rapid's own number is 100, that of a Full run; with -short it takes a
// fifth of that, and so does the evidence on mutants. The flag -rapid.checks comes after both.
const drawn = "30"
