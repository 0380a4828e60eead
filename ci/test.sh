#!/usr/bin/env bash
# Builds and tests everything that this machine can. Each stage runs even where an earlier one failed; the closing table
# gives their times, and the exit code is 1 where any failed.
#   ci/test.sh [--full] [STAGE ...]
#     build  the preset cpu               unit  its tests (without label full, unless --full)
#     lint   clang-format, layers, headers, text, shell, Python
#     cuda   compiles the preset cuda for one architecture; GPU tests run where a GPU is and must skip where none is
#     asan, tsan  the tests again under the sanitizers (without the labels full and timing); only when named
set -euo pipefail
# shellcheck source=common.sh source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

all_stages=(build unit lint cuda asan tsan)
stages=()
leave_out=full
for argument in "$@"; do
  if [[ $argument == --full ]]; then
    leave_out=
  elif [[ " ${all_stages[*]} " == *" $argument "* ]]; then
    stages+=("$argument")
  else
    die 2 "unknown argument '$argument'; stages: ${all_stages[*]}; option: --full"
  fi
done
# TODO: asan and tsan join the default once a whole run of each has been seen to pass; so far single test programs have.
((${#stages[@]})) || stages=(build unit lint cuda)

# run_ctest PRESET [ctest arguments]: with its closing lines; finding no test is an error.
run_ctest() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error "$@"
}

# test_preset PRESET LABELS: all tests but those with one of these labels (a regular expression, may be empty). Unit tests
# side by side, then the others (real ranks on real cores) one at a time, so that they do not disturb each other.
test_preset() {
  local code=0
  run_ctest "$1" -L unit -LE "${2:-none}" -j "$(nproc)" || code=1
  run_ctest "$1" -LE "unit${2:+|$2}" || code=1
  return "$code"
}

stage_build() {
  configure cpu -DPAIRMARK_TESTS=ON
  build cpu
}

stage_unit() { test_preset cpu "$leave_out"; }

skip() { echo "skipped: $1, because $2"; }

# check WHAT COMMAND...: notes a failure and goes on, so that one run shows all of them.
check() {
  local what=$1
  shift
  echo "lint: $what"
  "$@" || { echo "failed: $what" >&2 && lint_failed=1; }
}

stage_lint() {
  local sources scripts lint_failed=0
  mapfile -t sources < <(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')
  mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
  if command -v clang-format-14 >/dev/null; then
    check clang-format clang-format-14 --dry-run -Werror "${sources[@]}"
  else
    skip clang-format "version 14, which the sources follow, is not installed"
  fi
  check layers ci/check_layers.py
  # The unit stage runs this one as a test already.
  if [[ " ${stages[*]} " != *" unit "* ]]; then check headers ci/check_headers.sh -I build/cpu/generated; fi
  check text ci/check_text.sh
  for script in "${scripts[@]}"; do check "$script" bash -n "$script"; done
  if command -v shellcheck >/dev/null; then
    check shellcheck shellcheck -x "${scripts[@]}"
  else
    skip shellcheck "it is not installed"
  fi
  if [[ -x .venv/bin/ruff ]]; then
    check "ruff check" .venv/bin/ruff check --quiet --select E,F,W,I,B --ignore E501 .
    check "ruff format" .venv/bin/ruff format --quiet --check --line-length 100 .
  else
    skip ruff "it could not be installed into .venv/"
  fi
  return "$lint_failed"
}

stage_cuda() {
  local log=build/ctest-gpu.log
  if ! find_toolkit >/dev/null; then
    skip "the cuda build" "there is no CUDA toolkit with NCCL (ci/setup.sh --cuda installs one)"
    return 0
  fi
  configure cuda -DPAIRMARK_TESTS=ON -DCMAKE_CUDA_ARCHITECTURES=90
  build cuda
  run_ctest cuda -L gpu | tee "$log"
  # Without a GPU a test that "passes" has tested nothing.
  if ! has_gpu && grep -E ' Passed ' "$log"; then
    echo "the GPU tests above passed although there is no GPU; they must exit with 77" >&2
    return 1
  fi
}

# Programs with the thread sanitizer of g++ 12 do not start under some kernels' address randomisation, the test discovery
# of the build included.
fixed_addresses() {
  if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

sanitized() {
  local preset=$1
  configure "$preset" -DPAIRMARK_TESTS=ON
  build "$preset"
  test_preset "$preset" 'full|timing'
}
export -f sanitized configure build test_preset run_ctest die find_toolkit usable_toolkit
export root wheels
# Tests ask for more memory than there is, to see the error; the sanitizers must let the allocation fail.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=allocator_may_return_null=1:second_deadlock_stack=1
stage_asan() { sanitized asan; }
stage_tsan() { fixed_addresses bash -euo pipefail -c 'sanitized tsan'; }

rows=()
failed=()
run_stage() {
  local name=$1 start=$SECONDS code=0
  shift
  echo "== $name"
  # Not as a condition: bash ignores set -e inside those.
  set +e
  (set -e && "$@")
  code=$?
  set -e
  rows+=("$(printf '%-6s %5d s  %s' "$name" $((SECONDS - start)) "$( ((code == 0)) && echo ok || echo FAILED)")")
  ((code == 0)) || failed+=("$name")
}

run_stage setup ci/setup.sh --with-tests
for stage in "${stages[@]}"; do run_stage "$stage" "stage_$stage"; done

echo "== stages"
printf '%s\n' "${rows[@]}"
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
