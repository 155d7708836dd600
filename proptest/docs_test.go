package proptest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/design"
	"github.com/wpm-go/wpm/proptest/estimate"
	"github.com/wpm-go/wpm/proptest/privacy"
	"github.com/wpm-go/wpm/proptest/projection"
)

const root = ".."

// laws returns the names of all laws.
func laws() map[string]bool {
	names := map[string]bool{}
	addLaws(names, privacy.VerifyLaws())
	addLaws(names, privacy.BoxLaws())
	addLaws(names, privacy.MechanismLaws())
	addLaws(names, privacy.ChannelLaws())
	addLaws(names, privacy.SamplerLaws())
	addLaws(names, projection.ProjectorLaws())
	addLaws(names, projection.ProjectorBoundLaws())
	addLaws(names, projection.ProjectorCertificateLaws())
	addLaws(names, design.KnapsackLaws())
	addLaws(names, design.BaseLaws())
	addLaws(names, design.BaseBoundLaws())
	addLaws(names, design.BaseCertificateLaws())
	addLaws(names, privacy.KPMLaws())
	addLaws(names, design.SphereLaws())
	addLaws(names, projection.KLLaws())
	addLaws(names, projection.EntropicLaws())
	addLaws(names, projection.EntropicBoundLaws())
	addLaws(names, projection.EntropicCertificateLaws())
	addLaws(names, projection.CompositeLaws())
	addLaws(names, projection.HilbertLaws())
	addLaws(names, design.GKLLaws())
	addLaws(names, design.DescenderLaws())
	addLaws(names, estimate.LikeliestLaws())
	addLaws(names, estimate.IntervalLaws())
	addLaws(names, estimate.RawLaws())
	return names
}

func addLaws[I any](names map[string]bool, laws []proptest.Law[I]) {
	for _, l := range laws {
		names[l.Name] = true
	}
}

// tests returns the names of all tests, fuzz targets and examples of the tree.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	decl := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range decl.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// pages returns the text of README.md and docs/*.md by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, filepath.Join(root, "README.md"))
	text := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		text[p] = string(b)
	}
	return text
}

// TestDocNames: every test that a page quotes exists, the law after the slash included, and every law is on
// the page that leads from the paper to its tests.
func TestDocNames(t *testing.T) {
	known, law := tests(t), laws()
	quoted := regexp.MustCompile("`((?:Test|Fuzz|Example)\\w*)(?:/(\\w+))?`")
	for path, text := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				t.Errorf("%s quotes %s, which is no test of this tree", path, m[1])
			}
			if m[2] != "" && !law[m[2]] {
				t.Errorf("%s quotes %s/%s, and there is no such law", path, m[1], m[2])
			}
		}
	}
	page := pages(t)[filepath.Join(root, "docs", "mathematics.md")]
	for name := range law {
		if !strings.Contains(page, "/"+name+"`") {
			t.Errorf("docs/mathematics.md does not mention the law %s", name)
		}
	}
}

// TestDocPower: docs/power.md has every law, and no other.
func TestDocPower(t *testing.T) {
	found := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]+ \\| (first|\\d+) \\|$")
	for _, m := range row.FindAllStringSubmatch(pages(t)[filepath.Join(root, "docs", "power.md")], -1) {
		found[m[1]] = true
		if n, err := strconv.Atoi(m[2]); err == nil && n > 100 {
			t.Errorf("%s needs %d cases, more than a normal run has", m[1], n)
		}
	}
	for name := range laws() {
		if !found[name] {
			t.Errorf("docs/power.md does not have the law %s: run .ci/power", name)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("docs/power.md has %s, which is no law: run .ci/power", name)
	}
}

// anchor is the fragment that a heading gets on the usual forges.
func anchor(heading string) string {
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

// TestDocLinks: every relative link and picture of a page resolves, to a heading too if it names one.
func TestDocLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	for path, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, fragment, _ := strings.Cut(target, "#")
			at := path
			if file != "" {
				at = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links to %s: %v", path, target, err)
				continue
			}
			if fragment == "" || !strings.HasSuffix(at, ".md") {
				continue
			}
			b, err := os.ReadFile(at)
			if err != nil {
				t.Error(err)
				continue
			}
			found := false
			for _, h := range heading.FindAllStringSubmatch(string(b), -1) {
				found = found || anchor(h[1]) == fragment
			}
			if !found {
				t.Errorf("%s links to %s, which has no such heading", path, target)
			}
		}
	}
}
