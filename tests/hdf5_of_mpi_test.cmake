# A parallel HDF5 is taken if it is linked with the MPI of the program, and refused by name otherwise; a serial one is always taken.
# Usage: cmake -DMODULE=<cmake/hdf5_of_mpi.cmake> -DSCRATCH=<folder> -P hdf5_of_mpi_test.cmake

cmake_minimum_required(VERSION 3.22)
if(CASE)
  include(${MODULE})
  refuse_hdf5_of_another_mpi()
  return()
endif()

# Stands in for readelf: the dynamic section of a library is in the file itself.
file(MAKE_DIRECTORY ${SCRATCH})
file(WRITE ${SCRATCH}/readelf "#!/bin/sh\ncat \"$2\"\n")
file(CHMOD ${SCRATCH}/readelf PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(line " 0x1 (NEEDED)             Shared library: ")
set(name " 0xe (SONAME)             Library soname: ")
file(WRITE ${SCRATCH}/libhdf5.so "${line}[libcrypto.so.3]\n${line}[libmpi.so.40]\n${line}[libz.so.1]\n${name}[libhdf5.so.103]\n")
file(WRITE ${SCRATCH}/libmpi.so "${line}[libhwloc.so.15]\n${name}[libmpi.so.40]\n")
file(WRITE ${SCRATCH}/libmpich.so "${name}[libmpich.so.12]\n")

function(check parallel mpi expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -DCASE=1 -DMODULE=${MODULE} -DCMAKE_READELF=${SCRATCH}/readelf -DHDF5_IS_PARALLEL=${parallel}
    -DHDF5_C_LIBRARIES=${SCRATCH}/libhdf5.so -DMPI_C_LIBRARIES=${SCRATCH}/${mpi} -DMPI_C_COMPILER=mpicc -P ${CMAKE_CURRENT_LIST_FILE}
    ERROR_VARIABLE said RESULT_VARIABLE code)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT said MATCHES "${expected}" OR (expected STREQUAL "^$" AND NOT code EQUAL 0))
    message(SEND_ERROR "parallel ${parallel}, ${mpi}: expected '${expected}', not '${said}' (${code})")
  endif()
endfunction()
check(TRUE libmpi.so "^$")
check(FALSE libmpich.so "^$")
check(TRUE libmpich.so "belongs to another MPI: it needs libmpi.so.40, and mpicc links libmpich.so.12\\. Install a serial HDF5")
