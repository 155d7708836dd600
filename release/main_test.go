package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// texts match the licences by their words.
var texts = map[string]*regexp.Regexp{
	"BSD-3-Clause": regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*Neither the name`),
	"MIT":          regexp.MustCompile(`Permission is hereby granted, free of charge`),
	"OFL-1.1":      regexp.MustCompile(`SIL OPEN FONT LICENSE Version 1\.1`),
	"CC-BY-4.0":    regexp.MustCompile(`Creative Commons Attribution 4\.0 International`),
	"FTL":          regexp.MustCompile(`The FreeType License`),
}

// programs are the folders of what a release is built from, each with the file of its licences. Those of the studies are
// a module with modules of its own, which this module does without.
var programs = []struct{ folder, notices string }{
	{"../cmd/wpm", ""}, {"../cmd/wpm-device", ""}, {"../js/wasm", ""}, {"../python/lib", ""},
	{"../internal/playground/wasm", ""}, {lab + "/cmd/wpm-lab", "lab"},
}

const lab = "../lab"

// TestLicences holds that every module in a program of a release has a known licence, that the words of the licence
// in its folder are those, that THIRD_PARTY.md of its module has it, and, with the studies, that the list has no
// other module.
func TestLicences(t *testing.T) {
	full := numtest.Full()
	found, dirs := map[string]bool{"std": true}, moduleDirs(t, full)
	for _, p := range programs {
		program := p.folder
		if p.notices != "" && !full {
			continue // its modules may not be on this machine
		}
		notices, err := os.ReadFile(filepath.Join("..", p.notices, "THIRD_PARTY.md"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(program); err != nil {
			continue
		}
		modules, err := modulesOf(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range modules {
			if _, err := golang(m); err != nil {
				t.Errorf("%s: %v", program, err)
				continue
			}
			if m.Path == "std" {
				continue
			}
			found[m.Path] = true
			if !bytes.Contains(notices, []byte("\n## "+m.Path+" "+m.Version+"\n")) {
				t.Errorf("THIRD_PARTY.md has no licence of %s %s", m.Path, m.Version)
			}
			text := licenceText(t, dirs[m.Path])
			for _, name := range strings.Split(licences[m.Path], " AND ") {
				if texts[name] == nil || !texts[name].MatchString(text) {
					t.Errorf("%s is not under %s, or nobody knows the words of that", m.Path, name)
				}
			}
		}
	}
	for path := range licences {
		if full && !found[path] {
			t.Errorf("no program has the module %s", path)
		}
	}
}

// moduleDirs returns the folder of each module that has a licence here; without the studies, of those that this module
// requires.
func moduleDirs(t *testing.T, studies bool) map[string]string {
	t.Helper()
	args := []string{"list", "-m", "-e", "-f", "{{.Path}}={{.Dir}}"}
	for path := range licences {
		if path != "std" {
			args = append(args, path)
		}
	}
	list := exec.Command("go", args...)
	if studies {
		list.Dir = lab
	}
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "=")
		dirs[path] = dir
	}
	return dirs
}

// licenceText is every licence in the folder of a module.
func licenceText(t *testing.T, dir string) string {
	t.Helper()
	if dir == "" {
		t.Error("a module without a folder")
		return ""
	}
	var text strings.Builder
	for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "licenses/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil {
				text.Write(b)
			}
		}
	}
	return text.String()
}

// TestBOM: the list names every file with its digest, the modules of each with their licences, and is the same twice.
func TestBOM(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("files/a.tar.gz", "hello\n")
	write("files/b.tgz", "")
	lock := write("lock.json", `{"packages": {"": {"version": "1"}, "node_modules/tool": {"version": "2", "dev": true},
		"node_modules/@x/lib": {"version": "3.1", "license": "ISC"}}}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, name := range []string{"one", "two"} {
		out := filepath.Join(dir, name)
		// The program of this test has no module but the standard library.
		if err := run([]string{"-version", "v1", "-commit", "c", "-npm", lock, "-out", out, filepath.Join(dir, "files"),
			"a.tar.gz=" + self}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		} else if !bytes.Equal(text, first) {
			t.Error("another list of the same files")
		}
	}
	var got struct {
		Components   []component
		Dependencies []dependency
	}
	if err := json.Unmarshal(first, &got); err != nil {
		t.Fatal(err)
	}
	std := "pkg:golang/std@" + runtime.Version()
	refs := map[string]component{}
	for _, c := range got.Components {
		refs[c.Ref] = c
	}
	const hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // sha256sum
	if c := refs["file:a.tar.gz"]; len(c.Hashes) != 1 || c.Hashes[0]["content"] != hello {
		t.Errorf("%+v", c)
	}
	if len(refs) != 4 || refs[std].Licences[0]["expression"] != "BSD-3-Clause" ||
		refs["pkg:npm/%40x/lib@3.1"].Licences[0]["expression"] != "ISC" {
		t.Errorf("%s", first)
	}
	for _, d := range got.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if _, ok := refs[ref]; !ok && ref != "wpm" {
				t.Errorf("%s is no component", ref)
			}
		}
		if d.Ref == "file:a.tar.gz" && (len(d.DependsOn) != 1 || d.DependsOn[0] != std) {
			t.Errorf("%+v", d)
		}
	}
}

// TestReplaced: a program of a module in a folder, which replaces the root by a path as lab does, contains no module but
// those of others.
func TestReplaced(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module " + own + "\n",
		"a.go":        "package wpm\n\nconst A = 1\n",
		"lab/go.mod":  "module " + own + "/lab\n\nrequire " + own + " v0.0.0\n\nreplace " + own + " => ../\n",
		"lab/main.go": "package main\n\nimport wpm \"" + own + "\"\n\nfunc main() { println(wpm.A) }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "lab.exe", ".")
	build.Dir = filepath.Join(dir, "lab")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	modules, err := modulesOf(filepath.Join(dir, "lab", "lab.exe"))
	if err != nil || len(modules) != 1 || modules[0].Path != "std" {
		t.Errorf("%v, %v", modules, err)
	}
}

// TestUnknown: a module or a package without a known licence is an error, and so is a program of no file.
func TestUnknown(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b := bom{version: "v1", commit: "c"}
	b.add("a", []module{{Path: "example.org/new", Version: "v1.0.0"}})
	if _, err := b.text(dir); !errors.Is(err, errLicence) || !strings.Contains(err.Error(), "example.org/new v1.0.0") {
		t.Error(err)
	}
	b = bom{}
	b.add("absent", nil)
	if _, err := b.text(dir); err == nil {
		t.Error("a program of a file that is not there")
	}
	lock := filepath.Join(dir, "lock")
	if err := os.WriteFile(lock, []byte(`{"packages": {"node_modules/x": {"version": "1"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := npmPackages(lock); !errors.Is(err, errLicence) {
		t.Error(err)
	}
	for _, args := range [][]string{nil, {"-version", "v1"}, {"-version", "v1", "-commit", "c", "-out",
		filepath.Join(dir, "o"), dir, "a"}} {
		if run(args) == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// TestOtherVersion: a release under a tag that is not the version of CITATION.cff is refused before anything is built.
func TestOtherVersion(t *testing.T) {
	numtest.SkipUnlessFull(t, "clones the repository")
	out := filepath.Join(t.TempDir(), "out")
	text, err := exec.Command("./build", "-version", "v99.0.0", "-o", out, "jar").CombinedOutput()
	if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != 2 || !bytes.Contains(text, []byte("CITATION.cff")) {
		t.Errorf("%v\n%s", err, text)
	}
	if files, err := os.ReadDir(out); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestAndroid: a program for Android is position-independent, is started by Android's linker, needs no library and no
// symbol of one, and can be mapped in pages of 16 KiB, as newer phones have them. Where a linker and an emulator are, it
// is run: any linker will do for a program without libraries.
func TestAndroid(t *testing.T) {
	numtest.SkipUnlessFull(t, "builds the standard library for another system")
	program := filepath.Join(t.TempDir(), "wpm-device")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", program, "../cmd/wpm-device")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=android", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("libraries %q (%v)", libraries, err)
	}
	if symbols, err := f.ImportedSymbols(); len(symbols) > 0 {
		t.Errorf("symbols %q (%v)", symbols, err)
	}
	flags, err := f.DynValue(elf.DT_FLAGS_1)
	if err != nil || len(flags) != 1 || elf.DynFlag1(flags[0])&elf.DF_1_PIE == 0 || f.Type != elf.ET_DYN || f.Machine != elf.EM_AARCH64 {
		t.Errorf("type %v for %v, flags %x (%v)", f.Type, f.Machine, flags, err)
	}
	var linker []byte
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_INTERP:
			if linker, err = io.ReadAll(p.Open()); err != nil {
				t.Fatal(err)
			}
		case elf.PT_LOAD:
			if p.Align < 16<<10 {
				t.Errorf("a segment is aligned to %d bytes", p.Align)
			}
		}
	}
	if string(linker) != "/system/bin/linker64\x00" {
		t.Errorf("linker %q", linker)
	}
	const stranger = "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"
	emulator, err := exec.LookPath("qemu-aarch64")
	if _, err2 := os.Stat(stranger); err != nil || err2 != nil {
		t.Skip("no emulator, or no linker for it: the program was not run")
	}
	out, err := exec.Command(emulator, stranger, program, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "wpm-device ") {
		t.Errorf("%v\n%s", err, out)
	}
}
