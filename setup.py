"""Builds the Python module with CMake: `pip install .`, also without a network (docs/notebook.md).

PRISMOPT_BUILD names a build folder of CMake that is used and kept; otherwise build/python is.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def version() -> str:
    """That of the project in CMakeLists.txt."""
    return re.search(r"project\(prismopt VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


class BuildWithCMake(build_ext):
    def build_extension(self, extension: Extension) -> None:
        folder = pathlib.Path(os.environ.get("PRISMOPT_BUILD", ROOT / "build" / "python")).absolute()
        if not (folder / "CMakeCache.txt").exists():
            self._run(
                *("cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DPRISMOPT_UNITY_BUILD=ON"),
                *("-DBUILD_TESTING=OFF", "-DPRISMOPT_BENCHMARKS=OFF", f"-DPython_EXECUTABLE={sys.executable}"),
            )
        self._run("cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", "prismopt_python")
        (built,) = (folder / "python" / "prismopt").glob("_core.*.so")
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        if target.suffixes != built.suffixes:
            raise SystemExit(f"setup.py: {folder} builds {built.name}, and this Python needs {target.name}; use another PRISMOPT_BUILD")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built, target)

    def _run(self, *words: object) -> None:
        subprocess.run([str(word) for word in words], check=True)


setup(version=version(), ext_modules=[Extension("prismopt._core", [])], cmdclass={"build_ext": BuildWithCMake})
