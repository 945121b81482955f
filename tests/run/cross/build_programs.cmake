# Configures and builds program/ for one machine, as a person would. Run with -DPROGRAM= -DBUILD= -DTOOLCHAIN= -DTARGETS= -DSPECS= -DCHOICE_TARGETS= -DCHOICE=
# -DMHAC= -DNINJA= -DZIG_CACHE=.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(toolchain "")
if(TOOLCHAIN)
  set(toolchain -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN})
  get_filename_component(root ${PROGRAM}/../../../.. ABSOLUTE)
  file(GLOB zig ${root}/.venv/lib/python3*/site-packages/ziglang/zig)
  find_program(on_path zig)
  if(NOT zig AND NOT on_path)
    message("[SKIP] there is no zig, the cross compiler")
    return()
  endif()
  set(ENV{ZIG_GLOBAL_CACHE_DIR} ${ZIG_CACHE})
  set(ENV{ZIG_LOCAL_CACHE_DIR} ${ZIG_CACHE})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROGRAM} -B ${BUILD} -G Ninja -DCMAKE_MAKE_PROGRAM=${NINJA} ${toolchain} -DMHAC_EXECUTABLE=${MHAC}
  "-DTARGETS=${TARGETS}" "-DSPECS=${SPECS}" "-DCHOICE_TARGETS=${CHOICE_TARGETS}" -DCHOICE=${CHOICE} -DMHAC_BUILD_COMPILER=OFF COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} -j 1 COMMAND_ERROR_IS_FATAL ANY)
