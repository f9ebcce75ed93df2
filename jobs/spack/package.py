# Spack recipe of prismopt. UNTESTED: Spack was not at hand where this was written.
#
# As packages/prismopt/package.py of a repository of your own, on a checkout:
#   spack dev-build --source-path /path/to/checkout prismopt@develop
from spack.package import *


class Prismopt(CMakePackage):
    """Searches ways of training large models, judged by their p99 training time."""

    license("Apache-2.0")

    version("develop")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("npm", type="build")  # the charts of reports
    depends_on("mpi@3:")
    depends_on("hdf5+mpi+hl")
    depends_on("boost@1.74:+program_options")
    depends_on("eigen@3.3:")
    depends_on("random123")
    depends_on("tomlplusplus")
    depends_on("nlohmann-json")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("nlopt+cxx")
    depends_on("zlib-api")
    depends_on("libcsv")

    @run_before("cmake")
    def charts(self):
        which("npm")("ci", "--prefix", "io/html")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False), self.define("PRISMOPT_BENCHMARKS", False)]
