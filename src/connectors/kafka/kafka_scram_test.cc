#include "connectors/kafka/kafka_scram.h"

#include <gtest/gtest.h>

namespace thalweg::connectors {
namespace {

// The conversation printed in RFC 7677, section 3.
TEST(ScramClientTest, SpeaksAsTheRfcDoes) {
  ScramClient client("SCRAM-SHA-256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO");
  EXPECT_EQ(client.FirstMessage(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  EXPECT_EQ(client
                .FinalMessage("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s="
                              "W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
                .ValueOrDie(),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+"
            "Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  EXPECT_TRUE(client.CheckServer("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").ok());
  EXPECT_FALSE(client.CheckServer("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").ok());
  EXPECT_FALSE(client.CheckServer("e=invalid-proof").ok());
  EXPECT_FALSE(client.CheckServer("").ok());
}

TEST(ScramClientTest, RefusesMalformedServers) {
  for (const char* text : {"", "r=abcX,s=QUJD", "r=other,s=QUJD,i=1", "r=abc,s=QUJD,i=1",
                           "r=abcX,s=Q,i=1", "r=abcX,s=QUJD,i=0", "r=abcX,s=QUJD,i=1x",
                           "r=abcX,s=QUJD,i=99999999999", "e=other-error"}) {
    ScramClient client("SCRAM-SHA-512", "a,b=c", "p", "abc");
    EXPECT_EQ(client.FinalMessage(text).status().condition(), "KAFKA_REQUEST_FAILED") << text;
  }
  EXPECT_EQ(ScramClient("SCRAM-SHA-512", "a,b=c", "p", "abc").FirstMessage(),
            "n,,n=a=2Cb=3Dc,r=abc");
  EXPECT_NE(MakeScramNonce(), MakeScramNonce());
}

}  // namespace
}  // namespace thalweg::connectors
