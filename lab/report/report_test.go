package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/lab/figure"
)

func sample() Report {
	return Report{
		Title: `Study of <b>"x" & y</b>`,
		Lead:  "What was found.",
		Facts: []Setting{{"W1", "3.1"}},
		Notes: []string{"A simulation."},
		Tables: []Table{
			{Name: "main", Title: "Main", Text: "See here.",
				Columns: []Column{{Name: "eps", Label: "ε"}, {Name: "w1", Unit: "cells"}, {Name: "n"}, {Name: "ok"}},
				Rows:    [][]any{{"0.5", 0.30000000000000004, 3, true}, {"1", 1e-300, -4, false}}},
			{Name: "second", Columns: []Column{{Name: "a"}}},
		},
		Figures: []Figure{{Name: "fig", Title: "A figure", Text: "Look.", Chart: figure.Line{
			Title: "<i>", Series: []figure.Series{{Name: "s & t", X: []float64{1, 2}, Y: []float64{1, 2}}}}}},
		Settings: []Setting{{"users", "500"}},
		Seed:     math.MaxUint64,
		Files:    []File{{Name: "policy.json", Data: []byte("{}"), Text: "the policy"}},
	}
}

func TestEncode(t *testing.T) {
	files, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(sample())
	if err != nil || !reflect.DeepEqual(files, again) {
		t.Fatalf("a second Encode differs (err %v)", err)
	}
	got := map[string][]byte{}
	var names []string
	for _, f := range files {
		got[f.Name] = f.Data
		names = append(names, f.Name)
	}
	want := []string{"index.html", "table.csv", "second.csv", "table.json", "fig.svg", "fig.png", "fig.pdf", "policy.json"}
	if !reflect.DeepEqual(names, want) {
		t.Fatalf("files %q, want %q", names, want)
	}

	rows, err := csv.NewReader(bytes.NewReader(got["table.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	wantRows := [][]string{{"eps", "w1", "n", "ok"}, {"0.5", "0.30000000000000004", "3", "true"},
		{"1", "1e-300", "-4", "false"}}
	if !reflect.DeepEqual(rows, wantRows) {
		t.Errorf("table.csv = %q, want %q", rows, wantRows)
	}

	var doc struct {
		Title, Seed string
		Settings    []Setting
		Tables      []struct {
			Name string
			Rows []map[string]any
		}
	}
	if err := json.Unmarshal(got["table.json"], &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Seed != "18446744073709551615" || doc.Title != sample().Title || len(doc.Tables) != 2 ||
		doc.Tables[0].Rows[0]["w1"] != 0.30000000000000004 || doc.Tables[1].Rows == nil {
		t.Errorf("table.json holds %+v", doc)
	}

	html := string(got["index.html"])
	for _, s := range []string{"Study of &lt;b&gt;", "What was found.", "W1", "A simulation.", "<svg", "Look.", "fig.png",
		"w1 (cells)", "ε", "0.3000", "second.csv", "policy.json", "18446744073709551615", "s &amp; t"} {
		if !strings.Contains(html, s) {
			t.Errorf("index.html lacks %q", s)
		}
	}
	for _, s := range []string{"<b>", "<i>", "<?xml", "http://www.w3.org/1999/xlink\" src", "<script"} {
		if strings.Contains(html, s) {
			t.Errorf("index.html holds %q", s)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*Report)
		want error
		says string
	}{
		{"NaN", func(r *Report) { r.Tables[0].Rows[1][1] = math.NaN() }, ErrNotFinite, `row 1, column "w1"`},
		{"Inf", func(r *Report) { r.Tables[0].Rows[1][1] = math.Inf(-1) }, ErrNotFinite, "-Inf"},
		{"short row", func(r *Report) { r.Tables[0].Rows[1] = []any{"1"} }, ErrTable, "row 1 has 1 cells, want 4"},
		{"cell type", func(r *Report) { r.Tables[0].Rows[1][2] = int64(3) }, ErrTable, "int64"},
		{"nil cell", func(r *Report) { r.Tables[0].Rows[1][2] = nil }, ErrTable, "<nil>"},
		{"mixed column", func(r *Report) { r.Tables[0].Rows[1][2] = 1.5 }, ErrTable, "float64 below int"},
		{"no columns", func(r *Report) { r.Tables[1].Columns = nil }, ErrTable, "table 1"},
		{"column twice", func(r *Report) { r.Tables[0].Columns[1].Name = "eps" }, ErrTable, `"eps"`},
		{"table name", func(r *Report) { r.Tables[1].Name = "../x" }, folder.ErrName, "../x"},
		{"empty name", func(r *Report) { r.Tables[1].Name = "" }, folder.ErrName, ".csv"},
		{"table.csv twice", func(r *Report) { r.Tables[1].Name = "table" }, folder.ErrName, "twice"},
		{"figure name", func(r *Report) { r.Figures[0].Name = "a/b" }, folder.ErrName, "a/b"},
		{"file is the page", func(r *Report) { r.Files[0].Name = "index.html" }, folder.ErrName, "twice"},
		{"figure", func(r *Report) { r.Figures[0].Chart = nil }, figure.ErrEmpty, "fig"},
	} {
		r := sample()
		tt.edit(&r)
		files, err := Encode(r)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || files != nil {
			t.Errorf("%s: Encode = %d files, %v; want %v saying %q", tt.name, len(files), err, tt.want, tt.says)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	paths, err := Write(dir, sample())
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 8 || paths[0] != filepath.Join(dir, "index.html") {
		t.Errorf("paths = %q", paths)
	}
	files, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		data, err := os.ReadFile(paths[i])
		if err != nil || !bytes.Equal(data, f.Data) {
			t.Errorf("%s: on disk %d bytes, want %d (err %v)", f.Name, len(data), len(f.Data), err)
		}
	}
	if n := count(t, dir); n != len(files) {
		t.Errorf("%d entries in the folder, want %d: temporary files left?", n, len(files))
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// exact reads back; short stays within half a unit of its fourth digit.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		if got, err := strconv.ParseFloat(exact(v), 64); err != nil || got != v {
			t.Fatalf("exact(%v) = %q, read back %v, %v", v, exact(v), got, err)
		}
		got, err := strconv.ParseFloat(short(v), 64)
		// Three significant digits are the least that short prints (scientific notation): half a unit in the third.
		const relTol = 0.5e-2
		if err != nil && !errors.Is(err, strconv.ErrRange) ||
			!(math.Abs(got-v) <= relTol*math.Abs(v)) && !math.IsInf(got, 0) {
			t.Fatalf("short(%v) = %q", v, short(v))
		}
	})
	for _, tt := range []struct {
		v    float64
		want string
	}{{0, "0"}, {math.Copysign(0, -1), "0"}, {3.14159, "3.142"}, {-0.0123456, "-0.01235"}, {123456, "123456"},
		{1234567, "1.23e+06"}, {1e-4, "1.00e-04"}, {0.5, "0.5000"}, {0.99999, "1.000"}, {9.9996, "10.00"},
		{999999.9, "1.00e+06"}, {0.0009999999, "0.001000"}} {
		if got := short(tt.v); got != tt.want {
			t.Errorf("short(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}
