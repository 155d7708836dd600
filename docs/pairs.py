"""Writes made-up files for docs/pairs.md into a folder: homes, works, people with a pair each, and quarters.

    python3 docs/pairs.py FOLDER
"""

import pathlib
import random
import sys

SIDE = 10  # cells of a kilometre, as many in both directions
LAT, LON = 46.9, 7.4
NORTH, EAST = 1 / 111.195, 1 / 75.97  # degrees in a kilometre


def cell(x, y):
    return min(max(int(y), 0), SIDE - 1) * SIDE + min(max(int(x), 0), SIDE - 1)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(3)
    for name in ("home", "work"):
        with open(folder / f"{name}s.csv", "w") as f:
            f.write("label,lat,lon\n")
            for i in range(SIDE * SIDE):
                f.write(f"{name} {i},{LAT + (i // SIDE + 0.5) * NORTH:.5f},{LON + (i % SIDE + 0.5) * EAST:.5f}\n")
    towns = [(2, 3), (7, 2), (3, 7), (7.5, 7)]
    with open(folder / "commuters.csv", "w") as f:
        f.write("user,label,count\n")
        for user in range(20000):
            x, y = rng.choice(towns)
            x, y = rng.gauss(x, 1.5), rng.gauss(y, 1.5)
            to = rng.gauss(x, 1), rng.gauss(y, 1)
            if rng.random() < 0.4:  # in the centre
                to = rng.gauss(5.5, 0.8), rng.gauss(5.5, 0.8)
            f.write(f"{user},home {cell(x, y)}>work {cell(*to)},1\n")
    with open(folder / "quarters.csv", "w") as f:
        f.write("region,label\n")
        for name in ("home", "work"):
            for i in range(SIDE * SIDE):
                north = "north" if i // SIDE >= SIDE // 2 else "south"
                east = "east" if i % SIDE >= SIDE // 2 else "west"
                f.write(f"{north}-{east},{name} {i}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
