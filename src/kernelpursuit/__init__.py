"""kernelpursuit: greedy sparse kernel learning.

Small nonlinear models, a weighted sum of a few dozen functions picked one at a time, in the scikit-learn world.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelpursuit.estimators import KernelPursuitClassifier, KernelPursuitRegressor
    from kernelpursuit.pursuit import PursuitPath, pursuit_path
    from kernelpursuit.saved import load
    from kernelpursuit.search import LengthScaleSearch

    __version__: str
else:
    # Names are imported when they are asked for: `kernelpursuit --help` needs none of them, and scikit-learn takes a
    # second. Type checkers see the imports above.
    _HOMES = {
        "KernelPursuitClassifier": "estimators",
        "KernelPursuitRegressor": "estimators",
        "LengthScaleSearch": "search",
        "PursuitPath": "pursuit",
        "load": "saved",
        "pursuit_path": "pursuit",
    }

    def __getattr__(name):
        """Import a public name, or a module of the package."""
        from importlib import import_module

        if name == "__version__":
            from importlib.metadata import version

            found = version("kernelpursuit")
        elif name in _HOMES:
            found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        else:
            module = f"{__name__}.{name}"
            try:
                found = None if name.startswith("_") else import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module:
                    raise
                found = None
            if found is None:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__():
        """All names, imported or not."""
        return sorted({*globals(), *__all__})


__all__ = [
    "KernelPursuitClassifier",
    "KernelPursuitRegressor",
    "LengthScaleSearch",
    "PursuitPath",
    "__version__",
    "load",
    "pursuit_path",
]
