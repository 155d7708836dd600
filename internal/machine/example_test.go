package machine_test

import (
	"context"
	"os"
	"strings"

	"github.com/wpm-go/wpm/internal/machine"
)

// Round a distribution into the integer box of a mechanism: exact values are strings.
func ExampleRun() {
	in := `{"id":7,"m":[0.5,0.5],"eps":"1","bits":4,"q":[2]}` + "\n"
	_, _, err := machine.Run(context.Background(), "round", machine.Settings{}, strings.NewReader(in), os.Stdout)
	if err != nil {
		panic(err)
	}
	// Output:
	// {"id":7,"error":"field \"q\" has 1 entries, m 2"}
}
