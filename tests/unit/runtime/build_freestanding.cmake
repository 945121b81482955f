# Builds the runtime for programs without a C library, and looks what it needs of others. Run with -DSOURCE= -DBUILD= -DGENERATOR= -DMAKE= -DSIZE= -DNM=.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -DCMAKE_MAKE_PROGRAM=${MAKE} -DMHAC_BUILD_COMPILER=OFF
  -DMHAC_BUILD_TESTS=OFF -DMHAC_RUNTIME_FREESTANDING=ON COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
set(LIBRARY ${BUILD}/runtime/libmhac_runtime.a)
set(allowed "mhac_.*|memcpy|memset|_GLOBAL_OFFSET_TABLE_")
include(${CMAKE_CURRENT_LIST_DIR}/check_library.cmake)
