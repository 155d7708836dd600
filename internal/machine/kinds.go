package machine

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/estimate/atlas"
)

const (
	costField = "  cost  {\"kind\":\"explicit\",\"C\":[[...]]} | {\"kind\":\"ring\",\"n\":30,\"p\":2} | {\"kind\":\"grid\",\"rows\":20,\"cols\":20,\"p\":1}\n" +
		"        | {\"kind\":\"points\",\"x\":[[...]],\"v\":[[...]],\"p\":2} | {\"kind\":\"cosine\",...} | " +
		"{\"kind\":\"greatcircle-2\",\"x\":[[lat,lon],...],\"p\":1}\n" +
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
		"  regions    without epochs [{region, weights {label: 0 to 1}}], level (default 0.9): shares with intervals. The labels\n" +
		"             are those of places, their numbers where they have none; of a policy of pairs those of either end\n" +
		"  groups     true adds groups: the parts of the map that the counts tell apart, each with its interval\n" +
		"  estimator  " + atlas.Estimators + "; default map, or em if the cost has no distances between inputs\n" +
		"out: estimator, map [k], the shares of the population by it, sum 1 (null with a reason for a policy of projection\n" +
		"     mode, which does not identify it, and for raw of other points), raw [kv]: the counts as shares, seconds;\n" +
		"     where the cost has distances between inputs, of any estimator: map_error {expected, within90, guess, before}: how\n" +
		"     far the truth is from the map on average, and in nine of ten cases at most, and from the guess on average, by\n" +
		"     draws of the posterior of the estimator map, in the unit of distances; before is guess without the counts;\n" +
		"     information: what the counts know, much if the map of the estimator map has expected below 0.5 of before, little\n" +
		"     below 0.9, else none; verdict: confirm or change, what they say of the guess;\n" +
		"     unexplained: no map explains the counts, some are made up or of another policy, and map_error does not hold;\n" +
		"     of the estimator map: models [{length, roughness, weight}], which the map is an average of, by weight: length\n" +
		"     in the unit of distances, roughness the standard deviation of the map's logarithm, 0 for the guess; and signal:\n" +
		"     none, weak or ok, whether the map is better than the guess; a model with smooth true is of smooth maps;\n" +
		"     of epochs: epochs [{epoch, map, rate, worth, drift, map_error, information, verdict, unexplained}]: what a release\n" +
		"     counts for that is an epoch older, how many of this epoch would say as much, and the part of the error that is due to\n" +
		"     older ones; with regions, changes [{lower, upper, known}] of their shares;\n" +
		"     with regions and no epochs: regions [{region, share, lower, upper, likeliest, guess}], of pairs the flows between them;\n" +
		"     of a policy of pairs: ends [{end, labels, guess, map}], what all pairs of a place have;\n" +
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

// RunSolvers is Run for all kinds but estimate. A program that calls it alone is smaller by what estimate needs.
func RunSolvers(ctx context.Context, kind string, s Settings, r io.Reader, w io.Writer) (lines, bad int, err error) {
	if kinds[kind].solve == nil {
		return 0, 0, fmt.Errorf("%w %q: want one of %s", ErrKind, kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return sessionOf(kind, kinds[kind], s).run(ctx, s, r, w)
}
