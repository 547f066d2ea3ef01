# TW_PYTHON: the Python of the virtual environment that tools/setup.sh makes from the pinned requirements.
# The folder carries a hash of the requirements, so that every checkout with the same pins shares one.
set(TW_VENV "" CACHE PATH "Virtual environment to use instead of the cached one")
set(requirements "${PROJECT_SOURCE_DIR}/tools/requirements.txt")
set(no_deps "${PROJECT_SOURCE_DIR}/tools/requirements_no_deps.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${requirements}" "${no_deps}")

execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/setup.sh" --print-venv
                OUTPUT_VARIABLE cached_venv OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(TW_VENV)
  set(cached_venv "${TW_VENV}")
endif()
set(TW_PYTHON "${cached_venv}/bin/python")
if(NOT EXISTS "${TW_PYTHON}")
  message(FATAL_ERROR "No Python environment at ${cached_venv}: run tools/setup.sh (or `make setup`) first")
endif()
execute_process(COMMAND "${TW_PYTHON}" -I -c "import sysconfig; print(sysconfig.get_path('platlib'))"
                OUTPUT_VARIABLE TW_SITE_PACKAGES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
# The Kafka broker of the tests (tools/setup.sh --kafka); tests that want it fail without.
execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/setup.sh" --print-kafka
                OUTPUT_VARIABLE TW_KAFKA_HOME OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
