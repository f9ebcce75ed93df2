# What programs that link the library need as well. In the build, library_needs() finds it (dependencies.cmake); in an installed package,
# it also makes find_package(prismopt) say what is missing (prismopt-config.cmake).
library_needs(Threads)
library_needs(OpenMP COMPONENTS CXX)
library_needs(MPI COMPONENTS C)
# Rank 0 alone writes files, from memory: a serial HDF5 is enough, and CMake takes one before a parallel one. That of the same MPI works as well.
library_needs(HDF5 COMPONENTS C HL)
library_needs(tomlplusplus CONFIG)
library_needs(NLopt CONFIG)
library_needs(fmt CONFIG)
library_needs(spdlog CONFIG)
library_needs(ZLIB)
# libcsv has no package file for CMake or pkg-config.
find_library(CSV_LIBRARY csv)
add_library(prismopt::csv INTERFACE IMPORTED)
target_link_libraries(prismopt::csv INTERFACE ${CSV_LIBRARY})
# libyaml has one for pkg-config only.
find_library(YAML_LIBRARY yaml)
add_library(prismopt::yaml INTERFACE IMPORTED)
target_link_libraries(prismopt::yaml INTERFACE ${YAML_LIBRARY})
