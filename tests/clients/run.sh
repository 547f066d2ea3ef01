#!/usr/bin/env bash
# run.sh VENV [VERSION...]: the Connect tests with other releases of PySpark's client, each installed into build/clients/VERSION in
# front of the environment's own. Status 1 when a test fails. Set by make clients: TW_SOURCE_DIR, TW_BUILD_DIR, PYTHONPATH.
set -uo pipefail
venv=$1
shift
versions=("$@")
((${#versions[@]})) || versions=(4.0.4 4.1.3 4.3.0)
failed=0

install() { # version: what is there is kept
  local folder=$TW_SOURCE_DIR/build/clients/$1 package=pyspark-client extra=()
  [[ -d $folder/pyspark ]] && return 0
  case $1 in 4.0.*|4.1.*|4.2.*) ;; *) package=pyspark extra=(py4j) ;; esac # no client package of its own yet
  "$venv/bin/pip" install --quiet --no-deps --target "$folder.new" "$package==$1" "${extra[@]}" || return 1
  rm -rf "$folder.new/pyspark/jars" # remote mode has no use for them
  mv "$folder.new" "$folder"
}

for version in "${versions[@]}"; do
  install "$version" || { echo "$version: not installed"; failed=1; continue; }
  scratch=$TW_SOURCE_DIR/build/tmp/clients-$version
  echo "== client $version"
  # The whole pyspark, unlike the client package, must be told that it is a client.
  SPARK_CONNECT_MODE_ENABLED=1 PYTHONPATH=$TW_SOURCE_DIR/build/clients/$version:$PYTHONPATH timeout 1500 "$venv/bin/python" -W ignore -B -m pytest -q -p no:cacheprovider \
    --import-mode=importlib --rootdir="$TW_SOURCE_DIR/tests" --basetemp="$scratch" \
    "$TW_SOURCE_DIR"/tests/connect/{first_contact,errors,streaming,catalog,settings,python_udf}_test.py "$TW_SOURCE_DIR"/tests/streaming/{foreach,foreach_batch,python_udf}_test.py || failed=1
done
exit $failed
