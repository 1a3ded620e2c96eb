# The rules of CONTRIBUTING.md that a machine can check. They look at files, so one build is enough.
if(NEARFIELD_SANITIZE)
  return()
endif()
if(NOT NEARFIELD_PYTHON)
  find_program(NEARFIELD_PYTHON python3 REQUIRED DOC "Python 3.10 or newer that the tests may use")
endif()

set(house ${CMAKE_CURRENT_SOURCE_DIR}/house)
set(consume ${CMAKE_CURRENT_SOURCE_DIR}/consume)
function(house_test name)
  add_test(NAME house.${name} COMMAND ${ARGN})
  set_tests_properties(house.${name} PROPERTIES LABELS house TIMEOUT 900)
endfunction()

house_test(layers ${NEARFIELD_PYTHON} ${house}/layers.py)
house_test(imports ${NEARFIELD_PYTHON} ${house}/imports.py)
house_test(lengths ${NEARFIELD_PYTHON} ${house}/lengths.py)
house_test(pages ${NEARFIELD_PYTHON} ${house}/pages.py)
house_test(device_code ${NEARFIELD_PYTHON} ${house}/device_code.py)
# The compiler of the build sees the headers often enough, so that another one takes its place here where there is one.
find_program(NEARFIELD_CLANG14 clang++-14 DOC "The oldest clang that public headers are for")
house_test(headers ${NEARFIELD_PYTHON} ${house}/headers.py
  --compiler $<IF:$<BOOL:${NEARFIELD_CLANG14}>,${NEARFIELD_CLANG14},${CMAKE_CXX_COMPILER}>)
house_test(checks_fail_when_they_should ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER}
  ${NEARFIELD_PYTHON} -m unittest discover -s ${house} -p *_test.py)
house_test(consume ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DWORK=${PROJECT_BINARY_DIR}/consume
  -DHOUSE=${house} -DPYTHON=${NEARFIELD_PYTHON} -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER}
  -P ${consume}/consume.cmake)
# The library's objects as a shared library: it exports what the public headers declare, and nothing else.
add_library(nearfield_exports SHARED $<TARGET_OBJECTS:nearfield>)
set_target_properties(nearfield_exports PROPERTIES LINKER_LANGUAGE CXX)
nearfield_export(nearfield_exports ${PROJECT_SOURCE_DIR}/cmake/nearfield.map)
target_link_libraries(nearfield_exports PRIVATE nearfield::nearfield nearfield_flags)
house_test(exports ${NEARFIELD_PYTHON} ${house}/binaries.py --exports "^_ZN9nearfield[0-9]+[a-z0-9_]+[A-Z]|^_ZT[ISV]N9nearfield5errorE$|^_ZN9nearfield7effects[0-9]+[a-z_]+[A-Z]|^_ZNK?9nearfield6basins|^_ZNK9nearfield9call_plan4text|^_ZNK9nearfield4path4text|^_ZNK9nearfield7roadmap[0-9]+[a-z]+E|^_ZNK9nearfield13occupancy_map4viewEv$"
  $<TARGET_FILE:nearfield_exports>)
# The command line is put on the path by its folder; without it the shell blocks are only looked at.
if(NEARFIELD_CLI)
  house_test(snippets ${NEARFIELD_PYTHON} ${house}/snippets.py --path ${PROJECT_BINARY_DIR}/cli)
else()
  house_test(snippets ${NEARFIELD_PYTHON} ${house}/snippets.py)
endif()
