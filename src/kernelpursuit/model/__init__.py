"""A fitted model: all that predictions need, as frozen objects that know neither scikit-learn nor the training rows.

fitted         atoms, coefficients of every size, and what is predicted by them
one_vs_rest    several of them, one for each class
link           from scores to targets and probabilities
outside        predictions outside the training rows
calibration, noise, landmarks   how wrong predictions are, row by row
sizes, dependence   many sizes evaluated together; predictions averaged where some features are given values
probabilities  classes and probabilities that agree
arrays         a model as plain arrays and values, and back
trees, known, checks   any object of the library as such; which classes there are; whether what was read is a model
"""

from kernelpursuit.model.arrays import from_arrays, to_arrays
from kernelpursuit.model.fitted import FittedModel
from kernelpursuit.model.one_vs_rest import OneVsRestModel

__all__ = ["FittedModel", "OneVsRestModel", "from_arrays", "to_arrays"]
