#!/usr/bin/env python3
"""Writes colours.csv (24 named colours) and votes.csv (which of them 200 made-up people picked): data for compare.md."""
import csv
import math

COLOURS = """black 0 0 0;gray 128 128 128;silver 192 192 192;white 255 255 255;maroon 128 0 0;red 255 0 0;tomato 255 99 71;
salmon 250 128 114;brown 165 42 42;orange 255 165 0;gold 255 215 0;yellow 255 255 0;khaki 240 230 140;olive 128 128 0;
green 0 128 0;lime 0 255 0;teal 0 128 128;cyan 0 255 255;navy 0 0 128;blue 0 0 255;skyblue 135 206 235;purple 128 0 128;
violet 238 130 238;pink 255 192 203""".replace("\n", "")
PEOPLE, PICKS = 200, 12

state = 1  # MINSTD, so that every version of Python draws the same


def draw(n):
    global state
    state = state * 48271 % (2**31 - 1)
    return state % n


colours = [c.split() for c in COLOURS.split(";")]
rgb = [[int(v) for v in c[1:]] for c in colours]
with open("colours.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["label", "x", "y", "z"])
    out.writerows(colours)
with open("votes.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["user", "label", "count"])
    for person in range(PEOPLE):
        favourite = draw(len(colours))
        # The nearer to the favourite, the more often picked: whole weights, 1000 at the favourite itself.
        weight = [round(1000 * math.exp(-sum(abs(a - b) for a, b in zip(c, rgb[favourite])) / 80)) for c in rgb]
        count = [0] * len(colours)
        for _ in range(PICKS):
            at = draw(sum(weight))
            for i, w in enumerate(weight):
                at -= w
                if at < 0:
                    count[i] += 1
                    break
        out.writerows([f"p{person}", c[0], n] for c, n in zip(colours, count) if n)
