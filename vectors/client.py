#!/usr/bin/env python3
"""A client of wpm in pure Python, from docs/spec: policies, draws, ledgers, schedules, signatures, counts, rounding,
projection, phi, KPM, and certificates by ../docs/verify_certificate.py.
It answers the lines of docs/spec/conform.md on standard input, so that wpm-conform can test it:
    wpm-conform -- python3 vectors/client.py
Integers and fractions are exact. It takes its random bytes from the lines, so it is no program for private data."""
import base64, datetime, hashlib, heapq, json, math, os, re, secrets, sys, zlib
from decimal import Decimal, getcontext
from fractions import Fraction
getcontext().prec = 60
NUMBER = "(?:0|[1-9][0-9]{0,19})"
class Refused(Exception): pass
def need(ok, what):
    if not ok: raise Refused(what)

# Numbers: floats, decimal integers, epsilon and e^epsilon.
def num(v):
    need(type(v) in (int, float) or v in ("inf", "-inf", "nan"), "not a number")
    return float(v)
def nums(v):
    need(type(v) is list, "not a list")
    return list(map(num, v))
def units(v):
    need(type(v) is list and all(type(s) is str and re.fullmatch(NUMBER, s, re.ASCII) for s in v), "weights")
    return list(map(int, v))
def real(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)
def below(x):  # the largest float <= a fraction
    v = float(x)
    return v if Fraction(v) <= x else math.nextafter(v, -math.inf)
def epsilon(s):
    need(type(s) is str and len(s) <= 100, "epsilon")
    need(re.fullmatch(r"(0|[1-9][0-9]*)(/[1-9][0-9]*|(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?)", s, re.ASCII), "epsilon")
    x = Fraction(s)
    need(Fraction(1, 10**18) <= x <= 64 and x.denominator < 2**128, "epsilon out of range")
    return x
def canonical(x):
    if 10**38 % x.denominator: return str(x)
    whole, part = divmod(x.numerator * 10**38 // x.denominator, 10**38)
    return f"{whole}.{part:038}".rstrip("0").rstrip(".")
def exp_times(x, f):
    """f(a, b), monotone in a/b, with integers for values, at a/b = e^x: by bounds as narrow as it takes."""
    bits = 256
    while True:
        n, term, total = 0, Fraction(1), Fraction(1)
        while n < 2 * x or term * 2**bits > 1: n, term, total = n + 1, term * x / (n + 1), total + term * x / (n + 1)
        low, high = f(int(total * 2**bits), 2**bits), f(int((total + term) * 2**bits) + 1, 2**bits)
        if low == high: return low
        bits *= 2
def exp_list(x, n, f): return exp_times(x, lambda a, b: [f(v, a, b) for v in n])
floor_product = lambda n, a, b: n * a // b
ceil_quotient = lambda n, a, b: -(-n * b // a)

# The box: its check, the ceil rule, rounding, drawing.
def check_box(x, bits, lo, hi):
    need(type(bits) is int and 1 <= bits <= 62, "bits")
    need(len(lo) == len(hi) > 0 and all(l <= h <= 2**bits for l, h in zip(lo, hi)), "bounds")
    need(all(h <= most for h, most in zip(hi, exp_list(x, lo, floor_product))), "hi > e^eps lo")
    need(sum(lo) <= 2**bits <= sum(hi), "sums")
def check_row(bits, lo, hi, n):
    need(len(n) == len(lo) and sum(n) == 2**bits and all(l <= v <= h for l, v, h in zip(lo, n, hi)), "row")
def make_box(x, m, bits):
    need(type(bits) is int and 1 <= bits <= 62, "bits")
    need(m and all(0 <= v < math.inf for v in m), "base measure")
    mass, slack, total = sum(map(Fraction, m)), 1 + Fraction(1, 10**9), 2**bits
    need(mass and exp_times(x / 2, lambda a, b: mass * b <= a * slack and b <= a * slack * mass), "mass")
    need(sum(v > 0 for v in m) <= total, "bits")
    top = exp_list(x / 2, [Fraction(v) * total for v in m], lambda v, a, b: -(-v.numerator * a // (v.denominator * b)))
    lo = exp_list(x, top, ceil_quotient)
    if sum(lo) > total:
        level, step = 0, total
        while step:
            level, step = level + step if sum(min(n, level + step) for n in lo) <= total else level, step // 2
        cut = [j for j, n in enumerate(lo) if n > level]
        lo = [min(n, level) for n in lo]
        for j in cut[:total - sum(lo)]: lo[j] += 1
    hi = [min(h, total) for h in exp_list(x, lo, floor_product)]
    if sum(hi) < total:
        j = lo.index(max(lo))
        lo[j] = exp_times(x, lambda a, b: ceil_quotient(hi[j] + total - sum(hi), a, b))
        hi[j] = min(exp_times(x, lambda a, b: floor_product(lo[j], a, b)), total)
    return lo, hi
def round_in(bits, lo, hi, q):
    total, n, part = 2**bits, [], []
    for j, (l, h) in enumerate(zip(lo, hi)):
        v = q[j] if j < len(q) and q[j] == q[j] else -math.inf
        x = Fraction(v) * total if abs(v) < math.inf else Fraction(h if v > 0 else l)
        whole = x.numerator // x.denominator
        part.append(x - whole if l <= whole < h else 0)
        n.append(min(max(whole, l), h))
    for j in range(len(n)): n[j] -= min(max(sum(n) - total, 0), n[j] - lo[j])
    for j in sorted(range(len(n)), key=lambda j: -part[j])[:max(total - sum(n), 0)]: n[j] += part[j] > 0
    for j in range(len(n)): n[j] += min(total - sum(n), hi[j] - n[j])
    return n
def first(n, r):
    for j, v in enumerate(n):
        r -= v
        if r < 0: return j
def draw_index(n, bits, random):
    need(len(random) >= (bits + 7) // 8, "too few random bytes")
    return first(n, int.from_bytes(random[:(bits + 7) // 8], "little") % 2**bits)

# The policy file: it is read as JSON, written again in its one text, and compared.
def quote(s):
    need(not re.search("[\0-\x1f\x7f-\x9f]", s), "control character")
    return '"' + re.sub(r'(["\\])', r"\\\1", s) + '"'
def listed(v, f="{:d}".format, ends="[]", comma=","):
    return "null" if v is None else ends[:len(ends) // 2] + comma.join(map(f, v)) + ends[len(ends) // 2:]
def pair(f): return lambda v: f"[{v[0]:d},{f(v[1])}]" if len(v) == 2 else ""
def row_text(r): return '{"full":' + listed(r["full"]) + ',"extra":' + listed(r["extra"], pair(quote)) + "}"
TOKEN = re.compile(r'''"(?:[^"\\\0-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|[][{}:,]|true|false|null|'''
                   r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
def compact(s):
    """Whether s is null or one JSON object without white space, at most 10,000 levels deep: json.loads recurses."""
    opened, at, state = [], 0, "end" if s == "null" else "object"
    while state != "end":
        m = TOKEN.match(s, at)
        need(m, "a token")
        at, kind = m.end(), m[0][0] if m[0][0] in '{}[]:,"' else "0"
        if kind in "{[" and state in ("value", "first item") or kind == "{" and state == "object":
            opened.append("}" if kind == "{" else "]")
            need(len(opened) <= 10000, "levels")
            state = "first key" if kind == "{" else "first item"
        elif kind in "}]" and state in (",", "first key" if kind == "}" else "first item"):
            need(opened.pop() == kind, "an end")
            state = "," if opened else "end"
        elif kind == '"' and state in ("key", "first key"): state = ":"
        elif kind in '"0' and state in ("value", "first item"): state = ","
        elif kind == ":" == state: state = "value"
        elif kind == "," == state: state = "key" if opened[-1] == "}" else "value"
        else: raise Refused("a token in the wrong place")
    return s == "null" or at == len(s)
def read_policy(text, data):
    need((text is None) != (data is None), "policy or policy_hex")
    need(type(text) is str or type(data) is str, "policy")
    s = bytes.fromhex(data).decode() if text is None else text
    need(len(s.encode()) <= 64 << 20, "too long")
    opaque = re.search(r'\n"certificate":(.*),\n"cost":(.*),\n"input_labels":', s)  # neither has line ends
    need(compact(opaque[1]) and compact(opaque[2]), "certificate or cost")
    p = json.loads(s[:opaque.start()] + '\n"input_labels":' + s[opaque.end():])
    version = {f"wpm-policy-{n}": n for n in (1, 2, 3)}.get(p["format"], 0)
    two, coded, timed, k, kv = version > 1 and "geometry" in p, "codes" in p, "schedule" in p, p["inputs"], p["outputs"]
    need(version == 3 if coded or timed else version == 1 + two, "format")
    need(1 <= k <= 2**20 and 1 <= kv <= 2**20, "sizes")
    p["epsilon"], a = epsilon(p["epsilon"]), p.get("input_aliases")
    if coded: need(opaque[1] == "null" and p["output_labels"] is None and p["mode"] == "mixture", "beside codes")
    for name in ("lo", "hi") * (not coded):
        p[name] = units([p[name]] * kv if version > 1 and type(p[name]) is str else p[name])
    bound = lambda v: f'"{v[0]}"' if version > 1 and len(set(v)) == 1 else listed(v, '"{}"'.format)
    loss = lambda x: "null" if x is None else quote(canonical(epsilon(x)))
    inner = lambda o, *f: "{" + ",".join(f'"{name}":{g(o[name])}' for name, g in zip(o, f)) + "}"
    number, texts, o, g = "{:d}".format, lambda v: listed(v, quote), p["provenance"], p.get("geometry")
    need(" ".join(o) == "geometry geometry_epsilon base_measure base_measure_epsilon note", "provenance")
    need(not two or " ".join(g) == "kind axes rows cols", "geometry")
    fields = {"format": quote(p["format"]), "epsilon": quote(canonical(p["epsilon"])), "bits": number(p["bits"])}
    fields |= {"mode": quote(p["mode"]), "work_limit_ms": number(p["work_limit_ms"])}
    or_null = lambda v: "null" if v is None else quote(v)
    if timed: fields["schedule"] = inner(check_schedule(p["schedule"]), quote, or_null, or_null, number)
    fields |= {name: number(p[name]) for name in ("inputs", "outputs")}
    fields |= {"provenance": inner(o, quote, loss, quote, loss, quote)}
    fields |= {"metadata": listed(p["metadata"].items(), lambda m: quote(m[0]) + ":" + quote(m[1]), "{}")}
    fields |= {"certificate": opaque[1], "cost": opaque[2]}
    fields |= {"input_labels": texts(p["input_labels"]), "output_labels": texts(p["output_labels"])}
    fields |= {"input_aliases": listed(a, pair(quote))} if a else {}
    if not coded: fields |= {"lo": bound(p["lo"]), "hi": bound(p["hi"]), "fallback": row_text(p["fallback"])}
    if two: fields["geometry"] = inner(g, quote, number, number, number)
    for name in "input_points output_points".split() * two: fields[name] = listed(p[name])
    if two and not coded: fields["thresholds"] = listed(p["thresholds"])
    if coded:
        code = lambda c: inner(c, quote, quote, *([number, quote] if "color" in c else [quote, listed]))
        need(len(p["codes"]) * k <= 2**28 and p["codes"], "colours")
        fields["codes"] = listed(p["codes"], code, "[\n\n]", ",\n")
    if not two and not coded: fields["rows"] = listed(p["rows"], row_text, "[\n\n]", ",\n")
    text = "{\n" + ",\n".join(f'"{name}":{text}' for name, text in fields.items())
    need(text + "\n}\n" == s, "another spelling")
    check_policy(p, two, k, kv)
    p["sha256"] = hashlib.sha256(s.encode()).hexdigest()
    return p
def check_policy(p, two, k, kv):
    o, sized = p["provenance"], lambda least, most, texts: all(least <= len(t.encode()) <= most for t in texts)
    need(p["work_limit_ms"] == 0 if p["mode"] == "mixture" else 1 <= p["work_limit_ms"] <= 3600000, "work limit")
    coded = "codes" in p
    need(p["mode"] == "projection" or p["mode"] == "mixture" and (two or coded or p["rows"]), "mode")
    for name, clean in ("geometry", "public"), ("base_measure", "data-independent"):
        need(o[name] == "derived-dp" if o[name + "_epsilon"] else o[name] in (clean, "unstated"), "provenance")
    meta = [name.encode() for name in p["metadata"]]
    need(meta == sorted(meta) and len(meta) <= 64 and sized(1, 64, p["metadata"]), "metadata")
    need(sized(0, 4096, [o["note"], *p["metadata"].values()]), "texts")
    aliases = [(i, a.encode()) for i, a in p.get("input_aliases", [])]
    need(aliases == sorted(aliases) and len(aliases) <= 2**20 and all(0 <= i < k for i, _ in aliases), "aliases")
    need(not aliases or p["input_labels"], "aliases without labels")
    inputs = list(map(str, range(k))) if p["input_labels"] is None else p["input_labels"]
    outputs = ["-"] * kv if p["output_labels"] is None else p["output_labels"]
    names = inputs + [a for _, a in p.get("input_aliases", [])]
    need(len(inputs) == k and len(outputs) == kv and sized(1, 256, names + outputs), "labels")
    need(len(set(names)) == len(names) and (p["output_labels"] is None or len(set(outputs)) == kv), "labels twice")
    p["index"] = {a.encode(): i for i, a in [*enumerate(inputs), *p.get("input_aliases", [])]}
    if coded: check_codes(p, k)
    check_box(p["epsilon"], p["bits"], p["lo"], p["hi"])
    need(len(p["lo"]) == kv, "bounds")
    p["fallback"] = [v for c in p["codes"] for v in c["even"]] if coded else expand(p, p["fallback"])
    if two: return check_geometry(p, k, k if coded else kv)
    if coded: return
    p["rows"] = p["rows"] and [expand(p, row) for row in p["rows"]]
    need(p["rows"] is None or len(p["rows"]) == k, "rows")
def check_schedule(s):
    need(" ".join(s) == "epochs first last period", "schedule")
    need(s["epochs"] in FORMS and type(s["period"]) is int, "schedule")
    ends = [epoch_number(s["epochs"], v) for v in (s["first"], s["last"]) if v is not None]
    need(None not in ends and ends == sorted(ends) and (s["period"] == 0 or 2 <= s["period"] <= 10000), "schedule")
    return s

# Epochs: periods of time with names and numbers.
FORMS = {"year": "", "month": r"-(\d\d)", "week": r"-W(\d\d)", "day": r"-(\d\d)-(\d\d)"}
MONDAY = 719167  # days until 1970-01-05, the first day and the first of the first week
def new_year(y): return 365 * (y - 1) + (y - 1) // 4 - (y - 1) // 100 + (y - 1) // 400 + 1 - MONDAY
def new_month(y, m):
    february = new_year(y + 1) - new_year(y) - 337
    return new_year(y) + sum([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][:m - 1])
def first_week(y): return (new_year(y) + 3) // 7  # it has January 4
def epoch_number(form, name):
    m = re.fullmatch(r"([2-9]\d{3})" + FORMS.get(form, "(?!)"), name, re.ASCII)
    if not m: return None
    y, *part = map(int, m.groups())
    if form == "year": return y
    if form == "week": n, least, most = first_week(y) + part[0] - 1, first_week(y), first_week(y + 1)
    elif not 1 <= part[0] <= 12: return None
    elif form == "month": return 12 * y + part[0]
    else: n, least, most = new_month(y, part[0]) + part[1] - 1, new_month(y, part[0]), new_month(y, part[0] + 1)
    return n if least <= n < most else None
def epoch_name(form, n):
    if form == "year": return str(n)
    if form == "month": return f"{(n - 1) // 12}-{(n - 1) % 12 + 1:02}"
    day = datetime.date.fromordinal((n if form == "day" else 7 * n) + MONDAY)
    return day.isoformat() if form == "day" else "{}-W{:02}".format(*day.isocalendar())
def epoch_at(form, clock):
    """The number of the epoch at a time in milliseconds, -1 after the year 9999."""
    n = clock // 86400000 - 4
    if n >= new_year(10000): return -1
    day = datetime.date.fromordinal(n + MONDAY)
    return {"year": day.year, "month": 12 * day.year + day.month, "week": n // 7, "day": n}[form]

# Signatures: Ed25519, RFC 8032. It only verifies: all of its numbers are public.
PRIME, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
CURVE, ROOT = -121665 * pow(121666, -1, PRIME) % PRIME, pow(2, (PRIME - 1) // 4, PRIME)
def add_points(p, q):  # of X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * CURVE * p[3] * q[3], 2 * p[2] * q[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME
def times_point(n, p):
    total = 0, 1, 1, 0
    while n:
        if n & 1: total = add_points(total, p)
        n, p = n >> 1, add_points(p, p)
    return total
def read_point(b):
    n = int.from_bytes(b, "little")
    y, odd = n % 2**255, n >> 255
    need(y < PRIME, "a point")
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square: x = x * ROOT % PRIME
    need(x * x % PRIME == square and (x or not odd), "a point")
    if x % 2 != odd: x = PRIME - x
    return x, y, 1, x * y % PRIME
BASE = read_point(bytes([0x58] + [0x66] * 31))
def verify(key, text, signature):
    need(len(key) == 32 and len(signature) == 64, "lengths")
    s, h = int.from_bytes(signature[32:], "little"), hashlib.sha512(signature[:32] + key + text).digest()
    need(s < ORDER, "the number of a signature")
    p = times_point(s, BASE)
    q = add_points(read_point(signature[:32]), times_point(int.from_bytes(h, "little") % ORDER, read_point(key)))
    need((p[0] * q[2] - q[0] * p[2]) % PRIME == 0 == (p[1] * q[2] - q[1] * p[2]) % PRIME, "signature")
def verify_policy(policy, key, text):
    need(re.fullmatch("[0-9a-f]{64}", key), "key")
    m = re.fullmatch("wpm-signature-1 ([0-9a-f]{64}) ([0-9a-f]{128})\n", text)
    need(m and m[1] == key, "no signature, or by another key")
    verify(bytes.fromhex(key), b"wpm-signature-1 " + policy.encode(), bytes.fromhex(m[2]))

# Policies with codes.
def check_codes(p, k):
    p["lo"], p["hi"], weight, discs = [], [], 0, 0
    for c in p["codes"]:
        disc = " ".join(c) == "weight low high thresholds"
        need(disc or " ".join(c) == "weight low colors color", "component")
        c["weight"], c["low"], *high = units([c[name] for name in ("weight", "low", "high") if name in c])
        n = k if disc else c["colors"]
        need((disc or n >= 2) and len(p["lo"]) + n <= p["outputs"], "outputs")  # before they are expanded
        c["high"] = high[0] if disc else c["weight"] - (n - 1) * c["low"]
        need(0 < c["weight"] and n * c["low"] <= c["weight"] <= n * c["high"], "weights of a component")
        c["even"] = [c["weight"] // n + (y < c["weight"] % n) for y in range(n)]
        if disc: need(len(c["thresholds"]) == k and all(0 <= t < k for t in c["thresholds"]), "thresholds")
        else:
            size, packed = (n - 1).bit_length(), base64.b64decode(c["color"], validate=True)
            bits = f"{int.from_bytes(b'1' + packed):b}"[-8 * len(packed):] if packed else ""
            need(base64.b64encode(packed).decode() == c["color"] and len(packed) == -(-k * size // 8), "packed colours")
            c["of"] = [int(bits[i * size:(i + 1) * size], 2) for i in range(k)]
            need(max(c["of"]) < n and "1" not in bits[k * size:], "colours")
        p["lo"] += [c["low"]] * n
        p["hi"] += [c["high"]] * n
        weight, discs = weight + c["weight"], discs + disc
    need(weight == 2**p["bits"], "weights of components")
    need(("geometry" in p) == (discs > 0) and p.get("input_points") is None, "geometry")
def component(p, c, i):
    n = [c["low"]] * len(c["even"])
    if "of" in c:
        n[c["of"][i]] = c["high"]
        return n
    left, width = c["weight"] - len(n) * c["low"], c["high"] - c["low"]
    full = (left - 1) // width if left else 0
    for at, j in enumerate(sorted(range(len(n)), key=lambda j: (p["key"](i, j), j))):
        if at == full:
            n[j] += left - full * width
            return n if j == c["thresholds"][i] else c["even"]
        n[j] += width
def expand(p, row):
    lo, hi = p["lo"], p["hi"]
    full, extra = row["full"], [(j, *units([u])) for j, u in row["extra"]]
    add = {j: hi[j] - lo[j] for j in full} | dict(extra)
    need(full == sorted(full) and extra == sorted(extra) and len(add) == len(full) + len(extra), "order of a row")
    need(min(add, default=0) >= 0 and all(add.values()) and all(u < hi[j] - lo[j] for j, u in extra), "units of a row")
    n = [l + add.get(j, 0) for j, l in enumerate(lo)]
    check_row(p["bits"], lo, hi, n)
    return n
def check_geometry(p, k, kv):
    x, v, t = p["input_points"], p["output_points"], p.get("thresholds", [0] * k)
    kind, a, r, c = p["geometry"].values()
    need(len(t) == k and 0 <= min(t) <= max(t) < kv, "thresholds")
    if kind == "points":
        need(a >= 1 and r == c == 0 and len(v) == kv * a and len(v if x is None else x) == k * a, "points")
        every, x = v + (x or []), x or v
        need(all(-2**31 <= w < 2**31 for w in every), "coordinates")
        spread = sum((max(every[n::a]) - min(every[n::a]))**2 for n in range(a))
        need(min(spread, 4 * max(sum(w * w for w in every[n:n + a]) for n in range(0, len(every), a))) < 2**63, "keys")
        p["key"] = lambda i, j: sum((s - t)**2 for s, t in zip(x[i * a:i * a + a], v[j * a:j * a + a]))
        return
    need(kind in ("grid", "ring") and a == 0 and x is None and v is None and k == kv, "geometry")
    need(r >= 1 and r * c == kv if kind == "grid" else r == c == 0, "rows and columns")
    p["key"] = lambda i, j: min((i - j) % kv, (j - i) % kv)
    if kind == "grid": p["key"] = lambda i, j: ((i % c - j % c) * r)**2 + ((i // c - j // c) * c)**2
def row_of(p, i):
    if "codes" in p: return [v for c in p["codes"] for v in component(p, c, i)]
    if "thresholds" not in p: return p["rows"][i]
    n, lo, hi, t = list(p["lo"]), p["lo"], p["hi"], p["thresholds"][i]
    for j in sorted(range(len(lo)), key=lambda j: (p["key"](i, j), j)):
        if j == t:
            n[j] = 2**p["bits"] - sum(n[:j]) - sum(n[j + 1:])
            return n if lo[j] <= n[j] <= hi[j] else p["fallback"]
        n[j] = hi[j]

# The release.
def unzip(data):
    out, little = b"", lambda b: int.from_bytes(b, "little")
    while data:
        at = 10
        need(len(data) >= 18 and data[:3] == b"\x1f\x8b\x08" and data[3] < 32, "gzip")
        if data[3] & 4: at += 2 + little(data[10:12])
        for flag in 8, 16:
            if data[3] & flag: at = data.index(b"\0", at) + 1
        if data[3] & 2:
            need(zlib.crc32(data[:at]) & 0xffff == little(data[at:at + 2]), "checksum of the header")
            at += 2
        z = zlib.decompressobj(-15)
        text = z.decompress(data[at:], (64 << 20) + 1)
        end, out = z.unused_data, out + text
        need(z.eof and len(out) <= 64 << 20 and len(end) >= 8, "gzip")
        need(zlib.crc32(text) == little(end[:4]), "checksum")
        need(len(text) == little(end[4:8]), "size")
        data = end[8:]
    return out
def fields(line, n):
    out = []
    for _ in range(n - 1):
        m = re.match(rb'(?:"((?:[^"]|"")+)"|([^",][^,]*)),', line, re.DOTALL)
        need(m, "field")
        out.append(m[1].replace(b'""', b'"') if m[2] is None else m[2])
        line = line[m.end():]
    return out + [line]
def read_counts(p, data):
    need(len(data) <= 64 << 20, "too long")
    text = unzip(data) if data[:2] == b"\x1f\x8b" else data
    lines, counts, users = text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), [0.0] * p["inputs"], set()
    need(all(len(line) <= 4096 for line in [text.split(b"\n")[0]] + lines), "long line")
    lines = [line.removesuffix(b"\r") for line in lines]
    n = 3 if lines[0] == b"user,label,count" else 2
    for line in lines[lines[0] in (b"user,label,count", b"label,count"):]:
        if not line: continue
        *user, label, count = fields(line, n)
        users.update(user)
        need(re.fullmatch(rb"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", count) and len(count) <= 64, "count")
        need(label in p["index"] and float(count) <= 2.0**53, "label or count")
        counts[p["index"][label]] += float(count)
    need(len(users) <= 1 and any(counts), "users or sum")
    need(all(len(u) <= 256 and not re.search("[\0-\x1f\x7f-\x9f]", u.decode()) for u in users), "user")
    return counts
def added(v):
    total = 0.0
    for x in v: total += x
    return total
def pick(counts, w):
    shift = 62 - math.frexp(added(counts))[1]
    u = [int(Fraction(c) * Fraction(2)**shift) for c in counts]
    return first(u, w * sum(u) >> 64)

# The ledger: its text in a store of bytes, and the lock of a ledger in a file.
EPOCH = "[A-Za-z0-9._:-]{1,64}"
def rational(s):
    m = re.fullmatch(r"([0-9]+)(?:\.([0-9]+)|/([0-9]+))?", s, re.ASCII)
    if not m or len(s) > 256 or m[3] and not int(m[3]): return None
    return Fraction(int(m[1]), int(m[3])) if m[3] else Fraction(int(m[1] + (m[2] or "")), 10**len(m[2] or ""))
def is_report(b, policy):
    if not 37 <= len(b) <= 256 or b[4:36].hex() != policy: return False
    return b[:4] != b"wpm1" or len(b) == 40 and int.from_bytes(b[36:], "little") < 2**20 and any(b[4:])
class Ledger:
    """Reads a text, which is Latin-1 here: a character for each byte; more gets what is to be appended to it."""
    def __init__(self, text, budget):
        if budget is not None:
            budget = rational(budget) if type(budget) is str and len(budget) <= 100 else None
            need(budget, "budget")
        self.chain, self.budget, self.reports, self.more, debit = bytes(32), None, {}, "", None
        self.spent = self.always = Fraction(0)  # always: what counts in every window
        self.slot, self.key, self.turns, self.turn, self.latest = None, None, {}, 0, {}
        *lines, self.rest = text.split("\n")
        for line in lines: debit = self.line(line, debit)
        self.pay(self.charge())
        head, start = self.rest.split("~")[0], "wpm-ledger-1 "
        opens = head.startswith(start) or head and start.startswith(head)
        need(not self.rest or self.budget is not None or opens, "no ledger")
        need(None in (budget, self.budget) or budget == self.budget, "another budget")
        if self.budget is None:
            need(budget is not None, "no budget")
            self.budget = budget
            self.write(f"wpm-ledger-1 {budget}")
    def line(self, line, debit):
        """Reads a line after another one, of whose debit it gets the ID and the epoch, and returns its own."""
        need(" " in line, "no hash")
        body, seal = line.rsplit(" ", 1)
        self.chain = hashlib.sha256(self.chain + body.encode("latin-1")).digest()
        need(seal == self.chain.hex(), "the chain breaks")
        if "~torn " in body: return self.pay(rational(body.rsplit("~torn ", 1)[1]))
        word, *fields = body.split(" ")
        need((word == "wpm-ledger-1") == (self.budget is None), "the opening")
        if word == "wpm-ledger-1" and len(fields) == 1:
            self.budget = rational(fields[0])
            return need(self.budget is not None, "budget")
        if word in ("debit", "turn") and len(fields) == 3:
            need(re.fullmatch("[0-9a-f]{64}", fields[1]) and re.fullmatch(EPOCH, fields[2]), "debit")
            number = epoch_number(self.slot[0], fields[2]) if word == "turn" and self.slot else None
            need(word == "debit" or number is not None and self.mine(number) and number >= self.turn, "turn")
            self.pay(rational(fields[0]), fields[2], number)
            return fields[1], fields[2]
        if word == "slot" and len(fields) == 3:
            need(not self.slot and fields[0] in FORMS, "another slot, or another form")
            need(all(re.fullmatch("0|[1-9][0-9]{0,4}", n, re.ASCII) for n in fields[1:]), "the numbers of a slot")
            self.slot = fields[0], int(fields[1]), int(fields[2])
            return need(2 <= self.slot[1] <= 10000 and self.slot[2] < self.slot[1], "slot")
        if word == "key" and len(fields) == 1:
            need(self.key is None and re.fullmatch("[0-9a-f]{64}", fields[0]), "key")
            self.key = fields[0]
            return
        need(word == "report" and len(fields) == 2 and debit and fields[1] == debit[1], "record")
        need(re.fullmatch("([0-9a-f]{2})+", fields[0]) and is_report(bytes.fromhex(fields[0]), debit[0]), "report")
        self.reports[debit] = fields[0]
    def mine(self, number): return number % self.slot[1] == self.slot[2]
    def pay(self, amount, epoch="", number=None):
        """Adds a debit or, with the number of its epoch, a turn."""
        need(amount is not None, "a number")
        self.spent += amount
        if number is None: self.always += amount
        else: self.turn, self.turns[number] = number, self.turns.get(number, 0) + amount
        for form in FORMS: self.latest[form] = max(epoch_number(form, epoch) or 0, self.latest.get(form, 0))
    def charge(self):
        words = self.rest.split(" ", 2)
        return words[0] in ("debit", "turn") and len(words) == 3 and rational(words[1]) or Fraction(0)
    def write(self, body):
        bodies = [body]
        if self.rest: bodies.insert(0, f"{self.rest}~torn {self.charge()}")
        for n, b in enumerate(bodies):
            self.chain = hashlib.sha256(self.chain + b.encode("latin-1")).digest()
            self.more += (b[len(self.rest):] if n < len(bodies) - 1 else b) + f" {self.chain.hex()}\n"
        self.rest = ""
    def due(self, epochs, first, last, epoch, clock):
        """The number of an epoch, if a schedule, the clock and the epochs before allow it."""
        n, first, last = (None if v is None else epoch_number(epochs, v) for v in (epoch, first, last))
        if n is None or first is not None and n < first: return None
        if last is not None and n > last: return None
        if n > epoch_at(epochs, clock): return None
        return None if n < self.latest[epochs] else n
    def account(self, policy, x, epoch, draw, most, plan=None, clock=None, key=None):
        if (policy, epoch) in self.reports: return "repeated"
        if self.key not in (None, key): return "key"
        if self.key is None and key is not None: self.write(f"key {key}")
        if x > most: return "maximum"
        word, held, number = "debit", self.always + max(self.turns.values(), default=0), None
        if plan:
            form, period = plan["epochs"], plan["period"]
            number = self.due(form, plan["first"], plan["last"], epoch, clock)
            if number is None: return "schedule"
            if period:
                if self.always + x > self.budget: return "budget"
                if not self.slot:
                    self.slot = form, period, secrets.randbelow(period)
                    self.write("slot {} {} {}".format(*self.slot))
                if self.slot[:2] != (form, period): return "schedule"
                if not self.mine(number): return "silent " + epoch_name(form, number + (self.slot[2] - number) % period)
                word, held = "turn", self.always + self.turns.get(number, 0)
        if held + x > self.budget: return "budget"
        self.write(f"{word} {x} {policy} {epoch}")
        report = draw()
        if not is_report(report, policy): return "report"
        self.write(f"report {report.hex()} {epoch}")
        return "drawn"
def lock_begins(text):
    if "wpm-lock-1 ".startswith(text): return True
    words = text.removesuffix("\n").split(" ")
    if words[0] != "wpm-lock-1" or len(words) > 5 or text.endswith("\n") and len(words) < 5: return False
    return all(is_owner(n, w) or not w and n == len(words) - 2 and text[-1] == " " for n, w in enumerate(words[1:]))
def is_owner(n, word): return re.fullmatch("-|[0-9]{1,20}" if n else "[0-9a-f-]{1,36}", word)
def may_lock(name, found, locked, locks, boot, namespace, processes):
    if name.lower().endswith(".lock") or found["kind"] not in ("absent", "file", "folder"): return "refused"
    if found["kind"] == "absent": return "free"
    if found["kind"] == "file":
        if not lock_begins(bytes.fromhex(found.get("bytes", "")).decode("latin-1")): return "refused"
        return "take-over" if locks and not locked else "locked"
    if len(found.get("entries", [])) != 1: return "locked"
    words = found["entries"][0].split("_")
    if len(words) != 4 or "-" in words or not all(is_owner(n, w) for n, w in enumerate(words)): return "locked"
    if words[:2] != [boot, namespace] or processes.get(words[2]) in ("unknown", words[3]): return "locked"
    return "take-over"

# Transport and projection, by successive shortest paths in integers.
def real_box(lo, hi):
    need(len(lo) == len(hi) > 0 and all(0 <= l <= h < math.inf for l, h in zip(lo, hi)), "box")
    lo, hi, slack = list(map(Fraction, lo)), list(map(Fraction, hi)), Fraction(1e-12)
    need(sum(lo) <= 1 + slack and sum(hi) >= 1 - slack, "infeasible")
    if sum(lo) > 1: lo = hi = [v / sum(lo) for v in lo]
    if sum(hi) < 1: lo = hi = [v / sum(hi) for v in hi]
    return lo, hi
def distribution(mu):
    need(mu and all(0 <= v < math.inf for v in mu) and any(mu), "distribution")
    total = sum(map(Fraction, mu))
    return [Fraction(v) / total for v in mu]
def costs(cost):
    need(type(cost) is dict and set(cost) == {"kind", "C"} and cost["kind"] == "explicit" and cost["C"], "cost")
    c = [nums(row) for row in cost["C"]]
    need(all(len(row) == len(c[0]) > 0 and all(0 <= v < math.inf for v in row) for row in c), "cost")
    return c
def solve(c, mu, lo, hi):
    """An optimal plan {(i, j): mass} from mu to a point of the box, and prices g of the columns that prove it."""
    k, kv = len(mu), len(lo)
    unit, scale = (math.lcm(*(Fraction(v).denominator for v in vs)) for vs in (mu + lo + hi, sum(c, [])))
    whole = [[int(Fraction(v) * scale) for v in row] for row in c]
    much = 4 * (k + kv) * (max(map(max, whole)) + 1)  # more than any path: lower bounds are filled before the rest
    source, sink, arcs, out = k + kv, k + kv + 1, [], [[] for _ in range(k + kv + 2)]
    def arc(a, b, room, cost):
        for at, to, r, w in (a, b, room, cost), (b, a, 0, -cost):
            out[at].append(len(arcs))
            arcs.append([to, r, w])
    for i in range(k): arc(source, i, int(mu[i] * unit), 0)
    for i in range(k):
        for j in range(kv): arc(i, k + j, unit if mu[i] else 0, whole[i][j])
    for j in range(kv):
        arc(k + j, sink, int(lo[j] * unit), 0)
        arc(k + j, sink, int((hi[j] - lo[j]) * unit), much)
    price, left = [0] * (k + kv + 2), unit
    while left:
        dist, via, heap = {}, {source: None}, [(0, source, None)]
        while heap:  # Dijkstra's algorithm, with reduced costs
            d, at, by = heapq.heappop(heap)
            if at in dist: continue
            dist[at], via[at] = d, by
            for n in out[at]:
                to, room, w = arcs[n]
                if room and to not in dist: heapq.heappush(heap, (d + w + price[at] - price[to], to, n))
        price = [p + min(dist.get(n, dist[sink]), dist[sink]) for n, p in enumerate(price)]
        path, at = [], sink
        while at != source: path, at = path + [via[at]], arcs[via[at] ^ 1][0]
        step = min(arcs[n][1] for n in path)
        left -= step
        for n in path: arcs[n][1], arcs[n ^ 1][1] = arcs[n][1] - step, arcs[n ^ 1][1] + step
    level = price[sink] - much if sum(lo) < 1 else min(price[k:k + kv])
    plan = {(i, j): Fraction(arcs[2 * (k + i * kv + j) + 1][1], unit) for i in range(k) for j in range(kv)}
    return {a: m for a, m in plan.items() if m}, [Fraction(p - level, scale) for p in price[k:k + kv]]
def answer_plan(c, mu, lo, hi):
    """The members of an answer: an objective with bounds that plan and potentials, as floats, prove."""
    need(len(mu) == len(c) and len(lo) == len(c[0]), "shape")
    plan, g = solve(c, mu, lo, hi)
    most, g = Fraction(max(map(max, c))), list(map(float, g))
    f = [min(Fraction(x) - Fraction(p) for x, p in zip(row, g)) for row in c]
    lower = sum(m * p for m, p in zip(mu, f)) + sum(min(l * Fraction(p), h * Fraction(p)) for l, h, p in zip(lo, hi, g))
    value = sum(m * Fraction(c[i][j]) for (i, j), m in plan.items())
    q = [sum(m for (_, b), m in plan.items() if b == j) for j in range(len(lo))]
    moved = sum(abs(v - Fraction(float(v))) for v in q + list(plan.values()))
    return {"q": list(map(float, q)), "objective": float(value), "lower": max(0.0, below(lower)),
            "upper": -below(-value - moved * most), "potentials": {"f": [below(v) for v in f], "g": g},
            "plan": [[i, j, float(m)] for (i, j), m in plan.items()]}

# Partial counts.
COUNT, HASH = "(?:0|[1-9][0-9]*)", "[0-9a-f]{64}"
REASONS = "malformed other-policy no-such-output never-released".split()
COUNTS = (f"wpm-counts-1\npolicy ({HASH})\nepoch(?: ({EPOCH}))?\nlines ({COUNT})\n"
          + "".join(f"refused {name} ({COUNT})\n" for name in REASONS)
          + f"shards ({COUNT})\n((?:{HASH} {COUNT} {COUNT} [^\0-\x1f\x7f-\x9f]+\n)*)"
          + f"reports ({COUNT})\n((?:{COUNT}\n)+)sha256 ({HASH})\n")
def write_counts(c):
    s = f"wpm-counts-1\npolicy {c['policy']}\nepoch{' ' * bool(c['epoch'])}{c['epoch']}\n"
    s += f"lines {sum(c['reports']) + sum(c['refused'])}\n"
    for name, n in zip(REASONS, c["refused"]): s += f"refused {name} {n}\n"
    s += f"shards {len(c['shards'])}\n" + "".join("{} {} {} {}\n".format(*shard) for shard in c["shards"])
    s += f"reports {len(c['reports'])}\n" + "".join(f"{n}\n" for n in c["reports"])
    return s + f"sha256 {hashlib.sha256(s.encode()).hexdigest()}\n"
def parse_counts(s):
    need(len(s.encode()) <= 64 << 20, "counts of more than 64 MiB")
    m = re.fullmatch(COUNTS, s, re.ASCII)
    need(m, "the form of counts")
    shards = [line.split(" ", 3) for line in m[9].split("\n")[:-1]]
    shards = [(sha, int(size), int(lines), name) for sha, size, lines, name in shards]
    lines, refused, reports = int(m[3]), [int(m[n]) for n in range(4, 8)], list(map(int, m[11].split()))
    sizes, read = [size for _, size, _, _ in shards], [n for _, _, n, _ in shards]
    need(max([lines, sum(sizes)] + sizes + read + refused + reports) <= 2**53, "a number above 2^53")
    need(int(m[8]) == len(shards) <= 2**16 and int(m[10]) == len(reports) <= 2**20, "numbers of shards or outputs")
    names = [name.encode() for _, _, _, name in shards]
    need(all(len(name) <= 256 for name in names), "a long name")
    need(all(a < b for a, b in zip(names, names[1:])), "the order of shards, or one twice")
    need(lines == sum(reports) + sum(refused) == sum(read), "the sum of lines")
    need(hashlib.sha256(s.encode()[:-72]).hexdigest() == m[12], "the hash of counts")
    return {"policy": m[1], "epoch": m[2] or "", "refused": refused, "shards": shards, "reports": reports}
def add_counts(c, d):
    need(all(c[x] == d[x] for x in ("policy", "epoch")) and len(c["reports"]) == len(d["reports"]), "other counts")
    need(not {x[3] for x in c["shards"]} & {x[3] for x in d["shards"]}, "a shard twice")
    need(not {x[0] for x in c["shards"] if x[2] > 100} & {x[0] for x in d["shards"] if x[2] > 100}, "a copy of a shard")
    total = {x: [a + b for a, b in zip(c[x], d[x])] for x in ("refused", "reports")}
    shards = sorted(c["shards"] + d["shards"], key=lambda x: x[3].encode())
    return parse_counts(write_counts(c | total | {"shards": shards}))
def count_reports(p, name, epoch, data):
    refused, reports = [0] * 4, [0] * p["outputs"]
    text, rows = data.removeprefix(b"\xef\xbb\xbf"), data.split(b"\n")
    need(not data.startswith(b"wpm-counts-"), "counts, and no reports")
    if data[:4] == b"wpm1": rows = [data[n:n + 40].hex().encode() for n in range(0, len(data), 40)]
    elif text.startswith(b"wpm-simulation-1"):
        epoch = epoch or "simulation"
        need(epoch.startswith("simulation"), "simulated reports")
        del rows[0]
    rows = [row for row in rows if row.strip(b" \t\r") or len(row) > 4096]
    for row in rows:
        m = re.fullmatch(b"[ \t\r]*77706d31([0-9a-f]{64})([0-9a-f]{8})[ \t\r]*", row)
        index = m and int.from_bytes(bytes.fromhex(m[2].decode()), "little")
        if len(row) > 4096 or not m or index >= 2**20 or not int(m[1] + m[2], 16): refused[0] += 1
        elif m[1].decode() != p["sha256"]: refused[1] += 1
        elif index >= p["outputs"]: refused[2] += 1
        elif p["hi"][index] == 0: refused[3] += 1
        else: reports[index] += 1
    shard = hashlib.sha256(data).hexdigest(), len(data), len(rows), name
    return {"policy": p["sha256"], "epoch": epoch, "refused": refused, "shards": [shard], "reports": reports}

# What the lines ask.
def ask_aggregate(op, counts=None, name=None, epoch="", file="", policy=None, policy_hex=None):
    if op == "count":
        c = count_reports(read_policy(policy, policy_hex), name, epoch, file.encode())
        return {"counts": write_counts(parse_counts(write_counts(c)))}
    need(op == "decode" and len(counts) == 1 or op == "merge" and len(counts) > 1, "an operation")
    c, *more = map(parse_counts, counts)
    for d in more: c = add_counts(c, d)
    return {"counts": write_counts(c)}
def ask_verify(eps, bits, lo, hi, rows):
    lo, hi = units(lo), units(hi)
    check_box(epsilon(eps), bits, lo, hi)
    for row in rows: check_row(bits, lo, hi, units(row))
    return {"verified": True}
def ask_policy(policy=None, policy_hex=None): return {"sha256": read_policy(policy, policy_hex)["sha256"]}
def ask_sample(bits, weights, random):
    n = units(weights)
    check_box(Fraction(1), bits, n, n)
    return {"index": draw_index(n, bits, bytes.fromhex(random))}
def ask_draw(private, random, policy=None, policy_hex=None, projected=None):
    p, random = read_policy(policy, policy_hex), bytes.fromhex(random)
    need(len(random) >= 8 + (p["bits"] + 7) // 8, "too few random bytes")
    q = None if projected is None else nums(projected)
    try: counts = read_counts(p, bytes.fromhex(private))
    except (Refused, ValueError, zlib.error): counts = None
    n, i, usable = p["fallback"], -1, counts is not None
    good = q and len(q) == p["outputs"] and all(v >= 0 for v in q) and abs(added(q) - 1) <= 2.0**-20
    if usable and p["mode"] == "projection" and good: n = round_in(p["bits"], p["lo"], p["hi"], q)
    elif usable and ("thresholds" in p or "codes" in p or p["rows"]):
        i = pick(counts, int.from_bytes(random[:8], "little"))
        n = row_of(p, i)
    j = draw_index(n, p["bits"], random[8:])
    report = b"wpm1".hex() + p["sha256"] + j.to_bytes(4, "little").hex()
    return {"index": j, "report": report, "usable": usable, "input": i}
def ask_ledger(op, **o): return {"books": books, "lock": lock}[op](**o)
def books(text, steps, budget=None):
    text, verdicts = bytes.fromhex(text).decode("latin-1"), []
    def step(policy, eps, epoch, report, max_epsilon="64", schedule=None, clock=None, key=None, signature=""):
        nonlocal text
        x, most, report = epsilon(eps), epsilon(max_epsilon), bytes.fromhex(report)
        need(re.fullmatch("[0-9a-f]{64}", policy) and re.fullmatch(EPOCH, epoch), "step")
        if schedule: need(check_schedule(schedule) and type(clock) is int, "clock")
        ledger = Ledger(text, budget)
        try: key is None or verify_policy(policy, key, signature)
        except Refused: return verdicts.append("key")
        def draw():
            need(f" {policy} {epoch} " in ledger.more[:-1].rsplit("\n", 1)[-1], "a draw before its debit is stored")
            return report
        verdicts.append(ledger.account(policy, x, epoch, draw, most, schedule, clock, key))
        text += ledger.more
    for s in steps:
        if set(s) == {"torn"}: text += bytes.fromhex(s["torn"]).decode("latin-1")
        else: step(**s)
    ledger = Ledger(text, budget)
    text, left = text + ledger.more, max(ledger.budget - (ledger.always if ledger.slot else ledger.spent), Fraction(0))
    return {"text": text.encode("latin-1").hex(), "budget": str(ledger.budget), "spent": str(ledger.spent),
            "remaining": str(left), "verdicts": verdicts}
def ask_schedule(op, **o):
    if op == "books":
        answer = books(**o)
        return answer | {"appended": answer.pop("text")[len(o["text"]):]}
    if op == "epoch":
        number = epoch_number(o["form"], o["name"])
        need(number is not None, "not an epoch of this form")
        return {"number": number}
    need(op in ("signature", "ed25519"), "an operation")
    if op == "signature": verify_policy(o["policy"], o["key"], o["signature"])
    else: verify(*(bytes.fromhex(o[name]) for name in ("key", "message", "signature")))
    return {"verified": True}
def lock(name, found, kernel_locked, kernel_locks, boot, namespace, processes):
    return {"verdict": may_lock(name, found, kernel_locked, kernel_locks, boot, namespace, processes)}
def ask_round(eps, bits, m, q):
    x, m, q = epsilon(eps), nums(m), nums(q)
    need(len(q) == len(m), "q and m")
    lo, hi = make_box(x, m, bits)
    check_box(x, bits, lo, hi)
    return {"lo": list(map(str, lo)), "hi": list(map(str, hi)), "weights": list(map(str, round_in(bits, lo, hi, q)))}
def ask_round_in_box(eps, bits, lo, hi, q):
    lo, hi = units(lo), units(hi)
    check_box(epsilon(eps), bits, lo, hi)
    return {"weights": list(map(str, round_in(bits, lo, hi, nums(q))))}
def ask_project(cost, mu, lo, hi):
    return answer_plan(costs(cost), distribution(nums(mu)), *real_box(nums(lo), nums(hi)))
def ask_transport(cost, source, target):
    return answer_plan(costs(cost), distribution(nums(source)), *[distribution(nums(target))] * 2)
def ask_phi(cost, lo, hi):
    c, lo, hi = costs(cost), nums(lo), nums(hi)
    l, h = real_box(lo, hi)
    need(len(l) == len(c[0]), "shape")
    phi, tau = [], []
    for row in c:
        rest, value, last = 1 - sum(l), Fraction(0), None
        for x, a, b in sorted(zip(row, l, h)):
            add = min(rest, b - a)
            rest -= add
            value += Fraction(x) * (a + add)
            last = x if last is None and rest <= 0 else last
        if sum(map(Fraction, hi)) <= 1: last = max(x for x, b in zip(row, hi) if b > 0)
        if sum(map(Fraction, lo)) >= 1: last = min(row)
        phi.append(float(value))
        tau.append(last)
    return {"phi": phi, "tau": tau, "f": max(phi), "argmax": phi.index(max(phi))}
def ask_kpm(mu, eps):
    mu, eps = nums(mu), num(eps)
    need(mu and all(0 <= v < math.inf for v in mu) and abs(sum(map(Fraction, mu)) - 1) <= Fraction(1, 10**9), "mass")
    need(0 <= eps <= 700, "epsilon")
    k, floor = len(mu), 1 / (Decimal(eps).exp() + len(mu) - 1)
    mu = [real(v) for v in distribution(mu)]
    order, top, r = sorted(mu, reverse=True), Decimal(0), Decimal(0)
    for n, v in enumerate(order, 1):  # the n largest stay above the floor
        top += v
        r = max(r, top / (1 - (k - n) * floor))
    return {"q": [float(max(v / r, floor)) for v in mu], "r": float(r)}
def ask_certificate(certificate):  # one line, by the checker of ../docs
    need(type(certificate) is str and "\n" not in certificate, "not a certificate")
    sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
    from verify_certificate import check
    check(certificate, 0)
    return {"verified": True}
KINDS = {name.removeprefix("ask_").replace("_", "-"): f for name, f in globals().items() if name.startswith("ask_")}
KINDS["draw-projection"] = ask_draw
def answer(line):
    o = {}
    try:
        o = json.loads(line)
        need(type(o) is dict and o.get("kind") in KINDS, "not an object of a kind that is offered")
        members = {name: v for name, v in o.items() if name not in ("id", "kind")}
        return {"id": o.get("id")} | KINDS[o["kind"]](**members)
    except Exception as e:  # whatever a line holds, it is this line that is refused
        return {"id": o.get("id") if type(o) is dict else None, "error": f"{type(e).__name__}: {str(e)[:200]}"}
if __name__ == "__main__":
    print(json.dumps({"wpm-conform": 1, "name": "client.py", "kinds": sorted(KINDS)}), flush=True)
    for line in sys.stdin.buffer: print(json.dumps(answer(line), allow_nan=False), flush=True)
