#!/usr/bin/env python3
"""A second opinion on wpm certificates, written from docs/certificates.md: verify_certificate.py FILE...
Finds the certificates in each FILE: lines of `wpm solve KIND -certificate`, certificates alone, or a policy. It checks
those of the kinds projection, transport, base-measure, flow, shuffled and minimax, in fractions, with both hashes, and
prints one line for each. Costs may be explicit, ring, grid, points, greatcircle-2 or greatcircle. The entries of the
last three, and those of a p other than
1 and 2, are computed in floats whose last bits may differ: claims about them "hold to 1e-12".
The evidence of a distribution is private, and the bounds of such a certificate are not printed.
Exit status: 0 all hold, 1 one does not, 2 one cannot be checked, a file cannot be read, or there is none."""
import hashlib, json, math, re, sys
from fractions import Fraction
sys.dont_write_bytecode = True
from verify import exponential
START, BITS = '{"format":"wpm-certificate-1"', 256
class Unknown(Exception): pass  # what this program cannot check
def F(x): return Fraction(float(x))  # a number of a certificate is the fraction that its float64 is
def need(ok, what):
    if not ok: raise ValueError(what)
def member(text, name, start=0):  # the text of a member's value, and the value
    at = text.index(f'"{name}":', start) + len(name) + 3
    v, end = json.JSONDecoder(parse_constant=float).raw_decode(text, at)
    return text[at:end], v
def once(pairs):
    need(len(dict(pairs)) == len(pairs), "a repeated member")
    return dict(pairs)
def matrix(s):  # the rows of a cost, and whether their bits are certain
    kind, p = s["kind"], float(s.get("p", 1))
    if kind == "explicit": return s["C"], True
    power = lambda square: math.sqrt(square) if p == 1 else square if p == 2 else square ** (p / 2)
    if kind == "ring":
        n = s["n"]
        far = lambda d: float(min(d, n - d)) ** p
        return [[far(abs(i - j)) for j in range(n)] for i in range(n)], p in (1, 2)
    if kind == "grid":
        r, c = s["rows"], s["cols"]
        l = math.lcm(r, c)
        across = lambda a, b: (a % c - b % c) * (l // c)  # in units of 1/l
        down = lambda a, b: (a // c - b // c) * (l // r)
        entry = lambda n: math.sqrt(n) / l if p == 1 else power(n / (l * l))
        return [[entry(across(i, j) ** 2 + down(i, j) ** 2) for j in range(r * c)] for i in range(r * c)], p in (1, 2)
    x, v = s.get("x"), s.get("v") or s.get("x")
    if kind == "points":
        return [[power(sum((s - t) ** 2 for s, t in zip(a, b))) for b in v] for a in x], False
    if kind in ("greatcircle-2", "greatcircle"):  # two formulas of one distance
        half = lambda s, t: math.sin(math.radians(s - t) / 2) ** 2
        cos = lambda a: math.cos(math.radians(a[0]))
        angle = lambda a, b: math.asin(math.sqrt(min(1, half(a[0], b[0]) + cos(a) * cos(b) * half(a[1], b[1]))))
        return [[(2 * 6371.0088 * angle(a, b)) ** p for b in v] for a in x], False
    raise Unknown(f"a cost of kind {kind}")
def masses(v, n):  # a sparse distribution, of sum 1
    at, w = v["index"], [F(x) for x in v["weight"]]
    need(len(at) == len(w) > 0 and at == sorted(set(at)) and at[0] >= 0 and at[-1] < n and min(w) > 0, "masses")
    out = [Fraction(0)] * n
    for i, x in zip(at, w): out[i] = x / sum(w)
    return out
def bounds_of_a_plan(C, mu, lo, hi, q, e):
    k, kv, g = len(mu), len(lo), [F(x) for x in e["g"]]
    need(len(q) == len(hi) == len(g) == kv and sum(lo) <= 1 <= sum(hi), "the box")
    need(all(0 <= a <= x <= b for a, x, b in zip(lo, q, hi)), "q is not in the box")
    f = [min(x - y for x, y in zip(row, g)) if m else 0 for m, row in zip(mu, C)]
    lower = sum(m * x for m, x in zip(mu, f)) + sum(min(a * y, b * y) for a, b, y in zip(lo, hi, g))
    rows, columns, cost = [Fraction(0)] * k, [Fraction(0)] * kv, Fraction(0)
    for i, j, x in e["plan"]:
        need(0 <= i < k and 0 <= j < kv and F(x) >= 0, "an entry of the plan")
        rows[i] += F(x); columns[j] += F(x); cost += F(x) * C[i][j]
    over = lambda have, want: sum(max(0, a - b) for a, b in zip(have, want))
    most = max(C[i][j] for i in range(k) if mu[i] for j in range(kv) if hi[j])
    missing = 1 - sum(rows) + over(rows, mu) + over(columns, q) + max(0, sum(q) - 1)  # pays the largest cost
    return max(lower, 0), min(most, cost + most * missing)
def projection(p, e, C):
    lo, hi = [F(x) for x in p["lo"]], [F(x) for x in p["hi"]]
    return bounds_of_a_plan(C, masses(p["mu"], len(C)), lo, hi, [F(x) for x in e["q"]], e)
def transport(p, e, C):
    b = masses(p["target"], len(C[0]))
    return bounds_of_a_plan(C, masses(p["source"], len(C)), b, b, b, e)
def base_measure(p, e, C):
    if type(e["m"]) is not list: raise Unknown("a base measure in the short form")
    eps, m, w, eta = F(p["eps"]), *([F(x) for x in e[name]] for name in ("m", "weights", "thresholds"))
    need(0 <= eps <= 700 and len(m) == len(C[0]) and len(w) == len(eta) == len(C) and min(m + w) >= 0 < sum(w), "sizes")
    root, E = Fraction(exponential(eps / 2, BITS)[0], 2**BITS), Fraction(exponential(eps, BITS)[1], 2**BITS)
    low, width, upper = [x / root for x in m], root - 1 / root, 0  # the box of m, or a little less
    need(sum(low) <= 1 <= sum(m) * root, "the box of m has no point")
    for row in C:  # the cheapest point of the box: the rest goes to the nearest outputs
        rest, cost = 1 - sum(low), sum(x * y for x, y in zip(row, low))
        for x, y in sorted(zip(row, m)):
            step = min(rest, y * width)
            rest, cost = rest - step, cost + step * x
            if not rest: break
        upper = max(upper, cost)
    b = [sum(v * (row[j] - t) * (1 if row[j] > t else E) for v, t, row in zip(w, eta, C) if v) for j in range(len(m))]
    least = min(b) / sum(w)
    return max(0, sum(v * t for v, t in zip(w, eta)) / sum(w) + min(least, least / E)), upper
def flow(p, e, _):
    arcs, x, y, into = p["arcs"], e["flow"], e["potentials"], [0] * len(p["supply"])
    need(len(x) == len(arcs) and len(y) == len(into), "sizes")
    need(all(type(v) is int or v is None for v in sum(arcs, x + y)), "not an integer")
    cost = 0
    for (a, b, least, most, c), v in zip(arcs, x):
        need((least is None or least <= v) and (most is None or v <= most), "a flow beyond its bounds")
        reduced = c + y[a] - y[b]
        need((reduced <= 0 or v == least) and (reduced >= 0 or v == most), "a reduced cost of the wrong sign")
        into[a] += v; into[b] -= v; cost += c * v
    need(into == p["supply"], "the flow does not meet the supply")
    return cost, cost
def up(a, b): return -(-a // b)
def walk(n, p, q, cut=100):  # [(k, bounds on the weight of k)] of Bin(n, p/(p+q)), what is before and after, the least sum
    k = mode = min(n, p * (n + 1) // (p + q))
    weight, r = 1.0, q / p if p else 0
    while q and k and weight > 2.0**-cut: weight, k = weight * k / (n - k + 1) * r, k - 1  # floats: any first k will do
    before, out, total, lo, hi = up(q * k << BITS, p * (n - k + 1) - q * k) if k else 0, [], 0, 1 << BITS, 1 << BITS
    while True:
        out.append((k, lo, hi))
        total, a, b = total + lo, p * (n - k), q * (k + 1)
        if k == n or k > mode and hi.bit_length() + cut < total.bit_length():
            return out, before, up(hi * a, b - a) if a else 0, total
        k, lo, hi = k + 1, lo * a // b, up(hi * a, b)
def tails(t, a):  # for X ~ Bin(t, 1/2): bounds on P(X = a) and P(X >= a), and an upper bound on E(X - a)_+
    out, before, after, total = walk(t, 1, 1, 200)
    most, beyond = before + after + sum(w[2] for w in out), [w for w in out if w[0] >= a]
    at, hi = beyond[0] if beyond else out[-1], lambda x: up(x << BITS, total)
    return [(at[1] << BITS) // most if beyond else 0, hi(at[2]), (sum(w[1] for w in beyond) << BITS) // most,
            hi(after + sum(w[2] for w in beyond)), hi(t * after + sum(w[2] * (w[0] - a) for w in beyond))]
def shuffled(p, e, _):
    n, eps, central, edges, gamma = p["clients"], F(p["eps"]), F(e["central"]), e["edges"], Fraction(p["blanket"])
    need(type(n) is int and 1 <= n <= 10**8 and 0 <= eps <= 700 and 0 < gamma <= 1 and 0 < F(p["delta"]) < 1, "the problem")
    need(central >= 0 and all(type(m) is int for m in edges) and 0 < len(edges) <= 1024, "the evidence")
    need(edges == sorted(set(edges)) and edges[0] >= 0 and edges[-1] < n, "the edges")
    E, c = Fraction(exponential(eps, 96)[1], 2**96), Fraction(exponential(central, 96)[0], 2**96)
    need(gamma * E >= 1, "no row fits the blanket")
    if central < eps and c < E: need(shuffled_delta(n, gamma, E, c, edges) <= F(p["delta"]), "delta is larger")
    return 0, central
def shuffled_delta(n, gamma, E, c, edges):  # E >= e^eps and c <= e^eps', so that delta is at most what this returns
    f, d, whole = (1 - gamma) / (gamma * (E - 1)), (E - 1) * (1 + c), gamma.denominator
    u, v, share = (c - 1, c * (E - 1), 2 * f) if 2 * f <= 1 else (E * (c - 1), E - 1, 2 * (1 - f))
    unit = math.lcm(u.denominator, v.denominator, d.denominator)
    U, V, D = (int(x * unit) for x in (u, v, d))
    out, before, after, total = walk(n - 1, gamma.numerator, whole - gamma.numerator)
    masses, at = [before] + [0] * len(edges), 0  # before the first edge, everything counts as known
    for k, _, hi in out:
        while at < len(edges) and edges[at] <= k: at += 1
        masses[at] += hi
    masses[at] += after
    delta = Fraction(masses[0], total)
    for mass, m in zip(masses[1:], (m + 1 for m in edges)):
        if not mass: continue
        ts, rest, more, all_t = walk(m, share.numerator, share.denominator - share.numerator)
        rest, value, a, x = rest + more, 0, 0, None
        for t, _, weight in ts:
            if x:  # from t - 1 to t
                below = x[0] * a // (t - a), up(x[1] * a, t - a)
                x = [(x[0] + below[0]) // 2, up(x[1] + below[1], 2), x[2] + below[0] // 2, x[3] + up(below[1], 2),
                     x[4] + up(x[3], 2)]
            need_a = (U * m + V * t) // D + 1  # the least a with a positive sum
            if need_a > t: continue
            if not x:
                part = lambda k: k * math.log(2 * k / t) if k else 0
                if part(need_a) + part(t - need_a) > 75:  # Chernoff: P(X >= a) < 2^-100
                    rest += up(weight, 2**100)
                    continue
                a, x = need_a, tails(t, need_a)
            while a < need_a:
                s = max(0, x[2] - x[1])
                x = [x[0] * (t - a) // (a + 1), up(x[1] * (t - a), a + 1), s, x[3] - x[0], x[4] - s]
                a += 1
            value += weight * (D * x[4] + (D * a - U * m - V * t) * x[3])
        inner = gamma / m * Fraction(value, unit << BITS) + rest * gamma * (E - c)
        delta += Fraction(mass, total) * Fraction(up((inner / all_t).numerator << BITS, (inner / all_t).denominator), 1 << BITS)
    return delta
def minimax(p, e, C):
    K, N, poles, mass = len(C), p["clients"], e["poles"], [F(x) for x in e["mass"]]
    h, eta, s, x, eps = [F(r) for r in e["radius"]], F(e["amplitude"]), F(e["root"]), F(e["exponent"]), F(p["eps"])
    need(type(N) is int and 0 <= N <= 2**30 and 0 <= eps <= 700 and p["inputs"] == p["outputs"] <= 4096, "the problem")
    need(all(type(a) is int and 0 <= a < K for a in poles + [e["centre"]]), "a place")
    upper = max(row[e["centre"]] for row in C)
    if not poles and not h and not mass: return Fraction(0), upper
    need(len(poles) == 2 * len(h) == 2 * len(mass) and min(h + mass) > 0 < eta <= 1 and 0 < s < 1 and 0 <= x <= 700, "parts")
    need(exponential(x, 128)[1] * (1 - s * s) <= 2**128, "the root of the exponent")
    need(all(C[a][a] == 0 for a in poles), "a pole that costs something to itself")
    unit = max(y.denominator for y in h + [y for row in C for y in row])  # floats: all are powers of 2
    D, r, over = [[int(y * unit) for y in row] for row in C], [int(y * unit) for y in h], 0
    tents = [[i for i, a in enumerate(poles) if row[a] < r[i // 2]] for row in D]
    need(all(len(t) <= 1 for t in tents), "a place in two tents")
    high = [r[t[0] // 2] - row[poles[t[0]]] if t else 0 for t, row in zip(tents, D)]
    for y in range(K):  # how much more a sum of tents with signs may rise than the cost
        for z in range(K):
            if y != z and (high[y] or high[z]):
                rise = abs(high[y] - high[z]) if tents[y] == tents[z] else high[y] + high[z]
                over = max(over, rise - D[y][z])
    total, E = sum(mass), Fraction(exponential(eps, 128)[1], 2**128)
    u, k, root = [m / total for m in mass], E - 1, lambda y: Fraction(math.isqrt(int(y * 4**128)), 2**128)
    told = (k / (root(E) + root(E - k * eta))) ** 2  # Phi, at least
    half = eta * eta * max(u) * told / 2
    need(half < 1, "one report may tell a sign")
    told *= 1 + half / 2 + half * half / (3 * (1 - half))  # c Phi
    slope, lift = (1 - s * s) / (2 * s), sum(v * y for v, y in zip(u, h))
    lower = eta * lift * (1 - s + slope * x) - slope * eta**3 * max(v * v * y for v, y in zip(u, h)) * N * told
    return max(Fraction(0), lower - Fraction(over, unit)), upper
KINDS = {"minimax": minimax, "shuffled": shuffled, "projection": projection, "transport": transport, "base-measure": base_measure, "flow": flow}
def check(text, at):
    c, _ = json.JSONDecoder(object_pairs_hook=once).raw_decode(text, at)
    kind, p = c["kind"], c["problem"]
    if kind not in KINDS: raise Unknown(f"the kind {kind}")
    sha = lambda name, start: hashlib.sha256(member(text, name, start)[0].encode()).hexdigest()
    need(sha("problem", at) == c["problem_sha256"], "problem_sha256")
    C, certain = [[0]], True
    if "cost_sha256" in p:
        start = at if c["cost"] else text.find('\n"cost":', at)  # a policy has the cost beside the certificate
        if start < 0: raise Unknown("a certificate without its cost")
        start = start if c["cost"] is None else text.index('"evidence":', at)
        need(sha("cost", start) == p["cost_sha256"], "cost_sha256")
        C, certain = matrix(member(text, "cost", start)[1])
        C = [[F(x) for x in row] for row in C]
        need(len(C) == p["inputs"] and all(len(row) == p["outputs"] and min(row) >= 0 for row in C), "the cost")
    lower, upper = KINDS[kind](p, c["evidence"], C)
    slack = 0 if certain else Fraction(1, 10**12) * max(map(max, C))
    claims = Fraction(c["lower"]), Fraction(c["upper"])
    need(claims[0] <= lower + slack, "the lower bound is not proved")
    need(claims[1] >= upper - slack, "the upper bound is not proved")
    verdict = f"{kind}: holds{'' if certain else ' to 1e-12'}"
    return verdict + (f", {float(claims[0]):.9g} to {float(claims[1]):.9g}" if kind in ("base-measure", "shuffled", "minimax") else "")
def main():
    status = 0 if sys.argv[1:] else print(__doc__, file=sys.stderr) or 2
    for name in sys.argv[1:]:
        try: text = open(name, encoding="utf-8").read()
        except (OSError, UnicodeError) as e: sys.exit(print(e, file=sys.stderr) or 2)
        found = [m.start() for m in re.finditer(re.escape(START), text)]
        if not found: status = print(f"{name}: no certificate") or 2
        for at in found:
            try: verdict = check(text, at)
            except Unknown as e: verdict, status = f"not checked: {e}", 2
            except Exception as e: verdict, status = f"does not hold ({str(e)[:120]})", max(status, 1)
            print(f"{name}:{text.count(chr(10), 0, at) + 1}: {verdict}")
    sys.exit(status)
if __name__ == "__main__": main()
