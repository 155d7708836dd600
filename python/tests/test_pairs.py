"""Pairs of places: designed, counted and estimated as the command does."""

import csv
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

import wpm
from tests.support import PYTHON, need

CATEGORY = "mode=walk,car:3km"


class TestPairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pandas = need("pandas")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        rng = np.random.default_rng(3)
        cls.homes, cls.works = (
            cls.pandas.DataFrame({"lat": 50 + rng.random(n) / 9, "lon": 8 + rng.random(n) / 9}, [f"{name} {i}" for i in range(n)])
            for n, name in ((6, "home"), (5, "work")))
        for name, table in (("homes", cls.homes), ("works", cls.works)):
            table.to_csv(cls.at(name), index_label="label")
        cls.regions = {"west": cls.homes.index[:3].to_list(), "east": {"home 3": 1, "home 4": 0.5},
                       "centre": cls.pandas.Series([1.0, 1.0], ["work 0", "work 1"])}
        with open(cls.at("regions"), "w", encoding="utf-8") as f:
            rows = csv.writer(f)
            rows.writerow(["region", "label", "weight"])
            for name, of in cls.regions.items():
                rows.writerows([name, x, v] for x, v in (dict.fromkeys(of, 1) if isinstance(of, list) else of).items())
        cls.wpm = cls.at("wpm")
        subprocess.run(["go", "build", "-o", cls.wpm, "./cmd/wpm"], cwd=os.path.dirname(PYTHON), check=True)

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def run_wpm(self, *words):
        r = subprocess.run([self.wpm, *words], capture_output=True, text=True, timeout=300)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def designed(self, name, *flags):
        """Return a policy of the command."""
        self.run_wpm("design", "-eps", "5", "-o", self.at(name), "-geometry", "public", "-base", "data-independent", *flags)
        return wpm.Policy.read(self.at(name))

    def test_design(self):
        """Policies are those of the command but for the unit of privacy, which only that names."""
        only = [("home 1", "work 2"), ["home 0", "work 4"], ("home 5", "work 0")]
        with open(self.at("list"), "w", encoding="utf-8") as f:
            f.writelines(",".join(x) + "\n" for x in [("from", "to"), *only])
        homes, works = self.at("homes"), self.at("works")
        for n, (made, settings, flags) in enumerate([
            (wpm.pairs(self.homes, self.works), {}, ["-pairs", f"{homes},{works}"]),
            (wpm.pairs(self.homes, self.homes), {"devices": 900}, ["-pairs", homes, "-devices", "900"]),
            (wpm.pairs(self.homes, self.works, only=only, category=CATEGORY), {},
             ["-pairs", f"{homes},{works},{self.at('list')}", "-with", CATEGORY]),
            (wpm.pairs(self.homes, category=CATEGORY, p=2), {}, ["-points", homes, "-with", CATEGORY, "-p", "2"]),
        ]):
            with self.subTest(flags=flags):
                d = wpm.design(made, 5, **settings)
                self.assertEqual((d.codes, d.shape[0]), (0, len(made)))
                unit = {"unit of privacy": "the whole distribution of one client"}
                got = d.publish(geometry="public", base="data-independent", metadata=unit)
                want = self.designed(f"p{n}", *flags)
                self.assertEqual(got.text, want.text)
                self.assertEqual(got.metadata["pairs"], made.form)

    def test_aggregate(self):
        """The map, its error, the marginals and the flows are those of aggregate -json."""
        for n, flags in enumerate([[], ["-with", CATEGORY]]):
            p = self.designed(f"a{n}", "-pairs", f"{self.at('homes')},{self.at('works')}", *flags)
            users = np.random.default_rng(n).dirichlet(np.full(p.shape[0], 0.1), 50)
            file = self.at(f"reports{n}")
            wpm.simulate(p, users, devices=4000, path=file)
            want = json.loads(self.run_wpm("aggregate", "-json", "-level", "0.8", "-regions", self.at("regions"), self.at(f"a{n}"),
                                           file))
            got = wpm.estimate(p.count(file), p, regions=self.regions, level=0.8)
            self.assertEqual(got.map.tolist(), want["map"])
            self.assertEqual(got.raw.tolist(), want["raw"])
            self.assertEqual(got.map_error, want["error"])
            self.assertEqual(got.ends, want["ends"])
            self.assertEqual(got.regions, want["regions"])
            self.assertEqual([got[x] for x in ("signal", "information", "verdict", "estimator")],
                             [want[x] for x in ("signal", "information", "verdict", "estimator")])
            self.assertIn("west>centre", [r.region for r in got.regions])
            self.assertEqual([e.end for e in got.ends], ["from", "to", "mode"][:2 + n])
            np.testing.assert_allclose([sum(e.map) for e in got.ends], 1, atol=1e-12)
            frame = wpm.estimate(p.count(file), p, places=self.pandas.DataFrame(index=p.labels)).frame
            self.assertEqual(list(frame.index), p.labels)
            self.assertEqual(frame["share"].tolist(), want["map"])

    def test_places(self):
        """Of places, the intervals of regions are those of aggregate, too; weights may be those of all places."""
        p = self.designed("places", "-points", self.at("homes"))
        file = self.at("reports")
        wpm.simulate(p, np.eye(6), devices=3000, path=file)
        with open(self.at("one"), "w", encoding="utf-8") as f:
            f.write("region,label,weight\nwest,home 0,1\nwest,home 2,.25\n")
        want = json.loads(self.run_wpm("aggregate", "-json", "-regions", self.at("one"), self.at("places"), file))["regions"]
        weights = [1, 0, 0.25, 0, 0, 0]
        c = p.count(file)
        for west in (weights, {"home 0": 1, "home 2": 0.25}, self.pandas.Series(weights, p.labels)):
            self.assertEqual(wpm.estimate(c, p, regions={"west": west}).regions, want)
        self.assertNotIn("ends", wpm.estimate(c, p))
        r = wpm.estimate([60, 30, 10], C={"kind": "grid", "rows": 1, "cols": 3, "p": 1}, m=[0.4] * 3, eps=2,
                         regions={"west": [1, 0, 0]})
        self.assertTrue(r.regions[0].lower < 0.7 < r.regions[0].upper)

    def test_geometry(self):
        """Tables of a plane, and of geopandas."""
        geopandas = need("geopandas")
        at = geopandas.points_from_xy(self.homes.lon, self.homes.lat)
        points = geopandas.GeoDataFrame(index=self.homes.index, geometry=at, crs=4326)
        self.assertEqual(wpm.pairs(points, self.works)._cost, wpm.pairs(self.homes, self.works)._cost)
        plane = points.to_crs(32632)
        table = self.pandas.DataFrame({"east": plane.geometry.x, "north": plane.geometry.y}, plane.index)
        got, want = wpm.pairs(plane, plane), wpm.pairs(table, table)
        self.assertEqual((got._cost, got.form), (want._cost, "x,y>x,y"))
        self.assertEqual((len(got), got.labels[1]), (36, "home 0>home 1"))

    def test_refused(self):
        named = self.homes.rename(index={"home 1": "a>b"})
        bad = self.homes.assign(lat=95.0)
        for text, call in {
            "one and a category": lambda: wpm.pairs(self.homes),
            "goes with two": lambda: wpm.pairs(self.homes, category=CATEGORY, only=[("home 0", "work 0")]),
            "'work 9'": lambda: wpm.pairs(self.homes, self.works, only=[("home 0", "work 9")]),
            "twice": lambda: wpm.pairs(self.homes, self.works, only=[("home 0", "work 0")] * 2),
            "no pairs": lambda: wpm.pairs(self.homes, self.works, only=[]),
            "not a pair": lambda: wpm.pairs(self.homes, self.works, only=["home 0"]),
            "a>b": lambda: wpm.pairs(named, self.works),
            "95": lambda: wpm.pairs(bad, self.works),
            "has one place": lambda: wpm.pairs(self.homes.iloc[:1], self.works),
            "not a table": lambda: wpm.pairs([[1, 2]], self.works),
            "VALUE": lambda: wpm.pairs(self.homes, self.works, category="mode"),
            "160000": lambda: wpm.pairs(*[self.pandas.DataFrame({"x": range(500)})] * 2),
            "labels": lambda: wpm.design(wpm.pairs(self.homes, self.works), 5).publish(labels=["a"] * 30),
        }.items():
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                call()
        p = self.designed("refused", "-pairs", self.at("homes"))
        for text, regions in {"home 9": {"a": ["home 9"]}, "anywhere": {"anywhere": ["home 1"]}, "list": ["home 1"],
                              "label twice": {"a": ["home 1"] * 2}, "shape": {"a": [0.5]}}.items():
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.estimate(np.ones(36, int), p, regions=regions)
