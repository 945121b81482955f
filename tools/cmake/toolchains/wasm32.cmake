# WebAssembly with WASI's C library, which has no threads.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(mhac_zig_target wasm32-wasi)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
