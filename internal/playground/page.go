package playground

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxBytes is the largest page.
const MaxBytes = 3_600_000

// ErrPage reports parts that make no page.
var ErrPage = errors.New("playground: bad page")

//go:embed page/index.html
var body string

//go:embed page/style.css
var style string

//go:embed page/app.js
var appFile string

//go:embed page/worker.js
var worker string

var app = flat(appFile)

// flat returns a script without the space that lines begin with, some kilobytes in all. No text of a script goes over
// several lines, or it would be another text.
func flat(script string) string {
	lines := strings.Split(script, "\n")
	for n, line := range lines {
		lines[n] = strings.TrimLeft(line, " \t")
	}
	return strings.Join(lines, "\n")
}

// Results are a run of the demo, to be shown in the page.
type Results struct {
	Settings Settings `json:"settings"`
	Sentence string   `json:"sentence"`
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Maps     []Map    `json:"maps"`
}

// Settings are what the page begins with.
type Settings struct {
	Epsilon string `json:"eps"`
	People  int    `json:"people"`
	Seed    uint64 `json:"seed"`
}

// Map is shares of the cells.
type Map struct {
	Title  string    `json:"title"`
	Note   string    `json:"note"`
	Shares []float64 `json:"shares"`
}

// Page returns the page for a program, with results or nil. Maps that make it too large are left out. The error is
// ErrPage.
func Page(p Program, results *Results) ([]byte, error) {
	known, err := json.Marshal(results) // escapes < and >
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPage, err)
	}
	thread := flat(worker + string(p.Exec))
	for name, script := range map[string]string{"wasm_exec.js and worker.js": thread, "app.js": app} {
		if lower := strings.ToLower(script); strings.Contains(lower, "</script") || strings.Contains(lower, "<!--") {
			return nil, fmt.Errorf("%w: %s would end its element", ErrPage, name)
		}
		for line := range strings.Lines(script) { // see flat
			if strings.Count(line, "`")%2 != 0 {
				return nil, fmt.Errorf("%w: %s has a text of several lines: %q", ErrPage, name, line)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>wpm playground</title>
<style>%s</style>
</head>
<body>
%s`, rules(), style, body)
	for _, part := range []struct{ id, kind, text string }{
		{"results", "application/json", string(known)},
		{"worker", "text/plain", thread},
		{"wasm", "text/plain", base64.StdEncoding.EncodeToString(p.Packed)},
	} {
		fmt.Fprintf(&b, "<script type=\"%s\" id=\"%s\">%s</script>\n", part.kind, part.id, part.text)
	}
	fmt.Fprintf(&b, "<script>%s</script>\n</body>\n</html>\n", app)
	if b.Len() > MaxBytes && results != nil && len(results.Maps) > 0 {
		small := *results
		small.Maps = []Map{}
		return Page(p, &small)
	}
	if b.Len() > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrPage, b.Len(), MaxBytes)
	}
	return b.Bytes(), nil
}

// rules is what the page may do, for the browser to hold it to. A blob is what the worker is made of.
func rules() string {
	return "default-src 'none'; connect-src 'none'; base-uri 'none'; form-action 'none'; worker-src blob:; " +
		"script-src " + hash(app) + " 'wasm-unsafe-eval'; style-src " + hash(style)
}

func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
}
