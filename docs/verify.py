#!/usr/bin/env python3
"""A second opinion on wpm policy files, written from the documentation of the Go package policy: python3 verify.py FILE...
Prints the ID (SHA-256) of each file, and "accepted" or "refused" and why. Accepted means: the text is canonical; hi_j <= e^eps lo_j
for all j and sum lo <= 2^B <= sum hi, in exact arithmetic; each row, and the fallback, is a point of the box.
Exit status: 0 all accepted, 1 one refused, 2 wrong usage or unreadable file."""
import hashlib, json, re, sys
from fractions import Fraction

FIELDS = ("format epsilon bits mode work_limit_ms inputs outputs provenance metadata certificate cost"
          " input_labels output_labels lo hi fallback rows").split()

def need(ok, what):
    if not ok: raise ValueError(what)
def text(v):  # the canonical text of a JSON value, of which an object is a tuple of pairs
    if v is None or type(v) is int: return "null" if v is None else str(v)
    if type(v) is str and not re.search("[\0-\x1f\x7f-\x9f]", v):  # no control characters
        return '"' + re.sub(r'(["\\])', r"\\\1", v) + '"'
    if type(v) is list: return "[" + ",".join(map(text, v)) + "]"
    need(type(v) is tuple, "a value that no policy has")
    return "{" + ",".join(text(k) + ":" + text(x) for k, x in v) + "}"

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
    pairs = json.loads(file, object_pairs_hook=tuple, parse_constant=lambda c: need(False, c))
    need(type(pairs) is tuple and [k for k, _ in pairs] == FIELDS, "members, or their order")
    f, line = dict(pairs), dict(zip(FIELDS, file.split("\n")[1:]))
    out = {name: line[name][len(name) + 3:-1] if name in ("certificate", "cost") else text(v) for name, v in pairs}
    for name in ("certificate", "cost"):
        spaces = re.search(r"\s", re.sub(r'"(\\.|[^"\\])*"', "", out[name]))
        need(type(f[name]) is tuple and out[name][0] == "{" and not spaces or out[name] == "null", name)
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
    need(type(f["metadata"]) is tuple and all(type(s) is str for pair in f["metadata"] for s in pair), "metadata")
    need([key for key, _ in f["metadata"]] == sorted(dict(f["metadata"])), "keys of the metadata")
    for v, n in (f["input_labels"], k), (f["output_labels"], kv):
        need(v is None or type(v) is list and all(type(s) is str and s for s in v) and len(v) == len(set(v)) == n, "labels")
    names, (geometry, eps, base, base_eps, note) = zip(*f["provenance"])
    right = type(f["provenance"]) is tuple and " ".join(names) == "geometry geometry_epsilon base_measure base_measure_epsilon note"
    for origin, x, clean in (geometry, eps, "public"), (base, base_eps, "data-independent"):
        need(right and type(note) is str and (x is None if origin == clean else origin == "derived-dp" and epsilon(x)), "provenance")

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
