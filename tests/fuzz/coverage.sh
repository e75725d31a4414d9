#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints which lines of the decoders the kept corpora reach, file by file, and fails where all of them together
# reach less than MIN_COVERAGE percent (default 90).
# usage: tests/fuzz/coverage.sh [SOURCE...]     (files or folders; default: MADs and fabric files)
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/coverage
profiles=$build/profiles
minimum=${MIN_COVERAGE:-90}
die() { printf 'coverage: %s\n' "$1" >&2; exit 1; }

tool() {  # tool NAME: Debian's versioned one, else the plain one
  command -v "$1-19" || command -v "$1" || die "$1 is missing (Debian package llvm-19)"
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)

sources=("$@")
[ ${#sources[@]} -gt 0 ] || sources=(mad/wire mad/base/net mad/base/parse.cpp)

# The targets that include a header of these rooms: mad/ROOM, or the first folder.
rooms=$(printf '%s\n' "${sources[@]}" | sed -E 's,^(mad/[^/]*|[^/]*).*,\1,' | sort -u | paste -sd '|')
targets=()
for source in tests/fuzz/fuzz_*.cpp; do
  ! grep -qE "^#include \"($rooms)/" "$source" || targets+=("$(basename "$source" .cpp)")
done
[ ${#targets[@]} -gt 0 ] || die "no fuzz target includes a header of ${sources[*]}"

[ -f $build/build.ninja ] || cmake --preset coverage >/dev/null
mkdir -p $build
cmake --build --preset coverage --target "${targets[@]}" >"$build/fuzz-build.log" 2>&1 ||
  { tail -40 "$build/fuzz-build.log" >&2; die "the fuzz targets do not build"; }

rm -rf "$profiles"
mkdir -p "$profiles"
objects=()
for target in "${targets[@]}"; do
  corpus=tests/fuzz/corpus/${target#fuzz_}
  LLVM_PROFILE_FILE=$profiles/$target.profraw "$build/bin/$target" "$corpus" >/dev/null 2>"$profiles/$target.log" ||
    die "$target fails on $corpus: $(tail -1 "$profiles/$target.log")"
  objects+=(-object "$build/bin/$target")
done
"$profdata" merge -sparse "$profiles"/*.profraw -o "$profiles/all.profdata"
# An inline function that one program does not use and another does makes llvm-cov warn of mismatched data.
report() {
  "$cov" "$1" "${@:2}" "${objects[@]:1}" -instr-profile="$profiles/all.profdata" "${sources[@]}" \
    2> >(grep -v 'functions have mismatched data' >&2)
}
report report --show-branch-summary=false --show-region-summary=false

percent=$(report export -summary-only | sed -n 's/.*"totals":.*"lines":{"count":[0-9]*,"covered":[0-9]*,"percent":\([0-9]*\).*/\1/p')
[ -n "$percent" ] || die "llvm-cov gives no total"
printf 'lines of %s reached by the corpora: %s %% (at least %s)\n' "${sources[*]}" "$percent" "$minimum"
[ "$percent" -ge "$minimum" ] || die "$percent % is less than $minimum %"
