// SQL statements from text to the printed physical plan: parser, analyzer, optimizer and planner on what nobody means well. No crash, and
// an analysed query keeps the schema that it was analysed to. There are no data sources, and no command is run.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "front/session/fuzz_server.h"

namespace {

using namespace thalweg;  // NOLINT

/// With a view to ask for.
struct Server : front::FuzzServer {
  Server() {
    const auto view = session->ParseSql("SELECT * FROM VALUES (1, 'a', 1.5D, array(1)), (2, null, 0D, null) AS t(i, s, d, l)", {}, {});
    if (!view.ok() || !session->Analyze(*view).ok() || !session->CreateTempView("t", *session->Analyze(*view), true, false).ok()) std::abort();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static Server* const server = new Server();  // lives to the end of the process
  front::Session& session = *server->session;
  const Result<sql::PlanPtr> parsed = session.ParseSql(std::string(reinterpret_cast<const char*>(bytes), size), {}, {});
  if (!parsed.ok() || (*parsed)->kind() == sql::PlanKind::kCommand) return 0;
  const Result<sql::PlanPtr> analyzed = session.Analyze(*parsed);
  if (!analyzed.ok()) return 0;
  const data::Schema schema = (*analyzed)->schema();
  Ignore(session.Explain(*parsed, "extended").status(), "it may be refused");
  if (const Result<sql::PlanPtr> again = session.Analyze(*parsed); !again.ok() || !((*again)->schema() == schema)) std::abort();
  return 0;
}
