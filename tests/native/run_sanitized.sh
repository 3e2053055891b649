#!/usr/bin/env bash
# Builds the native core with AddressSanitizer and UBSan and runs tests/native against that build.
# Further arguments go to pytest. PYTHON names the interpreter (default: the project's .venv).
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
cxx=${CXX:-g++}
site=$PWD/build/sanitize/site

rm -rf "$site"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --target "$site" \
    -Cbuild-dir=build/sanitize/cmake -Ccmake.build-type=RelWithDebInfo \
    -Ccmake.define.KERNELPURSUIT_SANITIZE=address,undefined .

# An editable install of the same project would come first on the path of imports: take its finder away.
cat > "$site/sitecustomize.py" <<'PYTHON'
import sys

sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
PYTHON

# The sanitizers have to be there before the interpreter. Leaks are the interpreter's own; not looked for here.
export LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export PYTHONPATH=$site KERNELPURSUIT_BACKEND=native
"$python" -c "
import kernelpursuit._native._core as core
assert core.__file__.startswith('$site'), core.__file__
assert b'__asan_init' in open(core.__file__, 'rb').read(), 'the core was built without sanitizers'
"
exec "$python" -m pytest -p no:cacheprovider tests/native "$@"
