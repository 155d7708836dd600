#!/usr/bin/env python3
"""A second opinion on the policies of codebooks, written from the documentation of the Go package sphere/codebook.
    python3 verify_codebook.py FILE...    (with verify.py in the same folder)
Prints the ID (SHA-256) of each file, and "accepted" or "refused" and why. Accepted means: the text is canonical; sizes
are in the limits; hi <= e^eps lo and N lo <= 2^B <= N hi, in exact arithmetic.
Exit status: 0 all accepted, 1 one refused, 2 wrong usage or unreadable file."""
import re, sys
sys.dont_write_bytecode = True
from verify import check_box, check_statements, epsilon, main, members, need, units, value

FIELDS = "format dimension p epsilon points high bits atoms lo hi seed provenance metadata".split()

def check(data):
    f = {name: value(s) for name, s in members(data, FIELDS, 1 << 20).items()}
    d, n, high, bits, atoms = sizes = [f[name] for name in "dimension points high bits atoms".split()]
    need(f["format"] == "wpm-codebook-1" and all(type(v) is int for v in sizes), "format or sizes")
    need(0 < d <= 10**7 and 0 < high < n <= 2**20 and 0 < bits < 63 and 0 < atoms <= 512, "a size out of range")
    need(n * (d + 1) <= 2**26 and n * (d + 1) * atoms < 2**31 and (atoms == 1 or n <= 2**15), "too much work for a release")
    need(n * atoms <= 2**20 and (d + 1) * atoms <= 2**24, "too much memory for a release")
    p, x, seed = f["p"], epsilon(f["epsilon"]), f["seed"]
    need(0.5 <= float(p) <= 12 and p == repr(float(p)).removesuffix(".0"), "p, or its spelling")
    need(float(x) >= 1e-12, "epsilon out of range")
    need(seed == "fresh" or re.fullmatch("[0-9a-f]{64}", seed) and set(seed) != {"0"}, "seed")
    lo, hi = units([f["lo"], f["hi"]])
    check_box(x, [lo] * n, [hi] * n, 2**bits)
    check_statements(f["metadata"], f["provenance"])

if __name__ == "__main__":
    main(check)
