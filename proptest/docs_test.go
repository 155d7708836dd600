package proptest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

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
	addLaws(names, privacy.LocalLaws())
	addLaws(names, privacy.LinearLaws())
	addLaws(names, privacy.DiskLaws())
	addLaws(names, privacy.OracleLaws())
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

// pages returns the text of README.md, docs/*.md, docs/*/*.md and maintain/*.md by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{filepath.Join(root, "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "maintain/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
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

// TestDocPower: maintain/power.md has every law, and no other.
func TestDocPower(t *testing.T) {
	found := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]+ \\| (first|\\d+) \\|$")
	for _, m := range row.FindAllStringSubmatch(pages(t)[filepath.Join(root, "maintain", "power.md")], -1) {
		found[m[1]] = true
		if n, err := strconv.Atoi(m[2]); err == nil && n > 100 {
			t.Errorf("%s needs %d cases, more than a normal run has", m[1], n)
		}
	}
	for name := range laws() {
		if !found[name] {
			t.Errorf("maintain/power.md does not have the law %s: run .ci/power", name)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("maintain/power.md has %s, which is no law: run .ci/power", name)
	}
}
