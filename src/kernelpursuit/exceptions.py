"""Warnings of their own class, so that they can be told from others, silenced, or made errors."""


class ConstantModelWarning(UserWarning):
    """The fitted model is a constant, or nearly one: nothing that was learned predicts better.

    Examples
    --------
    >>> import numpy as np
    >>> import warnings
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.exceptions import ConstantModelWarning
    >>> noise = np.random.default_rng(0).normal(size=(40, 2))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ConstantModelWarning)
    ...     model = KernelPursuitRegressor(random_state=0).fit(noise[:, :1], noise[:, 1])
    >>> model.n_atoms_
    0
    """


class GrossErrorWarning(UserWarning):
    """A value is so far from all others of its column that it counts as a gross error, such as 1e6 or -999 among ones.

    Examples
    --------
    >>> import warnings
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.exceptions import GrossErrorWarning
    >>> X, y = make_chirp(100)
    >>> y[7] = -99999.0
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", GrossErrorWarning)
    ...     KernelPursuitRegressor(random_state=0).fit(X, y)
    Traceback (most recent call last):
        ...
    kernelpursuit.exceptions.GrossErrorWarning: y holds a value far from all others: -99999 in row 7; ...
    """


class SampledWarning(UserWarning):
    """A fit uses only a sample of the rows of a source, since its loop needs rows in memory.

    Examples
    --------
    >>> import warnings
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_friedman
    >>> from kernelpursuit.exceptions import SampledWarning
    >>> from kernelpursuit.rows import open_rows
    >>> X, y = make_friedman(400)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", SampledWarning)  # rather no model than one of a sample
    ...     model = KernelPursuitRegressor(gamma=0.1, exchange=True, max_atoms=5).fit(open_rows(X, y=y))
    >>> model.n_atoms_
    5
    """


class InterruptedFitWarning(UserWarning):
    """A fit was ended by Ctrl-C, and the model is the best found so far.

    Examples
    --------
    >>> import warnings
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.exceptions import InterruptedFitWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", InterruptedFitWarning)  # let Ctrl-C end more than the fit
    ...     model = KernelPursuitRegressor(gamma=3.0, stop="mdl").fit(*make_chirp(200))
    >>> model.n_atoms_
    28
    """


class NotSavedWarning(UserWarning):
    """A saved model needs functions or classes of the user, which no file contains; give them to `load` by name.

    Examples
    --------
    >>> import numpy as np
    >>> import warnings
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_peaks
    >>> from kernelpursuit.exceptions import NotSavedWarning
    >>> def ripple(X, C):
    ...     return np.cos(X @ C.T)
    >>> model = KernelPursuitRegressor(kernel=ripple, max_atoms=5).fit(*make_peaks(50))
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always", NotSavedWarning)
    ...     model.save("ripple.kp")
    >>> print(said[0].message)
    ripple is your own, and is not in the file; load it with kernelpursuit.load('ripple.kp', objects={'ripple': ...}).
    """


__all__ = [
    "ConstantModelWarning",
    "GrossErrorWarning",
    "InterruptedFitWarning",
    "NotSavedWarning",
    "SampledWarning",
]
