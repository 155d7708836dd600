"""The types that an editor and mypy see."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import wpm
from tests.support import PYTHON

# A user's program: what it names is there, with these types.
PROGRAM = '''
import numpy as np
import wpm
from numpy.typing import NDArray

M = np.ones((3, 3))
G = wpm.emd([1.0, 0.0, 0.0], None, M)
r = wpm.transport([1, 1, 1], [1, 2, 3], M)
value: float = r.value + r.lower + wpm.solve(M).value
q: NDArray[np.float64] = wpm.project(M, [1, 0, 0], [0, 0, 0], [1, 1, 1]).q
d = wpm.design({"kind": "ring", "n": 6, "p": 1}, "1/2", "minimax", gap=1e-3)
p: wpm.Policy = d.publish(geometry="public", labels=["a", "b", "c", "d", "e", "f"])
c: wpm.Counts = p.count(["x"], epoch="2026-11") if p.verify().verified else wpm.simulate(p, devices=7)
e = wpm.estimate(c, p, progress=lambda done, total: print(done, total))
print(wpm.estimate_epochs([c], p).epochs[0].keys())
print(e.signal.upper(), c.refused["malformed"] + 1, wpm.flow([0], [1], [1], [1, -1]).objective + 1)
'''
WRONG = ('wpm.transport([1], [1])', 'wpm.design([[0]], 1).publishes()', 'wpm.simulate("x", devices="7")',
         '"a" + wpm.transport([1], [1], [[0]]).value', 'wpm.Counts("x").totl', 'wpm.none')


class TestTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mypy = shutil.which("mypy", path="/usr/bin" + os.pathsep + os.environ.get("PATH", ""))
        if cls.mypy is None:
            if os.environ.get("WPM_CLIENTS") == "1":
                raise AssertionError("there is no mypy, which WPM_CLIENTS=1 wants")
            raise unittest.SkipTest("no mypy")

        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name  # one, so that mypy reads numpy once
        with open(os.path.join(cls.folder, "mypy.ini"), "w", encoding="utf-8") as f:
            f.write("[mypy]\nignore_missing_imports = True\n")

    def run_in(self, *words):
        return subprocess.run(words, cwd=self.folder, env={**os.environ, "PYTHONPATH": PYTHON, "MYPYPATH": PYTHON},
                              capture_output=True, text=True, timeout=600)

    def check(self, program):
        with open(os.path.join(self.folder, "user.py"), "w", encoding="utf-8") as f:
            f.write(program)
        return self.run_in(self.mypy, "--strict", "user.py")

    def test_user(self):
        """A program of a user passes mypy --strict; and each of these lines does not."""
        r = self.check(PROGRAM)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        r = self.check("import wpm\n" + "\n".join(WRONG) + "\n")
        found = {int(n) for n in re.findall(r"^user\.py:(\d+): error", r.stdout, re.M)}
        self.assertEqual(found, set(range(2, 2 + len(WRONG))), r.stdout)

    def test_stub(self):
        """The types name what there is, with the parameters that it has."""
        r = self.run_in(sys.executable, "-m", "mypy.stubtest", "wpm", "--ignore-missing-stub", "--concise",
                        "--mypy-config-file", "mypy.ini")
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)

    def test_marker(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(wpm.__file__), "py.typed")))
