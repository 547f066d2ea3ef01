# Language level, warnings, compiler cache, linker, sanitizers. Everything here holds for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

set(TW_OPTIMISE "-O1 -g1" CACHE STRING "Optimisation and debug information")
set(TW_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")
option(TW_DCHECKS "Compile TW_DCHECK in" ON)
option(TW_PCH "Use the precompiled header base/pch.h" ON)
option(TW_FUZZ "Build the libFuzzer programs" OFF)
option(TW_HEADER_CHECK "Compile every header alone" OFF)

# -fPIC by hand and for all: CMake would give programs -fPIE, and a precompiled header made for one is refused by the other.
# Hidden visibility makes position independence free of cost inside a program and is what libthalweg.so wants.
string(APPEND CMAKE_CXX_FLAGS " ${TW_OPTIMISE} -pthread -fPIC -fvisibility=hidden -fno-plt"
       " -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
string(APPEND CMAKE_C_FLAGS " ${TW_OPTIMISE} -pthread -fPIC -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(TW_DCHECKS)
  string(APPEND CMAKE_CXX_FLAGS " -DTW_DCHECKS=1")
endif()
string(REPLACE ";" "" CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS}")

# GCC 12 reports these falsely in its own standard library at -O2; the sanitizers look for the real ones.
set(TW_WARNINGS -Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND TW_WARNINGS -Winvalid-pch -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
       -Wno-stringop-overflow -Wno-stringop-overread -Wno-dangling-pointer -Wno-free-nonheap-object)
endif()

if(TW_SANITIZE)
  string(APPEND CMAKE_CXX_FLAGS " -fsanitize=${TW_SANITIZE} -fno-sanitize-recover=all")
  string(APPEND CMAKE_C_FLAGS " -fsanitize=${TW_SANITIZE} -fno-sanitize-recover=all")
endif()
if(TW_FUZZ)
  string(APPEND CMAKE_CXX_FLAGS " -fsanitize=fuzzer-no-link")
endif()

find_program(TW_CCACHE ccache)
if(TW_CCACHE)
  # With these a second checkout in another folder hits for every unit, the precompiled header included.
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${TW_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_program(TW_MOLD mold)
find_program(TW_LLD NAMES ld.lld ld.lld-14)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TW_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(TW_LLD)
  add_link_options(-fuse-ld=lld)
endif()
add_link_options(-Wl,--as-needed)

set_property(GLOBAL PROPERTY JOB_POOLS link=2)
set(CMAKE_JOB_POOL_LINK link)
