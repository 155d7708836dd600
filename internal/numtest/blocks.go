package numtest

import (
	"os"
	"strings"
	"testing"
)

// Blocks returns the fenced blocks of a Markdown page that have a name, by name: the second word after the backquotes.
// The text of a block ends with its last line end. Two blocks of one name fail the test.
func Blocks(t testing.TB, page string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	name, inside := "", false
	for line := range strings.Lines(string(text)) {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && inside:
			inside = false
		case fence:
			inside, name = true, ""
			if words := strings.Fields(info); len(words) > 1 {
				name = words[1]
				if _, twice := blocks[name]; twice {
					t.Errorf("%s has two blocks %q", page, name)
				}
				blocks[name] = ""
			}
		case inside && name != "":
			blocks[name] += line
		}
	}
	return blocks
}
