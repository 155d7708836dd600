package machine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/internal/atlas"
)

// ErrKind says that the kind of problem is not one of Kinds.
var ErrKind = errors.New("unknown kind")

// ErrCertificate says that the answers of a kind have no certificate.
var ErrCertificate = errors.New("answers of this kind have no certificate")

// solver answers one object: it reads the fields it knows, and returns what to write.
type solver func(ctx context.Context, in *object, clock *stopwatch) (answer any, err error)

// kind is one kind of problem, with its page of help.
type kind struct {
	solve           solver
	certificate     certificate.Kind // of its answers, "" if they have none
	summary, fields string
}

// evidence is part of an answer whose kind has a certificate: it makes the certificate.
type evidence func() (certificate.Certificate, error)

func (e evidence) certify() (certificate.Certificate, error) { return e() }

const (
	costField = "  cost  {\"kind\":\"explicit\",\"C\":[[...]]} | {\"kind\":\"ring\",\"n\":30,\"p\":2} | {\"kind\":\"grid\",\"rows\":20,\"cols\":20,\"p\":1}\n" +
		"        | {\"kind\":\"points\",\"x\":[[...]],\"v\":[[...]],\"p\":2} | {\"kind\":\"cosine\",...} | {\"kind\":\"greatcircle\",\"x\":[[lat,lon],...],\"p\":1}\n"
	boxFields = "  lo, hi, or m and eps (0 to 700): the box, lo <= q <= hi with lo = e^(-eps/2) m, hi = e^(eps/2) m\n"
)

var kinds = map[string]kind{
	"project": {solveProject, certificate.Projection, "project a distribution onto a box, exactly, with a proof",
		"in:\n" + costField + "  mu    [k numbers] or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" + boxFields +
			"out: q, objective, distance, upper, lower, upper_exact, lower_exact, potentials, plan, seconds"},
	"entropic": {solveEntropic, certificate.Entropic, "project a distribution onto a box with an entropic cost, with bounds on the exact problem",
		"in:\n" + costField + "  mu    [k numbers] or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" + boxFields +
			"  reg (in units of the cost, at least 1e-9 of its range), method (fast, the default, or paper)\n" +
			"  tol (L1 residual, default 1e-12), iterations (limit, default 1e7: paper can need them all where reg is small)\n" +
			"out: status converged, iterations or cancelled (q and the bounds hold in any case); q, transport, objective, upper, lower, iterations, residual, bound, potentials, log_v, seconds"},
	"transport": {solveTransport, certificate.Transport, "the distance between two distributions, exactly, with a proof",
		"in:\n" + costField + "  source, target  [k numbers] and [kv numbers], or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" +
			"out: objective, distance, upper, lower, upper_exact, lower_exact, potentials, plan, seconds"},
	"units": {solveUnits, certificate.Units, "project whole units into a box of whole units, exactly, with a proof in fractions",
		"in:\n" + costField + "  source  [k integers] or {\"index\":[...],\"units\":[...]} in any order\n" +
			"  lo, hi  integers for each column\n" +
			"out: q, objective (of the units over their number), distance, upper_exact, lower_exact, f, g, plan, seconds"},
	"hilbert": {solveHilbert, "", "Hilbert's distance, or the diameter and contraction of a Gibbs kernel",
		"in:\n  x, y, or reg and\n" + costField + "out: distance, or diameter, tau, one_minus_tau, seconds"},
	"phi": {solvePhi, "", "the cost of every point mass: phi, tau, worst case, subgradient",
		"in:\n" + costField + boxFields + "out: phi, tau, f, argmax, subgradient (with m and eps), seconds"},
	"kpm": {solveKPM, certificate.KPM, "the KL projection mechanism",
		"in:\n  mu, eps\nout: q, r, seconds"},
	"round": {solveRound, "", "the integer box of a base measure, and a distribution rounded into it",
		"in:\n  m, eps (a string, exact), bits (1 to 62), q\nout: lo, hi, weights (decimal strings), verified, seconds"},
	"estimate": {solveEstimate, "", "a map of the population from counts of releases",
		"A mechanism in mixture mode has k inputs, where the population is, and kv outputs, which releases name.\n" +
			"Example:\n" +
			"   echo '{\"cost\":{\"kind\":\"grid\",\"rows\":1,\"cols\":3,\"p\":1},\"m\":[0.4,0.4,0.4],\"eps\":\"2\",\"counts\":[60,30,10]}' \\\n" +
			"   | wpm solve estimate\n" +
			"in:\n" + costField + "  m          [kv numbers], the base measure, mass e^(-eps/2) to e^(eps/2); eps (a string, exact);\n" +
			"             bits (1 to 62, default 62): weights of a row are integers that sum to 2^bits\n" +
			"  or policy  the text of the file, in place of cost, m, eps and bits\n" +
			"  counts     [kv whole numbers], how many releases there are of each output\n" +
			"  prior      [k numbers], public, a guess at the map, in any unit (default: all the same)\n" +
			"  estimator  " + atlas.Estimators + "; default map, or em if the cost has no distances between inputs\n" +
			"out: estimator, map [k], the shares of the population by it, sum 1 (null with a reason for a policy of projection\n" +
			"     mode, which does not identify it, and for raw of other points), raw [kv]: the counts as shares, seconds;\n" +
			"     of the estimator map: models [{length, roughness, weight}], which the map is an average of, by weight: length\n" +
			"     in the unit of distances, roughness the standard deviation of the map's logarithm, 0 for the guess; and signal:\n" +
			"     none, weak or ok, whether the map is better than the guess;\n" +
			"     of mle: gap, at most what the logarithm of the likelihood per release could still rise"},
	"sphere": {solveSphere, certificate.Sphere, "the optimal base measure on the sphere S^d, with cost |x-y|^p",
		"in:\n  d (1 to 1e7), p (0.5 to 12), eps (1e-12 to 700)\nout: t, omt (1 - t), alpha, S, J, W, pin, pout, seconds"},
	"basemeasure": {solveBaseMeasure, certificate.BaseMeasure, "the base measure, with bounds on the worst case",
		"in:\n" + costField + "  eps (0 to 700)\n  method  solve (default), uniform (its best scale), or mirror (the paper's descent)\n" +
			"  gap     relative, for solve (default 1e-9)\n" +
			"  objective  worst (default), average, or mixed with t, the share of the worst case; input_weights [k]; exclude [inputs left out of the worst case]\n" +
			"  T       steps of mirror (default 10000, at most 1e8); rule: paper (default), repaired, sharp, adaptive\n" +
			"out: m, f, upper, lower, weights, thresholds, status, seconds; worst_case, mean, mass, nonzeros, pivots;\n" +
			"     with mirror steps, f_average, f_best, average, bound (proved), paper_bound (as printed; can be false)"},
}

// Summary says in a line what a kind is.
func Summary(name string) string { return kinds[name].summary }

// Fields lists what a kind reads and writes.
func Fields(name string) string { return kinds[name].fields }

// Kinds returns the kinds of problem that Run answers, sorted.
func Kinds() []string {
	return slices.Sorted(maps.Keys(kinds))
}

// Certificate returns the kind of certificate that answers of a kind of problem have, or "".
func Certificate(name string) certificate.Kind { return kinds[name].certificate }

// Settings say what an answer has beside its fields. The zero value: nothing.
type Settings struct {
	// Certificate adds the field certificate, the object that certificate.Encode writes, byte for byte. A line whose
	// answer cannot be proved is answered by an error. What it takes does not count in seconds.
	Certificate bool
}

// check refuses settings that the kind does not have, and kinds that there are not.
func (s Settings) check(name string) error {
	switch {
	case kinds[name].solve == nil:
		return fmt.Errorf("%w %q: want one of %s", ErrKind, name, strings.Join(Kinds(), ", "))
	case s.Certificate && kinds[name].certificate == "":
		return fmt.Errorf("%w: %s", ErrCertificate, name)
	}
	return nil
}

// Run answers every line of r on w. It returns how many lines were answered and how many of those by an
// error object; err is for a kind or settings that there are not, before anything is read, for a reader or a writer
// that fails, or for a context that ends.
func Run(ctx context.Context, kind string, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	if err := s.check(kind); err != nil {
		return 0, 0, err
	}
	in := bufio.NewReaderSize(r, 1<<16)
	out := bufio.NewWriterSize(w, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3) // a byte order mark
	}
	for {
		if err := ctx.Err(); err != nil {
			return lines, bad, errors.Join(err, out.Flush())
		}
		line, rerr := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			answer, ok := Answer(ctx, kind, s, line)
			lines++
			if !ok {
				bad++
			}
			if _, err := out.Write(append(answer, '\n')); err != nil {
				return lines, bad, err
			}
			// A caller in a dialogue waits for the answer: flush unless a whole line is at hand.
			if rest, _ := in.Peek(in.Buffered()); bytes.IndexByte(rest, '\n') < 0 {
				if err := out.Flush(); err != nil {
					return lines, bad, err
				}
			}
		}
		if rerr == io.EOF {
			return lines, bad, out.Flush()
		}
		if rerr != nil {
			return lines, bad, errors.Join(rerr, out.Flush())
		}
	}
}

// Answer answers one line. ok is false when the answer is an error object.
func Answer(ctx context.Context, kind string, s Settings, line []byte) (answer []byte, ok bool) {
	in, err := parseObject(line)
	if serr := s.check(kind); serr != nil {
		err = serr
	}
	var body []byte
	if err == nil {
		var res any
		var clock stopwatch
		if res, err = kinds[kind].solve(ctx, in, &clock); err == nil {
			body, err = encode(res, clock.total)
		}
		if err == nil && s.Certificate {
			body, err = certify(res, body)
		}
	}
	if err != nil {
		body, _ = marshal(struct {
			Error string `json:"error"`
		}{oneLine(err.Error())})
		return withID(in, body), false
	}
	return withID(in, body), true
}

// encode writes the answer's fields and then seconds.
func encode(res any, d time.Duration) ([]byte, error) {
	body, err := marshal(res)
	if err != nil {
		return nil, fmt.Errorf("the answer has no JSON form: %w", err)
	}
	if bytes.Contains(body, []byte(`"nan"`)) {
		return nil, errors.New("the solver returned a NaN: please report this input")
	}
	body = append(body[:len(body)-1], `,"seconds":`...)
	body = appendNumber(body, d.Seconds())
	return append(body, '}'), nil
}

// certify adds the certificate to the text of an answer.
func certify(res any, body []byte) ([]byte, error) {
	proved, ok := res.(interface {
		certify() (certificate.Certificate, error)
	})
	if !ok { // not possible: see Settings.check
		return nil, ErrCertificate
	}
	c, err := proved.certify()
	if err != nil {
		return nil, err
	}
	text, err := certificate.Encode(c)
	if err != nil {
		return nil, err
	}
	body = append(body[:len(body)-1], `,"certificate":`...)
	return append(append(body, text...), '}'), nil
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// withID puts the caller's id first.
func withID(in *object, body []byte) []byte {
	if in == nil || in.id == nil {
		return body
	}
	out := append([]byte(`{"id":`), in.id...)
	out = append(out, ',')
	return append(out, body[1:]...)
}

// oneLine makes a message of one line, cut where an input that it quotes is very long.
func oneLine(s string) string {
	const most = 400
	if len(s) > most {
		s = s[:most] + " ..."
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
}

// stopwatch adds up the time inside solvers, without parsing, verifying and printing.
type stopwatch struct {
	total time.Duration
}

func (s *stopwatch) run(f func() error) error {
	start := time.Now()
	err := f()
	s.total += time.Since(start)
	return err
}
