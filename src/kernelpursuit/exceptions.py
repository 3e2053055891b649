"""Warnings of their own class, so that they can be told from others, silenced, or made errors."""


class ConstantModelWarning(UserWarning):
    """A fit has come to a constant, or nearly so: what was learned is no better on validation rows."""


class GrossErrorWarning(UserWarning):
    """A value so far from all others of its column that it is taken for an error, such as 1e6 or -999 among ones."""


class SampledWarning(UserWarning):
    """A fit is of a sample of the rows of a source, since its loss or loop needs rows in memory."""


class InterruptedFitWarning(UserWarning):
    """A fit was ended by Ctrl-C, and the model is the best found so far."""


class NotSavedWarning(UserWarning):
    """A saved model needs functions or classes of the user's, which are in no file; `load` takes them by name."""
