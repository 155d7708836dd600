package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

// makeRatings writes a folder of made-up ratings in the format of MovieLens: forty users and eighty films of four kinds.
// Users see films of their kind and like most of them.
func makeRatings(t *testing.T, dir string) string {
	t.Helper()
	var data, items strings.Builder
	for f := range 80 {
		flags := slices.Repeat([]string{"0"}, 19)
		flags[f%4+1], flags[f%7+5] = "1", "1"
		fmt.Fprintf(&items, "%d|Film %d (1999)|01-Jan-1999||http://example.org|%s\n", f+1, f+1, strings.Join(flags, "|"))
	}
	for u := range 40 {
		for n := range 15 {
			film, stars := (4*(u*7+n*3)+u%4)%80, 4+(u+n)%2
			if n%5 == 4 {
				film, stars = (film+1)%80, 1+n%3
			}
			fmt.Fprintf(&data, "%d\t%d\t%d\t881250949\n", u+1, film+1, stars)
		}
	}
	folder := filepath.Join(dir, "ratings")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, folder, "u.data", data.String())
	write(t, folder, "u.item", items.String())
	return folder
}

// someSplits has three splits: sixteen films of each kind, and eight users.
func someSplits() string {
	var b strings.Builder
	b.WriteString("split,kind,id\n")
	for n := range 3 {
		for i := range 16 {
			fmt.Fprintf(&b, "%d,film,%d\n", 10*n, 5*i+n+1)
		}
		for i := range 8 {
			fmt.Fprintf(&b, "%d,user,%d\n", 10*n, 5*i+n+1)
		}
	}
	return b.String()
}

// filmSettings is what a run of movielens reports.
type filmSettings struct {
	Config struct {
		Out, Embedding                                      string
		SplitFile                                           string `json:"split_file"`
		Epsilons                                            []string
		Splits, Dimension, Candidates, Scales, Rounds, Like int
		Seed                                                uint64
		Lambda                                              float64
	}
	Users, Films, Ratings int
	Rows                  []struct {
		Method, Epsilon string
		HitRate         float64 `json:"hit_rate"`
		Splits, Masses  []float64
	}
}

// numbers are the hit rates of all splits.
func (r filmSettings) numbers() string {
	var b strings.Builder
	for _, row := range r.Rows {
		fmt.Fprintln(&b, row.Method, row.Epsilon, row.Splits)
	}
	return b.String()
}

// filmRows has a flag of movielens, or several that go together, and what a run with them must show.
var filmRows = []struct {
	flags string // beside the defaults of TestMovielensFlags; words in capitals are its files
	holds func(r, plain filmSettings) bool
}{
	{"-eps 2,7/3 -splits 3", func(r, plain filmSettings) bool {
		return slices.Equal(r.Config.Epsilons, []string{"2", "7/3"}) && r.Config.Splits == 3 &&
			slices.Equal(r.Rows[0].Splits[:2], plain.Rows[0].Splits)
	}},
	{"-seed 2", func(r, plain filmSettings) bool { // the first split here is the second there
		return r.Config.Seed == 2 && r.Rows[0].Splits[0] == plain.Rows[0].Splits[1]
	}},
	{"-split-file SPLITS", func(r, plain filmSettings) bool {
		return r.Config.Splits == 3 && len(r.Rows[0].Splits) == 3 && r.numbers() != plain.numbers()
	}},
	{"-splits 2 -split-file SPLITS", func(r, plain filmSettings) bool {
		return r.Config.Splits == 2 && strings.HasSuffix(r.Config.SplitFile, "splits.csv") && len(r.Rows[0].Splits) == 2
	}},
	{"-embedding loadings", func(r, plain filmSettings) bool {
		return r.Config.Embedding == "loadings" && plain.Config.Embedding == "scores" && r.numbers() != plain.numbers()
	}},
	{"-dimension 2", func(r, plain filmSettings) bool {
		return r.Config.Dimension == 2 && r.numbers() != plain.numbers()
	}},
	{"-candidates 5", func(r, plain filmSettings) bool {
		return r.Config.Candidates == 5 && r.numbers() != plain.numbers()
	}},
	{"-scales 4", func(r, plain filmSettings) bool { // an even number leaves out the mass 1
		return r.Config.Scales == 4 && !slices.Contains(r.Rows[0].Masses, 1) && r.numbers() != plain.numbers()
	}},
	{"-lambda 1", func(r, plain filmSettings) bool { return r.Config.Lambda == 1 && r.numbers() != plain.numbers() }},
	{"-rounds 1", func(r, plain filmSettings) bool { return r.Config.Rounds == 1 && r.numbers() != plain.numbers() }},
	{"-like 1", func(r, plain filmSettings) bool { // whatever is rated counts
		return r.Config.Like == 1 && r.Rows[0].HitRate > plain.Rows[0].HitRate
	}},
	{"-ratings FOLDER/u.data -movies FOLDER/u.item -out NAMED", func(r, plain filmSettings) bool {
		_, err := os.Stat(filepath.Join(r.Config.Out, "index.html"))
		return err == nil && filepath.Base(r.Config.Out) == "named" && r.numbers() == plain.numbers()
	}},
}

// TestMovielensFlags: each flag of movielens does what its help says.
func TestMovielensFlags(t *testing.T) {
	dir := t.TempDir()
	folder := makeRatings(t, dir)
	tested := map[string]bool{"data": true, "json": true, "help": true, "quiet": true}
	file := strings.NewReplacer("FOLDER", folder, "SPLITS", write(t, dir, "splits.csv", someSplits()),
		"NAMED", filepath.Join(dir, "named"))
	run := func(n int, flags string) (r filmSettings) {
		args, given := strings.Fields(file.Replace(flags)), map[string]bool{}
		for _, f := range args {
			if name, ok := strings.CutPrefix(f, "-"); ok {
				given[name], tested[name] = true, true
			}
		}
		for _, d := range []struct {
			flag, value string
			leave       bool
		}{
			{"data", folder, given["ratings"]}, {"splits", "2", given["split-file"]}, {"eps", "2", false},
			{"dimension", "6", false}, {"candidates", "12", false}, {"scales", "3", false}, {"lambda", "0.05", false},
			{"out", filepath.Join(dir, fmt.Sprint(n)), false},
		} {
			if !given[d.flag] && !d.leave {
				args = append(args, "-"+d.flag+"="+d.value)
			}
		}
		out := must(t, "", slices.Concat([]string{"movielens", "-json"}, args)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		return r
	}
	plain := run(0, "")
	if plain.Users != 40 || plain.Films != 80 || plain.Ratings != 600 || plain.Config.Rounds != 40 ||
		plain.Config.Like != 4 || plain.Config.Seed != 1 {
		t.Errorf("%+v", plain)
	}
	for n, tt := range filmRows {
		if r := run(n+1, tt.flags); !tt.holds(r, plain) {
			t.Errorf("%s: %+v\nwithout: %s", tt.flags, r, plain.numbers())
		}
	}
	for _, name := range helpFlags(t, "movielens") {
		if !tested[name] {
			t.Errorf("no row tests -%s", name)
		}
	}
}

// helpFlags are the flags that the help of a study names.
func helpFlags(t *testing.T, study string) (names []string) {
	t.Helper()
	for line := range strings.Lines(must(t, "", study, "-help")) {
		if name, ok := strings.CutPrefix(line, "   -"); ok && name[1] != ' ' {
			names = append(names, strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ',' })[0])
		}
	}
	if len(names) < 10 {
		t.Fatalf("the help of %s names %q", study, names)
	}
	return names
}

// TestMovielensRefused: what is wrong is named, with the line of a file.
func TestMovielensRefused(t *testing.T) {
	dir := t.TempDir()
	folder := makeRatings(t, dir)
	data := "-data " + folder + " "
	splits := func(name, text string) string { return data + "-split-file " + write(t, dir, name, text) }
	for _, tt := range []struct{ args, want string }{
		{"", "needs -ratings u.data and -movies u.item, or -data"},
		{"-ratings " + folder + "/u.data", "needs -ratings u.data and -movies u.item"},
		{data + "-ratings " + folder + "/u.data", "-data is the folder of both files"},
		{"-data " + dir, "u.item: no such file"},
		{"-ratings " + folder + "/u.item -movies " + folder + "/u.data", "u.data:1: 1 fields"},
		{data + "-eps 0", `"0" is below`},
		{data + "-eps 2,1", "want ascending"},
		{data + "-splits 0", "-splits: 0 is not positive"},
		{data + "-splits 1", "Splits is 1, want 2 to 100"},
		{data + "-splits 101", "Splits is 101, want 2 to 100"},
		{data + "-embedding moon", `Embedding is "moon", want "scores" or "loadings"`},
		{data + "-dimension 0", "-dimension: 0 is not positive"},
		{data + "-candidates 0", "-candidates: 0 is not positive"},
		{data + "-candidates 17", "16 test films, want 17 candidates"},
		{data + "-scales 0", "-scales: 0 is not positive"},
		{data + "-rounds 0", "-rounds: 0 is not positive"},
		{data + "-lambda 0", "-lambda: 0 is not positive"},
		{data + "-lambda NaN", "Lambda is NaN"},
		{data + "-like 6", "Like is 6, want 1 to 5"},
		{data + "-split-file " + filepath.Join(dir, "missing.csv"), "missing.csv"},
		{splits("header.csv", "split,item,id\n"), `header.csv:1: header "split,item,id", want "split,kind,id"`},
		{splits("song.csv", "split,kind,id\n1,song,2\n"), "song.csv:2"},
		{splits("unknown.csv", "split,kind,id\n1,film,81\n"), "unknown.csv:2"},
		{splits("twice.csv", "split,kind,id\n1,film,8\n1,film,8\n"), "twice.csv:3"},
		{splits("empty.csv", ""), "empty.csv"},
		{splits("few.csv", someSplits()) + " -splits 4", "Splits is 4, want 2 to 3, those of"},
	} {
		args := append([]string{"movielens", "-out", filepath.Join(dir, "out")}, strings.Fields(tt.args)...)
		status, text, errs := try(t, "", args...)
		if status != device.Bad || text != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: status %d, %q, want %q\n%s", tt.args, status, errs, tt.want, text)
		}
	}
}
