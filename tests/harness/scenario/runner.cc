#include "scenario/runner.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/io/atomic_write.h"
#include "data/text/datetime.h"

namespace thalweg::scenario {
namespace {

using data::FileFault;
using data::FileOperation;

/// What goes wrong in a run, once.
struct Trouble {
  enum class Kind { kNone, kKill, kPowerLoss, kTornPowerLoss, kDiskFault, kSlowDisk, kTornFile, kStop } kind = Kind::kNone;
  int after_steps = 0;  ///< kill and power loss: durable steps that still happen
  int second_steps = -1;  ///< a kill: the power is lost so many durable steps after the restart; negative: it is not
  int file = 0;         ///< torn file: which of those that are there before the last run
  FileFault fault;      ///< disk faults, and stops: what makes a query end before its next batch
  std::string text;
};

/// What can be compared between runs.
struct Outcome {
  std::vector<Rows> checks;           ///< what the sink held at each `expect rows` and `expect table`
  std::vector<int64_t> last_batches;  ///< the newest committed batch at these moments
  int64_t batch_at_trouble = -1;      ///< the newest committed batch when it went wrong
  bool struck = false;
  int files = 0;     ///< there before the last run
  std::string torn;  ///< the file that was torn
  std::string told;  ///< a torn file: the error that names it, with which the script ended; empty: it went on
};

const MachineSize kSizes[] = {{2, 2}, {1, 1}, {4, 5}};

std::string RowsText(const Rows& rows) {
  std::string text;
  for (const Cells& row : rows) text += (text.empty() ? "" : " | ") + RowText(row);
  return text.empty() ? "none" : text;
}

bool Mentions(const Status& status, const std::string& condition) {
  for (const Status* at = &status; !at->ok(); at = &at->cause()) {
    if (at->condition() == condition || at->message().find(condition) != std::string::npos) return true;
  }
  return false;
}

/// "12:11:00", "@20" or a whole time as progress writes it.
std::string ProgressTime(const std::string& cell) {
  int64_t seconds = 0;
  if (cell.starts_with('@')) {
    for (const char c : cell.substr(1)) seconds = seconds * 10 + (c - '0');
    std::string time;
    data::AppendTimestampNtz((1'700'000'000 + seconds) * 1'000'000, &time);
    time[10] = 'T';
    return time + ".000Z";
  }
  std::string time = cell.find('T') == std::string::npos ? "2024-03-01T" + cell : cell;
  if (time.size() == 19) time += ".000";
  return time + "Z";
}

/// One run of a script from its beginning to its end.
class ScriptRun {
 public:
  ScriptRun(const Scenario& scenario, MachineSize size, Trouble trouble, bool check_numbers, uint64_t seed)
      : scenario_(scenario), size_(size), trouble_(std::move(trouble)), check_numbers_(check_numbers), random_(seed) {}

  Status Run(Outcome* outcome, int* durable_steps = nullptr, std::map<FileOperation, int>* counts = nullptr) {
    TW_ASSIGN_OR_RETURN(world_, World::Make(scenario_));
    TW_RETURN_NOT_OK(world_->Boot(size_));
    const int steps_before = world_->files().durable_steps();
    SetTrouble();
    for (const Step& step : scenario_.steps) {
      if (&step == LastRun()) {
        if (trouble_.kind == Trouble::Kind::kTornFile) world_->Halt();
        const std::vector<std::string> files = Files();
        outcome_.files = static_cast<int>(files.size());
        if (trouble_.kind == Trouble::Kind::kTornFile) {
          // The halt alone may have come before a batch without data, whether or not there is a file of that number to tear.
          outcome_.batch_at_trouble = world_->LastCommit();
          TW_RETURN_NOT_OK(trouble_.file < outcome_.files ? Tear(files[trouble_.file]) : Boot());
        }
      }
      const Status status = Take(step);
      if (!torn_.empty() && (!status.ok() || !failure_.ok())) {
        *outcome = std::move(outcome_);
        return Told(status.ok() ? failure_ : status, outcome);
      }
      if (!status.ok()) return InternalError("line " + std::to_string(step.line) + ": " + status.message());
    }
    if (!failure_.ok()) return failure_;
    const std::string contradiction = world_->collected().contradiction();
    if (!contradiction.empty()) return InternalError(contradiction);
    outcome_.struck = struck_;
    *outcome = std::move(outcome_);
    if (durable_steps != nullptr) *durable_steps = world_->files().durable_steps() - steps_before;
    if (counts != nullptr) {
      for (const FileOperation operation : {FileOperation::kOpen, FileOperation::kRead, FileOperation::kCreate, FileOperation::kWrite,
                                            FileOperation::kSync, FileOperation::kRename, FileOperation::kList, FileOperation::kRemove}) {
        (*counts)[operation] = world_->files().Count(operation);
      }
    }
    return Status::OK();
  }

 private:
  const Step* LastRun() const {
    const Step* last = nullptr;
    for (const Step& step : scenario_.steps) {
      if (step.kind == StepKind::kRun) last = &step;
    }
    return last;
  }
  /// Checkpoint and table, in the order of their names.
  std::vector<std::string> Files() const {
    std::vector<std::string> paths;
    for (const char* root : {"/checkpoint", "/table"}) {
      const Result<std::vector<data::FileInfo>> infos = world_->disk().ListTree(root);
      if (!infos.ok()) continue;
      for (const data::FileInfo& info : *infos) {
        if (!data::IsTemporaryName(info.name())) paths.push_back(info.path);
      }
    }
    return paths;
  }
  /// The last block of a file is gone, found at the next start.
  Status Tear(const std::string& path) {
    torn_ = outcome_.torn = path;
    TW_ASSIGN_OR_RETURN(const std::string bytes, world_->disk().ReadWhole(path));
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<data::WritableFile> file, world_->disk().Create(path, data::CreateMode::kReplace));
    TW_RETURN_NOT_OK(file->Append(std::string_view(bytes).substr(0, bytes.size() - std::min<size_t>(bytes.size() / 2 + 1, 512))));
    TW_RETURN_NOT_OK(file->Close());
    return Boot();
  }
  /// An error is an answer too when it says which file is damaged.
  Status Told(const Status& status, Outcome* outcome) const {
    const std::string name = torn_.substr(torn_.rfind('/') + 1);
    const std::string folder = torn_.substr(0, torn_.rfind('/'));
    if (!Mentions(status, torn_) && !Mentions(status, folder + "/" + name) && !Mentions(status, name)) {
      return InternalError("torn " + torn_ + " is reported as: " + status.message());
    }
    outcome->told = status.message();
    return Status::OK();
  }

  void SetTrouble() {
    switch (trouble_.kind) {
      case Trouble::Kind::kNone:
      case Trouble::Kind::kTornFile:
        break;
      case Trouble::Kind::kKill:
      case Trouble::Kind::kPowerLoss:
      case Trouble::Kind::kTornPowerLoss:
        world_->files().CutPowerAfter(trouble_.after_steps);
        break;
      case Trouble::Kind::kSlowDisk:
        world_->files().SlowDown(std::chrono::milliseconds(2));
        break;
      case Trouble::Kind::kDiskFault:
      case Trouble::Kind::kStop:
        world_->files().Add(trouble_.fault);
        break;
    }
  }

  Status Take(const Step& step) {
    if (world_->files().power_off()) TW_RETURN_NOT_OK(Recover());
    if (!failure_.ok() && !(step.kind == StepKind::kExpect && step.expectation == Expectation::kFails)) return failure_;
    switch (step.kind) {
      case StepKind::kAdd:
        return world_->Add(step.name, step.rows);
      case StepKind::kAdvance:
        if (step.advance_ms >= 0) {
          world_->clock().Advance(std::chrono::milliseconds(step.advance_ms));
        } else {
          world_->clock().SetMicros(world_->clock().NowMicros() + (step.advance_ms * 1000));
        }
        return Status::OK();
      case StepKind::kRestart: {
        world_->Halt();
        const Status status = Boot();
        return !status.ok() && MayStrike() ? Recover() : status;
      }
      case StepKind::kRun:
        return RunToTheEnd();
      case StepKind::kExpect:
        return Expect(step);
    }
    return Status::OK();
  }

  Status RunToTheEnd() {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Status status = world_->Run();
      if (status.ok()) return Status::OK();
      if (!MayStrike()) {
        failure_ = status;
        return Status::OK();  // `expect fails` may follow
      }
      if (trouble_.kind == Trouble::Kind::kDiskFault && !Mentions(status, "IO_ERROR")) {
        return InternalError("a disk fault is reported as: " + status.message());
      }
      TW_RETURN_NOT_OK(Recover());
    }
    return InternalError("the query fails again and again");
  }
  bool MayStrike() const {
    if (struck_) return false;
    if (trouble_.kind == Trouble::Kind::kDiskFault || trouble_.kind == Trouble::Kind::kStop) return true;
    return world_->files().power_off();
  }

  Status Recover() {
    struck_ = true;
    if (trouble_.kind == Trouble::Kind::kPowerLoss) {
      world_->LosePower(nullptr);
    } else if (trouble_.kind == Trouble::Kind::kTornPowerLoss) {
      world_->LosePower(&random_);
    } else {
      world_->Halt();
    }
    world_->files().RestorePower();
    world_->files().ClearFaults();
    outcome_.batch_at_trouble = world_->LastCommit();
    TW_RETURN_NOT_OK(Boot());
    if (trouble_.second_steps >= 0) {
      struck_ = false;
      trouble_.kind = Trouble::Kind::kPowerLoss;
      trouble_.after_steps = std::exchange(trouble_.second_steps, -1);
      SetTrouble();
    }
    return Status::OK();
  }
  Status Boot() {
    size_.workers = size_.workers % 4 + 1;  // another number of workers than before
    return world_->Boot(size_);
  }

  Status Expect(const Step& step) {
    if (step.expectation == Expectation::kFails) {
      const Status failure = std::exchange(failure_, Status::OK());
      if (failure.ok()) return InternalError("the query did not fail with " + step.text);
      if (!Mentions(failure, step.text)) return InternalError("the query failed otherwise than by " + step.text + ": " + failure.message());
      return Status::OK();
    }
    if (step.expectation == Expectation::kRows || step.expectation == Expectation::kTable) {
      Result<Rows> rows = world_->SinkRows();
      if (!rows.ok() && MayStrike()) {
        TW_RETURN_NOT_OK(Recover());
        rows = world_->SinkRows();
      }
      TW_RETURN_NOT_OK(rows.status());
      outcome_.checks.push_back(std::move(*rows));
      outcome_.last_batches.push_back(world_->LastCommit());
      return Status::OK();
    }
    return check_numbers_ ? ExpectNumbers(step) : Status::OK();
  }

  Status ExpectNumbers(const Step& step) {
    std::vector<nlohmann::json> progress;
    for (const std::string& text : world_->progress()) progress.push_back(nlohmann::json::parse(text, nullptr, false));
    std::string got;
    if (step.expectation == Expectation::kBatchRows) {
      const auto batches = world_->collected().batches();
      const auto batch = batches.find(step.batch);
      got = batch == batches.end() ? "no such batch" : RowsText(batch->second);
      Rows wanted = step.rows;
      SortRows(&wanted);
      return Same(got, RowsText(wanted));
    }
    if (step.expectation == Expectation::kBatches) {
      got = std::to_string(progress.size() - batches_told_);
      batches_told_ = progress.size();
      return Same(got, step.text);
    }
    if (step.expectation == Expectation::kDropped) {
      int64_t dropped = 0;
      for (const nlohmann::json& one : progress) {
        for (const nlohmann::json& op : one["stateOperators"]) dropped += op["numRowsDroppedByWatermark"].get<int64_t>();
      }
      return Same(std::to_string(dropped), step.text);
    }
    const nlohmann::json* batch = progress.empty() ? nullptr : &progress.back();
    if (step.expectation == Expectation::kBatchState) {
      batch = nullptr;
      for (const nlohmann::json& one : progress) {
        if (one["batchId"] == step.batch) batch = &one;
      }
    }
    if (batch == nullptr) return InternalError("there is no progress of such a batch");
    const std::string watermark = batch->value("/eventTime/watermark"_json_pointer, std::string("none"));
    Rows wanted = step.rows;
    if (step.expectation != Expectation::kState && !wanted.empty() && !wanted[0].empty()) {
      if (step.text == "none") wanted.clear();
      const std::string time = wanted.empty() || *wanted[0][0] == "none" ? "none" : ProgressTime(*wanted[0][0]);
      TW_RETURN_NOT_OK(Same(watermark, time));
      if (step.expectation == Expectation::kWatermark) return Status::OK();
      wanted[0].erase(wanted[0].begin());
    } else if (step.expectation == Expectation::kWatermark) {
      return Same(watermark, "none");
    }
    Rows numbers;
    for (const nlohmann::json& op : (*batch)["stateOperators"]) {
      Cells cells;
      for (const char* key : {"numRowsTotal", "numRowsUpdated", "numRowsRemoved", "numRowsDroppedByWatermark"}) {
        cells.emplace_back(std::to_string(op[key].get<int64_t>()));
      }
      numbers.push_back(std::move(cells));
    }
    return Same(RowsText(numbers), RowsText(wanted));
  }
  static Status Same(const std::string& got, const std::string& wanted) {
    return got == wanted ? Status::OK() : InternalError("expected " + wanted + ", got " + got);
  }

  const Scenario& scenario_;
  MachineSize size_;
  Trouble trouble_;
  const bool check_numbers_;
  Random random_;
  std::unique_ptr<World> world_;
  Outcome outcome_;
  Status failure_;
  bool struck_ = false;
  std::string torn_;
  size_t batches_told_ = 0;
};

/// The rows that the script wants at each check: increments add up, but for complete mode.
std::vector<Rows> Wanted(const Scenario& scenario) {
  std::vector<Rows> wanted;
  Rows so_far;
  for (const Step& step : scenario.steps) {
    if (step.kind != StepKind::kExpect || (step.expectation != Expectation::kRows && step.expectation != Expectation::kTable)) continue;
    if (scenario.mode == "complete" || step.expectation == Expectation::kTable) so_far.clear();
    so_far.insert(so_far.end(), step.rows.begin(), step.rows.end());
    SortRows(&so_far);
    wanted.push_back(so_far);
  }
  return wanted;
}

/// Whether `got` holds every row of `wanted`, and no other row.
bool AtLeastOnce(Rows got, const Rows& wanted) {
  for (const Cells& row : wanted) {
    if (std::find(got.begin(), got.end(), row) == got.end()) return false;
  }
  return std::all_of(got.begin(), got.end(), [&](const Cells& row) { return std::find(wanted.begin(), wanted.end(), row) != wanted.end(); });
}

class Runner {
 public:
  Runner(const Scenario& scenario, const RunnerOptions& options) : scenario_(scenario), options_(options), wanted_(Wanted(scenario)) {}

  Report Run() {
    if (!scenario_.refused.empty()) {
      Refused();
      return report_;
    }
    for (const MachineSize& size : kSizes) Straight(size);
    if (!report_.failures.empty() || !scenario_.recoverable()) return report_;
    Crashes();
    const bool fails = std::any_of(scenario_.steps.begin(), scenario_.steps.end(), [](const Step& step) {
      return step.kind == StepKind::kExpect && step.expectation == Expectation::kFails;
    });  // which error comes first is then open
    if (options_.fault_points > 0 && !fails) DiskFaults();
    return report_;
  }

 private:
  void Fail(const std::string& run, const std::string& what) { report_.failures.push_back(scenario_.name + ": " + run + ": " + what); }

  void Refused() {
    ++report_.runs;
    Result<std::unique_ptr<World>> world = World::Make(scenario_);
    Status status = world.status();
    if (status.ok()) status = (*world)->Boot(kSizes[0]);
    if (status.ok()) status = (*world)->Run();
    if (status.ok() || !Mentions(status, scenario_.refused)) {
      Fail("start", "expected " + scenario_.refused + ", got " + (status.ok() ? "no error" : status.message()));
    }
  }

  void Straight(MachineSize size) {
    ++report_.runs;
    const std::string run = "straight, " + std::to_string(size.workers) + " workers, " + std::to_string(size.partitions) + " partitions";
    Outcome outcome;
    int steps = 0;
    std::map<FileOperation, int> counts;
    const bool numbers = size.partitions == kSizes[0].partitions || !scenario_.settings.contains("scenario.numbers");
    const Status status = ScriptRun(scenario_, size, {}, numbers, options_.seed).Run(&outcome, &steps, &counts);
    if (!status.ok()) return Fail(run, status.message());
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (outcome.checks[i] == wanted_[i]) continue;
      Fail(run, "check " + std::to_string(i + 1) + "\n  expected " + RowsText(wanted_[i]) + "\n  got      " + RowsText(outcome.checks[i]));
    }
    if (size.workers == kSizes[0].workers) {
      straight_ = std::move(outcome);
      report_.durable_steps = steps;
      counts_ = counts;
    }
  }

  void Crashes() {
    const int steps = report_.durable_steps;
    const int points = options_.points == 0 ? steps : std::min(options_.points, steps);
    for (int i = 0; i < points; ++i) {
      const int step = static_cast<int>(int64_t{i} * steps / points + (options_.seed - 1) % std::max(1, steps / points));
      Trouble trouble;
      const Trouble::Kind kinds[] = {Trouble::Kind::kKill, Trouble::Kind::kPowerLoss, Trouble::Kind::kTornPowerLoss};
      const char* const names[] = {"killed", "power lost", "power lost with torn files"};
      const int kind = static_cast<int>((i + options_.seed) % 3);
      trouble.kind = kinds[kind];
      trouble.after_steps = step;
      if (trouble.kind == Trouble::Kind::kKill && i % 2 == 1) trouble.second_steps = i % 23;
      trouble.text = std::string(names[kind]) + " after durable step " + std::to_string(step) + " of " + std::to_string(steps);
      if (trouble.second_steps >= 0) trouble.text += ", power lost " + std::to_string(trouble.second_steps) + " steps after the restart";
      Disturbed(trouble, kSizes[i % 2], options_.seed + i);
    }
  }

  void DiskFaults() {
    struct Kind {
      FileOperation operation;
      int error;
      bool torn, lasting;
      const char* text;
    };
    const Kind kinds[] = {{FileOperation::kWrite, ENOSPC, false, true, "disk full at write"},
                          {FileOperation::kWrite, ENOSPC, true, true, "disk full in the middle of write"},
                          {FileOperation::kWrite, EIO, false, false, "EIO at write"},
                          {FileOperation::kSync, EIO, false, false, "EIO at sync"},
                          {FileOperation::kRename, EIO, false, false, "EIO at rename"},
                          {FileOperation::kCreate, EROFS, false, true, "read-only from create"},
                          {FileOperation::kOpen, EIO, false, false, "EIO at open"},
                          {FileOperation::kRead, EIO, false, false, "EIO at read"},
                          {FileOperation::kList, EIO, false, false, "EIO at list"},
                          {FileOperation::kRemove, EACCES, false, false, "EACCES at remove"}};
    Trouble slow;
    slow.kind = Trouble::Kind::kSlowDisk;
    slow.text = "slow disk";
    Disturbed(slow, kSizes[0], options_.seed);
    const int torn = std::min(straight_.files, options_.fault_points * 10);
    for (int i = 0; i < torn; ++i) {
      Trouble trouble;
      trouble.kind = Trouble::Kind::kTornFile;
      trouble.file = static_cast<int>(int64_t{i} * straight_.files / torn);
      trouble.text = "torn file " + std::to_string(trouble.file) + " of " + std::to_string(straight_.files);
      Disturbed(trouble, kSizes[i % 2], options_.seed + i);
    }
    for (const Kind& kind : kinds) {
      const int count = counts_[kind.operation];
      const int points = std::min(options_.fault_points, count);
      for (int i = 0; i < points; ++i) {
        const int nth = 1 + static_cast<int>((int64_t{i} * count / points + static_cast<int64_t>(options_.seed - 1) % std::max(1, count / points)) % count);
        Trouble trouble;
        trouble.kind = Trouble::Kind::kDiskFault;
        trouble.fault = {kind.operation, nth, kind.error, "", kind.torn, kind.lasting};
        trouble.text = std::string(kind.text) + " " + std::to_string(nth) + " of " + std::to_string(count);
        Disturbed(trouble, kSizes[i % 2], options_.seed + i);
      }
    }
  }

  void Disturbed(const Trouble& trouble, MachineSize size, uint64_t seed) {
    ++report_.runs;
    Outcome outcome;
    const Status status = ScriptRun(scenario_, size, trouble, false, seed).Run(&outcome);
    if (!status.ok()) return Fail(trouble.text, status.message());
    if (!outcome.told.empty()) return;
    const std::vector<Rows>* wanted = &wanted_;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const Rows& got = outcome.checks[i];
      if (got == (*wanted)[i] || (scenario_.sink == "kafka" && AtLeastOnce(got, (*wanted)[i]))) continue;
      // A restart before a batch without data leaves that batch out until there is data again, and later rows are judged by the
      // watermark before it (Spark's rule). The answer then is that of a clean stop at this place.
      if (wanted == &wanted_ && outcome.batch_at_trouble >= 0) {
        const std::vector<Rows>* stopped = Stopped(outcome.batch_at_trouble, size);
        if (stopped != nullptr && got == (*stopped)[i]) {
          wanted = stopped;
          continue;
        }
      }
      return Fail(trouble.text + (outcome.torn.empty() ? "" : " (" + outcome.torn + ")"), "check " + std::to_string(i + 1) + "\n  expected " + RowsText((*wanted)[i]) + "\n  got      " + RowsText(got));
    }
  }

  /// The checks of a run that was stopped in good order after `batch`, before the next one was planned.
  const std::vector<Rows>* Stopped(int64_t batch, MachineSize size) {
    if (straight_.last_batches.empty() || batch >= straight_.last_batches.back()) return nullptr;
    const auto known = stopped_.find(batch);
    if (known != stopped_.end()) return &known->second;
    Trouble trouble;
    trouble.kind = Trouble::Kind::kStop;
    trouble.fault = {FileOperation::kCreate, 1, EINTR, "/offsets/." + std::to_string(batch + 1) + ".", false, false};
    Outcome outcome;
    const Status status = ScriptRun(scenario_, size, trouble, false, 1).Run(&outcome);
    if (!status.ok()) return nullptr;
    return &(stopped_[batch] = std::move(outcome.checks));
  }

  const Scenario& scenario_;
  const RunnerOptions options_;
  const std::vector<Rows> wanted_;
  Outcome straight_;
  std::map<FileOperation, int> counts_;
  std::map<int64_t, std::vector<Rows>> stopped_;
  Report report_;
};

}  // namespace

Report RunScenario(const Scenario& scenario, const RunnerOptions& options) { return Runner(scenario, options).Run(); }

}  // namespace thalweg::scenario
