# Install rules: runtime (headers, static library), compiler (mhac, mhac-run), CMake package and pkg-config file. Everything is found relative
# to the prefix, so that it can be moved.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include(CMakePackageConfigHelpers)
set(mhac_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Mhac)

install(TARGETS mhac_runtime EXPORT MhacTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/mhac DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
install(EXPORT MhacTargets NAMESPACE mhac:: DESTINATION ${mhac_package_dir} COMPONENT runtime)

if(MHAC_BUILD_COMPILER AND TARGET mhac)
  # Halide lies in the virtual environment (inside the source tree, so INSTALL_RPATH_USE_LINK_PATH leaves it out) and LLVM beside the system's
  # libraries: found where they were when mhac was linked.
  set(mhac_rpath $<TARGET_FILE_DIR:Halide::Halide> $<TARGET_FILE_DIR:LLVM>)
  set_target_properties(mhac PROPERTIES INSTALL_RPATH "${mhac_rpath}")
  install(TARGETS mhac EXPORT MhacCompilerTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  install(EXPORT MhacCompilerTargets NAMESPACE mhac:: DESTINATION ${mhac_package_dir} COMPONENT compiler)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/mhac_call.py DESTINATION ${CMAKE_INSTALL_DATADIR}/mhac COMPONENT compiler)
  if(TARGET mhac-run)
    set_target_properties(mhac-run PROPERTIES INSTALL_RPATH "${mhac_rpath}")
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
configure_file(${CMAKE_CURRENT_LIST_DIR}/mhac.pc.in ${PROJECT_BINARY_DIR}/mhac.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mhac.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
