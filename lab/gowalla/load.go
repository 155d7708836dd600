package gowalla

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/city"
)

// The formats of check-in data.
const (
	// FormatSNAP is the original file: user <TAB> time <TAB> latitude <TAB> longitude <TAB> place, one check-in a line, no
	// header.
	FormatSNAP = "snap"
	// FormatPlaces is a pair of tables with headers "user poi checkins" and "poi lat lon".
	FormatPlaces = "places"
	// FormatCells is a table with header "user row col checkins", cut to the default area and grid.
	FormatCells = "cells"
	// FormatSynthetic is no data at all: a city made from the seed.
	FormatSynthetic = "synthetic"
)

// File names, in the order in which a folder is searched. Each may end in ".gz".
var (
	snapNames   = []string{"loc-gowalla_totalCheckins.txt", "Gowalla_totalCheckins.txt"}
	countsNames = []string{"user_poi_count.tsv"}
	placesNames = []string{"poi_lat_lon.tsv"}
	cellsNames  = []string{"austin_city_user_cell.tsv"}
)

// Headers of the tables.
const (
	countsHeader = "user\tpoi\tcheckins"
	placesHeader = "poi\tlat\tlon"
	cellsHeader  = "user\trow\tcol\tcheckins"
)

// Source says what was read, and how much of it the protocol keeps.
type Source struct {
	Format string   `json:"format"`
	Files  []string `json:"files"` // names without folders
	Lines  int      `json:"lines"` // all lines read
	// check-ins or places with coordinates that no point has (the original has some); they lie outside every area
	OffGlobe int `json:"off_globe"`
	Users    int `json:"users"`    // with a check-in in the area
	Checkins int `json:"checkins"` // in the area
	Eligible int `json:"eligible"` // users with enough of them
	Kept     int `json:"kept"`     // users in the study
	Used     int `json:"used"`     // check-ins of those
}

// Load reads check-ins and applies the protocol up to the choice of users: area, grid, least number of check-ins,
// lowest ids.
//
// cfg.Data is a folder or a file. In a folder the first of these is taken, plain or with ".gz" (plain first): the SNAP
// file (loc-gowalla_totalCheckins.txt or Gowalla_totalCheckins.txt), the tables user_poi_count.tsv and poi_lat_lon.tsv,
// the table austin_city_user_cell.tsv. A file is recognised by its first line, whatever its name; a table of counts by
// place needs the table of places (poi_lat_lon.tsv) beside it. Compression is recognised by content.
//
// A table of cells carries no coordinates, so it goes with the default area and grid only (else ErrConfig).
//
// Every line must be well-formed: a *DataError names file and line of the first that is not. Coordinates must be finite
// numbers; those off the globe are counted in Source.OffGlobe. A user-place or user-cell pair, or a place, that occurs
// twice in a table is an error.
func Load(ctx context.Context, cfg Config) (city.Population, Source, error) {
	cfg, _, err := cfg.resolve()
	if err != nil {
		return city.Population{}, Source{}, err
	}
	if cfg.Data == "" {
		return city.Population{}, Source{}, fmt.Errorf("%w: Data is empty", ErrConfig)
	}
	l := loader{ctx: ctx, cfg: cfg, visits: map[visit]int{}}
	if err := l.read(cfg.Data); err != nil {
		return city.Population{}, Source{}, err
	}
	return l.population()
}

// synthetic makes a city of Users people from the seed.
func synthetic(_ context.Context, cfg Config) (city.Population, Source, error) {
	cfg, _, err := cfg.resolve()
	if err != nil {
		return city.Population{}, Source{}, err
	}
	if cfg.AllUsers {
		return city.Population{}, Source{},
			fmt.Errorf("%w: AllUsers of a synthetic city, which has as many as asked for", ErrConfig)
	}
	pop, err := city.Generate(cfg.Seed, cfg.Users, cfg.Rows, cfg.Cols)
	if err != nil {
		return city.Population{}, Source{}, fmt.Errorf("gowalla: %w", err)
	}
	n, all := len(pop.Users), pop.Checkins()
	return pop, Source{Format: FormatSynthetic, Users: n, Checkins: all, Eligible: n, Kept: n, Used: all}, nil
}

// visit is a user in a cell.
type visit struct {
	user int64
	cell int
}

type loader struct {
	ctx    context.Context
	cfg    Config
	src    Source
	visits map[visit]int
}

// read finds the format and reads the files.
func (l *loader) read(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("gowalla: %w", err)
	}
	if st.IsDir() {
		if f, ok := find(path, snapNames); ok {
			return l.snap(f)
		}
		if f, ok := find(path, countsNames); ok {
			return l.places(f)
		}
		if f, ok := find(path, cellsNames); ok {
			return l.cells(f)
		}
		return fmt.Errorf("%w: folder %s has none of %s", ErrFormat, path,
			strings.Join(slices.Concat(snapNames, countsNames, cellsNames), ", ")+" (plain or .gz)")
	}
	first, err := l.firstLine(path)
	if err != nil {
		return err
	}
	switch {
	case first == countsHeader:
		return l.places(path)
	case first == cellsHeader:
		return l.cells(path)
	case first == placesHeader:
		return fmt.Errorf("%w: %s is the table of places; give the table of counts (%q) or the folder", ErrFormat, path,
			countsHeader)
	case strings.Count(first, "\t") == 4:
		return l.snap(path)
	}
	const shown = 60
	if len(first) > shown {
		first = first[:shown] + "..."
	}
	return fmt.Errorf("%w: %s starts with %q", ErrFormat, path, first)
}

// find returns the first of the names, plain or compressed, that is a file of the folder.
func find(dir string, names []string) (string, bool) {
	for _, n := range names {
		for _, f := range []string{n, n + ".gz"} {
			p := filepath.Join(dir, f)
			if st, err := os.Stat(p); err == nil && !st.IsDir() {
				return p, true
			}
		}
	}
	return "", false
}

// errStop ends a reading early without being an error.
var errStop = errors.New("stop")

func (l *loader) firstLine(path string) (string, error) {
	var first string
	_, err := l.lines(path, func(_ int, line []byte) error {
		first = string(line)
		return errStop
	})
	if err != nil && !errors.Is(err, errStop) {
		return "", err
	}
	return first, nil
}

// maxLine is the longest line accepted. Real ones have under 100 bytes.
const maxLine = 1 << 12

// lines calls do for each line of the file, numbered from 1, without its end. Errors of do that are strings in a
// badLine become a *DataError.
func (l *loader) lines(path string, do func(n int, line []byte) error) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("gowalla: %w", err)
	}
	defer f.Close()
	size := 0
	if st, err := f.Stat(); err == nil {
		size = int(min(st.Size(), math.MaxInt32))
	}
	raw := &counter{r: f}
	in, err := costio.Unzip(raw)
	if err != nil {
		return 0, &DataError{File: path, Line: 1, Reason: "cannot unpack", Err: err}
	}
	what := "reading " + filepath.Base(path)
	lines := costio.NewLines(in, maxLine)
	for lines.Next() {
		n := lines.Number()
		if n%(1<<14) == 0 {
			if err := l.ctx.Err(); err != nil {
				return n, fmt.Errorf("gowalla: %s:%d: %w", path, n, err)
			}
			l.progress(min(raw.n, size), size, what)
		}
		if lines.Long() {
			return n, &DataError{File: path, Line: n, Reason: fmt.Sprintf("line of more than %d bytes", maxLine)}
		}
		if err := do(n, bytes.TrimSuffix(lines.Bytes(), []byte{'\r'})); err != nil {
			var bad badLine
			if errors.As(err, &bad) {
				return n, &DataError{File: path, Line: n, Reason: string(bad)}
			}
			return n, err
		}
	}
	n := lines.Number()
	if err := lines.Err(); err != nil {
		return n, &DataError{File: path, Line: n + 1, Reason: "cannot read", Err: err}
	}
	l.progress(size, size, what)
	return n, nil
}

func (l *loader) progress(done, total int, what string) {
	if l.cfg.Progress != nil && total > 0 {
		l.cfg.Progress(done, total, what)
	}
}

// counter counts the bytes read, for progress.
type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// badLine is what is wrong with a line.
type badLine string

func (b badLine) Error() string { return string(b) }

func badf(format string, args ...any) error { return badLine(fmt.Sprintf(format, args...)) }

// fields splits a line at its tabs into exactly len(dst) fields.
func fields(line []byte, dst [][]byte) error {
	for i := range dst {
		j := bytes.IndexByte(line, '\t')
		last := i == len(dst)-1
		if last != (j < 0) {
			return badf("want %d fields separated by tabs", len(dst))
		}
		if last {
			j = len(line)
		}
		dst[i] = line[:j]
		if !last {
			line = line[j+1:]
		}
	}
	return nil
}

// whole reads a decimal number of at most 18 digits without a sign.
func whole(what string, b []byte) (int64, error) {
	v := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, badf("%s %q is not a whole number", what, b)
		}
		v = 10*v + int64(c-'0')
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, badf("%s %q is not a whole number of 1 to 18 digits", what, b)
	}
	return v, nil
}

// count reads a number of check-ins.
func count(b []byte) (int, error) {
	v, err := whole("number of check-ins", b)
	if err == nil && (v < 1 || v > city.MaxCount) {
		err = badf("number of check-ins %d, want 1 to %d", v, city.MaxCount)
	}
	return int(v), err
}

// degrees reads a coordinate in plain or scientific decimal notation.
func degrees(what string, b []byte) (float64, error) {
	for _, c := range b {
		// no hexadecimal, no "inf", no "nan"
		if !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E') {
			return 0, badf("%s %q is not a decimal number", what, b)
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, badf("%s %q is not a decimal number", what, b)
	}
	return v, nil
}

func (l *loader) coordinates(lat, lon []byte) (y, x float64, err error) {
	if y, err = degrees("latitude", lat); err != nil {
		return 0, 0, err
	}
	if x, err = degrees("longitude", lon); err != nil {
		return 0, 0, err
	}
	if math.Abs(y) > 90 || math.Abs(x) > 180 {
		l.src.OffGlobe++
	}
	return y, x, nil
}

// add counts n visits of the user at a point, if that is in the area.
func (l *loader) add(user int64, lat, lon float64, n int) error {
	row, col, ok := l.cfg.Area.cell(lat, lon, l.cfg.Rows, l.cfg.Cols)
	if !ok {
		return nil
	}
	v := visit{user, row*l.cfg.Cols + col}
	if n > city.MaxCount-l.visits[v] {
		return badf("more than %d check-ins of user %d in one cell", city.MaxCount, user)
	}
	l.visits[v] += n
	return nil
}

// snap reads the original file.
func (l *loader) snap(path string) error {
	l.src.Format, l.src.Files = FormatSNAP, []string{filepath.Base(path)}
	n, err := l.lines(path, func(_ int, line []byte) error {
		var f [5][]byte
		if err := fields(line, f[:]); err != nil {
			return err
		}
		user, err := whole("user", f[0])
		if err != nil {
			return err
		}
		if _, err := time.Parse(time.RFC3339, string(f[1])); err != nil {
			return badf("time %q is not of the form 2010-01-31T23:59:59Z", f[1])
		}
		lat, lon, err := l.coordinates(f[2], f[3])
		if err != nil {
			return err
		}
		if _, err := whole("place", f[4]); err != nil {
			return err
		}
		return l.add(user, lat, lon, 1)
	})
	l.src.Lines += n
	return err
}

// places reads the pair of tables.
func (l *loader) places(counts string) error {
	where, ok := find(filepath.Dir(counts), placesNames)
	if !ok {
		return fmt.Errorf("%w: %s needs %s (plain or .gz) beside it", ErrFormat, counts, placesNames[0])
	}
	l.src.Format, l.src.Files = FormatPlaces, []string{filepath.Base(counts), filepath.Base(where)}
	type point struct{ lat, lon float64 }
	points := map[int64]point{}
	n, err := l.lines(where, func(n int, line []byte) error {
		if n == 1 {
			return header(line, placesHeader)
		}
		var f [3][]byte
		if err := fields(line, f[:]); err != nil {
			return err
		}
		poi, err := whole("place", f[0])
		if err != nil {
			return err
		}
		if _, twice := points[poi]; twice {
			return badf("place %d occurs twice", poi)
		}
		lat, lon, err := l.coordinates(f[1], f[2])
		points[poi] = point{lat, lon}
		return err
	})
	l.src.Lines += n
	if err != nil {
		return err
	}
	type pair struct{ user, poi int64 }
	seen := map[pair]bool{}
	n, err = l.lines(counts, func(n int, line []byte) error {
		if n == 1 {
			return header(line, countsHeader)
		}
		var f [3][]byte
		if err := fields(line, f[:]); err != nil {
			return err
		}
		user, err := whole("user", f[0])
		if err != nil {
			return err
		}
		poi, err := whole("place", f[1])
		if err != nil {
			return err
		}
		p, ok := points[poi]
		if !ok {
			return badf("place %d is not in %s", poi, filepath.Base(where))
		}
		c, err := count(f[2])
		if err != nil {
			return err
		}
		if seen[pair{user, poi}] {
			return badf("user %d with place %d occurs twice", user, poi)
		}
		seen[pair{user, poi}] = true
		return l.add(user, p.lat, p.lon, c)
	})
	l.src.Lines += n
	return err
}

// cells reads the table that is cut to cells already.
func (l *loader) cells(path string) error {
	if l.cfg.Area != Austin() || l.cfg.Rows != 20 || l.cfg.Cols != 20 {
		return fmt.Errorf("%w: %s is cut to the default area and 20 x 20 cells; another Area, Rows or Cols needs data with coordinates", ErrConfig, path)
	}
	l.src.Format, l.src.Files = FormatCells, []string{filepath.Base(path)}
	n, err := l.lines(path, func(n int, line []byte) error {
		if n == 1 {
			return header(line, cellsHeader)
		}
		var f [4][]byte
		if err := fields(line, f[:]); err != nil {
			return err
		}
		user, err := whole("user", f[0])
		if err != nil {
			return err
		}
		row, err := whole("row", f[1])
		if err != nil {
			return err
		}
		col, err := whole("col", f[2])
		if err != nil {
			return err
		}
		if row >= int64(l.cfg.Rows) || col >= int64(l.cfg.Cols) {
			return badf("cell (%d, %d) of a grid of %d x %d", row, col, l.cfg.Rows, l.cfg.Cols)
		}
		c, err := count(f[3])
		if err != nil {
			return err
		}
		v := visit{user, int(row)*l.cfg.Cols + int(col)}
		if l.visits[v] != 0 {
			return badf("user %d with cell (%d, %d) occurs twice", user, row, col)
		}
		l.visits[v] = c
		return nil
	})
	l.src.Lines += n
	return err
}

func header(line []byte, want string) error {
	if string(line) != want {
		return badf("header %q, want %q", line, want)
	}
	return nil
}

// population sorts the visits by user and cell and keeps the users of the study.
func (l *loader) population() (city.Population, Source, error) {
	keys := make([]visit, 0, len(l.visits))
	for v := range l.visits {
		keys = append(keys, v)
	}
	slices.SortFunc(keys, func(a, b visit) int { // map order ends here
		if a.user != b.user {
			if a.user < b.user {
				return -1
			}
			return 1
		}
		return a.cell - b.cell
	})
	var all []city.User
	for _, v := range keys {
		if len(all) == 0 || all[len(all)-1].ID != v.user {
			all = append(all, city.User{ID: v.user})
		}
		u := &all[len(all)-1]
		u.Cells, u.Counts = append(u.Cells, v.cell), append(u.Counts, l.visits[v])
	}
	p := city.Population{Rows: l.cfg.Rows, Cols: l.cfg.Cols}
	for _, u := range all {
		n := u.Total()
		l.src.Users++
		l.src.Checkins += n
		if n < l.cfg.MinCheckins {
			continue
		}
		l.src.Eligible++
		if l.cfg.AllUsers || len(p.Users) < l.cfg.Users {
			p.Users = append(p.Users, u)
			l.src.Kept++
			l.src.Used += n
		}
	}
	if l.src.Kept == 0 || !l.cfg.AllUsers && l.src.Kept < l.cfg.Users {
		want := strconv.Itoa(l.cfg.Users)
		if l.cfg.AllUsers {
			want = "at least 1"
		}
		return city.Population{}, l.src,
			fmt.Errorf("%w: %d users have at least %d check-ins in the area, want %s (%d lines of %s read)",
				ErrFewUsers, l.src.Eligible, l.cfg.MinCheckins, want, l.src.Lines, strings.Join(l.src.Files, " and "))
	}
	if err := p.Validate(); err != nil {
		return city.Population{}, l.src, fmt.Errorf("gowalla: %w", err)
	}
	return p, l.src, nil
}
