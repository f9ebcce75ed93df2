# Reads the #include lines of the four folders and fails on what the map of the project forbids.
# Usage: cmake -DROOT=<source directory> -P layers.cmake
#
# 1. model <- search <- io <- optimizer: a file includes from its own folder and those before it; search sees two headers of
#    model only. Quoted includes are written from the root, so that the folder shows in each.
#    Inside model: what is trained (network) knows of other sub-folders only the hardware that it runs on.
# 2. MPI, HDF5, NLopt and toml++ each have one door: one source file includes their headers.
# 3. OpenMP is used in one file.

set(folders model search io optimizer)
set(model_may_include "^model/")
set(search_may_include "^(search/|model/random\\.hpp$|model/estimate\\.hpp$)")
set(io_may_include "^(io|search|model)/")
set(optimizer_may_include "^(optimizer|io|search|model)/")

set(doors mpi hdf5 nlopt toml)
set(mpi_headers "^mpi\\.h$")
set(mpi_door optimizer/communicator.cpp)
set(hdf5_headers "^(hdf5|hdf5_hl|H5[A-Za-z]*)\\.h$")
set(hdf5_door io/hdf5_file.cpp)
set(nlopt_headers "^nlopt\\.(h|hpp)$")
set(nlopt_door search/nlopt_search.cpp)
set(toml_headers "^toml\\+\\+/")
set(toml_door io/toml.cpp)
set(openmp_door model/step/sampler.cpp)

set(network_may_include "^model/(network|hardware)/|^model/[^/]+$")

function(check_include file folder quoted header)
  if(file MATCHES "^model/network/" AND header MATCHES "^model/" AND NOT header MATCHES "${network_may_include}")
    message(SEND_ERROR "${file} includes ${header}: model/network may not know it")
  endif()
  if(header MATCHES "^(model|search|io|optimizer)/")
    if(NOT header MATCHES "${${folder}_may_include}")
      message(SEND_ERROR "${file} includes ${header}: ${folder} may not know it")
    endif()
  elseif(quoted)
    message(SEND_ERROR "${file} includes \"${header}\": write the path from the root of the project")
  endif()
  foreach(library IN LISTS doors)
    if(header MATCHES "${${library}_headers}" AND NOT file STREQUAL "${${library}_door}")
      message(SEND_ERROR "${file} includes ${header}: only ${${library}_door} may")
    endif()
  endforeach()
endfunction()

set(checked 0)
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  foreach(file IN LISTS files)
    math(EXPR checked "${checked} + 1")
    file(STRINGS ${ROOT}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS includes)
      string(REGEX MATCH "([<\"])([^>\"]+)[>\"]" unused "${line}")
      string(COMPARE EQUAL "${CMAKE_MATCH_1}" "\"" quoted)
      check_include(${file} ${folder} ${quoted} "${CMAKE_MATCH_2}")
    endforeach()
    file(STRINGS ${ROOT}/${file} pragmas REGEX "^[ \t]*#[ \t]*(pragma[ \t]+omp|include[ \t]*<omp\\.h>)")
    if(pragmas AND NOT file STREQUAL openmp_door)
      message(SEND_ERROR "${file} uses OpenMP: only ${openmp_door} may")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(SEND_ERROR "no source files under ${ROOT}: give the source directory, -DROOT=...")
endif()
