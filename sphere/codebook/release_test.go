package codebook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// releaser is Release with its random source, or an imitation of it.
type releaser func(ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader) (Report, error)

// clients are private data on S^2 for at most four atoms, readable and not.
var clients = []string{
	"1,0,0,1\n", "1,0,0,-1\n", "weight,x1,x2,x3\n2,1,0,0\n1,0,1,0\n", "3,1,1,1\n3,-1,1,1\n3,1,-1,1\n1,1,1,-1\n",
	"", "1,1,0\n", "1,NaN,0,0\n", "0,1,0,0\n",
}

// scripted is a random source that looks at a file whenever it is read, and counts.
type scripted struct {
	io.Reader
	read func()
	n    int
}

func (s *scripted) Read(b []byte) (int, error) {
	s.read()
	n, err := s.Reader.Read(b)
	s.n += n
	return n, err
}

// word is a random source: a seed if the codebook wants one, then a number for ldp.
func word(c *Codebook, seed Seed, v uint64) io.Reader {
	r := words(seed, c.cfg.Bits, v)
	if !c.Fresh() {
		_, _ = io.CopyN(io.Discard, r, int64(len(seed)))
	}
	return r
}

// checkRelease returns what is wrong with a releaser: its law, enumerated over every random word; the order of debit,
// seed and data; repeats and the books; errors.
func checkRelease(t testing.TB, rel releaser) error {
	fixed := tiny(t)
	cfg := fixed.Config()
	cfg.Seed = Seed{}
	free := design(t, cfg)
	ctx := context.Background()
	for _, c := range []*Codebook{fixed, free} {
		for _, private := range clients {
			if err := checkOrder(t, rel, c, []byte(private)); err != nil {
				return fmt.Errorf("%q: %w", private, err)
			}
		}
		seed := seeds(6)
		if !c.Fresh() {
			seed = c.cfg.Seed
		}
		var rows []ldp.Weights
		for _, private := range clients {
			want := c.fallback
			if atoms, weights, ok := plain(c.cfg, private); ok {
				want = c.Law(seed, atoms, weights)
			}
			count := make([]uint64, c.cfg.Points)
			for v := range uint64(1) << c.cfg.Bits {
				r, err := rel(ctx, c, ledger.UnaccountedForTesting(), []byte(private), word(c, seed, v))
				if err != nil {
					return fmt.Errorf("%q: %w", private, err)
				}
				if err := c.Belongs(r); err != nil || r.seed != seed {
					return fmt.Errorf("%q: report of seed %x: %v", private, r.seed[:4], err)
				}
				count[r.Index()]++
			}
			row, err := c.box.Weights(count)
			if err != nil {
				return fmt.Errorf("%q: %w", private, err)
			}
			for j, n := range count {
				if n != want.At(j) {
					return fmt.Errorf("%q: index %d comes %d times of %d, want %d", private, j, n, c.box.Total(), want.At(j))
				}
			}
			rows = append(rows, row)
		}
		if err := ldp.CheckRows(c.cfg.Epsilon, rows); err != nil {
			return err
		}
	}
	return nil
}

// checkOrder makes releases with a ledger in a file, which the random source reads.
func checkOrder(t testing.TB, rel releaser, c *Codebook, private []byte) error {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "ledger")
	open := func(epoch string) *ledger.Books {
		l, err := ledger.Open(path, ledger.Options{Epoch: epoch, Budget: "6"})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	debits := func() int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), fmt.Sprintf("\ndebit 3/2 %x ", c.id))
	}
	var fault error
	source := func(paid, bytesThere int) *scripted {
		return &scripted{io.LimitReader(newStream(uint64(paid)), int64(bytesThere)), func() {
			if n := debits(); n != paid {
				fault = fmt.Errorf("random bytes are drawn with %d debits in the ledger, want %d", n, paid)
			}
		}, 0}
	}
	need := (c.cfg.Bits + 7) / 8
	if c.Fresh() {
		need += len(Seed{})
	}
	// The process dies between the debit and the seed, and in the middle of the seed.
	for n, there := range []int{0, need - 1} {
		l := open("a")
		if r, err := rel(context.Background(), c, l, private, source(n+1, there)); !errors.Is(err, ErrRandom) || !r.IsZero() {
			return fmt.Errorf("with %d random bytes: %v, %v", there, r, err)
		}
		if err := l.Close(); err != nil {
			return err
		}
		if n := n + 1; debits() != n {
			return fmt.Errorf("%d debits after %d draws that failed", debits(), n)
		}
	}
	l := open("a")
	full := source(3, need+8)
	first, err := rel(context.Background(), c, l, private, full)
	if err != nil || fault != nil {
		return errors.Join(err, fault)
	}
	if full.n != need {
		return fmt.Errorf("%d random bytes read, want %d", full.n, need)
	}
	for range 2 {
		if again, err := rel(context.Background(), c, l, []byte("1,1,1,1\n"), source(-1, 0)); err != nil || again != first ||
			fault != nil {
			return fmt.Errorf("repeat: %v, want %v: %v", again, first, errors.Join(err, fault))
		}
		if err := l.Close(); err != nil {
			return err
		}
		l = open("a")
	}
	if err := l.Close(); err != nil {
		return err
	}
	l = open("b")
	defer l.Close()
	if _, err := rel(context.Background(), c, l, private, source(4, need)); err != nil || fault != nil {
		return fmt.Errorf("the next epoch: %w", errors.Join(err, fault))
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := rel(ended, c, l, private, source(-1, need)); !errors.Is(err, context.Canceled) || fault != nil {
		return fmt.Errorf("after the end of the context: %v", errors.Join(err, fault))
	}
	if got := l.Spent().RatString(); got != "6" || debits() != 4 {
		return fmt.Errorf("%s spent, want 6", got)
	}
	cfg := c.Config()
	cfg.Metadata = nil
	other := design(t, cfg)
	if _, err := rel(context.Background(), other, l, private, source(-1, need)); !errors.Is(err, ledger.ErrBudget) ||
		fault != nil {
		return fmt.Errorf("beyond the budget: %v", errors.Join(err, fault))
	}
	return nil
}

func TestReleaseLaw(t *testing.T) {
	if err := checkRelease(t, release); err != nil {
		t.Error(err)
	}
}

// TestPlantedBugs: checkRelease finds what a careless release would do.
func TestPlantedBugs(t *testing.T) {
	all := func(c *Codebook, random io.Reader) (b []byte, err error) {
		b = make([]byte, (c.cfg.Bits+7)/8)
		if c.Fresh() {
			b = append(b, make([]byte, len(Seed{}))...)
		}
		_, err = io.ReadFull(random, b)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrRandom, err)
		}
		return b, err
	}
	bugs := map[string]releaser{
		"random bytes before the debit": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			b, err := all(c, random)
			if err != nil { // paid for all the same
				b = nil
			}
			return release(ctx, c, l, private, bytes.NewReader(b))
		},
		"no debit": func(
			ctx context.Context, c *Codebook, _ ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			return release(ctx, c, ledger.UnaccountedForTesting(), private, random)
		},
		"an error for unreadable data": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			if err := c.CheckPrivate(private); err != nil {
				return Report{}, err
			}
			return release(ctx, c, l, private, random)
		},
		"fewer random bytes for unreadable data": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			if c.CheckPrivate(private) != nil {
				random = io.MultiReader(bytes.NewReader(make([]byte, 34)), random)
			}
			return release(ctx, c, l, private, random)
		},
		"unreadable data keep the last law": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			if c.CheckPrivate(private) != nil {
				private = []byte("1,1,0,0\n")
			}
			return release(ctx, c, l, private, random)
		},
		"one seed for all": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			r, err := release(ctx, c, l, private, random)
			if err == nil {
				r.seed = Seed{1}
			}
			return r, err
		},
		"the nearest candidate": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			r, err := release(ctx, c, l, private, random)
			if atoms, _, ok := plain(c.cfg, string(private)); ok && err == nil {
				x, err := c.unit(nil, atoms[0])
				if err != nil {
					return r, err
				}
				best := 0.0
				for j, v := range costsOf(c, r.seed, x) {
					if j == 0 || v < best {
						r.index, best = uint32(j), v
					}
				}
			}
			return r, err
		},
		"the words of the last candidate go to the first": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			r, err := release(ctx, c, l, private, random)
			if r.index == 8 && err == nil {
				r.index = 0
			}
			return r, err
		},
		"a report without its policy": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			r, err := release(ctx, c, l, private, random)
			r.id = [32]byte{}
			return r, err
		},
		"a try that failed is free": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			b, err := all(c, random)
			if err != nil {
				return Report{}, err
			}
			return release(ctx, c, l, private, bytes.NewReader(b))
		},
		"the context ends nothing": func(
			_ context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			return release(context.Background(), c, l, private, random)
		},
		"an ID of the box alone": func(
			ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader,
		) (Report, error) {
			other := *c
			other.id = [32]byte{1}
			r, err := release(ctx, &other, l, private, random)
			if err == nil {
				r.id = c.id
			}
			return r, err
		},
	}
	for name, rel := range bugs {
		if err := checkRelease(t, rel); err == nil {
			t.Errorf("%s: not found", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// TestLedgerCutAnywhere: whatever the file of a ledger with a codebook's release has lost at its end, what is counted
// afterwards covers every debit whose line is complete, and a report whose line is complete is the one that is
// repeated.
func TestLedgerCutAnywhere(t *testing.T) {
	c := tiny(t)
	path := filepath.Join(t.TempDir(), "ledger")
	open := func() *ledger.Books {
		l, err := ledger.Open(path, ledger.Options{Epoch: "e", Budget: "6"})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open()
	want, err := Release(t.Context(), c, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(text, '\n') + 1
	debit := first + bytes.IndexByte(text[first:], '\n') + 1
	for n := first; n <= len(text); n++ {
		if !numtest.Full() && n%7 != 0 && n < len(text)-1 && n != debit {
			continue
		}
		if err := os.WriteFile(path, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open()
		if spent := l.Spent().RatString(); n >= debit && spent != "3/2" || n < debit && spent != "0" && spent != "3/2" {
			t.Fatalf("cut at %d: %s spent", n, spent)
		}
		before := l.Spent()
		got, err := Release(t.Context(), c, l, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if kept := l.Spent().Cmp(before) == 0; kept != (n == len(text)) || kept && got != want {
			t.Fatalf("cut at %d: spent %v, then %v; report %v, want %v", n, before, l.Spent(), got, want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReleaseErrors: errors of the arguments, each before any debit.
func TestReleaseErrors(t *testing.T) {
	c := tiny(t)
	if _, err := Release(t.Context(), c, nil, nil); !errors.Is(err, ledger.ErrUnusable) {
		t.Errorf("no ledger: %v", err)
	}
	if _, err := Release(t.Context(), c, (*ledger.Books)(nil), nil); !errors.Is(err, ledger.ErrUnusable) {
		t.Errorf("a nil ledger: %v", err)
	}
	if _, err := Release(nil, c, ledger.UnaccountedForTesting(),
		nil); err != nil { //nolint:staticcheck // a nil context is none
		t.Errorf("no context: %v", err)
	}
	l, err := ledger.Open(filepath.Join(t.TempDir(), "l"),
		ledger.Options{Epoch: "e", Budget: "9", MaxEpsilon: given.Epsilon(t, "1")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Release(t.Context(), c, l, nil); !errors.Is(err, ledger.ErrBudget) || l.Spent().Sign() != 0 {
		t.Errorf("above the device's maximum: %v", err)
	}
}

// TestFixedListBiasesMeans: what the package comment says of one list for all. For a point x and a list of candidates,
// the mean of the report is off the line of x by sum w_j y_j, without the part along x, whose mean square over lists is
// sum w_j^2 (1 - <x,y_j>^2) <= 1/K. The mean of S lists is off by 1/sqrt(S) of that.
func TestFixedListBiasesMeans(t *testing.T) {
	const lists = 400
	c := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "2"), Points: 64})
	square, all := 0.0, make([]float64, 2)
	for s := range uint64(lists) {
		law := c.Law(seeds(s), [][]float64{{0, 0, 1}}, []float64{1})
		off := make([]float64, 2)
		for j := range law.Len() {
			y, err := c.Candidate(seeds(s), j)
			if err != nil {
				t.Fatal(err)
			}
			for i := range off {
				off[i] += y[i] * math.Ldexp(float64(law.At(j)), -law.Bits())
			}
		}
		square += (off[0]*off[0] + off[1]*off[1]) / lists
		all[0], all[1] = all[0]+off[0]/lists, all[1]+off[1]/lists
	}
	high := float64(c.Config().High)
	one, many := math.Sqrt(square), math.Hypot(all[0], all[1])
	t.Logf("K = %v: one list is off by %.4f, the mean of %d by %.4f", high, one, lists, many)
	if !(one > 0.02 && one <= 1/math.Sqrt(high)) {
		t.Errorf("one list is off by %v, want at most %v", one, 1/math.Sqrt(high))
	}
	// Off by one list's in each coordinate has variance square/2; the squared sum is exponential with mean square/S,
	// above 12 times that with probability 6e-6.
	if !(many <= one*math.Sqrt(12./lists)) {
		t.Errorf("the mean of %d lists is off by %v", lists, many)
	}
}

// TestRehearsal: the rehearsal is of one atom and of three, whose assignment moves mass, and of unusable data.
func TestRehearsal(t *testing.T) {
	for _, p := range []float64{1, 2, 3} {
		c, texts := rehearsal(p)
		for i, want := range []int{1, 3, 0} {
			m := c.newMemory(c.cfg.Atoms)
			points, mu, err := c.read(m, func() ([][]float64, []float64, error) { return c.parsePrivate(m, []byte(texts[i])) })
			if len(mu) != want || (err == nil) != (want > 0) {
				t.Fatalf("data %d have %d atoms, want %d: %v", i, len(mu), want, err)
			}
			if want < 2 {
				continue
			}
			a := newAssignment(m, c.costs(m, Seed{}, points), mu, c.lo, c.hi)
			work := a.work
			if mass := a.solve(); a.work == work || math.Abs(num.Sum(mass)-1) > 1e-15 { // four roundings
				t.Errorf("p = %v: no mass is moved: %v", p, mass)
			}
		}
	}
}
