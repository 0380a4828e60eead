#!/usr/bin/env bash
# Checks that every header compiles alone: two at a time, syntax only. A header that its own source file (x.cpp of x.h)
# includes before anything else is proven by the build already and not compiled again; --all compiles those too.
#   ci/check_headers.sh [ROOT] [--all] [-I DIR ...]      CXX names another compiler
# Headers that need CUDA are left out, and counted, where there is no toolkit.
set -euo pipefail
# shellcheck source=common.sh source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [[ ${1:-} && $1 != -* ]]; then root=$(cd "$1" && pwd) && shift; fi
cd "$root"
all=false
if [[ ${1:-} == --all ]]; then all=true && shift; fi

includes=(-I . "$@")
cuda='#include <(cuda|cublas|nccl|cooperative_groups|cub/|thrust/)'
find_tops=()
for top in harness kernels models suites; do if [[ -d $top ]]; then find_tops+=("$top"); fi; done
((${#find_tops[@]})) || die 2 "$root has none of the folders harness, kernels, models, suites"
mapfile -t headers < <(find "${find_tops[@]}" -name '*.h' | sort)
((${#headers[@]})) || die 2 "no headers found in $root"

# True where the header's own source includes it first.
proven() {
  local source
  for source in "${1%.h}.cpp" "${1%.h}.cu"; do
    if [[ -e $source && $(grep -m 1 '^#include' "$source") == "#include \"$1\"" ]]; then return 0; fi
  done
  return 1
}

proven=0
if ! $all; then
  count=${#headers[@]}
  mapfile -t headers < <(for header in "${headers[@]}"; do proven "$header" || echo "$header"; done)
  proven=$((count - ${#headers[@]}))
fi

left_out=0
if toolkit=$(find_toolkit); then
  includes+=(-isystem "$toolkit/include")
else
  mapfile -t kept < <(grep -LE "$cuda" "${headers[@]}")
  left_out=$((${#headers[@]} - ${#kept[@]}))
  headers=("${kept[@]}")
fi

failed=0
# shellcheck disable=SC2016  # expanded by the inner shell
((${#headers[@]})) && printf '%s\0' "${headers[@]}" | xargs -0 -P 2 -I {} bash -c \
  'echo "#include \"$1\"" | "${@:2}" -x c++ - || { echo "$1: does not compile alone" >&2; exit 1; }' bash {} \
  "${CXX:-g++}" -std=c++20 -fsyntax-only -Wall -Wextra "${includes[@]}" || failed=1
echo "check_headers: ${#headers[@]} headers compiled, $proven proven by their own source file, $left_out left out (no CUDA toolkit)"
exit "$failed"
