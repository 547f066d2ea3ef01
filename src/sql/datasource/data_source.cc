#include "sql/datasource/data_source.h"

#include <algorithm>
#include <charconv>

namespace thalweg::sql {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

bool EqualIgnoreCase(std::string_view a, std::string_view b) { return a.size() == b.size() && Lower(a) == Lower(b); }

Status BadOption(std::string_view key, std::string_view value, std::string_view expected) {
  return Error("INVALID_OPTION_VALUE").With("option", key).With("value", value).With("expected", expected);
}

Status NoSuchAbility(const Table& table, std::string_view operation) {
  return Error("UNSUPPORTED_FEATURE.TABLE_OPERATION")
      .With("tableName", data::QuoteIdentifier(table.name()))
      .With("operation", operation);
}

}  // namespace

// --- OptionMap ---

void OptionMap::Set(std::string key, std::string value) {
  for (auto& [name, old] : entries_) {
    if (EqualIgnoreCase(name, key)) {
      name = std::move(key);
      old = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::move(key), std::move(value));
}

std::optional<std::string> OptionMap::Get(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (EqualIgnoreCase(name, key)) return value;
  }
  return std::nullopt;
}

Result<int64_t> OptionMap::GetInt(std::string_view key, int64_t otherwise) const {
  const std::optional<std::string> text = Get(key);
  if (!text) return otherwise;
  int64_t value = 0;
  const char* const begin = text->data() + (text->starts_with('+') ? 1 : 0);
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(begin, last, value);
  if (begin == last || error != std::errc{} || end != last) return BadOption(key, *text, "an integer");
  return value;
}

Result<bool> OptionMap::GetBool(std::string_view key, bool otherwise) const {
  const std::optional<std::string> text = Get(key);
  if (!text) return otherwise;
  if (EqualIgnoreCase(*text, "true")) return true;
  if (EqualIgnoreCase(*text, "false")) return false;
  return BadOption(key, *text, "true or false");
}

// --- Table ---

Result<std::unique_ptr<Scan>> Table::NewScan(const ScanRequest&, std::shared_ptr<const EvalConfig>) {
  return NoSuchAbility(*this, "batch scan");
}

Result<std::unique_ptr<MicroBatchStream>> Table::NewMicroBatchStream(const StreamContext&) {
  return Error("_LEGACY_ERROR_TEMP_2049").With("className", name()).With("operator", "reading");
}

Result<std::unique_ptr<BatchWrite>> Table::NewBatchWrite(const WriteRequest&) {
  return NoSuchAbility(*this, "append in batch mode");
}

Result<std::variant<std::unique_ptr<StreamingWrite>, std::unique_ptr<BatchSink>>> Table::NewStreamingWrite(
    const StreamWriteRequest&) {
  return Error("_LEGACY_ERROR_TEMP_2049").With("className", name()).With("operator", "writing");
}

// --- DataSource ---

Status DataSource::CreateTable(const std::string&, const data::Schema&, const std::vector<std::string>&,
                               const std::map<std::string, std::string>&, const EvalConfig&) const {
  return Status::OK();
}

Status DataSourceRegistry::Register(std::shared_ptr<const DataSource> source) {
  std::vector<std::string> names = source->aliases();
  names.push_back(source->short_name());
  for (const std::string& name : names) {
    const auto [entry, added] = sources_.emplace(Lower(name), source);
    if (!added && entry->second != source) return InternalError("two data sources are named " + name);
  }
  return Status::OK();
}

Result<std::shared_ptr<const DataSource>> DataSourceRegistry::Find(std::string_view name) const {
  const auto entry = sources_.find(Lower(name));
  if (entry == sources_.end()) return Error("DATA_SOURCE_NOT_FOUND").With("provider", name);
  return entry->second;
}

}  // namespace thalweg::sql
