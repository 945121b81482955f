# What the toolchain files of this folder share: zig's C compiler, which has the C libraries of all systems with it; setup.sh installs it with the
# Python package `ziglang`. Wants mhac_zig_target, zig's name of the system, and mhac_zig_options for CPUs that have more than the baseline.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
file(GLOB mhac_zig_folder ${CMAKE_CURRENT_LIST_DIR}/../../../.venv/lib/python3*/site-packages/ziglang)
find_program(MHAC_ZIG NAMES zig PATHS ${mhac_zig_folder} NO_CMAKE_FIND_ROOT_PATH REQUIRED DOC "zig 0.13, of the Python package ziglang")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MHAC_ZIG)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program would make zig build the system's C library first

set(CMAKE_C_COMPILER ${MHAC_ZIG} cc -target ${mhac_zig_target} ${mhac_zig_options})
# Its words for these are the first arguments of one program.
set(CMAKE_AR ${MHAC_ZIG})
set(CMAKE_RANLIB ${MHAC_ZIG})
set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> ranlib <TARGET>")
