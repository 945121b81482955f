# AArch64 Linux, statically linked with musl: cmake -DCMAKE_TOOLCHAIN_FILE=tools/cmake/toolchains/aarch64.cmake
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(mhac_zig_target aarch64-linux-musl)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
find_program(MHAC_QEMU_AARCH64 qemu-aarch64)
if(MHAC_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MHAC_QEMU_AARCH64})
endif()
