package playground

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// stub is a program that is none.
func stub() Program { return Program{Packed: packed("\x00asm and more"), Exec: []byte("// nothing")} }

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

// TestPageRules: the rules come before all else, forbid every connection, and allow the script and the style that are
// there.
func TestPageRules(t *testing.T) {
	page, err := Page(stub(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	rule := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatchIndex(
		text)
	if rule == nil {
		t.Fatal("no rules")
	}
	policy := text[rule[2]:rule[3]]
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "worker-src blob:", "base-uri 'none'",
		"form-action 'none'", "'wasm-unsafe-eval'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the rules %s lack %s", policy, want)
		}
	}
	for _, bad := range []string{"unsafe-inline", "'unsafe-eval'", "http:", "https:", "*", "data:", "'self'"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the rules %s have %s", policy, bad)
		}
	}
	for _, element := range []string{"script", "style"} {
		found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatchIndex(text, -1)
		if len(found) != 1 || found[0][0] < rule[1] {
			t.Fatalf("%d elements %s, want one after the rules", len(found), element)
		}
		h := sha256.Sum256([]byte(text[found[0][2]:found[0][3]]))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(h[:]) +
			"'"; !strings.Contains(policy, want) {
			t.Errorf("the rules %s lack %s", policy, want)
		}
	}
	// Nothing is loaded, and nothing is marked up that the rules forbid or that reads a text as markup.
	for _, bad := range []string{" src=", " href=", " style=", " onclick=", "<link", "<img", "<iframe", "@import",
		"url("} {
		if strings.Contains(strings.ToLower(body+style), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "localStorage",
		"sessionStorage", "indexedDB",
		"document.cookie", "console.", "fetch(", "XMLHttpRequest", "sendBeacon", "WebSocket", "eval(", "new Function",
		"window.open"} {
		if strings.Contains(app+worker, bad) {
			t.Errorf("the scripts have %q", bad)
		}
	}
}

// TestFlat: a page has no indentation of scripts, and no script may have a text of several lines.
func TestFlat(t *testing.T) {
	if got := flat("if (a) {\n\t\tb();\n  }\n"); got != "if (a) {\nb();\n}\n" {
		t.Errorf("%q", got)
	}
	p := stub()
	p.Exec = []byte("const a = `one\n two`;\n")
	if _, err := Page(p, nil); !errors.Is(err, ErrPage) {
		t.Errorf("a text of two lines: %v", err)
	}
}

func TestPageParts(t *testing.T) {
	r := &Results{Sentence: `</script><script>alert(1)</script> & "quotes"`,
		Maps: []Map{{Title: "<b>", Shares: []float64{0.5}}}}
	page, err := Page(stub(), r)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(page, []byte("</script>")); n != 4 {
		t.Errorf("%d ends of scripts, want 4", n)
	}
	data := regexp.MustCompile(`(?s)id="wasm">(.*?)</script>`).FindSubmatch(page)
	back, err := base64.StdEncoding.DecodeString(string(data[1]))
	if err != nil || !bytes.Equal(back, stub().Packed) {
		t.Errorf("the program comes back as %d bytes, %v", len(back), err)
	}
	again, err := Page(stub(), r)
	if err != nil || !bytes.Equal(again, page) {
		t.Errorf("a second page differs (%v)", err)
	}
	// Maps of a large grid do not cost the page.
	large := *r
	large.Maps = []Map{{Shares: make([]float64, MaxBytes)}}
	small, err := Page(stub(), &large)
	if err != nil || !bytes.Contains(small, []byte(`"maps":[]`)) || !bytes.Contains(small, []byte("quotes")) ||
		len(large.Maps) != 1 {
		t.Errorf("maps too large: a page of %d bytes, %v", len(small), err)
	}
	for name, p := range map[string]Program{
		"a program too large":         {Packed: make([]byte, MaxBytes*3/4)},
		"a script that ends itself":   {Exec: []byte("x = '</ScRiPt>'")},
		"a script with a lost ending": {Exec: []byte("x = '<!-- <script'")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Page(p, nil); !errors.Is(err, ErrPage) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestLicences: the page names every module that its program links.
func TestLicences(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", command)
	list.Dir = "../.."
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if path = strings.TrimSpace(path); path != module && !strings.Contains(body, path) {
			t.Errorf("the page does not name %s", path)
		}
	}
}
