"""POT's own tests, with wpm's emd and emd2 in place of its own.

testdata has the tests of POT 0.8.2, which Debian 12 has, as they are in its repository at the tag 0.8.2. WPM_POT_TESTS
names the folder of other ones, for the POT that Python finds then.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

import numpy as np

import wpm
from tests.support import HERE, PYTHON, need

ARCHIVE = os.path.join(HERE, "testdata", "pot-0.8.2-tests.tar.gz")
FILES = "test_ot.py test_solvers.py test_da.py test_optim.py test_utils.py test_partial.py test_gromov.py".split()

# Tests that may fail with wpm, with the reason.
EXCUSED = {
    # It wants sums of no rounding at all: see TestLuck.
    "test_partial_gromov_wasserstein": "luck of one instance",
}


class TestSuite(unittest.TestCase):
    def test_suite(self):
        """What passes with POT passes with wpm."""
        if os.environ.get("WPM_CLIENTS") != "1":
            self.skipTest("takes minutes: WPM_CLIENTS=1 runs it")
        ot = need("ot")
        need("pytest")
        with tempfile.TemporaryDirectory() as folder:
            tests = os.environ.get("WPM_POT_TESTS")
            if tests is None:
                if ot.__version__ != "0.8.2":
                    self.skipTest(f"the tests are those of POT 0.8.2, and here is {ot.__version__}")
                with tarfile.open(ARCHIVE) as t:
                    t.extractall(folder)
                tests = os.path.join(folder, "pot-0.8.2")
            found = [os.path.join(at, name) for at, _, names in os.walk(tests) for name in sorted(names)
                     if name in FILES or os.path.basename(at) == "gromov" and name.startswith("test_")]
            without, alone = self.run_suite(tests, found, "0")
            with_, both = self.run_suite(tests, found, "1")
        print(f"\nPOT {ot.__version__}, its own tests: {alone}\nwith wpm's emd and emd2: {both}")
        self.assertGreater(sum(v == "PASSED" for v in without.values()), 60)
        ours = sorted(name for name, v in with_.items() if v in ("FAILED", "ERROR") and without.get(name) == "PASSED")
        print("failures of wpm alone:", *(ours or ["none"]))
        self.assertEqual([name for name in ours if not any(e in name for e in EXCUSED)], [])
        self.assertEqual(set(without), set(with_))

    def run_suite(self, folder, files, wpm_in_pot):
        """Return the outcome of each test, and pytest's last line."""
        env = {**os.environ, "WPM_IN_POT": wpm_in_pot, "MPLBACKEND": "Agg",
               "PYTHONPATH": os.pathsep.join([PYTHON, os.environ.get("PYTHONPATH", "")])}
        r = subprocess.run([sys.executable, "-B", "-m", "pytest", "-v", "-p", "tests.pot_plugin", "-p", "no:cacheprovider",
                            "--rootdir", folder, "-W", "ignore", "--tb", "line", *files],
                           cwd=folder, env=env, capture_output=True, text=True, timeout=3000)
        found = dict(re.findall(r"^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", r.stdout, re.M))
        self.assertTrue(found, r.stdout[-3000:] + r.stderr[-3000:])
        return found, r.stdout.strip().splitlines()[-1].strip("= ")


class TestLuck(unittest.TestCase):
    """Why a test of partial_gromov is excused: it wants ``plan.sum(1) <= p`` without the rounding of a sum."""

    def test_partial(self):
        ot = need("ot")
        rng = np.random.default_rng(0)
        worse = {"wpm": 0, "ot": 0}
        for _ in range(200):
            n = int(rng.integers(5, 30))
            p, q = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
            M = rng.random((n, n))
            for name, module in (("wpm", wpm), ("ot", ot)):
                excess = (module.emd(p, q, M).sum(1) - p).max()
                self.assertLess(excess, n * 2.0**-53)
                worse[name] += excess > 0
        self.assertLessEqual(worse["wpm"], worse["ot"], worse)
