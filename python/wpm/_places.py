"""Tables of places: frames of latitudes and longitudes, and those of geopandas."""

import numbers
import unicodedata

import numpy as np

from . import _lib
from ._errors import InputError

_LATITUDE = ("lat", "latitude")
_LONGITUDE = ("lon", "lng", "long", "longitude")


def label(x):
    """Return a label as policies have them: text in the composed form of Unicode."""
    return unicodedata.normalize("NFC", str(x))


def is_geo(x):
    """Report whether x is a GeoSeries or a GeoDataFrame, by its type: one without a geometry has no crs to ask for."""
    return hasattr(type(x), "to_crs") and hasattr(x, "index")


def cost_of(x, name):
    """Return the cost of a table of places, as an object, or None if x is no such table.

    Degrees give distances on the globe, in km; other coordinates those of the plane, in their unit.
    """
    if is_geo(x):
        return _geo(x, name)
    if not (hasattr(x, "columns") and hasattr(x, "iloc")):
        return None
    by = [str(column).lower() for column in x.columns]
    lat, lon = ([i for i, column in enumerate(by) if column in names] for names in (_LATITUDE, _LONGITUDE))
    if not lat and (not lon or by[lon[0]] == "long"):  # which may be the name of a place
        return None
    for found, what in ((lat, "latitude"), (lon, "longitude")):
        if len(found) != 1:
            raise InputError(f"{name} has {len(found) or 'no'} columns of {what}, and a table of places has one")
    return _spec("greatcircle-2", np.column_stack([_numbers(x.iloc[:, i], name) for i in (*lat, *lon)]), x, name)


def _geo(x, name):
    try:
        shapes, crs = x.geometry, x.crs
    except AttributeError:
        raise InputError(f"{name} has no column of geometry: set_geometry says which one it is") from None
    if crs is None:
        raise InputError(f"{name} has no coordinate reference system: set_crs says which one it is")
    if crs.is_geocentric or crs.is_geographic and any(axis.unit_name not in ("degree", "metre") for axis in crs.axis_info):
        raise InputError(f"{name} is neither in degrees nor in a plane but in {crs.name}: to_crs(4326) makes degrees")
    bad = np.asarray(shapes.isna() | shapes.is_empty)
    if bad.any():
        raise InputError(f"{name} has no geometry at {x.index[int(bad.argmax())]!r}")
    points = shapes if (shapes.geom_type == "Point").all() else shapes.representative_point()
    across, up = np.asarray(points.x, float), np.asarray(points.y, float)
    if crs.is_geographic:
        return _spec("greatcircle-2", np.column_stack([up, across]), x, name)
    return _spec("points", np.column_stack([across, up]), x, name)


def _numbers(column, name):
    try:
        if np.asarray(column).dtype.kind not in "biufOUST":
            raise TypeError(str(column.dtype))
        return np.asarray(column, float)
    except (TypeError, ValueError) as e:
        raise InputError(f"{name}[{column.name!r}] holds no numbers: {e}") from None


def _spec(kind, at, x, name):
    if len(at) == 0:
        raise InputError(f"{name} has no places")
    if not np.isfinite(at).all():
        row = int(np.argwhere(~np.isfinite(at))[0][0])
        raise InputError(f"{name} has no coordinates at {x.index[row]!r}")
    if not x.index.is_unique:
        raise InputError(f"{name} has the label {x.index[x.index.duplicated()][0]!r} twice")
    return {"kind": kind, "x": at.tolist(), "p": 1}


def coordinates(x, name):
    """Return where to draw the places of a table, across and up, or None if x is no such table."""
    spec = cost_of(x, name)
    if spec is None:
        return None
    at = np.asarray(spec["x"])
    return at[:, ::-1] if spec["kind"].startswith("greatcircle") else at


class Pairs:
    """Pairs of places, or of a place and a value of a category, as the cost of a design. Made by pairs.

    Attributes
    ----------
    labels : list of str
        Of the pairs: the labels of their parts, joined by ">".
    form : str
        What they are pairs of, as the metadata "pairs" of their policy say it.
    """

    def __init__(self, cost, labels, form):
        self._cost, self.labels, self.form = cost, labels, form

    def __len__(self):
        return len(self.labels)

    def __repr__(self):
        return f"Pairs({len(self)} of {self.form})"


def pairs(places, to=None, *, only=None, category=None, p=1):
    """Make pairs of places, of which one report gives flows.

    Parameters
    ----------
    places : DataFrame, GeoDataFrame or GeoSeries
        A row for each place, whose label is in the index: with columns lat and lon, with a geometry, or with the coordinates
        of a plane in all columns.
    to : DataFrame, GeoDataFrame or GeoSeries, optional
        The second place of pairs. Without it there must be a category.
    only : sequence of (str, str), optional
        The pairs that there are, by their labels; all of them if it is not given.
    category : str, optional
        A choice beside the places, and what a wrong one costs, such as "mode=walk,bike,car:2km".
    p : float, optional
        The power of the distance that a cost is.

    Returns
    -------
    Pairs
        For design, plan, and wherever a cost is taken.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas, wpm
    >>> homes = pandas.DataFrame({"x": [0, 1, 2], "y": [0, 2, 1]}, index=["north", "mill", "port"])
    >>> flows = wpm.pairs(homes, homes, category="mode=walk,bus:1")
    >>> len(flows), flows.labels[1]
    (18, 'north>north>bus')
    """
    sides = [_side(x, name) for x, name in ((places, "places"), (to, "to")) if x is not None]
    if len(sides) == 1 and category is None:
        raise InputError("pairs are of two tables of places, or of one and a category")
    if not isinstance(p, numbers.Real):
        raise InputError(f"p is {p!r:.40}, not a number")
    listed = None
    if only is not None:
        if len(sides) == 1:
            raise InputError("only goes with two tables of places")
        known = [{name: n for n, name in enumerate(side["labels"])} for side in sides]
        listed = []
        if not hasattr(only, "__iter__") or getattr(only, "ndim", 1) == 0:
            raise InputError(f"only is {type(only).__name__}, not a list of pairs of labels")
        for pair in only:
            pair = tuple(map(label, pair)) if isinstance(pair, (tuple, list)) else pair
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise InputError(f"only has {pair!r}, not a pair of labels")
            for name, rank in zip(pair, known):
                if name not in rank:
                    raise InputError(f"only has {name!r}, which is no label of the places")
            listed.append([rank[name] for name, rank in zip(pair, known)])
        if len(set(map(tuple, listed))) < len(listed):
            raise InputError("only has a pair twice")
        if not listed:
            raise InputError("only has no pairs")
    args = {"sides": sides, "list": listed, "with": "" if category is None else str(category), "p": float(p)}
    value, _ = _lib.call("pairs", args)
    return Pairs(value["cost"], value["labels"], value["pairs"])


def _side(x, name):
    """Return a table of places as one end of pairs."""
    spec = cost_of(x, name)
    if spec is None and hasattr(x, "columns") and hasattr(x, "iloc"):
        spec = _spec("points", np.column_stack([_numbers(x.iloc[:, i], name) for i in range(x.shape[1])]), x, name)
    if spec is None:
        raise InputError(f"{name} is {type(x).__name__}, not a table of places")
    columns = ["lat", "lon"] if spec["kind"].startswith("greatcircle") else None
    return {"name": name, "columns": columns, "labels": [label(v) for v in x.index], "x": spec["x"]}
