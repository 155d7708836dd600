"""wpm: optimal transport, and differentially private sampling by Wasserstein projection.

Transport and projections, exact and with proofs: emd, emd2, solve and solve_sample (as POT's), transport, flow, project, Projector; entropic.
Mechanisms: phi, base_measure, pairs, design, Policy. Maps of a population: plan, Policy.count, Counts, estimate, estimate_epochs, simulate. Pictures: plot_map, plot_channel.

Nothing here releases private data. That takes a ledger, which the program wpm-device keeps.
"""

try:
    import numpy as _numpy
except ImportError as e:
    raise ImportError("wpm needs numpy, 1.24 or newer: pip install numpy (on Debian, apt-get install python3-numpy)"
                      ) from e

from ._errors import (Error, ForkError, InfeasibleError, InputError, InternalError, MassError, NotConvergedError,
                      RefusedError)
from ._mechanism import Design, Policy, base_measure, design, entropic, estimate, estimate_epochs, phi, plan
from ._places import Pairs, pairs
from ._plot import plot_channel, plot_map
from ._problems import OTResult, flow, solve, solve_sample
from ._reports import Counts, simulate
from ._result import Plan, Result
from ._transport import Projector, emd, emd2, project, transport

__version__ = "0.1.0"
__all__ = [
    "Counts", "Design", "Error", "ForkError", "InfeasibleError", "InputError", "InternalError",
    "MassError", "NotConvergedError", "OTResult", "Pairs", "Plan",
    "Policy", "Projector", "RefusedError", "Result", "base_measure",
    "design", "emd", "emd2", "entropic", "estimate", "estimate_epochs", "flow", "pairs", "phi",
    "plan", "plot_channel", "plot_map", "project", "simulate", "solve", "solve_sample", "transport",
]
