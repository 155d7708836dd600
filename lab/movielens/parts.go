package movielens

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// parts are the positions of films and users in the two parts of a split, ascending.
type parts struct {
	trainFilms, testFilms   []int
	validation, testedUsers []int
}

// drawn divides the data by a seed.
func drawn(d Data, seed uint64) parts {
	r := rand.New(rand.NewPCG(seed, 0x6d6f76696573)) // "movies": a stream of its own
	var p parts
	p.trainFilms, p.testFilms = cut(len(d.Films), r)
	p.validation, p.testedUsers = cut(len(d.Users), r)
	return p
}

// cut divides 0..n-1 at random 80/20; both parts ascending.
func cut(n int, r *rand.Rand) (large, small []int) {
	p := r.Perm(n)
	large, small = p[:n*4/5], p[n*4/5:]
	slices.Sort(large)
	slices.Sort(small)
	return large, small
}

// splitHeader is the first line of a file of splits.
const splitHeader = "split,kind,id"

// loadParts reads the splits of a file: after the header a line for every film and user of a test part, such as
// 3,film,1682 or 3,user,17, with the ids of the data. All other films are train, all other users validation. The splits
// come in the order of their numbers. Errors: ErrData, those of the file system.
func loadParts(path string, d Data) ([]parts, error) {
	type key struct {
		split, id int
		film      bool
	}
	seen := map[key]bool{}
	test := map[int]*parts{}
	first := true
	err := eachLine(path, func(n int, line string) error {
		if first {
			first = false
			if line != splitHeader {
				return badLine(path, n, "header %q, want %q", line, splitHeader)
			}
			return nil
		}
		f := strings.Split(line, ",")
		if len(f) != 3 || f[1] != "film" && f[1] != "user" {
			return badLine(path, n, "%q, want split,film,id or split,user,id", line)
		}
		split, err := strconv.Atoi(f[0])
		if err != nil || split < 0 || split > maxID {
			return badLine(path, n, "split %q", f[0])
		}
		id, err := strconv.Atoi(f[2])
		if err != nil {
			return badLine(path, n, "id %q", f[2])
		}
		k := key{split, id, f[1] == "film"}
		list := d.Users
		if k.film {
			list = d.Films
		}
		at, ok := slices.BinarySearch(list, id)
		if !ok || seen[k] {
			return badLine(path, n, "%s %d of split %d is not in the data, or there twice", f[1], id, split)
		}
		seen[k] = true
		if test[split] == nil {
			if len(test) == maxSplits {
				return badLine(path, n, "more than %d splits", maxSplits)
			}
			test[split] = &parts{}
		}
		if p := test[split]; k.film {
			p.testFilms = append(p.testFilms, at)
		} else {
			p.testedUsers = append(p.testedUsers, at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []parts
	for _, split := range slices.Sorted(maps.Keys(test)) {
		p := *test[split]
		p.trainFilms, p.validation = rest(len(d.Films), p.testFilms), rest(len(d.Users), p.testedUsers)
		if len(p.testFilms) == 0 || len(p.testedUsers) == 0 || len(p.trainFilms) == 0 || len(p.validation) < 2 {
			return nil, fmt.Errorf("%w: %s: split %d has %d of %d films and %d of %d users in its test part",
				ErrData, path, split, len(p.testFilms), len(d.Films), len(p.testedUsers), len(d.Users))
		}
		all = append(all, p)
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%w: %s: %d splits, want 2 at least", ErrData, path, len(all))
	}
	return all, nil
}

// rest sorts test, positions below n, and returns the others.
func rest(n int, test []int) []int {
	slices.Sort(test)
	var out []int
	for i := range n {
		if _, ok := slices.BinarySearch(test, i); !ok {
			out = append(out, i)
		}
	}
	return out
}
