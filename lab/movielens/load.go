package movielens

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost/costio"
)

// Genres is the number of genre flags at the end of a line of u.item.
const Genres = 19

// Limits of what is read, so that no file can take all memory.
const (
	maxID    = 1 << 20
	maxLines = 1 << 22
	maxLine  = 1<<16 - 2
)

// Rating is one line of u.data.
type Rating struct {
	User, Film int // positions in Data.Users and Data.Films
	Stars      int // 1 to 5
}

// Data is what the study reads, ordered by id.
type Data struct {
	Users   []int    // ids, ascending
	Films   []int    // ids, ascending
	Genre   []uint32 // of each film: bit g is flag g
	Ratings []Rating // by user, then film
}

// Load reads the ratings (u.data: user, item, rating, timestamp, tab-separated) and the films (u.item: fields separated
// by |, the last 19 of them genre flags), plain or gzipped. Errors: ErrData, those of the file system.
func Load(ratings, films string) (Data, error) {
	var d Data
	if err := eachLine(films, func(n int, line string) error { return d.addFilm(films, n, line) }); err != nil {
		return Data{}, err
	}
	if len(d.Films) == 0 {
		return Data{}, fmt.Errorf("%w: %s: no films", ErrData, films)
	}
	order := make([]int, len(d.Films))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return d.Films[a] - d.Films[b] })
	sorted := Data{}
	for _, i := range order {
		if n := len(sorted.Films); n > 0 && sorted.Films[n-1] == d.Films[i] {
			return Data{}, fmt.Errorf("%w: %s: film %d is there twice", ErrData, films, d.Films[i])
		}
		sorted.Films, sorted.Genre = append(sorted.Films, d.Films[i]), append(sorted.Genre, d.Genre[i])
	}
	d = sorted
	var raw [][3]int // user id, film, stars
	err := eachLine(ratings, func(n int, line string) error {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return badLine(ratings, n, "%d fields, want user, item, rating, timestamp", len(f))
		}
		var x [3]int
		for i, what := range []string{"user", "item", "rating"} {
			v, err := strconv.Atoi(strings.TrimSpace(f[i]))
			if err != nil || v < 1 || v > maxID {
				return badLine(ratings, n, "%s %q", what, f[i])
			}
			x[i] = v
		}
		if x[2] > 5 {
			return badLine(ratings, n, "rating %d, want 1 to 5", x[2])
		}
		film, ok := slices.BinarySearch(d.Films, x[1])
		if !ok {
			return badLine(ratings, n, "item %d is not in %s", x[1], films)
		}
		x[1] = film
		if len(raw) == maxLines {
			return badLine(ratings, n, "more than %d ratings", maxLines)
		}
		raw = append(raw, x)
		return nil
	})
	if err != nil {
		return Data{}, err
	}
	if len(raw) == 0 {
		return Data{}, fmt.Errorf("%w: %s: no ratings", ErrData, ratings)
	}
	slices.SortFunc(raw, func(a, b [3]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return a[1] - b[1]
	})
	for n, x := range raw {
		if n == 0 || raw[n-1][0] != x[0] {
			d.Users = append(d.Users, x[0])
		} else if raw[n-1][1] == x[1] {
			return Data{}, fmt.Errorf("%w: %s: user %d rated item %d twice", ErrData, ratings, x[0], d.Films[x[1]])
		}
		d.Ratings = append(d.Ratings, Rating{len(d.Users) - 1, x[1], x[2]})
	}
	return d, nil
}

func (d *Data) addFilm(file string, n int, line string) error {
	f := strings.Split(line, "|")
	if len(f) < Genres+2 {
		return badLine(file, n, "%d fields, want an id, a title and %d genre flags at least", len(f), Genres)
	}
	id, err := strconv.Atoi(f[0])
	if err != nil || id < 1 || id > maxID {
		return badLine(file, n, "item %q", f[0])
	}
	var genre uint32
	for g, flag := range f[len(f)-Genres:] {
		switch flag {
		case "0":
		case "1":
			genre |= 1 << g
		default:
			return badLine(file, n, "genre flag %d is %q", g, flag)
		}
	}
	if len(d.Films) == maxLines {
		return badLine(file, n, "more than %d films", maxLines)
	}
	d.Films, d.Genre = append(d.Films, id), append(d.Genre, genre)
	return nil
}

// eachLine calls f with the lines of a file that are not blank; gzip is recognised by its first bytes.
func eachLine(path string, f func(n int, line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("movielens: %w", err)
	}
	defer file.Close()
	in, err := costio.Unzip(file)
	if err != nil {
		return unreadable(path, 1, err)
	}
	lines := costio.NewLines(in, maxLine)
	for lines.Next() {
		n := lines.Number()
		if lines.Long() {
			return badLine(path, n, "line of more than %d bytes", maxLine)
		}
		line := strings.TrimSuffix(string(lines.Bytes()), "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := f(n, line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return unreadable(path, lines.Number()+1, err)
	}
	return nil
}

// unreadable tells a fault of the file system from one of the data.
func unreadable(path string, n int, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("movielens: %w", err)
	}
	return fmt.Errorf("%w: %s:%d: %w", ErrData, path, n, err)
}
