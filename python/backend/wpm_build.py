"""Builds the Python package: its library, wheels and source archives. pip calls it as pyproject.toml says (PEP 517).

It needs the standard library, Go, and a C compiler. On Linux, the library is linked to the oldest versions of glibc's
functions (lib/glibc.h). The same commit and tools make the same bytes.
"""

import base64
import gzip
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = "_libwpm.so"  # on every system: ctypes loads it by its path
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}  # of Linux, and Go's names
GLIBC = 2, 17  # the oldest that wheels for Linux promise

METADATA = """\
Metadata-Version: 2.4
Name: wpm
Version: {version}
Summary: Optimal transport, and differentially private sampling by Wasserstein projection
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD_PARTY.md
Project-URL: Homepage, https://github.com/wpm-go/wpm
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy>=1.24
Provides-Extra: all
Requires-Dist: scipy; extra == "all"
Requires-Dist: pandas; extra == "all"
Requires-Dist: matplotlib; extra == "all"
Description-Content-Type: text/markdown

{readme}"""


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def version():
    return re.search(r'^__version__ = "(.+)"$', read(HERE, "wpm", "__init__.py").decode(), re.M).group(1)


def metadata():
    return METADATA.format(version=version(), readme=read(HERE, "README.md").decode()).encode()


def notice(name):
    """Return a file that is beside this folder in the repository, and in it in a source archive."""
    return read(HERE if os.path.exists(os.path.join(HERE, name)) else os.path.dirname(HERE), name)


# ---- the library


def library(machine=None):
    """Build the library for a machine of Linux, or for this system, and return its bytes."""
    env = {**os.environ, "CGO_ENABLED": "1", "LC_ALL": "C"}
    if machine and machine != platform.machine():
        env["CC"] = f"{machine}-linux-gnu-gcc"
    if machine:
        env.update(GOOS="linux", GOARCH=MACHINES[machine])
        # Before glibc 2.34 the functions of threads were in a library of their own.
        env["CGO_CFLAGS"] = f"{env.get('CGO_CFLAGS', '-O2 -g')} -include {os.path.join(HERE, 'lib', 'glibc.h')}"
        env["CGO_LDFLAGS"] = f"{env.get('CGO_LDFLAGS', '-O2 -g')} -Wl,--no-as-needed -l:libpthread.so.0 -Wl,--as-needed"
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, LIBRARY)
        flags = ["-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags", "-s -w -buildid="]
        try:
            subprocess.run(["go", "build", *flags, "-o", out, "."], cwd=os.path.join(HERE, "lib"), env=env, check=True)
        except FileNotFoundError:
            raise SystemExit("wpm is built by Go, and there is no program go: see https://go.dev/dl") from None
        if machine:
            needs = subprocess.run(["readelf", "--version-info", "--wide", out], env=env, check=True,
                                   capture_output=True, text=True).stdout
            if glibc(needs) > GLIBC:
                raise ValueError(f"the library for {machine} needs glibc {glibc(needs)}, newer than {GLIBC}")
        return read(out)


def glibc(text):
    """Return the newest version of glibc in what readelf says of a library."""
    found = {tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([0-9.]+)", text)}
    if not found:
        raise ValueError("the library names no version of glibc")
    return max(found)


def build_library():
    """Build the library of this folder, at once: a process may have the old one open."""
    target = os.path.join(HERE, "wpm", LIBRARY)
    data = library(here()[0])
    with open(target + ".new", "wb") as f:
        f.write(data)
    os.replace(target + ".new", target)


def here():
    """Return the machine, if this is Linux and one that wheels are for, and the tag of a wheel for this system."""
    system, machine = platform.system(), platform.machine()
    if system == "Linux":
        if platform.libc_ver()[0] != "glibc":
            raise SystemExit("wpm needs glibc: Go's shared libraries do not load beside musl. The program wpm has no "
                             "such need: `wpm solve` answers lines by a pipe")
        if machine in MACHINES:
            return machine, linux(machine)
    return None, re.sub("[^a-z0-9]", "_", sysconfig.get_platform().lower())


def linux(machine):
    return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"


def check_notices():
    """Fail if the library links a module whose licence is not in THIRD_PARTY.md."""
    form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"
    text = subprocess.run(["go", "list", "-deps", "-f", form, "."], cwd=os.path.join(HERE, "lib"), check=True,
                          capture_output=True, text=True).stdout
    notices = notice("THIRD_PARTY.md")  # not all of it is UTF-8
    for module in sorted(set(text.splitlines())):
        if module and not module.startswith("github.com/wpm-go/wpm ") and f"## {module}\n".encode() not in notices:
            raise ValueError(f"THIRD_PARTY.md has no licence of {module}")


# ---- wheels


def modules():
    """Return what the package is made of, but for its library."""
    names = [name for name in os.listdir(os.path.join(HERE, "wpm")) if name.endswith((".py", ".pyi")) or name == "py.typed"]
    return {f"wpm/{name}": read(HERE, "wpm", name) for name in names}


def information(tag):
    """Return the files of a wheel that describe it."""
    info = f"wpm-{version()}.dist-info"
    files = {f"{info}/METADATA": metadata(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: wpm\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()}
    for name in ("LICENSE", "THIRD_PARTY.md"):
        files[f"{info}/licenses/{name}"] = notice(name)
    return files


def pack(files, tag, folder):
    """Write a wheel and return its name."""
    info = f"wpm-{version()}.dist-info"
    record = ""
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files = {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}
    os.makedirs(folder, exist_ok=True)
    name = f"wpm-{version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whatever this is
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            z.writestr(entry, data)
    return name


def wheel(folder, machine=None):
    """Write the wheel for a machine of Linux, or for this system, and return its name."""
    tag = linux(machine) if machine else None
    if not machine:
        machine, tag = here()
    check_notices()
    tag = f"py3-none-{tag}"
    return pack({**modules(), f"wpm/{LIBRARY}": library(machine), **information(tag)}, tag, folder)


# ---- the source archive


def sources():
    """Return the files of the source archive: this folder, and all Go that the library is built from."""
    files = {"PKG-INFO": metadata(), **modules()}
    for name in ("README.md", "pyproject.toml", "build", "backend/wpm_build.py"):
        files[name] = read(HERE, name)
    for name in ("LICENSE", "THIRD_PARTY.md"):
        files[name] = notice(name)
    lib = os.path.join(HERE, "lib")
    for name in os.listdir(lib):
        if os.path.isfile(os.path.join(lib, name)) and not name.endswith("_test.go"):
            files[f"lib/{name}"] = read(lib, name)
    with tempfile.TemporaryDirectory() as folder:
        vendor = os.path.join(lib, "vendor")
        if not os.path.exists(vendor):  # else this is a source archive
            vendor = os.path.join(folder, "vendor")
            subprocess.run(["go", "mod", "vendor", "-o", vendor], cwd=lib, check=True)
        for at, _, names in os.walk(vendor):
            for name in names:
                path = os.path.join(at, name)
                files["lib/vendor/" + os.path.relpath(path, vendor).replace(os.sep, "/")] = read(path)
    return files


# ---- what pip calls


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Write a wheel that names this folder: for work on the package."""
    build_library()
    tag = f"py3-none-{here()[1]}"
    return pack({"wpm.pth": f"{HERE}\n".encode(), **information(tag)}, tag, wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Write the source archive, from which a wheel can be built without a network."""
    name = f"wpm-{version()}"
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for path, text in sorted(sources().items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(text), 0o755 if path == "build" else 0o644
            t.addfile(entry, io.BytesIO(text))
    os.makedirs(sdist_directory, exist_ok=True)
    with open(os.path.join(sdist_directory, f"{name}.tar.gz"), "wb") as f:
        f.write(gzip.compress(data.getvalue(), 9, mtime=0))
    return f"{name}.tar.gz"


def main(words):
    """Make what the words name in dist, or in the folder after -o: x86_64, aarch64, here, sdist, library."""
    folder = os.path.join(HERE, "dist")
    if "-o" in words[:-1]:
        at = words.index("-o")
        folder = words[at + 1]
        words = words[:at] + words[at + 2:]
    for word in words:
        if word not in (*MACHINES, "here", "sdist", "library"):
            raise SystemExit(f"{word!r} is none of {', '.join(MACHINES)}, here, sdist, library")
    for word in words or [*MACHINES, "sdist"]:
        if word == "library":
            build_library()
            continue
        name = build_sdist(folder) if word == "sdist" else wheel(folder, None if word == "here" else word)
        path = os.path.join(folder, name)
        print(path, os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
