# The C++ library for other projects: headers, libthalweg.so and find_package(Thalweg) with the target Thalweg::thalweg.
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/thalweg" DESTINATION include FILES_MATCHING PATTERN "*.h")
install(EXPORT ThalwegTargets NAMESPACE Thalweg:: FILE ThalwegTargets.cmake DESTINATION lib/cmake/Thalweg)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ThalwegConfigVersion.cmake" VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/ThalwegConfig.cmake" "${PROJECT_BINARY_DIR}/ThalwegConfigVersion.cmake"
        DESTINATION lib/cmake/Thalweg)
