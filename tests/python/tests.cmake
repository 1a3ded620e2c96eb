set(NEARFIELD_PYTHON "" CACHE FILEPATH "Python with numpy, scipy, edt, opencv and nibabel for the comparisons with peers; unset: skipped")

# Loaded into a Python that is not instrumented, so it would not start in a sanitized build.
if(NEARFIELD_SANITIZE)
  set(why_not "NEARFIELD_SANITIZE is set, and Python itself is not instrumented")
elseif(NOT NEARFIELD_PYTHON)
  set(why_not "NEARFIELD_PYTHON is not set; configure with -DNEARFIELD_PYTHON=PATH to compare with SciPy")
endif()
if(DEFINED why_not)
  foreach(name IN ITEMS peers options)
    add_test(NAME python.${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${why_not}")
    set_tests_properties(python.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^SKIPPED" LABELS python)
  endforeach()
  unset(why_not)
  return()
endif()

add_library(nearfield_test_abi MODULE python/abi.cpp)
target_link_libraries(nearfield_test_abi PRIVATE nearfield::nearfield nearfield_flags)
foreach(name IN ITEMS peers options)
  add_test(NAME python.${name} COMMAND ${NEARFIELD_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/test_${name}.py
    $<TARGET_FILE:nearfield_test_abi>)
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 600)
endforeach()
