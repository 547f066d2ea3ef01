#include "base/redact.h"
#include "data/text/interval.h"
#include "data/text/time_zone.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

using data::DataType;

constexpr const char* kTimeZone = "spark.sql.session.timeZone";

data::Schema PairSchema() { return {{"key", DataType::String(), false}, {"value", DataType::String(), false}}; }

}  // namespace

Status Run(CommandRun& run, const sql::SetConfig& command) {
  if (!command.key) {
    std::vector<data::ValueList> rows;
    for (const auto& [key, value] : run.session.AllConf()) rows.push_back({TextValue(key), TextValue(RedactValue(key, value))});
    return run.Answer(PairSchema(), rows);
  }
  if (!command.value) {
    const std::optional<std::string> value = run.session.GetConfOption(*command.key);
    const std::string text = value ? RedactValue(*command.key, *value) : "<undefined>";
    return run.Answer(PairSchema(), {{TextValue(*command.key), TextValue(text)}});
  }
  TW_RETURN_NOT_OK(run.session.SetConf(*command.key, *command.value));
  return run.Answer(PairSchema(), {{TextValue(*command.key), TextValue(RedactValue(*command.key, *command.value))}});
}

Status Run(CommandRun& run, const sql::ResetConfig& command) {
  if (command.key) return run.session.UnsetConf(*command.key);
  run.session.ResetConf();
  return Status::OK();
}

Status Run(CommandRun& run, const sql::SetTimeZone& command) {
  if (command.zone == nullptr) {
    if (!command.text.empty() && sql::LowerName(command.text) != "local") {
      TW_RETURN_NOT_OK(run.session.SetConf(kTimeZone, command.text));
    } else {
      TW_RETURN_NOT_OK(run.session.UnsetConf(kTimeZone));
    }
  } else {
    const auto* literal = command.zone->As<sql::Literal>();
    std::string text = command.text;
    if (literal != nullptr && literal->type().Is(data::TypeKind::kString)) text = literal->value().get<std::string>();
    if (literal != nullptr && literal->type().Is(data::TypeKind::kDayTimeInterval)) {
      text = data::TimeZone::FixedOffset(static_cast<int>(literal->value().get<int64_t>() / 1'000'000)).id();
    }
    TW_RETURN_NOT_OK(run.session.SetConf(kTimeZone, text));
  }
  return run.Answer(PairSchema(), {{TextValue(kTimeZone), TextValue(run.session.GetConfOption(kTimeZone).value_or(""))}});
}

}  // namespace thalweg::front
