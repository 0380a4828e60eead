#!/usr/bin/env python3
"""Checks who includes whom (the layers), and that the harness knows no op, model or suite by name.

  ci/check_layers.py [ROOT]      prints one line for each violation; exit code 1 where there is any

Layers: suites -> models -> kernels -> harness/base, device and verify (an op's check against its reference
speaks the harness's verdicts); suites -> harness (not its cli). Inside harness, each folder may include the
folders of the rows before its own. CUDA headers: harness/device, harness/timing, .cu and .cuh only. NCCL:
harness/group only. Tests (harness/tests, *_test.*) and their fixtures (sample_*.*, *_testing.*) may include
harness/tests and name ops.
"""

import pathlib
import re
import sys

ROWS = [
    ["base"],
    ["stats", "device", "machine"],
    ["health", "group", "verify"],
    ["timing"],
    ["run"],
    ["report"],
    ["compare"],
    ["cli"],
]
TOPS = ("harness", "kernels", "models", "suites")
# Ops and suites whose names are everyday words: only a string that starts with one counts as naming it.
EVERYDAY = {"fill", "links", "training", "sampling", "parallel", "optim"}
CUDA = re.compile(
    r"(cuda|cublas|cudnn|curand|cusparse|cusolver|cufft|nvml|nvrtc|nvtx|cooperative_groups|thrust/|cub/|driver_types)"
)


def may_include(test):
    """Folder -> the project folders that it may include, itself not counted."""
    allowed = {}
    below = []
    for row in ROWS:
        for name in row:
            allowed[f"harness/{name}"] = set(below)
        below += [f"harness/{name}" for name in row]
    allowed["kernels"] = {"kernels", "harness/base", "harness/device", "harness/verify"}
    allowed["models"] = allowed["kernels"] | {"models"}
    allowed["suites"] = {"suites", "models", "kernels", *below} - {"harness/cli"}
    allowed["harness/tests"] = set(below)
    if test:
        for folders in allowed.values():
            folders.add("harness/tests")
    return allowed


def folder_of(path):
    """harness/<folder> inside harness, else the top folder."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "harness" else parts[0]


def is_test(path):
    stem = pathlib.PurePath(path).stem
    return (
        path.startswith("harness/tests/")
        or stem.endswith(("_test", "_testing"))
        or stem.startswith("sample_")
    )


def check_quoted(path, target):
    if target.split("/")[0] not in TOPS:
        return f'"{target}" is not written from the root of the project'
    own, other = folder_of(path), folder_of(target)
    if other == own or other in may_include(is_test(path)).get(own, set()):
        return None
    return f"{own} may not include {other} ({target})"


def check_angled(path, target):
    own = folder_of(path)
    if target.startswith("nccl") and own != "harness/group":
        return f"<{target}>: NCCL is used in harness/group only"
    in_cuda_file = path.endswith((".cu", ".cuh")) or own in ("harness/device", "harness/timing")
    if CUDA.match(target) and not in_cuda_file:
        return f"<{target}>: CUDA headers belong in harness/device, harness/timing, .cu and .cuh"
    return None


def names_of(root):
    """Names of ops, models and suites: the folders of kernels/, models/ and suites/."""
    tops = [root / top for top in ("kernels", "models", "suites")]
    return {d.name for top in tops if top.is_dir() for d in top.iterdir() if d.is_dir()}


def check_names(line, names):
    code = re.sub(r"//.*", "", line)
    for name in sorted(names):
        pattern = (
            rf'"(pairmark-)?{name}["/]' if name in EVERYDAY else rf"(?<![A-Za-z]){name}(?![a-z])"
        )
        if re.search(pattern, code):
            return f"the harness names '{name}'; it must not know any op, model or suite"
    return None


def check_file(root, path, names):
    """Yields (line number, what is wrong)."""
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if include:
            check = check_quoted if include[1] == '"' else check_angled
            problem = check(path, include[2])
        elif path.startswith("harness/") and not is_test(path):
            problem = check_names(line, names)
        else:
            problem = None
        if problem:
            yield number, problem


def check_tree(root):
    names = names_of(root)
    problems = []
    files = 0
    for top in TOPS:
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".h", ".cpp", ".cu", ".cuh"):
                files += 1
                path = file.relative_to(root).as_posix()
                problems += [
                    f"{path}:{number}: {what}" for number, what in check_file(root, path, names)
                ]
    return files, problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    files, problems = check_tree(root)
    for problem in problems:
        print(problem)
    print(f"check_layers: {files} files, {len(problems)} violations")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
