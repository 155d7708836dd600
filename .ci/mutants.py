#!/usr/bin/env python3
"""The part of .ci/mutate that makes mutants itself: gremlins says where they are, here each is written, compiled and tested.

    mutants.py every PACKAGE REPORT N      all mutants of a report of gremlins, N at a time
    mutants.py sample N SEED OUT LIST...   N mutants out of gremlins' lists (PACKAGE=FILE), drawn with a fixed seed
    mutants.py at FILE:LINE:COLUMN TYPE    one mutant

It works in the current folder, a copy of the module that it may change.
"""

import concurrent.futures, json, os, random, re, resource, signal, subprocess, sys, tempfile, time

SWAP = {
    "ARITHMETIC_BASE": {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
    "CONDITIONALS_BOUNDARY": {">=": ">", "<=": "<", ">": ">=", "<": "<="},
    "CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<=": ">", ">=": "<", "<": ">=", ">": "<="},
    "INCREMENT_DECREMENT": {"++": "--", "--": "++"},
    "INVERT_NEGATIVES": {"-": "+"},
    "INVERT_ASSIGNMENTS": {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "*="},
    "INVERT_BITWISE": {"&^": "&", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&"},
    "INVERT_BWASSIGN": {"&^=": "&=", "<<=": ">>=", ">>=": "<<=", "&=": "|=", "|=": "&=", "^=": "&="},
    "INVERT_LOGICAL": {"&&": "||", "||": "&&"},
    "INVERT_LOOPCTRL": {"break": "continue", "continue": "break"},
    "REMOVE_SELF_ASSIGNMENTS": {op + "=": "=" for op in ("&^", "<<", ">>", "+", "-", "*", "/", "%", "&", "|", "^")},
}


def change(source, kind, line, column):
    """Where in a source a mutant changes an operator, what that is, and what it becomes; None if there is none."""
    at = 0
    for _ in range(line - 1):
        at = source.index(b"\n", at) + 1
    at += column - 1
    op = max((op for op in SWAP[kind] if source.startswith(op.encode(), at)), key=len, default=None)
    return op and (at, op, SWAP[kind][op])


def mutated(source, at, old, new):
    """The source with one operator exchanged."""
    return source[:at] + new.encode() + source[at + len(old.encode()):]


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, source):
    with open(path, "wb") as f:
        f.write(source)


def run(args, limit, cpu=None, folder=".", env=None):
    """The exit code of a command, or None if it does not end: after limit seconds, or cpu seconds of one process."""

    def bounds():  # seconds of the processor do not depend on what else the machine does; memory, so that no mutant takes it all
        if cpu:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu)))  # ends in SIGKILL: Go does not stop at SIGXCPU
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))

    # With a group of its own, so that nothing outlives it.
    p = subprocess.Popen(args, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=bounds)
    try:
        out, _ = p.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        return None
    return None if b"panic: test timed out after" in out or p.returncode == -signal.SIGKILL else p.returncode


def tell(status, where, text):
    print(f"{status:11} {where}: {text.strip()}", flush=True)


def every(package, report, workers):
    """All mutants of a report. Most are woven into one program (maintain/mutation/weave), the others have one each."""
    mutants, sources, total = [], {}, {}
    compiled = set(subprocess.check_output(["go", "list", "-f", '{{join .GoFiles "\\n"}}', "./" + package], text=True).split())
    only = re.compile(os.environ.get("MUTATE_ONLY", ""))
    for file in json.load(open(report))["files"]:
        name, path = file["file_name"], os.path.join(package, file["file_name"])
        if name not in compiled or not only.search(name):
            continue
        source = sources[path] = read(path)
        for m in file["mutations"]:
            where = f'{path}:{m["line"]}:{m["column"]} {m["type"]}'
            code = source.split(b"\n")[m["line"] - 1].decode().strip()
            mutants.append({"id": len(mutants) + 1, "file": path, "where": where, "code": code,
                            "change": change(source, m["type"], m["line"], m["column"])})
    asked = json.dumps([{"id": m["id"], "file": m["file"], **dict(zip(("offset", "old", "new"), m["change"]))}
                        for m in mutants if m["change"]])
    weave = subprocess.run(["go", "run", "./maintain/mutation/weave", package], input=asked, stdout=subprocess.PIPE, text=True,
                           check=True)
    answers = {int(k): v for k, v in json.loads(weave.stdout).items()}
    stages = Stages()
    program = stages.build(package)
    for path, source in sources.items():
        write(path, source)
    os.remove(os.path.join(package, "mutant__.go"))

    def test(command, id, cpu):
        return run(command, 5 * cpu, cpu, package, {**os.environ, "WPM_MUTANT": str(id)})

    def command(program, *flags):
        return [program, "-test.count=1", "-test.failfast", *flags]

    # The quick tests first: most mutants die of one. Then the short ones, then all.
    shown = subprocess.run(command(program, "-test.short", "-test.v"), cwd=package, stdout=subprocess.PIPE, text=True)
    slow = [name for name, s in re.findall(r"^--- PASS: (\w+) \(([\d.]+)s\)", shown.stdout, re.M) if float(s) > 0.3]
    limits = {}
    for flags in (("-test.short", "-test.skip=^(" + "|".join(slow) + ")$"), ("-test.short",), ()):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if test(command(program, *flags), 0, 1800) != 0:
            sys.exit(f"the tests of {package} fail without a mutant")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        limits[flags] = max(30, 5 * (after.ru_utime - before.ru_utime))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:  # side by side, tests must not fail each other
        if any(pool.map(lambda _: test(command(program), 0, 1800), range(3 * workers))):
            sys.exit(f"the tests of {package} fail without a mutant, {workers} at a time")

    def status(m):
        s = judge(m)
        print(s, m["where"], file=sys.stderr, flush=True)
        return s

    def judge(m):
        answer = answers.get(m["id"], "not found")
        if answer != "woven":
            return answer.upper()
        for flags, cpu in limits.items():
            code = test(command(program, *flags), m["id"], cpu)
            if code != 0:
                return "NO END" if code is None else "KILLED"
        return "LIVED"

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        statuses = list(pool.map(status, mutants))
    for m, status in zip(mutants, statuses):
        if status == "ALONE":
            write(m["file"], mutated(sources[m["file"]], *m["change"]))
            single = stages.build(package)
            status = "NOT VIABLE"
            if single:
                code = test(command(single), 0, limits[()])
                status = {0: "LIVED", None: "NO END"}.get(code, "KILLED")
            write(m["file"], sources[m["file"]])
        total[status] = total.get(status, 0) + 1
        if status not in ("KILLED", "NOT VIABLE"):
            tell(status, m["where"], m["code"])
    killed = total.get("KILLED", 0) + total.get("NO END", 0)
    viable = sum(n for s, n in total.items() if s != "NOT VIABLE")
    print(f"{package}: {total}; killed {killed} of {viable}, {100 * killed / viable:.1f} %")


class Stages:
    """What a mutant has to survive, the cheap first: the package's short tests, all of them, and the laws of proptest."""

    def __init__(self):
        self.limits = {}
        self.folder = tempfile.mkdtemp()

    def stages(self, package):
        return [("short", package, ["-test.short"]), ("full", package, []), ("laws", "proptest", [])]

    def build(self, package):
        """The package's tests as a program, which is linked once for the two stages that use it; None if they do not compile."""
        program = os.path.join(self.folder, package.replace("/", "-") + ".test")
        return program if run(["go", "test", "-c", "-o", program, "./" + package], 1800) == 0 else None

    def status(self, package, measure=False):
        """NOT VIABLE, LIVED, NO END or KILLED, and by which stage. Without a mutant, to measure, all must pass."""
        built, program = None, None
        for stage, where, flags in self.stages(package):
            key = stage if stage == "laws" else stage + " " + package
            if measure and key in self.limits:
                continue
            if built != where:
                built, program = where, self.build(where)
                if program is None:
                    return "NOT VIABLE", ""
            command = [program, "-test.count=1", "-test.failfast", "-test.timeout=0", *flags]
            if measure:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                if run(command, 1800, None, where) != 0 and run(command, 1800, None, where) != 0:  # laws draw at random
                    sys.exit(f"the {stage} tests of {package} fail without a mutant")
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                # Ten times the processor's time that it takes without a mutant, and no less than half a minute.
                self.limits[key] = max(30, 10 * (after.ru_utime - before.ru_utime))
                continue
            cpu = self.limits[key]
            code = run(command, 20 * cpu, cpu, where)
            if code is None:
                return "NO END", stage
            if code != 0:
                return "KILLED", stage
        return "LIVED", ""

    def judge(self, path, kind, line, column):
        package = os.path.dirname(path)
        self.status(package, measure=True)  # before the file is changed
        source = read(path)
        place = change(source, kind, line, column)
        if place is None:
            return "NOT FOUND", ""
        write(path, mutated(source, *place))
        try:
            return self.status(package)
        finally:
            write(path, source)


def draw(lists, n, seed):
    """An order of all mutants of each package, and how many of them make the sample: shares by size, as exact as whole numbers allow."""
    orders = {}
    for package, report in lists:
        compiled = set(subprocess.check_output(["go", "list", "-f", '{{join .GoFiles "\\n"}}', "./" + package], text=True).split())
        only = re.compile(os.environ.get("MUTATE_ONLY", ""))
        found = []
        for file in json.load(open(report))["files"]:
            name = file["file_name"]
            if "/" not in name and name in compiled and only.search(name):  # what lies in a folder below is a package of its own
                found += [(os.path.join(package, name), m["type"], m["line"], m["column"]) for m in file["mutations"]]
        found.sort()
        random.Random(f"{seed} {package}").shuffle(found)
        orders[package] = found
    total = sum(map(len, orders.values()))
    shares = {p: n * len(o) / total for p, o in orders.items()}
    quota = {p: int(s) for p, s in shares.items()}
    for p in sorted(shares, key=lambda p: quota[p] - shares[p])[: n - sum(quota.values())]:
        quota[p] += 1
    return orders, quota


def sample(n, seed, out, lists):
    orders, quota = draw(lists, n, seed)
    print("drawn: " + ", ".join(f"{quota[p]} of {len(orders[p])} in {p}" for p in orders), flush=True)
    results = os.path.join(out, f"sample-{n}-{seed}.jsonl")  # a stopped run goes on from here
    done = {}
    if os.path.exists(results):
        done = {r["mutant"]: r for r in map(json.loads, open(results))}
    stages, table, queues = Stages(), {p: {} for p in orders}, {p: iter(o) for p, o in orders.items()}

    def viable(package):
        return sum(n for status, n in table[package].items() if status != "NOT VIABLE")

    # Always the package of which the least part is done: where a run is stopped, the sample is still spread evenly.
    while open_ := [p for p in queues if viable(p) < quota[p]]:
        package = min(open_, key=lambda p: viable(p) / quota[p])
        mutant = next(queues[package], None)
        if mutant is None:
            quota[package] = viable(package)
            continue
        path, kind, line, column = mutant
        where = f"{path}:{line}:{column} {kind}"
        r = done.get(where)
        if r is None:
            start = time.time()
            status, stage = stages.judge(path, kind, line, column)
            r = {"mutant": where, "status": status, "stage": stage, "seconds": round(time.time() - start, 1),
                 "code": open(path, encoding="utf-8").read().splitlines()[line - 1].strip()}
            with open(results, "a") as f:
                f.write(json.dumps(r) + "\n")
        # A mutant that does not compile, or whose place gremlins gives wrongly, is replaced by the next.
        status = "NOT VIABLE" if r["status"] == "NOT FOUND" else r["status"]
        table[package][status] = table[package].get(status, 0) + 1
        if status in ("LIVED", "NO END"):
            tell(status, where, r["code"])
    print(f"\n{'package':16} mutants killed no end alive")
    table["all"] = {s: sum(c.get(s, 0) for c in table.values()) for s in ("KILLED", "NO END", "LIVED")}
    for package, c in table.items():
        killed, late, alive = (c.get(s, 0) for s in ("KILLED", "NO END", "LIVED"))
        viable = killed + late + alive
        print(f"{package:16} {viable:7} {killed:6} {late:6} {alive:5}" + (f"  {100 * killed / viable:.1f} % killed" if viable else ""))


def main():
    command, args = sys.argv[1], sys.argv[2:]
    if command == "every":
        every(args[0], args[1], int(args[2]))
    elif command == "sample":
        sample(int(args[0]), args[1], args[2], [a.split("=", 1) for a in args[3:]])
    elif command == "at":
        path, line, column = args[0].rsplit(":", 2)
        status, stage = Stages().judge(path, args[1], int(line), int(column))
        tell(status + (" by " + stage if stage else ""), args[0] + " " + args[1], open(path, encoding="utf-8").read().splitlines()[int(line) - 1])
    else:
        sys.exit(__doc__)


main()
