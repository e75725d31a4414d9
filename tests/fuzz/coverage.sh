#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints which lines of the decoders the kept corpora reach, file by file, and fails where all of them together
# reach less than MIN_COVERAGE percent (default 90).
# usage: tests/fuzz/coverage.sh [SOURCE...]     (files or folders; default: what decodes foreign bytes)
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
if [ ${#sources[@]} -eq 0 ]; then sources=(mad/wire); fi
targets=()
for source in tests/fuzz/fuzz_*.cpp; do targets+=("$(basename "$source" .cpp)"); done

[ -f $build/build.ninja ] || cmake --preset coverage >/dev/null
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
report() { "$cov" "$1" "${@:2}" "${objects[@]:1}" -instr-profile="$profiles/all.profdata" "${sources[@]}"; }
report report --show-branch-summary=false --show-region-summary=false

percent=$(report export -summary-only | sed -n 's/.*"totals":.*"lines":{"count":[0-9]*,"covered":[0-9]*,"percent":\([0-9]*\).*/\1/p')
[ -n "$percent" ] || die "llvm-cov gives no total"
printf 'lines of %s reached by the corpora: %s %% (at least %s)\n' "${sources[*]}" "$percent" "$minimum"
[ "$percent" -ge "$minimum" ] || die "$percent % is less than $minimum %"
