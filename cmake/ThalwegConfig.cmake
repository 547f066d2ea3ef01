# find_package(Thalweg): the target Thalweg::thalweg. It needs nothing else: Arrow, gRPC and the rest are the library's own affair.
include("${CMAKE_CURRENT_LIST_DIR}/ThalwegTargets.cmake")
