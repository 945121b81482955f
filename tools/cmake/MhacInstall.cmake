# Install rules: runtime (headers, static library), compiler (mhac, mhac-run), CMake package and pkg-config file. Everything is found relative
# to the prefix, so that it can be moved.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include(CMakePackageConfigHelpers)
set(mhac_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Mhac)

install(TARGETS mhac_runtime EXPORT MhacTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/mhac DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
install(EXPORT MhacTargets NAMESPACE mhac:: DESTINATION ${mhac_package_dir} COMPONENT runtime)

if(MHAC_BUILD_COMPILER AND TARGET mhac)
  # Halide lies in the virtual environment of this source tree, so it comes along, where no other program looks; LLVM is found where it was
  # when mhac was linked, among the system's libraries.
  set(mhac_halide_dir ${CMAKE_INSTALL_LIBDIR}/mhac)
  install(FILES $<TARGET_FILE:Halide::Halide> DESTINATION ${mhac_halide_dir} COMPONENT compiler)
  install(FILES $<TARGET_FILE_DIR:Halide::Halide>/../share/doc/Halide/LICENSE.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME Halide-LICENSE.txt
    COMPONENT compiler OPTIONAL)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE mhac_libdir_from_bindir)
  set_target_properties(mhac PROPERTIES INSTALL_RPATH "\$ORIGIN/${mhac_libdir_from_bindir}/mhac;$<TARGET_FILE_DIR:LLVM>")
  install(TARGETS mhac EXPORT MhacCompilerTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  install(EXPORT MhacCompilerTargets NAMESPACE mhac:: DESTINATION ${mhac_package_dir} COMPONENT compiler)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/mhac_call.py DESTINATION ${CMAKE_INSTALL_DATADIR}/mhac COMPONENT compiler)
  if(TARGET mhac-run)
    set_target_properties(mhac-run PROPERTIES INSTALL_RPATH "$<TARGET_FILE_DIR:LLVM>")
    install(TARGETS mhac-run RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  endif()
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/MhacConfig.cmake.in ${PROJECT_BINARY_DIR}/MhacConfig.cmake
  INSTALL_DESTINATION ${mhac_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/MhacConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/MhacConfig.cmake ${PROJECT_BINARY_DIR}/MhacConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/MhacAddAttention.cmake DESTINATION ${mhac_package_dir} COMPONENT runtime)

# pkg-config wants to know its prefix from where it lies.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE mhac_pc_prefix)
set(mhac_pc_threads)
if(MHAC_RUNTIME_THREADS)
  set(mhac_pc_threads " -pthread")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/mhac.pc.in ${PROJECT_BINARY_DIR}/mhac.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mhac.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
