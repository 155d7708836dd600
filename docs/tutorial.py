"""Writes the made data of docs/tutorial.md into a folder: 60 places, what is known of them, and 300 devices."""

import os
import random
import sys

# Name, latitude, longitude, radius in degrees, places, share of the visits, and what the public believes of that.
PARTS = [
    ("centre", 52.52, 13.40, 0.02, 30, 0.70, 0.6),
    ("lakes", 52.40, 13.06, 0.02, 15, 0.22, 0.2),
    ("airport", 52.37, 13.52, 0.04, 15, 0.08, 0.2),
]
DEVICES, VISITS = 300, 5


def main(folder):
    os.makedirs(folder, exist_ok=True)
    r = random.Random(1)
    places, regions, prior, labels, weights = ["lat,lon,label"], ["region,label"], ["label,weight"], [], []
    for part, lat, lon, radius, count, share, believed in PARTS:
        attractive = [r.expovariate(1) for _ in range(count)]
        for n, a in enumerate(attractive):
            label = f"{part} {n + 1}"
            places.append(f"{r.gauss(lat, radius):.5f},{r.gauss(lon, 1.6 * radius):.5f},{label}")
            regions.append(f"{part},{label}")
            prior.append(f"{label},{believed / count:.4f}")
            labels.append(label)
            weights.append(share * a / sum(attractive))
    users = ["user,label,count"]
    for device in range(1, DEVICES + 1):
        visited = r.choices(labels, weights, k=VISITS)
        counts = [f"{label},{visited.count(label)}" for label in dict.fromkeys(visited)]
        write(folder, f"{device}.csv", ["label,count"] + counts)
        users += [f"{device},{line}" for line in counts]
    for name, lines in ("places", places), ("regions", regions), ("prior", prior), ("users", users):
        write(folder, name + ".csv", lines)


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w") as file:
        file.write("\n".join(lines) + "\n")


main(sys.argv[1])
