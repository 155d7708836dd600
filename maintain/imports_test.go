package maintain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/wpm-go/wpm"

// picture is the architecture: for each package, every import outside the standard library that its
// non-test code may have. A new line is a design decision, not a fix for a red build: say here why.
// Names without a dot are packages of this module.
var picture = map[string][]string{
	// The trusted core and the data types: nothing but the standard library.
	"ldp":  {},
	"cost": {},

	// The private path of points and, as the keeper of the ledger, of every kind of policy. It never imports a solver: the
	// root hands it a function.
	"policy": {"ldp"},

	// For tests of other people's stores of a ledger.
	"policy/storetest": {"internal/parallel", "ldp", "policy"}, // several handles on a store at a time

	// The files of test vectors, and the program that writes them, which shares no code with what they test:
	// proptest/exact is the oracle of the laws.
	"vectors": {},
	"vectors/gen": {
		"vectors/gen/internal/cases", "vectors/gen/internal/ledger", "vectors/gen/internal/mathematics",
		"vectors/gen/internal/spec",
	},
	"vectors/gen/internal/mathematics": { // the kinds of docs/mathematics.md: rationals, and reals where there are none
		"proptest/exact", "vectors/gen/internal/cases", "vectors/gen/internal/problem", "vectors/gen/internal/reals",
		"vectors/gen/internal/transport", "vectors/gen/internal/values",
	},
	"vectors/gen/internal/spec": { // the kinds of docs/spec: integers and texts
		"proptest/exact", "vectors/gen/internal/box", "vectors/gen/internal/cases", "vectors/gen/internal/policyfile",
		"vectors/gen/internal/values",
	},
	// A set of cases draws with a generator of its own; a policy holds a box.
	"vectors/gen/internal/box":        {"proptest/exact", "vectors/gen/internal/values"},
	"vectors/gen/internal/cases":      {"vectors/gen/internal/values"},
	"vectors/gen/internal/ledger":     {"vectors/gen/internal/cases", "vectors/gen/internal/values"},
	"vectors/gen/internal/policyfile": {"proptest/exact", "vectors/gen/internal/box", "vectors/gen/internal/values"},
	"vectors/gen/internal/problem":    {"proptest/exact", "vectors/gen/internal/values"},
	"vectors/gen/internal/reals":      {},
	"vectors/gen/internal/transport":  {"proptest/exact", "vectors/gen/internal/values"},
	"vectors/gen/internal/values":     {"proptest/exact"},

	// Vectors and laws against any program that speaks the lines of docs/spec/conform.md: the one place outside of tests
	// that links the laws. It asks a process, and reaches no solver.
	"conform": {"proptest", "proptest/design", "proptest/exact", "proptest/privacy", "proptest/projection",
		"vectors", "pgregory.net/rapid"},
	"cmd/wpm-conform": {"conform", "internal/atomicfile"},

	"internal/num": {},

	// Bounds of a probability from counts: what an audit finds and what an analyst may conclude.
	"internal/binomial": {},

	// A process of its own for what may crash: policy knows of no process, and this package of no policy.
	"internal/child": {},

	// Files written all or nothing.
	"internal/atomicfile": {},
	"internal/folder":     {"internal/atomicfile"},

	// The one way to share work among goroutines, which hands panics to the caller; and the rows of a cost read into
	// memory.
	"internal/parallel": {},
	"internal/rowcache": {"cost", "internal/parallel"},

	// The problem that the two projection solvers share, its checks and errors, and its stream of many users.
	"projection": {"cost", "internal/num", "internal/parallel"},

	// The exact checks of their answers, which reach no solver: see TestImportVerifyAlone.
	"projection/verify": {"cost", "internal/num", "projection"},

	// Solvers stand alone on cost and num.
	"knapsack": {"cost", "internal/num", "internal/parallel"},
	// knapsack is its pricing oracle
	"basemeasure": {"cost", "knapsack", "basemeasure/internal/interior", "internal/cutbound", "internal/num",
		"internal/parallel",
		"internal/worst", "gonum.org/v1/gonum/blas", "gonum.org/v1/gonum/blas/gonum", "gonum.org/v1/gonum/lapack/gonum"},
	// Its phase for large supports, on plain rows of costs: it certifies nothing, and needs no table.
	"basemeasure/internal/interior": {"internal/parallel", "gonum.org/v1/gonum/blas", "gonum.org/v1/gonum/blas/gonum",
		"gonum.org/v1/gonum/lapack/gonum"},
	"mincostflow": {"cost", "internal/num", "internal/parallel", "internal/rowcache", "mincostflow/internal/ascent",
		"mincostflow/internal/ctransform", "mincostflow/internal/start",
		"projection", "projection/verify"},
	// Where the simplex begins: prices, arcs and a forest, without a simplex of its own.
	"mincostflow/internal/ascent":     {},
	"mincostflow/internal/ctransform": {"internal/num"},
	"mincostflow/internal/start":      {},
	"mincostflow/network":             {}, // general minimum-cost flow, in integers: it needs nothing
	"mirror":                          {"internal/cutbound", "internal/num", "knapsack"},

	// What the cuts of base measures prove: one function for the two that find cuts.
	"internal/cutbound": {"internal/num", "internal/parallel", "knapsack"},

	// The worst input, certified by geometry: for base measures in reals, and for what a policy publishes.
	"internal/worst": {"cost", "internal/parallel"},

	// The integers of a policy of version 2: the keys are policy's, and so is the rule that this is fast at; the widths
	// are those of a box.
	"internal/ranking": {"cost", "internal/parallel", "ldp", "policy"},

	// Hilbert's metric, and the entropic projection: the one edge between solvers, for the steps that it reports.
	"hilbert": {"cost", "internal/parallel"},
	"sinkhorn": {"cost", "hilbert", "internal/num", "internal/parallel", "internal/rowcache", "projection",
		"projection/verify", "sinkhorn/grid", "sinkhorn/internal/gridproof", "sinkhorn/internal/loops", "sinkhorn/kl",
		"sinkhorn/paper", "gonum.org/v1/gonum/blas/gonum"},
	// Loops over rows of a matrix, without problems.
	"sinkhorn/internal/loops": {"gonum.org/v1/gonum/blas", "gonum.org/v1/gonum/blas/gonum"},
	// The projection in divergence, a subject of its own.
	"sinkhorn/kl": {"internal/num", "projection"},

	// Separable grids, a method of its own; package sinkhorn checks its problems and its answers.
	"sinkhorn/grid": {"cost", "internal/num", "internal/parallel", "sinkhorn/kl", "gonum.org/v1/gonum/blas/gonum"},

	// What verifies its answers, and reaches no solver: see TestImportVerifyAlone.
	"sinkhorn/internal/gridproof": {"cost", "internal/num", "projection", "projection/verify"},

	// Algorithm 1 as printed, for auditors.
	"sinkhorn/paper": {"internal/num", "sinkhorn/kl"},

	"baseline": {"cost", "internal/num"},

	// The sphere, which has no cost matrix; its codebook is a kind of policy of its own: ldp's integers, policy's ledger.
	"sphere":          {"gonum.org/v1/gonum/integrate/quad"},
	"sphere/codebook": {"ldp", "policy", "sphere"},

	// What runs where the private data are: the commands verify, check, release and ledger, without a solver or a cost.
	"device": {"internal/atomicfile", "ldp", "policy"},

	// What designers and analysts say of places: columns, units, labels in one spelling (a table of Unicode is not for us
	// to keep).
	"internal/places": {"cost", "cost/costio", "ldp", "policy", "golang.org/x/text/unicode/norm"},

	// Files of reports, read line by line into counts.
	// files take turns on all cores
	"aggregate/reports": {"aggregate", "cost/costio", "internal/parallel", "internal/places"},

	// What a server makes of releases. Its distances to a truth are exact transport; reports are policy's.
	"aggregate": {"cost", "internal/binomial", "mincostflow", "policy"},

	// From counts to a map: distances between inputs, and the factorizations of a well-kept library.
	"estimate": {"cost", "internal/parallel", "gonum.org/v1/gonum/blas", "gonum.org/v1/gonum/blas/gonum",
		"gonum.org/v1/gonum/lapack/gonum"},

	// What a map will be like: rows of ldp, counts with their law, and exact transport to a truth that is made up.
	"estimate/plan": {"cost", "estimate", "internal/parallel", "ldp", "mincostflow", "gonum.org/v1/gonum/stat/distuv"},

	// File formats: the NPY reader is a well-kept library's.
	"cost/costio": {"cost", "github.com/sbinet/npyio"},

	// Certificate files: the statement of each solver, to be checked again by its Verify.
	// The one in a policy is checked against the policy's own cost, eps and rows; knapsack fills the rows that it leaves
	// out, all cores add them up.
	"certificate": {"baseline", "basemeasure", "cost", "internal/num", "internal/parallel", "knapsack", "ldp",
		"mincostflow", "mincostflow/network", "policy", "sinkhorn", "sphere"},

	// An audit reads a policy, its rows and certificates; a solver reaches it only as a function.
	"audit": {"certificate", "internal/binomial", "internal/parallel", "ldp", "policy"},

	// Glue: only the root joins the solvers with the trusted core. The rows are knapsack's, on all cores; estimate knows
	// which disc a map wants, internal/ranking what a policy states of a cost.
	"": {"baseline", "basemeasure", "certificate", "cost", "estimate", "internal/num", "internal/parallel", "internal/ranking",
		"internal/worst", "knapsack", "ldp", "mincostflow", "policy", "sinkhorn"},

	// From a policy and counts to a map: the rows of a policy, as package estimate reads them. Rows of a policy that has
	// none are an argument, so that what makes maps needs no solver.
	"estimate/atlas": {"cost", "estimate", "internal/plane", "ldp", "policy"},
	// What writes them is apart, because templates are large in the browser's program.
	"internal/sheet": {"internal/plane"},

	// Where inputs and outputs are on a plane: for squares of places, and for pictures.
	"internal/plane": {"cost"},

	// Made-up people: a city, and the reports of many devices, marked as such.
	"internal/city":       {},
	"internal/simulation": {"", "aggregate/reports", "internal/parallel", "ldp", "policy"},

	// The page: its engine is the mechanism, its rivals and its maps over files of a visitor, or the demo's city; the page
	// itself needs nothing of them, and builds the program apart.
	"internal/playground": {"internal/atomicfile"},
	"internal/playground/engine": {
		"", "baseline", "basemeasure", "certificate", "cost", "cost/costio", "estimate", "estimate/atlas", "internal/city",
		"internal/places", "knapsack", "ldp", "mincostflow", "policy",
	},
	"internal/playground/wasm": {"internal/playground/engine"},

	// The machine interface of "wpm solve", apart from the command so that it can be fuzzed.
	"internal/machine": {
		"baseline", "basemeasure", "certificate", "cost", "hilbert", "internal/num", "internal/parallel",
		"knapsack", "ldp", "mincostflow", "mincostflow/network", "mirror", "sinkhorn", "sphere",
		"", "estimate", "estimate/atlas", "policy", // the rows of a mechanism, and what its releases say
	},

	// The same lines for WebAssembly: the solvers, for the entry ./wasm of js.
	"js/wasm": {"internal/machine"},

	// The tour of wpm demo: its page is drawn as maps of a population are.
	"internal/demo": {
		"", "baseline", "cost", "estimate/atlas", "internal/city", "internal/folder",
		"internal/parallel", "internal/plane", "internal/sheet", "ldp", "mincostflow", "policy",
	},

	// The command: its main package lists commands; who uses which is a package each, over policies of either kind.
	"cmd/wpm": {
		"cmd/wpm/internal/auditor", "cmd/wpm/internal/ondevice", "cmd/wpm/internal/planning",
		"cmd/wpm/internal/published", "cmd/wpm/internal/publisher", "cmd/wpm/internal/server",
		"cmd/wpm/internal/simulated", "cmd/wpm/internal/tools", "device", "internal/manual", "internal/shell",
		"github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/published": {
		"", "aggregate", "audit", "certificate", "device", "internal/child", "internal/places", "policy",
		"sphere/codebook", "github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/publisher": {
		"", "cmd/wpm/internal/geometry", "cmd/wpm/internal/planning", "cmd/wpm/internal/published", "device",
		"estimate/plan", "internal/places", "internal/shell", "knapsack", "ldp", "policy", "sphere", "sphere/codebook",
		"github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/ondevice": {
		"", "cmd/wpm/internal/published", "device", "internal/manual", "internal/shell", "github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/server": {
		"", "aggregate", "aggregate/reports", "certificate", "cmd/wpm/internal/published", "cost", "cost/costio", "device",
		"estimate", "estimate/atlas", "internal/num", "internal/places", "internal/plane", "internal/sheet",
		"internal/shell", "policy", "sphere/codebook", "github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/auditor": {
		"", "audit", "certificate", "cmd/wpm/internal/published", "cost", "cost/costio", "device", "internal/shell",
		"policy", "sphere/codebook", "github.com/urfave/cli/v3",
	},
	// The flags of plan and of design; plan itself, and the map of many devices on the card of design.
	"cmd/wpm/internal/geometry": {
		"internal/shell", "cost/costio", "internal/places", "github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/planning": {
		"", "cmd/wpm/internal/geometry", "internal/shell", "device", "estimate", "estimate/plan",
		"internal/places", "ldp", "github.com/urfave/cli/v3",
	},
	// What the commands here and in lab share. The command man writes its pages by device, whose version they name.
	"internal/manual": {"internal/shell", "device", "github.com/urfave/cli/v3"},
	"internal/shell": {"cost/costio", "device", "internal/places", "github.com/schollz/progressbar/v3",
		"github.com/urfave/cli/v3", "golang.org/x/term"},
	"cmd/wpm/internal/simulated": {
		"device", "internal/atomicfile", "internal/demo", "internal/places", "internal/playground", "internal/shell",
		"internal/simulation", "policy", "github.com/urfave/cli/v3",
	},
	"cmd/wpm/internal/tools": {
		"certificate", "cost/costio", "device", "internal/machine", "internal/shell", "mincostflow/network",
		"github.com/urfave/cli/v3",
	},
	"cmd/wpm-device": {"device"},
	"release":        {}, // writes what a release contains
	// Is the code of the trusted packages that of which maintain/mutation.md speaks?
	"maintain/mutation": {},

	// For tests, here and elsewhere; nothing that runs in production imports them.
	"internal/numtest": {"github.com/google/go-cmp/cmp", "pgregory.net/rapid"},
	"internal/notices": {"internal/numtest"}, // licences beside programs
	// Laws by subject, over generators and exact arithmetic.
	"proptest":                  {"cost", "proptest/exact", "pgregory.net/rapid"},
	"proptest/exact":            {},
	"proptest/projection":       {"proptest", "proptest/exact", "pgregory.net/rapid"},
	"proptest/privacy":          {"proptest", "proptest/exact", "pgregory.net/rapid"},
	"proptest/design":           {"proptest", "proptest/exact", "pgregory.net/rapid"},
	"proptest/estimate":         {"proptest", "pgregory.net/rapid"},
	"proptest/internal/planted": {"proptest", "proptest/exact", "pgregory.net/rapid"},
	"fuzz":                      {},
	"proofs":                    {},
	"python":                    {}, // a test alone; python/lib is a module of its own, which has cgo
}

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
	"mincostflow": impure, "mincostflow/network": impure, "knapsack": impure, "basemeasure": impure, "mirror": impure,
	"baseline": impure, "cost": impure,
	"sphere/codebook": {
		"math/rand": "only crypto/rand draws for private data", "math/rand/v2": "only crypto/rand draws for private data",
		"unsafe": "private path", "reflect": "private path", "time": "no clock", "os": "no environment, no files",
		"log": "no logging in libraries",
	},
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
	ImportPath                         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
}

// goList asks the go command once for all packages of this module and all that they reach, by import path.
var goList = sync.OnceValues(func() (map[string]listed, error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Standard,Imports,TestImports,XTestImports", "-deps",
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
	visit(module + "/" + name)
	return found
}

func short(path string) string {
	if path == module {
		return ""
	}
	return strings.TrimPrefix(path, module+"/")
}

func TestImportPicture(t *testing.T) {
	all := packages(t)
	seen := map[string]bool{}
	for path, p := range all {
		if p.Standard || (path != module && !strings.HasPrefix(path, module+"/")) {
			continue
		}
		name := short(path)
		seen[name] = true
		allowed, ok := picture[name]
		if !ok {
			t.Errorf("package %q is not in the picture", name)
			continue
		}
		for _, imp := range p.Imports {
			if why := forbidden[name][imp]; why != "" {
				t.Errorf("%s imports %s: %s", name, imp, why)
			}
			if all[imp].Standard || imp == "C" || imp == "unsafe" {
				continue
			}
			if !slices.Contains(allowed, short(imp)) {
				t.Errorf("%s imports %q, which the picture does not allow", name, short(imp))
			}
		}
		for _, edge := range allowed {
			if path := module + "/" + edge; !slices.Contains(p.Imports, edge) && !slices.Contains(p.Imports, path) &&
				!(edge == "" && slices.Contains(p.Imports, module)) {
				t.Errorf("the picture draws %s -> %q, which is not there", name, edge)
			}
		}
	}
	for name := range picture {
		if !seen[name] {
			t.Errorf("the picture names %q, which does not exist", name)
		}
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

// TestImportSolverAlone holds that a solver can be imported alone: all it brings is gonum and this module.
func TestImportSolverAlone(t *testing.T) {
	for _, name := range []string{"mincostflow", "mincostflow/network", "knapsack", "basemeasure", "mirror", "baseline"} {
		for path, p := range reached(t, name) {
			if p.Standard || strings.HasPrefix(path, module+"/") || strings.HasPrefix(path, "gonum.org/v1/gonum/") {
				continue
			}
			t.Errorf("%s brings in %s", name, path)
		}
	}
}

// TestImportVerifyAlone holds that the verifiers of projections reach no solver, on no way: what they prove owes
// nothing to what they check.
func TestImportVerifyAlone(t *testing.T) {
	allowed := []string{"cost", "internal/num", "internal/parallel", "projection", "projection/verify",
		"sinkhorn/internal/gridproof"}
	for path, p := range reached(t, "sinkhorn/internal/gridproof") { // and so of projection/verify
		if !p.Standard && !slices.Contains(allowed, short(path)) {
			t.Errorf("sinkhorn/internal/gridproof brings in %s", path)
		}
	}
}

// TestImportTrustedAlone holds that the trusted core and the private paths bring in nothing but the standard library;
// that of vectors also its float solver and what that needs, for utility alone.
func TestImportTrustedAlone(t *testing.T) {
	for name, extra := range map[string][]string{"ldp": nil, "cost": nil, "policy": {"ldp"},
		"device":          {"internal/atomicfile", "ldp", "policy"},
		"cmd/wpm-device":  {"device", "internal/atomicfile", "ldp", "policy"},
		"sphere/codebook": {"ldp", "policy", "sphere"}} {
		for path, p := range reached(t, name) {
			if name == "sphere/codebook" && strings.HasPrefix(path, "gonum.org/v1/gonum/") {
				continue // see the edge of sphere
			}
			if p.Standard || short(path) == name || slices.Contains(extra, short(path)) {
				continue
			}
			t.Errorf("%s brings in %s", name, path)
		}
	}
}
