# Writes OUT from version.hpp.in, with the commit that is built; "unknown" outside a git checkout. Run at each build: what was configured
# once does not know of later commits.
set(PRISMOPT_COMMIT unknown)
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE git_result)
  if(git_result EQUAL 0)
    set(PRISMOPT_COMMIT ${described})
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${OUT} @ONLY)  # leaves a file that would be the same
