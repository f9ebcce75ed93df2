# Writes OUT from version.hpp.in, with the commit that is built. Where the sources are of no commit, their digest says which they are: two
# builds with different sources must not pass for one. Run at each build: what was configured once does not know of later commits.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

set(read_folders model search io optimizer cmake)  # all that a build of the program reads, with CMakeLists.txt

# The first digits of SHA-256 over the names and contents of all that a build reads.
function(digest_sources result)
  list(TRANSFORM read_folders REPLACE "(.+)" "${root}/\\1/*" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE files RELATIVE ${root} ${patterns})
  list(FILTER files EXCLUDE REGEX "/node_modules/")
  list(SORT files)
  set(digests "")
  foreach(file IN LISTS files ITEMS CMakeLists.txt)
    file(SHA256 ${root}/${file} digest)
    string(APPEND digests "${file} ${digest}\n")
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING ${digest} 0 12 digest)
  set(${result} ${digest} PARENT_SCOPE)
endfunction()

set(commit "")
if(GIT AND EXISTS ${root}/.git)   # not that of a folder above
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${root}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # Pages and tests that were changed do not make another program.
  execute_process(COMMAND ${GIT} diff --quiet HEAD -- ${read_folders} CMakeLists.txt WORKING_DIRECTORY ${root}
    RESULT_VARIABLE changed ERROR_QUIET)
endif()
set(PRISMOPT_COMMIT ${commit})
if(NOT commit)
  digest_sources(digest)
  set(PRISMOPT_COMMIT sources-${digest})
elseif(NOT changed EQUAL 0)
  digest_sources(digest)
  set(PRISMOPT_COMMIT ${commit}-dirty-${digest})
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${OUT} @ONLY)  # leaves a file that would be the same
