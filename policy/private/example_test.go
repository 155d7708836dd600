package private_test

import (
	"fmt"

	"github.com/wpm-go/wpm/policy/private"
)

// Any bytes give a distribution. What is unusable gives equal counts and a fault, which names no content; and no
// distribution prints.
func ExampleRead() {
	places := private.Labels{Inputs: 2, Names: []string{"home", "away"}, Index: map[string]int32{"home": 0, "away": 1}}
	for _, text := range []string{"label,count\nhome,3\naway,1\n", "home,3\nsecret,1\n"} {
		d, usable, fault := private.Read(places, []byte(text))
		fmt.Println(usable, d.Mu(), d)
		if usable == 0 {
			fmt.Println(&fault)
		}
	}
	// Output:
	// 1 [0.75 0.25] private.Distribution(redacted)
	// 0 [0.5 0.5] private.Distribution(redacted)
	// private: unusable data: line 2: not a label of the policy
}
