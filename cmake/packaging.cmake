# What `cmake --install` and the Debian package hold: the program, its manual page and completion, scenarios, and their schema.
include(GNUInstallDirs)

set(texts ${CMAKE_BINARY_DIR}/texts)  # optimizer/CMakeLists.txt

install(TARGETS prismopt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${texts}/prismopt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${texts}/prismopt.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME prismopt)
install(FILES ${texts}/_prismopt DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${texts}/scenario.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/prismopt)
install(DIRECTORY jobs/scenarios jobs/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/prismopt)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The authors of prismopt <root@localhost>")
set(CPACK_PACKAGE_VENDOR "prismopt")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Libraries by what the program links (dpkg-shlibdeps); mpirun is not linked.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin")
include(CPack)
