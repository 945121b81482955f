# mhac_add_attention(<target> SPEC <file.yaml> [NAME <entry>] [TARGETS <t>...] [OPTIONS <option>...])
#
# A static library <target> with the compiled layer. Linking it brings the include folder of its header, <target>.h, and the runtime:
#
#   mhac_add_attention(my_attn SPEC attn.yaml TARGETS x86-64-v4 x86-64-v3)
#   target_link_libraries(app PRIVATE my_attn)
#
# SPEC     relative to the current source folder; may be generated
# NAME     prefix of the public symbols instead of the spec's name, a C identifier
# TARGETS  as --target; default: the machine that builds. Required in a cross build
# OPTIONS  more options of mhac
#
# The compiler is the variable MHAC_EXECUTABLE if set (cross builds), else the target mhac::mhac or mhac. The manifest lies beside the object;
# its path is the target's property MHAC_MANIFEST. Works with Makefile and Ninja generators, from any folder.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.20) # depfiles (CMP0116)

function(mhac_add_attention target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SPEC;NAME" "TARGETS;OPTIONS")
  set(where "mhac_add_attention(${target})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${where}: unknown arguments: ${arg_UNPARSED_ARGUMENTS}; known are SPEC, NAME, TARGETS, OPTIONS")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${where}: no value for ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT arg_SPEC)
    message(FATAL_ERROR "${where}: SPEC is missing")
  endif()
  if(arg_NAME AND NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${where}: NAME must be a C identifier, found '${arg_NAME}'")
  endif()
  if(CMAKE_CROSSCOMPILING AND NOT arg_TARGETS)
    message(FATAL_ERROR "${where}: TARGETS is missing; a cross build cannot ask the machine")
  endif()
  cmake_path(ABSOLUTE_PATH arg_SPEC BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE spec)
  get_source_file_property(generated ${spec} GENERATED)
  if(NOT generated AND NOT EXISTS ${spec})
    message(FATAL_ERROR "${where}: SPEC '${arg_SPEC}' does not exist")
  endif()

  if(MHAC_EXECUTABLE)
    set(mhac ${MHAC_EXECUTABLE})
  elseif(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "${where}: set MHAC_EXECUTABLE to an mhac that runs on the machine that builds")
  elseif(TARGET mhac::mhac)
    set(mhac mhac::mhac)
  elseif(TARGET mhac)
    set(mhac mhac)
  else()
    message(FATAL_ERROR "${where}: there is no mhac; set MHAC_EXECUTABLE to its path")
  endif()

  set(options)
  if(arg_NAME)
    list(APPEND options --name=${arg_NAME})
  endif()
  if(arg_TARGETS)
    list(JOIN arg_TARGETS "," targets)
    list(APPEND options --target=${targets})
  endif()
  # One folder a target, so that its include path offers this header only.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.mhac)
  file(MAKE_DIRECTORY ${folder})
  set(output ${folder}/${target})
  add_custom_command(
    OUTPUT ${output}.o ${output}.h ${output}.json
    COMMAND ${mhac} ${spec} -o ${output}.o --header=${output}.h --manifest=${output}.json -MD -MF ${output}.d -MT ${output}.o
      ${options} ${arg_OPTIONS}
    DEPENDS ${spec} ${mhac}
    DEPFILE ${output}.d
    COMMENT "Compiling attention layer ${target}"
    VERBATIM)

  add_library(${target} STATIC ${output}.o ${output}.h)
  set_source_files_properties(${output}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set(language C)
  else()
    set(language CXX)
  endif()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language} MHAC_MANIFEST ${output}.json)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} PUBLIC mhac::runtime)
endfunction()

cmake_policy(POP)
