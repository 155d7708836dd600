#!/usr/bin/env python3
"""A second opinion on wpm policy files, written from the documentation of the Go package policy: verify.py FILE...
Prints the ID (SHA-256) of each file, and "accepted" or "refused" and why. Accepted means: the text is canonical; sizes
are in the limits; hi_j <= e^eps lo_j for each j, sum lo <= 2^B <= sum hi, in exact arithmetic; the fallback and each
row that is stated are in the box. Exit status: 0 all accepted, 1 one refused, 2 wrong usage or unreadable file."""
import base64, datetime, hashlib, json, re, sys
from fractions import Fraction
HEAD, BOX, PLACES = "format epsilon bits mode work_limit_ms", "lo hi fallback", "geometry input_points output_points"
COMMON = "inputs outputs provenance metadata certificate cost input_labels output_labels input_aliases"
S, N = r'"[^"\\\0-\x1f]*"', r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"  # a string, a number
TOKEN = re.compile(rf"(?P<k>{S}:)|(?P<n>{N}(?:,{N}){{1,999}})|(?P<v>{S}|{N}|true|false|null)|[][{{}},]")  # n: numbers
NEXT = {"{": "k}", "[": "nv{[]", "k": "v{[", "{,": "k", "[,": "nv{["}  # what may follow
def need(ok, what):
    if not ok: raise ValueError(what)
def text(v):  # the canonical text of a JSON value, of which an object is a tuple of pairs
    if v is None or type(v) is int: return "null" if v is None else str(v)
    if type(v) is str and not re.search("[\0-\x1f\x7f-\x9f]", v):  # no control characters
        return '"' + re.sub(r'(["\\])', r"\\\1", v) + '"'
    if type(v) is list: return "[" + ",".join(",".join(map(text, v[n:n + 999])) for n in range(0, len(v), 999)) + "]"
    need(type(v) is tuple, "a value that no policy has")
    return "{" + ",".join(text(k) + ":" + text(x) for k, x in v) + "}"
def value(s):
    v = json.loads(s, object_pairs_hook=tuple)
    need(text(v) == s, "not the canonical text of a value")
    return v
def compact(s):  # one JSON object without white space, at most 10,000 levels deep, by a stack: json.loads recurses
    s, opened, want, at = re.sub(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})', "_", s), [""], "{", 0  # no escapes from here on
    while want:
        token = TOKEN.match(s, at)
        kind = token and (token.lastgroup or token[0])
        need(token and kind in want and len(opened) <= 10001, f"not a compact JSON object at {at}")
        at = token.end()
        opened.append(kind) if kind in "{[" else opened.pop() if kind in "}]" else None
        want = NEXT.get(kind) or NEXT.get(opened[-1] + kind) or {"{": ",}", "[": ",]", "": ""}[opened[-1]]
    return at == len(s)
short = lambda s, least, most: type(s) is str and least <= len(s.encode()) <= most  # a text of so many bytes
def units(v, kv=0, once=False):  # weights: a list of numbers in strings, or if all are equal, from version 2 on, one
    need(once == (type(v) is str) or once and len(set(v)) > 1, "equal weights")
    v = [v] * kv if type(v) is str else v
    need(type(v) is list and all(type(s) is str and re.fullmatch("0|[1-9][0-9]{0,19}", s) for s in v), "weights")
    return list(map(int, v))
def epsilon(s):
    spelling = r"(0|[1-9][0-9]{0,59})(\.[0-9]{0,37}[1-9]|/[1-9][0-9]{0,59})?"
    need(type(s) is str and re.fullmatch(spelling, s), "not an epsilon")
    x = Fraction(s)
    need(Fraction(1, 10**18) <= x <= 64 and x.denominator < 2**128, "epsilon out of range")
    need("/" not in s or s == str(x) and 10**38 % x.denominator, "epsilon in another spelling")  # 38 places do not do
    return x
def exponential(x, bits):  # integers below and above 2^bits e^x
    n, term, total = 0, Fraction(1), Fraction(1)
    while n < 2 * x or term * 2**bits > 1:
        n += 1; term *= x / n; total += term
    return int(total * 2**bits), int((total + term) * 2**bits) + 1  # later terms are each less than half the one before
def check_box(x, lo, hi, total, bits=256):
    below, above = exponential(x, bits)
    for j, (l, h) in enumerate(zip(lo, hi)):
        while l * below < h << bits <= l * above:  # too close to tell; e^x is irrational, so this ends
            below, above, bits = *exponential(x, 2 * bits), 2 * bits
        need(l <= h <= total and h << bits <= l * below, f"column {j}: not lo <= hi <= 2^B, hi <= e^eps lo")
    need(sum(lo) <= total <= sum(hi), "the box has no point")
def check_row(row, lo, hi, rest):  # it must be the one form that a point of the box has
    (_, full), (_, extra) = row
    add = {j: hi[j] - lo[j] for j in full} | {j: int(a) for j, a in extra}  # or an error
    need(all(0 <= j and 0 < a <= hi[j] - lo[j] for j, a in add.items()), "columns or units of a row")
    full = [j for j in sorted(add) if add[j] == hi[j] - lo[j]]
    extra = [[j, str(add[j])] for j in sorted(add) if add[j] < hi[j] - lo[j]]
    need(row == (("full", full), ("extra", extra)), "not the form of a row")
    need(sum(add.values()) == rest, "a row does not sum to 2^B")
def check_geometry(f, k, kv):  # from which rows follow: points of the box whatever it says
    names, (kind, axes, r, c) = zip(*f["geometry"])
    need(names == ("kind", "axes", "rows", "cols") and all(type(n) is int for n in (axes, r, c)), "geometry")
    x, v, last = f["input_points"], f["output_points"], f.get("thresholds", [0] * k)
    if kind == "points":
        x, xs = v if x is None else x, v + (x or [])
        need(r == c == 0 < axes and len(v) == kv * axes and len(x) == k * axes, "sizes of the points")
        need(all(type(v) is int and -2**31 <= v < 2**31 for v in xs), "coordinates")
        spread = sum((max(xs[a::axes]) - min(xs[a::axes]))**2 for a in range(axes))
        need(min(spread, 4 * max(sum(v * v for v in xs[n:n + axes]) for n in range(0, len(xs), axes))) < 2**63, "keys")
    else: need(x is v is None and axes == 0 < k == kv and dict(ring=r == c == 0, grid=r * c == kv and r > 0)[kind], "")
    need(len(last) == k and all(type(t) is int and 0 <= t < kv for t in last), "thresholds")
def bounds(s, f, k):  # of the outputs of codes and discs
    lo, hi, total, discs, lines = [], [], 0, 0, s[2:-2].split(",\n")
    need(s[:2] + s[-2:] == "[\n\n]" and k * len(lines) <= 2**28, "lines of codes")
    for names, c in (zip(*value(line)) for line in lines):
        disc = names == ("weight", "low", "high", "thresholds")
        need(disc or names == ("weight", "low", "colors", "color"), "a component")
        (w, l), n = units(list(c[:2])), k if disc else c[2]
        need(type(n) is int and 1 < n + disc and len(lo) + n <= f["outputs"], "outputs")  # before they are expanded
        h = units([c[2]])[0] if disc else w - (n - 1) * l
        need(0 < w and n * l <= w <= n * h, "a component without a row")
        if disc: need(len(c[3]) == k and all(type(t) is int and 0 <= t < k for t in c[3]), "thresholds of a disc")
        else:
            raw, b = base64.b64decode(c[3], validate=True), (n - 1).bit_length()
            ones = "".join(f"{byte:08b}" for byte in raw)
            need(base64.b64encode(raw).decode() == c[3] and len(raw) == (k * b + 7) // 8, "packed colours")
            need("1" not in ones[k * b:] and all(int(ones[i:i + b], 2) < n for i in range(0, k * b, b)), "colours")
        lo += [l] * n; hi += [h] * n; total += w; discs += disc
    need(total == 2**f["bits"] and f["output_labels"] is None and f["mode"] == "mixture", "codes")
    need(("geometry" in f) == (discs > 0) and f.get("input_points") is None, "a geometry or discs alone")
    return lo, hi
def number(form, s):  # of an epoch, or an error
    form = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "week": "%G-W%V-%u"}[form]
    text = s + "-1" * ("%u" in form)
    day = datetime.datetime.strptime(text, form)
    need(s.isascii() and s >= "2000" and day.strftime(form) == text, "an epoch")  # strptime takes 2027-W53 for 2028-W01
    return day
def check_schedule(v):
    names, (form, first, last, period) = zip(*v)
    need(names == ("epochs", "first", "last", "period") and type(period) is int and period in (0, *range(2, 10001)), "")
    need(form in ("year", "month", "week", "day"), "epochs")
    ends = [number(form, s) for s in (first, last) if s is not None]
    need(ends == sorted(ends), "the last epoch is before the first")
def check_statements(meta, provenance):  # those of the publisher, which policies of every kind have
    need(type(meta) is tuple and len(meta) <= 64 and [key for key, _ in meta] == sorted(dict(meta)), "metadata")
    need(all(short(key, 1, 64) and short(s, 0, 4096) for key, s in meta), "texts of the metadata")
    names, (geometry, eps, base, base_eps, note) = zip(*provenance)
    need(" ".join(names) == "geometry geometry_epsilon base_measure base_measure_epsilon note", "provenance")
    for origin, x, clean in (geometry, eps, "public"), (base, base_eps, "data-independent"):
        need(x is None if origin in (clean, "unstated") else origin == "derived-dp" and epsilon(x), "provenance")
    need(type(provenance) is tuple and short(note, 0, 4096), "provenance")
def check_labels(f, k, kv):
    aliases = f.get("input_aliases", [])  # pairs, or an error
    need(type(aliases) is list and len(aliases) <= 2**20 and aliases == sorted(aliases), "aliases, or their order")
    need(all(type(i) is int and 0 <= i < k for i, _ in aliases) and (aliases or "input_aliases" not in f), "aliases")
    for labels, n, more in (f["input_labels"], k, [s for _, s in aliases]), (f["output_labels"], kv, []):
        need(labels is None and not more or type(labels) is list and len(labels) == n, "labels")
        names = (labels or []) + more
        need(all(short(s, 1, 256) for s in names) and len(set(names)) == len(names), "texts of labels")
def members(data, fields, most):  # the text of each: it ends with its line, but that of rows; no text has line ends
    need(len(data) <= most and data[:3] + data[-3:] == b'{\n"\n}\n' and data.count(b'\n"') < 30, "cut off, or not of few lines")
    pairs = [line.split('":', 1) for line in data[3:-3].decode("utf-8").split(',\n"')]
    names = [name for name, *_ in pairs]
    need(names == [name for name in fields if name in names or name != "input_aliases"], "members, or their order")
    return dict(pairs)
def check(data):
    has = lambda name: b'\n"%s":' % name.encode() in data
    version = dict(zip((b'{\n"format":"wpm-policy-%d",' % n for n in (1, 2, 3)), (1, 2, 3))).get(data[:26], 1)
    timed, coded = (version == 3 and has(name) for name in ("schedule", "codes"))
    two = version == 2 or version == 3 and has("geometry")
    need(version < 3 or timed or coded, "version 3 without a reason")
    form = (f"{PLACES * two} codes" if coded else f"{BOX} {PLACES} thresholds" if two else f"{BOX} rows")
    f = members(data, f"{HEAD} {'schedule' * timed} {COMMON} {form}".split(), 64 << 20)
    certificate, codes = f.pop("certificate"), f.pop("codes", None)
    for s in certificate, f.pop("cost"): need(s == "null" or compact(s), "certificate or cost")  # of any depth
    s = f.pop("rows", "null")
    rows = None if s == "null" else list(map(value, s[2:-2].split(",\n")))  # a line for each
    need(s == "null" or s[:2] + s[-2:] == "[\n\n]", "lines of rows")
    f = {name: value(s) for name, s in f.items()}
    k, kv, bits, limit = sizes = [f[name] for name in "inputs outputs bits work_limit_ms".split()]
    need(all(type(n) is int for n in sizes) and 0 < k <= 2**20 and 0 < kv <= 2**20 and 0 < bits < 63, "sizes")
    need({"mixture": not limit and (rows or two or coded), "projection": 0 < limit <= 3600000}[f["mode"]], "mode")
    need(not coded or certificate == "null", "a certificate beside codes")
    lo, hi = bounds(codes, f, k) if coded else (units(f[name], kv, version > 1) for name in ("lo", "hi"))
    need(f["format"] == f"wpm-policy-{version}" and len(lo) == len(hi) == kv and len(rows or "1" * k) == k, "sizes")
    if two: check_geometry(f, k, k if coded else kv)
    if timed: check_schedule(f["schedule"])
    check_box(epsilon(f["epsilon"]), lo, hi, 2**bits); rest = 2**bits - sum(lo)
    for row in ([] if coded else [f["fallback"]]) + (rows or []): check_row(row, lo, hi, rest)
    check_statements(f["metadata"], f["provenance"])
    check_labels(f, k, kv)
def main(check):
    status = 0 if sys.argv[1:] else print(sys.modules["__main__"].__doc__, file=sys.stderr) or 2
    for name in sys.argv[1:]:
        verdict = "accepted"
        try: check(data := open(name, "rb").read())
        except OSError as e: sys.exit(print(e, file=sys.stderr) or 2)
        except Exception as e: verdict, status = f"refused ({str(e)[:120]})", 1  # of JSON and UTF-8, too
        print(hashlib.sha256(data).hexdigest(), verdict, name)
    sys.exit(status)
if __name__ == "__main__": main(check)
