"""The calls of the C library: see lib/wpm.h."""

import ctypes
import itertools
import json
import os
import re
import sys
import threading
import weakref

import numpy as np

from . import _errors

_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_libwpm.so")
_SLICE = 10  # milliseconds: how long a call keeps Python from seeing Ctrl-C
_FEW = 1 << 17  # costs: they take a projection some milliseconds
_RUNNING, _FAILED = 1, 2
_FLOAT64, _INT64 = 0, 1

# The names of arguments in Python, by those that the library's errors use.
_NAMES = {"Source": "mu", "Weights": "weights", "InputWeights": "input_weights", "Exclude": "exclude"}

_CLASSES = {
    "input": _errors.InputError,
    "infeasible": _errors.InfeasibleError,
    "not-converged": _errors.NotConvergedError,
    "refused": _errors.RefusedError,
    "panic": _errors.InternalError,
}

if not os.path.exists(_PATH):
    raise ImportError(_PATH + " is missing: python/build makes it")


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("type", ctypes.c_int32)]


_lock = threading.Lock()
_loaded = None  # the library and the process that has loaded it
_tokens = itertools.count()
_borrowed = {}  # the arrays of calls that run, whatever exceptions come


def _library():
    """Load the library at the first call, so that a fork before it does no harm."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                lib = ctypes.CDLL(_PATH)
                call, ms = ctypes.c_uint64, ctypes.c_int32
                lib.wpm_start.argtypes = [
                    ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Array), ctypes.c_int32, ms, ctypes.POINTER(call)]
                lib.wpm_wait.argtypes = [call, ms]
                lib.wpm_text.argtypes = [call, ctypes.c_char_p, ctypes.c_int64]
                lib.wpm_text.restype = ctypes.c_int64
                lib.wpm_read.argtypes = [call, ctypes.c_void_p, ctypes.c_int64]
                lib.wpm_read.restype = ctypes.c_int64
                lib.wpm_steps.argtypes = [call]
                lib.wpm_steps.restype = ctypes.c_uint64
                data, size = ctypes.c_void_p, ctypes.c_int64
                lib.wpm_transport.argtypes = [data, data, data, size, size, data, size]
                lib.wpm_transport.restype = size
                lib.wpm_free.argtypes = [call]
                lib.wpm_free.restype = None
                _loaded = lib, os.getpid()
    lib, pid = _loaded
    if pid != os.getpid():
        raise _errors.ForkError(
            "wpm was used before this process was forked, and its threads are not here: "
            "use multiprocessing's start method spawn")
    return lib


def call(op, args, cells=None, progress=None, names=None, **arrays):
    """Perform an operation.

    Parameters
    ----------
    op : str
    args : dict
        What becomes its JSON object.
    cells : int, optional
        The costs that a solver has to look at. If they are few, the call ends before anybody could wish to stop it, and
        Ctrl-C waits for that.
    progress : bool or callable, optional
        What is called with the steps done and all steps, between slices; True writes them to standard error.
    names : dict of str, optional
        Further names, as of _NAMES.
    **arrays : ndarray
        C-contiguous arrays of float64 or int64, of one or two dimensions. They are not copied. None is left out.

    Returns
    -------
    value : object
        The answer.
    out : dict of ndarray
        Its arrays.
    """
    arrays = {name: a for name, a in arrays.items() if a is not None}
    try:
        text = json.dumps({"args": args, "arrays": list(arrays)}, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as e:
        raise _errors.InputError(str(e)) from None
    return _run(op, text, list(arrays.values()), cells, _answer, names,
                _bar(args.get("kind", op)) if progress is True else progress or None)


def call_bare(op, args, cells, most, names, **arrays):
    """Perform an operation of whose answer only the arrays matter: its text takes a tenth of a millisecond.

    Parameters
    ----------
    op : str
    args : str
        As of call, as JSON.
    cells : int
        As of call.
    most : int
        How many numbers the answer has at most.
    names : dict of str or None
        As of call.
    **arrays : ndarray
        As of call.

    Returns
    -------
    ndarray
        The numbers of all arrays of the answer.
    """

    def read(lib, handle):
        numbers = np.empty(most)
        size = lib.wpm_read(handle, _address(numbers), numbers.nbytes)
        if size > numbers.nbytes:
            raise _errors.InternalError(f"an answer of {size // 8} numbers where {most} are the most")
        return numbers[:size // 8]

    given = [name for name, a in arrays.items() if a is not None]
    text = '{"args":%s,"bare":true,"arrays":["%s"]}' % (args, '","'.join(given))
    return _run(op, text.encode(), [arrays[name] for name in given], cells, read, names)


def transport(a, b, C, plan):
    """Solve a transport problem at once: between 20 points, that takes two thirds of the time of a call.

    Parameters
    ----------
    a, b, C : ndarray
        Masses and costs as of call, whose shapes fit. The library checks their entries.
    plan : bool
        Whether more than the first four numbers are asked for.

    Returns
    -------
    ndarray or None
        The numbers of the answer, as of call_bare. None if the operation transport is an error, which it tells; or if
        the costs are so many that somebody may wish to stop it.
    """
    k, kv = C.shape
    if C.size > _FEW:
        return None
    numbers = np.empty(4 + 4 * k + 5 * kv if plan else 4)  # a plan has less entries than rows and columns
    size = _library().wpm_transport(_address(a), _address(b), _address(C), k, kv, _address(numbers), numbers.nbytes)
    return None if size < 0 or plan and size > numbers.nbytes else numbers[:size // 8]


def _bar(op):
    """Return what writes progress to standard error: a line that is written over."""

    def write(done, total):
        end = "\n" if done >= total else ""
        print(f"\r{op}: {done} of {total}", end=end, file=sys.stderr, flush=True)

    return write


def _run(op, text, arrays, cells, read, names=None, progress=None):
    lib = _library()
    given = (_Array * max(len(arrays), 1))()
    for at, a in zip(given, arrays):
        if not (a.flags.c_contiguous and (a.dtype == np.float64 or a.dtype == np.int64)):
            raise TypeError("an array of another layout or type")
        at.data = _address(a) if a.size else None
        at.rows, at.cols = a.shape if a.ndim == 2 else (1, a.size)
        at.type = _INT64 if a.dtype == np.int64 else _FLOAT64
    wait = -1 if cells is not None and cells <= _FEW else _SLICE
    handle = ctypes.c_uint64(0)
    token = next(_tokens)
    _borrowed[token] = arrays, given
    try:
        state = lib.wpm_start(op.encode(), text, given, len(arrays), wait, ctypes.byref(handle))
        seen = 0
        while True:  # between slices, Python sees Ctrl-C
            steps = 0 if progress is None else lib.wpm_steps(handle)
            if steps != seen:
                progress(steps >> 32, steps & 0xFFFFFFFF)
                seen = steps
            if state != _RUNNING:
                break
            state = lib.wpm_wait(handle, _SLICE)
        if state == _FAILED:
            error = json.loads(_text(lib, handle))
            said = error["error"]
            own = {**_NAMES, **(names or {})}
            said = re.sub(r"\b[A-Z][A-Za-z]+\b(?=\[|$| )", lambda m: own.get(m.group(), m.group()), said)
            raise _CLASSES[error["kind"]](said)
        return read(lib, handle)
    finally:
        if handle.value:
            lib.wpm_free(handle)  # ends the call and waits for its end
        del _borrowed[token]


def _text(lib, handle):
    size = 512  # of most answers
    while True:
        buffer = ctypes.create_string_buffer(size)
        size, room = lib.wpm_text(handle, buffer, size), size
        if size <= room:
            return buffer.raw[:size]


def _answer(lib, handle):
    answer = json.loads(_text(lib, handle))
    shapes = answer["arrays"]
    numbers = np.empty(sum(a["size"] for a in shapes))
    lib.wpm_read(handle, _address(numbers), numbers.nbytes)
    out, at = {}, 0
    for a in shapes:
        x = numbers[at:at + a["size"]]
        out[a["name"]] = x.view(np.int64) if a["ints"] else x
        at += a["size"]
    return answer["value"], out


def _address(a):
    return a.__array_interface__["data"][0]  # a tenth of the time of a.ctypes.data


def _free(number):
    lib, pid = _loaded
    if pid == os.getpid():
        lib.wpm_free(number)


def cost(handle, shape):
    """Return the cost of an object of the library as an array."""
    C = np.empty(shape)
    call("cost", {"handle": handle.number}, C=C)
    return C


class Handle:
    """An object of the library, which is freed with this one."""

    def __init__(self, number):
        self.number = number
        weakref.finalize(self, _free, number)

    def __reduce__(self):
        raise TypeError("an object of wpm's library cannot be copied or sent to another process")
