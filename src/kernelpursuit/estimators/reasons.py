"""Methods that are missing, with the reason in the last line of the error."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any


class WithReason:
    """A conditional method of a class, whose error says why it is missing.

    The error of `sklearn.utils.metaestimators.available_if` says that there is no such attribute, and has the reason
    as its cause, which users see far above the last line. It stays an AttributeError, so that `hasattr` is False.

    Parameters
    ----------
    owner : class
        The class that has the method.
    name : str
        What it is called.
    """

    def __init__(self, owner: type, name: str):
        self._method = vars(owner)[name]
        update_wrapper(self, getattr(owner, name))  # type: ignore[arg-type]

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        """The method, or an AttributeError with the reason."""
        try:
            return self._method.__get__(estimator, owner)
        except AttributeError as error:
            if error.__cause__ is None:
                raise
            raise AttributeError(str(error.__cause__)) from None
