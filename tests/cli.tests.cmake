if(NOT NEARFIELD_CLI)
  return()
endif()
nearfield_test(cli cli/sample.cpp cli/text.cpp cli/load.cpp cli/picture.cpp cli/documents.cpp cli/tour.cpp cli/outlines.cpp
  LIBS nearfield_cli_parts)
target_compile_definitions(test_cli PRIVATE NEARFIELD_CLI_MD="${PROJECT_SOURCE_DIR}/docs/cli.md")

if(NOT NEARFIELD_PYTHON)
  find_program(NEARFIELD_PYTHON python3 REQUIRED DOC "Python 3.10 or newer that the tests may use")
endif()
file(GLOB parts RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/cli CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/program*.py)
list(REMOVE_ITEM parts program_case.py)
if(NEARFIELD_SANITIZE)  # a process for each line takes minutes there: those with strange files
  list(FILTER parts INCLUDE REGEX "program_(input|files)")
endif()
list(TRANSFORM parts REPLACE "[.]py$" "")
foreach(part IN LISTS parts)
  add_test(NAME cli.${part}
    COMMAND ${NEARFIELD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/cli/${part}.py $<TARGET_FILE:nearfield_cli>)
  set_tests_properties(cli.${part} PROPERTIES LABELS cli TIMEOUT 600
    ENVIRONMENT NEARFIELD_SANITIZE=${NEARFIELD_SANITIZE})
endforeach()
