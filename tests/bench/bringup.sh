#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cold bring-up beside `opensm --maxsmps 64 -o` on the same ibsim: ./dev bench bringup
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
: "${SMD:=$here/../../build/release/bin/smd}"
export SMD_PEER_COUNTER=${SMD_PEER_COUNTER:-$(find "$here/../../build/release/tests" -name 'libpeer_counter.so' -print -quit)}
specs=("$@")
[ $# -gt 0 ] || specs=(ft3:16 ft3:24)
exec python3 "$here/../peer/bringup.py" --smd "$SMD" --runs "${SMD_BENCH_RUNS:-5}" "${specs[@]}"
