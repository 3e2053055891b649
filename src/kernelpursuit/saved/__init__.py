"""Models in files: `model.save("m.kp")` and `kernelpursuit.load("m.kp")`.

container   a safetensors file: arrays, our text in its metadata, and a digest of both
estimators  an estimator as text and arrays, and back

docs/saved-models.md describes the file, field by field.
"""

from kernelpursuit.saved.estimators import FORMAT, describe, load, save

__all__ = ["FORMAT", "describe", "load", "save"]
