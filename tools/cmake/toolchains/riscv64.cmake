# RISC-V Linux with V, which all targets for riscv64 need, statically linked with musl. Told of V, the runtime need not ask the system: emulators before
# QEMU 8.2 do not answer.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(mhac_zig_target riscv64-linux-musl)
set(mhac_zig_options -mcpu=baseline_rv64+v -fno-vectorize -fno-slp-vectorize)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
find_program(MHAC_QEMU_RISCV64 qemu-riscv64)
if(MHAC_QEMU_RISCV64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MHAC_QEMU_RISCV64} -cpu "rv64,v=true,vlen=128,elen=64")
endif()
