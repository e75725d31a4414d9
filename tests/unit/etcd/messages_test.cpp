// SPDX-License-Identifier: Apache-2.0
// Answers as etcd 3.4.23 sends them.
#include "smd/etcd/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace smd::etcd {
namespace {

constexpr std::string_view kHeader =
    R"("header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","revision":"10","raft_term":"2"})";

std::string with_header(std::string_view rest) {
  return "{" + std::string(kHeader) + std::string(rest) + "}";
}

std::string error_body(std::string_view text, int code) {
  return R"({"error":")" + std::string(text) + R"(","message":")" + std::string(text) + R"(","code":)" +
         std::to_string(code) + "}";
}

TEST(EtcdMessages, QuestionsHaveTheGatewaysForm) {
  EXPECT_EQ(range_body({.key = "a", .end = "b", .revision = 3, .limit = 4}),
            R"({"key":"YQ==","range_end":"Yg==","revision":"3","limit":"4"})");
  EXPECT_EQ(transaction_body({.guards = {{.key = "a", .value = "b"}, {.key = "c", .absent = true}},
                              .puts = {{.key = "a", .value = "b", .lease = 7}},
                              .erases = {{.key = "a", .end = "b"}}}),
            R"({"compare":[{"key":"YQ==","target":"VALUE","value":"Yg=="},)"
            R"({"key":"Yw==","target":"VERSION","version":"0"}],"success":[)"
            R"({"request_put":{"key":"YQ==","value":"Yg==","lease":"7"}},)"
            R"({"request_delete_range":{"key":"YQ==","range_end":"Yg=="}}]})");
  EXPECT_EQ(grant_body(std::chrono::seconds(5)), R"({"TTL":"5"})");
  EXPECT_EQ(lease_body(12), R"({"ID":"12"})");
  EXPECT_EQ(watch_body("a", "b", 3),
            R"({"create_request":{"key":"YQ==","range_end":"Yg==","start_revision":"3"}})");
}

TEST(EtcdMessages, ARangeHasItsRowsAndTheRevision) {
  const auto answer = range_answer(
      200,
      with_header(
          R"(,"kvs":[{"key":"YQ==","create_revision":"2","mod_revision":"3","version":"2","value":"Yg=="},)"
          R"({"key":"Yw=="}],"more":true,"count":"1")"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, (RangeAnswer{.revision = 10, .rows = {{"a", "b"}, {"c", ""}}, .more = true}));
  const auto none = range_answer(200, with_header(""));
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, (RangeAnswer{.revision = 10}));
}

TEST(EtcdMessages, ATransactionIsDoneOrNot) {
  const auto done = transaction_answer(200, with_header(R"(,"succeeded":true,"responses":[])"));
  const auto refused = transaction_answer(200, with_header(""));
  ASSERT_TRUE(done && refused);
  EXPECT_TRUE(done->done);
  EXPECT_FALSE(refused->done);
}

TEST(EtcdMessages, LeasesAreGrantedRenewedAndEnd) {
  EXPECT_EQ(grant_answer(200, with_header(R"(,"ID":"2324035647658861067","TTL":"5")")), 2324035647658861067);
  EXPECT_EQ(renew_answer(200, R"({"result":)" + with_header(R"(,"ID":"123","TTL":"5")") + "}"), true);
  EXPECT_EQ(renew_answer(200, R"({"result":)" + with_header(R"(,"ID":"123")") + "}"), false);
  EXPECT_EQ(revoke_answer(200, with_header("")), true);
  const auto gone = revoke_answer(404, error_body("etcdserver: requested lease not found", 5));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::refused);
}

TEST(EtcdMessages, AWatchSaysUpToWhereSomethingHasChanged) {
  EXPECT_EQ(watch_word(R"({"result":)" + with_header(R"(,"created":true)") + "}"), 0);
  EXPECT_EQ(watch_word(R"({"result":)" + with_header(R"(,"events":[{"kv":{"key":"YQ=="}}])") + "}"), 10);
  const auto compacted =
      watch_word(R"({"result":)" + with_header(R"(,"canceled":true,"compact_revision":"9")") + "}");
  ASSERT_FALSE(compacted);
  EXPECT_EQ(compacted.error().kind, ErrorKind::compacted);
  const auto ended =
      watch_word(R"({"error":{"grpc_code":14,"http_code":503,"message":"transport is closing"}})");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error(), (Error{.kind = ErrorKind::unreachable, .text = "transport is closing"}));
}

TEST(EtcdMessages, ErrorsAreTold) {
  const auto kind = [](unsigned status, const std::string& body) {
    const auto answer = transaction_answer(status, body);
    return answer ? Error{.text = "none"} : answer.error();
  };
  EXPECT_EQ(kind(429, error_body("etcdserver: mvcc: database space exceeded", 8)).kind, ErrorKind::full);
  EXPECT_EQ(kind(429, error_body("etcdserver: too many requests", 8)).kind, ErrorKind::refused);
  EXPECT_EQ(kind(400, error_body("etcdserver: mvcc: required revision has been compacted", 11)).kind,
            ErrorKind::compacted);
  EXPECT_EQ(kind(503, error_body("etcdserver: no leader", 14)).kind, ErrorKind::unreachable);
  EXPECT_EQ(kind(504, error_body("etcdserver: request timed out", 4)).kind, ErrorKind::unreachable);
  EXPECT_EQ(kind(400, error_body("etcdserver: too many operations in txn request", 3)),
            (Error{.kind = ErrorKind::refused, .text = "etcdserver: too many operations in txn request"}));
  EXPECT_EQ(kind(404, "Not Found\n"), (Error{.kind = ErrorKind::refused, .text = "HTTP status 404"}));
  EXPECT_EQ(kind(502, "<html>"), (Error{.kind = ErrorKind::unreachable, .text = "HTTP status 502"}));
  EXPECT_EQ(kind(400, error_body(std::string("a\\nb") + std::string(1000, 'x'), 3)).text.size(), 200U);
}

TEST(EtcdMessages, WhatMakesNoSenseIsAnError) {
  for (const std::string body :
       {"", "{", "[]", "{}", R"({"header":7})", R"({"header":{"revision":"-3"}})",
        R"({"header":{"revision":"9e3"}})", R"({"header":{"revision":"10"},"kvs":{}})",
        R"({"header":{"revision":"10"},"kvs":[{"key":"*"}]})", R"({"header":{"revision":"10"},"kvs":[7]})",
        R"({"header":{"revision":"10"}} {})"}) {
    EXPECT_FALSE(range_answer(200, body)) << body;
  }
  for (const std::string line : {"", "x", "{}", R"({"result":{"events":[]}})"})
    EXPECT_FALSE(watch_word(line)) << line;
  EXPECT_FALSE(grant_answer(200, with_header("")));
  EXPECT_FALSE(renew_answer(200, with_header("")));
}

}  // namespace
}  // namespace smd::etcd
