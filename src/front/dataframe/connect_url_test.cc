#include "front/dataframe/connect_url.h"

#include <gtest/gtest.h>

namespace thalweg::internal {
namespace {

ConnectUrl Parsed(std::string_view url) { return ConnectUrl::Parse(url).ValueOrDie(); }

TEST(ConnectUrlTest, HostsAndPorts) {
  EXPECT_EQ(Parsed("sc://here").target, "here:15002");
  EXPECT_EQ(Parsed("sc://here:7/").target, "here:7");
  EXPECT_EQ(Parsed("sc://[::1]").target, "[::1]:15002");
  EXPECT_EQ(Parsed("sc://[::1]:7").target, "[::1]:7");
}

TEST(ConnectUrlTest, Parameters) {
  const ConnectUrl url = Parsed("sc://here/;user_id=ana;session_id=s;x-trace=1;user_agent=mine;");
  EXPECT_EQ(url.user, "ana");
  EXPECT_EQ(url.session_id, "s");
  EXPECT_EQ(url.headers, (std::map<std::string, std::string>{{"x-trace", "1"}}));
  EXPECT_FALSE(url.tls);
}

TEST(ConnectUrlTest, ATokenTravelsInPlainTextToThisMachineOnly) {
  EXPECT_FALSE(Parsed("sc://localhost/;token=t").tls);
  EXPECT_FALSE(Parsed("sc://127.0.0.1:9/;token=t").tls);
  EXPECT_TRUE(Parsed("sc://there/;token=t").tls);
  EXPECT_TRUE(Parsed("sc://localhost/;token=t=;use_ssl=true").tls);
  EXPECT_EQ(Parsed("sc://localhost/;token=t=").token, "t=");
}

TEST(ConnectUrlTest, WhatIsNoAddressIsRefused) {
  for (const char* text : {"", "here", "http://here", "sc://", "sc:///;token=t", "sc://here/token=t", "sc://here/;token"}) {
    EXPECT_EQ(ConnectUrl::Parse(text).status().condition(), "INVALID_CONNECT_URL") << text;
  }
}

}  // namespace
}  // namespace thalweg::internal
