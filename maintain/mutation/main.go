// Mutation says whether the code of the trusted packages is that which maintain/mutation.md is about.
//
//	go run ./maintain/mutation                 compares the tree with the commits in trusted.csv, which git must have
//	go run ./maintain/mutation code PACKAGE    prints the hash of a package in the tree, for trusted.csv
//
// It is run in the root of the module. A package of which more than a tenth of the lines are newer than the measured
// ones is an error, and so is one that was not measured.
//
// Code is what Linux compiles, without tests, comments, empty lines and the space between tokens. Its hash is SHA-256
// over the names of the files and their lines, cut to 64 bits. A line is newer if the measured code does not have it as
// often, wherever it stands. Lines without a letter or digit, as of a closing brace, do not count.
package main

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"go/build"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode"
)

// trusted are the packages that .ci/mutate covers when it is called without a name.
var trusted = []string{"ldp", "policy", "policy/private", "policy/ledger", "device", "sphere/codebook"}

// most is the part of newer lines above which a measurement is too old.
const most = 0.1

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "code":
		now, err := inTree(args[1])
		if err == nil {
			_, err = fmt.Fprintln(out, now.hash())
		}
		return err
	case len(args) > 0:
		return errors.New("usage: go run ./maintain/mutation [code PACKAGE]")
	}
	table, err := os.Open("maintain/mutation/trusted.csv")
	if err != nil {
		return err
	}
	defer func() { _ = table.Close() }()
	measured, err := read(table)
	if err != nil {
		return err
	}
	var failed []error
	for _, pkg := range trusted {
		text, err := compare(pkg, measured[pkg])
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", pkg, err))
			continue
		}
		_, _ = fmt.Fprintf(out, "%s: %s\n", pkg, text)
	}
	return errors.Join(failed...)
}

// A row says which code of a package was measured.
type row struct{ commit, code string }

// read reads a table with the columns package, commit and code.
func read(table io.Reader) (map[string]row, error) {
	lines, err := csv.NewReader(table).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, errors.New("an empty table")
	}
	pkg, commit, code := slices.Index(lines[0], "package"), slices.Index(lines[0], "commit"), slices.Index(lines[0], "code")
	if pkg < 0 || commit < 0 || code < 0 {
		return nil, errors.New("the table lacks a column package, commit or code")
	}
	rows := map[string]row{}
	for _, line := range lines[1:] {
		rows[line[pkg]] = row{line[commit], line[code]}
	}
	return rows, nil
}

// compare compares a package in the tree with its row.
func compare(pkg string, r row) (string, error) {
	if r.commit == "" {
		return "", errors.New("not measured")
	}
	then, err := atCommit(r.commit, pkg)
	if err != nil {
		return "", err
	}
	now, err := inTree(pkg)
	if err != nil {
		return "", err
	}
	return judge(r, then, now)
}

// judge says how the code of now differs from that of then, which a row is about.
func judge(r row, then, now code) (string, error) {
	switch {
	case then.hash() != r.code:
		return "", fmt.Errorf("trusted.csv says %s for its code at %s, which is %s", r.code, r.commit, then.hash())
	case now.hash() == r.code:
		return "as measured at " + r.commit, nil
	}
	newer, all := now.newer(then)
	text := fmt.Sprintf("not as measured at %s: %d of %d lines are newer", r.commit, newer, all)
	if float64(newer) > most*float64(all) {
		return "", errors.New(text + ", more than a tenth")
	}
	return text, nil
}

// code is the code of a package: the lines of each file, by its name.
type code map[string][]string

func (c code) hash() string {
	h := sha256.New()
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		_, _ = fmt.Fprintf(h, "%q %d\n", name, len(c[name])) // a hash takes everything
		for _, line := range c[name] {
			_, _ = fmt.Fprintf(h, "%q\n", line)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// newer returns how many lines of c are not in then, and how many there are.
func (c code) newer(then code) (newer, all int) {
	old := map[string]int{}
	for _, lines := range then {
		for _, line := range lines {
			old[line]++
		}
	}
	for _, lines := range c {
		for _, line := range lines {
			if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				continue
			}
			all++
			if old[line]--; old[line] < 0 {
				newer++
			}
		}
	}
	return newer, all
}

// add adds a file, if it is code.
func (c code) add(name string, text []byte) error {
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", false
	linux.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(text))), nil }
	if match, err := linux.MatchFile("", name); err != nil || !match || path.Ext(name) != ".go" ||
		strings.HasSuffix(name, "_test.go") {
		return err
	}
	lines, err := tokens(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c[name] = lines
	return nil
}

// tokens returns the lines of a source: their tokens, with one space between them. A token over several lines is on its
// first.
func tokens(text []byte) (lines []string, err error) {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	s.Init(file, text, func(at token.Position, problem string) {
		err = errors.Join(err, fmt.Errorf("line %d: %s", at.Line, problem))
	}, 0)
	last := 0
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return lines, err
		case tok == token.SEMICOLON && lit != ";": // the end of a line
			continue
		case tok.IsOperator():
			lit = tok.String()
		}
		if at := file.Line(pos); at == last {
			lines[len(lines)-1] += " " + lit
		} else {
			lines, last = append(lines, lit), at
		}
	}
}

// inTree returns the code of a package of the tree.
func inTree(pkg string) (code, error) {
	entries, err := os.ReadDir(pkg)
	if err != nil {
		return nil, err
	}
	return load(entries, func(e fs.DirEntry) string { return e.Name() },
		func(name string) ([]byte, error) { return os.ReadFile(path.Join(pkg, name)) })
}

// atCommit returns the code of a package at a commit.
func atCommit(commit, pkg string) (code, error) {
	list, err := git("ls-tree", "--name-only", commit, pkg+"/")
	if err != nil {
		return nil, err
	}
	return load(strings.Fields(string(list)), path.Base,
		func(name string) ([]byte, error) { return git("show", commit+":"+path.Join(pkg, name)) })
}

// load reads the code among the entries of a folder.
func load[E any](entries []E, name func(E) string, read func(name string) ([]byte, error)) (code, error) {
	c := code{}
	for _, e := range entries {
		if path.Ext(name(e)) != ".go" {
			continue
		}
		text, err := read(name(e))
		if err == nil {
			err = c.add(name(e), text)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(c) == 0 {
		return nil, errors.New("it has no code")
	}
	return c, nil
}

func git(args ...string) ([]byte, error) {
	out, err := exec.Command("git", args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("git %s: %s", strings.Join(args, " "), strings.TrimSpace(string(failed.Stderr)))
	}
	return out, err
}
