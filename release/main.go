// Command release writes the list of what is in a release: a CycloneDX file, with the modules of every program, their
// licences, and the SHA-256 of every file. The script release/build runs it.
//
//	release -version v0.1.0 -commit HASH -out wpm.cdx.json -npm js/package-lock.json FOLDER NAME=PROGRAM...
//
// FOLDER has the files as they are published. PROGRAM is a binary whose modules the file NAME contains, or a folder
// of this module, for what go version -m cannot read: then the modules are those that go list finds.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	version := f.String("version", "", "the `VERSION` of the release")
	commit := f.String("commit", "", "the commit, `HASH`")
	out := f.String("out", "", "the `FILE` to write")
	npm := f.String("npm", "", "the package-lock.json of what goes to npm, `FILE`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *version == "" || *commit == "" || *out == "" || f.NArg() < 1 {
		return errors.New("it needs -version, -commit, -out and a folder")
	}
	b := bom{version: *version, commit: *commit}
	for _, arg := range f.Args()[1:] {
		name, program, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=PROGRAM", arg)
		}
		modules, err := modulesOf(program)
		if err != nil {
			return err
		}
		b.add(name, modules)
	}
	if *npm != "" {
		packages, err := npmPackages(*npm)
		if err != nil {
			return err
		}
		b.packages = packages
	}
	text, err := b.text(f.Arg(0))
	if err != nil {
		return err
	}
	return os.WriteFile(*out, text, 0o644)
}
