#!/usr/bin/env bash
# Checks the committed text: no absolute path of somebody's machine (tests may invent some); warns of source files over 500 lines.
#   ci/check_text.sh [ROOT]
set -euo pipefail
# shellcheck source=common.sh source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "${1:-$root}"

failed=0
# The brackets keep the pattern from finding itself.
if git grep -nIE '(^|[^A-Za-z0-9_.])/(wor[k]|hom[e]/[a-z]+|roo[t])/' -- . ':!*_test.*'; then
  echo "check_text: the lines above name a path of one machine" >&2
  failed=1
fi
git ls-files -- '*.h' '*.cpp' '*.cu' '*.cuh' '*.py' '*.sh' | while read -r file; do
  if [[ -e $file ]] && (($(wc -l <"$file") > 500)); then echo "warning: $file has $(wc -l <"$file") lines; 300 is the aim"; fi
done
exit "$failed"
