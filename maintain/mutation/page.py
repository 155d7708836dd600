#!/usr/bin/env python3
"""Writes maintain/mutation.md from the tables in this folder: python3 page.py > ../mutation.md"""

import csv
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def read(name):
    with open(os.path.join(HERE, name + ".csv"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def trusted():
    head = ["package", "commit", "code", "mutants", "do not compile", "killed", "never end", "alive",
            "killed of those that compile"]
    rows = []
    for row in read("trusted"):
        compile_ = int(row["mutants"]) - int(row["do not compile"])
        killed = int(row["killed"]) + int(row["never end"])
        cells = ["`" + row["package"] + "`"] + [row[name] for name in head[1:-1]]
        rows.append(cells + ["%d of %d, %.1f %%" % (killed, compile_, 100 * killed / compile_)])
    return table(head, rows)


def sample():
    data = read("sample")
    head = list(data[0])
    rows = [["`" + row["package"] + "`"] + [row[name] for name in head[1:]] for row in data]
    return table(head, rows + [["all"] + [sum(int(row[name]) for row in data) for name in head[1:]]])


def alive(part):
    head = ["where", "expression", "changed to", "why no test tells"]
    rows = []
    for row in read("alive"):
        if row["part"] == part:
            where = row["file"] + (" `" + row["function"] + "`" if row["function"] else "")
            rows.append([where] + [row[name] for name in head[1:]])
    return table(head, rows)


print(f"""# Mutation testing

`maintain/mutation/page.py` writes this page from the tables beside it, which hold what `.ci/mutate` printed.

A test that cannot fail proves nothing. So a tool changes the code of the trusted packages, [ldp](../ldp),
[policy](../policy) with [private](../policy/private) and [ledger](../policy/ledger), [device](../device) and
[sphere/codebook](../sphere/codebook), in one place at a time: `<` for `<=`, `&&` for `||`, `+` for `-`, `break` for
`continue`. Each changed program is a mutant, and the tests must fail on it.

```sh untested
.ci/mutate            # all six packages, or .ci/mutate ldp for one; an hour or two on two idle cores
.ci/mutate sample     # 300 mutants of the solvers, always the same; two hours
.ci/mutate at ldp/design.go:96:14 CONDITIONALS_BOUNDARY    # one mutant, as the others print it; a minute
```

[gremlins](https://github.com/go-gremlins/gremlins) v0.6.0 lists the mutants, of all its eleven kinds and on every file
that Linux compiles. [`weave`](mutation/weave) puts those of a package into one program: each has a copy of the function
around it, and a number in the environment chooses. So the tests are compiled once. A change outside of functions, or in
one that recovers from a panic, has a program of its own. Each mutant meets the short tests, and all of them if it
survives these.

{trusted()}

Mutants that *never end* are loops whose exit or step is gone. A limit of five times the usual processor time, and
of half a minute at least, ends them, which is a failure like any other, and they count as killed.

A row is about the code of its commit and no other. "Code" is a hash of it, without tests, comments and empty lines.
`.ci/full evidence` says which packages have other code now, and fails if more than a tenth of a package's lines are
newer, or if one of the six has no row. Whoever quotes a figure says its commit.

## Alive in the trusted packages

None changes a verdict on privacy, and in `ldp` none is in a comparison of the box (`polytope.go`) or in sampling
(`weights.go`).

{alive("trusted")}

## A sample over all packages

A second tool makes 27,782 changes to the syntax trees of nineteen packages: relational operators and their edges, `+`
and `-`, `*` and `/`, constants one up or down, `&&` and `||`, negated conditions, dropped statements, and the direction
of roundings (`1 - 0x1p-51`, `math.Nextafter`, `num.Up`). The sample was drawn with a fixed seed at commit 40f2900. Each
package has two, and a share of the others by the square root of its size; within a package the kinds take turns.

Each change ran against the short tests of its package. Changes in the packages inside `sinkhorn` and `mincostflow` also
ran against the tests of the outer package. What was still alive ran against the laws of `proptest`. Changes that *never
end* were stopped after several times the usual time of the tests.

{sample()}

Tests that were written afterwards kill those of the alive that are not in this table. The others change nothing that a
test could see:

{alive("sample")}""")
