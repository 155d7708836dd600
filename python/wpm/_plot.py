"""Pictures, where matplotlib is present."""

import numpy as np

from ._errors import InputError
from ._input import array, in_order, index_of
from ._places import coordinates, is_geo
from ._result import Result

LABEL = "share of the population"


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def plot_map(shares, places, ax=None, **settings):
    """Draw a map: the shares of a population.

    Parameters
    ----------
    shares : (k,) array_like, or Result
        Such as estimate(...).map, or what estimate returns.
    places : tuple of int, dict, table of places, or (k, 2) array_like
        (rows, cols) of a grid, the cost as an object, a table as design takes it, or the coordinates of the places.
    ax : matplotlib.axes.Axes, optional
    **settings
        For imshow, of a grid, for plot of geopandas, of shapes that are no points, or for scatter.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if isinstance(shares, Result):
        if shares.get("map") is None:
            raise InputError(f"there is no map: {shares.get('reason', 'shares is another result')}")
        shares = shares["map"]
    labels = index_of(shares)
    shares = array(shares, "shares")
    if is_geo(places) or labels is not None and hasattr(places, "iloc"):
        places = in_order(places, None if labels is None else labels[0], len(shares))
    if is_geo(places) and not (places.geometry.geom_type == "Point").all():
        ax = _axes(ax)
        drawn = places.geometry.to_frame("geometry").assign(share=shares)
        return drawn.plot(column="share", ax=ax, legend=True, legend_kwds={"label": LABEL}, **{"vmin": 0, **settings})
    table = coordinates(places, "places")
    if table is not None:
        places = table
    if isinstance(places, dict):
        places = _places(places)
    ax = _axes(ax)
    if isinstance(places, tuple) and len(places) == 2 and all(isinstance(n, (int, np.integer)) for n in places):
        if places[0] * places[1] != len(shares):
            raise InputError(f"shares has {len(shares)} entries, the grid {places[0]} x {places[1]} cells")
        drawn = ax.imshow(shares.reshape(places), **{"origin": "lower", "vmin": 0, **settings})
    else:
        at = array(places, "places", ndim=2, size=(len(shares), 2))
        drawn = ax.scatter(at[:, 0], at[:, 1], c=shares, **{"vmin": 0, **settings})
        ax.set_aspect("equal")
    ax.figure.colorbar(drawn, ax=ax, label=LABEL)
    return ax


def _places(spec):
    kind = spec.get("kind")
    if kind == "grid":
        return int(spec["rows"]), int(spec["cols"])
    if kind == "ring":
        turn = 2 * np.pi * np.arange(spec["n"]) / spec["n"]
        return np.column_stack([np.cos(turn), np.sin(turn)])
    if kind in ("greatcircle-2", "greatcircle"):
        return np.asarray(spec["x"])[:, ::-1]  # longitude to the right
    if kind == "points" and np.ndim(spec["x"]) == 2 and np.shape(spec["x"])[1] == 2:
        return np.asarray(spec["x"])
    raise InputError(f"places of a cost of kind {kind!r} have no picture")


def plot_channel(rows, ax=None, **settings):
    """Draw a channel: how likely each output is from each input.

    Parameters
    ----------
    rows : (k, kv) array_like, or Design
        Row i is the law of a release from input i.
    ax : matplotlib.axes.Axes, optional
    **settings
        For imshow.

    Returns
    -------
    matplotlib.axes.Axes
    """
    rows = array(getattr(rows, "rows", rows), "rows", ndim=2)
    ax = _axes(ax)
    drawn = ax.imshow(rows, **{"aspect": "auto", "vmin": 0, **settings})
    ax.set_xlabel("output")
    ax.set_ylabel("input")
    ax.figure.colorbar(drawn, ax=ax, label="probability")
    return ax
