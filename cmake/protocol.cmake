# Target `protocol_messages`: the C++ messages of Spark Connect (with its gRPC service), Delta Connect and google.rpc.
# They are rebuilt from the descriptors inside the installed Python clients; no .proto text is committed.
set(TW_PROTOCOL_DIR "${PROJECT_BINARY_DIR}/generated/protocol")
set(descriptors "${TW_PROTOCOL_DIR}/descriptors.pb")
set(proto_list "${TW_PROTOCOL_DIR}/protos.txt")
execute_process(
  COMMAND "${TW_PYTHON}" -S -I "${PROJECT_SOURCE_DIR}/tools/extract_protos.py" "${TW_SITE_PACKAGES}" "${descriptors}" "${proto_list}"
  COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/extract_protos.py")
file(STRINGS "${proto_list}" protos)
set(service_proto spark/connect/base.proto)

find_program(TW_PROTOC protoc REQUIRED)
find_program(TW_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
set(generated "")
foreach(proto ${protos})
  string(REGEX REPLACE "\\.proto$" ".pb" stem "${proto}")
  list(APPEND generated "${TW_PROTOCOL_DIR}/${stem}.cc")
  list(APPEND generated_headers "${TW_PROTOCOL_DIR}/${stem}.h")
endforeach()
string(REGEX REPLACE "\\.proto$" ".grpc.pb" stem "${service_proto}")
list(APPEND generated "${TW_PROTOCOL_DIR}/${stem}.cc")
list(APPEND generated_headers "${TW_PROTOCOL_DIR}/${stem}.h")

set(wkt "${TW_PROTOCOL_DIR}/well_known_types.pb")
add_custom_command(
  OUTPUT ${generated} ${generated_headers}
  COMMAND "${TW_PROTOC}" --include_imports -o "${wkt}" google/protobuf/any.proto google/protobuf/timestamp.proto
          google/protobuf/duration.proto google/protobuf/struct.proto
  COMMAND "${TW_PROTOC}" "--descriptor_set_in=${wkt}:${descriptors}" "--cpp_out=${TW_PROTOCOL_DIR}" ${protos}
  COMMAND "${TW_PROTOC}" "--descriptor_set_in=${wkt}:${descriptors}" "--grpc_out=${TW_PROTOCOL_DIR}"
          "--plugin=protoc-gen-grpc=${TW_GRPC_PLUGIN}" "${service_proto}"
  DEPENDS "${descriptors}"
  COMMENT "Generating protocol messages"
  VERBATIM)

# A third of the time of -O2 with the rest of the project's options, and nothing is lost: no hot path runs here.
add_library(protocol_messages STATIC ${generated} ${generated_headers})
target_compile_options(protocol_messages PRIVATE -O1 -g0 -w)
if(TW_SANITIZE)
  target_compile_options(protocol_messages PRIVATE -fno-sanitize=all)
endif()
set_target_properties(protocol_messages PROPERTIES UNITY_BUILD OFF)
if(TW_SANITIZE STREQUAL "thread")
  target_include_directories(protocol_messages BEFORE PUBLIC "${PROJECT_SOURCE_DIR}/cmake/sanitizers/include")
endif()
target_include_directories(protocol_messages SYSTEM PUBLIC "${TW_PROTOCOL_DIR}")
target_link_libraries(protocol_messages PUBLIC grpc protobuf)
