# Writes OUT from version.hpp.in, with the commit that is built. Where the sources are of no commit, their digest says which they are: two
# builds with different sources must not pass for one. Run at each build: what was configured once does not know of later commits.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

# The first digits of SHA-256 over the names and contents of all that a build reads.
function(digest_sources result)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/model/* ${root}/search/* ${root}/io/* ${root}/optimizer/* ${root}/cmake/*)
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

set(described "")
if(GIT AND EXISTS ${root}/.git)   # not that of a folder above
  execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${root}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(PRISMOPT_COMMIT ${described})
if(NOT described)
  digest_sources(digest)
  set(PRISMOPT_COMMIT sources-${digest})
elseif(described MATCHES "-dirty$")
  digest_sources(digest)
  set(PRISMOPT_COMMIT ${described}-${digest})
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${OUT} @ONLY)  # leaves a file that would be the same
