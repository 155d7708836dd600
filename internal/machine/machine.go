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
)

// ErrKind says that the kind of problem is not one of Kinds.
var ErrKind = errors.New("unknown kind")

// solver answers one object: it reads the fields it knows, and returns what to write.
type solver func(ctx context.Context, in *object, clock *stopwatch) (answer any, err error)

// kind is one kind of problem, with its page of help.
type kind struct {
	solve           solver
	summary, fields string
}

const (
	costField = "  cost  {\"kind\":\"explicit\",\"C\":[[...]]} | {\"kind\":\"ring\",\"n\":30,\"p\":2} | {\"kind\":\"grid\",\"rows\":20,\"cols\":20,\"p\":1}\n" +
		"        | {\"kind\":\"points\",\"x\":[[...]],\"v\":[[...]],\"p\":2} | {\"kind\":\"cosine\",...} | {\"kind\":\"greatcircle\",\"x\":[[lat,lon],...],\"p\":1}\n"
	boxFields = "  lo, hi, or m and eps (0 to 700): the box, lo <= q <= hi with lo = e^(-eps/2) m, hi = e^(eps/2) m\n"
)

var kinds = map[string]kind{
	"project": {solveProject, "project a distribution onto a box, exactly, with a proof",
		"in:\n" + costField + "  mu    [k numbers] or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" + boxFields +
			"out: q, objective, distance, upper, lower, upper_exact, lower_exact, potentials, plan, seconds"},
	"entropic": {solveEntropic, "project a distribution onto a box with an entropic cost, with bounds on the exact problem",
		"in:\n" + costField + "  mu    [k numbers] or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" + boxFields +
			"  reg (in units of the cost, at least 1e-9 of its range), method (fast, the default, or paper)\n" +
			"  tol (L1 residual, default 1e-12), iterations (limit, default 1e7: paper can need them all where reg is small)\n" +
			"out: status converged, iterations or cancelled (q and the bounds hold in any case); q, transport, objective, upper, lower, iterations, residual, bound, potentials, log_v, seconds"},
	"hilbert": {solveHilbert, "Hilbert's distance, or the diameter and contraction of a Gibbs kernel",
		"in:\n  x, y, or reg and\n" + costField + "out: distance, or diameter, tau, one_minus_tau, seconds"},
	"phi": {solvePhi, "the cost of every point mass: phi, tau, worst case, subgradient",
		"in:\n" + costField + boxFields + "out: phi, tau, f, argmax, subgradient (with m and eps), seconds"},
	"kpm": {solveKPM, "the KL projection mechanism",
		"in:\n  mu, eps\nout: q, r, seconds"},
	"round": {solveRound, "the integer box of a base measure, and a distribution rounded into it",
		"in:\n  m, eps (a string, exact), bits (1 to 62), q\nout: lo, hi, weights (decimal strings), verified, seconds"},
	"sphere": {solveSphere, "the optimal base measure on the sphere S^d, with cost |x-y|^p",
		"in:\n  d (1 to 1e7), p (0.5 to 12), eps (1e-12 to 700)\nout: t, omt (1 - t), alpha, S, J, W, pin, pout, seconds"},
	"basemeasure": {solveBaseMeasure, "the base measure, with bounds on the worst case",
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

// Run answers every line of r on w. It returns how many lines were answered and how many of those by an
// error object; err is for a reader, a writer or a kind that fails, or a context that ends.
func Run(ctx context.Context, kind string, r io.Reader, w io.Writer) (lines, bad int, err error) {
	if kinds[kind].solve == nil {
		return 0, 0, fmt.Errorf("%w %q: want one of %s", ErrKind, kind, strings.Join(Kinds(), ", "))
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
			answer, ok := Answer(ctx, kind, line)
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
func Answer(ctx context.Context, kind string, line []byte) (answer []byte, ok bool) {
	in, err := parseObject(line)
	if kinds[kind].solve == nil {
		err = fmt.Errorf("%w %q", ErrKind, kind)
	}
	var body []byte
	if err == nil {
		var res any
		var clock stopwatch
		if res, err = kinds[kind].solve(ctx, in, &clock); err == nil {
			body, err = encode(res, clock.total)
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
