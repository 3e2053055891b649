"""All benchmarks in one run: `make bench`. Ratios are of times measured here and now, best of several."""

from __future__ import annotations

import fit
import native
import predict
import systems

native.main()
print()
fit.main()
predict.main()
systems.main()
