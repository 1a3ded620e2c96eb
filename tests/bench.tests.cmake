# What the benchmarks say and compare, not how fast anything is: nothing here looks at a clock.
if(NEARFIELD_SANITIZE OR NOT NEARFIELD_BENCH)
  return()
endif()
if(NOT NEARFIELD_PYTHON)
  find_program(NEARFIELD_PYTHON python3 REQUIRED DOC "Python 3.10 or newer that the tests may use")
endif()
foreach(name IN ITEMS report methods_report peers)
  add_test(NAME bench.${name} COMMAND ${NEARFIELD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/bench/${name}_test.py
    $<TARGET_FILE:bench_all>)
  set_tests_properties(bench.${name} PROPERTIES LABELS bench TIMEOUT 300 SKIP_REGULAR_EXPRESSION "^SKIPPED")
endforeach()
