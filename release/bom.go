package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is one that a program contains, of Go or of npm.
type module struct {
	Path, Version string
	licence       string // for npm, as package-lock.json has it
}

// own is this module, under its name and those of the modules in its folders.
const own = "github.com/wpm-go/wpm"

// licences are the SPDX names of the licences of the modules that programs contain. A module that is not here is an
// error: somebody reads its licence first, and TestLicences compares it with the text.
var licences = map[string]string{
	"codeberg.org/go-fonts/liberation":  "BSD-3-Clause AND OFL-1.1",
	"codeberg.org/go-latex/latex":       "BSD-3-Clause",
	"codeberg.org/go-pdf/fpdf":          "MIT",
	"git.sr.ht/~sbinet/gg":              "MIT",
	"github.com/ajstarks/svgo":          "CC-BY-4.0",
	"github.com/golang/freetype":        "FTL",
	"github.com/mitchellh/colorstring":  "MIT",
	"github.com/rivo/uniseg":            "MIT",
	"github.com/sbinet/npyio":           "BSD-3-Clause",
	"github.com/schollz/progressbar/v3": "MIT",
	"github.com/urfave/cli/v3":          "MIT",
	"golang.org/x/image":                "BSD-3-Clause",
	"golang.org/x/sys":                  "BSD-3-Clause",
	"golang.org/x/term":                 "BSD-3-Clause",
	"golang.org/x/text":                 "BSD-3-Clause",
	"gonum.org/v1/gonum":                "BSD-3-Clause",
	"gonum.org/v1/plot":                 "BSD-3-Clause",
	"std":                               "BSD-3-Clause",
}

// errLicence is for a module without a known licence.
var errLicence = errors.New("no known licence")

// modulesOf returns the modules that a program contains, Go's standard library among them, in order, without those of
// this repository.
func modulesOf(program string) (modules []module, err error) {
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return listed(program)
	}
	b, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	modules = []module{{Path: "std", Version: b.GoVersion}}
	for _, d := range b.Deps {
		if d.Replace != nil && !ours(d.Path) { // a module in a folder replaces the root by the folder above it
			d = d.Replace
		}
		modules = append(modules, module{Path: d.Path, Version: d.Version})
	}
	return sorted(modules), nil
}

// listed returns the modules of the packages that the program in a folder is built of.
func listed(dir string) ([]module, error) {
	cmd := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	cmd.Dir = dir
	if strings.Contains(filepath.ToSlash(dir), "wasm") {
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return nil, err
	}
	modules := []module{{Path: "std", Version: strings.TrimSpace(string(version))}}
	for line := range strings.Lines(string(out)) {
		if path, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			modules = append(modules, module{Path: path, Version: v})
		}
	}
	return sorted(modules), nil
}

// ours reports whether a module is of this repository.
func ours(path string) bool { return path == own || strings.HasPrefix(path, own+"/") }

func sorted(modules []module) []module {
	modules = slices.DeleteFunc(modules, func(m module) bool { return ours(m.Path) })
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(modules)
}

// npmPackages returns the packages that a package-lock.json installs with the package, not those for its development.
func npmPackages(path string) (packages []module, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev              bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[name]
		if name == "" || p.Dev {
			continue
		}
		if p.License == "" {
			return nil, fmt.Errorf("%s: %s: %w", path, name, errLicence)
		}
		_, name, _ = strings.Cut(name, "node_modules/")
		packages = append(packages, module{name, p.Version, p.License})
	}
	return packages, nil
}

// bom is what a release consists of.
type bom struct {
	version, commit string
	names           []string
	modules         map[string][]module // by the name of the file that has them
	packages        []module            // of npm
}

// add says that a file has modules.
func (b *bom) add(name string, modules []module) {
	if b.modules == nil {
		b.modules = map[string][]module{}
	}
	b.names = append(b.names, name)
	b.modules[name] = sorted(append(b.modules[name], modules...))
}

// component and dependency are those of CycloneDX 1.5.
type component struct {
	Type     string              `json:"type"`
	Ref      string              `json:"bom-ref"`
	Name     string              `json:"name"`
	Version  string              `json:"version,omitempty"`
	PURL     string              `json:"purl,omitempty"`
	Hashes   []map[string]string `json:"hashes,omitempty"`
	Licences []map[string]string `json:"licenses,omitempty"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// text returns the CycloneDX file of a release with the files of a folder. The same files give the same bytes.
func (b *bom) text(folder string) ([]byte, error) {
	root := component{Type: "application", Ref: "wpm", Name: own, Version: b.version, PURL: "pkg:golang/" + own +
		"@" + b.version,
		Licences: expression("Apache-2.0")}
	var components []component
	depends := []dependency{{Ref: root.Ref}}
	names, err := files(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range b.names {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s is not in %s", name, folder)
		}
	}
	known := map[string]component{}
	for _, name := range names {
		sum, err := digest(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		file := component{Type: "file", Ref: "file:" + name, Name: name, Hashes: []map[string]string{{"alg": "SHA-256",
			"content": sum}}}
		components = append(components, file)
		depends[0].DependsOn = append(depends[0].DependsOn, file.Ref)
		d := dependency{Ref: file.Ref}
		for _, m := range b.modules[name] {
			c, err := golang(m)
			if err != nil {
				return nil, err
			}
			known[c.Ref] = c
			d.DependsOn = append(d.DependsOn, c.Ref)
		}
		depends = append(depends, d)
	}
	for _, p := range b.packages {
		ref := "pkg:npm/" + strings.Replace(p.Path, "@", "%40", 1) + "@" + p.Version
		known[ref] = component{Type: "library", Ref: ref, Name: p.Path, Version: p.Version, PURL: ref,
			Licences: expression(p.licence)}
	}
	for _, ref := range slices.Sorted(maps.Keys(known)) {
		components = append(components, known[ref])
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{
			"component":  root,
			"properties": []map[string]string{{"name": "commit", "value": b.commit}},
		},
		"components": components, "dependencies": depends,
	})
	return out.Bytes(), err
}

// golang is the component of a module of Go.
func golang(m module) (component, error) {
	licence := licences[m.Path]
	if licence == "" {
		return component{}, fmt.Errorf("%s %s: %w", m.Path, m.Version, errLicence)
	}
	ref := "pkg:golang/" + m.Path + "@" + m.Version
	return component{Type: "library", Ref: ref, Name: m.Path, Version: m.Version, PURL: ref,
		Licences: expression(licence)}, nil
}

func expression(licence string) []map[string]string {
	return []map[string]string{{"expression": licence}}
}

// files returns the names of the files of a folder, in order.
func files(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
