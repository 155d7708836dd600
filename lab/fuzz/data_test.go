package fuzz

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/lab/gowalla"
	"github.com/wpm-go/wpm/lab/movielens"
)

// The readers of the studies' data files. The oracle of each is a second parser, slow and plain: the whole text in
// memory, split into lines and fields, numbers by regular expression and math/big. It must agree on the verdict, on the
// line that is refused and on what was read.

// Headers of the tables of check-ins, as they are documented.
const (
	countsHeader = "user\tpoi\tcheckins"
	placesHeader = "poi\tlat\tlon"
	cellsHeader  = "user\trow\tcol\tcheckins"
)

// longLine is below what any of the readers takes as a line. What they do with a longer one is in TestDataBombs.
const longLine = 4000

// unpacked is the text of a file that may be compressed, or an error.
func unpacked(data []byte) (string, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return string(data), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
}

// linesOf splits a text into its lines, without their ends, at most two carriage returns each.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSuffix(l, "\r"), "\r")
	}
	return lines
}

func tooLong(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return len(l) > longLine })
}

var (
	digits  = regexp.MustCompile(`^[0-9]{1,18}$`)
	decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	signed  = regexp.MustCompile(`^[+-]?[0-9]+$`)
)

// checkins is the second parser of check-in data.
type checkins struct {
	cells    map[int64]map[int]int // by user and cell
	points   map[string][2]float64 // by place; as text without leading zeros
	seen     map[string]bool       // what must not occur twice
	lines    int
	offGlobe int
	side     int // cells per side
}

func newCheckins(side int) *checkins {
	return &checkins{cells: map[int64]map[int]int{}, points: map[string][2]float64{}, seen: map[string]bool{}, side: side}
}

// read gives the lines to do, and returns the first that is refused, from 1, or 0.
func (c *checkins) read(lines []string, header string, fields int, do func(f []string) bool) int {
	for n, line := range lines {
		c.lines++
		if n == 0 && header != "" {
			if line != header {
				return 1
			}
			continue
		}
		if f := strings.Split(line, "\t"); len(f) != fields || !do(f) {
			return n + 1
		}
	}
	return 0
}

func number(s string, most int64) (int64, bool) {
	if !digits.MatchString(s) {
		return 0, false
	}
	v, _ := new(big.Int).SetString(s, 10)
	return v.Int64(), v.Cmp(big.NewInt(most)) <= 0
}

func coordinate(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, decimal.MatchString(s) && err == nil
}

func (c *checkins) point(lat, lon string) (p [2]float64, ok bool) {
	y, good := coordinate(lat)
	x, also := coordinate(lon)
	if good && also && !(y >= -90 && y <= 90 && x >= -180 && x <= 180) {
		c.offGlobe++
	}
	return [2]float64{y, x}, good && also
}

// visit counts n check-ins at a point of the area [0, 16] x [0, 16] of 4 x 4 cells, where no division rounds.
func (c *checkins) visit(user int64, p [2]float64, n int64) bool {
	if !(p[0] >= 0 && p[0] <= 16 && p[1] >= 0 && p[1] <= 16) {
		return true
	}
	return c.add(user, 4*min(int(math.Floor(p[0]/4)), 3)+min(int(math.Floor(p[1]/4)), 3), n)
}

func (c *checkins) add(user int64, cell int, n int64) bool {
	if c.cells[user] == nil {
		c.cells[user] = map[int]int{}
	}
	c.cells[user][cell] += int(n)
	return c.cells[user][cell] <= city.MaxCount
}

func (c *checkins) once(key string) bool {
	defer func() { c.seen[key] = true }()
	return !c.seen[key]
}

func (c *checkins) snap(lines []string) int {
	return c.read(lines, "", 5, func(f []string) bool {
		user, ok := number(f[0], math.MaxInt64)
		_, err := time.Parse(time.RFC3339, f[1])
		if !ok || err != nil {
			return false
		}
		p, ok := c.point(f[2], f[3])
		_, place := number(f[4], math.MaxInt64)
		return ok && place && c.visit(user, p, 1)
	})
}

func (c *checkins) places(lines []string) int {
	return c.read(lines, placesHeader, 3, func(f []string) bool {
		poi, ok := number(f[0], math.MaxInt64)
		key := fmt.Sprint(poi)
		if !ok || !c.once(key) {
			return false
		}
		c.points[key], ok = c.point(f[1], f[2])
		return ok
	})
}

func (c *checkins) counts(lines []string) int {
	return c.read(lines, countsHeader, 3, func(f []string) bool {
		user, ok := number(f[0], math.MaxInt64)
		poi, also := number(f[1], math.MaxInt64)
		n, few := number(f[2], city.MaxCount)
		p, known := c.points[fmt.Sprint(poi)]
		return ok && also && few && n >= 1 && known && c.once(fmt.Sprint(user, " ", poi)) && c.visit(user, p, n)
	})
}

func (c *checkins) table(lines []string) int {
	return c.read(lines, cellsHeader, 4, func(f []string) bool {
		user, ok := number(f[0], math.MaxInt64)
		row, good := number(f[1], int64(c.side-1))
		col, fine := number(f[2], int64(c.side-1))
		n, few := number(f[3], city.MaxCount)
		return ok && good && fine && few && n >= 1 && c.once(fmt.Sprint(user, " ", row, " ", col)) &&
			c.add(user, c.side*int(row)+int(col), n)
	})
}

// population is what the protocol keeps: users with enough check-ins, by id.
func (c *checkins) population(least int) (p city.Population, total, users int) {
	p.Rows, p.Cols = c.side, c.side
	for id, cells := range c.cells {
		u := city.User{ID: id}
		for j := range c.side * c.side {
			if n := cells[j]; n > 0 {
				u.Cells, u.Counts = append(u.Cells, j), append(u.Counts, n)
			}
		}
		users++
		if total += u.Total(); u.Total() >= least {
			p.Users = append(p.Users, u)
		}
	}
	slices.SortFunc(p.Users, func(a, b city.User) int { return new(big.Int).SetInt64(a.ID).Cmp(big.NewInt(b.ID)) })
	return p, total, users
}

// packer returns a function that packs as zipped does, and keeps its tables from one call to the next.
func packer() func(t testing.TB, b []byte) []byte {
	z := gzip.NewWriter(io.Discard)
	return func(t testing.TB, b []byte) []byte {
		t.Helper()
		var out bytes.Buffer
		z.Reset(&out)
		if _, err := z.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
}

// dataFile writes a file of a target and returns its path.
func dataFile(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// quarters is the study of an area in which the second parser's cells are exact.
func quarters(path string) gowalla.Config {
	return gowalla.Config{Data: path, Area: gowalla.Box{South: 0, North: 16, West: 0, East: 16}, Rows: 4, Cols: 4,
		AllUsers: true, MinCheckins: 2}
}

// loadCheckins loads, and checks what holds of every answer.
func loadCheckins(t *testing.T, cfg gowalla.Config) (city.Population, gowalla.Source, error) {
	t.Helper()
	what, last := "", 0
	cfg.Progress = func(done, total int, now string) {
		if done < 0 || done > total || now == what && done < last {
			t.Fatalf("progress %d of %d after %d", done, total, last)
		}
		what, last = now, done
	}
	p, src, err := gowalla.Load(context.Background(), cfg)
	if err != nil {
		// A user whose cells hold more than MaxCount between them is refused by the package of populations.
		typed(t, err, gowalla.ErrConfig, gowalla.ErrFormat, gowalla.ErrData, gowalla.ErrFewUsers, city.ErrUser)
		var at *gowalla.DataError
		if errors.Is(err, gowalla.ErrData) && (!errors.As(err, &at) || at.Line < 1 || at.File == "") {
			t.Fatalf("%v names no line", err)
		}
		if p.Users != nil {
			t.Fatal("a population beside an error")
		}
	}
	return p, src, err
}

// sameCheckins compares an answer with the second parser's. bad is the line that it refuses in the file of that name,
// or 0.
func sameCheckins(t *testing.T, c *checkins, cfg gowalla.Config, file string, bad int) {
	t.Helper()
	p, src, err := loadCheckins(t, cfg)
	if bad > 0 {
		var at *gowalla.DataError
		if !errors.As(err, &at) || at.Line != bad || filepath.Base(at.File) != file {
			t.Fatalf("%v; line %d of %s should be refused", err, bad, file)
		}
		return
	}
	want, total, users := c.population(cfg.MinCheckins)
	switch {
	case len(want.Users) == 0:
		typed(t, err, gowalla.ErrFewUsers)
		return
	case want.Validate() != nil:
		typed(t, err, city.ErrUser)
		return
	case err != nil:
		t.Fatalf("%v; %d users should be read", err, users)
	}
	if !reflect.DeepEqual(p, want) {
		t.Fatalf("read %+v, want %+v", p, want)
	}
	if src.Lines != c.lines || src.OffGlobe != c.offGlobe || src.Users != users || src.Checkins != total ||
		src.Eligible != len(want.Users) || src.Kept != len(want.Users) || src.Used != want.Checkins() {
		t.Fatalf("%+v, want %d lines, %d off the globe, %d users, %d check-ins, of these %d and %d",
			src, c.lines, c.offGlobe, users, total, len(want.Users), want.Checkins())
	}
}

// FuzzCheckins: any file, plain or compressed, is read as the second parser reads it; packing it changes nothing, and
// what was read, written as a table of cells, reads back.
func FuzzCheckins(f *testing.F) {
	const snap = "3\t2010-10-18T22:17:43Z\t1.5\t15.5\t1\n"
	for _, s := range []string{
		snap + snap, snap + "12\t2010-10-19T23:55:27Z\t16\t0\t8\r\n" + snap,
		snap + "7\t2010-10-19T23:55:27Z\t405.885\t-74\t8", snap + "\n" + snap,
		"3\t2010-10-18T22:17:43Z\t-0\t8e0\t1\n3\t2010-10-18T22:17:43+02:00\t.5\t8.\t999999999999999999\n",
		"3\t2010-02-30T22:17:43Z\t1\t2\t3",
		"3\t2010-10-18T22:17:43Z\t0x1\t2\t3", "3\t2010-10-18T22:17:43Z\t1e400\t2\t3", "3\t2010-10-18T22:17:43Z\tnan\t2\t3",
		"-3\t2010-10-18T22:17:43Z\t1\t2\t3", "1234567890123456789\t2010-10-18T22:17:43Z\t1\t2\t3", "a\tb\tc\td\te",
		"\t\t\t\t", "a,b\n", "", "\n",
		cellsHeader + "\n12\t10\t5\t1\n3\t0\t0\t2\n3\t19\t19\t1\n", cellsHeader + "\r\n3\t0\t0\t12",
		cellsHeader + "\n3\t20\t0\t2\n",
		cellsHeader + "\n3\t0\t0\t2\n3\t00\t0\t1\n", cellsHeader + "\n3\t0\t0\t0\n",
		cellsHeader + "\n3\t0\t0\t1073741824\n3\t0\t1\t1\n",
		cellsHeader + "\n3\t0\t0\t1073741825\n", cellsHeader, countsHeader + "\n1\t1\t1\n", placesHeader + "\n1\t1\t1\n",
		"\x1f\x8b", "\x1f",
	} {
		f.Add([]byte(s))
	}
	packed := zipped(f, []byte(snap+snap))
	f.Add(packed)
	f.Add(packed[:len(packed)-5])
	dir, pack := f.TempDir(), packer()
	f.Fuzz(func(t *testing.T, data []byte) {
		if tooWide(data) {
			return
		}
		file := dataFile(t, dir, "checkins", data)
		cfg := quarters(file)
		text, err := unpacked(data)
		if err != nil {
			if _, _, err := loadCheckins(t, cfg); err == nil {
				t.Fatalf("read, but it does not unpack: %v", err)
			}
			return
		}
		lines := linesOf(text)
		if tooLong(lines) {
			loadCheckins(t, cfg)
			return
		}
		if len(lines) == 0 || strings.Count(lines[0], "\t") != 4 && lines[0] != cellsHeader {
			if _, _, err := loadCheckins(t, cfg); !errors.Is(err, gowalla.ErrFormat) {
				t.Fatalf("%v; no data of a known format", err)
			}
			return
		}
		c, bad := newCheckins(4), 0
		if lines[0] == cellsHeader {
			if _, _, err := loadCheckins(t, cfg); !errors.Is(err, gowalla.ErrConfig) {
				t.Fatalf("%v; cells go with the default grid only", err)
			}
			cfg = gowalla.Config{Data: file, AllUsers: true, MinCheckins: 2}
			c = newCheckins(20)
			bad = c.table(lines)
		} else {
			bad = c.snap(lines)
		}
		sameCheckins(t, c, cfg, "checkins", bad)

		cfg.Data = dataFile(t, dir, "packed", pack(t, []byte(text)))
		sameCheckins(t, c, cfg, "packed", bad)
		p, _, err := loadCheckins(t, cfg)
		if err != nil || c.side != 20 {
			return
		}
		var out bytes.Buffer
		fmt.Fprintln(&out, cellsHeader)
		for _, u := range p.Users {
			for i, j := range u.Cells {
				fmt.Fprintf(&out, "%d\t%d\t%d\t%d\n", u.ID, j/p.Cols, j%p.Cols, u.Counts[i])
			}
		}
		cfg.Data = dataFile(t, dir, "written", out.Bytes())
		if again, _, err := loadCheckins(t, cfg); err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%+v, %v; want %+v", again, err, p)
		}
	})
}

// FuzzPlaces: the pair of tables, each plain or compressed, is read as the second parser reads it.
func FuzzPlaces(f *testing.F) {
	const places, counts = placesHeader + "\n1\t1.5\t15.5\n02\t16\t0\n3\t405.885\t-74\n",
		countsHeader + "\n3\t1\t2\n3\t2\t1\n12\t3\t1\n"
	for _, s := range [][2]string{
		{counts, places}, {counts, ""}, {counts, placesHeader}, {"", places}, {countsHeader, places},
		{counts + "3\t01\t2\n", places}, {counts, places + "1\t1\t1\n"},
		{counts + "3\t4\t2\n", places}, {counts + "\n", places}, {counts, "poi\n"}, {"user\n", places},
		{countsHeader + "\n3\t1\t1073741824\n3\t2\t1\n", places},
		{countsHeader + "\n3\t1\t1073741824\n3\t4\t1\n", places + "4\t1.5\t15.5\n"}, {countsHeader + "\n3\t1\t0\n", places},
		{counts, placesHeader + "\n1\t1\n"},
		{counts, placesHeader + "\n1\t1\tinf\n"}, {counts, placesHeader + "\n1\t-0\t1e-400\n2\t+1.\t.5\n3\t1\t1\n"},
		{"\x1f\x8b", places}, {counts, "\x1f\x8b"},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Add(zipped(f, []byte(counts)), []byte(places))
	f.Add([]byte(counts), zipped(f, []byte(places)))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, counts, places []byte) {
		if tooWide(counts) || tooWide(places) {
			return
		}
		dataFile(t, dir, "user_poi_count.tsv", counts)
		dataFile(t, dir, "poi_lat_lon.tsv", places)
		cfg := quarters(dir)
		a, err := unpacked(places)
		b, also := unpacked(counts)
		if err != nil || also != nil {
			if _, _, err := loadCheckins(t, cfg); err == nil {
				t.Fatal("read, but a file does not unpack")
			}
			return
		}
		where, visits := linesOf(a), linesOf(b)
		if tooLong(where) || tooLong(visits) {
			loadCheckins(t, cfg)
			return
		}
		c := newCheckins(4)
		file, bad := "poi_lat_lon.tsv", c.places(where)
		if bad == 0 {
			file, bad = "user_poi_count.tsv", c.counts(visits)
		}
		sameCheckins(t, c, cfg, file, bad)
	})
}

// ratingsText is the second parser of the film ratings: what is read, or the file ("u.item" or "u.data") and line that
// is refused; line 0 if it is none in particular.
func ratingsText(films, ratings []string) (d movielens.Data, file string, line int) {
	id := func(s string, most int64) (int, bool) {
		if !signed.MatchString(s) {
			return 0, false
		}
		v, _ := new(big.Int).SetString(s, 10)
		return int(v.Int64()), v.Sign() > 0 && v.Cmp(big.NewInt(most)) <= 0
	}
	const most = 1 << 20
	genres := map[int]uint32{}
	twice := false
	for n, l := range films {
		if strings.TrimSpace(l) == "" {
			continue
		}
		f := strings.Split(l, "|")
		film, ok := id(f[0], most)
		if len(f) < movielens.Genres+2 || !ok {
			return d, "u.item", n + 1
		}
		_, there := genres[film]
		twice = twice || there
		var genre uint32
		for g := range movielens.Genres {
			switch f[len(f)-movielens.Genres+g] {
			case "1":
				genre += uint32(math.Pow(2, float64(g)))
			case "0":
			default:
				return d, "u.item", n + 1
			}
		}
		genres[film] = genre
	}
	if len(genres) == 0 || twice {
		return d, "u.item", 0
	}
	stars := map[[2]int]int{}
	users := map[int]bool{}
	for n, l := range ratings {
		if strings.TrimSpace(l) == "" {
			continue
		}
		f := strings.Split(l, "\t")
		if len(f) != 4 {
			return d, "u.data", n + 1
		}
		user, ok := id(strings.TrimSpace(f[0]), most)
		film, also := id(strings.TrimSpace(f[1]), most)
		s, few := id(strings.TrimSpace(f[2]), 5)
		if _, known := genres[film]; !ok || !also || !few || !known {
			return d, "u.data", n + 1
		}
		_, there := stars[[2]int{user, film}]
		twice = twice || there
		stars[[2]int{user, film}] = s
		users[user] = true
	}
	if len(stars) == 0 || twice {
		return d, "u.data", 0
	}
	for _, film := range slices.Sorted(maps.Keys(genres)) {
		d.Films, d.Genre = append(d.Films, film), append(d.Genre, genres[film])
	}
	for _, user := range slices.Sorted(maps.Keys(users)) {
		d.Users = append(d.Users, user)
		for i, film := range d.Films {
			if s, ok := stars[[2]int{user, film}]; ok {
				d.Ratings = append(d.Ratings, movielens.Rating{User: len(d.Users) - 1, Film: i, Stars: s})
			}
		}
	}
	return d, "", 0
}

// FuzzRatings: the two files of the film ratings, each plain or compressed, are read as the second parser reads them,
// and what was read, written, reads back.
func FuzzRatings(f *testing.F) {
	const films = "1|A (1990)|01-Jan-1990||x|0|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|1\n20|B|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1\r\n"
	const ratings = "7\t20\t5\t881250949\n7\t1\t3\t0\n3\t1\t1\t\n"
	for _, s := range [][2]string{
		{ratings, films}, {"", films}, {ratings, ""}, {"\n\n" + ratings, "\n" + films}, {ratings + "7\t1\t3\t0\n", films},
		{ratings, films + films},
		{" 7 \t+20\t05\t\n", films}, {"7\t2\t3\t0\n", films}, {"7\t1\t6\t0\n", films}, {"7\t1\t0\t0\n", films},
		{"0\t1\t3\t0\n", films}, {"1048577\t1\t3\t0\n", films},
		{"7\t1\t3\n", films}, {"7 1 3 0\n", films}, {"99999999999999999999\t1\t3\t0\n", films}, {ratings, "1|A|0|1\n"},
		{ratings, strings.ReplaceAll(films, "|1\n", "|2\n")},
		{ratings, " " + films}, {"\u00a07\t1\t3\t0\n", films}, {"\x1f\x8b", films}, {ratings, "\x1f\x8b\x08"},
		{"7\t1\t3\t0\r\r\n", films}, {"7\t-1\t3\t0", films},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Add(zipped(f, []byte(ratings)), []byte(films))
	f.Add([]byte(ratings), zipped(f, []byte(films)))
	dir, pack := f.TempDir(), packer()
	f.Fuzz(func(t *testing.T, ratings, films []byte) {
		if tooWide(ratings) || tooWide(films) {
			return
		}
		data, item := dataFile(t, dir, "u.data", ratings), dataFile(t, dir, "u.item", films)
		got, err := movielens.Load(data, item)
		if err != nil {
			if typed(t, err, movielens.ErrData); got.Users != nil || got.Films != nil {
				t.Fatal("data beside an error")
			}
		}
		a, bad := unpacked(films)
		b, also := unpacked(ratings)
		if bad != nil || also != nil {
			if err == nil {
				t.Fatal("read, but a file does not unpack")
			}
			return
		}
		if tooLong(linesOf(a)) || tooLong(linesOf(b)) {
			return
		}
		want, file, line := ratingsText(linesOf(a), linesOf(b))
		if file != "" {
			where := filepath.Join(dir, file) + ":"
			if line > 0 {
				where += fmt.Sprint(line) + ":"
			}
			if err == nil || !strings.Contains(err.Error(), where) {
				t.Fatalf("%v; %s should be refused", err, where)
			}
			return
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %+v, %v; want %+v", got, err, want)
		}
		var r, m bytes.Buffer
		for _, x := range got.Ratings {
			fmt.Fprintf(&r, "%d\t%d\t%d\t0\n", got.Users[x.User], got.Films[x.Film], x.Stars)
		}
		for i, film := range got.Films {
			fmt.Fprintf(&m, "%d|", film)
			for g := range movielens.Genres {
				fmt.Fprintf(&m, "|%d", got.Genre[i]>>g&1)
			}
			fmt.Fprintln(&m)
		}
		data, item = dataFile(t, dir, "ratings", pack(t, r.Bytes())), dataFile(t, dir, "films", m.Bytes())
		if again, err := movielens.Load(data, item); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%+v, %v; want %+v", again, err, got)
		}
	})
}

// bombMemory bounds what a reader may allocate for a file that unpacks to one endless line: its buffers, a few times
// over. The text would be 64 times that.
const bombMemory = 1 << 20

// TestDataBombs: a small file that unpacks to 64 MB of one line is refused, and the line is not kept.
func TestDataBombs(t *testing.T) {
	size := numtest.Cases(1<<24, 1<<26)
	flags := strings.Repeat("|0", movielens.Genres)
	for _, tt := range []struct {
		name string
		head string // what makes the reader take the file
		load func(path string) error
		want error
	}{
		{"check-ins", "3\t2010-10-18T22:17:43Z\t1\t1\t1\n", func(path string) error {
			_, _, err := gowalla.Load(context.Background(), quarters(path))
			return err
		}, gowalla.ErrData},
		{"no check-ins", "", func(path string) error {
			_, _, err := gowalla.Load(context.Background(), quarters(path))
			return err
		}, gowalla.ErrData},
		{"films", "1|A" + flags + "\n", func(path string) error {
			_, err := movielens.Load(path, path)
			return err
		}, movielens.ErrData},
		{"ratings", "7\t1\t3\t0\n", func(path string) error {
			_, err := movielens.Load(path, dataFile(t, t.TempDir(), "films", []byte("1|A"+flags)))
			return err
		}, movielens.ErrData},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var bomb bytes.Buffer
			z := gzip.NewWriter(&bomb)
			block := bytes.Repeat([]byte{'1'}, 1<<16)
			if _, err := z.Write([]byte(tt.head)); err != nil {
				t.Fatal(err)
			}
			for range size / len(block) {
				if _, err := z.Write(block); err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			path := dataFile(t, t.TempDir(), "bomb", bomb.Bytes())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := tt.load(path)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > bombMemory {
				t.Errorf("%d bytes were allocated, want at most %d", n, bombMemory)
			}
		})
	}
}
