# What `cmake --install` leaves behind: the library, its headers, the command line, and a package for find_package(nearfield).
include(CMakePackageConfigHelpers)
# Found by the compiler that links CUDA here, but a project that only knows C++ has to be told.
if(NEARFIELD_HAS_CUDA)
  # Its headers are for kernels alone: without their path, a compiler cache shares the host's sources with builds without CUDA.
  target_link_libraries(nearfield PRIVATE $<LINK_ONLY:CUDA::cudart_static>)
  target_include_directories(nearfield SYSTEM PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${CUDAToolkit_INCLUDE_DIRS}>)
endif()
install(TARGETS nearfield EXPORT nearfieldTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nearfield DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
set(NEARFIELD_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/nearfield)
install(EXPORT nearfieldTargets NAMESPACE nearfield:: DESTINATION ${NEARFIELD_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nearfieldConfig.cmake.in ${PROJECT_BINARY_DIR}/nearfieldConfig.cmake
  INSTALL_DESTINATION ${NEARFIELD_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nearfieldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nearfieldConfig.cmake ${PROJECT_BINARY_DIR}/nearfieldConfigVersion.cmake
  DESTINATION ${NEARFIELD_CMAKE_DIR})
# For builds without CMake. Programs that link a static library also link what it uses.
set(NEARFIELD_PC_USES " -lstdc++ -lm -lpthread")
if(NEARFIELD_HAS_CUDA)
  string(APPEND NEARFIELD_PC_USES " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
set(NEARFIELD_PC_PRIVATE "")
set(NEARFIELD_PC_USES_PRIVATE "")
if(BUILD_SHARED_LIBS)
  set(NEARFIELD_PC_PRIVATE ".private")
  set(NEARFIELD_PC_USES_PRIVATE "${NEARFIELD_PC_USES}")
  set(NEARFIELD_PC_USES "")
endif()
file(RELATIVE_PATH NEARFIELD_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # wherever it is installed
configure_file(${PROJECT_SOURCE_DIR}/cmake/nearfield.pc.in ${PROJECT_BINARY_DIR}/nearfield.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nearfield.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nearfield)
