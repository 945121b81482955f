# Helpers of this repository's own build; not installed.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# mhac_add_library(<folder> SOURCES <files>... [DEPENDS <targets>...] [PRECOMPILE <headers>...])
# The static library of one folder of compiler/, as mhac_<folder> with the alias mhac::<folder>.
function(mhac_add_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;PRECOMPILE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mhac_add_library(${folder}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_library(mhac_${folder} STATIC ${arg_SOURCES})
  add_library(mhac::${folder} ALIAS mhac_${folder})
  target_link_libraries(mhac_${folder} PUBLIC mhac_options ${arg_DEPENDS})
  if(arg_PRECOMPILE)
    target_precompile_headers(mhac_${folder} PRIVATE ${arg_PRECOMPILE})
  endif()
endfunction()
