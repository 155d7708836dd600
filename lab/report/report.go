package report

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/lab/figure"
)

// Report is the description of one result folder.
type Report struct {
	Title    string
	Lead     string    // what was done and found, one paragraph
	Facts    []Setting // the few numbers to see first
	Notes    []string  // caveats: simulation, data licence
	Tables   []Table   // the first one is table.csv
	Figures  []Figure
	Settings []Setting // everything needed to repeat the run
	Seed     uint64
	Files    []File // written beside the page and linked from it
}

// Setting is a name with its value in words.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Table is a table of named columns. Cells are string, bool, int or float64 (finite), and within one column of one
// type.
type Table struct {
	Name    string // the file name of every table but the first
	Title   string
	Text    string // what to see
	Folded  bool   // on the page behind its title, to be opened: for long tables
	Columns []Column
	Rows    [][]any
}

// Column is the head of a column. Name is a key for programs (unique in the table), Label and Unit are for people.
type Column struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // "": the name
	Unit  string `json:"unit,omitempty"`
}

// Figure is a figure with the paragraph that says what to see in it.
type Figure struct {
	Name  string // file name without extension
	Title string // heading on the page
	Text  string
	Chart figure.Chart
}

// alt is the finding, for those who cannot see the figure.
func (f Figure) alt() string {
	if found := figure.Finding(f.Chart); found != "" {
		return found
	}
	return f.Title
}

// File is a file of the folder.
type File struct {
	Name string
	Data []byte
	Text string // what it is, for the page
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Encode turns the report into the files of its folder, index.html first. It is a pure function of r.
//
// Errors: folder.ErrName, ErrTable, ErrNotFinite, and those of figure.Render with the name of the figure.
func Encode(r Report) ([]File, error) {
	names := map[string]bool{"index.html": true, "table.json": true}
	claim := func(what, name string) error {
		if err := folder.CheckName(name); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if names[name] {
			return fmt.Errorf("%s: %w: %q is used twice", what, folder.ErrName, name)
		}
		names[name] = true
		return nil
	}

	var out []File
	view := pageView{Report: r}
	for i, t := range r.Tables {
		name := t.Name + ".csv"
		if i == 0 {
			name = "table.csv"
		}
		if err := claim(fmt.Sprintf("table %d (%s)", i, t.Title), name); err != nil {
			return nil, err
		}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("table %d (%s): %w", i, t.Title, err)
		}
		data, err := t.csv()
		if err != nil {
			return nil, fmt.Errorf("table %d (%s): %w", i, t.Title, err)
		}
		out = append(out, File{Name: name, Data: data})
		view.Tables = append(view.Tables, tableView{Table: t, File: name, Cells: t.text()})
	}
	data, err := r.json()
	if err != nil {
		return nil, err
	}
	out = append(out, File{Name: "table.json", Data: data})
	for i, f := range r.Figures {
		what := fmt.Sprintf("figure %d (%s)", i, f.Name)
		for _, kind := range []string{".svg", ".png", ".pdf"} {
			if err := claim(what, f.Name+kind); err != nil {
				return nil, err
			}
		}
		img, err := figure.Render(f.Chart)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		out = append(out, File{Name: f.Name + ".svg", Data: img.SVG}, File{Name: f.Name + ".png", Data: img.PNG},
			File{Name: f.Name + ".pdf", Data: img.PDF})
		view.Figures = append(view.Figures, figureView{Figure: f, Alt: f.alt(), SVG: inline(img.SVG)})
	}
	for _, f := range r.Files {
		if err := claim("file", f.Name); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	var html bytes.Buffer
	if err := page.Execute(&html, view); err != nil {
		return nil, fmt.Errorf("report: page: %w", err)
	}
	return append([]File{{Name: "index.html", Data: html.Bytes()}}, out...), nil
}

// Write encodes r and writes the folder dir, creating it if need be. It returns the paths written, index.html first.
func Write(dir string, r Report) ([]string, error) {
	files, err := Encode(r)
	if err != nil {
		return nil, err
	}
	plain := make([]folder.File, len(files))
	for i, f := range files {
		plain[i] = folder.File{Name: f.Name, Data: f.Data}
	}
	return folder.Write(dir, plain)
}

// Finished reports whether the folder dir holds a complete report of that seed, made from one of the data, or from any
// if there are none: index.html is the last file to be written.
func Finished(dir string, seed uint64, data []string) bool {
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(dir, "table.json"))
	if err != nil {
		return false
	}
	var table struct {
		Seed     string    `json:"seed"`
		Settings []Setting `json:"settings"`
	}
	if json.Unmarshal(text, &table) != nil || table.Seed != strconv.FormatUint(seed, 10) {
		return false
	}
	if data == nil {
		return true
	}
	for _, s := range table.Settings {
		if s.Name == "data" {
			return slices.ContainsFunc(data, func(name string) bool { return strings.Contains(s.Value, name) })
		}
	}
	return false
}

func (t Table) check() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("%w: no columns", ErrTable)
	}
	seen := map[string]bool{}
	for _, c := range t.Columns {
		if c.Name == "" || seen[c.Name] {
			return fmt.Errorf("%w: column %q is empty or there twice", ErrTable, c.Name)
		}
		seen[c.Name] = true
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("%w: row %d has %d cells, want %d", ErrTable, i, len(row), len(t.Columns))
		}
		for j, v := range row {
			name := t.Columns[j].Name
			switch v := v.(type) {
			case string, bool, int:
			case float64:
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%w: row %d, column %q: %v", ErrNotFinite, i, name, v)
				}
			default:
				return fmt.Errorf("%w: row %d, column %q: cell of type %T", ErrTable, i, name, v)
			}
			if fmt.Sprintf("%T", v) != fmt.Sprintf("%T", t.Rows[0][j]) {
				return fmt.Errorf("%w: row %d, column %q: %T below %T", ErrTable, i, name, v, t.Rows[0][j])
			}
		}
	}
	return nil
}

func (t Table) csv() ([]byte, error) {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	head := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		head[j] = c.Name
	}
	records := [][]string{head}
	for _, row := range t.Rows {
		rec := make([]string, len(row))
		for j, v := range row {
			rec[j] = exact(v)
		}
		records = append(records, rec)
	}
	if err := w.WriteAll(records); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// exact prints a cell so that reading it back gives the same value.
func exact(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// cell is a table cell as the page shows it.
type cell struct {
	Text string
	Num  bool // right-aligned
}

func (t Table) text() [][]cell {
	out := make([][]cell, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = make([]cell, len(row))
		for j, v := range row {
			switch v := v.(type) {
			case float64:
				out[i][j] = cell{short(v), true}
			case int:
				out[i][j] = cell{strconv.Itoa(v), true}
			case bool:
				out[i][j] = cell{map[bool]string{true: "yes", false: "no"}[v], false}
			default:
				out[i][j] = cell{fmt.Sprint(v), false}
			}
		}
	}
	return out
}

// short prints four significant digits, in plain notation where that is readable.
func short(v float64) string {
	if v == 0 {
		return "0" // also for -0
	}
	e := strconv.FormatFloat(v, 'e', 3, 64) // rounded first: 0.99999 has the exponent of 1.000
	exp, err := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if err != nil || exp < -3 || exp > 5 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, 3-exp), 64)
}

// json holds every number of the report. Rows are objects, so that a reader needs no column positions; the seed is a
// string, since not every reader keeps 64-bit integers.
func (r Report) json() ([]byte, error) {
	type table struct {
		Name    string           `json:"name"`
		Title   string           `json:"title,omitempty"`
		Columns []Column         `json:"columns"`
		Rows    []map[string]any `json:"rows"`
	}
	doc := struct {
		Title    string    `json:"title"`
		Seed     string    `json:"seed"`
		Settings []Setting `json:"settings"`
		Facts    []Setting `json:"facts"`
		Notes    []string  `json:"notes"`
		Tables   []table   `json:"tables"`
	}{Title: r.Title, Seed: strconv.FormatUint(r.Seed, 10), Settings: orEmpty(r.Settings), Facts: orEmpty(r.Facts),
		Notes: orEmpty(r.Notes), Tables: []table{}}
	for _, t := range r.Tables {
		jt := table{Name: t.Name, Title: t.Title, Columns: t.Columns, Rows: []map[string]any{}}
		for _, row := range t.Rows {
			m := make(map[string]any, len(row))
			for j, v := range row {
				m[t.Columns[j].Name] = v
			}
			jt.Rows = append(jt.Rows, m)
		}
		doc.Tables = append(doc.Tables, jt)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("report: table.json: %w", err)
	}
	return buf.Bytes(), nil
}

// orEmpty keeps null out of the JSON.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// pageView is what the page template sees; the slices of views shadow those of the report.
type pageView struct {
	Report
	Tables  []tableView
	Figures []figureView
}

type tableView struct {
	Table
	File  string
	Cells [][]cell
}

type figureView struct {
	Figure
	Alt string // what the figure says
	SVG template.HTML
}

// Head returns the column heads for people.
func (t tableView) Head() []string {
	out := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		out[j] = c.Label
		if c.Label == "" {
			out[j] = c.Name
		}
		if c.Unit != "" {
			out[j] += " (" + c.Unit + ")"
		}
	}
	return out
}

// inline drops the XML declaration and the comment before the root. The bytes come from package figure, which escapes
// all text, so they are safe as markup.
func inline(svg []byte) template.HTML {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	return template.HTML(svg)
}
