#!/usr/bin/env python3
"""Tests of the checks themselves: each planted violation is found, and a clean tree passes."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CLEAN = {
    "harness/base/error.h": "#pragma once\n#include <string>\n",
    "harness/device/device.cpp": '#include "harness/base/error.h"\n#include <cuda_runtime_api.h>\n',
    "harness/run/run_test.cpp": '#include "harness/tests/fake.h"\nauto a = "gemm/gemm/m=1";\n',
    "harness/report/text.cpp": 'auto a = "fill in the rest"; // as gemm does\n',
    "kernels/gemm/gemm.h": '#pragma once\n#include "harness/verify/verify.h"\n',
    "kernels/fill/fill.cu": "#include <cuda_bf16.h>\n",
    "suites/gemm/gemm.cpp": '#include "kernels/gemm/gemm.h"\n#include "harness/run/run.h"\n',
}
PLANTED = {
    "base includes device": ("harness/base/x.h", '#include "harness/device/device.h"'),
    "stats includes its neighbour": ("harness/stats/x.cpp", '#include "harness/device/device.h"'),
    "harness includes an op": ("harness/run/x.cpp", '#include "kernels/gemm/gemm.h"'),
    "kernels include run": ("kernels/gemm/x.cpp", '#include "harness/run/run.h"'),
    "kernels include a suite": ("kernels/gemm/x.h", '#include "suites/gemm/gemm.h"'),
    "suites include the cli": ("suites/gemm/x.cpp", '#include "harness/cli/cli.h"'),
    "product includes tests": ("harness/run/x.cpp", '#include "harness/tests/fake.h"'),
    "not from the root": ("harness/base/x.cpp", '#include "error.h"'),
    "CUDA in run": ("harness/run/x.h", "#include <cuda_runtime.h>"),
    "CUDA in an op's .cpp": ("kernels/gemm/x.cpp", "#  include <cublasLt.h>"),
    "NCCL outside group": ("suites/gemm/x.cpp", "#include <nccl.h>"),
    "an op as identifier": ("harness/run/x.cpp", "int gemm_cases = 0;"),
    "an op as string": ("harness/cli/x.cpp", 'auto s = "pairmark-gemm";'),
    "an op with an everyday name": ("harness/run/x.cpp", 'auto s = "fill";'),
}


def write(root, files):
    for name, text in files.items():
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Layers(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as root:
            write(root, files)
            return run(sys.executable, HERE / "check_layers.py", root)

    def test_clean_tree_passes(self):
        result = self.check(CLEAN)
        self.assertEqual((result.returncode, result.stdout.count("\n")), (0, 1), result.stdout)

    def test_empty_tree_is_no_pass(self):
        self.assertEqual(self.check({}).returncode, 1)

    def test_each_planted_violation_is_found(self):
        for what, (path, line) in PLANTED.items():
            with self.subTest(what):
                result = self.check({**CLEAN, path: f"// head\n{line}"})
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"{path}:2: ", result.stdout)
                self.assertIn(" 1 violations", result.stdout)


class Headers(unittest.TestCase):
    def check(self, text, source=""):
        with tempfile.TemporaryDirectory() as root:
            good = {
                "harness/base/good.h": "",
                "harness/base/good.cpp": '#include "harness/base/good.h"',
            }
            write(
                root,
                {**good, "harness/base/x.h": f"#pragma once\n{text}", "harness/base/x.cpp": source},
            )
            return run("bash", HERE / "check_headers.sh", root)

    def test_complete_header_passes(self):
        result = self.check("#include <string>\ninline std::string x() { return {}; }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 headers compiled, 1 proven", result.stdout)

    def test_header_without_its_include_is_found(self):
        result = self.check("inline std::string x() { return {}; }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("harness/base/x.h: does not compile alone", result.stderr)
        self.assertNotIn("good.h: does not", result.stderr)

    def test_only_the_first_include_proves_a_header(self):
        source = '#include <string>\n#include "harness/base/x.h"'
        self.assertEqual(self.check("inline std::string x() { return {}; }", source).returncode, 1)


class Text(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as root:
            write(root, {"a.md": text})
            run("git", "-C", root, "init", "-q")
            run("git", "-C", root, "add", "a.md")
            return run("bash", HERE / "check_text.sh", root)

    def test_relative_and_system_paths_pass(self):
        self.assertEqual(self.check("work/a /usr/local/cuda net/work/b").returncode, 0)

    def test_path_of_one_machine_is_found(self):
        for path in ("/work/a", "see /home/me/x", "'/root/x'"):
            with self.subTest(path):
                self.assertEqual(self.check(path).returncode, 1)


if __name__ == "__main__":
    unittest.main()
