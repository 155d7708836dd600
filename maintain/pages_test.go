package maintain

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// pages returns the text of every Markdown page of the tree by its path with slashes, but for the licences of others.
func pages(t *testing.T) map[string]string {
	t.Helper()
	text := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".md" || d.Name() == "THIRD_PARTY.md" {
			return nil
		}
		b, err := os.ReadFile(name)
		text[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil || len(text) < 40 {
		t.Fatalf("%d pages, %v", len(text), err)
	}
	return text
}

// fence matches a fenced block: its info string and its lines.
var fence = regexp.MustCompile("(?ms)^```([^`\n]*)\n(.*?)^```$")

// prose returns a page without its blocks of code, and without what stands in backquotes.
func prose(page string) string {
	page = fence.ReplaceAllString(page, "")
	page = regexp.MustCompile(`(?m)^(    |\t).*$`).ReplaceAllString(page, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(page, "``")
}

// slug is the fragment that a heading gets on the usual forges.
func slug(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// headings are the fragments of the pages that were asked for.
var headings = map[string][]string{}

// fragments returns what a link to a page may name after #: its headings, the second of one name with -1.
func fragments(page string) []string {
	if found, ok := headings[page]; ok {
		return found
	}
	var found []string
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} (.*)$`).FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		s := slug(m[1])
		n := seen[s]
		seen[s]++
		if n > 0 {
			s += "-" + string(rune('0'+n))
		}
		found = append(found, s)
	}
	headings[page] = found
	return found
}

// target matches the address of an inline link or picture, that of a reference, and that of an HTML element.
var target = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|(?m:^\[[^\]]+\]: +(\S+))|(?:src|href|srcset)="([^"]+)"`)

// local follows a link of a page within the tree.
func local(all map[string]string, from, to string) error {
	file, fragment, hasFragment := strings.Cut(to, "#")
	at := from
	if file != "" {
		at = path.Join(path.Dir(from), file)
	}
	if at == ".." || strings.HasPrefix(at, "../") || path.IsAbs(file) {
		return errors.New("it leaves the repository")
	}
	if _, err := os.Stat(filepath.FromSlash(at)); err != nil {
		return err
	}
	if hasFragment && !slices.Contains(fragments(all[at]), fragment) {
		return errors.New("there is no such heading")
	}
	return nil
}

// TestPageLinks: every link and picture of every page leads to a file of the tree, and to a heading of it where it
// names one. Every address outside the tree is in maintain/links.txt, and what is there is on a page: no test asks the
// network.
func TestPageLinks(t *testing.T) {
	all := pages(t)
	outer := map[string]string{}
	for name, text := range all {
		text = prose(text)
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			to := m[1] + m[2] + m[3]
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			if err := local(all, name, to); err != nil {
				t.Errorf("%s links to %s: %v", name, to, err)
			}
		}
		for _, to := range regexp.MustCompile("https?://[^\\s)>\\]\"'`]+").FindAllString(text, -1) {
			outer[strings.TrimRight(to, ".,;:")] = name
		}
	}
	b, err := os.ReadFile(filepath.Join("maintain", "links.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(string(b))
	if !slices.IsSorted(listed) || len(slices.Compact(slices.Clone(listed))) != len(listed) {
		t.Error("maintain/links.txt is not sorted, or says a line twice")
	}
	for _, to := range sortedKeys(outer) {
		if !slices.Contains(listed, to) {
			t.Errorf("maintain/links.txt lacks %s, which is on %s", to, outer[to])
		}
	}
	for _, to := range listed {
		if outer[to] == "" {
			t.Errorf("maintain/links.txt has %s, which is on no page", to)
		}
	}
}

// TestPageIndex: docs/README.md leads to every page of docs, directly or by way of the index of its folder.
func TestPageIndex(t *testing.T) {
	all := pages(t)
	reached := map[string]bool{"docs/README.md": true}
	for _, index := range []string{"docs/README.md", "docs/algorithms/README.md", "docs/reproduce.md", "docs/spec/README.md"} {
		for _, m := range target.FindAllStringSubmatch(prose(all[index]), -1) {
			file, _, _ := strings.Cut(m[1], "#")
			reached[path.Join(path.Dir(index), file)] = true
		}
	}
	for name := range all {
		folder := path.Dir(name)
		if (folder == "docs" || strings.HasPrefix(folder, "docs/")) && !reached[name] && !reached[folder] {
			t.Errorf("%s is on no index: docs/README.md, or those of its folders", name)
		}
	}
}

// TestPageLinksFail: the check of links finds what it is for.
func TestPageLinksFail(t *testing.T) {
	all := map[string]string{"docs/trust.md": "# A `b` c\n## Twice\n## Twice\n```sh\n# no heading\n```\n", "README.md": ""}
	for to, good := range map[string]bool{
		"docs/trust.md": true, "docs/trust.md#a-b-c": true, "docs/trust.md#twice": true, "docs/trust.md#twice-1": true,
		"docs":                  true,
		"docs/trust.md#twice-2": false, "docs/trust.md#no-heading": false, "docs/trust.md#": false, "docs/Trust.md": false,
		"../wpm": false, "/etc": false, "doc.go#L1": false, "#top": false, "docs/nothing.md": false,
	} {
		if err := local(all, "README.md", to); (err == nil) != good {
			t.Errorf("%s: %v, want good %v", to, err, good)
		}
	}
	got := target.FindAllString(prose("[a](b) ![c](d.svg \"e\")\n[f]: g\n<img src=\"h\">\n`[i](j)`\n\n    [k](l)\n\n```\n[m](n)\n```\n"), -1)
	if want := []string{"](b)", "](d.svg \"e\")", "[f]: g", "src=\"h\""}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
}

// TestMutationPage: maintain/mutation.md is what its program makes of the tables.
func TestMutationPage(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("a Python program writes the page")
	}
	want, err := exec.Command("python3", "maintain/mutation/page.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join("maintain", "mutation.md")); err != nil || string(got) != string(want) {
		t.Errorf("maintain/mutation.md is not what maintain/mutation/page.py prints (%v)", err)
	}
}

// TestResultsCommits: every page of results says at which commit it was made, or has a test that holds its table.
func TestResultsCommits(t *testing.T) {
	count := 0
	for name, text := range pages(t) {
		if path.Dir(name) != "docs/results" {
			continue
		}
		count++
		if !regexp.MustCompile(`\bcommit\s[0-9a-f]{7,8}\b|` + "`Test\\w+Page` holds").MatchString(text) {
			t.Errorf("%s names no commit", name)
		}
	}
	if count < 8 {
		t.Errorf("%d pages", count)
	}
}

// undated returns the paragraphs of a page that say how many mutants or planted errors are found, and not at
// which commit.
func undated(page string) (found []string) {
	subject, figure := regexp.MustCompile(`(?i)\b(mutants?|planted)\b`), regexp.MustCompile(`\d (%|of \d)|\bof \d+`)
	commit := regexp.MustCompile(`\b[0-9a-f]{7}\b`)
	for part := range strings.SplitSeq(page, "\n\n") {
		if subject.MatchString(part) && figure.MatchString(part) && !commit.MatchString(part) {
			found = append(found, part)
		}
	}
	return found
}

// TestMutationCommits: whoever quotes how many mutants or planted errors are found says the commit.
func TestMutationCommits(t *testing.T) {
	for name, text := range pages(t) {
		if strings.HasPrefix(name, "maintain/") { // says it once for a table
			continue
		}
		for _, part := range undated(text) {
			t.Errorf("%s names no commit here:\n%s", name, part)
		}
	}
	for _, name := range []string{"power", "mutation"} {
		if text := pages(t)["maintain/"+name+".md"]; !regexp.MustCompile(`commit [0-9a-f]{7}\b`).MatchString(text) {
			t.Errorf("maintain/%s.md does not say the commit of its figures", name)
		}
	}
	for text, want := range map[string]int{
		"Of 300 mutants 97 % die.": 1, "290 of 300\nmutants die.": 1, "At 2c8e096 97 % of the mutants die.": 0,
		"Planted errors are found, 3 of 4.": 1, "All mutants die.\n\n3 % is little.": 0,
	} {
		if got := undated(text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
