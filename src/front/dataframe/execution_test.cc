#include "front/dataframe/execution.h"

#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/mutex.h"

namespace thalweg::internal {
namespace {

namespace proto = ::spark::connect;
using testing::ElementsAre;

constexpr int kResponses = 40;

/// Answers a plan with responses "1", "2", ... and breaks its streams as told.
class BrokenServer final : public proto::SparkConnectService::Service {
 public:
  ~BrokenServer() override { Stop(); }
  void Stop() {
    if (server_ != nullptr) server_->Shutdown();
    server_.reset();
  }
  /// Serves from now on. What is below is set while it does not.
  ConnectUrl Start() {
    if (server_ == nullptr) {
      grpc::ServerBuilder builder;
      builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
      builder.RegisterService(this);
      server_ = builder.BuildAndStart();
    }
    return ConnectUrl::Parse("sc://127.0.0.1:" + std::to_string(port_)).ValueOrDie();
  }

  int per_stream = kResponses + 1;                ///< responses, then the stream ends
  grpc::Status end_of_stream = grpc::Status::OK;  ///< of streams that end before the last response
  int lost_requests = 0;                          ///< plans that never arrive
  grpc::Status failure = grpc::Status::OK;        ///< instead of any response
  proto::FetchErrorDetailsResponse details;

  std::vector<std::string> Calls() const {
    const MutexLock lock(mutex_);
    return calls_;
  }

  grpc::Status ExecutePlan(grpc::ServerContext*, const proto::ExecutePlanRequest* request,
                           grpc::ServerWriter<proto::ExecutePlanResponse>* writer) override {
    Note("execute");
    if (!failure.ok()) return failure;
    if (lost_requests > 0) {
      --lost_requests;
      return {grpc::StatusCode::UNAVAILABLE, "lost"};
    }
    {
      const MutexLock lock(mutex_);
      operation_ = request->operation_id();
    }
    return Send(0, writer);
  }
  grpc::Status ReattachExecute(grpc::ServerContext*, const proto::ReattachExecuteRequest* request,
                               grpc::ServerWriter<proto::ExecutePlanResponse>* writer) override {
    Note("reattach");
    if (!failure.ok()) return failure;
    if (request->operation_id() != Operation()) return {grpc::StatusCode::INTERNAL, "[INVALID_HANDLE.OPERATION_NOT_FOUND] unknown"};
    return Send(request->has_last_response_id() ? std::stoi(request->last_response_id()) : 0, writer);
  }
  grpc::Status ReleaseExecute(grpc::ServerContext*, const proto::ReleaseExecuteRequest* request, proto::ReleaseExecuteResponse*) override {
    Note(request->has_release_all() ? "release all" : "release until " + request->release_until().response_id());
    return grpc::Status::OK;
  }
  grpc::Status FetchErrorDetails(grpc::ServerContext*, const proto::FetchErrorDetailsRequest* request,
                                 proto::FetchErrorDetailsResponse* response) override {
    if (request->error_id() == "e") *response = details;
    return grpc::Status::OK;
  }

 private:
  grpc::Status Send(int after, grpc::ServerWriter<proto::ExecutePlanResponse>* writer) {
    for (int i = 1; i <= per_stream; ++i) {
      proto::ExecutePlanResponse response;
      response.set_response_id(std::to_string(after + i));
      if (after + i == kResponses + 1) response.mutable_result_complete();
      writer->Write(response);
      if (after + i == kResponses + 1) return grpc::Status::OK;
    }
    return end_of_stream;
  }
  void Note(std::string call) {
    const MutexLock lock(mutex_);
    calls_.push_back(std::move(call));
  }
  std::string Operation() const {
    const MutexLock lock(mutex_);
    return operation_;
  }
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  mutable Mutex mutex_;
  std::vector<std::string> calls_ TW_GUARDED_BY(mutex_);
  std::string operation_ TW_GUARDED_BY(mutex_);
};

class ExecutionTest : public testing::Test {
 protected:
  Status Run(const Execution::Take& take, std::stop_token stop = {}) {
    Connection connection(server_.Start(), nullptr);
    return Execution(connection, proto::Plan(), take, std::move(stop)).Run();
  }
  Status Run() {
    return Run([this](const proto::ExecutePlanResponse& response) {
      taken_.push_back(std::stoi(response.response_id()));
      return Status::OK();
    });
  }
  void ExpectAllOnce() const {
    ASSERT_EQ(taken_.size(), static_cast<size_t>(kResponses));
    for (int i = 0; i < kResponses; ++i) EXPECT_EQ(taken_[i], i + 1);
  }
  BrokenServer server_;
  std::vector<int> taken_;
};

TEST_F(ExecutionTest, OneStreamReleasedAsItGoes) {
  ASSERT_TRUE(Run().ok());
  ExpectAllOnce();
  EXPECT_THAT(server_.Calls(), ElementsAre("execute", "release until 16", "release until 32", "release all"));
}

TEST_F(ExecutionTest, StreamsThatTheServerClosesAreContinued) {
  server_.per_stream = 7;
  ASSERT_TRUE(Run().ok());
  ExpectAllOnce();
  const std::vector<std::string> calls = server_.Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "reattach"), 5);
}

TEST_F(ExecutionTest, BrokenStreamsAreContinued) {
  server_.per_stream = 9;
  server_.end_of_stream = {grpc::StatusCode::UNAVAILABLE, "connection reset"};
  ASSERT_TRUE(Run().ok());
  ExpectAllOnce();
  taken_.clear();
  server_.Stop();
  server_.end_of_stream = {grpc::StatusCode::INTERNAL, "[INVALID_CURSOR.DISCONNECTED] another stream"};
  ASSERT_TRUE(Run().ok());
  ExpectAllOnce();
}

TEST_F(ExecutionTest, APlanThatNeverArrivedIsSentAgain) {
  server_.lost_requests = 1;
  ASSERT_TRUE(Run().ok());
  ExpectAllOnce();
  std::vector<std::string> calls = server_.Calls();
  calls.resize(3);
  EXPECT_THAT(calls, ElementsAre("execute", "reattach", "execute"));
}

TEST_F(ExecutionTest, AServerThatNeverAnswersIsGivenUp) {
  server_.failure = {grpc::StatusCode::UNAVAILABLE, "nobody there"};
  const Status status = Run();
  EXPECT_EQ(status.condition(), "SPARK_CONNECT_UNREACHABLE");
  EXPECT_EQ(status.kind(), ErrorKind::kEnvironment);
}

TEST_F(ExecutionTest, WhatTheTakerRefusesEndsThePlan) {
  const Status status = Run([](const proto::ExecutePlanResponse&) { return Status(Error("ILLEGAL_ARGUMENT").With("message", "enough")); });
  EXPECT_EQ(status.condition(), "ILLEGAL_ARGUMENT");
  EXPECT_EQ(server_.Calls().back(), "release all");
}

TEST_F(ExecutionTest, AStopEndsThePlan) {
  std::stop_source source;
  const Status status = Run(
      [&source](const proto::ExecutePlanResponse&) {
        source.request_stop();
        return Status::OK();
      },
      source.get_token());
  EXPECT_EQ(status.condition(), "OPERATION_CANCELED");
}

grpc::Status WithInfo(const std::string& message, const google::rpc::ErrorInfo& info) {
  google::rpc::Status rich;
  rich.set_code(grpc::StatusCode::INTERNAL);
  rich.set_message(message);
  rich.add_details()->PackFrom(info);
  return {grpc::StatusCode::INTERNAL, message, rich.SerializeAsString()};
}

TEST_F(ExecutionTest, ErrorsAreTheServersOwn) {
  google::rpc::ErrorInfo info;
  (*info.mutable_metadata())["errorId"] = "e";
  server_.failure = WithInfo("cut", info);
  server_.details.set_root_error_idx(0);
  proto::FetchErrorDetailsResponse::Error* root = server_.details.add_errors();
  root->set_message("[OF_ANOTHER_VERSION] It has `a`. SQLSTATE: 42ABC\n== SQL ==\nb");
  root->set_cause_idx(1);
  root->mutable_spark_throwable()->set_error_class("OF_ANOTHER_VERSION");
  root->mutable_spark_throwable()->set_sql_state("42ABC");
  (*root->mutable_spark_throwable()->mutable_message_parameters())["name"] = "`a`";
  root->mutable_spark_throwable()->add_query_contexts()->set_fragment("b");
  proto::FetchErrorDetailsResponse::Error* cause = server_.details.add_errors();
  cause->set_message("deep down");
  cause->add_error_type_hierarchy("java.lang.IllegalStateException");

  const Status status = Run();
  EXPECT_EQ(status.condition(), "OF_ANOTHER_VERSION");
  EXPECT_EQ(status.sql_state(), "42ABC");
  EXPECT_EQ(status.message(), "[OF_ANOTHER_VERSION] It has `a`. SQLSTATE: 42ABC\n== SQL ==\nb");
  EXPECT_EQ(status.message_text(), "It has `a`.");
  EXPECT_THAT(status.parameters(), ElementsAre(std::pair<std::string, std::string>("name", "`a`")));
  ASSERT_EQ(status.query_context().size(), 1U);
  EXPECT_EQ(status.query_context()[0].fragment, "b");
  EXPECT_EQ(status.cause().condition(), "SPARK_CONNECT_ERROR");
  EXPECT_EQ(status.cause().message(), "deep down");
  EXPECT_THAT(status.cause().parameters(), ElementsAre(std::pair<std::string, std::string>("class", "java.lang.IllegalStateException")));
}

TEST_F(ExecutionTest, WithoutDetailsTheShortFormIsTaken) {
  google::rpc::ErrorInfo info;
  info.set_reason("org.apache.spark.sql.AnalysisException");
  (*info.mutable_metadata())["errorClass"] = "SHORT";
  (*info.mutable_metadata())["sqlState"] = "42000";
  server_.failure = WithInfo("[SHORT] text SQLSTATE: 42000", info);
  EXPECT_EQ(Run().condition(), "SHORT");
  server_.Stop();
  server_.failure = {grpc::StatusCode::UNAUTHENTICATED, "no token"};
  const Status plain = Run();
  EXPECT_EQ(plain.condition(), "SPARK_CONNECT_ERROR");
  EXPECT_EQ(plain.message(), "no token");
}

}  // namespace
}  // namespace thalweg::internal
