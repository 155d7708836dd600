# The types of the package. mypy's stubtest holds it to the code: python/tests/test_types.py.

import os
from fractions import Fraction
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str
__all__: List[str]

_Float = NDArray[np.float64]
_Int = NDArray[np.int64]
# What has labels, and sparse matrices, have no types here: pandas, scipy and geopandas are not needed to check.
_Array = Union[ArrayLike, Any]
_Cost = Union[ArrayLike, Mapping[str, Any], Any]
_Epsilon = Union[str, int, float, Fraction, Any]
_Progress = Union[bool, Callable[[int, int], object], None]
_Path = Union[str, "os.PathLike[str]"]

class Error(Exception): ...
class InputError(Error, ValueError): ...
class InfeasibleError(InputError): ...
class NotConvergedError(Error, RuntimeError): ...
class RefusedError(Error, ValueError): ...
class InternalError(Error, RuntimeError): ...
class ForkError(Error, RuntimeError): ...
class MassError(InputError, AssertionError): ...

class Result(Dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __delattr__(self, name: str) -> None: ...
    def __dir__(self) -> List[str]: ...

class Plan(Result):
    value: float
    lower: float
    upper: float
    pivots: int
    shape: Tuple[int, int]
    entries: Tuple[_Int, _Int, _Float]
    potentials: Tuple[_Float, _Float]
    @property
    def plan(self) -> Any: ...
    def dense(self) -> _Float: ...

class _Projection(Plan):
    q: _Float

class _Many(Result):
    q: _Float
    value: _Float
    lower: _Float
    upper: _Float
    status: _Int
    errors: Dict[int, str]

class _Entropic(Result):
    q: _Float
    transport: float
    objective: float
    lower: float
    upper: float
    residual: float
    bound: float
    iterations: int
    status: str
    potentials: Tuple[_Float, _Float]
    log_v: _Float

class _Phi(Result):
    phi: _Float
    tau: _Float
    f: float
    argmax: int
    subgradient: _Float

class _BaseMeasure(Result):
    m: _Float
    f: float
    lower: float
    upper: float
    status: str

class _Verdict(Result):
    verified: bool
    lower: Optional[float]
    worst_case: Optional[float]
    worst_input: Optional[int]

class _Estimate(Result):
    map: Any
    raw: Any
    frame: Any
    estimator: str
    reason: str
    signal: str
    gap: float
    models: List[Result]
    patch: List[int]
    regions: List[Result]
    ends: List[Result]

class _Epochs(Result):
    epochs: List[Result]
    maps: Any
    changes: Dict[str, Result]
    frame: Any

class _Flow(Result):
    status: str
    objective: int
    flow: _Int
    potentials: _Int
    cut: _Int
    cycle: _Int
    pivots: int

class Projector:
    shape: Tuple[int, int]
    def __init__(self, C: _Cost, lo: _Array, hi: _Array) -> None: ...
    def project(self, mu: _Array) -> _Projection: ...
    def many(self, users: _Array) -> _Many: ...
    def __getstate__(self) -> Dict[str, Any]: ...
    def __setstate__(self, state: Dict[str, Any]) -> None: ...

class OTResult:
    value: float
    value_linear: float
    value_quad: None
    lazy_plan: None
    status: str
    log: Dict[str, Any]
    potentials: Tuple[_Float, _Float]
    potential_a: _Float
    potential_b: _Float
    def __init__(self, plan: Any, log: Dict[str, Any]) -> None: ...
    @property
    def plan(self) -> _Float: ...
    @property
    def sparse_plan(self) -> Any: ...
    @property
    def marginals(self) -> Tuple[_Float, _Float]: ...
    @property
    def marginal_a(self) -> _Float: ...
    @property
    def marginal_b(self) -> _Float: ...
    @property
    def a_to_b(self) -> Any: ...
    @property
    def b_to_a(self) -> Any: ...
    @property
    def citation(self) -> str: ...

class Design:
    codes: int
    discs: int
    m: Optional[_Float]
    lo: _Float
    hi: _Float
    worst_case: Optional[float]
    worst_input: Optional[int]
    lower: Optional[float]
    risk: Optional[float]
    person: Optional[Any]
    gap: float
    epsilon: str
    bits: int
    shape: Tuple[int, int]
    disc: Optional[float]
    displacement: float
    certificate: str
    def __init__(self, value: Any, out: Any, c: Any, how: Any) -> None: ...
    def __reduce__(self) -> Any: ...
    @property
    def rows(self) -> Any: ...
    def publish(
        self,
        mode: str = ...,
        *,
        labels: Optional[Iterable[Any]] = ...,
        output_labels: Optional[Iterable[Any]] = ...,
        geometry: str = ...,
        base: str = ...,
        note: str = ...,
        metadata: Optional[Mapping[str, str]] = ...,
        epochs: Optional[str] = ...,
        first: Optional[str] = ...,
        last: Optional[str] = ...,
        period: Optional[int] = ...,
    ) -> Policy: ...

class Pairs:
    labels: List[str]
    form: str
    def __init__(self, cost: Any, labels: List[str], form: str) -> None: ...
    def __len__(self) -> int: ...

class Policy:
    text: str
    id: str
    epsilon: str
    bits: int
    mode: str
    version: int
    shape: Tuple[int, int]
    labels: Optional[List[str]]
    output_labels: Optional[List[str]]
    geometry: str
    base: str
    note: str
    metadata: Dict[str, str]
    cost: Any
    codes: int
    discs: int
    schedule: Optional[Dict[str, Any]]
    lo: _Float
    hi: _Float
    def __init__(self, text: Union[str, bytes]) -> None: ...
    @classmethod
    def read(cls, path: _Path) -> Policy: ...
    def write(self, path: _Path) -> None: ...
    def count(self, *reports: Any, epoch: str = ..., strict: bool = ...) -> Counts: ...
    def report(self, report: Union[str, bytes]) -> Any: ...
    def verify(self) -> _Verdict: ...

class Counts:
    policy: str
    epoch: str
    reports: Any
    total: int
    lines: int
    refused: Dict[str, int]
    shards: List[Dict[str, Any]]
    notices: List[str]
    text: str
    def __init__(self, text: Union[str, bytes]) -> None: ...
    @classmethod
    def read(cls, path: _Path, policy: Union[Policy, str, bytes, None] = ..., *, epoch: Optional[str] = ...) -> Counts: ...
    def write(self, path: _Path) -> None: ...
    def __add__(self, other: Counts) -> Counts: ...
    def __len__(self) -> int: ...

def emd(
    a: Optional[_Array],
    b: Optional[_Array],
    M: _Array,
    numItermax: int = ...,
    log: bool = ...,
    center_dual: bool = ...,
    numThreads: Union[int, str] = ...,
    check_marginals: bool = ...,
    potentials_init: Optional[Tuple[ArrayLike, ArrayLike]] = ...,
) -> Any: ...
def emd2(
    a: Optional[_Array],
    b: Optional[_Array],
    M: _Array,
    processes: int = ...,
    numItermax: int = ...,
    log: bool = ...,
    return_matrix: bool = ...,
    center_dual: bool = ...,
    numThreads: Union[int, str] = ...,
    check_marginals: bool = ...,
    potentials_init: Optional[Tuple[ArrayLike, ArrayLike]] = ...,
) -> Any: ...
def transport(a: Optional[_Array], b: Optional[_Array], M: _Cost) -> Plan: ...
def project(C: _Cost, mu: _Array, lo: _Array, hi: _Array) -> _Projection: ...
def solve(
    M: _Array,
    a: Optional[_Array] = ...,
    b: Optional[_Array] = ...,
    reg: Optional[float] = ...,
    c: Any = ...,
    reg_type: Any = ...,
    unbalanced: Any = ...,
    unbalanced_type: Any = ...,
    method: Any = ...,
    n_threads: Union[int, str] = ...,
    max_iter: Optional[int] = ...,
    plan_init: Any = ...,
    potentials_init: Optional[Tuple[ArrayLike, ArrayLike]] = ...,
    tol: Any = ...,
    verbose: bool = ...,
    grad: str = ...,
) -> OTResult: ...
def solve_sample(
    X_a: ArrayLike,
    X_b: ArrayLike,
    a: Optional[_Array] = ...,
    b: Optional[_Array] = ...,
    metric: str = ...,
    reg: Optional[float] = ...,
    c: Any = ...,
    reg_type: Any = ...,
    unbalanced: Any = ...,
    unbalanced_type: Any = ...,
    lazy: bool = ...,
    batch_size: Any = ...,
    method: Any = ...,
    n_threads: Union[int, str] = ...,
    max_iter: Optional[int] = ...,
    plan_init: Any = ...,
    rank: int = ...,
    scaling: float = ...,
    potentials_init: Optional[Tuple[ArrayLike, ArrayLike]] = ...,
    X_init: Any = ...,
    tol: Any = ...,
    verbose: bool = ...,
    grad: str = ...,
    random_state: Any = ...,
) -> OTResult: ...
def flow(
    tail: ArrayLike,
    head: ArrayLike,
    cost: ArrayLike,
    supply: ArrayLike,
    *,
    lower: ArrayLike = ...,
    capacity: Optional[ArrayLike] = ...,
) -> _Flow: ...
def entropic(
    C: _Cost,
    mu: _Array,
    lo: Optional[_Array] = ...,
    hi: Optional[_Array] = ...,
    reg: Optional[float] = ...,
    *,
    m: Optional[_Array] = ...,
    eps: Optional[_Epsilon] = ...,
    method: str = ...,
    tol: float = ...,
    iterations: Optional[int] = ...,
) -> _Entropic: ...
def phi(
    C: _Cost,
    lo: Optional[_Array] = ...,
    hi: Optional[_Array] = ...,
    *,
    m: Optional[_Array] = ...,
    eps: Optional[_Epsilon] = ...,
) -> _Phi: ...
def base_measure(
    C: _Cost,
    eps: _Epsilon,
    *,
    method: str = ...,
    objective: str = ...,
    t: Optional[float] = ...,
    input_weights: Optional[_Array] = ...,
    exclude: Optional[ArrayLike] = ...,
    gap: Optional[float] = ...,
    steps: Optional[int] = ...,
    rule: Optional[str] = ...,
) -> _BaseMeasure: ...
def design(
    C: _Cost,
    eps: _Epsilon,
    objective: Optional[str] = ...,
    *,
    weights: Optional[_Array] = ...,
    mix: Optional[float] = ...,
    gap: Optional[float] = ...,
    devices: Optional[int] = ...,
    bits: Optional[int] = ...,
    seed: Optional[int] = ...,
    outputs_at_most: Optional[int] = ...,
) -> Design: ...
def pairs(
    places: Any,
    to: Any = ...,
    *,
    only: Optional[Iterable[Sequence[Any]]] = ...,
    category: Optional[str] = ...,
    p: float = ...,
) -> Pairs: ...
def estimate(
    counts: Union[Counts, _Array],
    policy: Union[Policy, str, bytes, None] = ...,
    *,
    C: Optional[_Cost] = ...,
    m: Optional[_Array] = ...,
    eps: Optional[_Epsilon] = ...,
    bits: Optional[int] = ...,
    prior: Optional[_Array] = ...,
    estimator: Optional[str] = ...,
    places: Any = ...,
    regions: Optional[Mapping[str, Any]] = ...,
    level: Optional[float] = ...,
    progress: _Progress = ...,
) -> _Estimate: ...
def estimate_epochs(
    epochs: Union[Sequence[Counts], Mapping[str, Any]],
    policy: Union[Policy, str, bytes],
    *,
    prior: Optional[_Array] = ...,
    regions: Optional[Mapping[str, _Array]] = ...,
    level: Optional[float] = ...,
    places: Any = ...,
    progress: _Progress = ...,
) -> _Epochs: ...
def plan(
    C: _Cost,
    eps: Union[_Epsilon, Sequence[_Epsilon]],
    devices: Union[int, Sequence[int]],
    *,
    p: float = ...,
    prior: Optional[_Array] = ...,
    objective: str = ...,
) -> List[Result]: ...
def simulate(
    policy: Union[Policy, str, bytes],
    users: Optional[_Array] = ...,
    *,
    devices: Optional[int] = ...,
    atoms: Optional[int] = ...,
    seed: int = ...,
    epoch: Optional[str] = ...,
    path: Optional[_Path] = ...,
    progress: _Progress = ...,
) -> Counts: ...
def plot_map(shares: Any, places: Any, ax: Any = ..., **settings: Any) -> Any: ...
def plot_channel(rows: Any, ax: Any = ..., **settings: Any) -> Any: ...
