"""Models in other languages: `model.export("m.onnx")`, and C99, JavaScript, Python and SQL by the file's ending.

description, describe   what a prediction computes, and from a model to that: all targets are written from it
expressions, formulas   kernels and links as formulas, each once
evaluate                a description evaluated by NumPy
onnx_model, onnx_graph, c99, javascript, python, sql   the targets
quantised               centres as 16-bit integers
rounding                what arithmetic in float32 costs
pipeline                a converter for skl2onnx
writing                 which target, what it may be told, and what is said of the file
"""

from kernelpursuit.export.pipeline import register_skl2onnx
from kernelpursuit.export.writing import Exported, export

__all__ = ["Exported", "export", "register_skl2onnx"]
