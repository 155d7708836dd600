package conform

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSpec: the kinds of docs/spec/conform.md are those here, its schema is JSON, and its example is what a client
// says.
func TestSpec(t *testing.T) {
	page, err := os.ReadFile("../docs/spec/conform.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(name string) string {
		m := regexp.MustCompile("(?s)```json " + name + "\n(.*?)```").FindSubmatch(page)
		if m == nil {
			t.Fatalf("no block %q", name)
		}
		return string(m[1])
	}
	var schema struct {
		Defs struct {
			Hello struct {
				Properties struct {
					Kinds struct {
						Items struct {
							Enum []string `json:"enum"`
						} `json:"items"`
					} `json:"kinds"`
				} `json:"properties"`
			} `json:"hello"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(block("schema")), &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Defs.Hello.Properties.Kinds.Items.Enum; !slices.Equal(got, kinds) {
		t.Errorf("the schema has the kinds %q, want %q", got, kinds)
	}
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| `").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, m[1])
	}
	slices.Sort(rows)
	if rows = slices.Compact(rows); !slices.Equal(rows, kinds) {
		t.Errorf("the tables have the kinds %q, want %q", rows, kinds)
	}
	lines := strings.Split(strings.TrimSpace(block("lines")), "\n")
	if err := new(hello).read([]byte(lines[0])); err != nil {
		t.Error(err)
	}
	for n := 1; n < len(lines); n += 2 {
		var want, got map[string]any
		if json.Unmarshal([]byte(lines[n+1]), &want) != nil || json.Unmarshal([]byte(answer([]byte(lines[n]))), &got) != nil {
			t.Fatalf("%s is not answered", lines[n])
		}
		if got["index"] != want["index"] || got["id"] != want["id"] || (got["error"] == nil) != (want["error"] == nil) {
			t.Errorf("%s is answered by %v, want %v", lines[n], got, want)
		}
	}
	used := map[string]bool{}
	for _, g := range vectorGroups() {
		used[g.kind] = true
	}
	for _, l := range laws() {
		for _, kind := range l.kinds {
			used[kind] = true
		}
	}
	if len(used) != len(kinds) {
		t.Errorf("%d kinds are asked, want all %d", len(used), len(kinds))
	}
}
