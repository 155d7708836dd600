package gowalla

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/city"
)

// files writes a folder of data files; a name that ends in .gz is compressed.
func files(t testing.TB, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		data := []byte(text)
		if strings.HasSuffix(name, ".gz") {
			data = pack(t, data)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func pack(t testing.TB, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// A small data set in all formats: user 3 with 2 check-ins in cell (0, 0) and 1 in (19, 19); user 12 with 1 in (10, 5);
// user 7 outside the area only.
const (
	snapText = "12\t2010-10-19T23:55:27Z\t30.305\t-97.82\t8\n" +
		"3\t2010-10-18T22:17:43Z\t30.15\t-97.9\t1\r\n" +
		"3\t2010-10-17T23:42:03Z\t30.151\t-97.8999\t2\n" +
		"7\t2010-10-17T19:26:05Z\t40.7\t-74\t3\n" +
		"7\t2010-10-16T18:50:42Z\t405.885\t-74.0\t3\n" +
		"3\t2010-10-12T23:58:03Z\t30.45\t-97.6\t4" // no end of line
	placesText = "poi\tlat\tlon\n1\t30.15\t-97.9\n2\t30.151\t-97.8999\n4\t30.45\t-97.6\n8\t30.305\t-97.82\n3\t405.885\t-74\n"
	countsText = "user\tpoi\tcheckins\n12\t8\t1\n3\t1\t1\n3\t2\t1\n3\t4\t1\n7\t3\t2\n"
	cellsText  = "user\trow\tcol\tcheckins\n12\t10\t5\t1\n3\t0\t0\t2\n3\t19\t19\t1\n"
)

var small = city.Population{Rows: 20, Cols: 20, Users: []city.User{
	{ID: 3, Cells: []int{0, 399}, Counts: []int{2, 1}},
	{ID: 12, Cells: []int{205}, Counts: []int{1}},
}}

func TestLoad(t *testing.T) {
	ctx := context.Background()
	all := Config{AllUsers: true, MinCheckins: 1}
	for _, tt := range []struct {
		name    string
		content map[string]string
		file    string // to load; "": the folder
		format  string
		read    []string
	}{
		{"SNAP file, any name", map[string]string{"x.txt": snapText}, "x.txt", FormatSNAP, []string{"x.txt"}},
		{"SNAP file, compressed under a plain name", map[string]string{"x": string(pack(t, []byte(snapText)))}, "x",
			FormatSNAP, []string{"x"}},
		{"SNAP folder", map[string]string{"loc-gowalla_totalCheckins.txt.gz": snapText, "user_poi_count.tsv": "junk"}, "",
			FormatSNAP, []string{"loc-gowalla_totalCheckins.txt.gz"}},
		{"SNAP folder, short name", map[string]string{"Gowalla_totalCheckins.txt": snapText}, "", FormatSNAP,
			[]string{"Gowalla_totalCheckins.txt"}},
		{"plain before compressed",
			map[string]string{"Gowalla_totalCheckins.txt": snapText, "Gowalla_totalCheckins.txt.gz": "junk"}, "", FormatSNAP,
			[]string{"Gowalla_totalCheckins.txt"}},
		{"places", map[string]string{"user_poi_count.tsv": countsText, "poi_lat_lon.tsv": placesText,
			"austin_city_user_cell.tsv": "junk"}, "", FormatPlaces, []string{"user_poi_count.tsv", "poi_lat_lon.tsv"}},
		{"places by file, mixed compression", map[string]string{"c": countsText, "poi_lat_lon.tsv.gz": placesText}, "c",
			FormatPlaces, []string{"c", "poi_lat_lon.tsv.gz"}},
		{"cells", map[string]string{"austin_city_user_cell.tsv.gz": cellsText}, "", FormatCells,
			[]string{"austin_city_user_cell.tsv.gz"}},
		{"cells by file", map[string]string{"c.tsv": cellsText}, "c.tsv", FormatCells, []string{"c.tsv"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := all
			cfg.Data = filepath.Join(files(t, tt.content), tt.file)
			pop, src, err := Load(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(pop, small) {
				t.Errorf("population %+v, want %+v", pop, small)
			}
			off := 1
			if tt.format == FormatCells {
				off = 0
			}
			want := Source{Format: tt.format, Files: tt.read, Lines: src.Lines, OffGlobe: off, Users: 2, Checkins: 4,
				Eligible: 2, Kept: 2, Used: 4}
			if !reflect.DeepEqual(src, want) || src.Lines < 4 {
				t.Errorf("source %+v, want %+v", src, want)
			}
		})
	}
}

func TestLoadChoosesUsers(t *testing.T) {
	ctx := context.Background()
	var text strings.Builder
	text.WriteString(cellsHeader + "\n")
	for _, u := range []int{30, 4, 100, 21, 5} { // ids as numbers, not as text: 4, 5, 21, 30, 100
		fmt.Fprintf(&text, "%d\t1\t1\t%d\n", u, u)
	}
	dir := files(t, map[string]string{"austin_city_user_cell.tsv": text.String()})
	ids := func(cfg Config) []int64 {
		t.Helper()
		cfg.Data = dir
		pop, src, err := Load(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		var out []int64
		for _, u := range pop.Users {
			out = append(out, u.ID)
		}
		if src.Kept != len(out) {
			t.Errorf("Kept = %d, %d users", src.Kept, len(out))
		}
		return out
	}
	if got, want := ids(Config{Users: 2}), []int64{21, 30}; !reflect.DeepEqual(got, want) {
		t.Errorf("default least of 10 check-ins, 2 users: %v, want %v", got, want)
	}
	if got, want := ids(Config{Users: 2, MinCheckins: 5}), []int64{5, 21}; !reflect.DeepEqual(got, want) {
		t.Errorf("least of 5 check-ins, 2 users: %v, want %v", got, want)
	}
	if got, want := ids(Config{AllUsers: true}), []int64{21, 30, 100}; !reflect.DeepEqual(got, want) {
		t.Errorf("all users: %v, want %v", got, want)
	}
	for _, cfg := range []Config{{Data: dir}, {Data: dir, AllUsers: true, MinCheckins: 101}} {
		if _, src, err := Load(ctx, cfg); !errors.Is(err, ErrFewUsers) || src.Users != 5 {
			t.Errorf("Load(%+v) = %+v, %v; want ErrFewUsers", cfg, src, err)
		}
	}
}

func TestLoadBadLines(t *testing.T) {
	snap := func(line string) map[string]string {
		return map[string]string{"Gowalla_totalCheckins.txt": "0\t2010-10-19T23:55:27Z\t30.2\t-97.8\t22847\n" + line + "\n"}
	}
	cells := func(line string) map[string]string {
		return map[string]string{"austin_city_user_cell.tsv": cellsHeader + "\n" + line + "\n"}
	}
	places := func(line string) map[string]string {
		return map[string]string{"user_poi_count.tsv": countsText, "poi_lat_lon.tsv": "poi\tlat\tlon\n" + line + "\n"}
	}
	counts := func(line string) map[string]string {
		return map[string]string{"user_poi_count.tsv": "user\tpoi\tcheckins\n" + line + "\n", "poi_lat_lon.tsv": placesText}
	}
	big := snap("")
	big["Gowalla_totalCheckins.txt"] = strings.Repeat("1", maxLine+1) + "\t\t\t\t"
	for _, tt := range []struct {
		name    string
		content map[string]string
		line    int
		says    string
	}{
		{"SNAP, empty line", snap(""), 2, "want 5 fields"},
		{"SNAP, 4 fields", snap("0\t2010-10-19T23:55:27Z\t30.2\t-97.8"), 2, "want 5 fields"},
		{"SNAP, 6 fields", snap("0\t2010-10-19T23:55:27Z\t30.2\t-97.8\t1\t2"), 2, "want 5 fields"},
		{"SNAP, spaces", snap("0 2010-10-19T23:55:27Z 30.2 -97.8 1"), 2, "want 5 fields"},
		{"SNAP, user", snap("x\t2010-10-19T23:55:27Z\t30.2\t-97.8\t1"), 2, `user "x"`},
		{"SNAP, negative user", snap("-1\t2010-10-19T23:55:27Z\t30.2\t-97.8\t1"), 2, `user "-1"`},
		{"SNAP, huge user", snap("9999999999999999999\t2010-10-19T23:55:27Z\t30.2\t-97.8\t1"), 2, "18 digits"},
		{"SNAP, time", snap("0\tyesterday\t30.2\t-97.8\t1"), 2, `time "yesterday"`},
		{"SNAP, latitude", snap("0\t2010-10-19T23:55:27Z\tNaN\t-97.8\t1"), 2, `latitude "NaN"`},
		{"SNAP, infinite", snap("0\t2010-10-19T23:55:27Z\t30.2\t1e999\t1"), 2, `longitude "1e999"`},
		{"SNAP, hexadecimal", snap("0\t2010-10-19T23:55:27Z\t0x1p5\t-97.8\t1"), 2, `latitude "0x1p5"`},
		{"SNAP, no longitude", snap("0\t2010-10-19T23:55:27Z\t30.2\t\t1"), 2, `longitude ""`},
		{"SNAP, place", snap("0\t2010-10-19T23:55:27Z\t30.2\t-97.8\tx"), 2, `place "x"`},
		{"long line", big, 1, "more than"},
		{"cells, row beyond", cells("1\t20\t0\t5"), 2, "cell (20, 0)"},
		{"cells, col beyond", cells("1\t0\t999999999999\t5"), 2, "cell (0, 999999999999)"},
		{"cells, zero", cells("1\t0\t0\t0"), 2, "number of check-ins 0"},
		{"cells, too many", cells("1\t0\t0\t99999999999"), 2, "number of check-ins 99999999999"},
		{"cells, fraction", cells("1\t0\t0\t1.5"), 2, `"1.5"`},
		{"cells, twice", cells("1\t0\t0\t1\n1\t0\t0\t1"), 3, "occurs twice"},
		{"cells, header", map[string]string{"austin_city_user_cell.tsv": "user,row,col,checkins\n"}, 1, "header"},
		{"places, twice", places("1\t1\t1\n1\t1\t1"), 3, "place 1 occurs twice"},
		{"places, latitude", places("1\tnorth\t1"), 2, `latitude "north"`},
		{"places, header", map[string]string{"user_poi_count.tsv": countsText, "poi_lat_lon.tsv": "1\t2\t3\n"}, 1, "header"},
		{"counts, unknown place", counts("1\t99\t1"), 2, "place 99 is not in poi_lat_lon.tsv"},
		{"counts, twice", counts("1\t1\t1\n1\t1\t2"), 3, "occurs twice"},
		{"counts, fields", counts("1\t1"), 2, "want 3 fields"},
		{"counts, overflow of a cell", counts("1\t1\t1073741824\n1\t2\t1"), 3, "more than"},
		{"gzip header", map[string]string{"Gowalla_totalCheckins.txt": "\x1f\x8bjunk"}, 1, "cannot unpack"},
		{"gzip cut short", map[string]string{"Gowalla_totalCheckins.txt": string(pack(t, []byte(snapText))[:60])}, 0,
			"cannot read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, tt.content)
			_, _, err := Load(context.Background(), Config{Data: dir, AllUsers: true, MinCheckins: 1})
			var data *DataError
			if !errors.As(err, &data) || !errors.Is(err, ErrData) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("Load = %v, want a DataError saying %q", err, tt.says)
			}
			if data.Line < 1 || tt.line > 0 && data.Line != tt.line || filepath.Dir(data.File) != dir {
				t.Errorf("at %s:%d, want line %d of a file in %s", data.File, data.Line, tt.line, dir)
			}
		})
	}
}

func TestLoadOtherErrors(t *testing.T) {
	ctx := context.Background()
	dir := files(t, map[string]string{"empty": "", "letter": "Dear Sir,\n", "poi_lat_lon.tsv": placesText,
		"counts": countsText, "cells": cellsText, "snap": snapText})
	alone := files(t, map[string]string{"counts": countsText})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	long := files(t, map[string]string{"snap": strings.Repeat("0\t2010-10-19T23:55:27Z\t30.2\t-97.8\t22847\n", 1<<14)})
	for _, tt := range []struct {
		name string
		ctx  context.Context
		cfg  Config
		want error
		says string
	}{
		{"no data", ctx, Config{}, ErrConfig, "Data is empty"},
		{"no such folder", ctx, Config{Data: filepath.Join(dir, "none")}, os.ErrNotExist, "none"},
		{"no known file", ctx, Config{Data: t.TempDir()}, ErrFormat, "Gowalla_totalCheckins.txt"},
		{"empty file", ctx, Config{Data: filepath.Join(dir, "empty")}, ErrFormat, `""`},
		{"another file", ctx, Config{Data: filepath.Join(dir, "letter")}, ErrFormat, "Dear Sir"},
		{"table of places", ctx, Config{Data: filepath.Join(dir, "poi_lat_lon.tsv")}, ErrFormat, "table of counts"},
		{"counts without places", ctx, Config{Data: filepath.Join(alone, "counts")}, ErrFormat, "poi_lat_lon.tsv"},
		{"cells on another grid", ctx, Config{Data: filepath.Join(dir, "cells"), Rows: 10}, ErrConfig, "20 x 20"},
		{"cells of another area", ctx, Config{Data: filepath.Join(dir, "cells"), Area: Box{1, 2, 3, 4}}, ErrConfig, "area"},
		{"nobody there", ctx, Config{Data: filepath.Join(dir, "snap"), Area: Box{1, 2, 3, 4}, AllUsers: true}, ErrFewUsers,
			"0 users"},
		{"cancelled", cancelled, Config{Data: filepath.Join(long, "snap")}, context.Canceled, "snap:16384"},
	} {
		if _, _, err := Load(tt.ctx, tt.cfg); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: Load = %v, want %v saying %q", tt.name, err, tt.want, tt.says)
		}
	}
}

func TestLoadProgress(t *testing.T) {
	dir := files(t, map[string]string{"snap": strings.Repeat("0\t2010-10-19T23:55:27Z\t30.2\t-97.8\t22847\n", 1<<15)})
	last, calls, total := -1, 0, 0
	_, _, err := Load(context.Background(),
		Config{Data: filepath.Join(dir, "snap"), Users: 1, Progress: func(done, n int, what string) {
			if done < last || done > n || what != "reading snap" {
				t.Errorf("Progress(%d, %d, %q) after %d", done, n, what, last)
			}
			last, total = done, n
			calls++
		}})
	if err != nil || calls < 3 || last != total {
		t.Errorf("%d calls, last %d of %d, err %v", calls, last, total, err)
	}
}

// Cells partition the area: every point of it has one cell, whose bounds hold it up to rounding; points outside have
// none.
func TestCell(t *testing.T) {
	a := Austin()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 100).Draw(t, "rows"), rapid.IntRange(1, 100).Draw(t, "cols")
		lat := rapid.OneOf(rapid.Float64Range(a.South, a.North), rapid.SampledFrom([]float64{a.South, a.North})).Draw(t,
			"lat")
		lon := rapid.OneOf(rapid.Float64Range(a.West, a.East), rapid.SampledFrom([]float64{a.West, a.East})).Draw(t, "lon")
		r, c, ok := a.cell(lat, lon, rows, cols)
		if !ok || r < 0 || r >= rows || c < 0 || c >= cols {
			t.Fatalf("cell(%v, %v) = %d, %d, %v", lat, lon, r, c, ok)
		}
		const tol = 1e-12 // degrees: a few roundings of numbers below 100, and a tenth of a micrometre
		h, w := (a.North-a.South)/float64(rows), (a.East-a.West)/float64(cols)
		if lat < a.South+float64(r)*h-tol || lat > a.South+float64(r+1)*h+tol || lon < a.West+float64(c)*w-tol ||
			lon > a.West+float64(c+1)*w+tol {
			t.Fatalf("cell(%v, %v) = (%d, %d) does not hold the point", lat, lon, r, c)
		}
		for _, p := range [][2]float64{{a.North + 1e-9, lon}, {a.South - 1e-9, lon}, {lat, a.East + 1e-9},
			{lat, a.West - 1e-9}} {
			if _, _, ok := a.cell(p[0], p[1], rows, cols); ok {
				t.Fatalf("cell(%v, %v) is inside", p[0], p[1])
			}
		}
	})
}
