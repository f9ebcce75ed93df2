# add_mpi_test(NAME TARGET RANKS n... [ARGS arg...] [PASS_OUTPUT regex])
#
# Runs the program TARGET under mpirun once for each number of ranks, as the tests NAME.ranks_n. With PASS_OUTPUT the output
# decides, not the exit code; that of a failed job is its last line, `exit code N`, so how a job fails can be tested.
# A test machine may have fewer cores than ranks, no ssh client, and root as its user. Under AddressSanitizer, leaks inside
# Open MPI's modules, which it unloads at the end, are known by who called them; only the slow unwinder finds that out.
include(mpi_launcher)
set(mpirun_options)
if(MPI_IS_OPENMPI)   # others start more ranks than there are cores without being asked
  set(mpirun_options --oversubscribe --timeout 110)
endif()
set(mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent= OMP_NUM_THREADS=1
  ASAN_OPTIONS=fast_unwind_on_malloc=0
  LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0)

function(add_mpi_test name target)
  cmake_parse_arguments(test "" "PASS_OUTPUT" "RANKS;ARGS" ${ARGN})
  foreach(ranks IN LISTS test_RANKS)
    set(mpirun ${MPIEXEC_EXECUTABLE} ${mpirun_options} ${MPIEXEC_NUMPROC_FLAG} ${ranks})
    if(test_PASS_OUTPUT)
      set(mpirun sh -c "\"$@\" || echo exit code $?" sh ${mpirun})
    endif()
    add_test(NAME ${name}.ranks_${ranks} COMMAND ${mpirun} $<TARGET_FILE:${target}> ${test_ARGS})
    set_tests_properties(${name}.ranks_${ranks} PROPERTIES
      TIMEOUT 120 PROCESSORS ${ranks} LABELS mpi
      ENVIRONMENT "${mpi_environment}")
    if(test_PASS_OUTPUT)
      set_tests_properties(${name}.ranks_${ranks} PROPERTIES PASS_REGULAR_EXPRESSION "${test_PASS_OUTPUT}")
    endif()
  endforeach()
endfunction()
