# What every target of the project is compiled with. Linked as `prismopt::options`.
add_library(prismopt_options INTERFACE)
add_library(prismopt::options ALIAS prismopt_options)
target_compile_features(prismopt_options INTERFACE cxx_std_20)
target_compile_options(prismopt_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
  # Results are equal bit for bit on every machine: no contraction into fused multiply-add.
  -ffp-contract=off)
if(NOT PRISMOPT_UNITY_BUILD)
  target_compile_options(prismopt_options INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # These warn of what the files of a folder do to each other, or falsely (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651).
  target_compile_options(prismopt_options INTERFACE -Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
endif()
if(PRISMOPT_WARNINGS_AS_ERRORS)
  target_compile_options(prismopt_options INTERFACE -Werror)
endif()
target_include_directories(prismopt_options INTERFACE ${CMAKE_SOURCE_DIR})
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The libraries also go into the Python module, a shared object. Hidden names keep calls within it as direct as in a program.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
