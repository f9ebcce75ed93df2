# Which mpirun this is: Open MPI's has options of its own, and others (MPICH, Intel MPI) are Hydra or take its options.
#   MPI_IS_OPENMPI         whether it is that of Open MPI
#   MPI_LAUNCHER_PACKAGE   Debian's package that has it
if(DEFINED MPI_LAUNCHER_PACKAGE)
  return()
endif()
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpirun_version ERROR_QUIET)
if(mpirun_version MATCHES "Open MPI|OpenRTE")  # as mpirun and as mpiexec
  set(MPI_IS_OPENMPI TRUE)
  set(MPI_LAUNCHER_PACKAGE openmpi-bin)
else()
  set(MPI_IS_OPENMPI FALSE)
  set(MPI_LAUNCHER_PACKAGE mpich)
endif()
