# unite_folders(TARGET [SEPARATE FOLDER...]): with PRISMOPT_UNITY_BUILD, the target's files of one folder are compiled as one. A build
# from scratch then takes half the time, and a build after a change of one file longer. Names in unnamed namespaces must differ
# within a folder (tests/unnamed_names.py), except in those that stay separate.
function(unite_folders target)
  if(NOT PRISMOPT_UNITY_BUILD)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 folders "" "" SEPARATE)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
    if(NOT folder MATCHES "^[.][.]/" AND NOT folder IN_LIST folders_SEPARATE)   # not what the build writes
      string(MAKE_C_IDENTIFIER "in_${folder}" group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()
