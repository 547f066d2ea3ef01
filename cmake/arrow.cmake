# Targets `arrow` and `parquet`: headers only. The libraries themselves stand last on every link line.
#
# A packaged Arrow is taken when there is one; else the pyarrow wheel of the virtual environment. The wheel's libraries
# export thousands of functions of libraries they contain (OpenSSL, simdjson, RE2, Abseil, protobuf). Left alone, the
# loader would bind the system's libraries to them. So copies are made in the build tree with those symbols hidden
# (tools/hide_symbols.py). Two linkers still resolve against hidden symbols, hence "last on every link line".
add_library(arrow INTERFACE)
add_library(parquet INTERFACE)
target_link_libraries(parquet INTERFACE arrow)

find_package(Arrow 20 CONFIG QUIET)
if(Arrow_FOUND)
  find_package(Parquet CONFIG REQUIRED)
  target_link_libraries(arrow INTERFACE Arrow::arrow_shared)
  target_link_libraries(parquet INTERFACE Parquet::parquet_shared)
  set(TW_ARROW_LIBRARIES "")
  return()
endif()

set(pyarrow "${TW_SITE_PACKAGES}/pyarrow")
if(NOT EXISTS "${pyarrow}/include/arrow/util/config.h")
  message(FATAL_ERROR "Neither an Arrow package nor the pyarrow wheel (${pyarrow}) was found: run tools/setup.sh")
endif()
file(STRINGS "${pyarrow}/include/arrow/util/config.h" so_line REGEX "define ARROW_SO_VERSION")
string(REGEX REPLACE ".*\"([0-9]+)\".*" "\\1" so_version "${so_line}")

set(TW_ARROW_DIR "${PROJECT_BINARY_DIR}/arrow")
set(TW_ARROW_LIBRARIES "")
set(wheel_libraries "")
foreach(name parquet arrow_compute arrow)
  list(APPEND wheel_libraries "${pyarrow}/lib${name}.so.${so_version}")
  list(APPEND TW_ARROW_LIBRARIES "${TW_ARROW_DIR}/lib${name}.so.${so_version}")
endforeach()
execute_process(COMMAND "${TW_PYTHON}" -I "${PROJECT_SOURCE_DIR}/tools/hide_symbols.py" "${TW_ARROW_DIR}" ${wheel_libraries}
                COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/hide_symbols.py")

target_include_directories(arrow SYSTEM INTERFACE "${pyarrow}/include")
list(JOIN TW_ARROW_LIBRARIES " " arrow_line)
set(CMAKE_CXX_STANDARD_LIBRARIES "-Wl,--push-state,--as-needed ${arrow_line} -Wl,--pop-state ${CMAKE_CXX_STANDARD_LIBRARIES}")
list(APPEND CMAKE_BUILD_RPATH "${TW_ARROW_DIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
install(FILES ${TW_ARROW_LIBRARIES} DESTINATION lib)
