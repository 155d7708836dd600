"""A second reading of the policy file, from package doc alone, in exact arithmetic and the standard library.

    python3 verify.py POLICY...             checks box, rows and fallback, prints the ID
    python3 verify.py -vectors POLICY...    writes golden.json, of version 2 golden2.json: policy, random bytes, private
                                            data -> output
"""
import hashlib, json, math, random, sys
from fractions import Fraction


def load(path):
    data = open(path, "rb").read()
    p = json.loads(data)
    p["id"] = hashlib.sha256(data).hexdigest()
    for bound in "lo", "hi":
        once = isinstance(p[bound], str)  # in version 2
        p[bound] = [int(p[bound])] * p["outputs"] if once else [int(s) for s in p[bound]]
    p["fallback"] = expand(p, p["fallback"])
    if p["format"] == "wpm-policy-2":
        p["rows"] = [fill(p, i) for i in range(p["inputs"])]
    p["rows"] = p["rows"] and [r if isinstance(r, list) else expand(p, r) for r in p["rows"]]
    return p


def fill(p, i):
    """Version 2: the outputs in the order of (key, index) at hi, as far as 2^B goes."""
    g, kv = p["geometry"], p["outputs"]
    if g["kind"] == "ring":
        key = lambda j: min((i - j) % kv, (j - i) % kv)
    elif g["kind"] == "grid":  # of the centres, in the unit square
        x, y = (lambda j: Fraction(j % g["cols"], g["cols"])), (lambda j: Fraction(j // g["cols"], g["rows"]))
        key = lambda j: (x(i) - x(j)) ** 2 + (y(i) - y(j)) ** 2
    else:
        v = [p["output_points"][n::g["axes"]] for n in range(g["axes"])]
        x = [p["input_points"][n::g["axes"]] for n in range(g["axes"])] if p["input_points"] else v
        key = lambda j: sum((a[i] - b[j]) ** 2 for a, b in zip(x, v))
    n, rest = list(p["lo"]), 2 ** p["bits"] - sum(p["lo"])
    order = sorted(range(kv), key=lambda j: (key(j), j))
    last = order[0]
    for j in order:
        add = min(rest, p["hi"][j] - n[j])
        if rest > 0:
            last = j
        n[j] += add
        rest -= add
    assert p["thresholds"][i] == last
    return n


def expand(p, row):
    n = list(p["lo"])
    for j in row["full"]:
        n[j] = p["hi"][j]
    for j, units in row["extra"]:
        n[j] += int(units)
    return n


def at_most_exp(ratio, eps):
    """Decides ratio <= e^eps for rationals, eps > 0, by partial sums below and a geometric tail above."""
    total = term = Fraction(1)
    i = 0
    while True:
        if ratio <= total:
            return True
        i += 1
        term *= eps / i
        if i > eps and ratio > total + term / (1 - eps / (i + 1)):
            return False
        total += term


def check(p):
    total, eps, lo, hi = 2 ** p["bits"], Fraction(p["epsilon"]), p["lo"], p["hi"]
    assert 1 <= p["bits"] <= 62 and len(lo) == len(hi) == p["outputs"]
    for a, b in zip(lo, hi):
        assert 0 <= a <= b <= total and (b == 0 if a == 0 else at_most_exp(Fraction(b, a), eps))
    assert sum(lo) <= total <= sum(hi)
    assert p["rows"] is None or len(p["rows"]) == p["inputs"]
    for n in [p["fallback"]] + (p["rows"] or []):
        assert sum(n) == total and all(a <= x <= b for a, x, b in zip(lo, n, hi))


def counts(p, private):
    """The private format: None for unusable data."""
    labels = p["input_labels"] or [str(i) for i in range(p["inputs"])]
    c = [0.0] * p["inputs"]
    if private.startswith(b"\xef\xbb\xbf"):
        private = private[3:]
    for n, line in enumerate(private.split(b"\n")):
        if line.endswith(b"\r"):
            line = line[:-1]
        if not line or n == 0 and line == b"label,count":
            continue
        if line[:1] == b'"':
            body = line[1:].replace(b'""', b"\0")
            label, comma, number = body.partition(b'",')
            if b'"' in label:
                return None
            label = label.replace(b"\0", b'"')
        else:
            label, comma, number = line.partition(b",")
        if not comma or not number or len(number) > 64 or not number[:1].isdigit() or number.strip(b"0123456789.eE+-"):
            return None
        try:
            i, v = labels.index(label.decode()), float(number)
        except ValueError:
            return None
        if v > 2 ** 53:
            return None
        c[i] += v
    return c if sum(c) > 0 else None


def draw(p, private, word):
    """Mixture mode: 8 bytes choose the input, ceil(B/8) the output."""
    c = counts(p, private)
    n = p["fallback"]
    if c is not None:
        total = 0.0
        for v in c:
            total += v
        e = math.frexp(total)[1]
        u = [int(Fraction(v) * Fraction(2) ** (62 - e)) for v in c]
        n = p["rows"][first(u, int.from_bytes(word[:8], "little") * sum(u) // 2 ** 64)]
    return first(n, int.from_bytes(word[8:], "little") % 2 ** p["bits"])


def first(weights, x):
    for j, w in enumerate(weights):
        if x < w:
            return j
        x -= w
    raise AssertionError


def vectors(p, path):
    rng = random.Random(path)
    labels = p["input_labels"] or [str(i) for i in range(p["inputs"])]
    quoted = ['"' + s.replace('"', '""') + '"' for s in labels]
    texts = ["", "label,count\n", "x", "\ufefflabel,count\r\n%s,3\r\n" % quoted[0], "%s,1e-320\n" % quoted[-1], "%s,0\n" % quoted[0]]
    for _ in range(6):
        texts.append("".join("%s,%s\n" % (s, repr(rng.choice([0, 1, 7, 0.1, 1 / 3, 2.0 ** 53, 1e-9]))) for s in quoted))
    out = []
    for text in texts:
        for _ in range(8):
            word = rng.randbytes(8 + (p["bits"] + 7) // 8)
            out.append({"private": text, "random": word.hex(), "index": draw(p, text.encode(), word)})
    return out


if __name__ == "__main__":
    paths = [a for a in sys.argv[1:] if a != "-vectors"]
    golden = []
    for path in paths:
        p = load(path)
        check(p)
        print(p["id"], path)
        golden.append({"policy": path, "id": p["id"], "draws": vectors(p, path) if p["rows"] else []})
    if "-vectors" in sys.argv:
        with open("golden2.json" if p["format"] == "wpm-policy-2" else "golden.json", "w") as f:
            json.dump(golden, f, indent=0)
            f.write("\n")
