"""What functions return."""


class Result(dict):
    """A dictionary whose entries are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __dir__(self):
        return sorted({*super().__dir__(), *map(str, self)})

    def __repr__(self):
        parts = []
        for name, value in self.items():
            text = repr(value)
            if "\n" in text or len(text) > 60:
                shape = getattr(value, "shape", None)
                text = f"<{type(value).__name__}{'' if shape is None else f' of shape {shape}'}>"
            parts.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(parts)})"


class Plan(Result):
    """A result with a plan: who sends how much to whom, as ``plan`` or as ``entries`` (i, j, mass)."""

    @property
    def plan(self):
        """The plan as a scipy.sparse.csr_matrix of shape (k, kv)."""
        from scipy import sparse

        i, j, mass = self["entries"]
        return sparse.csr_matrix((mass, (i, j)), shape=self["shape"])

    def dense(self):
        """Return the plan as an array of shape (k, kv)."""
        import numpy as np

        out = np.zeros(self["shape"])
        i, j, mass = self["entries"]
        out[i, j] = mass
        return out
