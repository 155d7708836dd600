#!/usr/bin/env python3
"""A second opinion on wpm policy files, written from the documentation of the Go package policy: python3 verify.py FILE...
Prints the ID (SHA-256) of each file, and "accepted" or "refused" and why. Accepted means: the text is canonical; hi_j <= e^eps lo_j
for all j and sum lo <= 2^B <= sum hi, in exact arithmetic; each row, and the fallback, is a point of the box; sizes are in the limits.
Exit status: 0 all accepted, 1 one refused, 2 wrong usage or unreadable file."""
import hashlib, json, re, sys
from fractions import Fraction

FIELDS = ("format epsilon bits mode work_limit_ms inputs outputs provenance metadata certificate cost"
          " input_labels output_labels lo hi fallback rows").split()
TOKEN = re.compile(r'("[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*")'
                   r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)|[][{}:,]")

def need(ok, what):
    if not ok: raise ValueError(what)
def text(v):  # the canonical text of a JSON value, of which an object is a tuple of pairs
    if v is None or type(v) is int: return "null" if v is None else str(v)
    if type(v) is str and not re.search("[\0-\x1f\x7f-\x9f]", v):  # no control characters
        return '"' + re.sub(r'(["\\])', r"\\\1", v) + '"'
    if type(v) is list: return "[" + ",".join(map(text, v)) + "]"
    need(type(v) is tuple, "a value that no policy has")
    return "{" + ",".join(text(k) + ":" + text(x) for k, x in v) + "}"

def compact(s):  # one JSON object without white space, at most 10,000 levels deep: by a stack, for json.loads recurses
    open_, want, key, at = [], "{", False, 0  # s is a string, v another atom
    while want:
        token = TOKEN.match(s, at)
        kind = token and (token[0] if not token.lastindex else "sv"[token.lastindex - 1])
        need(token and kind in want, f"not a compact JSON object at {at}")
        at = token.end()
        if kind in "{[":
            open_.append(kind)
            key, want = kind == "{", "s}" if kind == "{" else "sv{[]"
            need(len(open_) <= 10000, "more than 10,000 levels")
        elif kind == ",":
            key, want = open_[-1] == "{", "s" if open_[-1] == "{" else "sv{["
        elif kind == ":" or key and kind == "s":
            key, want = False, "sv{[" if kind == ":" else ":"
        else:
            if kind in "}]": open_.pop()
            want = "" if not open_ else ",}" if open_[-1] == "{" else ",]"
    return at == len(s)

def short(s, least, most):  # a text of so many bytes
    return type(s) is str and least <= len(s.encode()) <= most
def units(v):  # weights: a list of numbers in strings
    need(type(v) is list and all(type(s) is str and re.fullmatch("0|[1-9][0-9]{0,19}", s) for s in v), "weights")
    return list(map(int, v))

def epsilon(s):
    need(type(s) is str and re.fullmatch(r"[0-9]{1,60}(\.[0-9]{1,38}|/[0-9]{1,60})?", s), "not an epsilon")
    x = Fraction(s)
    need(Fraction(1, 10**18) <= x <= 64 and x.denominator < 2**128, "epsilon out of range")
    places = next((n for n in range(39) if 10**n % x.denominator == 0), 0)  # decimal, if 38 places do; else a fraction
    digits = str(int(x * 10**places)).rjust(places + 1, "0")
    need(s == (digits[:-places] + "." + digits[-places:] if places else str(x)), "epsilon in another spelling")
    return x

def exponential(x, bits):  # integers below and above 2^bits e^x
    n, term, total = 0, Fraction(1), Fraction(1)
    while n < 2 * x or term * 2**bits > 1:
        n, term = n + 1, term * x / (n + 1)
        total += term
    return int(total * 2**bits), int((total + term) * 2**bits) + 1  # later terms are each less than half the one before

def check_box(x, lo, hi, total, bits=256):
    below, above = exponential(x, bits)
    for j, (l, h) in enumerate(zip(lo, hi)):
        while l * below < h << bits <= l * above:  # too close to tell; e^x is irrational, so this ends
            below, above, bits = *exponential(x, 2 * bits), 2 * bits
        need(l <= h <= total and h << bits <= l * below, f"column {j}: [{l}, {h}] breaks lo <= hi <= 2^B, hi <= e^eps lo")
    need(sum(lo) <= total <= sum(hi), "the box has no point")

def check_row(row, lo, hi, total):
    need(type(row) is tuple and [k for k, _ in row] == ["full", "extra"] and all(type(v) is list for _, v in row), "not a row")
    full, extra = row[0][1], row[1][1]
    columns, add = [j for j, _ in extra], units([a for _, a in extra])  # pairs, or an error
    need(all(type(j) is int and 0 <= j < len(lo) for j in full + columns), "columns of a row")
    need(full == sorted(full) and columns == sorted(columns) and len(set(full + columns)) == len(full + columns), "order of a row")
    need(all(hi[j] > lo[j] for j in full) and all(0 < a < hi[j] - lo[j] for j, a in zip(columns, add)), "units of a row")
    need(sum(lo) + sum(hi[j] - lo[j] for j in full) + sum(add) == total, "a row does not sum to 2^B")

def check(data):
    need(len(data) <= 64 << 20, "more than 64 MiB")
    file = data.decode("utf-8")
    lines, objects = file.split("\n"), {}
    for name in ("certificate", "cost"):  # are set aside: of any depth, with numbers of any length
        n, start = 1 + FIELDS.index(name), f'"{name}":'
        objects[name] = lines[n][len(start):-1]
        need(lines[n].startswith(start) and (objects[name] == "null" or compact(objects[name])), name)
        lines[n] = start + "null,"
    pairs = json.loads("\n".join(lines), object_pairs_hook=tuple, parse_constant=lambda c: need(False, c))
    need(type(pairs) is tuple and [k for k, _ in pairs] == FIELDS, "members, or their order")
    f = dict(pairs)
    out = {name: objects.get(name) or text(v) for name, v in pairs}
    if type(f["rows"]) is list:  # a line for each
        out["rows"] = "[\n" + ",\n".join(map(text, f["rows"])) + "\n]"
    need(file == "{\n" + ",\n".join(f'"{name}":{out[name]}' for name in FIELDS) + "\n}\n", "not the canonical text")
    k, kv, bits, limit, rows, mode = (f[n] for n in "inputs outputs bits work_limit_ms rows mode".split())
    need(f["format"] == "wpm-policy-1" and mode in ("mixture", "projection"), "format or mode")
    need(all(type(n) is int for n in (k, kv, bits, limit)) and 0 < k <= 2**20 and 0 < kv <= 2**20 and 0 < bits < 63, "a number")
    need(limit == 0 and rows if mode == "mixture" else 1 <= limit <= 3600000, "mode, work limit and rows do not fit")
    x, lo, hi = epsilon(f["epsilon"]), units(f["lo"]), units(f["hi"])
    need(len(lo) == len(hi) == kv and (rows is None or type(rows) is list and len(rows) == k), "the number of columns or rows")
    check_box(x, lo, hi, 2**bits)
    for row in [f["fallback"]] + (rows or []):
        check_row(row, lo, hi, 2**bits)
    meta = f["metadata"]
    need(type(meta) is tuple and len(meta) <= 64 and all(short(key, 1, 64) and short(s, 0, 4096) for key, s in meta), "metadata")
    need([key for key, _ in meta] == sorted(dict(meta)), "keys of the metadata")
    for v, n in (f["input_labels"], k), (f["output_labels"], kv):
        need(v is None or type(v) is list and all(short(s, 1, 256) for s in v) and len(v) == len(set(v)) == n, "labels")
    names, (geometry, eps, base, base_eps, note) = zip(*f["provenance"])
    right = type(f["provenance"]) is tuple and " ".join(names) == "geometry geometry_epsilon base_measure base_measure_epsilon note"
    for origin, x, clean in (geometry, eps, "public"), (base, base_eps, "data-independent"):
        need(right and short(note, 0, 4096), "provenance")
        need(x is None if origin in (clean, "unstated") else origin == "derived-dp" and epsilon(x), "provenance")

status = 0 if sys.argv[1:] else print(__doc__, file=sys.stderr) or 2
for name in sys.argv[1:]:
    try:
        data, verdict = open(name, "rb").read(), "accepted"
        check(data)
    except OSError as e:
        sys.exit(print(e, file=sys.stderr) or 2)
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError) as e:  # ValueError includes JSON and UTF-8
        verdict, status = f"refused ({str(e)[:120]})", 1
    print(hashlib.sha256(data).hexdigest(), verdict, name)
sys.exit(status)
