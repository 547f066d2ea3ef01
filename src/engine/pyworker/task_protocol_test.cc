// The begin of a task against the bytes that were sent to workers of every pyspark (testdata/recorded_tasks.jsonl).
#include "engine/pyworker/task_protocol.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/pyworker/java_data.h"

namespace thalweg::engine {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// What stands behind `prefix` up to the end of the length-prefixed text, as JSON; cuts it out of `bytes`.
nlohmann::json CutContext(size_t at, std::string* bytes) {
  const int32_t length = ReadJavaInt(bytes->data() + at);
  nlohmann::json context = nlohmann::json::parse(bytes->substr(at + 4, static_cast<size_t>(length)));
  bytes->erase(at, static_cast<size_t>(length) + 4);
  return context;
}

struct Recorded {
  PythonRuntime runtime;
  int32_t eval_type = 0;
  std::string request;
};

std::vector<Recorded> ReadRecorded() {
  std::ifstream file("src/engine/pyworker/testdata/recorded_tasks.jsonl");
  std::vector<Recorded> all;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    Recorded one;
    one.runtime.python_version = "3.11";
    one.runtime.pyspark_version = entry["pyspark"].get<std::string>();
    one.runtime.pyspark_major = one.runtime.pyspark_version[0] - '0';
    one.runtime.pyspark_minor = one.runtime.pyspark_version[2] - '0';
    if (one.runtime.AtLeast(4, 3)) one.runtime.start_of_init_message = -8;
    one.eval_type = entry["eval_type"].get<int>();
    one.request = FromHex(entry["request"].get<std::string>());
    all.push_back(std::move(one));
  }
  return all;
}

TEST(TaskProtocol, BeginsATaskAsEveryPysparkReadsIt) {
  const std::vector<Recorded> recorded = ReadRecorded();
  ASSERT_EQ(recorded.size(), 12U);
  const std::string input_type =
      R"({"fields":[{"metadata":{},"name":"_0","nullable":true,"type":"long"}],"type":"struct"})";
  for (const Recorded& one : recorded) {
    SCOPED_TRACE(one.runtime.pyspark_version + ", eval type " + std::to_string(one.eval_type));
    const bool flat = !one.runtime.AtLeast(4, 2);
    // The recording's task is number 2 of stage 1; ours are all of stage 0.
    std::string expected = one.request;
    const std::string place = JavaData().Int(1).Int(2).Int(0).Long(3).bytes();
    if (flat) {
      const size_t at = expected.find(place);
      ASSERT_NE(at, std::string::npos);
      expected.replace(at, place.size(), JavaData().Int(0).Int(0).Int(0).Long(3).bytes());
    }
    TaskInit init;
    init.task_attempt_id = 3;
    init.local_properties = {{"streaming.sql.batchId", "5"}};
    init.files_directory = "/tmp";
    init.eval_type = one.eval_type;
    init.runner_conf = {{"spark.sql.session.timeZone", "UTC"}};
    if (one.eval_type == 101) init.eval_conf = {{"input_type", input_type}};

    // The command is the user's: taken from the recording.
    const size_t pickle = expected.find("\x80\x04\x95");
    ASSERT_NE(pickle, std::string::npos);
    const auto length = static_cast<size_t>(ReadJavaInt(expected.data() + pickle - 4));
    UdfCall call;
    call.arguments.push_back({});
    call.commands = {expected.substr(pickle, length)};
    std::string begin = TaskBegin(one.runtime, init, UdfSection(one.runtime, init, {call}));

    if (!flat) {
      const size_t frame = one.runtime.start_of_init_message ? 8 : 0;
      const size_t at = frame + 4 + 4 + 4;
      const nlohmann::json context = CutContext(at, &begin);
      const nlohmann::json seen = CutContext(at, &expected);
      for (const auto& [key, value] : seen.items()) EXPECT_TRUE(context.contains(key)) << key;
      EXPECT_EQ(context["localProperties"], seen["localProperties"]);
      if (frame != 0) {
        EXPECT_EQ(begin.substr(0, 4), expected.substr(0, 4));
        begin.erase(0, 8);
        expected.erase(0, 8);
      }
    }
    // The result id of 4.2 and later is any number.
    const size_t compared = begin.size() - (flat ? 0 : 8);
    EXPECT_EQ(begin.substr(0, compared), expected.substr(0, compared));
  }
}

TEST(JavaData, IsBigEndian) {
  EXPECT_EQ(JavaData().Int(-2).Long(258).Bool(true).Bytes("a").bytes(),
            std::string("\xff\xff\xff\xfe\0\0\0\0\0\0\x01\x02\x01\0\0\0\x01" "a", 18));
  EXPECT_EQ(ReadJavaInt("\xff\xff\xff\xfe"), -2);
  EXPECT_EQ(ReadJavaLong("\xff\xff\xff\xff\xff\xff\xff\xfe"), -2);
}

}  // namespace
}  // namespace thalweg::engine
