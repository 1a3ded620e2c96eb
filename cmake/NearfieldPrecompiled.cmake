# Precompiled headers of the sanitizers' builds: a source of a test takes half the time, one of the library or the command
# line four fifths. Other builds do without, so that a source that lacks an include does not compile there.
set(NEARFIELD_PRECOMPILED OFF)
if(NEARFIELD_SANITIZE AND PROJECT_IS_TOP_LEVEL AND CMAKE_GENERATOR STREQUAL Ninja AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(NEARFIELD_PRECOMPILED ON)
  if(NEARFIELD_CCACHE)  # it goes by the headers' text (`.sum`), because the precompiled file has the path of its clone
    set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true ${NEARFIELD_CCACHE})
  endif()
endif()

# nearfield_precompile(name FLAGS flags... LIBS libraries... HEADERS headers...) precompiles headers; nearfield_use_precompiled(target
# name) gives them to a target, whose sources need the same flags.
function(nearfield_precompile name)
  if(NOT NEARFIELD_PRECOMPILED)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "FLAGS;LIBS;HEADERS" ${ARGN})
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}.hpp)
  set(text "")
  foreach(each IN LISTS arg_HEADERS)
    string(APPEND text "#include <${each}>\n")
  endforeach()
  file(CONFIGURE OUTPUT ${header} CONTENT "${text}")
  # The "object" of a header is the precompiled one.
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${header})
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++-header")
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "" POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${arg_FLAGS} -fpch-instantiate-templates)
  target_link_libraries(${name} PRIVATE nearfield_flags ${arg_LIBS})
  set(made ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/${name}.hpp.o)
  add_custom_command(OUTPUT ${made}.sum DEPENDS ${name} $<TARGET_OBJECTS:${name}> VERBATIM
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -E -P ${header} -o ${made}.sum)
  add_custom_target(${name}_sum DEPENDS ${made}.sum)
  set_target_properties(${name}_sum PROPERTIES NEARFIELD_MADE ${made})
endfunction()
function(nearfield_use_precompiled target name)
  if(NEARFIELD_PRECOMPILED)
    get_target_property(made ${name}_sum NEARFIELD_MADE)
    file(RELATIVE_PATH made ${PROJECT_BINARY_DIR} ${made})  # Ninja compiles there; a path that clones share
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${made}")
    add_dependencies(${target} ${name}_sum)
  endif()
endfunction()
set(NEARFIELD_STANDARD_HEADERS algorithm array atomic bit chrono cmath cstdint cstring filesystem fstream functional limits map
  memory mutex numbers numeric optional random set span sstream string thread tuple type_traits unordered_map utility variant
  vector)
