"""The exceptions of wpm."""


class Error(Exception):
    """What wpm raises. The text is that of the Go library: what was wrong, where, and with which value."""


class InputError(Error, ValueError):
    """Arguments that do not say what is meant: a shape, a type, a NaN, a negative mass, a name that is none."""


class InfeasibleError(InputError):
    """A box that holds no distribution."""


class NotConvergedError(Error, RuntimeError):
    """A solver that stopped before its goal."""


class RefusedError(Error, ValueError):
    """A policy that does not hold."""


class InternalError(Error, RuntimeError):
    """A panic in the library: a bug, please report it. The process goes on."""


class ForkError(Error, RuntimeError):
    """A call in a child made by ``fork`` after the parent has called wpm. Use the start method "spawn"."""


class MassError(InputError, AssertionError):
    """Masses or shapes for which POT raises an AssertionError."""
