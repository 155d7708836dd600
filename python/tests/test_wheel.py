"""The wheels: what is in them, the same bytes twice, and their libraries called on both machines."""

import base64
import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from tests.support import HERE, PYTHON


def tool():
    loader = importlib.machinery.SourceFileLoader("wheel_tool", os.path.join(PYTHON, "wheel"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("wheel_tool", loader))
    loader.exec_module(module)
    return module


class TestWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("WPM_CLIENTS") != "1":
            raise unittest.SkipTest("takes minutes: WPM_CLIENTS=1 runs it")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.wheels = []
        for n in ("1", "2"):
            out = subprocess.run([sys.executable, os.path.join(PYTHON, "wheel"),
                                  "-o", os.path.join(cls.folder.name, n)],
                                 check=True, capture_output=True, text=True).stdout
            cls.wheels.append([line.split()[0] for line in out.splitlines()])

    def test_same(self):
        self.assertEqual(len(self.wheels[0]), 2)
        for one, two in zip(*self.wheels):
            with open(one, "rb") as f, open(two, "rb") as g:
                self.assertEqual(os.path.basename(one), os.path.basename(two))
                self.assertTrue(f.read() == g.read(), one)

    def test_content(self):
        for path in self.wheels[0]:
            self.assertRegex(os.path.basename(path), r"^wpm-[0-9.]+-py3-none-manylinux_2_[0-9]+_(x86_64|aarch64)\.whl$")
            with zipfile.ZipFile(path) as z:
                names = z.namelist()
                record = next(n for n in names if n.endswith("/RECORD"))
                listed = {}
                for line in z.read(record).decode().splitlines():
                    name, digest, size = line.rsplit(",", 2)
                    listed[name] = digest, size
                self.assertEqual(sorted(listed), sorted(names))
                for name in names:
                    if name != record:
                        data = z.read(name)
                        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                        self.assertEqual(listed[name], (f"sha256={digest}", str(len(data))))
                for text in ("LICENSE", "THIRD_PARTY.md"):
                    name = next(n for n in names if n.endswith("licenses/" + text))
                    with open(os.path.join(os.path.dirname(PYTHON), text), "rb") as f:
                        self.assertEqual(z.read(name), f.read())

    def test_glibc(self):
        glibc = tool().glibc
        self.assertEqual(glibc("Name: GLIBC_2.9  Flags\n Name: GLIBC_2.17 x\n Name: GLIBC_2.2.5"), (2, 17))
        with self.assertRaises(ValueError):
            glibc("Name: GCC_3.0")

    def test_import(self):
        """The wheel's files, unpacked, are the package."""
        path = next(p for p in self.wheels[0] if os.uname().machine in p)
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(path) as z:
                z.extractall(folder)
            code = "import wpm; print(wpm.__file__, wpm.emd2([1.0], [1.0], [[2.0]]))"
            r = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": folder},
                               cwd=folder, capture_output=True, text=True)
            self.assertEqual(r.stdout, f"{folder}/wpm/__init__.py 2.0\n", r.stderr)

    def test_call(self):
        """A C program calls the library, of the other machine in an emulator."""
        for path in self.wheels[0]:
            machine = "aarch64" if "aarch64" in path else "x86_64"
            own = machine == os.uname().machine
            there = f"/usr/{machine}-linux-gnu"
            cc, run = ("gcc", []) if own else (f"{machine}-linux-gnu-gcc", [f"qemu-{machine}", "-L", there])
            for name in [cc, *run[:1]]:
                self.assertTrue(shutil.which(name), name)
            with tempfile.TemporaryDirectory() as folder:
                with zipfile.ZipFile(path) as z, open(os.path.join(folder, "libwpm.so"), "wb") as f:
                    f.write(z.read("wpm/_libwpm.so"))
                program = os.path.join(folder, "call")
                subprocess.run([cc, "-Wall", "-Werror", "-o", program, os.path.join(HERE, "call.c"),
                                "-L", folder, "-lwpm",
                                "-Wl,-rpath," + folder], check=True)
                r = subprocess.run([*run, program], capture_output=True, text=True, timeout=300)
                lines = r.stdout.splitlines()
                self.assertEqual(len(lines), 8, r)
                self.assertEqual(lines[:4], ["0: value 0.75, 128 bytes", "freed: 3"] * 2, r)
                self.assertIn("no mass", lines[4])
                self.assertTrue(lines[6].startswith('2: {"error":"internal error'), lines)
