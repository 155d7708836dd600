"""A year of one city, by the commands of wpm: ways to spend eps 4 of each of 20,000 people (results/months.md)."""

import argparse
import json
import math
import os
import random
import subprocess

SIDE, PEOPLE, MONTHS, EPS = 20, 20_000, 12, 4
CELLS = SIDE * SIDE
COST = {"kind": "grid", "rows": SIDE, "cols": SIDE, "p": 1}


def wpm(*words, text=None):
    done = subprocess.run(["wpm", "-q", *map(str, words)], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"wpm {words}: {done.stderr}")
    return done.stdout


def blob(row, col, width):
    w = [math.exp(-((i // SIDE - row) ** 2 + (i % SIDE - col) ** 2) / (2 * width**2)) for i in range(CELLS)]
    return [x / sum(w) for x in w]


def people(r, moving):
    """The cell of everybody in each month: three blobs and an even tenth, and a new blob to which people move."""
    share = [r.gammavariate(3, 1) for _ in range(3)]
    parts = [blob(r.uniform(3, 16), r.uniform(3, 16), r.uniform(1, 2.5)) for _ in share]
    home = [0.1 / CELLS + 0.9 * sum(s * p[i] for s, p in zip(share, parts)) / sum(share) for i in range(CELLS)]
    new = blob(r.uniform(3, 16), r.uniform(3, 16), 1.5)
    at = r.choices(range(CELLS), home, k=PEOPLE)
    yield at
    for _ in range(MONTHS - 1):
        at = [r.choices(range(CELLS), new)[0] if r.random() < moving else a for a in at]
        yield at


class Year:
    def __init__(self, folder, seed, moving):
        self.folder, self.seed, self.scores, self.truths = folder, seed, {}, []
        os.makedirs(folder, exist_ok=True)
        self.places = list(people(random.Random(seed), moving))
        for t, at in enumerate(self.places):
            with open(self.path(f"users{t}"), "w") as f:
                f.write("user,label,count\n" + "".join(f"{d},{a},1\n" for d, a in enumerate(at)))
            self.truths.append([at.count(i) / PEOPLE for i in range(CELLS)])
        self.score("guess, no report", [[1 / CELLS] * CELLS] * MONTHS)

    def path(self, name):
        return os.path.join(self.folder, name)

    def score(self, way, maps):
        """Means of W_1 over the months, and that of the last, in cells."""
        ask = [json.dumps({"cost": COST, "a": m, "b": t, "want": ["distance"]}) for m, t in zip(maps, self.truths)]
        answers = wpm("solve", "transport", text="\n".join(ask)).splitlines()
        got = [SIDE * json.loads(line)["distance"] for line in answers]
        self.scores[way] = sum(got) / MONTHS, got[-1]

    def reports(self, policy, month, seed, *more):
        """A line of a report for each device, and the line before them."""
        wpm("simulate", "-seed", seed, "-devices", PEOPLE, *more, policy, self.path(f"users{month}"),
            "-o", self.path("reports"))
        with open(self.path("reports")) as f:
            return f.read().splitlines()

    def map(self, policy, lines):
        return json.loads(wpm("aggregate", "-json", policy, text="\n".join(lines) + "\n"))["map"]

    def ways(self, whole, split, period):
        first = self.seed * 1000
        months = [f"simulation-2026-{t + 1:02}" for t in range(MONTHS)]
        for name, policy, more in ("split", split, lambda t: []), ("slots", period, lambda t: ["-epoch", months[t]]):
            maps, counts = [], []
            for t, month in enumerate(months):
                lines = self.reports(policy, t, first + t, *more(t))
                maps.append(self.map(policy, lines))
                counts.append(self.path(f"{name}{t}"))
                wpm("count", "-policy", policy, "-epoch", month, "-o", counts[-1], self.path("reports"))
            self.score(name, maps)
            row = json.loads(wpm("aggregate", "-json", "-epochs", policy, *counts))["epochs"]
            self.score(name + ", maps in a row", [e["map"] for e in row])
        # Everybody at eps 4 in the first month; then a report is kept, or drawn again where the place has changed.
        head, *kept = self.reports(whole, 0, first + 100)
        maps, price = [self.map(whole, [head] + kept)], [EPS] * PEOPLE
        self.score("once, then silent", maps * MONTHS)
        for t in range(1, MONTHS):
            new = self.reports(whole, t, first + 100 + t)[1:]
            for d in range(PEOPLE):
                if self.places[t][d] != self.places[t - 1][d]:
                    kept[d], price[d] = new[d], price[d] + EPS
            maps.append(self.map(whole, [head] + kept))
        self.score("kept, drawn again after a move: not private", maps)
        self.price = sum(price) / PEOPLE, max(price)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("folder")
    p.add_argument("-seeds", type=int, default=5)
    p.add_argument("-moving", type=float, default=0.05, help="share of the people who move in a month")
    a = p.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    policies = []
    for name, eps, more in ("whole", EPS, []), ("split", f"{EPS}/{MONTHS}", []), ("period", EPS, ["-period", MONTHS]):
        policies.append(os.path.join(a.folder, name + ".policy"))
        more = [*more, "-epochs", "month", "-first", "2026-01"] if more else []
        wpm("design", "-grid", f"{SIDE}x{SIDE}", "-eps", eps, "-geometry", "public", "-base", "data-independent",
            *more, "-o", policies[-1])
    years = []
    for seed in range(1, a.seeds + 1):
        years.append(Year(os.path.join(a.folder, str(seed)), seed, a.moving))
        years[-1].ways(*policies)
    print("| way | W_1, mean of the months | least and largest of the seeds | month 12 |\n| --- | --: | --: | --: |")
    for way in years[0].scores:
        means, lasts = zip(*(y.scores[way] for y in years))
        n = len(years)
        print(f"| {way} | {sum(means) / n:.3g} | {min(means):.3g} to {max(means):.3g} | {sum(lasts) / n:.3g} |")
    mean = sum(y.price[0] for y in years) / len(years)
    print(f"\neps of the last way: {mean:.1f} in the mean, {max(y.price[1] for y in years)} at most")


main()
