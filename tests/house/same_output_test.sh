#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# same_output_test.sh BUILD: a build puts out the same as itself, and same_output.sh sees what is different.
# shellcheck disable=SC2016  # $ is the last line in a script for sed
set -euo pipefail
build=$1
script=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)/same_output.sh
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

expect() {  # expect STATUS TEXT COMMAND…
  local wanted=$1 text=$2 status=0 output; shift 2
  output=$("$@" 2>&1) || status=$?
  if [ "$status" != "$wanted" ] || [[ $output != *"$text"* ]]; then
    printf '%s\nexit status %s and "%s" were expected, found %s:\n%s\n' "$*" "$wanted" "$text" "$status" "$output"
    exit 1
  fi
}

altered() {  # altered FILE SED-SCRIPT: a copy of the results in which one file of one fabric is altered
  rm -rf -- "$folder/altered"
  cp -r -- "$folder/results/new" "$folder/altered"
  sed -i -E "$2" "$folder/altered/tree2-lmc/$1"
}

expect 0 '2 fabrics: 2 the same' "$script" --results "$folder/results" --only '^(tree2-lmc|irregular)$' "$build" "$build"
old=$folder/results/old

# Two Sets change places.
altered sets '20{h;d};21{G}'
expect 1 'the same Sets in another order' "$script" --compare "$old" "$folder/altered"
altered sets '$s/^[0-9]+/1&/'
expect 1 'the order of Sets is the same' "$script" --compare "$old" "$folder/altered"
altered sets '$s/[0-9a-f]{16}$/0123456789abcdef/'
expect 1 'other Sets' "$script" --compare "$old" "$folder/altered"
altered smps '/^1-cold .* Get NodeInfo /s/[0-9]+$/9999/'
expect 1 'Get NodeInfo: ' "$script" --compare "$old" "$folder/altered"
altered 4-faults/opensm.fdbs '5s/$/ /'
expect 1 '4-faults/opensm.fdbs' "$script" --compare "$old" "$folder/altered"
expect 1 '1 different' "$script" --results "$folder/results" --only '^tree2-lmc$' --seed 1 "$build" "$build"
