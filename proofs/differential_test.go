package proofs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// program is what proofs/run builds.
const program = "build/wpm-proofs"

func extracted(t *testing.T) string {
	t.Helper()
	if os.Getenv("WPM_CLIENTS") != "1" {
		t.Skip("WPM_CLIENTS=1 compares Go with the extracted verifier")
	}
	path, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no %s: proofs/run builds it", program)
	}
	return path
}

// A suite is cases with what Go says of each.
type suite struct {
	testing.TB
	r         *rand.Rand
	in        bytes.Buffer
	lines     []string
	want      []string
	verdicts  map[string]int // of boxes
	nearTies  int            // boxes within one unit of h = e^eps l on either side
	wrapped   int            // boxes with a sum of 2^64 or more
	hards     map[string]int // verdicts of hard ones
	rows      map[string]int
	fallbacks int // rows of a threshold that does not fit
}

func (s *suite) add(want, format string, a ...any) {
	line := fmt.Sprintf(format, a...)
	s.lines, s.want = append(s.lines, line), append(s.want, want)
	s.in.WriteString(line + "\n")
}

func list(v []uint64) string {
	if len(v) == 0 {
		return "-"
	}
	var b strings.Builder
	for i, x := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(x, 10))
	}
	return b.String()
}

func units(w ldp.Weights) (n []uint64) {
	for j := range w.Len() {
		n = append(n, w.At(j))
	}
	return n
}

func bounds(p *ldp.Polytope) (lo, hi []uint64) {
	for j := range p.Len() {
		lo, hi = append(lo, p.Lo(j)), append(hi, p.Hi(j))
	}
	return lo, hi
}

// verdict is what Go says of a box, in the words of the program.
func verdict(t testing.TB, text string, lo, hi []uint64, b int) string {
	eps, err := ldp.ParseEpsilon(text)
	if err != nil {
		return "epsilon"
	}
	_, err = ldp.NewPolytopeFromBounds(eps, lo, hi, b)
	var box *ldp.BoxError
	switch {
	case err == nil:
		return "accepted"
	case errors.Is(err, ldp.ErrEpsilon):
		return "epsilon"
	case errors.Is(err, ldp.ErrBits):
		return "bits"
	case !errors.As(err, &box):
		t.Fatalf("NewPolytopeFromBounds(%s, %v, %v, %d) = %v, no BoxError", text, lo, hi, b, err)
	case strings.HasPrefix(box.Reason, "lower bound above upper bound"):
		return fmt.Sprintf("order %d", box.Index)
	case strings.HasPrefix(box.Reason, "upper bound above e^"):
		return fmt.Sprintf("loss %d", box.Index)
	case strings.HasPrefix(box.Reason, "upper bound above 2^"):
		return fmt.Sprintf("top %d", box.Index)
	case strings.HasPrefix(box.Reason, "lower bounds sum"):
		return "low sum"
	case strings.HasPrefix(box.Reason, "upper bounds sum"):
		return "high sum"
	}
	return "no column"
}

// epsilon draws p/q: common ones, the ends of the range, large denominators, and what is out of range.
func (s *suite) epsilon() string {
	switch s.r.IntN(12) {
	case 0:
		return "1/1000000000000000000"
	case 1:
		return "64"
	case 2:
		return []string{"0", "65", "64.0000000001", "1/1000000000000000001", "1/0"}[s.r.IntN(5)]
	case 3: // a denominator of about 2^128
		q := new(big.Int).Lsh(big.NewInt(1), 128)
		q.Add(q, big.NewInt(s.r.Int64N(5)-2))
		p := new(big.Int).Rsh(q, uint(s.r.IntN(50)))
		return p.String() + "/" + q.String()
	case 4:
		return fmt.Sprintf("%d/%d", 40+s.r.IntN(24), 1)
	case 5:
		return fmt.Sprintf("1/%d", 1+s.r.Int64N(1<<40))
	case 6:
		return []string{"0.1", "0.5", "1", "2", "4", "8", "0.693147180559945309417232121458176568"}[s.r.IntN(7)]
	}
	q := 1 + s.r.Int64N(1000)
	return fmt.Sprintf("%d/%d", 1+s.r.Int64N(10*q), q)
}

// exponential returns numbers below and above e^eps, an enclosure of 400 bits.
func exponential(text string) (below, above *big.Rat) {
	eps, err := ldp.ParseEpsilon(text)
	if err != nil {
		return big.NewRat(1, 1), big.NewRat(1, 1)
	}
	return eps.ExpBounds(400)
}

// tie returns a pair l, h with h next to e^eps l: a convergent of e^eps, which is nearer than any pair of smaller l, or
// the integer below e^eps l for some l.
func (s *suite) tie(e *big.Rat, most uint64) (l, h uint64) {
	if s.r.IntN(2) == 0 {
		c := convergent(e, s.r.IntN(40))
		if c.Num().IsUint64() && c.Num().Uint64() <= most {
			return c.Denom().Uint64(), c.Num().Uint64()
		}
	}
	l = s.r.Uint64() >> (2 + s.r.IntN(62))
	y := new(big.Rat).Mul(e, new(big.Rat).SetInt(new(big.Int).SetUint64(l)))
	f := new(big.Int).Quo(y.Num(), y.Denom())
	if !f.IsUint64() || f.Uint64() > most {
		return l, max(l, most)
	}
	return l, f.Uint64()
}

// convergent returns the n-th convergent of x, or the last one with a denominator below 2^128.
func convergent(x *big.Rat, n int) *big.Rat {
	x = new(big.Rat).Set(x)
	h0, h1, k0, k1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
	for ; n >= 0; n-- {
		a := new(big.Int).Quo(x.Num(), x.Denom())
		h2, k2 := new(big.Int).Add(new(big.Int).Mul(a, h1), h0), new(big.Int).Add(new(big.Int).Mul(a, k1), k0)
		if k2.BitLen() > 128 {
			break
		}
		h0, h1, k0, k1 = h1, h2, k1, k2
		if x.Sub(x, new(big.Rat).SetInt(a)); x.Sign() == 0 {
			break
		}
		x.Inv(x)
	}
	return new(big.Rat).SetFrac(h1, k1)
}

// logarithm returns ln(h/l) to about 700 bits, for l < h < 4l: 2 artanh((h-l)/(h+l)), by its series.
func logarithm(l, h uint64) *big.Rat {
	one := new(big.Int).Lsh(big.NewInt(1), 720)
	d, t := new(big.Int).SetUint64(h-l), new(big.Int).SetUint64(h+l)
	z := new(big.Int).Mul(one, d)
	z.Quo(z, t)
	sum, dd, tt := new(big.Int), new(big.Int).Mul(d, d), new(big.Int).Mul(t, t)
	for n := int64(1); z.Sign() > 0; n += 2 {
		sum.Add(sum, new(big.Int).Quo(z, big.NewInt(n)))
		z.Mul(z, dd).Quo(z, tt)
	}
	return new(big.Rat).SetFrac(sum.Lsh(sum, 1), one)
}

// hard adds a box whose eps is a rational so near to ln(h/l) that e^eps l differs from h by some 2^-200: the first
// precision of 256 bits, of which the fast comparison keeps 128, does not tell.
func (s *suite) hard() {
	l := 1 + s.r.Uint64()>>(4+s.r.IntN(60))
	h := l + 1 + s.r.Uint64N(2*l)
	eps := convergent(logarithm(l, h), 1+s.r.IntN(100))
	shift := s.r.IntN(bits.LeadingZeros64(h) - 1)
	l, h = l<<shift, h<<shift+uint64(s.r.IntN(3))-1
	b := bits.Len64(h)
	lo, hi := []uint64{l, 0}, []uint64{h, 0}
	if s.r.IntN(4) > 0 { // a second column that takes the rest
		lo[1] = 1<<b - l
		hi[1] = lo[1]
	}
	got := verdict(s, eps.String(), lo, hi, b)
	s.hards[got]++
	s.add(got, "box %s %d %s %s", eps.String(), b, list(lo), list(hi))
}

// box adds a box: columns near ties, sums next to 2^B or far above 2^64.
func (s *suite) box() {
	text, b := s.epsilon(), 1+s.r.IntN(62)
	e, _ := exponential(text)
	kv := 1 + s.r.IntN(5)
	total := uint64(1) << b
	lo, hi := make([]uint64, kv), make([]uint64, kv)
	for j := range lo {
		lo[j], hi[j] = s.tie(e, total)
		if s.r.IntN(3) == 0 {
			hi[j] += uint64(s.r.IntN(3)) - 1
			s.nearTies++
		}
		lo[j] = min(lo[j], total)
	}
	switch s.r.IntN(8) {
	case 0: // sum lo = 2^B or one off
		rest := total + uint64(s.r.IntN(3)) - 1
		for j := range lo[1:] {
			lo[j] = min(lo[j], rest)
			rest -= lo[j]
			hi[j] = max(hi[j], lo[j])
		}
		lo[kv-1], hi[kv-1] = rest, max(rest, hi[kv-1])
	case 1: // sum hi = 2^B or one off, in columns of equal bounds
		rest := total + uint64(s.r.IntN(3)) - 1
		for j := range lo {
			v := s.r.Uint64N(rest + 1)
			if j == kv-1 {
				v = rest
			}
			lo[j], hi[j], rest = v, v, rest-v
		}
	case 2: // sums that are small modulo 2^64
		b = 60 + s.r.IntN(3)
		total = 1 << b
		kv = 4<<(62-b) + s.r.IntN(4)
		lo, hi = make([]uint64, kv), make([]uint64, kv)
		for j := range lo {
			lo[j], hi[j] = total, total
			if s.r.IntN(6) == 0 {
				lo[j] -= uint64(s.r.IntN(3))
			}
		}
		s.wrapped++
	case 3: // numbers at the ends of a word
		hi[s.r.IntN(kv)] = math.MaxUint64 - s.r.Uint64N(3)
		if s.r.IntN(2) == 0 {
			lo[s.r.IntN(kv)] = math.MaxUint64 - s.r.Uint64N(3)
		}
	case 4:
		b = []int{0, 63, 64, 127, b, b}[s.r.IntN(6)]
		if s.r.IntN(3) == 0 {
			text = "1/2" // the program looks at columns first, Go at the text of epsilon
			hi = hi[:kv-1]
			if s.r.IntN(2) == 0 {
				lo = nil
			}
		}
	}
	got := verdict(s, text, lo, hi, b)
	s.verdicts[strings.Fields(got)[0]+map[bool]string{true: " sum"}[strings.HasSuffix(got, "sum")]]++
	s.add(got, "box %s %d %s %s", text, b, list(lo), list(hi))
}

// valid returns a box from a base measure.
func (s *suite) valid() *ldp.Polytope {
	for {
		eps, err := ldp.ParseEpsilon(s.epsilon())
		if err != nil {
			continue
		}
		m := make([]float64, 1+s.r.IntN(10))
		sum := 0.0
		for j := range m {
			m[j] = s.r.ExpFloat64()
			if s.r.IntN(6) == 0 {
				m[j] = 0
			}
			sum += m[j]
		}
		for j := range m {
			m[j] /= sum
		}
		if p, err := ldp.NewPolytope(eps, m, []int{4, 8, 10, 32, 53, 61, 62}[s.r.IntN(7)]); err == nil {
			return p
		}
	}
}

// proposal draws floats: of any bits, or near the box.
func (s *suite) proposal(p *ldp.Polytope) []float64 {
	q := make([]float64, s.r.IntN(p.Len()+2))
	if s.r.IntN(4) > 0 {
		q = make([]float64, p.Len())
	}
	lo, hi := p.Bounds()
	for j := range q {
		switch s.r.IntN(10) {
		case 0:
			q[j] = math.Float64frombits(s.r.Uint64())
		case 1:
			q[j] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 2, math.Nextafter(2, 0),
				math.SmallestNonzeroFloat64, 1, -1, math.MaxFloat64}[s.r.IntN(11)]
		case 2:
			q[j] = math.Float64frombits(s.r.Uint64N(0x4010 << 48))
		default:
			if j < p.Len() {
				q[j] = lo[j] + (hi[j]-lo[j])*(1.2*s.r.Float64()-0.1)
			}
		}
	}
	return q
}

func (s *suite) round() {
	p := s.valid()
	lo, hi := bounds(p)
	q := s.proposal(p)
	pattern := make([]uint64, len(q))
	for j, v := range q {
		pattern[j] = math.Float64bits(v)
	}
	s.add(list(units(p.Round(q))), "round %d %s %s %s", p.Bits(), list(lo), list(hi), list(pattern))
}

// row adds numbers for the gate: a point, or one that is a unit out, wraps, or has another length.
func (s *suite) row() {
	p := s.valid()
	lo, hi := bounds(p)
	n := units(p.Round(s.proposal(p)))
	i, j := s.r.IntN(len(n)), s.r.IntN(len(n))
	switch s.r.IntN(6) {
	case 0:
		n[i]++
	case 1:
		n[i]--
	case 2:
		n[i], n[j] = n[i]+1, n[j]-1
	case 3:
		n[i] = []uint64{lo[i] - 1, hi[i] + 1, math.MaxUint64, 0}[s.r.IntN(4)]
	case 4:
		if s.r.IntN(4) == 0 {
			n = n[:len(n)-1]
		}
	}
	want := "inside"
	if _, err := p.Weights(n); err != nil {
		want = "outside"
	}
	s.rows[want]++
	s.add(want, "row %d %s %s %s", p.Bits(), list(lo), list(hi), list(n))
}

func (s *suite) sample() {
	p := s.valid()
	w := p.Round(s.proposal(p))
	n, y := units(w), s.r.Uint64()
	if s.r.IntN(2) == 0 { // next to a cumulative sum
		y = s.r.Uint64N(3) - 1
		for _, v := range n[:s.r.IntN(len(n)+1)] {
			y += v
		}
	}
	word := make([]byte, 8)
	binary.LittleEndian.PutUint64(word, y)
	size := (p.Bits() + 7) / 8
	clear(word[size:])
	j, err := w.Sample(bytes.NewReader(word[:size]))
	if err != nil {
		s.Fatal(err)
	}
	s.add(strconv.Itoa(j), "sample %d %s %d", p.Bits(), list(n), binary.LittleEndian.Uint64(word))
}

// fill adds a row of version 2, for a threshold that may be any output.
func (s *suite) fill() {
	p := s.valid()
	kv := p.Len()
	out := make([]int32, kv)
	for j := range out {
		out[j] = int32(s.r.IntN(8)) // with ties
		if s.r.IntN(4) == 0 {
			out[j] = int32(s.r.Uint32()) / 2
		}
	}
	in := []int32{out[0], int32(s.r.IntN(8))}
	g := &policy.Geometry{Kind: policy.Points, Axes: 1, InputPoints: in, OutputPoints: out}
	fit, err := (&ranking.Ranking{Geometry: *g}).Thresholds(s.Context(), p)
	if err != nil {
		s.Fatal(err)
	}
	thresholds := []int32{fit[0], int32(s.r.IntN(kv))}
	pol, err := policy.New(policy.Config{Polytope: p, Geometry: g, Thresholds: thresholds,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		s.Fatal(err)
	}
	lo, hi := bounds(p)
	fallback := list(units(pol.Fallback()))
	for i, t := range thresholds {
		w, err := pol.Row(i)
		if err != nil {
			s.Fatal(err)
		}
		keys := make([]uint64, kv)
		for j := range keys {
			d := int64(g.InputPoints[i]) - int64(out[j])
			keys[j] = uint64(d * d)
		}
		n := list(units(w))
		if t != fit[i] && n == fallback {
			s.fallbacks++
		}
		s.add(n, "fill %d %s %s %s %s %d 1", p.Bits(), list(lo), list(hi), list(keys), fallback, t)
	}
}

// TestExtracted compares Go with the program that is extracted from the proofs, on 100,000 cases.
func TestExtracted(t *testing.T) {
	path := extracted(t)
	s := &suite{TB: t, r: rand.New(rand.NewPCG(19, 3))}
	s.verdicts, s.hards, s.rows = map[string]int{}, map[string]int{}, map[string]int{}
	for range 50000 {
		s.box()
	}
	for range 10000 {
		s.hard()
	}
	for range 15000 {
		s.round()
	}
	for range 10000 {
		s.row()
	}
	for range 10000 {
		s.sample()
	}
	for range 2500 {
		s.fill()
	}
	t.Logf("boxes %v, %d columns next to a tie, %d sums above 2^64; hard ones %v; rows %v; %d thresholds that do not fit",
		s.verdicts, s.nearTies, s.wrapped, s.hards, s.rows, s.fallbacks)
	for _, v := range []string{"accepted", "no", "epsilon", "bits", "order", "top", "loss", "low sum", "high sum"} {
		if s.verdicts[v] < 100 {
			t.Errorf("%d boxes with the verdict %q, want 100: the cases are too weak", s.verdicts[v], v)
		}
	}
	if s.hards["accepted"] < 500 || s.hards["loss 0"] < 500 {
		t.Errorf("hard boxes %v: the cases are too weak", s.hards)
	}
	if s.rows["inside"] < 1000 || s.rows["outside"] < 1000 || s.fallbacks < 100 {
		t.Errorf("rows %v, %d fallbacks: the cases are too weak", s.rows, s.fallbacks)
	}
	cmd := exec.Command(path)
	cmd.Stdin = &s.in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	s.compare(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
}

// compare holds the program's answers against Go's.
func (s *suite) compare(got []string) {
	if len(got) != len(s.want) {
		s.Fatalf("%d answers to %d cases", len(got), len(s.want))
	}
	bad := 0
	for n, want := range s.want {
		if got[n] != want && !(want == "epsilon" && strings.HasPrefix(got[n], "refused (epsilon")) {
			if bad++; bad <= 10 {
				s.Errorf("%s: the proofs' program says %s, Go %s", s.lines[n], got[n], want)
			}
		}
	}
	s.Logf("%d cases, %d differ", len(got), bad)
}

// TestExtractedPolicies compares the verdicts on policy files: those of package policy's tests, and each of them with
// one number changed by a unit.
func TestExtractedPolicies(t *testing.T) {
	path := extracted(t)
	files, err := filepath.Glob("../policy/testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var names []string
	var want []bool
	accepted, refused := 0, 0
	write := func(text []byte) {
		name := filepath.Join(dir, fmt.Sprintf("%d.json", len(names)))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := policy.Decode(text)
		names, want = append(names, name), append(want, err == nil)
		if err == nil {
			accepted++
		} else {
			refused++
		}
	}
	number := regexp.MustCompile(`"[0-9]+"`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Decode(text); err != nil {
			continue // no policy
		}
		write(text)
		at := bytes.Index(text, []byte("\n\"lo\":"))
		for _, span := range number.FindAllIndex(text[at:], 40) {
			span := []int{at + span[0] + 1, at + span[1] - 1}
			v, err := strconv.ParseUint(string(text[span[0]:span[1]]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range []uint64{v - 1, v + 1} {
				write(slices.Concat(text[:span[0]], strconv.AppendUint(nil, u, 10), text[span[1]:]))
			}
		}
	}
	if accepted < 8 || refused < 50 {
		t.Fatalf("%d files accepted by Go, %d refused: the cases are too weak", accepted, refused)
	}
	out, err := exec.Command(path, names...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		t.Fatalf("%d answers to %d files", len(lines), len(names))
	}
	for n, line := range lines {
		if strings.HasPrefix(line, "accepted") != want[n] {
			text, _ := os.ReadFile(names[n])
			_, err := policy.Decode(text)
			t.Errorf("the proofs' program says %s, Go %v of\n%s", line, err, text)
		}
	}
	t.Logf("%d files, %d accepted", len(names), accepted)
}

// TestExtractedSizes: a size, a length or a number of lines beyond the limits is refused before anything is as long as
// it says. The program has 512 MB.
func TestExtractedSizes(t *testing.T) {
	path := extracted(t)
	text, err := os.ReadFile("../policy/testdata/ring2.json")
	if err != nil {
		t.Fatal(err)
	}
	with := func(member, value string) string {
		pattern := regexp.MustCompile(`\n"` + member + `":[^\n]*,\n`)
		if !pattern.Match(text) {
			t.Fatalf("no member %s", member)
		}
		return string(pattern.ReplaceAllLiteral(text, []byte("\n\""+member+"\":"+value+",\n")))
	}
	many := strings.Repeat("1,", 8<<20)
	refusedSoon(t, path, map[string]string{
		"outputs": with("outputs", "4294967296"), "more-outputs": with("outputs", "1000000000000000"),
		"inputs": with("inputs", "4294967296"), "most-outputs": with("outputs", "1048577"),
		"bits": with("bits", "1000000000000000"), "eps": with("epsilon", `"1.`+strings.Repeat("3", 8<<20)+`"`),
		"fraction": with("epsilon", `"`+strings.Repeat("3", 4<<20)+"/"+strings.Repeat("7", 4<<20)+`"`),
		"lo":       with("lo", `"`+strings.Repeat("1", 8<<20)+`"`), "list": with("lo", "["+many+"1]"),
		"commas": with("lo", "["+strings.Repeat(",", 16<<20)+"]"), "lines": string(text) + strings.Repeat("\n", 16<<20),
		"fallback": with("fallback", `{"full":[`+many+`1],"extra":[]}`),
	})
}

// refusedSoon holds that the program refuses all texts, within a minute and 512 MB.
func refusedSoon(t *testing.T, path string, texts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range texts {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a hang
		out, err := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 524288; WPM_PROOFS_STACK=1 exec "$0" "$1"`, path, file).Output()
		cancel()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(string(out), "refused (") ||
			strings.Contains(string(out), "memory") || strings.Contains(string(out), "overflow") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

// codesText is the text of a policy for k places, with a code of n colours and a disc; with one of them alone if n is 0, or
// disc false.
func codesText(t *testing.T, k, n int, disc bool) string {
	t.Helper()
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	const bits = 62
	weight := uint64(1) << bits
	var codes []policy.Code
	if n > 0 {
		if disc {
			weight /= 2
		}
		color := make([]int32, k)
		for i := range color {
			color[i] = int32((i + 1) % n)
		}
		packed, err := policy.PackColors(color, n)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, policy.Code{Weight: weight, Low: weight / uint64(n), Colors: n, Packed: packed})
	}
	cfg := policy.Config{
		Inputs: k, Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
		Metadata: map[string]string{"seed": "1"},
	}
	if disc {
		low := weight / uint64(k) / 2
		thresholds := make([]int32, k)
		for i := range thresholds {
			thresholds[i] = int32((i + k/4) % k)
		}
		codes = append(codes, policy.Code{Weight: weight, Low: low, High: 3 * low, Thresholds: thresholds})
		cfg.Geometry = &policy.Geometry{Kind: policy.Ring}
	}
	if cfg.Polytope, err = policy.CodesBox(eps, bits, k, codes); err != nil {
		t.Fatal(err)
	}
	cfg.Codes = codes
	p, err := policy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExtractedCodesSizes: a number of places, of colours or of components beyond the limits, and lists that are too long,
// are refused before anything is as long as they say. With WPM_FULL=1 the largest code and the largest disc are accepted,
// which takes half a minute.
func TestExtractedCodesSizes(t *testing.T) {
	path := extracted(t)
	text := codesText(t, 8, 4, true)
	with := func(from, to string) string {
		if strings.Count(text, from) != 1 {
			t.Fatalf("%s is there %d times in\n%s", from, strings.Count(text, from), text)
		}
		return strings.Replace(text, from, to, 1)
	}
	code := regexp.MustCompile(`(?m)^\{"weight".*"colors".*$`).FindString(text)
	packed := regexp.MustCompile(`"color":"[^"]*"`).FindString(text)
	thresholds := regexp.MustCompile(`"thresholds":\[[^]]*\]`).FindString(text)
	if code == "" || thresholds == "" {
		t.Fatal(text)
	}
	refusedSoon(t, path, map[string]string{
		"colours": with(`"colors":4`, `"colors":1000000000000000`), "more-colours": with(`"colors":4`, `"colors":4294967296`),
		"most-colours": with(`"colors":4`, `"colors":1048577`), "inputs": with(`"inputs":8`, `"inputs":1048577`),
		"outputs": with(`"outputs":12`, `"outputs":1048577`),
		"color":   with(packed, `"color":"`+strings.Repeat("A", 16<<20)+`"`),
		"weight":  with(`"colors":4`, `"colors":`+strings.Repeat("4", 8<<20)),
		"list":    with(thresholds, `"thresholds":[`+strings.Repeat("1,", 8<<20)+`1]`),
		"codes":   with(code, strings.Repeat(code+"\n", 500_000)+code),
	})
	whole := map[string]string{"small": text}
	if numtest.Full() {
		whole["code"] = codesText(t, policy.MaxInputs, policy.MaxOutputs, false)
		whole["disc"] = codesText(t, policy.MaxInputs, 0, true)
	}
	for name, text := range whole {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // of a hang
		out, err := exec.CommandContext(ctx, path, file).Output()
		cancel()
		if err != nil || !strings.HasPrefix(string(out), "accepted") {
			t.Errorf("%s: %v, %.400s", name, err, out)
		}
	}
}
