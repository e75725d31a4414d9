#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares what two builds put out on the fabrics of same_output/fabrics.txt, in virtual time.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
here=$root/tests/house/same_output
work=$root/build/same_output

usage() {
  cat <<'TEXT'
same_output.sh [--only REGEX] [--jobs N] [--seed N] [--payloads] [--results DIR] OLD NEW
same_output.sh --compare OLD-RESULTS NEW-RESULTS

OLD and NEW are build folders (with bin/smd and bin/same_output) or git revisions, which are built in
build/same_output/REVISION. Exit status: 0 the same, 1 different, 2 something could not be run.

  --only REGEX    only the fabrics whose names match
  --jobs N        fabrics, and compilers, at a time (default: the processors)
  --seed N        is added to the seed of NEW: the results must differ then
  --payloads      writes the bytes of Sets and answers instead of their hashes
  --results DIR   where the results go (default: build/same_output/results)
  --compare       compares the results of earlier runs
TEXT
}

die() { printf 'same_output: %s\n' "$*" >&2; exit 2; }

# ---- builds -----------------------------------------------------------------------------------------

build_revision() {  # build_revision COMMIT: prints the build folder
  local commit=$1 tree=$work/${1:0:12} added
  if [ ! -e "$tree/.git" ]; then
    git -C "$root" worktree prune
    git -C "$root" worktree add --quiet --detach "$tree" "$commit" >&2 || die "$commit: no work tree"
    # A revision from before this comparison gets the program of the commit that added it.
    if [ ! -e "$tree/tests/house/same_output/main.cpp" ]; then
      added=$(git -C "$root" log --diff-filter=A --format=%H -1 -- tests/house/same_output/main.cpp)
      [ -n "$added" ] || die "$commit has no tests/house/same_output, and no commit is known that adds it"
      git -C "$tree" checkout --quiet "$added" -- tests
    fi
  fi
  (
    cd -- "$tree"
    export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1  # as ./dev does
    export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/smd-ccache}
    cmake --preset release -DSMD_TESTS=ON &&
      cmake --build --preset release --parallel "$jobs" --target smd same_output  # with its CCACHE_SLOPPINESS
  ) >"$tree.log" 2>&1 || { tail -30 "$tree.log" >&2; die "$commit: the build failed: $tree.log"; }
  printf '%s\n' "$tree/build/release"
}

build_of() {  # build_of FOLDER|REVISION: prints a folder with bin/smd and bin/same_output
  local commit
  if [ -d "$1" ]; then
    if [ ! -x "$1/bin/smd" ] || [ ! -x "$1/bin/same_output" ]; then
      die "$1: no bin/smd and bin/same_output there (ninja -C $1 smd same_output)"
    fi
    (cd -- "$1" && pwd -P)
  else
    commit=$(git -C "$root" rev-parse --verify --quiet "$1^{commit}") || die "$1: no build folder and no revision"
    build_revision "$commit"
  fi
}

# ---- one fabric in one build ------------------------------------------------------------------------

engines=(minhop updn dmodc ftree dnup)

route() {  # route NAME ARGS…: the report without times, the exit status and the dumps
  local name=$1 status=0; shift
  mkdir -p "$out/$name"
  "$build/bin/smd" route --topology "$out/fabric.net" --json --threads 1 --dump-dir "$out/$name" "$@" \
    >"$out/$name/report" 2>"$out/$name/stderr" || status=$?
  # Without times and memory, and without words for people: these may be said better.
  sed -E -i -e 's/"(ms|ms_median)":\{[^}]*\},?//g; s/"(memset_ms|peak_rss_kb)":[0-9.]+,?//g; s/"fabric":"[^"]*",?//' \
    -e 's/"text":"([^"\\]|\\.)*",?//g; s/"([a-z]+): [^"]*"/"\1"/g' "$out/$name/report"
  if [ "$status" -gt 3 ]; then cat "$out/$name/stderr" >&2; return 1; fi
  echo "exit $status" >>"$out/$name/report"
  rm "$out/$name/stderr"  # words for people
}

run_build() {  # run_build BUILD OUT SEED FABRIC OPTIONS…
  local build=$1 out=$2 more=$3 fabric=$4 engine options=() option; shift 4
  for option in "$@"; do
    if [[ $option == seed=* ]]; then option=seed=$((${option#seed=} + more)); fi
    options+=("$option")
  done
  if [[ $fabric == *.net ]]; then fabric=$root/tests/fabrics/$fabric; fi
  rm -rf -- "$out"
  mkdir -p "$out"
  "$build/bin/same_output" "${options[@]}" "$fabric" "$out" || return 1
  for engine in "${engines[@]}"; do route "route-$engine" --engine "$engine" --quality || return 1; done
  route route-default --health || return 1
  for engine in repair converge; do route "route-$engine" --without "$out/without" --reroute "$engine" || return 1; done
  route route-lfts --lfts "$out/route-minhop/opensm-lfts.dump" --dump opensm-lid-matrix.dump,path-sl.txt || return 1
}

# ---- differences ------------------------------------------------------------------------------------

cut_line() { cut -c 1-220; }

explain_counts() {  # explain_counts OLD NEW: methods and attributes whose counts differ, all phases together
  awk '{ key = $(NF-2) " " $(NF-1) } FNR == NR { old[key] += $NF; all[key] = 1; next }
       { new[key] += $NF; all[key] = 1 }
       END { for (key in all) if (old[key] != new[key]) { n++; printf "      %s: %d -> %d\n", key, old[key], new[key] }
             if (!n) print "      the sums are the same; a count of some phase or sender differs:" }' "$1" "$2" | sort
  diff "$1" "$2" | grep '^[<>]' | head -4 | sed 's/^/      /' || true
}

explain_sets() {  # explain_sets OLD NEW
  local old new line
  old=$(mktemp) new=$(mktemp)
  cut -d' ' -f2- "$1" >"$old"
  cut -d' ' -f2- "$2" >"$new"
  if cmp -s "$old" "$new"; then
    line=$(cmp "$1" "$2" | sed 's/.* line //')
    echo "      the order of Sets is the same; from line $line on their times differ:"
    echo "      < $(sed -n "${line}p" "$1" | cut_line)"
    echo "      > $(sed -n "${line}p" "$2" | cut_line)"
  else
    line=$(cmp "$old" "$new" 2>&1 | sed 's/.* line //; s/[^0-9].*//' | head -1)
    if cmp -s <(sort "$old") <(sort "$new"); then
      echo "      the same Sets in another order, from line $line on ($(wc -l <"$1") Sets):"
    else
      echo "      other Sets, from line $line on ($(wc -l <"$1") -> $(wc -l <"$2");" \
        "$(comm -23 <(sort "$old") <(sort "$new") | wc -l) only in the old," \
        "$(comm -13 <(sort "$old") <(sort "$new") | wc -l) only in the new):"
    fi
    echo "      < $(sed -n "${line}p" "$1" | cut_line)"
    echo "      > $(sed -n "${line}p" "$2" | cut_line)"
  fi
  rm -f "$old" "$new"
}

explain() {  # explain OLD NEW: what differs between two folders of one fabric
  local file
  while IFS= read -r file; do
    if [ ! -e "$1/$file" ] || [ ! -e "$2/$file" ]; then
      echo "   $file: only in the $([ -e "$1/$file" ] && echo old || echo new)"
      continue
    fi
    if cmp -s "$1/$file" "$2/$file"; then continue; fi
    echo "   $file:"
    case $file in
      smps) explain_counts "$1/$file" "$2/$file" ;;
      sets) explain_sets "$1/$file" "$2/$file" ;;
      *) { diff --text "$1/$file" "$2/$file" || true; } | sed -n '1,5p' | cut_line | sed 's/^/      /' ;;
    esac
  done < <({ cd -- "$1" && find . -type f; cd -- "$2" && find . -type f; } | sed 's|^\./||' | sort -u)
}

compare() {  # compare NAME OLD NEW: prints; 1 where they differ
  if [ ! -d "$2" ] || [ ! -d "$3" ]; then echo "$1: not in both"; return 1; fi
  if diff -rq -- "$2" "$3" >/dev/null; then
    echo "$1: same ($(wc -l <"$3/sets") Sets, $(awk '{n += $NF} END {print n + 0}' "$3/smps") SMPs," \
      "$(find "$3" -type f | wc -l) files)"
  else
    echo "$1: DIFFERENT"
    explain "$2" "$3"
    return 1
  fi
}

one_fabric() {  # one_fabric NAME FABRIC OPTIONS…: prints all at once
  local name=$1 text status=0; shift
  if ! run_build "$old_build" "$results/old/$name" 0 "$@" 2>"$results/$name.err" ||
    ! run_build "$new_build" "$results/new/$name" "$seed" "$@" 2>>"$results/$name.err"; then
    text="$name: FAILED: $(tail -3 "$results/$name.err")"
    status=2
  else
    text=$(compare "$name" "$results/old/$name" "$results/new/$name") || status=1
    rm -f -- "$results/$name.err"
  fi
  printf '%s\n' "$text"
  echo "$status" >"$results/$name.status"
}

summary() {  # summary STATUS…: the last line and the exit status
  local all=$# different=0 failed=0 status
  for status in "$@"; do
    case $status in 0) ;; 1) different=$((different + 1)) ;; *) failed=$((failed + 1)) ;; esac
  done
  echo "$all fabrics: $((all - different - failed)) the same, $different different, $failed failed"
  if [ "$failed" -gt 0 ]; then exit 2; fi
  if [ "$different" -gt 0 ]; then exit 1; fi
}

# ---- the command line -------------------------------------------------------------------------------

only='' jobs=$(nproc) seed=0 payloads='' results=$work/results comparing=''
while [ $# -gt 0 ]; do
  case $1 in
    --only | --jobs | --seed | --results) [ $# -ge 2 ] || die "$1 needs a value"
      declare "${1#--}=$2"; shift ;;
    --payloads) payloads=payloads ;;
    --compare) comparing=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# -eq 2 ] || { usage >&2; exit 2; }

if [ -n "$comparing" ]; then
  statuses=()
  for name in $({ ls -- "$1"; ls -- "$2"; } | sort -u); do
    status=0
    compare "$name" "$1/$name" "$2/$name" || status=1
    statuses+=("$status")
  done
  [ ${#statuses[@]} -gt 0 ] || die "$1: no results there"
  summary "${statuses[@]}"
  exit 0
fi

mkdir -p "$work"
old_build=$(build_of "$1") || exit 2
new_build=$(build_of "$2") || exit 2
versions=$("$old_build/bin/same_output" --version)/$("$new_build/bin/same_output" --version)
[ "${versions%/*}" = "${versions#*/}" ] || die "the builds do different things to their managers (versions $versions)"
mapfile -t fabrics < <(grep -v '^#' "$here/fabrics.txt" | awk -v only="$only" 'NF >= 2 && $1 ~ only {$1 = $1; print}')
[ ${#fabrics[@]} -gt 0 ] || die "--only $only: no fabric has such a name"

rm -rf -- "$results"
mkdir -p "$results/old" "$results/new"
export root results old_build new_build seed payloads
export -f one_fabric run_build route compare explain explain_sets explain_counts cut_line
export engines_list="${engines[*]}"
# shellcheck disable=SC2016
printf '%s\n' "${fabrics[@]}" | xargs -d '\n' -n 1 -P "$jobs" bash -c '
  set -uo pipefail
  read -ra engines <<<"$engines_list"
  read -ra words <<<"$1"
  one_fabric "${words[@]}" $payloads' _
statuses=()
for fabric in "${fabrics[@]}"; do
  status=$(cat -- "$results/${fabric%% *}.status" 2>/dev/null || echo 2)
  statuses+=("$status")
done
summary "${statuses[@]}"
