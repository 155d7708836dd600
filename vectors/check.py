#!/usr/bin/env python3
"""Checks the test vectors beside it, in exact arithmetic or 100 digits, with the standard library alone: check.py [KIND...]
It shares no code with the Go packages and with the generator. Texts of policies are refused or accepted by ../docs/verify.py,
which is written from the documentation as well. Exit status: 0 all right, 1 not, with a line for each fault."""
import base64, datetime, functools, hashlib, json, math, os, re, struct, sys, zlib
from decimal import Decimal, getcontext
from fractions import Fraction
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "docs"))
import verify as policy_verify
import verify_certificate
getcontext().prec = 100
sys.set_int_max_str_digits(0)
NEAR = Decimal("1e-58")  # relative: results have 60 digits


class Refused(Exception):
    """A case is refused, for a reason."""


def need(ok, reason):
    if not ok:
        raise Refused(reason)


def fault(ok, what):
    if not ok:
        raise AssertionError(what)


def number(s):
    return float(s) if s in ("nan", "inf", "-inf") else float.fromhex(s)


def numbers(v):
    return [number(s) for s in v]


def integers(v):
    return [int(s) for s in v]


def real(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def near(a, b, tolerance=NEAR):
    a, b = Decimal(a), Decimal(b)
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


# The trusted core: integers

def epsilon(s):
    m = re.fullmatch(r"(0|[1-9][0-9]*)(?:/([1-9][0-9]*)|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)", s, re.ASCII)
    need(m and len(s) <= 100, "epsilon")
    x = Fraction(s)
    need(Fraction(1, 10**18) <= x <= 64 and x.denominator < 2**128, "epsilon")
    return x


def enclose(x, bits):
    """Integers below and above 2^bits e^x, x > 0."""
    n, term, total = 0, Fraction(1), Fraction(1)
    while n < 2 * x or term * 2**bits > 1:
        n += 1
        term *= x / n
        total += term
    return int(total * 2**bits), int((total + term) * 2**bits) + 1


class Exp:
    """Decides comparisons with e^x, which is irrational, by enclosures as narrow as it takes."""
    cache = {}

    def __init__(self, x):
        self.x, self.bits = x, 256
        self.low, self.high = Exp.cache.setdefault(x, enclose(x, 256))

    def decide(self, f):
        """The one value of f(e^x), a monotone function into the integers, given as f(numerator, denominator)."""
        while True:
            a, b = f(self.low, 2**self.bits), f(self.high, 2**self.bits)
            if a == b:
                return a
            self.bits *= 2
            self.low, self.high = enclose(self.x, self.bits)

    def floor(self, n):
        return self.decide(lambda p, q: n * p // q)

    def ceil_quotient(self, n):
        return self.decide(lambda p, q: -(-n * q // p))


def check_box(bits, lo, hi, e):
    need(len(lo) == len(hi) > 0, "shape")
    need(1 <= bits <= 62, "bits")
    for l, h in zip(lo, hi):
        need(l <= h <= 2**bits and h <= e.floor(l), "box")
    need(sum(lo) <= 2**bits <= sum(hi), "sum")


def kind_verify(i, o):
    e = Exp(epsilon(i["epsilon"]))
    lo, hi = integers(i["lo"]), integers(i["hi"])
    check_box(i["bits"], lo, hi, e)
    for row in map(integers, i["rows"]):
        need(len(row) == len(lo) and sum(row) == 2**i["bits"] and all(l <= n <= h for l, n, h in zip(lo, row, hi)), "row")


def kind_box(i, o):
    x = epsilon(i["epsilon"])
    bits, m = i["bits"], numbers(i["m"])
    need(1 <= bits <= 62, "bits")
    need(m and all(0 <= v < math.inf for v in m), "base")
    e, root, mass, slack = Exp(x), Exp(x / 2), sum(map(Fraction, m)), 1 + Fraction(1, 10**9)
    at_most = lambda v: root.decide(lambda p, q: v * q <= p * slack)
    need(mass > 0 and at_most(mass) and at_most(1 / mass), "infeasible")
    need(sum(v > 0 for v in m) <= 2**bits, "bits")
    total, lo = 2**bits, []
    for v in map(Fraction, m):
        v *= total
        lo.append(e.ceil_quotient(root.decide(lambda p, q: -(-v.numerator * p // (v.denominator * q)))) if v else 0)
    if sum(lo) > total:
        level = max_true(lambda a: sum(min(n, a) for n in lo) <= total)
        rest = total - sum(min(n, level) for n in lo)
        for j, n in enumerate(lo):
            if n > level:
                lo[j] = level + (rest > 0)
                rest -= rest > 0
    hi = [min(e.floor(n), total) for n in lo]
    if sum(hi) < total:
        j = lo.index(max(lo))
        lo[j] = e.ceil_quotient(hi[j] + total - sum(hi))
        hi[j] = min(e.floor(lo[j]), total)
    fault(lo == integers(o["lo"]) and hi == integers(o["hi"]), (lo, hi))
    check_box(bits, lo, hi, e)


def max_true(f):
    """The largest n >= 0 with f(n), which changes once from true to false."""
    b = 1
    while f(b):
        b *= 2
    a = 0
    while b - a > 1:
        a, b = ((a + b) // 2, b) if f((a + b) // 2) else (a, (a + b) // 2)
    return a


def round_into(bits, lo, hi, q):
    total, n, part = 2**bits, [], []
    for j, (l, h) in enumerate(zip(lo, hi)):
        v = q[j] if j < len(q) and q[j] == q[j] else -math.inf
        x = Fraction(v) * total if abs(v) < math.inf else None
        whole = (h if v > 0 else l) if x is None else x.numerator // x.denominator
        n.append(min(max(whole, l), h))
        part.append(x - whole if x is not None and l <= whole < h else Fraction(0))
    rest = total - sum(n)
    for j in range(len(n)):  # too much: the first give back
        give = min(max(-rest, 0), n[j] - lo[j])
        n[j] -= give
        rest += give
    for j in sorted((j for j in range(len(n)) if part[j]), key=lambda j: -part[j])[:max(rest, 0)]:
        n[j] += 1
        rest -= 1
    for j in range(len(n)):
        add = min(rest, hi[j] - n[j])
        n[j] += add
        rest -= add
    return n


def kind_round(i, o):
    lo, hi = integers(i["lo"]), integers(i["hi"])
    check_box(i["bits"], lo, hi, Exp(epsilon(i["epsilon"])))
    n = round_into(i["bits"], lo, hi, numbers(i["q"]))
    fault(n == integers(o["weights"]), n)
    fault(sum(n) == 2**i["bits"] and all(l <= v <= h for l, v, h in zip(lo, n, hi)), "not in the box")


def first(n, x):
    for j, v in enumerate(n):
        if x < v:
            return j
        x -= v
    raise AssertionError("beyond the total")


def word(b, bits):
    return int.from_bytes(b, "little") % 2**bits


def kind_sample(i, o):
    bits, n, random = i["bits"], integers(i["weights"]), bytes.fromhex(i["random"])
    need(1 <= bits <= 62, "bits")
    need(sum(n) == 2**bits, "weights")
    need(len(random) >= (bits + 7) // 8, "random")
    fault(first(n, word(random[:(bits + 7) // 8], bits)) == o["index"], "index")


# Solvers: certificates

def check_numbers(*lists):
    flat = [v for l in lists for v in l]
    need(all(abs(v) < math.inf for v in flat), "finite")
    need(all(v >= 0 for v in flat), "negative")


def real_box(lo, hi):
    need(all(l <= h for l, h in zip(lo, hi)), "bounds")
    lo, hi, slack = list(map(Fraction, lo)), list(map(Fraction, hi)), Fraction(1e-12)
    if sum(lo) > 1:
        need(sum(lo) - 1 <= slack, "infeasible")
        return [v / sum(lo) for v in lo], [v / sum(lo) for v in lo]
    if sum(hi) < 1:
        need(1 - sum(hi) <= slack, "infeasible")
        return [v / sum(hi) for v in hi], [v / sum(hi) for v in hi]
    return lo, hi


def kind_phi(i, o):
    c, lo, hi = list(map(numbers, i["c"])), numbers(i["lo"]), numbers(i["hi"])
    need(all(len(row) == len(lo) == len(hi) > 0 for row in c), "shape")
    check_numbers(lo, hi, *c)
    l, h = real_box(lo, hi)
    phi = []
    for row, tau in zip(c, numbers(o["tau"])):
        order, rest, value = sorted(range(len(row)), key=lambda j: (row[j], j)), 1 - sum(l), Fraction(0)
        end = None
        for j in order:
            add = min(rest, h[j] - l[j])
            rest -= add
            value += Fraction(row[j]) * (l[j] + add)
            end = row[j] if rest <= 0 and end is None else end
        cut = Fraction(tau) + sum((a if x >= tau else b) * (Fraction(x) - Fraction(tau)) for x, a, b in zip(row, l, h))
        fault(cut == value, "the cut at tau")
        if sum(map(Fraction, lo)) >= 1:
            end = min(row)
        elif sum(map(Fraction, hi)) <= 1:
            end = max(x for x, b in zip(row, hi) if b > 0)
        fault(tau == end, ("tau", tau, end))
        phi.append(value)
    fault(phi == list(map(Fraction, o["phi"])) and max(phi) == Fraction(o["f"]) == phi[o["argmax"]], "phi")
    fault(phi.index(max(phi)) == o["argmax"], "argmax")


def check_projection(i):
    c, mu, lo, hi = list(map(numbers, i["c"])), numbers(i["mu"]), numbers(i["lo"]), numbers(i["hi"])
    need(len(c) == len(mu) and all(len(row) == len(lo) == len(hi) > 0 for row in c), "shape")
    check_numbers(mu, lo, hi, *c)
    l, h = real_box(lo, hi)
    need(sum(mu) > 0, "mass")
    mu = list(map(Fraction, mu))
    return [list(map(Fraction, row)) for row in c], [v / sum(mu) for v in mu], l, h


def kind_project(i, o):
    c, mu, l, h = check_projection(i)
    rows, q, value = [Fraction(0)] * len(mu), [Fraction(0)] * len(l), Fraction(0)
    for e in o["plan"]:
        mass = Fraction(e["mass"])
        fault(mass > 0, "mass of an entry")
        rows[e["i"]] += mass
        q[e["j"]] += mass
        value += mass * c[e["i"]][e["j"]]
    f, g = list(map(Fraction, o["f"])), list(map(Fraction, o["g"]))
    dual = sum(a * b for a, b in zip(mu, f)) + sum(min(a * x, b * x) for a, b, x in zip(l, h, g))
    fault(rows == mu and all(a <= v <= b for a, v, b in zip(l, q, h)), "the plan")
    fault(all(f[n] + g[j] <= x for n, row in enumerate(c) for j, x in enumerate(row)), "the potentials")
    fault(value == dual == Fraction(o["value"]), "the values")


def kind_kl(i, o):
    s, lo, hi = numbers(i["log_s"]), numbers(i["lo"]), numbers(i["hi"])
    need(len(s) == len(lo) == len(hi) > 0, "shape")
    need(all(v < math.inf for v in s), "finite")
    check_numbers(lo, hi)
    l, h = real_box(lo, hi)
    point = sum(l) == 1 or sum(h) == 1
    need(point or sum(b if v > -math.inf else a for a, b, v in zip(l, h, s)) >= 1, "infeasible")
    q = list(map(Decimal, o["q"]))
    fault(abs(sum(q) - 1) < Decimal("1e-57"), "the mass")
    least, most = Decimal("-Infinity"), Decimal("Infinity")  # what theta may be
    for v, a, b, x in zip(s, l, h, q):
        a, b = real(a), real(b)
        fault(a * (1 - NEAR) <= x <= b * (1 + NEAR), "outside the box")
        if a == b or v == -math.inf:
            fault(near(x, a) or point, "a column without choice")
            continue
        at = x.ln() - Decimal(v) if x else Decimal("-Infinity")
        if not near(x, b):  # at lo, or between: e^theta s <= q
            most = min(most, at)
        if not near(x, a):  # at hi, or between
            least = max(least, at)
    fault(point or least <= most + Decimal("1e-55"), "no theta")
    if o["theta"]:
        theta = Decimal(o["theta"])
        fault(near(theta, least, Decimal("1e-50")) or abs(theta - least) < Decimal("1e-54"), "theta")


def kind_kpm(i, o):
    mu, eps = numbers(i["mu"]), number(i["eps"])
    need(mu, "shape")
    check_numbers(mu)
    m = list(map(Fraction, mu))
    need(abs(sum(m) - 1) <= Fraction(1, 10**9), "mass")
    need(0 <= eps <= 700, "epsilon")
    k, q, r = len(m), list(map(Decimal, o["q"])), Decimal(o["r"])
    floor = 1 / (Decimal(eps).exp() + k - 1)
    fault(r >= 1 - NEAR and abs(sum(q) - 1) < Decimal("1e-57"), "r or the mass")
    fault(all(near(x, max(real(v / sum(m)) / r, floor)) for x, v in zip(q, m)), "q")


def kind_hilbert(i, o):
    op = i["op"]
    if op in ("distance", "log-distance"):
        x, y = numbers(i["x"] if "x" in i else []), numbers(i["y"] if "y" in i else [])
        need(len(x) == len(y), "shape")
        if op == "log-distance":
            need(all(v < math.inf for v in x + y), "finite")
            d = [Fraction(a) - Fraction(b) for a, b in zip(x, y)]
            return fault(max(d) - min(d) == Fraction(o["distance"]), "distance")
        check_numbers(x, y)
        if any((a == 0) != (b == 0) for a, b in zip(x, y)):
            return fault(o["distance"] == "inf", "distance")
        d = [Fraction(a) / Fraction(b) for a, b in zip(x, y) if a] or [Fraction(1)]
        return fault(near_log(o["distance"], max(d) / min(d)), "distance")
    a = list(map(numbers, i["a"]))
    check_numbers(*a)
    if op == "diameter":
        rows = [row for row in a if any(row)]
        rows = [[row[j] for j in range(len(row)) if any(x[j] for x in a)] for row in rows]
        if not all(all(row) for row in rows):
            return fault((o["diameter"], o["tau"], o["one_minus_tau"]) == ("inf", "1", "0"), "infinite")
        rows = [list(map(Fraction, row)) for row in rows]
        best = max([max(p / s for p, s in zip(x, y)) / min(p / s for p, s in zip(x, y)) for x in rows for y in rows] or [1])
        d = real(best).ln()
        fault(near_log(o["diameter"], best), "diameter")
    else:
        reg = number(i["reg"])
        need(0 < reg < math.inf, "reg")
        rows = [list(map(Fraction, row)) for row in a]
        d = max(max(p - s for p, s in zip(x, y)) - min(p - s for p, s in zip(x, y)) for x in rows for y in rows) / Fraction(reg)
        fault(d == Fraction(o["diameter"]), "diameter")
        d = real(d)
    e = (-d / 2).exp()
    fault(near(o["tau"], (1 - e) / (1 + e), Decimal("1e-50")) and near(o["one_minus_tau"], 2 * e / (1 + e)), "contraction")


def near_log(text, ratio):
    getcontext().prec = 200  # the logarithm of a number near 1
    try:
        return near(text, real(ratio).ln())
    finally:
        getcontext().prec = 100


def kind_entropic(i, o):
    c, mu, l, h = check_projection(i)
    reg = number(i["reg"])
    need(0 < reg < math.inf, "reg")
    reg, q, g = Decimal(reg), list(map(Decimal, o["q"])), list(map(Decimal, o["g"]))
    columns, transport, entropy = [Decimal(0)] * len(q), Decimal(0), Decimal(0)
    for row, mass in zip(c, map(real, mu)):
        kernel = [((price - real(x - min(row))) / reg).exp() for x, price in zip(row, g)]
        for j, v in enumerate(kernel):
            p = mass * v / sum(kernel)
            columns[j] += p
            transport += p * real(row[j])
            entropy += p * p.ln() if p else 0
    for x, total, price, a, b in zip(q, columns, g, l, h):
        fault(abs(x - total) < Decimal("1e-54"), "q is not the column sums of the plan")
        fault(real(a) - NEAR <= x <= real(b) + NEAR, "q is not in the box")
        fault(price <= 0 or near(x, real(a)), "a positive price above the lower bound")
        fault(price >= 0 or near(x, real(b)), "a negative price below the upper bound")
    scale = max(map(max, c)) + Fraction(reg)
    fault(abs(transport - Decimal(o["transport"])) <= Decimal("1e-53") * real(scale), "transport")
    fault(abs(transport + reg * entropy - Decimal(o["objective"])) <= Decimal("1e-53") * real(scale), "objective")


def kind_base(i, o):
    c, eps = [list(map(number, row)) for row in i["c"]], number(i["eps"])
    check_numbers(*c)
    need(0 <= eps <= 700, "epsilon")
    c, e = [[Decimal(x) for x in row] for row in c], Decimal(eps).exp()
    m, w, eta = ([Decimal(s) for s in o[name]] for name in ("m", "weights", "thresholds"))
    value = Decimal(o["value"])
    allowed = Decimal("1e-55") * (max(map(max, c)) + value) * e
    root, worst = Decimal(eps / 2).exp(), Decimal(0)
    fault(all(v >= 0 for v in m + w) and abs(sum(w) - 1) < NEAR, "weights or masses")
    for row in c:  # the greedy fill
        rest, cost = 1 - sum(m) / root, sum(x * v / root for x, v in zip(row, m))
        for x, v in sorted(zip(row, m)):
            step = min(rest, v * root - v / root)
            rest -= step
            cost += step * x
        fault(abs(rest) < Decimal("1e-55"), "the box has no distribution")
        worst = max(worst, cost)
    slopes = [sum(v * (row[j] - t) * (1 if row[j] > t else e) for v, t, row in zip(w, eta, c)) for j in range(len(m))]
    least = min(slopes)
    lower = sum(v * t for v, t in zip(w, eta)) + min(least, least / e)
    fault(abs(worst - value) <= allowed and abs(lower - value) <= allowed, (worst, lower))


def pi():
    arctan = lambda n: sum((-1)**k / (Decimal(2 * k + 1) * Decimal(n)**(2 * k + 1)) for k in range(80 if n == 5 else 30))
    return 4 * (4 * arctan(5) - arctan(239))


def gamma(n):
    """The gamma function of n/2."""
    v, m = (pi().sqrt(), 1) if n % 2 else (Decimal(1), 2)
    while m < n:
        v *= Decimal(m) / 2
        m += 2
    return v


def kind_sphere(i, o):
    d, p, eps = i["d"], number(i["p"]), number(i["eps"])
    need(1 <= d <= 10**7, "dimension")
    need(0.5 <= p <= 12, "exponent")
    need(1e-12 <= eps <= 700, "epsilon")
    getcontext().prec = 130 + d  # the terms of the series cancel
    a, q, grow, half = Decimal(d) / 2, Decimal(p) / 2, Decimal(eps).exp(), Decimal("0.5")
    beta = gamma(d)**2 / gamma(2 * d)

    def integral(w, a, b):
        """Of y^(a-1) (1-y)^(b-1) from 0 to w, by the binomial series of the second factor."""
        total, c, n, least = Decimal(0), Decimal(1), 0, Decimal(10)**(5 - getcontext().prec)
        while c and abs(c) > least:
            total += c / (a + n)
            n += 1
            c *= (n - b) / n * w
        return w**a * total
    below = lambda w, q: integral(w, a + q, a) / beta  # E[y^q; y <= w] for y = (1 - <x,y>)/2
    mean = (integral(half, a + q, a) + integral(half, a, a + q)) / beta
    excess = lambda w: (grow - 1) * (w**q * below(w, Decimal(0)) - below(w, q)) - mean + w**q
    w = Decimal(o["omt"]) / 2
    fault(excess(w * (1 - NEAR)) < 0 < excess(w * (1 + NEAR)), "no root")
    share = below(w, Decimal(0))
    mass = 1 + (grow - 1) * share
    want = {"t": 1 - 2 * w, "alpha": Decimal(eps / 2).exp() / mass, "S": share, "J": (4 * w)**q, "W": (4 * w).sqrt(),
            "pin": grow * share / mass, "pout": (1 - share) / mass}
    getcontext().prec = 100
    for name, v in want.items():
        fault(abs(v - Decimal(o[name])) <= Decimal("1e-55") * (1 if name == "t" else abs(v)), name)


# The release

def field(line):
    """The first field of a line and what follows its comma."""
    if line[:1] != b'"':
        a, comma, b = line.partition(b",")
    else:
        m = re.fullmatch(rb'"((?:[^"]|"")*)",(.*)', line, re.DOTALL)
        need(m, "unusable")
        a, comma, b = m[1].replace(b'""', b'"'), b",", m[2]
    need(a and comma and b, "unusable")
    return a, b


def counts_of(p, data):
    """The private format."""
    if data[:2] == b"\x1f\x8b":
        out = b""
        while data:
            z = zlib.decompressobj(31)
            try:
                out += z.decompress(data)
            except zlib.error:
                need(False, "unusable")
            need(z.eof, "unusable")
            data = z.unused_data
        data = out
    names = p["input_labels"] or [str(n) for n in range(p["inputs"])]
    index = {s.encode(): n for n, s in enumerate(names)} | {s.encode(): n for n, s in p.get("input_aliases", [])}
    c, user, users = [0.0] * p["inputs"], None, False
    for n, line in enumerate(data.split(b"\n")):
        need(len(line) <= 4096, "unusable")
        line = line.removesuffix(b"\r")
        if n == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
            users = line == b"user,label,count"
            if users or line == b"label,count":
                continue
        if not line:
            continue
        if users:
            who, line = field(line)
            user = who if user is None else user
            try:
                text = who.decode()
            except UnicodeDecodeError:
                need(False, "unusable")
            need(user == who and len(who) <= 256 and not re.search("[\0-\x1f\x7f-\x9f]", text), "unusable")
        label, numeral = field(line)
        need(label in index and len(numeral) <= 64, "unusable")
        need(re.fullmatch(rb"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", numeral), "unusable")
        need(float(numeral) <= 2.0**53, "unusable")
        c[index[label]] += float(numeral)
    need(any(c), "unusable")
    return c


def policy_of(data):
    data = data.encode() if type(data) is str else data
    try:
        policy_verify.check(data)
    except Exception:
        raise Refused("policy") from None
    text = data.decode()
    p = json.loads(re.sub(r'\n"(certificate|cost)":.*', r'\n"\1":null,', text))  # json.loads recurses
    kv = p["outputs"]
    if "codes" in p:
        p["lo"], p["hi"], p["even"] = [], [], []
        for c in p["codes"]:
            w, l = int(c["weight"]), int(c["low"])
            n = c.get("colors", p["inputs"])
            p["lo"] += [l] * n
            p["hi"] += [int(c["high"]) if "high" in c else w - (n - 1) * l] * n
            p["even"] += [(w + n - 1 - y) // n for y in range(n)]
    for name in ("lo", "hi") * ("codes" not in p):
        p[name] = [int(p[name])] * kv if type(p[name]) is str else integers(p[name])
    p["id"] = hashlib.sha256(data).hexdigest()
    return p


def coded(p, i):
    """The row of an input of a policy with codes: the order of a disc is that of its policy, as one of version 2."""
    n = []
    for c in p["codes"]:
        at, w, l = len(n), int(c["weight"]), int(c["low"])
        if "color" in c:
            size = (c["colors"] - 1).bit_length()
            packed = base64.b64decode(c["color"])
            own = int.from_bytes(packed, "big") >> (8 * len(packed) - (i + 1) * size) & (2**size - 1)
            n += [p["hi"][at] if y == own else l for y in range(c["colors"])]
            continue
        k, h, part = p["inputs"], int(c["high"]), {}
        order = sorted(range(k), key=lambda j: (key_of(p, i, k)(j), j))
        while sum(part.values()) < w - k * l:
            j = order[len(part)]
            part[j] = min(h - l, w - k * l - sum(part.values()))
        last = j if part else order[0]
        n += [l + part.get(j, 0) for j in range(k)] if c["thresholds"][i] == last else p["even"][at:at + k]
    return n


def expand(p, row):
    if row is None:
        return p["even"]
    n = list(p["lo"])
    for j in row["full"]:
        n[j] = p["hi"][j]
    for j, units in row["extra"]:
        n[j] += int(units)
    return n


def key_of(p, i, kv):
    g = p["geometry"]
    if g["kind"] == "ring":
        return lambda j: min((i - j) % kv, (j - i) % kv)
    if g["kind"] == "grid":
        r, c = g["rows"], g["cols"]
        return lambda j: ((i % c - j % c) * r)**2 + ((i // c - j // c) * c)**2
    a, v = g["axes"], p["output_points"]
    x = (v if p["input_points"] is None else p["input_points"])[i * a:i * a + a]
    return lambda j: sum((s - t)**2 for s, t in zip(x, v[j * a:j * a + a]))


def row_of(p, i):
    if p["format"] == "wpm-policy-1":
        return expand(p, p["rows"][i])
    if "codes" in p:
        return coded(p, i)
    kv, key = p["outputs"], key_of(p, i, p["outputs"])
    n, rest, t = list(p["lo"]), 2**p["bits"] - sum(p["lo"]), p["thresholds"][i]
    for j in sorted(range(kv), key=lambda j: (key(j), j)):
        if j == t:
            n[j] += rest
            return n if 0 <= rest <= p["hi"][j] - p["lo"][j] else expand(p, p.get("fallback"))
        n[j] = p["hi"][j]
        rest -= p["hi"][j] - p["lo"][j]


def pick(c, x):
    total = 0.0
    for v in c:
        total += v
    scale = Fraction(2)**(62 - math.frexp(total)[1])
    u = [int(Fraction(v) * scale) for v in c]
    return first(u, x * sum(u) >> 64)


def kind_release(i, o):
    need(("policy" in i) != ("policy_hex" in i), "policy")
    p = policy_of(i["policy"] if "policy" in i else bytes.fromhex(i["policy_hex"]))
    random, q = bytes.fromhex(i["random"]), i.get("projected")
    need(len(random) >= 8 + (p["bits"] + 7) // 8, "random")
    usable, chosen = True, -1
    try:
        c = counts_of(p, bytes.fromhex(i["private"]))
    except Refused:
        usable = False
    q = None if q is None else numbers(q)
    total = 0.0
    for v in q or []:
        total += v
    if not usable:
        n = expand(p, p.get("fallback"))
    elif p["mode"] == "projection" and q and len(q) == p["outputs"] and all(v >= 0 for v in q) and abs(total - 1) <= 2.0**-20:
        n = round_into(p["bits"], p["lo"], p["hi"], q)
    elif p.get("rows") or "geometry" in p or "codes" in p:
        chosen = pick(c, word(random[:8], 64))
        n = row_of(p, chosen)
    else:
        n = expand(p, p.get("fallback"))
    j = first(n, word(random[8:], p["bits"]))
    fault((usable, chosen, j) == (o["usable"], o["input"], o["index"]), (usable, chosen, j))
    fault(o["id"] == p["id"] and o["report"] == (b"wpm1" + bytes.fromhex(p["id"]) + struct.pack("<I", j)).hex(), "the report")


# Partial counts

REASONS = "malformed other-policy no-such-output never-released".split()


def read_counts(text):
    body, mark, seal = text.rpartition("sha256 ")
    need(mark and seal == hashlib.sha256(body.encode()).hexdigest() + "\n", "format")
    lines = body.split("\n")
    need(lines.pop() == "", "format")
    lines.reverse()

    def take(pattern):
        m = re.fullmatch(pattern, lines.pop() if lines else "", re.ASCII)
        need(m, "format")
        return m

    def count(s):
        need(int(s) <= 2**53, "format")
        return int(s)
    n = "(0|[1-9][0-9]*)"
    take("wpm-counts-1")
    c = {"policy": take("policy ([0-9a-f]{64})")[1], "epoch": take("epoch( [0-9A-Za-z._:-]{1,64})?")[1] or ""}
    lines_said = count(take("lines " + n)[1])
    c["refused"] = [count(take(f"refused {name} {n}")[1]) for name in REASONS]
    shards = []
    for _ in range(count(take("shards " + n)[1])):
        m = take(f"([0-9a-f]{{64}}) {n} {n} ([^\0-\x1f\x7f-\x9f]+)")
        need(len(m[4].encode()) <= 256, "format")
        shards.append((m[4].encode(), m[1], count(m[2]), count(m[3])))
    names = [s[0] for s in shards]
    kv = count(take("reports " + n)[1])
    need(1 <= kv <= 2**20, "limit")
    c["reports"] = [count(take(n)[1]) for _ in range(kv)]
    need(not lines, "format")
    need(len(set(names)) == len(names), "duplicate")
    need(names == sorted(names), "format")
    need(lines_said == sum(c["reports"]) + sum(c["refused"]) == sum(s[3] for s in shards), "format")
    need(sum(s[2] for s in shards) <= 2**53, "limit")
    c["shards"] = shards
    return c


def write_counts(c):
    lines = ["wpm-counts-1", "policy " + c["policy"], "epoch" + c["epoch"], f"lines {sum(c['reports']) + sum(c['refused'])}"]
    lines += [f"refused {name} {n}" for name, n in zip(REASONS, c["refused"])] + [f"shards {len(c['shards'])}"]
    lines += [f"{sha} {size} {n} {name.decode()}" for name, sha, size, n in sorted(c["shards"])]
    body = "".join(s + "\n" for s in lines + [f"reports {len(c['reports'])}"] + list(map(str, c["reports"])))
    return body + "sha256 " + hashlib.sha256(body.encode()).hexdigest() + "\n"


def count_file(i):
    p = policy_of(i["policy"])
    text, epoch = i.get("file", ""), i.get("epoch", "")
    lines = [s.strip(" \t\r") if len(s.encode()) <= 4096 else "too long" for s in text.split("\n")]
    if re.match("\ufeff?wpm-simulation-1", text):  # its first line is no report
        lines, epoch = lines[1:], epoch or "simulation"
        need(epoch.startswith("simulation"), "epoch")
    if text.startswith("wpm1"):  # binary, of which a vector can have no report: it is text
        lines = ["binary"] * -(-len(text.encode()) // 40)
    lines = [s for s in lines if s]
    c = {"policy": p["id"], "epoch": " " + epoch if epoch else "", "refused": [0] * 4, "reports": [0] * p["outputs"]}
    for s in lines:
        j = int.from_bytes(bytes.fromhex(s[72:]), "little") if re.fullmatch("77706d31[0-9a-f]{72}", s) else 2**32
        if j >= 2**20 or not s[8:].strip("0"):
            c["refused"][0] += 1
        elif s[8:72] != p["id"]:
            c["refused"][1] += 1
        elif j >= p["outputs"]:
            c["refused"][2] += 1
        elif p["hi"][j] == 0:
            c["refused"][3] += 1
        else:
            c["reports"][j] += 1
    data = i.get("file", "").encode()
    c["shards"] = [(i["name"].encode(), hashlib.sha256(data).hexdigest(), len(data), len(lines))]
    return c


def kind_aggregate(i, o):
    parts = [count_file(i)] if i["op"] == "count" else list(map(read_counts, i["counts"]))
    c = parts[0]
    for d in parts[1:]:
        need(c["policy"] == d["policy"], "policy")
        need(c["epoch"] == d["epoch"], "epoch")
        need(len(c["reports"]) == len(d["reports"]), "shape")
        need(not {s[0] for s in c["shards"]} & {s[0] for s in d["shards"]}, "duplicate")
        need(not {s[1] for s in c["shards"] if s[3] > 100} & {s[1] for s in d["shards"] if s[3] > 100}, "duplicate")
        c = c | {name: [a + b for a, b in zip(c[name], d[name])] for name in ("reports", "refused")} | {"shards": c["shards"] + d["shards"]}
        need(max(sum(c["reports"] + c["refused"]), sum(s[2] for s in c["shards"])) <= 2**53, "limit")
    fault(write_counts(c) == o["counts"], write_counts(c))


# The ledger: an account that is read again for every question, from its bytes

WORD = rb"[0-9A-Za-z._:-]{1,64}"
RECORDS = {  # what a line may say
    "opening": rb"wpm-ledger-1 (\S+)", "debit": rb"debit (\S+) ([0-9a-f]{64}) (" + WORD + rb")",
    "turn": rb"turn (\S+) ([0-9a-f]{64}) (" + WORD + rb")", "key": rb"key ([0-9a-f]{64})",
    "slot": rb"slot (year|month|week|day) ([1-9][0-9]{0,4}) (0|[1-9][0-9]{0,3})",
    "report": rb"report ((?:[0-9a-f]{2}){37,256}) (" + WORD + rb")", "torn": rb".*~torn (.*)",
}
FORMS = {"year": r"(\d{4})", "month": r"(\d{4})-(\d\d)", "week": r"(\d{4})-W(\d\d)", "day": r"(\d{4})-(\d\d)-(\d\d)"}
MONDAY = datetime.date(1970, 1, 5)


def first_day(form, name):
    """The first day of an epoch, or None."""
    m = re.fullmatch(FORMS.get(form, "(?!)"), name, re.ASCII)
    if not m or name < "2000":
        return None
    parts = [int(v) for v in m.groups()]
    try:
        return datetime.date.fromisocalendar(*parts, 1) if form == "week" else datetime.date(*(parts + [1, 1])[:3])
    except ValueError:
        return None


def number_of_day(form, day):
    return {"year": day.year, "month": 12 * day.year + day.month, "week": (day - MONDAY).days // 7, "day": (day - MONDAY).days}[form]


def epoch_number(form, name):
    day = first_day(form, name)
    return None if day is None else number_of_day(form, day)


def epoch_after(form, name, steps):
    """The epoch so many after one: day by day, until the number is reached."""
    day, end = first_day(form, name), epoch_number(form, name) + steps
    if form in ("year", "month"):
        while number_of_day(form, day) < end:
            day = (day.replace(day=28) + datetime.timedelta(days=4)).replace(day=1)
    else:
        day += datetime.timedelta(days=steps * (7 if form == "week" else 1))
    week = "%04d-W%02d" % day.isocalendar()[:2]
    return week if form == "week" else day.isoformat()[:{"year": 4, "month": 7, "day": 10}[form]]


def ratio(b):
    """A number of the ledger, or None."""
    m = re.fullmatch(rb"([0-9]+)(?:\.([0-9]+)|/([0-9]+))?", b)
    if not m or len(b) > 256 or (m[3] and int(m[3]) == 0):
        return None
    return Fraction(int(m[1] + (m[2] or b"")), int(m[3]) if m[3] else 10**len(m[2] or b""))


def is_report(b, policy):
    """Whether a ledger takes these bytes as a report for the policy."""
    kind, named, more = b[:4], b[4:36], b[36:]
    if len(b) > 256 or not more or named != policy:
        return False
    return kind != b"wpm1" or len(more) == 4 and int.from_bytes(more, "little") < 2**20 and any(b[4:])


def tip(text):
    """The hash of the last whole line, and what follows it."""
    chain = bytes(32)
    *lines, rest = text.split(b"\n")
    for line in lines:
        chain = hashlib.sha256(chain + line[:line.rindex(b" ")]).digest()
    return chain, rest


def charge_of(rest):
    m = re.match(rb"(?:debit|turn) ([^ ]*) ", rest)
    return m and ratio(m[1]) or Fraction(0)


class Account:
    """What a text says: the budget, the reports, the slot, the key, and all payments in order, as (turn?, epoch, amount)."""
    def __init__(self, text):
        chain, before = bytes(32), None
        self.budget, self.reports, self.slot, self.key, self.paid = None, {}, None, None, []
        *lines, rest = text.split(b"\n")
        for line in lines:
            body, space, seal = line.rpartition(b" ")
            chain = hashlib.sha256(chain + body).digest()
            need(space and seal == chain.hex().encode(), "ledger")
            name = "torn" if b"~torn " in body else next((n for n in RECORDS if re.fullmatch(RECORDS[n], body)), None)
            m = name and re.fullmatch(RECORDS[name], body, re.DOTALL)
            need(m and (name == "torn" or (name == "opening") == (self.budget is None)), "ledger")
            before = self.take(name, m, before)
        need(self.budget is not None or not rest or re.match(rb"wpm-ledger-1 ", head := rest.split(b"~")[0]) or head and b"wpm-ledger-1 ".startswith(head), "ledger")
        self.paid.append((False, "", charge_of(rest)))

    def take(self, name, m, before):
        if name == "report":
            need(before == (m[1][8:72], m[2]) and is_report(bytes.fromhex(m[1].decode()), bytes.fromhex(m[1][8:72].decode())), "ledger")
            self.reports[before] = m[1]
        elif name == "key":
            need(self.key is None, "ledger")
            self.key = m[1].decode()
        elif name == "slot":
            slot = m[1].decode(), int(m[2]), int(m[3])
            need(self.slot is None and 2 <= slot[1] <= 10000 and slot[2] < slot[1], "ledger")
            self.slot = slot
        else:
            amount, epoch = ratio(m[1]), m[3].decode() if name in ("debit", "turn") else ""
            need(amount is not None, "ledger")
            if name == "opening":
                self.budget = amount
                return None
            if name == "turn":
                n = epoch_number(self.slot[0], epoch) if self.slot else None
                need(n is not None and n % self.slot[1] == self.slot[2], "ledger")
                need(all(n >= epoch_number(self.slot[0], e) for turn, e, _ in self.paid if turn), "ledger")
            self.paid.append((name == "turn", epoch, amount))
            return (m[2], m[3]) if name in ("debit", "turn") else None
        return None

    def spent(self):
        return sum((x for _, _, x in self.paid), Fraction(0))

    def every_window(self):
        return sum((x for turn, _, x in self.paid if not turn), Fraction(0))

    def turns_in(self, epoch):
        return sum((x for turn, e, x in self.paid if turn and e == epoch), Fraction(0))

    def fullest(self):
        return max((self.turns_in(e) for turn, e, _ in self.paid if turn), default=Fraction(0))


def written(text, *bodies):
    """A text with more lines."""
    for body in bodies:
        chain, rest = tip(text)
        if rest:
            body_of_rest = rest + b"~torn " + str(charge_of(rest)).encode()
            chain = hashlib.sha256(chain + body_of_rest).digest()
            text = text[:len(text) - len(rest)] + body_of_rest + b" " + chain.hex().encode() + b"\n"
        text += body + b" " + hashlib.sha256(chain + body).hexdigest().encode() + b"\n"
    return text


def opened(text, asked):
    """The text of an open ledger, and what it says."""
    wanted = None if asked is None else ratio(asked.encode())
    need(asked is None or wanted and len(asked) <= 100, "budget")
    a = Account(text)
    need((wanted if a.budget is None else True) and wanted in (None, wanted if a.budget is None else a.budget), "budget")
    if a.budget is None:
        text = written(text, b"wpm-ledger-1 " + str(wanted).encode())
        a = Account(text)
    return text, a


def refusal_of_step(f):
    try:
        return f()
    except Refused:
        raise Refused("step") from None


def pay(text, asked, s, drawn):
    """The text after a step, and its verdict. drawn is the slot that a ledger without one draws."""
    eps = refusal_of_step(lambda: epsilon(s["eps"]))
    most = refusal_of_step(lambda: epsilon(s["max_epsilon"])) if "max_epsilon" in s else Fraction(64)
    need(re.fullmatch("[0-9a-f]{64}", s["policy"]) and re.fullmatch(WORD, s["epoch"].encode()), "step")
    text, a = opened(text, asked)
    policy, epoch, plan, word, window = s["policy"].encode(), s["epoch"], s.get("schedule"), b"debit", a.fullest()
    if "key" in s and not signed(s["policy"], s["key"], s.get("signature", "")):
        return text, "key"
    if (policy, epoch.encode()) in a.reports:
        return text, "repeated"
    if a.key not in (None, s.get("key")):
        return text, "key"
    if a.key is None and "key" in s:
        text = written(text, b"key " + s["key"].encode())
    if eps > most:
        return text, "maximum"
    if plan and not may_report(a, plan, epoch, s["clock"]):
        return text, "schedule"
    if plan and plan["period"]:
        form, period = plan["epochs"], plan["period"]
        if a.every_window() + eps > a.budget:
            return text, "budget"
        slot = a.slot or (form, period, drawn(period))
        if not a.slot:
            text = written(text, b"slot %s %d %d" % (form.encode(), period, slot[2]))
        if slot[:2] != (form, period):
            return text, "schedule"
        wait = (slot[2] - epoch_number(form, epoch)) % period
        if wait:
            return text, "silent " + epoch_after(form, epoch, wait)
        word, window = b"turn", a.turns_in(epoch)
    if a.every_window() + window + eps > a.budget:
        return text, "budget"
    text = written(text, b"%s %s %s %s" % (word, str(eps).encode(), policy, epoch.encode()))
    if not is_report(bytes.fromhex(s["report"]), bytes.fromhex(s["policy"])):
        return text, "report"
    return written(text, b"report %s %s" % (s["report"].encode(), epoch.encode())), "drawn"


def may_report(a, plan, epoch, clock):
    """Whether a schedule, a clock in milliseconds, and the epochs that were paid for allow an epoch."""
    form = plan["epochs"]
    n, first, last = (None if v is None else epoch_number(form, v) for v in (epoch, plan["first"], plan["last"]))
    if n is None or first is not None and n < first or last is not None and n > last:
        return False
    year_10000 = (datetime.date(9999, 12, 31) - datetime.date(1970, 1, 1)).days + 1
    if not clock // 86400000 < year_10000 or (first_day(form, epoch) - datetime.date(1970, 1, 1)).days > clock // 86400000:
        return False
    return all(n >= m for m in (epoch_number(form, e) for _, e, _ in a.paid) if m is not None)


def account_of(i, drawn):
    """The text at the end, and the members of the answer but for it."""
    text, verdicts = bytes.fromhex(i["text"]), []
    for s in i["steps"]:
        if "torn" in s:
            text += bytes.fromhex(s["torn"])
            continue
        text, verdict = pay(text, i.get("budget"), s, drawn)
        verdicts.append(verdict)
    text, a = opened(text, i.get("budget"))
    left = max(a.budget - (a.every_window() if a.slot else a.spent()), Fraction(0))
    return text, {"budget": str(a.budget), "spent": str(a.spent()), "remaining": str(left), "verdicts": verdicts}


def kind_ledger(i, o):
    if i["op"] == "lock":
        return fault(may_lock(i) == o["verdict"], may_lock(i))
    text, got = account_of(i, lambda period: fault(False, "a slot"))
    got["text"] = text.hex()
    fault(got == o, got)


def kind_schedule(i, o):
    if i["op"] == "epoch":
        n = epoch_number(i["form"], i["name"])
        need(n is not None, "name")
        return fault(o == {"number": n}, n)
    if i["op"] == "signature":
        need(signed(i["policy"], i["key"], i["signature"]), "signature")
        return fault(o == {"verified": True}, o)
    if i["op"] == "ed25519":
        need(ed25519(*(bytes.fromhex(i[name]) for name in ("key", "message", "signature"))), "signature")
        return fault(o == {"verified": True}, o)
    periods, answers = [1], []
    while len(answers) < periods[-1]:  # for each slot that may be drawn
        text, got = account_of(i, lambda period: periods.append(period) or len(answers))
        got["appended"] = text.hex()[len(i["text"]):]
        fault(text.hex().startswith(i["text"]), "the text is changed")
        answers.append(got)
    fault(answers == (o["any"] if "any" in o else [o]), answers)


# Signatures: Ed25519 by affine points, as slow as it is short

FIELD, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, FIELD) % FIELD


def plus_points(p, q):
    (x, y), (v, w) = p, q
    t = CURVE * x * y * v * w
    return (x * w + y * v) * pow(1 + t, -1, FIELD) % FIELD, (y * w + x * v) * pow(1 - t, -1, FIELD) % FIELD


def times_point(n, p):
    total = 0, 1
    for bit in f"{n:b}":
        total = plus_points(total, total)
        total = plus_points(total, p) if bit == "1" else total
    return total


def point(b):
    """The point of 32 bytes, or None."""
    n = int.from_bytes(b, "little")
    y, odd = n % 2**255, n >> 255
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if (x * x - square) % FIELD:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    if y >= FIELD or (x * x - square) % FIELD or (x == 0 and odd):
        return None
    return (x if x % 2 == odd else FIELD - x), y


def ed25519(key, message, signature):
    """Whether a signature verifies, by RFC 8032, section 5.1.7."""
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    base = point((4 * pow(5, -1, FIELD) % FIELD).to_bytes(32, "little"))
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return times_point(s, base) == plus_points(r, times_point(h, a))


@functools.lru_cache(None)
def signed(policy, key, file):
    """Whether the file of a signature is one of a policy by a key."""
    m = re.fullmatch(r"wpm-signature-1 ([0-9a-f]{64}) ([0-9a-f]{128})\n", file)
    return bool(m) and m[1] == key and ed25519(bytes.fromhex(key), b"wpm-signature-1 " + policy.encode(), bytes.fromhex(m[2]))


def may_lock(i):
    """What may be done with what is found at the name of a lock."""
    kind, number = i["found"]["kind"], "(?:-|[0-9]{1,20})"
    if i["name"][-5:].lower() == ".lock" or kind == "other":
        return "refused"
    if kind == "absent":
        return "free"
    if kind == "file":
        text = bytes.fromhex(i["found"].get("bytes", "")).decode("latin-1")
        words = f"[0-9a-f-]{{1,36}}(?: {number}){{%s}}"
        shapes = [words % 3 + "\n?"] + [words % n + " ?" for n in (0, 1, 2)]
        begun = "wpm-lock-1 ".startswith(text) or any(re.fullmatch("wpm-lock-1 " + shape, text) for shape in shapes)
        return ("take-over" if i["kernel_locks"] and not i["kernel_locked"] else "locked") if begun else "refused"
    entries = i["found"].get("entries", [])
    m = re.fullmatch(f"([0-9a-f-]{{1,36}})_({number})_({number})_({number})", entries[0]) if len(entries) == 1 else None
    if not m or "-" in m.groups() or (m[1], m[2]) != (i["boot"], i["namespace"]):
        return "locked"
    return "take-over" if i["processes"].get(m[3]) not in ("unknown", m[4]) else "locked"


# Certificates, by ../docs/verify_certificate.py, which is written from the documentation

UNPROVED = {"problem_sha256": "hash", "cost_sha256": "hash", "the problem": "limit", "no row fits the blanket": "limit",
            "the lower bound is not proved": "claim", "the upper bound is not proved": "claim"}


def kind_certificate(i, o):
    text = i["certificate"]
    try:
        verify_certificate.check(text, 0)
    except ValueError as e:
        raise Refused(UNPROVED.get(str(e), "evidence"))
    c = json.loads(text)
    p, e = c["problem"], c["evidence"]
    eps, central, gone = Fraction(p["eps"]), Fraction(e.get("central", 0)), Decimal("1e-28")  # what its sums leave out
    if c["kind"] == "minimax":
        lower, upper = verify_certificate.minimax(p, e, [[Fraction(x) for x in row] for row in c["cost"]["C"]])
    else:
        lower, upper = verify_certificate.shuffled(p, e, None)
        delta = Fraction(0)
        if central < eps:
            bounds = [enclose(x, 96)[above] if x else 2**96 for x, above in ((eps, 1), (central, 0))]
            delta = verify_certificate.shuffled_delta(p["clients"], Fraction(p["blanket"]), *[Fraction(b, 2**96) for b in bounds],
                                                      e["edges"])
        want = Decimal(o["delta"])
        fault(0 <= real(delta) - want * (1 - NEAR) <= gone + want * Decimal("1e-24"), f"delta is {real(delta)}")
    fault(near(real(lower), o["lower"], Decimal("1e-30")) and upper == Fraction(o["upper"]), f"{real(lower)} to {upper}")


# The schema, as much of JSON Schema as it uses

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def fits(v, s, root):
    if "$ref" in s:
        return fits(v, root["$defs"][s["$ref"].removeprefix("#/$defs/")], root)
    ok = type(v) is TYPES.get(s.get("type"), type(v)) and v == s.get("const", v) and v in s.get("enum", [v])
    if type(v) is str:
        ok &= len(v) >= s.get("minLength", 0) and bool(re.search(s.get("pattern", ""), v))
    elif type(v) is int:
        ok &= v >= s.get("minimum", v)
    elif type(v) is list:
        ok &= s.get("minItems", 0) <= len(v) <= s.get("maxItems", len(v)) and all(fits(x, s.get("items", {}), root) for x in v)
    elif type(v) is dict:
        known = s.get("properties", {})
        ok &= all(name in v for name in s.get("required", [])) and len(v) <= s.get("maxProperties", len(v))
        for name, x in v.items():
            more = s.get("additionalProperties", True)
            ok &= fits(x, known[name], root) if name in known else fits(x, more, root) if type(more) is dict else more
    ok &= all(fits(v, t, root) for t in s.get("allOf", [])) and (any(fits(v, t, root) for t in s["anyOf"]) if "anyOf" in s else True)
    ok &= not ("not" in s and fits(v, s["not"], root))
    if "if" in s:
        ok &= fits(v, s.get("then", {}) if fits(v, s["if"], root) else s.get("else", {}), root)
    return bool(ok)


def main(kinds):
    with open(os.path.join(HERE, "vectors.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    known = {name.removeprefix("kind_"): f for name, f in globals().items() if name.startswith("kind_")}
    files = {name.removesuffix(".json") for name in os.listdir(HERE) if name.endswith(".json")} - {"vectors.schema"}
    faults = [f"{kind}: no such file" for kind in set(known) ^ files]
    kinds = [os.path.basename(kind).removesuffix(".json") for kind in kinds]
    if not set(kinds) <= set(known):
        print("usage: check.py [KIND...], each one of", *sorted(known), file=sys.stderr)
        return 2
    for kind in kinds or sorted(known):
        with open(os.path.join(HERE, kind + ".json"), encoding="utf-8") as f:
            data = json.load(f)
        if not fits(data, schema, schema):
            faults.append(f"{kind}: not of the schema")
        for case in data["cases"]:
            try:
                known[kind](case["in"], case.get("out"))
                verdict = ""
            except Refused as e:
                verdict = str(e)
            except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as e:
                verdict = "a fault" if case["valid"] else "accepted"
                faults.append(f"{case['id']}: {verdict}: {e}" if case["valid"] else f"{case['id']}: accepted, want {case['error']}")
                continue
            if verdict != case.get("error", ""):
                faults.append(f"{case['id']}: {verdict or 'accepted'}, want {case.get('error', 'an answer')}")
        print(f"{kind}: {len(data['cases'])} cases")
    print("\n".join(faults) or "all right")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
