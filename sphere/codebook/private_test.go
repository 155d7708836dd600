package codebook

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

// plain is the grammar of the package comment, written for the eye.
func plain(c Config, data string) (atoms [][]float64, weights []float64, ok bool) {
	header := "weight"
	for i := range c.Dim + 1 {
		header += ",x" + strconv.Itoa(i+1)
	}
	total := 0.0
	for n, line := range strings.Split(strings.TrimPrefix(data, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || n == 0 && line == header {
			continue
		}
		field := strings.Split(line, ",")
		if len(field) != c.Dim+2 {
			return nil, nil, false
		}
		number := make([]float64, len(field))
		zero := true
		for i, s := range field {
			if i > 0 && strings.HasPrefix(s, "-") {
				s = s[1:]
			}
			v, err := strconv.ParseFloat(s, 64)
			if !decimal.MatchString(s) || len(s) > 64 || err != nil {
				return nil, nil, false
			}
			if number[i] = v; s != field[i] {
				number[i] = -v
			}
			zero = zero && (i == 0 || v == 0)
		}
		if zero || number[0] > 1<<53 {
			return nil, nil, false
		}
		weights, atoms, total = append(weights, number[0]), append(atoms, number[1:]), total+number[0]
	}
	if total == 0 || len(atoms) > c.Atoms {
		return nil, nil, false
	}
	for i := range weights {
		weights[i] /= total
	}
	return atoms, weights, true
}

// comparePlain holds the parser, and the law that it leads to, to plain.
func comparePlain(t testing.TB, c *Codebook, data string) (ok bool) {
	t.Helper()
	atoms, weights, ok := plain(c.Config(), data)
	got, mass, err := c.parsePrivate(c.newMemory(c.cfg.Atoms), []byte(data))
	if ok != (err == nil) || (c.CheckPrivate([]byte(data)) == nil) != ok ||
		err != nil && !errors.Is(err, private.ErrUnusable) || len(got) != len(atoms) {
		t.Fatalf("%q: %v, usable by the grammar: %v", data, err, ok)
	}
	for i := range atoms {
		if len(got[i]) != cap(got[i]) {
			t.Fatalf("%q: room for %d numbers, with %d in it", data, cap(got[i]), len(got[i]))
		}
		for j, v := range atoms[i] {
			if math.Float64bits(got[i][j]) != math.Float64bits(v) {
				t.Fatalf("%q: vector %d is %v, want %v", data, i, got[i], atoms[i])
			}
		}
		if mass[i] != weights[i] {
			t.Fatalf("%q: weight %d is %v, want %v", data, i, mass[i], weights[i])
		}
	}
	if ok {
		if err := c.CheckAtoms(got, mass); err != nil {
			t.Fatalf("%q: read, and then refused: %v", data, err)
		}
	}
	return ok
}

func TestPrivateGrammar(t *testing.T) {
	c := tiny(t) // S^2, four atoms
	long := "0." + strings.Repeat("1", 62)
	for _, tc := range []struct {
		name, data string
		ok         bool
	}{
		{"a point", "1,0.6,0,0.8\n", true},
		{"no line end", "1,0.6,0,0.8", true},
		{"header, byte order mark, CRLF, empty lines", "\ufeffweight,x1,x2,x3\r\n\r\n1,1,0,0\r\n\n2,0,-1,1e-3\r\n", true},
		{"four atoms", "1,1,0,0\n0,0,1,0\n2,0,0,1\n9007199254740992,-1,0,0\n", true},
		{"any length, extreme", "5e-324,1e308,-1e308,5e-324\n", true},
		{"a coordinate that underflows", "1,1,1e-999,-0\n", true},
		{"64 characters and a minus", "1,-" + long + ",0,0\n", true},
		{"a point of few characters", "1.,1.,0,0\n", true},
		{"nothing", "", false},
		{"header alone", "weight,x1,x2,x3\n", false},
		{"header later", "1,1,0,0\nweight,x1,x2,x3\n", false},
		{"header of another dimension", "weight,x1,x2\n1,1,0,0\n", false},
		{"header with more", "weight,x1,x2,x3,x4\n1,1,0,0\n", false},
		{"header with a label", "weight,x1,x2,y\n1,1,0,0\n", false},
		{"five atoms", strings.Repeat("1,1,0,0\n", 5), false},
		{"too few coordinates", "1,1,0\n", false},
		{"too many", "1,1,0,0,0\n", false},
		{"zero vector", "1,1,0,0\n0,0,-0,0e5\n", false},
		{"a vector that underflows", "1,1e-400,0,0\n", false},
		{"weights of sum 0", "0,1,0,0\n", false},
		{"negative weight", "-1,1,0,0\n", false},
		{"weight above 2^53", "9007199254740993,1,0,0\n9007199254740994,1,0,0\n", false},
		{"overflow", "1,1e309,0,0\n", false},
		{"NaN", "1,NaN,0,1\n", false},
		{"Inf", "1,-Inf,0,1\n", false},
		{"hexadecimal", "1,0x1p1,0,1\n", false},
		{"underscore", "1,1_0,0,1\n", false},
		{"plus", "1,+1,0,1\n", false},
		{"two minus", "1,--1,0,1\n", false},
		{"starts with a point", "1,.5,0,1\n", false},
		{"space", "1, 1,0,0\n", false},
		{"empty coordinate", "1,,0,1\n", false},
		{"empty last coordinate", "1,1,0,\n", false},
		{"empty weight", ",1,0,0\n", false},
		{"a comma before a line", ",1,1,0,0\n", false},
		{"65 characters", "1," + long + "1,0,0\n", false},
		{"NUL", "1,1,0,0\x00\n", false},
		{"a bare carriage return", "1,1,0,0\r1,1,0,0\n", false},
		{"two byte order marks", "\ufeff\ufeff1,1,0,0\n", false},
		{"quotation marks", "1,\"1\",0,0\n", false},
		{"one bad line of two", "1,1,0,0\nx\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if ok := comparePlain(t, c, tc.data); ok != tc.ok {
				t.Errorf("%s: usable: %v, want %v", tc.name, ok, tc.ok)
			}
			if err := c.CheckPrivate([]byte(tc.data)); err != nil && strings.ContainsAny(err.Error(), "_\x00\"") {
				t.Errorf("%s: the error shows the data: %v", tc.name, err)
			}
		})
	}
	if err := c.CheckPrivate(make([]byte, private.MaxBytes+1)); !errors.Is(err, private.ErrUnusable) {
		t.Errorf("data that are too long: %v", err)
	}
	var pe *private.Error
	if err := c.CheckPrivate([]byte("1,1,0,0\n\n1,1\n")); !errors.As(err, &pe) || pe.Line != 3 {
		t.Errorf("the bad line is 3: %v", err)
	}
}

// TestFormatPrivate: what is written is read as the same numbers; what CheckAtoms refuses is not written.
func TestFormatPrivate(t *testing.T) {
	c := small(t, 3, "2", 50, 40)
	for _, d := range world(3) {
		text, err := c.FormatPrivate(d.atoms, d.weights)
		if !errors.Is(err, d.bad) {
			t.Errorf("%s: %v, want %v", d.name, err, d.bad)
		}
		if d.bad != nil {
			continue
		}
		atoms, weights, err := c.parsePrivate(c.newMemory(c.cfg.Atoms), text)
		if err != nil || len(atoms) != len(d.atoms) {
			t.Fatalf("%s: read as %v, %v", d.name, atoms, err)
		}
		total := 0.0
		for _, w := range d.weights {
			total += w
		}
		for i := range atoms {
			numtest.SameBits(t, d.name, atoms[i], d.atoms[i])
			if weights[i] != d.weights[i]/total {
				t.Errorf("%s: weight %v for %v", d.name, weights[i], d.weights[i])
			}
		}
	}
	negative := []float64{math.Copysign(0, -1), 1}
	if text, err := c.FormatPrivate([][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}}, negative); err != nil ||
		c.CheckPrivate(text) != nil {
		t.Errorf("a weight of -0 is written as %q, %v", text, err)
	}
}

// FuzzPrivate: the parser agrees with plain on any bytes; the release succeeds, and its law is a point of the box, the
// fallback for what cannot be read.
func FuzzPrivate(f *testing.F) {
	for _, s := range []string{"1,0.6,0,0.8\n", "weight,x1,x2,x3\n1,1,0,0\n2,-1e-3,0,5\n", "1,1,0\n", "", "1,1e999,0,0\n",
		"0,1,0,0\r\n\n3,0,0,-.5"} {
		f.Add([]byte(s))
	}
	c := tiny(f)
	f.Fuzz(func(t *testing.T, private []byte) {
		ok := comparePlain(t, c, string(private))
		m := c.newMemory(c.cfg.Atoms)
		law := c.law(m, c.cfg.Seed, func() ([][]float64, []float64, error) { return c.parsePrivate(m, private) })
		n := make([]uint64, law.Len())
		same := true
		for j := range n {
			n[j] = law.At(j)
			same = same && n[j] == c.fallback.At(j)
		}
		if _, err := c.box.Weights(n); err != nil || !ok && !same {
			t.Fatalf("%q: %v, the fallback: %v", private, err, same)
		}
		if r, err := Release(t.Context(), c, ledger.UnaccountedForTesting(), private); err != nil || c.Belongs(r) != nil {
			t.Fatalf("%q: %v, %v", private, r, err)
		}
	})
}

// TestParseMass: weights that miss 1 by less than the tolerance are divided by their sum.
func TestParseMass(t *testing.T) {
	c := &Codebook{cfg: Config{Dim: 1, Atoms: 3}}
	for _, weights := range [][]float64{{0.25, 0.25, 0.5 + 9e-10}, {0.25, 0.25 - 9e-10, 0.5}} {
		atoms := [][]float64{{1, 0}, {0, 1}, {1, 1}}
		_, mu, err := c.parse(c.memoryFor(atoms), atoms, weights)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range mu {
			sum += v
		}
		if !(math.Abs(sum-1) <= 0x1p-51) { // three quotients and two sums, below 1 each
			t.Errorf("weights %v: %v, of sum %v", weights, mu, sum)
		}
	}
}

// TestNoWeight: atoms without weight are left out, wherever they stand, and all others are kept.
func TestNoWeight(t *testing.T) {
	c := &Codebook{cfg: Config{Dim: 1, Atoms: 3}}
	for _, weights := range [][]float64{{0, 1, 0}, {0, 0, 1}, {0.5, 0, 0.5}, {0, 0.25, 0.75}} {
		var want, kept []float64
		all := [][]float64{{1, 0}, {0, 1}, {-1, 0}}
		for i, w := range weights {
			if w > 0 {
				want, kept = append(want, all[i]...), append(kept, w)
			}
		}
		points, mu, err := c.parse(c.memoryFor(all), all, weights)
		if err != nil || !slices.Equal(points, want) || !slices.Equal(mu, kept) {
			t.Errorf("weights %v: atoms %v with %v, %v", weights, points, mu, err)
		}
	}
}

// TestFormatPrivateOfMaxBytes: data are written if they have the length that can be read, and not if they have a byte
// more.
func TestFormatPrivateOfMaxBytes(t *testing.T) {
	const numeral = len(",-1.7976931348623157e+308")
	for more := range 2 {
		x := slices.Repeat([]float64{-math.MaxFloat64}, private.MaxBytes/numeral)
		last, err := strconv.ParseFloat("0."+strings.Repeat("1", private.MaxBytes+more-len("1\n,0.")-numeral*len(x)), 64)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, last)
		c := &Codebook{cfg: Config{Dim: len(x) - 1, Atoms: 1}, text: []byte{}}
		text, err := c.FormatPrivate([][]float64{x}, []float64{1})
		if more == 0 && (err != nil || len(text) != private.MaxBytes) || more == 1 && !errors.Is(err, ErrWeights) {
			t.Errorf("%d bytes above the limit: %d bytes, %v", more, len(text), err)
		}
	}
}
