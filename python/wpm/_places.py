"""Tables of places: frames of latitudes and longitudes, and those of geopandas."""

import numpy as np

from ._errors import InputError

_LATITUDE = ("lat", "latitude")
_LONGITUDE = ("lon", "lng", "long", "longitude")


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
