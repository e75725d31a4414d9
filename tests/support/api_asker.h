// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of the API, whose answers are held against docs/openapi.json.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"

namespace smd::test {

class ApiAsker : public testing::Test {
 protected:
  /// The answer, after it was held against the document.
  boost::json::value ask(const std::string& method, const std::string& path, std::string_view schema,
                         unsigned status = 200, std::string body = {}) {
    const auto answer = api::answer({.method = method, .target = path, .body = std::move(body)}, backend_);
    EXPECT_EQ(answer.status, status) << answer.body;
    auto value = api::parse_json(answer.body).value_or(boost::json::value());
    const Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(schema)), testing::IsEmpty()) << answer.body;
    return value;
  }
  std::string error(const std::string& method, const std::string& path, unsigned status,
                    std::string body = {}) {
    const auto value = ask(method, path, "Error", status, std::move(body));
    return std::string(value.at("error").at("message").as_string());
  }

  FakeBackend backend_;
  boost::json::value document_ = api_document();
};

}  // namespace smd::test
