"""Mechanisms: bounds, policies, estimates."""

import copy
import decimal
import fractions
import hashlib
import math
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import wpm
from tests.support import instance, need

GRID = {"kind": "grid", "rows": 3, "cols": 4, "p": 1}


def grid():
    at = np.array([[(c + 0.5) / 4, (r + 0.5) / 3] for r in range(3) for c in range(4)])
    return np.sqrt(((at[:, None] - at[None]) ** 2).sum(-1))


class TestEntropic(unittest.TestCase):
    def test_bounds(self):
        """The bounds enclose the exact optimum, and q stays in the box; methods agree."""
        rng = np.random.default_rng(1)
        for _ in range(10):
            C, mu, lo, hi = instance(rng, *rng.integers(2, 9, 2))
            exact = wpm.project(C, mu, lo, hi)
            fast, paper = (wpm.entropic(C, mu, lo, hi, reg=0.5, method=m) for m in ("fast", "paper"))
            for r in (fast, paper):
                self.assertTrue(r.lower <= exact.upper and exact.lower <= r.upper, r)
                self.assertTrue((lo <= r.q).all() and (r.q <= hi).all() and r.status == "converged", r)
            # Both stop at a residual of 1e-12; what that is in q depends on the problem,
            # here on costs up to 10 at reg 0.5.
            np.testing.assert_allclose(fast.objective, paper.objective, rtol=1e-8, atol=1e-8)
            f, g = fast.potentials
            self.assertTrue((f[:, None] + g[None] <= C).all())

    def test_forms(self):
        m, mu = np.full(12, 1 / 12), np.arange(12.0)
        want = wpm.entropic(grid(), mu, np.exp(-0.5) * m, np.exp(0.5) * m, reg=0.1)
        got = wpm.entropic(GRID, mu, m=m, eps=1, reg=0.1)
        np.testing.assert_allclose(got.q, want.q, rtol=0, atol=1e-11)
        sparse = need("scipy.sparse")
        self.assertEqual(wpm.entropic(GRID, sparse.csr_matrix(mu), m=m, eps=1, reg=0.1).objective, got.objective)
        few = wpm.entropic(grid(), mu, m=m, eps=1, reg=1e-4, method="paper", iterations=3)
        self.assertEqual((few.status, few.iterations), ("iterations", 3))
        for bad in ({}, {"reg": 0}, {"reg": -1}, {"reg": np.nan}, {"reg": 1, "method": "none"}, {"reg": 1, "tol": 0},
                    {"reg": 1, "eps": "x"},
                    {"reg": 1, "lo": m}, {"reg": 1, "m": m[:3]}, {"reg": 1, "iterations": 1.5},
                    {"reg": 1, "iterations": 0}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                wpm.entropic(GRID, mu, **{"m": m, "eps": 1, **bad})


class TestPhi(unittest.TestCase):
    def test_project(self):
        """phi is the projection of a point mass."""
        C, _, lo, hi = instance(np.random.default_rng(2), 7, 5)
        r = wpm.phi(C, lo, hi)
        for i in range(7):
            one = wpm.project(C, np.eye(7)[i], lo, hi)
            self.assertAlmostEqual(r.phi[i], one.value, delta=1e-13 * C.max())
        self.assertEqual((r.f, r.argmax), (r.phi.max(), r.phi.argmax()))
        m = np.full(5, 0.21)
        s = wpm.phi(C, m=m, eps=1.0)
        self.assertEqual(s.subgradient.shape, (5,))
        np.testing.assert_allclose(s.tau[s.argmax] + s.subgradient @ m, s.f, rtol=1e-12)  # homogeneous
        third = fractions.Fraction(1, 3)
        self.assertEqual(wpm.phi(C, m=m, eps="1/3").f, wpm.phi(C, m=m, eps=float(third)).f)
        self.assertEqual(wpm.phi(C, m=m, eps=third).f, wpm.phi(C, m=m, eps="1/3").f)
        for bad in ("1/0", "nan", "x", "1e999"):
            with self.assertRaises(wpm.InputError):
                wpm.phi(C, m=m, eps=bad)
        with self.assertRaises(wpm.InputError):
            wpm.phi(C, lo, hi, m=m, eps=1.0)
        with self.assertRaises(wpm.InfeasibleError):
            wpm.phi(C, m=m / 9, eps=0.1)


class TestBaseMeasure(unittest.TestCase):
    def test_bounds(self):
        """What a measure costs is what phi says, and no method is below the lower bound of another."""
        C = grid()
        best = wpm.base_measure(C, 1.5)
        self.assertEqual(best.status, "converged")
        for r in (best, wpm.base_measure(C, 1.5, method="uniform"),
                  wpm.base_measure(C, 1.5, method="mirror", steps=200)):
            self.assertAlmostEqual(r.f, wpm.phi(C, m=r.m, eps=1.5).f, delta=1e-12)
            self.assertTrue(best.lower <= r.upper and r.lower <= r.f <= r.upper, r)
        np.testing.assert_allclose(wpm.base_measure(GRID, 1.5).f, best.f, rtol=2e-9)
        mean = wpm.base_measure(C, 1.5, objective="average", input_weights=np.arange(1, 13))
        other = np.average(wpm.phi(C, m=best.m, eps=1.5).phi, weights=np.arange(1, 13))
        self.assertLessEqual(mean.f, other * (1 + 1e-9))
        corners = wpm.base_measure(C, 1.5, exclude=[0, 3, 8, 11])
        self.assertLessEqual(corners.f, best.f * (1 + 1e-9))

    def test_refused(self):
        for bad in ({"eps": -1}, {"eps": np.nan}, {"method": "none"}, {"method": 3}, {"objective": "none"}, {"gap": -1},
                    {"steps": 3}, {"rule": "paper"}, {"method": "mirror", "gap": 0.1},
                    {"method": "mirror", "exclude": [1]}, {"method": "mirror", "rule": "none"},
                    {"method": "mirror", "steps": 0},
                    {"exclude": [99]}, {"input_weights": [1]}, {"C": -grid()}, {"C": np.full((2, 2), np.nan)}):
            with self.subTest(**{k: str(v) for k, v in bad.items()}), self.assertRaises(wpm.InputError):
                wpm.base_measure(**{"C": grid(), "eps": 1, **bad})


class TestDesign(unittest.TestCase):
    def test_rows(self):
        """Every row is a law in the box, costs no more than the worst case, and proves eps-LDP to rounding."""
        C = grid()
        for objective in ({}, {"objective": "minimax"}, {"objective": "average", "weights": np.arange(1, 13)},
                          {"objective": "mixed", "mix": 0.25, "gap": 1e-6}, {"objective": "map", "devices": 100}):
            d = wpm.design(C, "1.5", **objective)
            rows = d.rows
            self.assertEqual(rows.shape, (12, 12))
            np.testing.assert_allclose(rows.sum(1), 1, rtol=0, atol=12 * 2.0**-53)
            # Floats of integers over 2^62, each to one unit of 2^-53 relative.
            self.assertTrue((rows >= d.lo * (1 - 2.0**-52)).all() and (rows <= d.hi * (1 + 2.0**-52)).all())
            self.assertTrue((rows.max(0) <= math.exp(1.5) * rows.min(0) * (1 + 2.0**-50)).all())
            costs = (C * rows).sum(1)
            self.assertTrue(d.lower <= costs.max() * (1 + 1e-14) and costs.max() <= d.worst_case * (1 + 1e-14), d)
            self.assertGreaterEqual(costs[d.worst_input], costs.max() * (1 - 1e-14))
        self.assertEqual(wpm.design(GRID, 1, bits=20).bits, 20)

    def test_policy(self):
        d = wpm.design(GRID, "3/2")
        p = d.publish(geometry="public", base="derived-dp:0.5", note="a test", metadata={"title": "t"},
                      labels=[f"p{i}" for i in range(12)])
        self.assertEqual((p.epsilon, p.mode, p.shape, p.geometry, p.base, p.note, p.metadata["title"],
                          p.labels[3], p.cost),
                         ("1.5", "mixture", (12, 12), "public", "derived-dp:0.5", "a test", "t", "p3", GRID))
        self.assertEqual(p.id, hashlib.sha256(p.text.encode()).hexdigest())
        np.testing.assert_array_equal([p.lo, p.hi], [d.lo, d.hi])
        v = p.verify()
        self.assertTrue(v.verified and v.lower <= v.worst_case)
        np.testing.assert_allclose([v.lower, v.worst_case, v.worst_input],
                                   [d.lower, d.worst_case, d.worst_input], rtol=1e-14)
        with tempfile.TemporaryDirectory() as dir:
            path = os.path.join(dir, "policy.json")
            p.write(path)
            self.assertEqual(wpm.Policy.read(path).text, p.text)
            with self.assertRaises(FileExistsError):
                p.write(path)
        self.assertEqual(d.publish("projection").mode, "projection")

    def test_schedule(self):
        """A policy states its epochs and period, and simulated months make maps in a row."""
        d = wpm.design(GRID, 4)
        self.assertIsNone(d.publish().schedule)
        p = d.publish(epochs="month", first="2026-01", last="2027-12", period=2)
        self.assertEqual((p.version, p.schedule),
                         (3, {"epochs": "month", "first": "2026-01", "last": "2027-12", "period": 2}))
        self.assertTrue(p.verify().verified)
        users = [9, 1] + [0] * 10
        months = [wpm.simulate(p, users, devices=1000, epoch=f"2026-0{n}") for n in (1, 2, 3)]
        self.assertEqual([c.epoch for c in months], [f"simulation-2026-0{n}" for n in (1, 2, 3)])
        # Each device has one of two slots: in two months in a row all devices report, and in the third those of the first.
        self.assertEqual(months[0].total + months[1].total, 1000)
        self.assertEqual(months[2].total, months[0].total)
        self.assertTrue(400 < months[0].total < 600)  # 6 deviations of an even draw are 95
        r = wpm.estimate_epochs(months, p)
        self.assertEqual([e.map.argmax() for e in r.epochs], [0, 0, 0])
        for bad in ((3,), (None,), ("x",), ([3],), (months, 3), (months, "w"), ({"a": 3},)):
            with self.subTest(bad=bad), self.assertRaises(wpm.InputError):
                wpm.estimate_epochs(bad[0], p, regions=bad[1] if bad[1:] else None)
        self.assertEqual(wpm.estimate_epochs(months, p, regions={}).changes, {})
        for bad in ({"metadata": np.ones(2)}, {"metadata": 3}, {"metadata": ["x"]}, {"metadata": {"a": 1}}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                d.publish(**bad)
        for bad in ({"period": 12}, {"epochs": "month", "period": 1}, {"epochs": "month", "period": 10**9},
                    {"epochs": "decade"}, {"epochs": "month", "first": "2026"}, {"epochs": "month", "period": 0},
                    {"epochs": "month", "first": "2026-02", "last": "2026-01"}, {"first": "2026"}, {"epochs": 3},
                    {"epochs": "month", "period": 1.5}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                d.publish(**bad)
        for bad in ("2026", "june", "2026-13", "simulation-2026-01"):
            with self.subTest(epoch=bad), self.assertRaises(wpm.InputError):
                wpm.simulate(p, users, devices=10, epoch=bad)
        with self.assertRaises(wpm.InputError):
            wpm.simulate(d.publish(), users, devices=10, epoch="2026-01")

    def test_broken(self):
        """One digit changed: refused. Only what a certificate claims may be less than what it proves."""
        p = wpm.design(GRID, "1.5").publish()
        found = {"decode": 0, "verify": 0}
        claims = p.text.index('"certificate"')
        for at in [i for i, c in enumerate(p.text) if c.isdigit()][:: max(len(p.text) // 150, 1)]:
            text = p.text[:at] + str((int(p.text[at]) + 1) % 10) + p.text[at + 1:]
            try:
                other = wpm.Policy(text)
            except wpm.RefusedError:
                found["decode"] += 1
                continue
            try:
                other.verify()
            except wpm.RefusedError:
                found["verify"] += 1
            else:
                self.assertGreater(at, claims, text[max(at - 40, 0):at + 40])
        self.assertTrue(min(found.values()) > 0, found)
        for bad in ("", "{}", p.text[:-1], p.text + " "):
            with self.assertRaises(wpm.RefusedError):
                wpm.Policy(bad)
        for bad in (b"\xff", 3, None):
            with self.assertRaises(wpm.InputError):
                wpm.Policy(bad)

    def test_epsilon(self):
        """Every spelling of a level is meant exactly."""
        for eps, text in ((1, "1"), (np.int64(2), "2"), (0.1, "0.1"), (np.float64(0.1), "0.1"),
                          (1e-3, "0.001"), ("1/3", "1/3"), (np.array(2), "2"), (np.array(0.1), "0.1"),
                          (fractions.Fraction(1, 3), "1/3"), (decimal.Decimal("1.25"), "1.25"), (1e1, "10")):
            self.assertEqual(wpm.design({"kind": "ring", "n": 3, "p": 1}, eps).epsilon, text, eps)
        for eps in (0, -1, np.nan, np.inf, True, None, "x", "", [1], 1j):
            with self.subTest(eps=eps), self.assertRaises(wpm.InputError):
                wpm.design({"kind": "ring", "n": 3, "p": 1}, eps)

    def test_refused(self):
        for bad in ({"objective": "none"}, {"mix": 0.5},
                    {"objective": "mixed", "mix": 0}, {"gap": 0}, {"bits": 0}, {"bits": 99}, {"bits": 1.5},
                    {"objective": "uniform", "devices": 5}, {"objective": "map"},
                    {"devices": 500000, "mix": 0.5}, {"devices": 500000, "gap": 0.1},
                    {"devices": 500000, "weights": [1]}, {"devices": 500000, "bits": 3}, {"weights": [1]},
                    {"C": [[1, -1], [0, 1]]}, {"objective": "minimax", "gap": 2},
                    {"seed": 1}, {"outputs_at_most": 50}, {"objective": "uniform", "seed": 1},
                    {"devices": 500000, "seed": 0}, {"devices": 500000, "seed": -1}, {"devices": 500000, "seed": 2**64},
                    {"devices": 500000, "outputs_at_most": 0}, {"devices": 500000, "outputs_at_most": 1.5}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                wpm.design(**{"C": GRID, "eps": 1, **bad})
        d = wpm.design(GRID, 1)
        for bad in ({"mode": "none"}, {"geometry": "secret"}, {"base": "derived-dp:x"},
                    {"labels": ["a"]}, {"labels": 3}, {"labels": ["a"] * 12},
                    {"metadata": {"a": 1}}, {"note": "\ud800"}, {"labels": ["\udfff", *map(str, range(11))]},
                    {"metadata": {"a": object()}}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                d.publish(**bad)

    def test_pickle(self):
        """A copy is the same design, of an array, an object and a table, and publishes the same policy."""
        pandas = need("pandas")
        table = pandas.DataFrame(grid(), index=list("abcdefghijkl"), columns=list("abcdefghijkl"))
        for C in (grid(), GRID, table, pandas.DataFrame({"lat": range(12), "lon": 3.5}, index=list("abcdefghijkl"))):
            d = wpm.design(C, "3/2", "mixed", mix=0.25, weights=np.arange(12), bits=40)
            for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
                self.assertEqual((repr(other), other.publish().text), (repr(d), d.publish().text))
                np.testing.assert_array_equal(other.rows, d.rows)
                self.assertIs(type(other.rows), type(d.rows))

    def test_labels(self):
        pandas = need("pandas")
        names = [f"caf\u00e9 {i}" for i in range(12)]
        apart = [n.replace("\u00e9", "e\u0301") for n in names]
        d = wpm.design(pandas.DataFrame(grid(), index=apart, columns=apart), 1)
        self.assertEqual(list(d.rows.columns), apart)
        self.assertEqual(d.publish().labels, names)  # composed, as every tool writes them

    def test_no_release(self):
        """Nothing here draws: a release needs a ledger."""
        words = "release", "sample", "draw", "random", "seed"
        public = [name for thing in (wpm, wpm.Design, wpm.Policy, wpm.Projector) for name in dir(thing)
                  if name != "solve_sample"]  # POT's name of a problem between points that are given
        self.assertFalse({name for name in public for word in words if word in name.lower()})


class TestCodes(unittest.TestCase):
    """A list of codes: designed for a map of many devices, published, counted, and a map made of it."""

    def setUp(self):
        # A line with uneven gaps, of which a disc tells few places apart.
        self.places = {"kind": "points", "x": [[i * i + 3 * i, 0] for i in range(30)], "p": 1}
        self.names = [f"p{i}" for i in range(30)]

    def test_design(self):
        """Devices make the objective map, and every row is a law in the box."""
        d = wpm.design(self.places, 1, devices=100000)
        self.assertTrue(d.codes >= 20 and 0 < d.risk < 0.97 and 0 <= d.gap < 0.05, d)
        self.assertEqual([d.m, d.worst_case, d.worst_input, d.lower, d.disc, d.certificate], [None] * 5 + [""])
        self.assertTrue(0 < d.person.share < d.person.own and d.person.far < d.person.even, d.person)
        rows = d.rows
        self.assertEqual(rows.shape, d.shape)
        self.assertGreater(d.shape[1], 30)
        # Floats of integers over 2^62, each to one unit of 2^-53 relative.
        np.testing.assert_allclose(rows.sum(1), 1, rtol=0, atol=d.shape[1] * 2.0**-53)
        self.assertTrue((rows >= d.lo * (1 - 2.0**-52)).all() and (rows <= d.hi * (1 + 2.0**-52)).all())
        self.assertTrue((rows.max(0) <= math.e * rows.min(0) * (1 + 2.0**-50)).all())
        same = wpm.design(self.places, 1, "map", devices=100000)
        self.assertEqual((same.publish().text, repr(same)), (d.publish().text, repr(d)))
        self.assertEqual(wpm.design(self.places, 1, devices=100000, seed=1).publish().text, d.publish().text)
        other = wpm.design(self.places, 1, devices=100000, seed=2)
        self.assertNotEqual(other.publish().text, d.publish().text)
        self.assertEqual((other.publish().metadata["seed"], copy.deepcopy(other).publish().text),
                         ("2", other.publish().text))
        small = wpm.design(self.places, 1, devices=100000, outputs_at_most=d.shape[1] - 1)
        self.assertTrue(small.codes == 0 or small.shape[1] < d.shape[1])
        copied = copy.deepcopy(d)
        self.assertEqual(copied.publish().text, d.publish().text)
        np.testing.assert_array_equal(copied.rows, rows)
        guess = wpm.design(self.places, 1, devices=100000, weights=np.arange(1, 31))
        self.assertNotEqual(guess.publish().text, d.publish().text)
        few = wpm.design(GRID, 1, devices=100)  # for which a single disc is better
        self.assertEqual((few.codes, few.discs, few.risk, few.person, few.shape), (0, 0, None, None, (12, 12)))
        self.assertTrue(few.lower <= few.worst_case and 0 < few.disc < 1)

    def test_policy(self):
        d = wpm.design(self.places, 1, devices=100000)
        p = d.publish(geometry="public", base="data-independent", labels=self.names)
        self.assertEqual((p.version, p.codes, p.discs, p.shape, p.output_labels, p.metadata["devices"], p.cost),
                         (3, d.codes, d.discs, d.shape, None, "100000", self.places))
        np.testing.assert_array_equal([p.lo, p.hi], [d.lo, d.hi])
        v = p.verify()
        self.assertEqual((v.verified, v.lower, v.worst_case, v.worst_input), (True, None, None, None))
        for bad in ({"mode": "projection"}, {"output_labels": self.names}, {"labels": self.names[:3]}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                d.publish(**bad)
        self.assertEqual(wpm.design(GRID, 1).publish().codes, 0)

    def test_report(self):
        """A report stands for the places whose rows have more than the least of its output."""
        p = wpm.design(self.places, 1, devices=100000).publish(labels=self.names)
        rows = wpm.design(self.places, 1, devices=100000).rows
        for j in (0, 1, p.shape[1] - 1):
            text = "77706d31" + p.id + j.to_bytes(4, "little").hex()
            r = p.report(text)
            self.assertEqual((r.index, r), (j, p.report(bytes.fromhex(text))))
            likelier = rows[:, j] > rows[:, j].min() * (1 + 2.0**-50)
            self.assertEqual(r.places, [name for name, x in zip(self.names, likelier) if x])
            self.assertTrue(2.7 < r.odds <= math.e, r)
        bare = wpm.design(self.places, 1, devices=100000).publish()
        self.assertEqual([self.names[i] for i in bare.report(text.replace(p.id, bare.id)).places], r.places)
        plain = wpm.design(GRID, 1).publish()
        self.assertEqual(plain.report("77706d31" + plain.id + "07000000"), {"index": 7, "label": "7"})
        for bad in (text[:-1], "", text.replace(p.id, bare.id), text[:72] + "ffff0000", b"x", 3, None):
            with self.subTest(bad=bad), self.assertRaises(wpm.InputError):
                p.report(bad)

    def test_map(self):
        """Made-up devices, counted, make a map with most of the people where they are; it has no raw counts as shares."""
        pandas = need("pandas")
        p = wpm.design(self.places, 1, devices=100000).publish(labels=self.names)
        with tempfile.TemporaryDirectory() as dir:
            path = os.path.join(dir, "reports")
            users = np.eye(30)[[7, 7, 7, 20]]
            drawn = wpm.simulate(p, users, devices=4000, path=path)
            counts = p.count(path, epoch=drawn.epoch)
        self.assertEqual((counts.total, len(counts), sum(counts.refused.values())), (4000, p.shape[1], 0))
        np.testing.assert_array_equal(counts.reports, drawn.reports)
        self.assertIs(type(counts.reports), np.ndarray)  # the outputs have no names, however many there are
        r = wpm.estimate(counts, p)
        self.assertTrue(r.map.argmax() == 7 and r.map[7] > 0.5, r.map)
        self.assertIsNone(r.raw)
        self.assertGreater(r.map_error.guess, r.map_error.within90)
        s = wpm.estimate(counts, p, places=pandas.DataFrame({"x": range(30)}, self.names))
        np.testing.assert_array_equal(s.frame["share"], r.map)
        none = wpm.estimate(counts, p, estimator="raw")
        self.assertIsNone(none.map)
        self.assertIn("make no map", none.reason)
        epochs = wpm.estimate_epochs({"a": counts, "b": counts}, p)
        self.assertEqual([e.map.argmax() for e in epochs.epochs], [7, 7])

    def test_plan(self):
        """A forecast with the objective map is of the list, which is better than a uniform design."""
        codes, = wpm.plan(self.places, 1, 100000, objective="map")
        uniform, = wpm.plan(self.places, 1, 100000)
        self.assertLess(codes.map.mean, uniform.map.mean / 2)
        self.assertTrue("raw" not in codes or codes.raw is None)


class TestEstimate(unittest.TestCase):
    def test_map(self):
        """From the law itself, without noise, the map comes back; and a policy says the same as its parts."""
        pandas = need("pandas")
        d = wpm.design(GRID, 4, "minimax")
        theta = np.arange(1.0, 13) / 78
        counts = np.rint(1e9 * (theta @ d.rows)).astype(int)
        r = wpm.estimate(counts, d.publish(), estimator="mle")
        # Counts are off by 1/2 in 1e9, and the gap of the likelihood is at most 1e-6: a second-order quantity.
        self.assertLess(np.abs(r.map - theta).sum(), 0.05)
        self.assertLessEqual(r.gap, 1e-6)
        self.assertTrue(0 < r.map_error.expected <= r.map_error.within90)
        parts = wpm.estimate(counts, C=GRID, m=d.m, eps=4)
        whole = wpm.estimate(counts, d.publish().text)
        self.assertEqual((parts.signal, whole.signal), ("ok", "ok"))
        np.testing.assert_array_equal(parts.map, whole.map)
        names = [f"p{i}" for i in range(12)]
        p = d.publish(labels=names)
        s = wpm.estimate(pandas.Series(counts, names)[::-1], p, prior=pandas.Series(1, names))
        np.testing.assert_array_equal(s.map.to_numpy(), whole.map)
        self.assertEqual((list(s.map.index), list(s.raw.index)), (names, names))

    def test_unexplained(self):
        """Reports that are all of one output come with a warning and an entry of the result; others have neither."""
        p = wpm.design(GRID, 4).publish()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            r = wpm.estimate([100] * 12, p)
            self.assertEqual((r.unexplained, "unexplained=False" in repr(r)), (False, True))
        with self.assertWarnsRegex(UserWarning, "no map explains the counts"):
            r = wpm.estimate([1200] + [0] * 11, p)
        self.assertEqual((r.unexplained, "unexplained=True" in repr(r)), (True, True))
        with self.assertWarnsRegex(UserWarning, "no map explains the counts of 2026-02"):
            r = wpm.estimate_epochs({"2026-01": [100] * 12, "2026-02": [1200] + [0] * 11}, p)
        self.assertEqual([e.unexplained for e in r.epochs], [False, True])

    def test_labels(self):
        """A policy without labels takes those of its arguments."""
        pandas = need("pandas")
        p, names = wpm.design(GRID, 1).publish(), [f"p{i}" for i in range(12)]
        s = wpm.estimate(pandas.Series(np.arange(12), names), p, prior=pandas.Series(1, names[::-1]))
        self.assertEqual((list(s.map.index), list(s.raw.index)), (names[::-1], names))
        with self.assertRaises(wpm.InputError):
            wpm.estimate(pandas.Series(np.arange(12), names), wpm.design(GRID, 1).publish(labels=names[1:] + ["q"]))

    def test_projection(self):
        r = wpm.estimate(np.arange(12), wpm.design(GRID, 1).publish("projection"))
        self.assertIsNone(r.map)
        self.assertIn("does not identify", r.reason)
        self.assertAlmostEqual(r.raw.sum(), 1, delta=1e-15)

    def test_refused(self):
        p = wpm.design(GRID, 1).publish()
        ok = np.ones(12, int)
        for args, settings in (((ok[:3], p), {}), ((ok * 0, p), {}), ((ok / 2, p), {}), ((-ok, p), {}),
                               ((ok, p), {"C": GRID}), ((ok,), {}),
                               ((ok,), {"C": GRID, "eps": 1}), ((ok, p), {"estimator": "none"}),
                               ((ok, p), {"prior": ok[:2]}),
                               ((ok, p), {"prior": -ok}), ((ok * np.nan, p), {})):
            with self.subTest(args=str(args), **settings), self.assertRaises(wpm.InputError):
                wpm.estimate(*args, **settings)


class TestEpochs(unittest.TestCase):
    def test_maps(self):
        """A map of every epoch, the same from counts and from Counts, with and without labels."""
        pandas = need("pandas")
        names = [f"p{i}" for i in range(12)]
        p = wpm.design(GRID, 3).publish(labels=names)
        first, second = np.arange(1, 13) * 10, np.arange(12, 0, -1) * 10
        west = np.arange(12) < 6
        r = wpm.estimate_epochs({"a": first, "b": second}, p, regions={"first half": west})
        self.assertEqual(r.maps.shape, (2, 12))
        self.assertTrue(r.maps[0, 0] < r.maps[0, 11] and r.maps[1, 0] > r.maps[1, 11])
        c = r.changes["first half"]
        self.assertTrue(c.known and 0 < c.lower < c.upper < 1)
        self.assertGreater(r.epochs[1].map_error.expected, 0)
        table = pandas.DataFrame({"x": range(12)}, names)
        s = wpm.estimate_epochs({"a": pandas.Series(first, names)[::-1], "b": second}, p, places=table,
                                regions={"first half": pandas.Series(west, names)[::-1]})
        np.testing.assert_array_equal(s.frame[["a", "b"]].to_numpy().T, r.maps)
        self.assertEqual((list(s.maps.columns), list(s.maps.index)), (["a", "b"], names))
        self.assertEqual(s.changes, r.changes)
        one = wpm.estimate_epochs([wpm.simulate(p, devices=100)], p)
        self.assertEqual([e.epoch for e in one.epochs], ["simulation"])

    def test_refused(self):
        p = wpm.design(GRID, 3).publish()
        ok = np.ones(12, int)
        for bad in ({}, [], [ok], {"a": ok[:3]}, {"a": -ok}, {"a": ok * 0}, {"a": ok / 2}):
            with self.subTest(bad=str(bad)), self.assertRaises(wpm.InputError):
                wpm.estimate_epochs(bad, p)
        for settings in ({"prior": ok[:2]}, {"regions": {"x": ok[:2]}}, {"regions": {"x": 2 * ok}}, {"level": 2, "regions": {"x": ok}},
                         {"places": 3}):
            with self.subTest(**settings), self.assertRaises(wpm.InputError):
                wpm.estimate_epochs({"a": ok, "b": ok}, p, **settings)


class TestPlan(unittest.TestCase):
    def test_plan(self):
        rows = wpm.plan(GRID, [1, "2"], [200, 2000])
        self.assertEqual([(r.epsilon, r.devices) for r in rows], [("1", 200), ("1", 2000), ("2", 200), ("2", 2000)])
        self.assertLess(rows[3].map.mean, rows[0].map.mean)  # more devices, more eps
        array = wpm.plan(grid(), 2, 2000)
        self.assertAlmostEqual(array[0].raw.mean, rows[3].raw.mean, delta=1e-6)
        for bad in ({"devices": 0}, {"devices": 1.5}, {"eps": "x"}, {"objective": "none"},
                    {"C": np.triu(grid())}, {"prior": [1]}):
            with self.subTest(**{k: str(v) for k, v in bad.items()}), self.assertRaises(wpm.InputError):
                wpm.plan(**{"C": GRID, "eps": 1, "devices": 10, **bad})


class TestPlot(unittest.TestCase):
    def test_plot(self):
        matplotlib = need("matplotlib")
        matplotlib.use("Agg")
        shares = np.arange(12.0) / 66
        ax = wpm.plot_map(shares, GRID)
        np.testing.assert_array_equal(ax.images[0].get_array(), shares.reshape(3, 4))
        ring = {"kind": "ring", "n": 12, "p": 1}
        ax = wpm.plot_map(shares, ring)
        np.testing.assert_array_equal(ax.collections[0].get_array(), shares)
        np.testing.assert_allclose(np.hypot(*ax.collections[0].get_offsets().T), 1)
        d = wpm.design(GRID, 1)
        np.testing.assert_array_equal(wpm.plot_channel(d).images[0].get_array(), d.rows)
        for places in ((3, 5), np.zeros((11, 2)), {"kind": "explicit", "C": [[0]]}):
            with self.assertRaises(wpm.InputError):
                wpm.plot_map(shares, places)
        import matplotlib.pyplot as plt

        plt.close("all")
