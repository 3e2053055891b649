"""A text and named arrays as one safetensors file, with a digest of both, and back."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

#: Entry of the file's metadata that holds our text. It is the only one: several come in no certain order.
TEXT = "kernelpursuit"
# The digest is the first field of the text; what it is the digest of is the text without it.
DIGEST = re.compile(r'\{"sha256": "([0-9a-f]{64})", ')
# Array types by the names that safetensors has for them.
DTYPES = {
    **{f"I{8 * n}": np.dtype(f"<i{n}") for n in (1, 2, 4, 8)},
    **{f"U{8 * n}": np.dtype(f"<u{n}") for n in (1, 2, 4, 8)},
    **{f"F{8 * n}": np.dtype(f"<f{n}") for n in (2, 4, 8)},
    "BOOL": np.dtype(bool),
}
# A header is 8 bytes with its length, and then so many bytes of JSON.
LENGTH_BYTES = 8


def pack(text: str, arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a file: a JSON object as text, and arrays."""
    return save(dict(arrays), {TEXT: f'{{"sha256": "{digest(text, arrays)}", {text[1:]}'})


def unpack(content: bytes) -> tuple[str, str, dict[str, np.ndarray]]:
    """Text, digest and arrays of a file; a ValueError, whose words end a sentence, where it is none of ours."""
    if not content:
        raise ValueError("is empty")
    try:
        tensors = deserialize(content)
        length = int.from_bytes(content[:LENGTH_BYTES], "little")
        header = json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ValueError(f"is no saved model, or only a part of one ({_first_words(error)})") from error
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get(TEXT), str):
        raise ValueError("is a safetensors file, but no model of kernelpursuit")
    start = DIGEST.match(metadata[TEXT])
    if start is None:
        raise ValueError("is damaged: it has no digest")
    arrays = {name: _array(name, parts, len(content)) for name, parts in tensors}
    return "{" + metadata[TEXT][start.end() :], start.group(1), arrays


def digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the text, and of name, type, shape and numbers of every array, in the order of their names."""
    found = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        found.update(json.dumps([name, array.dtype.name, list(array.shape)]).encode())
        found.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()


def _array(name: str, parts: Mapping[str, Any], n_bytes: int) -> np.ndarray:
    """An array in memory of its own. Its shape is no larger than the file, also where a length is 0."""
    dtype, shape = DTYPES.get(parts["dtype"]), tuple(parts["shape"])
    if dtype is None:
        raise ValueError(f"is damaged: {name!r} holds numbers of type {parts['dtype']}")
    size = 1
    for length in shape:
        size *= max(length, 1)
    if size * dtype.itemsize > n_bytes or len(shape) > 2**4:
        raise ValueError(f"is damaged: {name!r} is larger than the file")
    array = np.frombuffer(parts["data"], dtype=dtype).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=True)


def _first_words(error: Exception) -> str:
    return " ".join(str(error).split())[:80] or type(error).__name__
