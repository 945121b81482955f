# Finds what the compiler is built on and stops the configure step when versions mix: libHalide hides its own LLVM, but MLIR and LLVM
# must be one version, and they must be the shared libraries (two static LLVMs in one process register their options twice).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# PyPI's Halide lies in the virtual environment that tools/setup.sh makes. Its lib64 is no place where CMake looks on Debian, and the package
# file that it puts into the environment's share folder wants Python's headers.
file(GLOB mhac_halide_wheel ${PROJECT_SOURCE_DIR}/.venv/lib/python3.*/site-packages/halide/lib64/cmake)

find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(Halide 21 REQUIRED COMPONENTS Halide shared HINTS ${mhac_halide_wheel}/Halide)
find_package(yaml-cpp REQUIRED)

if(NOT LLVM_VERSION_MAJOR EQUAL 22 OR NOT MLIR_DIR MATCHES "llvm-22")
  message(FATAL_ERROR "mhac needs MLIR and LLVM 22.1 of one installation, found LLVM ${LLVM_VERSION} and MLIR in ${MLIR_DIR}")
endif()
foreach(library MLIR LLVM)
  get_target_property(kind ${library} TYPE)
  if(NOT kind STREQUAL "SHARED_LIBRARY")
    message(FATAL_ERROR "mhac needs the shared library of ${library}, found ${kind}")
  endif()
endforeach()

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# What every compiler library is built with. LLVM is built without RTTI, so classes derived from MLIR's need the same.
add_library(mhac_options INTERFACE)
target_compile_features(mhac_options INTERFACE cxx_std_20)
target_compile_options(mhac_options INTERFACE -fno-rtti -Wall -Wextra -Wno-unused-parameter -Wno-comment)
target_include_directories(mhac_options INTERFACE ${PROJECT_SOURCE_DIR}/compiler ${PROJECT_BINARY_DIR}/compiler)
target_include_directories(mhac_options SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(mhac_options INTERFACE MHAC_VERSION="${PROJECT_VERSION}")
