"""The wheels and the source archive: what is in them, the same bytes twice, installed by pip, and called."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from tests.support import HERE, PYTHON


sys.path.insert(0, os.path.join(PYTHON, "backend"))
import wpm_build  # noqa: E402


# What the four lines of the README read: a table of places, a policy, and reports of made-up devices.
MADE_UP = """
import wpm
with open("places.csv", "w") as f:
    f.write("name,lat,lon\\nBerlin,52.5,13.4\\nBremen,53.1,8.8\\nMunich,48.1,11.6\\n")
import pandas
policy = wpm.design(pandas.read_csv("places.csv", index_col="name"), 3).publish()
policy.write("city.policy")
wpm.simulate(policy, [5, 1, 4], devices=2000, path="reports.txt")
"""


class TestWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("WPM_CLIENTS") != "1":
            raise unittest.SkipTest("takes minutes: WPM_CLIENTS=1 runs it")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.wheels, cls.sources = [], []
        for n in ("1", "2"):
            out = subprocess.run([os.path.join(PYTHON, "wheel"), "-o", os.path.join(cls.folder.name, n)],
                                 check=True, capture_output=True, text=True).stdout
            made = [line.split()[0] for line in out.splitlines()]
            cls.wheels.append(made[:2])
            cls.sources.append(made[2])

    def test_same(self):
        self.assertEqual(len(self.wheels[0]), 2)
        for one, two in [*zip(*self.wheels), self.sources]:
            with open(one, "rb") as f, open(two, "rb") as g:
                self.assertEqual(os.path.basename(one), os.path.basename(two))
                self.assertTrue(f.read() == g.read(), one)

    def test_content(self):
        for path in self.wheels[0]:
            self.assertRegex(os.path.basename(path), r"^wpm-[0-9.]+-py3-none-manylinux_2_17_(x86_64|aarch64)\.whl$")
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
        glibc = wpm_build.glibc
        self.assertEqual(glibc("Name: GLIBC_2.9  Flags\n Name: GLIBC_2.17 x\n Name: GLIBC_2.2.5"), (2, 17))
        with self.assertRaises(ValueError):
            glibc("Name: GCC_3.0")
        old = "pthread_create", "pthread_sigmask"  # among those that glibc 2.32 and 2.34 gave newer versions
        for path in self.wheels[0]:
            with tempfile.TemporaryDirectory() as folder:
                with zipfile.ZipFile(path) as z:
                    so = z.extract("wpm/_libwpm.so", folder)
                symbols = subprocess.run(["readelf", "--dyn-syms", "--wide", so], check=True, capture_output=True,
                                         text=True).stdout
                needed = subprocess.run(["readelf", "--dynamic", "--wide", so], check=True, capture_output=True,
                                        text=True).stdout
            versions = dict(re.findall(r" UND (\w+)@GLIBC_([0-9.]+)", symbols))
            self.assertGreater(len(versions), 20)
            newest = max(tuple(map(int, v.split("."))) for v in versions.values())
            self.assertLessEqual(newest, (2, 17), versions)
            self.assertTrue(set(old) <= set(versions), versions)
            self.assertIn("[libpthread.so.0]", needed)  # where glibc 2.17 has them

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
                self.assertIn("sum to 0", lines[4])
                self.assertTrue(lines[6].startswith('2: {"error":"internal error'), lines)


class TestInstall(unittest.TestCase):
    """What a user does: pip, a virtual environment, no network."""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("WPM_CLIENTS") != "1":
            raise unittest.SkipTest("takes a minute: WPM_CLIENTS=1 runs it")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run_in(self, *words, ok=True, **settings):
        r = subprocess.run(words, cwd=self.folder.name, env={**self.env, **settings}, capture_output=True, text=True,
                           timeout=600)
        self.assertEqual(r.returncode == 0, ok, (words, r.stdout, r.stderr))
        return r.stdout if ok else r.stderr

    def environment(self, name, *options):
        """Make an environment without pip, which takes as long as all else together; the other pip acts on it."""
        self.run_in(sys.executable, "-m", "venv", "--without-pip", *options, name)
        return os.path.join(self.folder.name, name, "bin", "python")

    def pip(self, python, *words, ok=True):
        return self.run_in(sys.executable, "-m", "pip", "--python", python, *words, ok=ok)

    def test_folder(self):
        """pip builds the folder without an index, installs, shows, and removes all of it."""
        python = self.environment("tree", "--system-site-packages")
        self.pip(python, "install", "--no-index", "--quiet", PYTHON)
        code = "import wpm; print(wpm.__file__, wpm.emd2([1.0], [1.0], [[2.0]]))"
        out = self.run_in(python, "-c", code)
        self.assertTrue(out.endswith(" 2.0\n") and os.path.join(self.folder.name, "tree") in out, out)
        shown = self.pip(python, "show", "-f", "wpm")
        for text in ("Version: " + wpm_build.version(), "License", "wpm/py.typed", "wpm/_libwpm.so", "LICENSE"):
            self.assertIn(text, shown)
        self.pip(python, "uninstall", "--yes", "--quiet", "wpm")
        self.assertIn("No module named", self.run_in(python, "-c", code, ok=False))
        left = [name for at, _, names in os.walk(os.path.join(self.folder.name, "tree", "lib"))
                for name in [at, *names] if "wpm" in os.path.basename(name)]
        self.assertFalse(left)

    def test_sources(self):
        """The source archive makes the wheel of the folder with neither network nor a module cache."""
        wheels = []
        for at in (PYTHON, None):
            if at is None:
                wpm_build.build_sdist(self.folder.name)
                name = f"wpm-{wpm_build.version()}"
                with tarfile.open(os.path.join(self.folder.name, name + ".tar.gz")) as t:
                    t.extractall(self.folder.name)
                at = os.path.join(self.folder.name, name)
            code = "import sys; sys.path.insert(0, sys.argv[1]); import wpm_build; print(wpm_build.build_wheel(sys.argv[2]))"
            place = os.path.join(self.folder.name, f"from{len(wheels)}")
            settings = {} if at == PYTHON else {"GOPROXY": "off", "GOFLAGS": "",
                                                "GOMODCACHE": os.path.join(self.folder.name, "none")}
            out = self.run_in(sys.executable, "-B", "-c", code, os.path.join(at, "backend"), place, **settings)
            with zipfile.ZipFile(os.path.join(place, out.split()[-1])) as z:
                # The library, and so RECORD, say where Go found its modules.
                same = [name for name in z.namelist() if not name.endswith((".so", "/RECORD"))]
                wheels.append((z.namelist(), {name: hashlib.sha256(z.read(name)).hexdigest() for name in same}))
                z.extractall(place)
            self.run_in(sys.executable, "-c", "import wpm; assert wpm.emd2([1.0], [1.0], [[2.0]]) == 2", PYTHONPATH=place)
        self.assertEqual(*wheels)

    def test_no_index(self):
        """From a folder that holds the wheel; without numpy, import says what is missing."""
        wheels = os.path.join(self.folder.name, "wheels")
        wpm_build.build_wheel(wheels)
        python = self.environment("with", "--system-site-packages")
        self.pip(python, "install", "--no-index", "--quiet", "--find-links", wheels, "wpm")
        with open(os.path.join(PYTHON, "README.md"), encoding="utf-8") as f:
            lines = f.read().split("<!-- four lines -->\n```python\n")[1].split("```")[0]
        self.assertEqual(len(lines.splitlines()), 4)
        self.run_in(python, "-c", MADE_UP, MPLBACKEND="Agg")
        self.run_in(python, "-c", "import pandas, wpm\n" + lines + "assert ax.collections[0].get_array().sum() > 0.99",
                    MPLBACKEND="Agg")
        self.pip(python, "uninstall", "--yes", "--quiet", "wpm")
        bare = self.environment("without")
        missing = self.pip(bare, "install", "--no-index", "--find-links", wheels, "wpm", ok=False)
        self.assertIn("numpy", missing)
        self.pip(bare, "install", "--no-index", "--quiet", "--no-deps", "--find-links", wheels, "wpm")
        self.assertIn("wpm needs numpy", self.run_in(bare, "-c", "import wpm", ok=False))

    def test_editable(self):
        python = self.environment("edit", "--system-site-packages")
        self.pip(python, "install", "--no-index", "--quiet", "--editable", PYTHON)
        out = self.run_in(python, "-c", "import wpm; print(wpm.__file__)")
        self.assertEqual(out.strip(), os.path.join(PYTHON, "wpm", "__init__.py"))

    def test_musl(self):
        """Where a library of Go does not load, the build says so."""
        code = ("import platform; platform.libc_ver = lambda *a: ('', ''); import wpm_build; wpm_build.here()")
        said = self.run_in(sys.executable, "-B", "-c", code, ok=False, PYTHONPATH=os.path.join(PYTHON, "backend"))
        self.assertIn("wpm solve", said)
