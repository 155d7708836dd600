package conform

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/private"
)

// The variable makes this program a client that answers draws from bombs.
const memoryVariable = "WPM_CONFORM_MEMORY"

func init() {
	if name := os.Getenv(memoryVariable); name != "" {
		serveDraws(name)
		os.Exit(0)
	}
}

// serveDraws looks at the first line and at the end: enough to tell bombs that can be used.
func serveDraws(name string) {
	fmt.Println(`{"wpm-conform":1,"name":"memory","kinds":["draw"]}`)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var q struct {
			ID      int
			Private string
		}
		_ = json.Unmarshal(line, &q)
		data, _ := hex.DecodeString(q.Private)
		text := private.Text(data)
		first := make([]byte, 4)
		_, _ = io.ReadFull(text, first)
		if name == "holds" {
			var held []byte
			held, err = io.ReadAll(text)
			first = append(first, held...)[:4]
		} else {
			_, err = io.Copy(io.Discard, text)
		}
		index := 1
		if string(first) == "0,1\n" && (err == nil || name == "ignores") {
			index = 0
		}
		fmt.Printf(`{"id":%d,"index":%d}`+"\n", q.ID, index)
	}
}

// TestMemory: a client that reads on the way passes, one that holds the text does not, and neither does one that has
// the wrong answers.
func TestMemory(t *testing.T) {
	if !canMeasure() {
		t.Skip("the system does not say how much memory a process has had")
	}
	for name, want := range map[string]string{"streams": "", "holds": "MB more than for 16 bytes", "ignores": "index 0, want 1"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(memoryVariable, name)
			// The limit ends a client that hangs. With the race detector, 64 MiB of text take one of them 10 s.
			c := &client{command: []string{os.Args[0]}, limit: 30 * defaultLimit}
			if err := c.start(); err != nil {
				t.Fatal(err)
			}
			g := memoryGroup(c, 40e6)
			if err := c.end(); err != nil {
				t.Error(err)
			}
			if (g.Status == Passed) != (want == "") || !strings.Contains(g.Reason, want) || g.Cases != len(bombs()) {
				t.Errorf("%+v, want %q", g, want)
			}
		})
	}
	_, err := policy.Decode([]byte(memoryPolicy))
	if err != nil {
		t.Errorf("the policy: %v", err)
	}
	if g := memoryGroup(&client{hello: hello{Kinds: []string{"policy"}}}, 1); g.Status != NotOffered {
		t.Errorf("not offered, and %+v", g)
	}
}

// TestMemoryOfJavaScript: 64 MiB of text take at most 40 MB, of which V8's stock of free memory is the most.
func TestMemoryOfJavaScript(t *testing.T) {
	node := numtest.Program(t, "node")
	c := &client{command: []string{node, "../js/conform/client.js"}, limit: 6 * defaultLimit}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	if g := memoryGroup(c, 40e6); g.Status != Passed && canMeasure() {
		t.Errorf("%+v", g)
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}
