package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
)

// session is what the lines of one input share: the costs and boxes that lines have given a name, and what a stream of
// projections with both is answered by. Names are defined between lines, never while one is answered.
type session struct {
	kind  string
	of    kind   // the zero kind if there is none of that name
	files string // the folder that costs of the kind npy are read from, "" for none
	npy   func(r io.Reader, name string) (*cost.Dense, error)
	costs map[string]namedCost
	boxes map[string]*namedBox

	progress func(done, total int) // of an estimate, or nil

	mu         sync.Mutex
	projectors map[projectorKey]*mincostflow.Projector
}

type namedCost struct {
	c      *cost.Dense
	stated cost.Matrix
}

// namedBox is a box of whole units for the kind units, and one of masses for all others.
type namedBox struct {
	box
	units unitBox
}

type unitBox struct{ lo, hi []int64 }

type projectorKey struct {
	cost, box string
	allRows   bool
}

func newSession(kind string, s Settings) *session { return sessionOf(kind, find(kind), s) }

func sessionOf(name string, of kind, s Settings) *session {
	shared := &session{kind: name, of: of, files: s.Files, npy: s.ReadNPY, progress: s.Progress,
		costs: map[string]namedCost{}, boxes: map[string]*namedBox{},
		projectors: map[projectorKey]*mincostflow.Projector{}}
	for name, c := range s.Costs {
		shared.costs[name] = namedCost{c, c}
	}
	return shared
}

type definedAnswer struct {
	Defined string `json:"defined"`
}

// define answers a line with the field define: it gives a cost or a box a name, once.
func (s *session) define(ctx context.Context, in *object) (any, error) {
	name, err := read[string](in, "define")
	if err != nil {
		return nil, err
	}
	_, isCost := s.costs[name]
	_, isBox := s.boxes[name]
	switch {
	case name == "":
		return nil, errors.New(`field "define": the name is empty`)
	case isCost || isBox:
		return nil, fmt.Errorf("field %q: %q is defined already", "define", name)
	}
	if in.has("cost") {
		for _, other := range []string{"box", "lo", "hi", "m", "eps"} {
			if in.has(other) {
				return nil, fmt.Errorf("%q gives a name to a cost or to a box, one a line: this line has %q and %q", "define",
					"cost", other)
			}
		}
		c, stated, err := readCost(ctx, in)
		if err == nil {
			err = in.finish()
		}
		if err != nil {
			return nil, err
		}
		s.costs[name] = namedCost{c, stated}
		return definedAnswer{name}, nil
	}
	var b namedBox
	if s.kind == "units" {
		b.units, err = parseUnitBox(in)
	} else {
		b.box, err = parseBox(in)
	}
	if err == nil {
		err = in.finish()
	}
	if err != nil {
		return nil, err
	}
	s.boxes[name] = &b
	return definedAnswer{name}, nil
}

// name returns the name that a field gives in place of a value, or "".
func (o *object) name(field string) (string, error) {
	if !o.has(field) || o.fields[field][0] != '"' {
		return "", nil
	}
	name, err := read[string](o, field)
	if err == nil && name == "" {
		err = fmt.Errorf("field %q: the name is empty", field)
	}
	return name, err
}

func (s *session) cost(name string) (namedCost, error) {
	c, ok := s.costs[name]
	if !ok {
		return namedCost{}, fmt.Errorf("field %q: no line before has defined %q as a cost", "cost", name)
	}
	return c, nil
}

// box returns the box that a line names, or nil if it names none.
func (s *session) box(o *object) (*namedBox, error) {
	if !o.has("box") {
		return nil, nil
	}
	name, err := read[string](o, "box")
	if err != nil {
		return nil, err
	}
	for _, other := range []string{"lo", "hi", "m", "eps"} {
		if o.has(other) {
			return nil, fmt.Errorf("give either %q or %q, not both", "box", other)
		}
	}
	b, ok := s.boxes[name]
	if !ok {
		return nil, fmt.Errorf("field %q: no line before has defined %q as a box", "box", name)
	}
	return b, nil
}

// projector returns the Projector of a line whose cost and box have names, made once; nil if one of them has none.
func (s *session) projector(ctx context.Context, o *object, c *cost.Dense, b box, allRows bool) (*mincostflow.Projector,
	error) {
	name, err := o.name("cost")
	if err != nil || name == "" || !o.has("box") {
		return nil, err
	}
	key := projectorKey{cost: name, allRows: allRows}
	if key.box, err = read[string](o, "box"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.projectors[key]; p != nil {
		return p, nil
	}
	p, err := mincostflow.NewProjector(ctx, c, b.lo, b.hi, mincostflow.Settings{AllRows: allRows})
	if err == nil {
		s.projectors[key] = p
	}
	return p, err
}

// readFile reads the cost {"kind":"npy","path":"C.npy"}. The path is below the folder and goes through no link.
func (s *session) readFile(raw json.RawMessage) (*cost.Dense, error) {
	in, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	in.known["id"] = false
	if _, err := read[string](in, "kind"); err != nil {
		return nil, err
	}
	name, err := read[string](in, "path")
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	if s.files == "" || s.npy == nil {
		return nil, errors.New("no folder to read files from is given (-files DIR)")
	}
	if name == "." || !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return nil, fmt.Errorf("path %q is not the path of a file below the folder, with / between names", name)
	}
	root, err := os.OpenRoot(s.files)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var last fs.FileInfo
	parts := strings.Split(name, "/")
	for n := range parts {
		if last, err = root.Lstat(path.Join(parts[:n+1]...)); err != nil {
			return nil, err
		}
		if last.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("path %q goes through a link, %s", name, path.Join(parts[:n+1]...))
		}
	}
	if !last.Mode().IsRegular() { // opening another kind may wait for ever
		return nil, fmt.Errorf("path %q is not a regular file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, last) {
		return nil, fmt.Errorf("path %q changed while it was opened", name)
	}
	return s.npy(f, name)
}

// readWant reads the fields that a line wants in its answer: nil for all.
func readWant(o *object) ([]string, error) {
	want, err := readOr[[]string](o, "want", nil)
	if err != nil || !o.has("want") {
		return nil, err
	}
	if len(want) == 0 {
		return nil, fmt.Errorf("field %q is empty", "want")
	}
	for n, name := range want {
		if slices.Contains(want[:n], name) {
			return nil, fmt.Errorf("field %q: %q occurs twice", "want", name)
		}
	}
	return want, nil
}

// wants says whether one of the names goes into the answer, or into its certificate.
func (o *object) wants(names ...string) bool {
	return o.want == nil || o.certified ||
		slices.ContainsFunc(names, func(name string) bool { return slices.Contains(o.want, name) })
}
