"""From reports to counts, without the program wpm; and reports of made-up devices."""

import os

import numpy as np

from . import _lib
from ._errors import InputError
from ._input import aligned, array, index_of, label, numbers_of, series, whole

_SIZE = 40  # bytes of a report


class Counts:
    """How many reports there are of each output of a policy.

    Parameters
    ----------
    text : str or bytes
        A file of partial counts: wpm-counts-1.

    Attributes
    ----------
    policy : str
        The ID of the policy.
    epoch : str
        The period, empty where none is stated.
    reports : (kv,) ndarray of int, or Series
        Reports of each output. With Policy.count, and where the outputs have labels and pandas is there, a Series.
    total, lines : int
        Reports that count, and all lines that were read.
    refused : dict
        Lines that do not count, by reason: "malformed", "other-policy", "no-such-output", "never-released".
    shards : list of dict
        What was read: id, sha256, bytes, lines.
    notices : list of str
        What a reader should know: a file that seems to be cut off, reports that are simulated.
    text : str
        The file of these counts.

    Raises
    ------
    InputError
        The text is no file of counts.

    Notes
    -----
    ``a + b`` are the counts of both: of the same policy and epoch, and no shard may be in both.
    """

    def __init__(self, text):
        if isinstance(text, (bytes, bytearray)):
            try:
                text = bytes(text).decode()
            except UnicodeDecodeError as e:
                raise InputError(f"counts are UTF-8: {e}") from None
        if not isinstance(text, str):
            raise InputError(f"counts are text, not {type(text).__name__}")
        self._set(*_lib.call("counts", {"texts": [text]}))

    def _set(self, value, out):
        self.__dict__.update(value)
        self.reports = out["reports"]
        self.total = int(self.reports.sum())

    @classmethod
    def _made(cls, value, out, labels=None):
        self = cls.__new__(cls)
        self._set(value, out)
        if labels is not None and _pandas():
            self.reports = series(self.reports, labels)
        return self

    @classmethod
    def read(cls, path, policy=None, *, epoch=None):
        """Read a file of counts, gzipped or not: all that ``wpm aggregate -counts`` takes.

        Parameters
        ----------
        path : str or path
            Partial counts; or of a policy a table as CSV, with the header label,count or index,count, such as a warehouse
            makes. What is not in it counts 0.
        policy : Policy, optional
            The policy that they are of: of partial counts it is checked, and a table does not state it.
        epoch : str, optional
            The epoch that they are of: the same.
        """
        from ._mechanism import Policy

        if policy is not None and not isinstance(policy, Policy):
            policy = Policy(policy)
        args = {"path": os.fsdecode(path), "policy": "" if policy is None else policy.text,
                "epoch": None if epoch is None else label(epoch)}
        return cls._made(*_lib.call("readcounts", args), None if policy is None else policy._output_names)

    def write(self, path):
        """Write a file of counts. An existing file is an error."""
        with open(path, "xb") as f:
            f.write(self.text.encode())

    def __add__(self, other):
        if not isinstance(other, Counts):
            return NotImplemented
        index = index_of(self.reports)
        return Counts._made(*_lib.call("counts", {"texts": [self.text, other.text]}), index and index[0])

    def __len__(self):
        return len(self.reports)

    def __repr__(self):
        refused = sum(self.refused.values())
        return f"Counts(policy={self.policy[:12]}..., epoch={self.epoch!r}, total={self.total}, refused={refused})"


def _pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def count(policy, sources, epoch, strict):
    """Count reports: see Policy.count."""
    names, columns = [], {}
    for n, source in enumerate(sources):
        if isinstance(source, (str, os.PathLike)):
            names.append({"name": os.fsdecode(source)})
            continue
        data = source if isinstance(source, (bytes, bytearray)) else _column(source, f"reports {n + 1}")
        padded = np.frombuffer(bytes(data) + b"\n" * (-len(data) % 8), np.int64)
        columns[f"s{n}"] = padded
        names.append({"name": f"column {n + 1}", "size": len(data)})
    if not names:
        raise InputError("there is nothing to count: give a column of reports, or files")
    value, out = _lib.call("count", {"policy": policy.text, "sources": names, "epoch": epoch, "strict": bool(strict),
                                     "allow_equal": False}, **columns)
    return Counts._made(value, out, policy._output_names)


def _column(values, name):
    """Return a column of reports as the bytes of a file, one a line."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype == np.uint8:
        if values.shape[1] != _SIZE:
            raise InputError(f"{name} has {values.shape[1]} bytes a row, want {_SIZE}")
        values = [row.tobytes() for row in values]
    elif isinstance(values, np.ndarray) and values.dtype == f"S{_SIZE}":  # numpy drops zeros at the end
        values = np.ascontiguousarray(values)
        return _column(values.view(np.uint8).reshape(-1, _SIZE), name)
    elif (not hasattr(values, "__iter__") or getattr(values, "shape", None) == () or hasattr(values, "columns")
          or isinstance(values, (dict, set, frozenset))):  # which drop what is there twice
        raise InputError(f"{name} is {type(values).__name__}, not a column of reports or a path")
    lines = []
    for i, v in enumerate(values):
        if isinstance(v, str):
            lines.append("?" if "\n" in v else v)
        elif isinstance(v, (bytes, bytearray)):
            lines.append(bytes(v).hex() if len(v) == _SIZE else bytes(v).replace(b"\n", b"?").decode("latin-1"))
        elif v is None or type(v).__name__ in ("NAType", "NaTType") or isinstance(v, float) and v != v:  # a missing value is a blank line
            lines.append("")
        else:
            raise InputError(f"{name}[{i}] is {v!r:.40}, not a report: text of {2 * _SIZE} characters, or {_SIZE} bytes")
    text = "\n".join([*lines, ""]).encode("utf-8", "replace")
    other = text.startswith((b"wpm1", b"wpm-counts-", b"\x1f\x8b"))  # a line, not the start of another format
    return b"\n" + text if other else text


def simulate(policy, users=None, *, devices=None, atoms=None, seed=1, epoch=None, path=None, progress=None):
    """Count the reports of made-up devices, each drawn as a device would, from a seed.

    Parameters
    ----------
    policy : Policy
    users : (k,) or (n, k) array_like, sparse matrix, Series or DataFrame, optional
        The counts of the places of all devices, or of n users, one a row, whom the devices take in turn. Without them a
        device has some places drawn uniformly.
    devices : int, optional
        How many reports; the number of users, or 10,000.
    atoms : int, optional
        Without users: how many places a device has, 20 or all if it is not given.
    seed : int, optional
        Of all draws.
    epoch : str, optional
        Of a policy with a period: only the devices that report in this epoch, such as "2026-03". A device has the same
        slot in all epochs.
    path : str or path, optional
        A new file for the reports, as ``wpm simulate`` writes it: with a mark in its first line.
    progress : bool or callable, optional
        As in estimate.

    Returns
    -------
    Counts
        Their epoch is "simulation", or "simulation-" and the epoch, so that they do not get among those of people.

    Raises
    ------
    InputError

    Notes
    -----
    A simulation keeps nothing private: who knows the seed knows every draw. There is no ledger. Use made-up data.

    Examples
    --------
    >>> import wpm
    >>> p = wpm.design({"kind": "ring", "n": 8, "p": 1}, 2).publish()
    >>> c = wpm.simulate(p, [9, 1, 0, 0, 0, 0, 0, 0], devices=1000)
    >>> c.total, c.epoch, bool(c.reports.argmax() == 0)
    (1000, 'simulation', True)
    """
    from ._mechanism import Policy

    if not isinstance(policy, Policy):
        policy = Policy(policy)
    k = policy.shape[0]
    arrays, number = {}, 10000
    if users is not None:
        if atoms is not None:
            raise InputError("atoms goes without users: they have places of their own")
        arrays, number = _users(users, k, policy.labels)
    args = {"policy": policy.text, "devices": number if devices is None else int(whole(devices, "devices", ndim=0)),
            "atoms": min(20, k) if atoms is None else int(whole(atoms, "atoms", ndim=0)),
            "seed": int(whole(seed, "seed", ndim=0)), "epoch": "" if epoch is None else label(epoch),
            "path": "" if path is None else os.fsdecode(path)}
    if args["devices"] < 1 or args["atoms"] < 1 or args["seed"] < 0:
        raise InputError("devices and atoms are above 0, and seed is not negative")
    value, out = _lib.call("simulate", args, progress=progress, **arrays)
    return Counts._made(value, out, policy._output_names)


def _users(users, k, labels):
    """Return the users as rows of a sparse matrix, and how many devices they stand for."""
    if hasattr(users, "tocsr"):
        users = users.toarray()
    if labels is not None and index_of(users) is not None and _pandas():
        import pandas

        axis = np.ndim(users) - 1
        if len(index_of(users)[axis]) == len(labels):
            users = users.rename(index=label) if axis == 0 else users.rename(columns=label)
        users = aligned(users, pandas.Index(labels), "users", axis=axis)
    one = numbers_of(users, "users").ndim == 1
    table = array(np.atleast_2d(numbers_of(users, "users")), "users", ndim=2)
    if table.shape[1] != k:
        raise InputError(f"users has {table.shape[1]} places, the policy {k}")
    if (table < 0).any():
        row, at = np.argwhere(table < 0)[0]
        raise InputError(f"users[{row}, {at}] is {table[row, at]}, negative")
    table = table[table.any(1)]
    if len(table) == 0:
        raise InputError("users are all zero")
    row, support = np.nonzero(table)
    arrays = {"indptr": np.searchsorted(row, np.arange(len(table) + 1)).astype(np.int64),
              "support": support.astype(np.int64), "counts": table[row, support]}
    return arrays, 10000 if one else len(table)
