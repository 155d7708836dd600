package maintain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/bits"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/wpm-go/wpm"

// A layer is a set of folders. A package may import packages of the layers below its own, and of its own folder at the
// top (mincostflow/... of one another): nothing else, but for the exceptions. A folder stands for those below it that
// no other line names.
var layers = []struct {
	name    string
	folders []string
}{
	{"the errors that solvers share, which import nothing of this module", []string{"wpmerr"}},
	{"foundations", []string{"cost", "ldp", "vectors", "proptest/exact",
		"internal/atomicfile", "internal/binomial", "internal/child", "internal/city", "internal/num", "internal/numtest",
		"internal/parallel", "fuzz", "maintain", "proofs", "python", "release"}},
	{"parts of solvers, policies, laws", []string{"policy", "projection", "baseline", "estimate", "hilbert", "knapsack",
		"proptest", "shuffle", "internal/numtest/given", "internal/folder", "internal/notices",
		"internal/plane", "internal/rowcache", "internal/worst"}},
	{"bounds, geometry of policies, drawing", []string{"internal/cutbound", "internal/discs", "internal/places",
		"internal/rival", "internal/sheet", "channel"}},
	{"solvers; the device; rows of policies", []string{"basemeasure", "mincostflow", "minimax", "mirror", "sinkhorn",
		"sphere", "device", "conform", "internal/ranking"}},
	{"counts, forecasts, what commands share", []string{"aggregate", "estimate/atlas", "estimate/plan", "estimate/series", "internal/shell"}},
	{"proofs of numbers, manual pages", []string{"certificate", "internal/manual"}},
	{"the mechanism, and audits", []string{"", "audit"}},
	{"machine interface, demonstrations", []string{"internal/demo", "internal/machine", "internal/playground",
		"internal/simulation"}},
	{"commands", []string{"cmd", "js/wasm"}},
}

// exceptions are imports that the layers forbid, with the reason.
var exceptions = map[[2]string]string{}

// outside are the modules that a package may use, besides gonum in what no device runs.
var outside = map[string][]string{
	"cost/costio":      {"github.com/sbinet/npyio"},
	"internal/numtest": {"github.com/google/go-cmp", "pgregory.net/rapid"},
	"internal/places":  {"golang.org/x/text"},
	"internal/shell":   {"github.com/schollz/progressbar/v3", "github.com/urfave/cli/v3", "golang.org/x/term"},
	"internal/manual":  {"github.com/urfave/cli/v3"},
	"cmd/wpm":          {"github.com/urfave/cli/v3"},
	"cmd/wpm-conform":  {"pgregory.net/rapid"},
	"conform":          {"pgregory.net/rapid"},
	"proptest":         {"pgregory.net/rapid"},
	"proptest/exact":   {},
	"cmd/wpm-device":   {},
}

// alone says what a package brings in of this module, on any way, and that it brings in nothing else: the trusted core
// and the private paths, what a device runs, and the verifiers of projections, which owe nothing to any solver.
var alone = map[string][]string{
	"ldp": nil, "wpmerr": nil, "cost": {"wpmerr"}, "policy/private": nil, "policy/ledger": {"ldp"},
	"policy":                      {"ldp", "policy/ledger", "policy/private"},
	"device":                      {"internal/atomicfile", "ldp", "policy", "policy/ledger", "policy/private"},
	"cmd/wpm-device":              {"device", "internal/atomicfile", "ldp", "policy", "policy/ledger", "policy/private"},
	"sphere/codebook":             {"ldp", "policy", "policy/ledger", "policy/private", "sphere", "wpmerr"}, // and gonum, for utility
	"projection/verify":           {"cost", "internal/num", "internal/parallel", "projection", "wpmerr"},
	"sinkhorn/internal/gridproof": {"cost", "internal/num", "internal/parallel", "projection", "projection/verify", "wpmerr"},
	"vectors":                     nil,
	"proptest/exact":              nil, // the oracle of laws and vectors
}

// solvers can be imported alone: all that they bring is this module and gonum.
var solvers = []string{"basemeasure", "baseline", "estimate", "hilbert", "knapsack", "mincostflow", "mincostflow/network",
	"mincostflow/units", "minimax", "mirror", "projection", "projection/verify", "shuffle", "sinkhorn", "sinkhorn/grid", "sinkhorn/kl", "sinkhorn/paper", "sphere"}

// forbidden lists standard packages that a package must not reach directly, with the reason.
var forbidden = map[string]map[string]string{
	"ldp": {
		"math/rand": "randomness is an argument", "math/rand/v2": "randomness is an argument",
		"crypto/rand": "randomness is an argument",
		"unsafe":      "trusted core", "reflect": "trusted core", "sync": "no goroutines, no caches", "time": "no clock",
		"os":         "no files",
		"math/cmplx": "no floats", "encoding/json": "formats belong to policy",
	},
	"hilbert": impure, "projection": impure, "projection/verify": impure, "sinkhorn": impure, "sinkhorn/grid": impure,
	"sinkhorn/internal/gridproof": impure, "sinkhorn/kl": impure, "sinkhorn/paper": impure, "sphere": impure,
	"mincostflow": impure, "mincostflow/network": impure, "mincostflow/units": impure, "knapsack": impure,
	"basemeasure": impure, "mirror": impure,
	"baseline": impure, "cost": impure, "shuffle": impure, "minimax": impure,
	"sphere/codebook": {
		"math/rand": "only crypto/rand draws for private data", "math/rand/v2": "only crypto/rand draws for private data",
		"unsafe": "private path", "reflect": "private path", "time": "no clock", "os": "no environment, no files",
		"log": "no logging in libraries",
	},
	"policy/private": {"math/rand": "randomness is an argument", "math/rand/v2": "randomness is an argument",
		"crypto/rand": "randomness is an argument", "unsafe": "private path", "reflect": "private path", "sync": "no caches",
		"time": "no clock", "os": "no environment, no files", "log": "no logging in libraries"},
	"policy/ledger": {"math/rand": "a slot is drawn by crypto/rand", "math/rand/v2": "a slot is drawn by crypto/rand",
		"unsafe": "private path", "reflect": "private path"},
	"policy": {"math/rand": "only crypto/rand draws for private data",
		"math/rand/v2": "only crypto/rand draws for private data", "unsafe": "private path", "reflect": "private path"},
}

// impure is what no solver may use: an answer depends on its arguments alone.
var impure = map[string]string{
	"math/rand": "randomness is an argument", "math/rand/v2": "randomness is an argument",
	"crypto/rand": "randomness is an argument",
	"time":        "no clock", "os": "no environment, no files", "log": "no logging in libraries",
	"unsafe": "no bound is worth it",
}

type listed struct {
	ImportPath, Name, Doc              string
	Standard                           bool
	Imports, TestImports, XTestImports []string
}

// goList asks the go command once for all packages of this module and all that they reach, by import path.
var goList = sync.OnceValues(func() (map[string]listed, error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Standard,Imports,TestImports,XTestImports", "-deps",
		"./...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, err
	}
	pkgs := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		pkgs[p.ImportPath] = p
	}
})

// packages are those of goList.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	all, err := goList()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reached returns a package of this module and what it imports, on any way.
func reached(t *testing.T, name string) map[string]listed {
	t.Helper()
	all := packages(t)
	found := map[string]listed{}
	var visit func(path string)
	visit = func(path string) {
		if _, ok := found[path]; ok || path == "C" {
			return
		}
		p, ok := all[path]
		if !ok {
			t.Fatalf("go list does not have %s", path)
		}
		found[path] = p
		for _, imp := range p.Imports {
			visit(imp)
		}
	}
	visit(strings.TrimSuffix(module+"/"+name, "/"))
	return found
}

func short(path string) string {
	if path == module {
		return ""
	}
	return strings.TrimPrefix(path, module+"/")
}

// inFolder says whether path is folder or below it.
func inFolder(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// nearest returns the longest folder that has path, which is none for the root.
func nearest(path string, folders iter.Seq[string]) (best string, ok bool) {
	for f := range folders {
		if (path == f || f != "" && inFolder(path, f)) && (!ok || len(f) > len(best)) {
			best, ok = f, true
		}
	}
	return best, ok
}

// layerOf returns the number of a package's layer, or -1.
func layerOf(path string) int {
	at, longest := -1, ""
	for n, l := range layers {
		if f, ok := nearest(path, slices.Values(l.folders)); ok && (at < 0 || len(f) > len(longest)) {
			at, longest = n, f
		}
	}
	return at
}

// top returns the folder at the top that a package is in: of internal and cmd the one below.
func top(path string) string {
	parts := strings.SplitN(path, "/", 3)
	if len(parts) > 1 && parts[0] == "internal" {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// ours are the packages of this module, by name.
func ours(t *testing.T) map[string]listed {
	found := map[string]listed{}
	for path, p := range packages(t) {
		if path == module || strings.HasPrefix(path, module+"/") {
			found[short(path)] = p
		}
	}
	return found
}

// TestImportLayers holds that imports go down, and that nothing is imported from elsewhere but by those who may.
func TestImportLayers(t *testing.T) {
	all, used := packages(t), map[[2]string]bool{}
	for name, p := range ours(t) {
		mine := layerOf(name)
		if mine < 0 {
			t.Errorf("package %q is in no layer", name)
		}
		for _, imp := range p.Imports {
			if why := forbidden[name][imp]; why != "" {
				t.Errorf("%s imports %s: %s", name, imp, why)
			}
			if all[imp].Standard || imp == "C" || imp == "unsafe" {
				continue
			}
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				who, _ := nearest(name, maps.Keys(outside))
				if !slices.ContainsFunc(outside[who], func(m string) bool { return inFolder(imp, m) }) &&
					!inFolder(imp, "gonum.org/v1/gonum") {
					t.Errorf("%s imports %s", name, imp)
				}
				continue
			}
			edge := [2]string{name, short(imp)}
			used[edge] = true
			if layerOf(short(imp)) < mine || name != "" && top(name) == top(short(imp)) || exceptions[edge] != "" {
				continue
			}
			t.Errorf("%s imports %q, which is not below it (layer %q)", name, short(imp), layers[mine].name)
		}
	}
	for edge := range exceptions {
		if !used[edge] {
			t.Errorf("the exception %v is not needed", edge)
		}
	}
	for _, l := range layers {
		for _, f := range l.folders {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(ours(t))), func(p string) bool { return inFolder(p, f) }) {
				t.Errorf("there is no folder %q", f)
			}
		}
	}
}

// TestImportNotInProducts holds that what serves tests alone is in no program but wpm-conform.
func TestImportNotInProducts(t *testing.T) {
	for _, program := range []string{"cmd/wpm", "cmd/wpm-device", "js/wasm", "internal/playground/wasm", "release"} {
		for path := range reached(t, program) {
			if name := short(path); inFolder(name, "proptest") || inFolder(name, "vectors") || inFolder(name, "internal/numtest") {
				t.Errorf("%s brings in %s", program, name)
			}
		}
	}
}

// TestImportAlone holds what packages bring in, on any way.
func TestImportAlone(t *testing.T) {
	for name, allowed := range alone {
		t.Run(name, func(t *testing.T) {
			for path, p := range reached(t, name) {
				gonum := name == "sphere/codebook" && inFolder(path, "gonum.org/v1/gonum")
				if !p.Standard && !gonum && short(path) != name && !slices.Contains(allowed, short(path)) {
					t.Errorf("it brings in %s", path)
				}
			}
		})
	}
	for _, name := range solvers {
		t.Run(name, func(t *testing.T) {
			for path, p := range reached(t, name) {
				if !p.Standard && !inFolder(path, module) && !inFolder(path, "gonum.org/v1/gonum") {
					t.Errorf("it brings in %s", path)
				}
			}
		})
	}
}

// TestImportSeed holds that all tests that draw cases draw the same ones in every run.
func TestImportSeed(t *testing.T) {
	for path, p := range packages(t) {
		if path != module && !strings.HasPrefix(path, module+"/") {
			continue
		}
		imports := slices.Concat(p.TestImports, p.XTestImports)
		if slices.Contains(imports, "pgregory.net/rapid") && !slices.Contains(imports, module+"/internal/numtest") {
			t.Errorf("the tests of %s draw with random seeds: they do not import internal/numtest", short(path))
		}
	}
}

// folders counts the imports between folders at the top, of internal and of cmd between those below.
func folders(t *testing.T) map[[2]string]int {
	edges := map[[2]string]int{}
	for name, p := range ours(t) {
		for _, imp := range p.Imports {
			if from, to := top(name), top(short(imp)); (imp == module || strings.HasPrefix(imp, module+"/")) && from != to {
				edges[[2]string{from, to}]++
			}
		}
	}
	return edges
}

// reach returns, for each end of an arrow, all that can be reached from it.
func reach(edges map[[2]string]int) map[string]map[string]bool {
	next := map[string][]string{}
	for e := range edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	all := map[string]map[string]bool{}
	for from := range next {
		seen, todo := map[string]bool{}, slices.Clone(next[from])
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			if !seen[at] {
				seen[at] = true
				todo = append(todo, next[at]...)
			}
		}
		all[from] = seen
	}
	return all
}

// circles returns the sets whose members all reach each other, of two members and more.
func circles(edges map[[2]string]int) (list [][]string) {
	all, placed := reach(edges), map[string]bool{}
	for _, a := range slices.Sorted(maps.Keys(all)) {
		if placed[a] || !all[a][a] {
			continue
		}
		var set []string
		for b := range all[a] {
			if all[b][a] {
				set, placed[b] = append(set, b), true
			}
		}
		slices.Sort(set)
		list = append(list, set)
	}
	return list
}

// exactSet is the largest set that fewestBack orders exactly.
const exactSet = 20

// fewestBack returns the fewest arrows whose removal leaves no circle, and whether that is certain. It is a sum over the
// sets whose members all reach each other. Up to exactSet members it goes through all orders, by dynamic programming
// over sets (Held and Karp 1962). Of more members it moves one at a time to where the fewest arrows run back, until no
// move helps: an upper bound.
func fewestBack(edges map[[2]string]int) (least int, exact bool) {
	exact = true
	for _, set := range circles(edges) {
		if len(set) <= exactSet {
			least += bestOrder(edges, set)
		} else {
			least, exact = least+goodOrder(edges, set), false
		}
	}
	return least, exact
}

// bestOrder returns the fewest arrows that run back in any order of a set.
func bestOrder(edges map[[2]string]int, set []string) int {
	n := len(set)
	to := make([]int, n) // members with an arrow to this one, as bits
	for last := range n {
		for below := range n {
			if below != last && edges[[2]string{set[below], set[last]}] > 0 {
				to[last] |= 1 << below
			}
		}
	}
	best := make([]int, 1<<n) // of orders of a set that stands lowest: arrows from it to the rest run back
	for low := 1; low < len(best); low++ {
		best[low] = math.MaxInt
		for last := range n {
			if rest := low &^ (1 << last); rest != low {
				best[low] = min(best[low], best[rest]+bits.OnesCount(uint(to[last]&rest)))
			}
		}
	}
	return best[len(best)-1]
}

// goodOrder returns how many arrows run back in an order that no move of one member betters.
func goodOrder(edges map[[2]string]int, set []string) int {
	back := func(order []string) (n int) {
		for low, a := range order {
			for _, b := range order[low+1:] {
				if edges[[2]string{a, b}] > 0 {
					n++
				}
			}
		}
		return n
	}
	order := slices.Clone(set)
	for least := back(order); ; {
		before := least
		for _, a := range set {
			rest := slices.DeleteFunc(slices.Clone(order), func(b string) bool { return a == b })
			for at := range len(set) {
				if moved := slices.Insert(slices.Clone(rest), at, a); back(moved) < least {
					order, least = moved, back(moved)
				}
			}
		}
		if least == before {
			return least
		}
	}
}

// TestBackArrows holds that the folders form layers, but for a few arrows.
func TestBackArrows(t *testing.T) {
	const most = 10
	edges := folders(t)
	if least, _ := fewestBack(edges); least > most {
		t.Errorf("%d arrows run back, at most %d may; on circles: %q", least, most, circles(edges))
	}
}

// TestBackArrowsFound tries the search on pictures of which the answer is known.
func TestBackArrowsFound(t *testing.T) {
	arrows := func(s string) map[[2]string]int {
		edges := map[[2]string]int{}
		for _, e := range strings.Fields(s) {
			edges[[2]string{e[:1], e[1:]}] = 1
		}
		return edges
	}
	for picture, want := range map[string]int{"ab bc ac": 0, "ab ba": 1, "ab bc ca": 1, "ab bc ca ac": 1, "ab ba cd dc bc": 2,
		"ab ba bc cb ca ac": 3} {
		edges := arrows(picture)
		if got, exact := fewestBack(edges); got != want || !exact {
			t.Errorf("%s: %d, want %d, among %q", picture, got, want, circles(edges))
		}
		for _, set := range circles(edges) {
			if best, good := bestOrder(edges, set), goodOrder(edges, set); good != best {
				t.Errorf("%s: %d by moves, %d by all orders, of %q", picture, good, best, set)
			}
		}
	}
}
