# Installs BUILD into an empty prefix, then configures, builds and runs the consumer against that prefix alone.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step(${PYTHON} ${HOUSE}/snippets.py --programs ${WORK}/programs)
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DSHOWN_PROGRAMS=${WORK}/programs
  "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure --no-tests=error)
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE described ${WORK}/prefix/*/nearfield.pc)
  get_filename_component(described ${described} DIRECTORY)
  step(sh -ec "export PKG_CONFIG_PATH=${described}
    ${COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/main.cpp $(${PKG_CONFIG} --cflags --libs nearfield) -o ${WORK}/described
    ${WORK}/described")
endif()
if(EXISTS ${WORK}/prefix/bin/nearfield)
  step(${WORK}/prefix/bin/nearfield --version)
  step(${PYTHON} ${HOUSE}/binaries.py ${WORK}/prefix/bin/nearfield)
endif()
