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
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/parallel"
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
		"        | {\"kind\":\"points\",\"x\":[[...]],\"v\":[[...]],\"p\":2} | {\"kind\":\"cosine\",...} | {\"kind\":\"greatcircle\",\"x\":[[lat,lon],...],\"p\":1}\n" +
		"        | {\"kind\":\"npy\",\"path\":\"C.npy\"} (with -files DIR) | the name of a cost that a line before has defined\n"
	boxFields = "  lo, hi, or m and eps (0 to 700): the box, lo <= q <= hi with lo = e^(-eps/2) m, hi = e^(eps/2) m;\n" +
		"        or box, the name of one that a line before has defined\n"
)

// kinds are those that need a solver alone. What estimate needs as well is not linked where no one refers to it: see
// RunSolvers.
var kinds = map[string]kind{
	"project": {solveProject, certificate.Projection, "project a distribution onto a box, exactly, with a proof",
		"in:\n" + costField + "  mu    [k numbers] or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" + boxFields +
			"out: q, objective, distance, upper, lower, upper_exact, lower_exact, potentials, plan, seconds"},
	"entropic": {solveEntropic, certificate.Entropic,
		"project a distribution onto a box with an entropic cost, with bounds on the exact problem",
		"in:\n" + costField + "  mu    [k numbers] or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" + boxFields +
			"  reg (in units of the cost, at least 1e-9 of its range), method (fast, the default, or paper)\n" +
			"  gap (stop where upper - lower <= gap upper; with method fast and reg 0, it chooses reg, which is in the answer)\n" +
			"  tol (L1 residual, default 1e-12, or none with gap)\n" +
			"  iterations (limit, default 1e7: paper can need them all where reg is small)\n" +
			"out: status converged, iterations, reg (too large for the gap) or cancelled (q and the bounds hold in any case); q, transport, objective, upper, lower, iterations, residual, bound, potentials, log_v, seconds"},
	"transport": {solveTransport, certificate.Transport, "the distance between two distributions, exactly, with a proof",
		"in:\n" + costField + "  source, target, or a, b  [k numbers] and [kv numbers], or {\"index\":[...],\"weight\":[...]} in any order, sum 1\n" +
			"out: objective, distance, upper, lower, upper_exact, lower_exact, potentials, plan, seconds"},
	"units": {solveUnits, certificate.Units,
		"project whole units into a box of whole units, exactly, with a proof in fractions",
		"in:\n" + costField + "  source  [k integers] or {\"index\":[...],\"units\":[...]} in any order\n" +
			"  lo, hi  integers for each column, or box, the name of one that a line before has defined\n" +
			"out: q, objective (of the units over their number), distance, upper_exact, lower_exact, f, g, plan, seconds"},
	"flow": {solveFlow, certificate.Flow, "minimum-cost flow in a directed graph, in integers, with a proof",
		"in:\n  nodes   how many; they count from 0\n" +
			"  arcs    [[from,to,lower,capacity,cost], ...]; \"-inf\" for lower and \"inf\" for capacity mean no bound\n" +
			"  supply  [nodes integers], sum 0\n" +
			"out: status (optimal, infeasible or unbounded), objective (a string), flow of each arc, pivots, seconds; as the proof\n" +
			"     potentials, or cut (nodes), or cycle [[arc, 1 or -1 for backwards], ...]"},
	"hilbert": {solveHilbert, "", "Hilbert's distance, or the diameter and contraction of a Gibbs kernel",
		"in:\n  x, y, or reg and\n" + costField + "out: distance, or diameter, tau, one_minus_tau, seconds"},
	"phi": {solvePhi, "", "the cost of every point mass: phi, tau, worst case, subgradient",
		"in:\n" + costField + boxFields + "out: phi, tau, f, argmax, subgradient (with m and eps), seconds"},
	"kpm": {solveKPM, certificate.KPM, "the KL projection mechanism",
		"in:\n  mu, eps\nout: q, r, seconds"},
	"round": {solveRound, "", "the integer box of a base measure, and a distribution rounded into it",
		"in:\n  m, eps (a string, exact), bits (1 to 62), q\nout: lo, hi, weights (decimal strings), verified, seconds"},
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

const estimateName = "estimate"

var estimateKind = kind{solveEstimate, "", "a map of the population from counts of releases",
	"A mechanism in mixture mode has k inputs, where the population is, and kv outputs, which releases name.\n" +
		"Example:\n" +
		"   echo '{\"cost\":{\"kind\":\"grid\",\"rows\":1,\"cols\":3,\"p\":1},\"m\":[0.4,0.4,0.4],\"eps\":\"2\",\"counts\":[60,30,10]}' \\\n" +
		"   | wpm solve estimate\n" +
		"in:\n" + costField + "  m          [kv numbers], the base measure, mass e^(-eps/2) to e^(eps/2); eps (a string, exact);\n" +
		"             bits (1 to 62, default 62): weights of a row are integers that sum to 2^bits\n" +
		"  or policy  the text of the file, in place of cost, m, eps and bits\n" +
		"  counts     [kv whole numbers], how many releases there are of each output\n" +
		"  prior      [k numbers], public, a guess at the map, in any unit (default: all the same)\n" +
		"  epochs     [{epoch, counts}], in place of counts, groups and estimator: a map of each epoch, in the order of time,\n" +
		"             by its releases and those before it; number, a whole one, where epochs are absent in between;\n" +
		"             regions [[k weights]], level: what has changed from the first to the last\n" +
		"  groups     true adds groups: the parts of the map that the counts tell apart, each with its interval\n" +
		"  estimator  " + atlas.Estimators + "; default map, or em if the cost has no distances between inputs\n" +
		"out: estimator, map [k], the shares of the population by it, sum 1 (null with a reason for a policy of projection\n" +
		"     mode, which does not identify it, and for raw of other points), raw [kv]: the counts as shares, seconds;\n" +
		"     where the cost has distances between inputs, of any estimator: map_error {expected, within90, guess}: how far\n" +
		"     the truth is from the map on average, and in nine of ten cases at most, and from the guess on average, by draws\n" +
		"     of the posterior of the estimator map, in the unit of distances; information: much, little or none, what the\n" +
		"     counts know; verdict: confirm or change, what they say of the guess;\n" +
		"     of the estimator map: models [{length, roughness, weight}], which the map is an average of, by weight: length\n" +
		"     in the unit of distances, roughness the standard deviation of the map's logarithm, 0 for the guess; and signal:\n" +
		"     none, weak or ok, whether the map is better than the guess; a model with smooth true is of smooth maps;\n" +
		"     of epochs: epochs [{epoch, map, rate, worth, drift, map_error, information, verdict}]: what a release counts for\n" +
		"     that is an epoch older, how many of this epoch would say as much, and the part of the error that is due to\n" +
		"     older ones; with regions, changes [{lower, upper, known}] of their shares;\n" +
		"     of mle: gap, at most what the logarithm of the likelihood per release could still rise;\n" +
		"     where places share a row with others: patch [k], the places of one number are told apart by no number of releases"}

// find returns the kind of a name, the zero kind if there is none.
func find(name string) kind {
	if name == estimateName {
		return estimateKind
	}
	return kinds[name]
}

// Summary says in a line what a kind is.
func Summary(name string) string { return find(name).summary }

// Fields lists what a kind reads and writes.
func Fields(name string) string { return find(name).fields }

// Kinds returns the kinds of problem that Run answers, sorted.
func Kinds() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(kinds)), estimateName)))
}

// Certificate returns the kind of certificate that answers of a kind of problem have, or "".
func Certificate(name string) certificate.Kind { return find(name).certificate }

// Settings say what an answer has beside its fields. The zero value: nothing.
type Settings struct {
	// Certificate adds the field certificate, the object that certificate.Encode writes, byte for byte. A line whose
	// answer cannot be proved is answered by an error. What it takes does not count in seconds.
	Certificate bool
	// Files is the folder below which lines may name files, "" for none: costs {"kind":"npy","path":"C.npy"}.
	Files string
	// ReadNPY reads those files: costio.ReadNPY. Nil means that none can be read.
	ReadNPY func(r io.Reader, name string) (*cost.Dense, error)
	// Costs have names that lines may use, as if a line before had defined them. They must be valid (cost.Validate).
	Costs map[string]*cost.Dense
	// Progress, if not nil, is called with the steps done and all steps of an estimate, never concurrently for one line.
	Progress func(done, total int)
}

// check refuses settings that the kind does not have, and kinds that there are not.
func (s Settings) check(name string, k kind) error {
	switch {
	case k.solve == nil:
		return fmt.Errorf("%w %q: want one of %s", ErrKind, name, strings.Join(Kinds(), ", "))
	case s.Certificate && k.certificate == "":
		return fmt.Errorf("%w: %s", ErrCertificate, name)
	}
	return nil
}

// Run answers every line of r on w, as many at a time as there are processors, in order. It returns how many lines were
// answered and how many of those by an error object; err is for a kind or settings that there are not, before anything
// is read, for a reader or a writer that fails, or for a context that ends.
func Run(ctx context.Context, kind string, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	return newSession(kind, s).run(ctx, s, r, w)
}

// RunSolvers is Run for all kinds but estimate. A program that calls it alone is smaller by what estimate needs.
func RunSolvers(ctx context.Context, kind string, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	if kinds[kind].solve == nil {
		return 0, 0, fmt.Errorf("%w %q: want one of %s", ErrKind, kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return sessionOf(kind, kinds[kind], s).run(ctx, s, r, w)
}

func (shared *session) run(ctx context.Context, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	if err := s.check(shared.kind, shared.of); err != nil {
		return 0, 0, err
	}
	in := bufio.NewReaderSize(r, 1<<16)
	out := bufio.NewWriterSize(w, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3) // a byte order mark
	}
	var batch [][]byte
	// Some lines for each processor: what they take differs. No more, for their answers are held.
	most := 4 * runtime.GOMAXPROCS(0)
	for {
		if err := ctx.Err(); err != nil {
			return lines, bad, errors.Join(err, out.Flush())
		}
		line, rerr := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			batch = append(batch, line)
		}
		// A caller in a dialogue waits for the answer: go on only if a whole line is at hand.
		rest, _ := in.Peek(in.Buffered())
		alone := bytes.IndexByte(rest, '\n') < 0
		if alone || rerr != nil || len(batch) == most || mayDefine(line) {
			n, failed, err := shared.answerAll(ctx, s, batch, out)
			if lines, bad, batch = lines+n, bad+failed, batch[:0]; err != nil {
				return lines, bad, errors.Join(err, out.Flush())
			}
		}
		if alone || rerr != nil {
			if err := out.Flush(); err != nil {
				return lines, bad, err
			}
		}
		if rerr == io.EOF {
			return lines, bad, nil
		}
		if rerr != nil {
			return lines, bad, rerr
		}
	}
}

// mayDefine says whether a line may have the field define; a backslash may hide it.
func mayDefine(line []byte) bool {
	return bytes.Contains(line, []byte(`"define"`)) || bytes.Contains(line, []byte(`\u`))
}

// answerAll answers lines of which only the last may define a name, and writes the answers in order.
func (s *session) answerAll(ctx context.Context, settings Settings, batch [][]byte, w io.Writer) (lines, bad int,
	err error) {
	answers, ok := make([][]byte, len(batch)), make([]bool, len(batch))
	task := func(i int) { answers[i], ok[i] = s.answer(ctx, settings, batch[i]) }
	n := len(batch)
	if n > 0 && mayDefine(batch[n-1]) {
		n--
	}
	if err = parallel.For(ctx, n, task); err == nil && n < len(batch) {
		task(n)
	}
	for i, answer := range answers {
		if answer == nil {
			break // the context has ended
		}
		lines++
		if !ok[i] {
			bad++
		}
		if _, err := w.Write(append(answer, '\n')); err != nil {
			return lines, bad, err
		}
	}
	return lines, bad, err
}

// Answer answers one line. ok is false when the answer is an error object.
func Answer(ctx context.Context, kind string, s Settings, line []byte) (answer []byte, ok bool) {
	return newSession(kind, s).answer(ctx, s, line)
}

// Solve is Answer for callers who want the error itself.
func Solve(ctx context.Context, kind string, s Settings, line []byte) (answer []byte, err error) {
	in, body, err := newSession(kind, s).try(ctx, s, line)
	if err != nil {
		return nil, err
	}
	return withID(in, body), nil
}

func (s *session) answer(ctx context.Context, settings Settings, line []byte) (answer []byte, ok bool) {
	in, body, err := s.try(ctx, settings, line)
	if err != nil {
		body, _ = marshal(struct {
			Error string `json:"error"`
		}{oneLine(err.Error())})
	}
	return withID(in, body), err == nil
}

// try answers one line, without its id. The object is there with an error, too.
func (s *session) try(ctx context.Context, settings Settings, line []byte) (in *object, body []byte, err error) {
	in, err = parseObject(line)
	if serr := settings.check(s.kind, s.of); serr != nil {
		err = serr
	}
	in.shared, in.certified = s, settings.Certificate
	switch {
	case err != nil:
	case in.has("define"):
		var res any
		if res, err = s.define(ctx, in); err == nil {
			body, err = marshal(res)
		}
	default:
		body, err = s.solve(ctx, settings, in)
	}
	return in, body, err
}

func (s *session) solve(ctx context.Context, settings Settings, in *object) (body []byte, err error) {
	if in.want, err = readWant(in); err != nil {
		return nil, err
	}
	var clock stopwatch
	res, err := s.of.solve(ctx, in, &clock)
	if err != nil {
		return nil, err
	}
	body, err = encode(res, in.want, clock.total)
	if err == nil && settings.Certificate {
		body, err = certify(res, body)
	}
	return body, err
}

// encode writes the answer's fields and then seconds; of these, what is wanted.
func encode(res any, want []string, d time.Duration) ([]byte, error) {
	var body []byte
	var err error
	if want == nil {
		body, err = marshal(res)
	} else {
		body, err = marshalSome(res, want)
	}
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte(`"nan"`)) {
		return nil, errors.New("the solver returned a NaN: please report this input")
	}
	if body = body[:len(body)-1]; want == nil || slices.Contains(want, "seconds") {
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = appendNumber(append(body, `"seconds":`...), d.Seconds())
	}
	return append(body, '}'), nil
}

// marshalSome writes those fields of the answer, a struct, that want names, in the order of the struct. One that this
// answer leaves out stays out.
func marshalSome(res any, want []string) ([]byte, error) {
	v := reflect.ValueOf(res)
	body, known := []byte{'{'}, []string{"seconds"}
	for n := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(n).Tag.Get("json"), ",")
		if name == "" {
			continue // the evidence
		}
		known = append(known, name)
		f := v.Field(n)
		if !slices.Contains(want, name) ||
			option == "omitempty" && (f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0) {
			continue
		}
		text, err := marshal(f.Interface())
		if err != nil {
			return nil, err
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(append(append(append(body, '"'), name...), `":`...), text...)
	}
	for _, name := range want {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("field %q: %q is not a field of this answer; these are: %s", "want", name,
				strings.Join(known, ", "))
		}
	}
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
	if body = body[:len(body)-1]; len(body) > 1 {
		body = append(body, ',')
	}
	body = append(body, `"certificate":`...)
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
	if len(body) > len("{}") {
		out = append(out, ',')
	}
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
