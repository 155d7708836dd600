"""What arguments may be, and the checks of them before a call."""

import decimal
import fractions
import json
import numbers

import numpy as np

from ._errors import InputError
from ._places import Pairs, cost_of, label


def index_of(x):
    """Return the labels of a pandas object, one index an axis; else None."""
    if hasattr(x, "iloc") and hasattr(x, "index"):
        return (x.index, x.columns) if hasattr(x, "columns") else (x.index,)
    return None


def numbers_of(x, name):
    """Return x as an array of real numbers of the type that it has."""
    try:
        a = np.asarray(x)
    except (TypeError, ValueError) as e:
        raise InputError(f"{name} is not an array of numbers: {e}") from None
    if a.dtype == object:  # a mix of types, as of a table: let numpy decide
        try:
            if any(isinstance(v, (str, bytes)) for v in a.flat):
                raise TypeError("it holds text")
            a = a.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as e:
            raise InputError(f"{name} is not an array of numbers: {e}") from None
    if a.dtype.kind not in "biuf":
        raise InputError(f"{name} is an array of {a.dtype}, not of real numbers")
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise InputError(f"{name} has masked entries")
    return a


def array(x, name, ndim=1, size=None):
    """Return x as a float64 array in C order: itself if it is one.

    Infinite and NaN entries, another number of dimensions or of entries, and complex numbers raise InputError.
    """
    usual = type(x) is np.ndarray and x.dtype == np.float64
    a = x if usual else numbers_of(x, name)
    if a.ndim != ndim:
        raise InputError(f"{name} has {a.ndim} dimensions, want {ndim}")
    if size is not None and a.shape != (size if ndim == 2 else (size,)):
        raise InputError(f"{name} has shape {a.shape}, want {size if ndim == 2 else (size,)}")
    if usual:
        a = np.ascontiguousarray(a)
    else:
        with np.errstate(over="ignore"):  # it takes a tenth of a short call
            a = np.ascontiguousarray(a, np.float64)
    a = a.reshape(()) if ndim == 0 else a  # numpy makes it a row
    fine = np.isfinite(a)
    if not fine.all():
        at = tuple(int(i) for i in np.argwhere(~fine)[0])
        raise InputError(f"{named(name, at)} is {a[at]}")
    return a


def whole(x, name, ndim=1):
    """Return x as a C-contiguous int64 array; entries that are no whole numbers raise InputError."""
    a = numbers_of(x, name)
    if a.ndim != ndim:
        raise InputError(f"{name} has {a.ndim} dimensions, want {ndim}")
    if a.dtype.kind in "uf":  # a cast of what does not fit differs between processors
        fine = a <= np.uint64(2**63 - 1) if a.dtype.kind == "u" else (a >= -(2.0**63)) & (a < 2.0**63) & (a == np.floor(a))
        if not fine.all():
            at = tuple(int(i) for i in np.argwhere(~fine)[0])
            raise InputError(f"{named(name, at)} is {a[at]}, not a whole number of 64 bits")
    return np.ascontiguousarray(a, np.int64).reshape(a.shape)


def word(x, name):
    """Return x if it is text."""
    if not isinstance(x, str):
        raise InputError(f"{name} is {x!r:.40}, not a word")
    return x


def named(name, at):
    """Return how an entry is named."""
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def aligned(x, labels, name, axis=0):
    """Return x in the order of labels, if both have labels on this axis."""
    if labels is None:
        return x
    own = index_of(x)
    if own is None or len(own) <= axis or own[axis].equals(labels):
        return x
    for index, what in ((own[axis], name), (labels, "the cost")):
        if not index.is_unique:
            raise InputError(f"{what} has the label {index[index.duplicated()][0]!r} twice")
    missing, extra = labels.difference(own[axis]), own[axis].difference(labels)
    if len(missing) or len(extra):
        what = f"lacks {missing[0]!r}" if len(missing) else f"has {extra[0]!r}"
        raise InputError(f"the labels of {name} are not those of the cost: it {what}")
    return x.reindex(labels, axis=axis)


def counted(counts, labels, size, name):
    """Return counts by label in the order of labels, or by number if there are none; what is not there counts 0."""
    own = index_of(counts)
    if own is None or len(own) != 1:
        return counts
    index = own[0]
    if labels is None:
        if size is None or index.dtype.kind not in "iu":
            return counts
        keys = [int(n) for n in index]
        order = {n: n for n in range(size)}
        of = f"an output of {size}"
    else:
        keys = [label(x) for x in index]
        order = {label(x): n for n, x in enumerate(labels)}
        of = "a label of the outputs"
    n = whole(counts, name)
    out, seen = np.zeros(len(order), np.int64), set()
    for key, v in zip(keys, n):
        if key not in order:
            raise InputError(f"{name} has {key!r}, which is not {of}")
        if key in seen:
            raise InputError(f"{name} has the label {key!r} twice")
        seen.add(key)
        out[order[key]] = v
    return out


def in_order(places, labels, k):
    """Return the rows of a table of places by labels, or as they are if there are none."""
    if not (hasattr(places, "iloc") and hasattr(places, "index")):
        raise InputError(f"places is {type(places).__name__}, not a table of places")
    at = {}
    for row, name in enumerate(map(label, places.index)):
        if name in at:
            raise InputError(f"places has the label {name!r} twice")
        at[name] = row
    if labels is None:
        if k is not None and len(places) != k:
            raise InputError(f"places has {len(places)} rows, want {k}")
        return places
    missing = [x for x in labels if label(x) not in at]
    if missing:
        raise InputError(f"places lacks {missing[0]!r} in its index")
    return places.iloc[[at[label(x)] for x in labels]]


class Cost:
    """A cost as a call takes it: an array, a table of places, pairs of them, or an object as ``wpm solve`` states it."""

    def __init__(self, C, name="C", signed=False):
        self.array = self.spec = self.rows = self.cols = self.pairs = None
        if isinstance(C, dict):
            try:
                self.spec = json.loads(json.dumps(C, default=_plain, allow_nan=False))
            except (TypeError, ValueError) as e:
                raise InputError(f"{name} is no cost: {e}") from None
            return
        if isinstance(C, Pairs):
            import pandas

            self.spec, self.pairs, self.rows = C._cost, C.form, pandas.Index(C.labels)
            self.cols = self.rows
            return
        places = cost_of(C, name)
        if places is not None:
            self.spec, self.rows, self.cols = places, C.index, C.index
            return
        labels = index_of(C)
        if labels is not None and len(labels) == 2:
            self.rows, self.cols = labels
        self.array = array(C, name, ndim=2)
        if self.array.size == 0:
            raise InputError(f"{name} has shape {self.array.shape}: it is empty")
        if not signed and (self.array < 0).any():
            at = tuple(int(i) for i in np.argwhere(self.array < 0)[0])
            raise InputError(f"{name}[{at[0]}, {at[1]}] is {self.array[at]}, negative")

    @property
    def shape(self):
        """(k, kv), or None of an object."""
        return None if self.array is None else self.array.shape

    @property
    def args(self):
        """The arguments of a call, as JSON."""
        return "{}" if self.spec is None else json.dumps({"cost": self.spec})


def _plain(x):
    if isinstance(x, np.ndarray) or isinstance(x, np.generic):
        return x.tolist()
    labels = index_of(x)
    if labels is not None:
        return np.asarray(x).tolist()
    raise InputError(f"a cost cannot hold {type(x).__name__}")


def epsilon(eps):
    """Return eps as exact text: a decimal or a fraction."""
    if isinstance(eps, np.ndarray) and eps.ndim == 0:
        eps = eps.item()
    if isinstance(eps, str):
        return eps
    if isinstance(eps, fractions.Fraction):
        return f"{eps.numerator}/{eps.denominator}"
    if isinstance(eps, numbers.Integral) and not isinstance(eps, bool):
        return str(int(eps))
    if isinstance(eps, (numbers.Real, decimal.Decimal)) and not isinstance(eps, bool):
        d = eps if isinstance(eps, decimal.Decimal) else decimal.Decimal(repr(float(eps)))
        if d.is_finite():
            return f"{d:f}"
    raise InputError(f"eps is {eps!r}, not a number")


def series(values, labels):
    """Return the values with labels, if there are any."""
    if labels is None:
        return values
    import pandas

    return pandas.Series(values, index=labels)
