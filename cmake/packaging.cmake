# What `cmake --install` and the Debian packages hold: the program, its manual page and completion, scenarios, and their schema; the Python
# module (optimizer/python); and, for development, the library with the headers of optimizer/api/prismopt.hpp.
set(texts ${CMAKE_BINARY_DIR}/texts)  # optimizer/CMakeLists.txt

# What is built for it, without tests and benchmarks.
add_custom_target(installed DEPENDS prismopt)
if(PRISMOPT_PYTHON)
  add_dependencies(installed prismopt_python)
endif()

install(TARGETS prismopt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${texts}/prismopt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${texts}/prismopt.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME prismopt)
install(FILES ${texts}/_prismopt DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${texts}/scenario.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/prismopt)
install(DIRECTORY jobs/scenarios jobs/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/prismopt)
install(PROGRAMS jobs/campaign jobs/scaling_study DESTINATION ${CMAKE_INSTALL_DATADIR}/prismopt)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY results DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")  # docs link to them
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

include(include_closure)
include_closure(${CMAKE_SOURCE_DIR} optimizer/api/prismopt.hpp headers unused)
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/prismopt/${folder} COMPONENT development)
endforeach()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/prismopt)
set_target_properties(prismopt_optimizer PROPERTIES EXPORT_NAME prismopt)
install(TARGETS prismopt_model prismopt_search prismopt_io prismopt_optimizer EXPORT prismopt
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT prismopt NAMESPACE prismopt:: FILE prismopt-targets.cmake DESTINATION ${package_folder} COMPONENT development)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/prismopt-config.cmake.in prismopt-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(prismopt-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/library_dependencies.cmake ${CMAKE_CURRENT_BINARY_DIR}/prismopt-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/prismopt-config-version.cmake DESTINATION ${package_folder} COMPONENT development)

set(CPACK_GENERATOR DEB)
# Packages of the program and of the Python module; `cmake --install` puts down the library as well.
set(CPACK_COMPONENTS_ALL Unspecified)
if(PRISMOPT_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME prismopt)
set(PRISMOPT_MAINTAINER "prismopt developers <prismopt@localhost>" CACHE STRING "maintainer of the Debian package: name and address")
set(CPACK_PACKAGE_CONTACT "${PRISMOPT_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${PRISMOPT_MAINTAINER}")
set(CPACK_PACKAGE_VENDOR "prismopt")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Libraries by what the program links (dpkg-shlibdeps); mpirun is not linked.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(mpi_launcher)
set(CPACK_DEBIAN_PACKAGE_DEPENDS ${MPI_LAUNCHER_PACKAGE})
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-prismopt)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The module prismopt for Python programs and notebooks")
if(PRISMOPT_PYTHON)
  # An extension is for one minor version of Python.
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-pandas, python3-matplotlib, python3-xarray, python3-h5netcdf")
endif()
include(CPack)
