"""Reports, counts, tables of places: what an analyst without Go has."""

import gzip
import os
import re
import tempfile
import unittest
import unittest.mock

import numpy as np

import wpm
from wpm import _reports
from tests.support import child, need

RING = {"kind": "ring", "n": 6, "p": 1}


def report(policy, index):
    return bytes.fromhex("77706d31" + policy.id) + index.to_bytes(4, "little")


class TestCount(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.policy = wpm.design(RING, 2).publish()
        rng = np.random.default_rng(1)
        cls.drawn = rng.integers(0, 6, 300)
        cls.records = [report(cls.policy, int(j)) for j in cls.drawn]
        cls.want = np.bincount(cls.drawn, minlength=6).tolist()

    def test_forms(self):
        """Every form of the same reports has the same counts."""
        p, texts = self.policy, [r.hex() for r in self.records]
        forms = [texts, tuple(texts), np.array(texts), np.array(texts, object), iter(texts),
                 self.records, np.array(self.records), np.frombuffer(b"".join(self.records), np.uint8).reshape(-1, 40),
                 b"".join(self.records), "\n".join(texts).encode(), gzip.compress("\n".join(texts).encode()),
                 np.array(self.records)[::-1]]
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("text", "\n".join(texts).encode()), ("binary", b"".join(self.records))):
                path = os.path.join(folder, name)
                with open(path, "wb") as f:
                    f.write(data)
                forms.append(path)
            for n, form in enumerate(forms):
                with self.subTest(n=n):
                    c = p.count(form)
                    self.assertEqual((c.reports.tolist(), c.total, c.lines), (self.want, 300, 300))
            both = p.count(*forms[-2:])
            self.assertEqual(both.reports.tolist(), [2 * n for n in self.want])

    def test_refused(self):
        """What does not count is counted by reason; a byte of each report changed never counts elsewhere."""
        other = wpm.design(RING, 3).publish()
        c = self.policy.count(["", "  ", None, float("nan"), "x", report(other, 1), report(self.policy, 6), b"wpm1",
                               "a\nb", "\x1f\x8b", report(self.policy, 3).hex()])
        self.assertEqual(c.refused, {"malformed": 4, "other-policy": 1, "no-such-output": 1, "never-released": 0})
        self.assertEqual((c.total, c.lines), (1, 7))
        for at in range(40):
            bad = bytearray(report(self.policy, 2))
            bad[at] ^= 0x40
            c = self.policy.count([bytes(bad)])
            self.assertEqual((c.total, sum(c.refused.values())), (0, 1), at)
        self.assertEqual(self.policy.count(["wpm1" + "0" * 76]).refused["malformed"], 1)  # text, not a binary file

    def test_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = os.path.join(folder, "cut.gz")
            with open(cut, "wb") as f:
                f.write(gzip.compress(b"x" * 9999)[:-9])
            for bad, text in (((), "nothing"), ((3,), "column"), (({"x": 5},), "dict"), (({"x"},), "set"),
                              ((np.array("x"),), "ndarray"), (([3],), "reports 1[0] is 3"), ((folder,), "folder"),
                              ((os.path.join(folder, "none"),), "none"), ((cut,), "cut.gz"),
                              ((np.zeros((2, 39), np.uint8),), "39 bytes")):
                with self.subTest(bad=bad), self.assertRaisesRegex(wpm.InputError, text.replace("[", "\\[")):
                    self.policy.count(*bad)
        with self.assertRaisesRegex(wpm.InputError, "malformed"):
            self.policy.count(["x"], strict=True)

    def meaning(self, v):
        """Return what a value of a column is by docs/spec: an output, the reason why it is none, or None of a blank."""
        if v is None or v != v:
            return None
        if not (isinstance(v, bytes) and len(v) == 40):
            text = v if isinstance(v, str) else v.decode("latin-1")
            text = text if "\n" in text else text.strip(" \t\r")
            if not text:
                return None
            if not re.fullmatch("[0-9a-f]{80}", text):
                return "malformed"
            v = bytes.fromhex(text)
        index = int.from_bytes(v[36:], "little")
        if v[:4] != b"wpm1" or index >= 2**20:
            return "malformed"
        if v[4:36].hex() != self.policy.id:
            return "other-policy"
        return index if index < 6 else "no-such-output"

    def values(self, rng):
        """Return a column of values that are reports, or nearly."""
        column = []
        for _ in range(rng.integers(0, 12)):
            data = bytearray(self.records[rng.integers(300)])
            for _ in range(rng.choice([0, 0, 1, 2])):
                data[rng.integers(40)] = rng.choice([0, 5, 6, 10, 13, 32, 119, 255, rng.integers(256)])
            data = bytes(data[:40 if rng.random() < 0.8 else rng.integers(0, 40)])
            text = data.hex()
            column.append([
                data, text, text.upper(), text + "\n", " " + text + "\t\r", text + "\v", text.encode(), text[:40] + "\n" + text[40:],
                data.decode("latin-1"), "\ufeff" + text, "\ud800" + text, "wpm1", b"wpm1", "wpm-counts-1", "\x1f\x8b", b"\x1f\x8b",
                b"", "", " \r", "\n", None, float("nan"), b"\n" + data[1:],
            ][rng.integers(23) if rng.random() < 0.6 else rng.integers(2)])
        return column

    def agreed(self, seed, cases):
        """Hold the counts of random columns, in the forms that hold them, to what each value means."""
        rng = np.random.default_rng(seed)
        for _ in range(cases):
            column = self.values(rng)
            want, refused = [0] * 6, dict.fromkeys(["malformed", "other-policy", "no-such-output", "never-released"], 0)
            for v in map(self.meaning, column):
                if isinstance(v, int):
                    want[v] += 1
                elif v is not None:
                    refused[v] += 1
            held = np.empty(len(column), object)
            held[:] = column
            forms = [column, iter(column), held, held[::-1]]
            if all(isinstance(v, bytes) and len(v) == 40 for v in column):
                forms += [np.array(column, "S40"), np.array([*column, b"x"], "S40")[:-1]]
                forms += [np.frombuffer(b"".join(column), np.uint8).reshape(-1, 40)]
            for form in forms:
                c = self.policy.count(form)
                self.assertEqual((c.reports.tolist(), c.refused, c.lines), (want, refused, sum(want) + sum(refused.values())),
                                 (seed, column))
            self.assertEqual(wpm.Counts(c.text).reports.tolist(), want)

    def test_random(self):
        """Every value of a column is counted as what it is, or refused for its reason, whatever is beside it."""
        self.agreed(int.from_bytes(os.urandom(4), "little") if os.environ.get("WPM_SEED") == "random" else 5,
                    20000 if os.environ.get("WPM_FULL") == "1" else 400)

    def test_planted(self):
        """Errors that are planted in the reader of columns are found by the test above."""
        with open(_reports.__file__, encoding="utf-8") as f:
            source = f.read()
        planted = [('"?" if "\\n" in v else v', 'v'), ('.replace(b"\\n", b"?")', ''), ('len(v) == _SIZE else', 'len(v) > 0 else'),
                   ('lines.append("")', 'pass; break'), ('"\\n".join([*lines, ""])', '"\\n".join(lines[1:] + [""])'),
                   (', b"wpm-counts-"', ''), ('(b"wpm1", ', '('), ('"replace")', '"strict")'), ('.decode("latin-1")', '.decode()'),
                   ('values = np.ascontiguousarray(values)', 'values = np.sort(values)[:1].repeat(len(values))'),
                   ('[row.tobytes() for row in values]', '[row.tobytes() for row in values[:-1]]'),
                   ('isinstance(v, float) and v != v', 'False'), ('bytes(v).hex() if', 'bytes(v).hex().upper() if'),
                   ('or type(v).__name__ in ("NAType", "NaTType") or', 'and')]
        for old, new in planted:
            with self.subTest(planted=new, instead_of=old):
                self.assertEqual(source.count(old), 1)
                space = {"__name__": "wpm._planted", "__package__": "wpm"}
                exec(compile(source.replace(old, new), "planted", "exec"), space)
                with unittest.mock.patch.object(_reports, "_column", space["_column"]):
                    with self.assertRaises((AssertionError, wpm.InputError, TypeError, UnicodeError)):
                        self.agreed(5, 400)


class TestCounts(unittest.TestCase):
    def test_text(self):
        p = wpm.design(RING, 2).publish()
        a, b = (p.count([report(p, j) for j in of], epoch="2026-11") for of in ((0, 1, 1), (5,)))
        self.assertEqual((a.policy, a.epoch, a.total), (p.id, "2026-11", 3))
        self.assertTrue(a.text.startswith("wpm-counts-1\n"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counts")
            a.write(path)
            with self.assertRaises(FileExistsError):
                a.write(path)
            again = wpm.Counts.read(path)
        self.assertEqual((again.text, again.reports.tolist(), len(again)), (a.text, [1, 2, 0, 0, 0, 0], 6))
        self.assertIn("total=3", repr(again))
        with self.assertRaisesRegex(wpm.InputError, "twice"):
            a + b  # both have the shard "column 1"
        with self.assertRaises(TypeError):
            a + 1
        other = wpm.simulate(p, devices=10)
        with self.assertRaisesRegex(wpm.InputError, "epoch"):
            a + other

    def test_table(self):
        """A table of counts, as a warehouse makes, is read as wpm aggregate -counts reads it; it needs its policy."""
        p = wpm.design(RING, 2).publish(labels=list("abcdef"), output_labels=list("abcdef"))
        part = p.count([report(p, j) for j in (0, 1, 1, 5)], epoch="2026-11")
        with tempfile.TemporaryDirectory() as folder:
            def file(name, text):
                path = os.path.join(folder, name)
                with open(path, "w") as f:
                    f.write(text)
                return path
            for name, text in {"index": "index,count\n1,2\n0,1\n5,1\n", "label": "label,count\na,1\nf,1\nb,2\n"}.items():
                path = file(name, text)
                c = wpm.Counts.read(path, p, epoch="2026-11")
                self.assertEqual((list(c.reports), c.policy, c.epoch, c.total), ([1, 2, 0, 0, 0, 1], p.id, "2026-11", 4))
                np.testing.assert_array_equal(wpm.estimate(c, p).map, wpm.estimate(part, p).map)
                self.assertEqual((c + part).total, 8)
                with self.assertRaisesRegex(wpm.InputError, "twice"):
                    c + wpm.Counts.read(path, p, epoch="2026-11")
                with self.assertRaisesRegex(wpm.InputError, "states no policy"):
                    wpm.Counts.read(path)
            for bad in ("index,count\n6,1\n", "index,count\n1,1\n1,2\n", "label,count\nz,1\n", "index,count\n1,-1\n", "nothing"):
                with self.assertRaises(wpm.InputError):
                    wpm.Counts.read(file("bad", bad), p)
            path = file("part", part.text)
            with open(path, "rb") as f, gzip.open(path + ".gz", "wb") as z:
                z.write(f.read())
            for path in (path, path + ".gz"):
                self.assertEqual(wpm.Counts.read(path, p, epoch="2026-11").text, part.text)
            with self.assertRaisesRegex(wpm.InputError, "epoch"):
                wpm.Counts.read(path, p, epoch="2026-12")
            with self.assertRaisesRegex(wpm.InputError, "policy"):
                wpm.Counts.read(path, wpm.design(RING, 3).publish())
            with self.assertRaises(wpm.InputError):
                wpm.Counts.read(os.path.join(folder, "absent"))

    def test_broken(self):
        """No change of one byte is read as counts, but for those that change nothing."""
        p = wpm.design(RING, 2).publish()
        text = p.count([report(p, 3)]).text
        for at in range(len(text)):
            with self.assertRaises(wpm.InputError):
                wpm.Counts(text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1:])
        for bad in ("", text[:-1], text + "\n", b"\xff", 3, None):
            with self.assertRaises(wpm.InputError):
                wpm.Counts(bad)

    def test_policy(self):
        """Counts of one policy are no counts of another."""
        p, q = wpm.design(RING, 2).publish(), wpm.design(RING, 3).publish()
        c = p.count([report(p, 3)] * 50)
        self.assertEqual(wpm.estimate(c, p).map.argmax(), 3)
        with self.assertRaisesRegex(wpm.InputError, p.id[:12]):
            wpm.estimate(c, q)


class TestSimulate(unittest.TestCase):
    def test_simulate(self):
        """A file of a simulation has the same counts; the same seed the same reports; the law is that of the rows."""
        d = wpm.design(RING, 2)
        p = d.publish()
        users = np.array([8, 1, 1, 0, 0, 0])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reports")
            c = wpm.simulate(p, users, devices=20000, path=path)
            self.assertEqual(p.count(path).reports.tolist(), c.reports.tolist())
            with self.assertRaises(wpm.InputError):  # no file is written over
                wpm.simulate(p, devices=10, path=path)
            self.assertEqual(wpm.Counts(c.text).total, 20000)
            with open(path, "rb") as f:
                real = f.read().split(b"\n")[1].decode()
            with self.assertRaises(wpm.InputError):  # never beside the reports of people
                p.count(path, [real])
        self.assertEqual(wpm.simulate(p, users, devices=20000).reports.tolist(), c.reports.tolist())
        self.assertNotEqual(wpm.simulate(p, users, devices=20000, seed=2).reports.tolist(), c.reports.tolist())
        law = users / 10 @ d.rows
        # Six standard deviations of a binomial: 2e-9 an output.
        self.assertTrue((np.abs(c.reports - 20000 * law) < 6 * np.sqrt(20000 * law * (1 - law))).all())
        self.assertEqual(wpm.simulate(p, np.eye(6) * 3).total, 6)
        self.assertEqual((wpm.simulate(p).total, wpm.simulate(p, devices=7, atoms=1).total), (10000, 7))
        seen = []
        wpm.simulate(p, devices=300000, progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1], (300000, 300000))

    def test_refused(self):
        p = wpm.design(RING, 2).publish()
        for args, settings in ((([1, 2],), {}), (([-1] + [1] * 5,), {}), ((np.zeros(6),), {}), ((np.zeros((0, 6)),), {}),
                               ((np.ones(6),), {"atoms": 2}), ((), {"devices": 0}), ((), {"atoms": 7}),
                               ((), {"seed": -1}), ((), {"seed": 0.5}), (([np.nan] * 6,), {})):
            with self.subTest(args=str(args), **settings), self.assertRaises(wpm.InputError):
                wpm.simulate(p, *args, **settings)

    def test_labels(self):
        pandas, sparse = need("pandas"), need("scipy.sparse")
        p = wpm.design(RING, 2).publish(labels=list("abcdef"), output_labels=list("abcdef"))
        want = wpm.simulate(p, [0, 0, 5, 0, 0, 1], devices=500).reports
        self.assertEqual(list(want.index), list("abcdef"))
        s = pandas.Series([5, 1, 0, 0, 0, 0], list("cfabde"))
        self.assertEqual(wpm.simulate(p, s, devices=500).reports.tolist(), want.tolist())
        self.assertEqual(wpm.simulate(p, s.to_frame().T, devices=500).reports.tolist(), want.tolist())
        self.assertEqual(wpm.simulate(p, sparse.csr_matrix([0, 0, 5, 0, 0, 1]), devices=500).reports.tolist(),
                         want.tolist())


class TestSeries(unittest.TestCase):
    def test_value_counts(self):
        """A place without a report counts 0, whatever the order of the counts."""
        pandas = need("pandas")
        names = list("abcdef")
        p = wpm.design(RING, 2).publish(labels=names)
        drawn = pandas.Series(list("ccccaaf"))
        want = wpm.estimate([2, 0, 4, 0, 0, 1], p).map
        np.testing.assert_array_equal(wpm.estimate(drawn.value_counts(), p).map, want)
        numbers = pandas.Series([2, 2, 2, 2, 0, 0, 5])
        bare = wpm.design(RING, 2).publish()
        np.testing.assert_array_equal(wpm.estimate(numbers.value_counts(), bare).map, want)
        for bad, text in ((pandas.Series({"x": 1}), "'x'"), (pandas.Series([1, 2], ["a", "a"]), "twice"),
                          (pandas.Series({"a": 1.5}), "whole"), (pandas.Series({"a": -1}), "counts")):
            with self.assertRaisesRegex(wpm.InputError, text):
                wpm.estimate(bad, p)
        with self.assertRaisesRegex(wpm.InputError, "an output of 6"):
            wpm.estimate(pandas.Series({6: 1}), bare)


class TestPlaces(unittest.TestCase):
    def setUp(self):
        self.pandas = need("pandas")
        rng = np.random.default_rng(3)
        self.lat, self.lon = 50 + rng.random(9), 8 + rng.random(9)
        self.names = [f"p{i}" for i in range(9)]

    def frame(self, **more):
        return self.pandas.DataFrame({"Lat": self.lat, "other": 1, "longitude": self.lon, **more}, self.names)

    def test_frame(self):
        """Latitudes and longitudes are distances on the globe; the index labels the policy, and orders the answer."""
        frame = self.frame()
        d = wpm.design(frame, 3)
        same = wpm.design({"kind": "greatcircle-2", "x": np.column_stack([self.lat, self.lon]), "p": 1}, 3)
        np.testing.assert_array_equal(d.rows.to_numpy(), same.rows)
        p = d.publish()
        self.assertEqual((p.labels, p.cost["kind"]), (self.names, "greatcircle-2"))
        c = wpm.simulate(p, np.eye(9)[2], devices=3000)
        r = wpm.estimate(c, p, places=frame[::-1])
        self.assertEqual(list(r.frame.index), self.names)
        self.assertEqual(list(r.frame.columns), ["Lat", "other", "longitude", "share", "group", "low", "high"])
        np.testing.assert_array_equal(r.frame["share"], r.map)
        peak = r.frame.loc["p2"]
        self.assertTrue(peak["low"] > 0.5 and peak["share"] == r.map.max(), r.frame)
        for _, group in r.frame.groupby("group"):  # one interval a group
            self.assertEqual(len(group[["low", "high"]].drop_duplicates()), 1)
        self.assertNotIn("share", frame.columns)  # the caller's is not changed
        self.assertNotIn("frame", wpm.estimate(c, p))
        moved = wpm.estimate(c.reports.to_numpy(), wpm.design(frame, 3).publish(), places=frame)
        np.testing.assert_array_equal(moved.map, r.map)

    def test_refused(self):
        p = wpm.design(self.frame(), 3).publish()
        far, twice = self.frame(), self.frame()
        far.iloc[3, 0] = np.nan
        twice.index = [*self.names[1:], "p1"]
        for bad, text in ((far, "'p3'"), (twice, "'p1' twice"), (self.frame().iloc[:0], "no places"),
                          (self.frame(Lat="x"), "Lat"), (self.frame(Lat=95.0), "95")):
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.design(bad, 3)
        frame = self.frame()
        for bad, text in ((frame[["Lat"]], "no columns of longitude"), (frame[["longitude"]], "no columns of latitude"),
                          (self.frame(LAT=1.0), "2 columns of latitude"), (self.frame(Lat=1j), "complex128"),
                          (self.frame(Lat=np.datetime64("2020-01-01")), "datetime64")):
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.design(bad, 3)
        matrix = self.pandas.DataFrame([[0, 1], [1, 0]], ["Long", "Short"], ["Long", "Short"])
        self.assertEqual(wpm.design(matrix, 3).publish().labels, ["Long", "Short"])
        for bad, text in ((3, "int"), (self.frame().iloc[1:], "lacks 'p0'"), (twice, "'p1' twice")):
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.estimate(np.ones(9, int), p, places=bad)

    def test_geopandas(self):
        """Points and shapes, in degrees and in metres; a GeoDataFrame comes back as one, and can be drawn."""
        geopandas, matplotlib = need("geopandas"), need("matplotlib")
        matplotlib.use("Agg")
        points = geopandas.GeoDataFrame({"name": self.names}, geometry=geopandas.points_from_xy(self.lon, self.lat),
                                        crs="EPSG:4326")
        want = wpm.design(self.frame(), 3).rows.to_numpy()
        np.testing.assert_array_equal(wpm.design(points, 3).rows.to_numpy(), want)
        np.testing.assert_array_equal(wpm.design(points.geometry, 3).rows.to_numpy(), want)
        plane = points.to_crs(32632)
        cost = wpm.design(plane, 3).publish().cost
        self.assertEqual(cost["kind"], "points")
        np.testing.assert_allclose(np.subtract(*cost["x"][:2]),
                                   np.subtract(*np.column_stack([plane.geometry.x, plane.geometry.y])[:2]), atol=1e-3)
        shapes = plane.set_geometry(plane.buffer(200))
        p = wpm.design(shapes, 3).publish()
        for places in (points, shapes, shapes.geometry, points.geometry):
            r = wpm.estimate(np.arange(9), p, places=places)
            self.assertIsInstance(r.frame, geopandas.GeoDataFrame)
            self.assertEqual(r.frame.crs, places.crs)
            np.testing.assert_array_equal(r.frame["share"], r.map)
            self.assertEqual(len(wpm.plot_map(r, places).collections[0].get_array()), 9)
        for bad, text in ((geopandas.GeoDataFrame(geometry=list(points.geometry)), "set_crs"),
                          (points.set_geometry([None] * 9, crs=4326), "no geometry at 0"),
                          (geopandas.GeoDataFrame({"a": [1, 2]}), "set_geometry"),
                          (points.set_crs(4978, allow_override=True), "to_crs"),
                          (points.set_crs(4807, allow_override=True), "to_crs")):  # in grads, from Paris
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.design(bad, 3)
        with self.assertRaisesRegex(wpm.InputError, "rename_geometry"):  # it would be lost
            wpm.estimate(np.arange(9), p, places=points.rename_geometry("share"))
        import matplotlib.pyplot as plt

        plt.close("all")

    def test_plot(self):
        matplotlib = need("matplotlib")
        matplotlib.use("Agg")
        shares = self.pandas.Series(np.arange(9) / 36, self.names)
        ax = wpm.plot_map(shares[::-1], self.frame())
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), np.column_stack([self.lon, self.lat])[::-1])
        with self.assertRaisesRegex(wpm.InputError, "no map"):
            wpm.plot_map(wpm.Result(map=None, reason="projection"), self.frame())
        import matplotlib.pyplot as plt

        plt.close("all")


class TestProgress(unittest.TestCase):
    def test_progress(self):
        seen = []
        rng = np.random.default_rng(1)
        x = rng.random((150, 2))
        d = wpm.design({"kind": "points", "x": x, "p": 1}, 3)
        counts = rng.multinomial(5000, d.rows[7])
        r = wpm.estimate(counts, d.publish(), progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1][0], seen[-1][1])
        self.assertEqual(seen, sorted(seen))
        np.testing.assert_array_equal(r.map, wpm.estimate(counts, d.publish()).map)  # it changes nothing

        def fail(done, total):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            wpm.estimate(counts, d.publish(), progress=fail)

    def test_ctrl_c(self):
        """Ctrl-C ends an estimate that would take longer."""
        code = """
import os, signal, threading, time, numpy as np, wpm
rng = np.random.default_rng(1)
d = wpm.design({"kind": "points", "x": rng.random((900, 2)), "p": 1}, 4)
p, counts, said = d.publish(), rng.multinomial(200000, d.rows[7]), []
def stop(done, total):
    if not said:
        said.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
try:
    wpm.estimate(counts, p, progress=stop)
except KeyboardInterrupt:
    print("stopped", wpm.emd2([1], [1], [[2.0]]))
"""
        r = child(code)
        self.assertEqual((r.returncode, r.stdout), (0, "stopped 2.0\n"), r.stderr)
