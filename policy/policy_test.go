package policy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/ldp"
)

// Every way in which a Config can be wrong has its own error.
func TestNewErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(*Config)
		want error
	}{
		{"nil box", func(c *Config) { c.Polytope = nil }, ErrShape},
		{"zero box", func(c *Config) { c.Polytope = &ldp.Polytope{} }, ErrShape},
		{"unknown mode", func(c *Config) { c.Mode = "Mixture" }, ErrMode},
		{"mixture without rows", func(c *Config) { c.Rows = nil }, ErrMode},
		{"mixture with a work limit", func(c *Config) { c.WorkLimit = time.Second }, ErrMode},
		{"work limit of a fraction of a millisecond",
			func(c *Config) { c.Mode, c.WorkLimit = Projection, time.Microsecond*1500 }, ErrMode},
		{"negative work limit", func(c *Config) { c.Mode, c.WorkLimit = Projection, -time.Second }, ErrMode},
		{"work limit of two hours", func(c *Config) { c.Mode, c.WorkLimit = Projection, 2*time.Hour }, ErrMode},
		{"fewer inputs than rows", func(c *Config) { c.Inputs = 2 }, ErrShape},
		{"negative inputs", func(c *Config) { c.Inputs = -1 }, ErrShape},
		{"no inputs at all", func(c *Config) { c.Mode, c.Rows, c.InputLabels = Projection, nil, nil }, ErrShape},
		{"too many inputs", func(c *Config) { c.Mode, c.Rows, c.InputLabels, c.Inputs = Projection, nil, nil, MaxInputs+1 },
			ErrLimit},
		{"missing label", func(c *Config) { c.InputLabels = c.InputLabels[:2] }, ErrShape},
		{"no rows, but not nil", func(c *Config) { c.Rows = []Row{} }, ErrShape},
		{"extra output label", func(c *Config) { c.OutputLabels = append(c.OutputLabels, "e") }, ErrShape},
		{"no output labels, but not nil", func(c *Config) { c.OutputLabels = []string{} }, ErrShape},
		{"empty label", func(c *Config) { c.OutputLabels[1] = "" }, ErrText},
		{"label twice", func(c *Config) { c.InputLabels[2] = "home" }, ErrText},
		{"label with a line end", func(c *Config) { c.InputLabels[0] = "a\nb" }, ErrText},
		{"label with a C1 control", func(c *Config) { c.InputLabels[0] = "a\u0085b" }, ErrText},
		{"label not UTF-8", func(c *Config) { c.InputLabels[0] = "a\xffb" }, ErrText},
		{"label too long", func(c *Config) { c.InputLabels[0] = strings.Repeat("a", maxLabel+1) }, ErrLimit},
		{"row that stops at lo", func(c *Config) { c.Rows[1] = Row{} }, ErrRow},
		{"row over the total", func(c *Config) { c.Rows[1] = Row{full: []int32{0, 1, 2}} }, ErrRow},
		{"row short of the total", func(c *Config) { c.Rows[1] = Row{full: []int32{2}} }, ErrRow},
		{"row with a column out of range", func(c *Config) { c.Rows[1] = Row{full: []int32{4}} }, ErrRow},
		{"row with a negative column", func(c *Config) { c.Rows[1] = Row{full: []int32{-1}} }, ErrRow},
		{"row that raises a fixed column", func(c *Config) { c.Rows[1] = Row{full: []int32{3}} }, ErrRow},
		{"row that lists a fixed column", func(c *Config) { c.Rows[1] = Row{full: []int32{0, 1, 3}, extra: []extra{{2, 6}}} },
			ErrRow},
		{"row with a column twice", func(c *Config) { c.Rows[1] = Row{full: []int32{1, 1}, extra: []extra{{0, 46}}} },
			ErrRow},
		{"row with an extra column twice",
			func(c *Config) { c.Rows[1] = Row{full: []int32{2}, extra: []extra{{1, 23}, {1, 23}}} }, ErrRow},
		{"row with a column full and extra", func(c *Config) { c.Rows[1] = Row{full: []int32{2}, extra: []extra{{2, 46}}} },
			ErrRow},
		{"extra of 0", func(c *Config) { c.Rows[1] = Row{full: []int32{2}, extra: []extra{{0, 0}, {1, 46}}} }, ErrRow},
		{"extra up to hi", func(c *Config) { c.Rows[1] = Row{extra: []extra{{0, 46}, {2, 120}}} }, ErrRow},
		{"extra of 2^64 - 1", func(c *Config) { c.Rows[1] = Row{extra: []extra{{0, 1<<64 - 1}}} }, ErrRow},
		{"extra not ascending", func(c *Config) { c.Rows[1] = Row{full: []int32{2}, extra: []extra{{1, 40}, {0, 6}}} },
			ErrRow},
		{"extra out of range", func(c *Config) { c.Rows[1] = Row{extra: []extra{{9, 1}}} }, ErrRow},
		{"extra over the total", func(c *Config) { c.Rows[1] = Row{full: []int32{0}, extra: []extra{{1, 59}, {2, 119}}} },
			ErrRow},
		{"fallback out of the box", func(c *Config) { c.Fallback = Row{full: []int32{0}} }, ErrRow},
		{"cost not an object", func(c *Config) { c.Cost = []byte(`[1]`) }, ErrObject},
		{"cost not compact", func(c *Config) { c.Cost = []byte(`{"n": 1}`) }, ErrObject},
		{"cost cut off", func(c *Config) { c.Cost = []byte(`{"n":1`) }, ErrObject},
		{"cost cut off within a string", func(c *Config) { c.Cost = []byte(`{"n\`) }, ErrObject},
		{"cost with NaN", func(c *Config) { c.Cost = []byte(`{"n":NaN}`) }, ErrObject},
		{"cost not UTF-8", func(c *Config) { c.Cost = []byte("{\"n\":\"\xff\"}") }, ErrObject},
		{"two objects", func(c *Config) { c.Cost = []byte(`{}{}`) }, ErrObject},
		{"brackets that do not match", func(c *Config) { c.Cost = []byte(`{"n":[1}]`) }, ErrObject},
		{"certificate too long", func(c *Config) { c.Certificate = slices.Repeat([]byte("{"), MaxBytes+1) }, ErrLimit},
		{"policy too long", func(c *Config) {
			c.Certificate = bytes.Repeat([]byte("x"), MaxBytes)
			copy(c.Certificate, `{"x":"`)
			copy(c.Certificate[MaxBytes-2:], `"}`)
		}, ErrLimit},
		{"no provenance", func(c *Config) { c.Provenance = Provenance{} }, ErrProvenance},
		{"geometry of the other kind", func(c *Config) { c.Provenance.Geometry = DataIndependent }, ErrProvenance},
		{"base measure of the other kind", func(c *Config) { c.Provenance.BaseMeasure = Public }, ErrProvenance},
		{"derived without an epsilon", func(c *Config) { c.Provenance.BaseMeasureEpsilon = ldp.Epsilon{} }, ErrProvenance},
		{"public with an epsilon", func(c *Config) { c.Provenance.GeometryEpsilon = c.Provenance.BaseMeasureEpsilon },
			ErrProvenance},
		{"note with a tab", func(c *Config) { c.Provenance.Note = "a\tb" }, ErrText},
		{"note too long", func(c *Config) { c.Provenance.Note = strings.Repeat("a", maxNote+1) }, ErrLimit},
		{"metadata key empty", func(c *Config) { c.Metadata[""] = "x" }, ErrText},
		{"metadata key too long", func(c *Config) { c.Metadata[strings.Repeat("a", maxKey+1)] = "x" }, ErrLimit},
		{"metadata value with NUL", func(c *Config) { c.Metadata["a"] = "\x00" }, ErrText},
		{"too much metadata", func(c *Config) {
			for i := range maxMetadata {
				c.Metadata[strings.Repeat("k", i%60+1)+string(rune('a'+i/60))] = ""
			}
		}, ErrLimit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := smallConfig(t)
			tc.edit(&cfg)
			p, err := New(cfg)
			if !errors.Is(err, tc.want) {
				t.Errorf("New = %v, want %v", err, tc.want)
			}
			if !p.IsZero() {
				t.Error("a policy came with the error")
			}
		})
	}
}

// Weights that sum to 2^64 + 2^62 are not taken for 2^62.
func TestRowWrapsAround(t *testing.T) {
	lo, hi := make([]uint64, 8), make([]uint64, 8)
	for j := range lo {
		lo[j], hi[j] = 1<<58, 1<<62
	}
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "3"), lo, hi, 62)
	if err != nil {
		t.Fatal(err)
	}
	const unit = 1 << 58 // base 8, total 16, wraps at 64
	inFull := Row{full: []int32{0, 1, 2, 3}, extra: []extra{{4, 12 * unit}}}
	var inExtra Row
	for j := range int32(6) {
		inExtra.extra = append(inExtra.extra, extra{j, 12 * unit})
	}
	for _, r := range []Row{inFull, inExtra} {
		if _, err := New(Config{Polytope: box, Rows: []Row{r}, Provenance: clean}); !errors.Is(err, ErrRow) {
			t.Errorf("New = %v, want ErrRow", err)
		}
	}
}

func TestNewRowErrors(t *testing.T) {
	cfg := smallConfig(t)
	other, err := ldp.NewPolytope(mustEpsilon(t, "1"), []float64{0.5, 0.5}, smallBits)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := ldp.NewPolytope(mustEpsilon(t, "9"), []float64{1, 0.1, 0.1, 0.1}, smallBits)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		box  *ldp.Polytope
		w    ldp.Weights
		want error
	}{
		{"nil box", nil, wide.Round(nil), ErrShape},
		{"zero weights", cfg.Polytope, ldp.Weights{}, ErrShape},
		{"weights of a narrower box", cfg.Polytope, other.Round(nil), ErrShape},
		{"weights outside", cfg.Polytope, wide.Round([]float64{1}), ErrRow},
	} {
		if _, err := NewRow(tc.box, tc.w); !errors.Is(err, tc.want) {
			t.Errorf("%s: NewRow = %v, want %v", tc.name, err, tc.want)
		}
	}
}

// New copies what it is given, and accessors copy what they give: a policy cannot be changed.
func TestPolicyIsImmutable(t *testing.T) {
	cfg := smallConfig(t)
	p := mustNew(t, cfg)
	before := mustEncode(t, p)
	cfg.Rows[0] = Row{}
	cfg.InputLabels[0] = "x"
	cfg.OutputLabels[0] = "x"
	cfg.Cost[1] = 'x'
	cfg.Certificate[1] = 'x'
	cfg.Metadata["title"] = "x"
	p.InputLabels()[0] = "x"
	p.OutputLabels()[0] = "x"
	p.Cost()[1] = 'x'
	p.Certificate()[1] = 'x'
	p.Metadata()["title"] = "x"
	if got := mustEncode(t, p); !slices.Equal(got, before) {
		t.Error("the policy changed")
	}
	if err := Verify(p); err != nil {
		t.Error(err)
	}
}

// TestBoxCannotBeReplaced holds that no pointer to a policy's box is shared: assigning another box through the
// Config's pointer, or through the accessor's, must not change what is released (found in review).
func TestBoxCannotBeReplaced(t *testing.T) {
	cfg := smallConfig(t)
	p := mustNew(t, cfg)
	id, lo := p.ID(), p.Polytope().Lo(0)
	loose, err := ldp.NewPolytope(mustEpsilon(t, "20"), []float64{0.25, 0.25, 0.25, 0.25}, 62)
	if err != nil {
		t.Fatal(err)
	}
	*cfg.Polytope = *loose
	*p.Polytope() = *loose
	if p.Polytope().Lo(0) != lo || p.Epsilon().String() != "1.5" || p.ID() != id {
		t.Error("the box of a policy was replaced")
	}
	if err := Verify(p); err != nil {
		t.Error(err)
	}
}

func TestAccessors(t *testing.T) {
	cfg := smallConfig(t)
	p := mustNew(t, cfg)
	if p.Inputs() != 3 || p.Outputs() != 4 || p.Mode() != Mixture || p.WorkLimit() != 0 || !p.HasRows() || p.IsZero() {
		t.Errorf("%v: inputs %d outputs %d mode %s limit %v", p, p.Inputs(), p.Outputs(), p.Mode(), p.WorkLimit())
	}
	if p.Epsilon().String() != "1.5" || p.Polytope().Len() != 4 || p.Polytope().Lo(1) != cfg.Polytope.Lo(1) {
		t.Errorf("epsilon %v, polytope of %d columns", p.Epsilon(), p.Polytope().Len())
	}
	if p.InputLabel(0) != "home" || p.OutputLabel(3) != "d" || p.InputLabel(7) != "7" || p.InputLabel(-1) != "-1" {
		t.Error("labels")
	}
	if p.Provenance() != cfg.Provenance || !maps.Equal(p.Metadata(), cfg.Metadata) {
		t.Error("provenance or metadata")
	}
	if string(p.Cost()) != string(cfg.Cost) || string(p.Certificate()) != string(cfg.Certificate) {
		t.Error("cost or certificate")
	}
	for i, want := range [][]uint64{{130, 80, 46, 0}, {30, 66, 160, 0}, {130, 20, 106, 0}} {
		w, err := p.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		for j, n := range want {
			if w.At(j) != n {
				t.Errorf("row %d column %d = %d, want %d", i, j, w.At(j), n)
			}
		}
	}
	for _, i := range []int{-1, 3} {
		if _, err := p.Row(i); !errors.Is(err, ErrShape) {
			t.Errorf("Row(%d) = %v, want ErrShape", i, err)
		}
	}
	if n := mustNew(t, codesConfig(t)).Axes(); n != 1 || p.Axes() != 0 {
		t.Errorf("%d axes on a line, %d without a geometry", n, p.Axes())
	}
	if f := p.Fallback(); f.At(0) != 100 || f.At(1) != 50 || f.At(2) != 106 {
		t.Errorf("fallback %d %d %d", f.At(0), f.At(1), f.At(2))
	}
	if p.String() == "" || strings.ContainsAny(p.String(), "\n") {
		t.Errorf("String = %q", p.String())
	}
}

func TestZeroPolicy(t *testing.T) {
	var p Policy
	if _, err := Encode(p); !errors.Is(err, ErrPolicy) {
		t.Errorf("Encode = %v", err)
	}
	if err := Verify(p); !errors.Is(err, ErrPolicy) {
		t.Errorf("Verify = %v", err)
	}
	if err := p.Belongs(Report{}); !errors.Is(err, ErrPolicy) {
		t.Errorf("Belongs = %v", err)
	}
	if _, err := ParsePrivate(p, nil); !errors.Is(err, ErrPolicy) {
		t.Errorf("ParsePrivate = %v", err)
	}
	if _, err := FormatPrivate(p, nil); !errors.Is(err, ErrPolicy) {
		t.Errorf("FormatPrivate = %v", err)
	}
	if _, err := p.Row(0); !errors.Is(err, ErrShape) {
		t.Errorf("Row = %v", err)
	}
	if !p.IsZero() || p.ID() != [32]byte{} || p.Polytope() != nil || !p.Epsilon().IsZero() || p.Inputs() != 0 ||
		p.Outputs() != 0 ||
		p.Mode() != "" || p.WorkLimit() != 0 || p.HasRows() || p.Fallback().Len() != 0 || p.Cost() != nil ||
		p.Certificate() != nil ||
		p.Metadata() != nil || p.InputLabels() != nil || p.OutputLabels() != nil || p.Provenance() != (Provenance{}) ||
		p.String() == "" {
		t.Error("an accessor of the zero Policy is not zero")
	}
}

// Defaults are filled in and shown.
func TestDefaults(t *testing.T) {
	cfg := smallConfig(t)
	cfg.Mode, cfg.Fallback = "", Row{}
	p := mustNew(t, cfg)
	if p.Mode() != Mixture {
		t.Errorf("mode %q", p.Mode())
	}
	if err := inBox(p, p.Fallback()); err != nil {
		t.Error(err)
	}
	cfg.Mode = Projection
	if p := mustNew(t, cfg); p.WorkLimit() != DefaultWorkLimit {
		t.Errorf("work limit %v", p.WorkLimit())
	}
	// A box that is a point needs no fill: the zero Row is its only row.
	point, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), []uint64{1, 1}, []uint64{1, 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p = mustNew(t, Config{Polytope: point, Rows: []Row{{}}, Provenance: clean})
	if p.Fallback().At(0) != 1 || p.Fallback().At(1) != 1 {
		t.Error("fallback of a point")
	}
}

// Verify goes by what is stored, not by what New saw: reach in and break each part.
func TestVerifyCatchesTampering(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(*content)
		want error
	}{
		{"row", func(c *content) { c.Rows[2] = Row{full: []int32{0}} }, ErrRow},
		{"fallback", func(c *content) { c.Config.Fallback = Row{} }, ErrRow},
		{"label", func(c *content) { c.InputLabels[0] = "hone" }, ErrID},
		{"id", func(c *content) { c.id[0]++ }, ErrID},
		{"box", func(c *content) { c.Polytope = &ldp.Polytope{} }, ldp.ErrBox},
	} {
		p := mustNew(t, smallConfig(t))
		if err := Verify(p); err != nil {
			t.Fatal(err)
		}
		tc.edit(p.c)
		if err := Verify(p); !errors.Is(err, tc.want) {
			t.Errorf("%s: Verify = %v, want %v", tc.name, err, tc.want)
		}
	}
}

// TestRowEdges: a row of no box, its length, and an amount that is all of hi - lo.
func TestRowEdges(t *testing.T) {
	small := smallConfig(t).Polytope
	for _, r := range []Row{{full: []int32{4}}, {extra: []extra{{4, 1}}}, {full: []int32{-1}}, {extra: []extra{{-1, 1}}}} {
		if err := r.check(small, 0); !errors.Is(err, ErrRow) || !strings.Contains(fmt.Sprint(err), "of 4 columns") {
			t.Errorf("%+v of 4 columns: %v", r, err)
		}
	}
	if _, err := NewRow(&ldp.Polytope{}, ldp.Weights{}); !errors.Is(err, ErrShape) {
		t.Errorf("a row of the zero box: %v, want ErrShape", err)
	}
	p := mustNew(t, smallConfig(t))
	if n := p.c.Rows[0].Fill(); n != 3 { // two full columns and one in part
		t.Errorf("Fill = %d, want 3", n)
	}
	if err := (Row{full: []int32{2}, extra: []extra{{0, 100}}}).check(p.Polytope(), 90); err == nil ||
		!strings.HasSuffix(err.Error(), "want 0 < units < 100") {
		t.Errorf("100 units more than lo = 30 of at most 130: %v", err)
	}
}

// TestVerifyReadsEveryRow: Verify looks at every row again, and at the fallback.
func TestVerifyReadsEveryRow(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	for i := -1; i < 3; i++ {
		c := *p.c
		c.Rows = slices.Clone(c.Rows)
		name := "fallback"
		if i < 0 {
			c.Fallback = Row{full: []int32{0}}
		} else {
			c.Rows[i], name = Row{full: []int32{0}}, fmt.Sprintf("row %d", i)
		}
		if err := Verify(Policy{&c}); !errors.Is(err, ErrRow) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s changed: %v", name, err)
		}
	}
}

// TestLongestTexts: texts may be as long as the limits say, and there may be as many.
func TestLongestTexts(t *testing.T) {
	longest := smallConfig(t)
	longest.OutputLabels[0], longest.Provenance.Note = strings.Repeat("l", maxLabel), strings.Repeat("n", maxNote)
	longest.Metadata = map[string]string{strings.Repeat("k", maxKey): strings.Repeat("v", maxNote)}
	if q, err := Decode(mustEncode(t, mustNew(t, longest))); err != nil || len(q.OutputLabel(0)) != maxLabel {
		t.Errorf("the longest texts: %v", err)
	}
	for n, want := range map[int]error{maxMetadata: nil, maxMetadata + 1: ErrLimit} {
		longest.Metadata = map[string]string{}
		for i := range n {
			longest.Metadata[strconv.Itoa(i)] = ""
		}
		if _, err := New(longest); !errors.Is(err, want) {
			t.Errorf("%d entries of metadata: %v", n, err)
		}
	}
}

// TestFallbackOfAPoint: a box that is a point has one row, which raises nothing.
func TestFallbackOfAPoint(t *testing.T) {
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), []uint64{3, 1}, []uint64{3, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	point := mustNew(t, Config{Polytope: box, Rows: []Row{mustRow(t, box, []uint64{3, 1})}, Provenance: clean})
	if w := point.Fallback(); w.At(0) != 3 || w.At(1) != 1 {
		t.Errorf("the fallback of a point is %d, %d", w.At(0), w.At(1))
	}
}
