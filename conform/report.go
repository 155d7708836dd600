package conform

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// The verdicts on a group.
const (
	Passed     = "passed"
	Failed     = "FAILED"
	NotOffered = "not offered"
)

// A Group is a law, a group of vectors or a rule about lines.
type Group struct {
	Name      string   `json:"name"`
	Statement string   `json:"statement,omitempty"` // where it is stated
	Kinds     []string `json:"kinds,omitempty"`     // of the lines that it asks
	Status    string   `json:"status"`
	Cases     int      `json:"cases"`
	Failures  int      `json:"failures"`         // of vectors all, of a law the first
	Line      string   `json:"line,omitempty"`   // the shortest line that failed
	Reason    string   `json:"reason,omitempty"` // why
}

// A Report is what was run on a client, and what failed.
type Report struct {
	Command    []string `json:"command"`
	Client     string   `json:"client"` // its own name for itself
	Kinds      []string `json:"kinds"`  // that it offers
	Level      string   `json:"level"`
	Passed     int      `json:"passed"` // groups
	Failed     int      `json:"failed"`
	NotOffered int      `json:"not_offered"`
	Groups     []Group  `json:"groups"`
}

// OK reports whether nothing failed.
func (r Report) OK() bool { return r.Failed == 0 }

func (r *Report) add(g Group) {
	switch g.Status {
	case Failed:
		r.Failed++
	case NotOffered:
		r.NotOffered++
	default:
		r.Passed++
	}
	r.Groups = append(r.Groups, g)
}

// fail adds a failed case, and keeps it if it is the smallest.
func (g *Group) fail(line string, err error) {
	if g.Status, g.Failures = Failed, g.Failures+1; g.Failures == 1 || len(line) < len(g.Line) {
		g.Line, g.Reason = cut(line), cut(strings.ToValidUTF8(err.Error(), "?"))
	}
}

func cut(s string) string {
	const most = 1 << 16
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// JSON writes the report as one object. Errors: those of w.
func (r Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Text writes one line per group, and under a failed group its counterexample. Errors: those of w.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, g := range r.Groups {
		count := ""
		if g.Status != NotOffered {
			count = fmt.Sprintf("%d cases", g.Cases)
		}
		fmt.Fprintf(&b, "%-11s  %-34s  %s\n", g.Status, g.Name, count)
		if g.Status == Failed {
			fmt.Fprintf(&b, "    %d failed; the smallest:\n", g.Failures)
			for _, text := range strings.Split(g.Reason, "\n") {
				fmt.Fprintf(&b, "    %s\n", text)
			}
			if g.Line != "" {
				fmt.Fprintf(&b, "    line: %s\n", g.Line)
			}
		}
	}
	fmt.Fprintf(&b, "%s (%q), level %s: %d passed, %d failed, %d not offered\n",
		strings.Join(r.Command, " "), r.Client, r.Level, r.Passed, r.Failed, r.NotOffered)
	_, err := io.WriteString(w, b.String())
	return err
}

var page = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Conformance: {{.Client}}</title>
<style>body{font:15px/1.4 sans-serif;margin:2em}td,th{text-align:left;vertical-align:top;padding:.2em 1em .2em 0}
.FAILED{color:#b00020;font-weight:bold}pre{white-space:pre-wrap;overflow-wrap:anywhere;max-width:60em;margin:.2em 0}</style>
<h1>Conformance of {{.Client}}</h1>
<p>Command: <code>{{range .Command}}{{.}} {{end}}</code>. Level: {{.Level}}.
{{.Passed}} groups passed, {{.Failed}} failed, {{.NotOffered}} not offered.</p>
<table><tr><th>Group<th>Verdict<th>Cases<th>Statement</tr>
{{range .Groups}}<tr><td>{{.Name}}<td class="{{.Status}}">{{.Status}}<td>{{.Cases}}<td>{{.Statement}}{{if .Reason}}
<p>{{.Failures}} failed; the smallest:</p><pre>{{.Reason}}</pre>{{if .Line}}<pre>{{.Line}}</pre>{{end}}{{end}}</tr>
{{end}}</table></html>
`))

// HTML writes one page without scripts and without links. Errors: those of w.
func (r Report) HTML(w io.Writer) error { return page.Execute(w, r) }
