"""The library in the process: panics, Ctrl-C, threads, forks; and what documents it."""

import doctest
import inspect
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import wpm
from tests.support import PYTHON, child, instance
from wpm import _lib


class TestCall(unittest.TestCase):
    def test_panic(self):
        """A panic on another goroutine is an exception, and the library goes on."""
        for _ in range(3):
            with self.assertRaises(wpm.InternalError) as e:
                _lib.call("panic", {})
            self.assertIn("asked for", str(e.exception))
        self.assertEqual(wpm.emd2([1.0], [1.0], [[2.0]]), 2)

    def test_bad_calls(self):
        for op, args, arrays in (("none", {}, {}), ("transport", {"none": 1}, {}), ("transport", [], {}),
                                 ("project-one", {"handle": 0}, {}),
                                 ("rows", {"handle": 1 << 60}, {}), ("project-many", {"handle": -1}, {}),
                                 ("transport", {}, {"C": np.zeros((0, 3))})):
            with self.subTest(op=op, args=args), self.assertRaises(wpm.InputError):
                _lib.call(op, args, **arrays)
        for bad in (np.zeros(3, np.float32), np.zeros((3, 3)).T[::2]):
            with self.assertRaises(TypeError):
                _lib.call("transport", {}, C=bad)

    def test_freed(self):
        """A number that has been freed, or stands for something else, is an error."""
        p = wpm.Projector([[0, 1], [1, 0]], [0, 0], [1, 1])
        number = p._handle.number
        with self.assertRaises(wpm.InputError):
            _lib.call("rows", {"handle": number})
        del p
        with self.assertRaises(wpm.InputError) as e:
            _lib.call("project-one", {"handle": number}, mu=np.ones(2))
        self.assertIn("freed", str(e.exception))
        lib = _lib._library()
        self.assertEqual((lib.wpm_wait(number, 0), lib.wpm_text(number, None, 0),
                          lib.wpm_read(number, None, 0)), (3, -1, -1))
        lib.wpm_free(number)  # again: nothing
        self.assertFalse(_lib._borrowed)

    def test_sizes(self):
        """Sizes that there cannot be are as none: no call from C ends the process."""
        lib = _lib._library()
        handle = _lib.ctypes.c_uint64(0)
        arrays = (_lib._Array * 1)(_lib._Array(_lib._address(np.ones(1)), 1 << 30, 1 << 30, 0))
        text = b'{"args":{},"arrays":["C"]}'
        for given, n in ((arrays, 1), (arrays, 0), (arrays, -1), (None, 1)):
            self.assertEqual(lib.wpm_start(b"transport", text, given, n, -1, _lib.ctypes.byref(handle)), 2)
            size = lib.wpm_text(handle, None, 0)
            self.assertEqual((lib.wpm_text(handle, None, 99), lib.wpm_text(handle, b"", -1)), (size, size))
            lib.wpm_free(handle)
        text = b'{"args":{"cost":{"kind":"ring","n":3,"p":2}},"arrays":[]}'
        self.assertEqual(lib.wpm_start(b"transport", text, None, 0, -1, _lib.ctypes.byref(handle)), 0)
        size = lib.wpm_read(handle, None, 0)
        self.assertEqual((lib.wpm_read(handle, None, 999), lib.wpm_read(handle, b"", -8)), (size, size))
        lib.wpm_free(handle)
        self.assertFalse(_lib._borrowed)

    def test_direct_sizes(self):
        """The direct call refuses sizes that there cannot be, and writes no more than there is room for."""
        lib, x = _lib._library(), np.ones(4)
        at, out = _lib._address(x), np.full(9, -1.0)
        for args in ((None, at, at, 1, 1), (at, None, at, 1, 1), (at, at, None, 1, 1), (at, at, at, 0, 1), (at, at, at, 1, 0),
                     (at, at, at, -1, -1), (at, at, at, 1 << 40, 1 << 40)):
            self.assertEqual(lib.wpm_transport(*args, _lib._address(out), out.nbytes), -1)
        size = lib.wpm_transport(at, at, at, 2, 2, None, 0)
        for room in (-8, 0, 31, 39):  # an array of four numbers comes first
            self.assertEqual(lib.wpm_transport(at, at, at, 2, 2, _lib._address(out), room), size)
            self.assertEqual((out == -1).tolist(), [room < 32] * 4 + [True] * 5)

    def test_threads(self):
        """Calls from many threads at a time; and Python runs while the library works."""
        C, mu, lo, hi = instance(np.random.default_rng(1), 40, 30)
        p, want = wpm.Projector(C, lo, hi), wpm.project(C, mu, lo, hi).q
        bad = []

        def work():
            for _ in range(20):
                if not np.array_equal(p.project(mu).q, want):
                    bad.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertFalse(bad)
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.wait(0.001):
                ticks.append(time.monotonic())

        t = threading.Thread(target=tick)
        t.start()
        lib = _lib._library()
        before = len(ticks)
        handle = _lib.ctypes.c_uint64(0)
        text = b'{"args":{"cost":{"kind":"ring","n":1200,"p":2}},"arrays":[]}'
        state = lib.wpm_start(b"transport", text, (_lib._Array * 1)(), 0, -1, _lib.ctypes.byref(handle))  # one slice
        after = len(ticks)
        lib.wpm_free(handle)
        stop.set()
        t.join()
        self.assertEqual(state, 0)
        self.assertGreater(after, before)


class TestProcess(unittest.TestCase):
    def test_ctrl_c(self):
        """Ctrl-C ends a call that would take minutes, from within, and the next one works."""
        code = """
import os, signal, threading, traceback, wpm
from wpm import _lib
C = {"kind": "grid", "rows": 20, "cols": 20, "p": 1}
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    wpm.plan(C, list(range(1, 11)), [500, 1000, 2000, 5000, 10000] * 20)
except KeyboardInterrupt:
    assert "wpm_wait" in traceback.format_exc(), traceback.format_exc()
    assert not _lib._borrowed
    print("stopped", wpm.emd2([1], [1], [[2.0]]))
"""
        r = child(code)
        self.assertEqual((r.returncode, r.stdout), (0, "stopped 2.0\n"), r.stderr)

    def test_fork(self):
        """After a call, a forked child is told; before the first call, it may fork."""
        code = """
import os, sys, wpm
%s
pid = os.fork()
if pid == 0:
    try:
        print(wpm.emd2([1], [1], [[2.0]]), flush=True)
    except wpm.ForkError as e:
        print("ForkError", "spawn" in str(e), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(wpm.emd2([1], [1], [[3.0]]))
"""
        self.assertEqual(child(code % "").stdout, "2.0\n3.0\n")
        used = "p = wpm.Projector([[1]], [0], [1])"
        self.assertEqual(child(code % used).stdout, "ForkError True\n3.0\n")

    def test_same_bits(self):
        """Answers are the same bit for bit on one thread and on many."""
        code = """
import hashlib, numpy as np, wpm
rng = np.random.default_rng(1)
C = rng.random((60, 50))
r = wpm.Projector(C, np.full(50, 0.01), np.full(50, 0.04)).many(rng.random((40, 60)))
m = wpm.base_measure(C, 2.0).m
G = wpm.emd(np.full(60, 1 / 60), np.full(50, 1 / 50), C)
print(*(hashlib.sha256(x.tobytes()).hexdigest() for x in (r.q, r.value, m, G)))
"""
        one, many = (child(code, GOMAXPROCS=n).stdout for n in ("1", "4"))
        self.assertTrue(one)
        self.assertEqual(one, many)

    def test_import(self):
        """Importing needs numpy alone, and loads nothing else; without the library it says what to do."""
        code = """
import sys, wpm
wpm.emd2([1], [1], [[2.0]])
print(sorted({"scipy", "pandas", "matplotlib", "ot"} & set(sys.modules)))
"""
        self.assertEqual(child(code).stdout, "[]\n")
        code = """
import os
exists = os.path.exists
os.path.exists = lambda p: "_libwpm" not in str(p) and exists(p)
import wpm
"""
        self.assertIn("python/build", child(code).stderr)


class TestDocs(unittest.TestCase):
    def test_examples_in_docstrings(self):
        for module in (wpm._transport, wpm._mechanism):
            failed, tried = doctest.testmod(module)
            self.assertTrue(tried > 0 and not failed)

    def test_numpydoc(self):
        """Every public function documents every parameter, in order, and what it returns."""
        for name in wpm.__all__:
            f = getattr(wpm, name)
            if inspect.isclass(f) and issubclass(f, (Exception, dict)):
                self.assertTrue(f.__doc__, name)
                continue
            members = inspect.getmembers(f, inspect.isfunction) if inspect.isclass(f) else []
            methods = [m for n, m in members if not n.startswith("_")]
            self.assertTrue(f.__doc__, name)
            for g in [f, *methods]:
                self.check(g)

    def check(self, f):
        doc = inspect.getdoc(f)
        self.assertTrue(doc, f)
        if f in (wpm.Design, wpm.OTResult, wpm.Pairs, wpm.Policy.write, wpm.Policy.read, wpm.Counts.write, wpm.Counts.read):  # made by design, solve and pairs; one parameter that the name says
            return
        parameters = inspect.signature(f).parameters.values()
        names = [p.name for p in parameters if p.name != "self" and p.kind != p.VAR_KEYWORD]
        if names:
            self.assertIn("Parameters\n----------", doc, f)
            section = doc.split("Parameters\n----------\n")[1].split("\n\n")[0]
            heads = [line.split(" : ")[0] for line in section.splitlines() if not line.startswith(" ")]
            told = [name.strip() for head in heads for name in head.split(",")]
            told = [n.lstrip("*") for n in told if not n.startswith("**")]
            if f in (wpm.solve, wpm.solve_sample):  # what they take, and then what only POT's have
                told, names = sorted(told), sorted(names)
            self.assertEqual(told, names, f)
        if not inspect.isclass(f):
            self.assertIn("Returns\n-------", doc, f)

    def test_examples(self):
        """The programs in examples run, and print what their last lines say they do."""
        dir = os.path.join(PYTHON, "examples")
        names = sorted(n for n in os.listdir(dir) if n.endswith(".py"))
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            with self.subTest(name=name):
                env = {**os.environ, "PYTHONPATH": PYTHON, "MPLBACKEND": "Agg"}
                r = subprocess.run([sys.executable, os.path.join(dir, name)], env=env,
                                   capture_output=True, text=True, timeout=600)
                if "ModuleNotFoundError" in r.stderr and os.environ.get("WPM_CLIENTS") != "1":
                    self.skipTest(r.stderr.splitlines()[-1])
                self.assertEqual(r.returncode, 0, r.stderr)
                with open(os.path.join(dir, name), encoding="utf-8") as f:
                    want = f.read().split("# Prints:\n")[1]
                self.assertEqual(r.stdout, "".join(line[2:] for line in want.splitlines(True)))
