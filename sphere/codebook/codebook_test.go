package codebook

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/wpmerr"
)

func design(t testing.TB, c Config) *Codebook {
	t.Helper()
	if c.Provenance == (policy.Provenance{}) {
		c.Provenance = clean
	}
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// clean is the statement of a publisher who used no private data.
var clean = policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}

// stream is a reader of seeded random bytes.
type stream struct{ g *numtest.SplitMix64 }

func newStream(seed uint64) stream { return stream{numtest.NewSplitMix64(seed)} }

func (s stream) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.g.Uint64() >> 32)
	}
	return len(b), nil
}

// seeds returns the n-th seed of a test.
func seeds(n uint64) (s Seed) {
	newStream(n ^ 0x5eed).Read(s[:])
	return s
}

// gaussian is the sum of twelve uniform numbers less six: close enough to make directions.
func gaussian(g *numtest.SplitMix64) float64 {
	x := -6.0
	for range 12 {
		x += g.Float64()
	}
	return x
}

// instance draws n atoms with weights of a Dirichlet law with parameter 2.
func instance(g *numtest.SplitMix64, dim, n int) (atoms [][]float64, weights []float64) {
	total := 0.0
	for range n {
		x := make([]float64, dim+1)
		for i := range x {
			x[i] = gaussian(g)
		}
		w := -math.Log(1-g.Float64()) - math.Log(1-g.Float64())
		atoms, weights, total = append(atoms, x), append(weights, w), total+w
	}
	for i := range weights {
		weights[i] /= total
	}
	return atoms, weights
}

func TestConfigErrors(t *testing.T) {
	one := given.Epsilon(t, "1")
	good := Config{Dim: 3, P: 2, Epsilon: one, Points: 64, Provenance: clean}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(c *Config)
		also   error
	}{
		{"no dimension", func(c *Config) { c.Dim = 0 }, nil},
		{"dimension above", func(c *Config) { c.Dim = sphere.MaxDimension + 1 }, nil},
		{"largest dimension", func(c *Config) { c.Dim = math.MaxInt }, nil},
		{"no exponent", func(c *Config) { c.P = 0 }, sphere.ErrExponent},
		{"exponent NaN", func(c *Config) { c.P = math.NaN() }, sphere.ErrExponent},
		{"zero eps", func(c *Config) { c.Epsilon = ldp.Epsilon{} }, nil},
		{"eps too small for the solver", func(c *Config) { c.Epsilon = given.Epsilon(t, "1e-18") }, wpmerr.ErrEpsilon},
		{"one point", func(c *Config) { c.Points = 1 }, nil},
		{"points below", func(c *Config) { c.Points = -4 }, nil},
		{"points above", func(c *Config) { c.Points = MaxPoints + 1 }, nil},
		{"high below", func(c *Config) { c.High = -1 }, nil},
		{"all high", func(c *Config) { c.High = 64 }, nil},
		{"bits", func(c *Config) { c.Bits = 63 }, nil},
		{"too few bits", func(c *Config) { c.Bits = 5 }, ldp.ErrBits},
		{"too few bits for the levels", func(c *Config) { c.Points, c.Bits, c.Epsilon = 33, 8, given.Epsilon(t, "1e-3") },
			ldp.ErrBox},
		{"atoms", func(c *Config) { c.Atoms = MaxAtoms + 1 }, nil},
		{"no provenance", func(c *Config) { c.Provenance = policy.Provenance{} }, policy.ErrProvenance},
		{"a loss not stated", func(c *Config) { c.Provenance.Geometry = policy.DerivedDP }, policy.ErrProvenance},
		{"metadata", func(c *Config) { c.Metadata = map[string]string{"": "x"} }, policy.ErrText},
		{"too much work", func(c *Config) { c.Dim, c.Points = 1<<20, 1<<10 }, nil},
		{"too much memory", func(c *Config) { c.Atoms, c.Points = MaxAtoms, 1<<16 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := good
			c.change(&bad)
			b, err := New(bad)
			if !errors.Is(err, ErrConfig) || b != nil || c.also != nil && !errors.Is(err, c.also) {
				t.Errorf("%s: %v, %v", c.name, b, err)
			}
		})
	}
}

// TestConfigLimits: each limit on the work of a release, where no other holds, at its edge and one above. The numbers are
// those of docs/spec/codebook.md.
func TestConfigLimits(t *testing.T) {
	for _, c := range []struct {
		name                  string
		points, coords, atoms int
	}{
		{"coordinates of points", 1 << 16, 1 << 10, 1},
		{"products", 1<<10 - 1, 1 << 12, 1 << 9},
		{"costs", 1 << 11, 2, 1 << 9},
		{"points for many atoms", 1 << 15, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for more := range 2 {
				cfg := Config{Dim: c.coords - 1, P: 2, Epsilon: given.Epsilon(t, "1"), Points: c.points + more, High: 1, Bits: 62,
					Atoms: c.atoms}
				if _, err := cfg.check(); errors.Is(err, ErrConfig) != (more > 0) {
					t.Errorf("%s, %d above: %v", c.name, more, err)
				}
			}
		})
	}
	for more := range 2 {
		cfg := Config{Dim: 1<<15 - 1 + more, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 2, High: 1, Bits: 62,
			Atoms: 1 << 9}
		if _, err := cfg.check(); errors.Is(err, ErrConfig) != (more > 0) {
			t.Errorf("coordinates of atoms, %d above: %v", more, err)
		}
	}
}

// TestDot: the four lanes and what is left sum as one does, for every length. Products of integers are exact.
func TestDot(t *testing.T) {
	var x, y []float64
	want := 0.0
	for n := range 14 {
		if got := dot(x, y); got != want {
			t.Errorf("%d coordinates: %v, want %v", n, got, want)
		}
		x, y = append(x, float64(n+1)), append(y, float64(int(3)<<n))
		want += x[n] * y[n]
	}
	// In one lane, each of these would be lost beside the 1.
	tiny := math.Ldexp(1, -53)
	if got := dot([]float64{1, tiny, tiny, tiny}, []float64{1, 1, 1, 1}); got != 1+2*tiny {
		t.Errorf("four coordinates: 1 + %v", got-1)
	}
}

// TestCosts: powers of distances, for the exponents that have a form of their own and for others.
func TestCosts(t *testing.T) {
	for _, p := range []float64{0.5, 1, 1.5, 2, 3, 12} {
		b := design(t, Config{Dim: 2, P: p, Epsilon: given.Epsilon(t, "1"), Points: 32})
		x := []float64{0.6, 0, 0.8}
		var want []float64
		for j := range 32 {
			y, err := b.Candidate(seeds(8), j)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, math.Pow(math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]), p))
		}
		// The nearest candidate has distance 0.37. So the square, 2-2<x,y>, is good to 2e-15/0.1, and its sixth power to
		// six times that.
		numtest.NearSlice(t, fmt.Sprint("p = ", p), costsOf(b, seeds(8), x), want,
			numtest.Tol{Rel: 1e-12, Why: "cancellation in 2-2<x,y>, to the power p/2"})
	}
}

// TestZero: a nil and a zero Codebook do nothing and do not panic.
func TestZero(t *testing.T) {
	for _, c := range []*Codebook{nil, {}} {
		if r, err := Release(t.Context(), c, ledger.UnaccountedForTesting(), nil); !errors.Is(err, ErrZero) || !r.IsZero() {
			t.Errorf("Release: %v", err)
		}
		if _, err := c.Simulate(newStream(1), nil); !errors.Is(err, ErrZero) {
			t.Errorf("Simulate: %v", err)
		}
		if _, err := Encode(c); !errors.Is(err, ErrZero) {
			t.Errorf("Encode: %v", err)
		}
		if err := Verify(c); !errors.Is(err, ErrZero) {
			t.Errorf("Verify: %v", err)
		}
		if err := c.Belongs(Report{index: 1}); !errors.Is(err, ErrZero) {
			t.Errorf("Belongs: %v", err)
		}
		if _, err := c.Candidate(Seed{}, 0); !errors.Is(err, ErrZero) {
			t.Errorf("Candidate: %v", err)
		}
		if _, err := c.Point(Report{index: 1}); !errors.Is(err, ErrZero) {
			t.Errorf("Point: %v", err)
		}
		if err := c.CheckPrivate(nil); !errors.Is(err, ErrZero) {
			t.Errorf("CheckPrivate: %v", err)
		}
		if _, err := c.FormatPrivate(nil, nil); !errors.Is(err, ErrZero) {
			t.Errorf("FormatPrivate: %v", err)
		}
		if err := c.CheckAtoms(nil, nil); !errors.Is(err, ErrZero) {
			t.Errorf("CheckAtoms: %v", err)
		}
		if w := c.Law(Seed{}, nil, nil); w.Len() != 0 {
			t.Errorf("Law of %d columns", w.Len())
		}
		if c.ID() != [32]byte{} || c.String() != "codebook(zero)" || !c.Epsilon().IsZero() {
			t.Errorf("%v with ID %x", c, c.ID())
		}
		c.Config()
		c.Fresh()
		c.Measure()
		c.Box()
		c.Fallback()
	}
}

// TestDefaults: what zero means, and that the box that is handed out is a copy.
func TestDefaults(t *testing.T) {
	c := design(t, Config{Dim: 63, P: 2, Epsilon: given.Epsilon(t, "4")})
	got := c.Config()
	if got.Points != 1024 || got.Bits != 62 || got.Atoms != 64 || got.High != 68 { // 1024 S = 67.93
		t.Errorf("defaults %+v", got)
	}
	for _, d := range []struct{ dim, points, atoms int }{
		{1, 1 << 15, 32}, {1, 1<<15 + 1, 1}, {1 << 20, 2, 15}, {sphere.MaxDimension, 2, 1}, {1 << 16, 1 << 9, 63},
	} {
		if big := design(t, Config{Dim: d.dim, P: 2, Epsilon: given.Epsilon(t, "1"), Points: d.points}).Config(); big.Atoms != d.atoms {
			t.Errorf("%d atoms for %d points of S^%d, want %d", big.Atoms, d.points, d.dim, d.atoms)
		}
	}
	// No S is above 0.733, which this dimension and p have where eps is near 0. So at least one point is low.
	for points, high := range map[int]int{2: 1, 3: 2, 4: 3} {
		cfg := Config{Dim: 4, P: 12, Epsilon: given.Epsilon(t, "1e-3"), Points: points}
		if got := design(t, cfg).Config().High; got != high {
			t.Errorf("%d of %d points high, want %d", got, points, high)
		}
	}
	*c.Box() = ldp.Polytope{}
	if err := c.Box().Verify(); err != nil {
		t.Errorf("the box was replaced through its copy: %v", err)
	}
}

// TestKnownAnswer: candidate 5 of a seed on S^2 and on S^4, from the key stream that openssl gives for the key,
//
//	head -c 96 /dev/zero | openssl enc -aes-256-ctr -K 000102..1f -iv 00..00
//
// and the formulas of the package comment in mpmath at 30 digits.
func TestKnownAnswer(t *testing.T) {
	var seed Seed
	for i := range seed {
		seed[i] = byte(i)
	}
	tol := numtest.Tol{Abs: 1e-15, Why: "log, sin, cos, sqrt and a division of numbers near 1"}
	for _, c := range []struct {
		dim  int
		want []float64
	}{
		{2, []float64{-0.17717735281158475264, -0.23022077560831746641, 0.95687333546764900855}},
		{4, []float64{-0.73454503897274411161, 0.1263558940998486605, 0.01649592252008898126, 0.1220413297671107142, 0.65521872082202002828}},
	} {
		b := design(t, Config{Dim: c.dim, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 8})
		y, err := b.Candidate(seed, 5)
		if err != nil {
			t.Fatal(err)
		}
		numtest.NearSlice(t, fmt.Sprint("candidate of dimension ", c.dim), y, c.want, tol)
	}
}

// TestCandidatesUniform: over 40 000 candidates on S^3, the means of the coordinates and of their products are those of
// the uniform law. A mean of n draws with variance v deviates by more than 5.5 sqrt(v/n) with probability 4e-8; with 14
// means the false-alarm rate over the choice of the fixed seeds is below 1e-6.
func TestCandidatesUniform(t *testing.T) {
	const dim, coords, lists, n = 3, 4, 20, 2000
	b := design(t, Config{Dim: dim, P: 2, Epsilon: given.Epsilon(t, "1"), Points: n})
	var first [coords]float64
	var second [coords][coords]float64
	for s := range uint64(lists) {
		src := newSource(seeds(s), dim)
		y := make([]float64, coords)
		for j := range b.Config().Points {
			src.point(j, y)
			for i := range y {
				first[i] += y[i]
				for l := range i + 1 {
					second[i][l] += y[i] * y[l]
				}
			}
		}
	}
	const all = lists * n
	limit := func(variance float64) float64 { return 5.5 * math.Sqrt(variance/all) }
	for i := range coords {
		if m := first[i] / all; !(math.Abs(m) <= limit(1./coords)) {
			t.Errorf("mean of coordinate %d: %v", i, m)
		}
		for l := range i + 1 {
			// E y_i^4 = 3/(m(m+2)), E y_i^2 y_l^2 = 1/(m(m+2)) for m coordinates.
			want, variance := 0.0, 1./(coords*(coords+2))
			if l == i {
				want, variance = 1./coords, 3./(coords*(coords+2))-1./(coords*coords)
			}
			if m := second[i][l] / all; !(math.Abs(m-want) <= limit(variance)) {
				t.Errorf("mean of the product of %d and %d: %v, want %v", i, l, m, want)
			}
		}
	}
}

// TestCandidateAlone: a candidate made alone is the one in the list, bit for bit, and a unit vector.
func TestCandidateAlone(t *testing.T) {
	for _, dim := range []int{1, 2, 3, 4, 5, 6, 7, 62, 63, 64} {
		b := design(t, Config{Dim: dim, P: 1, Epsilon: given.Epsilon(t, "2"), Points: 100})
		for _, j := range []int{0, 1, 50, 99} {
			y, err := b.Candidate(seeds(3), j)
			if err != nil {
				t.Fatal(err)
			}
			norm := 0.0
			for _, v := range y {
				norm += v * v
			}
			numtest.Near(t, "norm", norm, 1, numtest.Tol{Abs: 1e-14, Why: "a rounded quotient in each coordinate"})
			src := newSource(seeds(3), dim)
			z := make([]float64, dim+1)
			for i := range j + 1 {
				src.point(i, z)
			}
			numtest.SameBits(t, "candidate", y, z)
		}
		for _, j := range []int{-1, 100, math.MaxInt} {
			if _, err := b.Candidate(seeds(3), j); !errors.Is(err, ErrReport) {
				t.Errorf("candidate %d: %v", j, err)
			}
		}
	}
}

// TestErrorTexts: errors name the limits that hold.
func TestErrorTexts(t *testing.T) {
	c := tiny(t) // S^2, 9 points
	design := func(change func(cfg *Config)) error {
		cfg := c.Config()
		change(&cfg)
		_, err := New(cfg)
		return err
	}
	_, noHigh := Decode([]byte(strings.Replace(string(c.text), `"high":3`, `"high":0`, 1)))
	index := slices.Concat([]byte(magic), make([]byte, 64), binary.LittleEndian.AppendUint32(nil, 1<<20))
	for want, err := range map[string]error{
		"High is 9, want 1 to 8, or 0":             design(func(cfg *Config) { cfg.High = 9 }),
		"High is 0, want 1 to 8":                   noHigh,
		"9 points in 9000001 coordinates, 4 atoms": design(func(cfg *Config) { cfg.Dim = 9e6 }),
		"2 coordinates, want 3":                    c.CheckAtoms([][]float64{{1, 2}}, []float64{1}),
		"index 1048576, at most 1048575":           new(Report).UnmarshalBinary(index),
		"142 characters, want 144":                 new(Report).UnmarshalText(make([]byte, 142)),
		"1048577 bytes, at most 1048576":           func() error { _, err := Decode(make([]byte, 1<<20+1)); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
