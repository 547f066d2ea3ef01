# Every room, in order: a room uses only rooms that stand above it. A room without a CMakeLists.txt is not there yet.
set(TW_ROOMS
  base

  data/types
  data/io
  data/logs
  data/columnar
  data/text
  data/rowformat
  data/formats

  sql/expr
  sql/functions
  sql/datasource
  sql/plan
  sql/parser
  sql/protocol
  sql/catalog
  sql/analyzer
  sql/stateful_shape
  sql/optimizer

  engine/pyworker
  engine/exec
  engine/checkpoint
  engine/state
  engine/stateful
  engine/planner

  connectors/memory
  connectors/rate
  connectors/socket
  connectors/console
  connectors/noop
  connectors/file
  connectors/kafka
  connectors/delta
  connectors/state

  streaming/query

  front/session
  front/foreach
  front/commands
  front/connect
  front/dataframe

  apps)
