// SPDX-License-Identifier: Apache-2.0
#include "smd/api/request.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>
#include <system_error>
#include <utility>

#include "mad/base/parse.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

Bundle::Bundle(std::filesystem::path folder, std::vector<std::string> files) : folder_(std::move(folder)) {
  for (auto& name : files) {
    std::error_code error;
    const auto path = folder_ / name;
    const auto size = std::filesystem::file_size(path, error);
    if (!error) files_.push_back({.name = std::move(name), .path = path, .size = size});
  }
}

Bundle::~Bundle() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool accepts(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const auto one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const auto name = base::trim(one.substr(0, one.find(';')));
    if (!boost::beast::iequals({name.data(), name.size()}, {item.data(), item.size()})) continue;
    // "q=0" and "q=0.000" refuse it; anything else that stands there does not.
    const auto q = one.find("q=0");
    const bool refused =
        q != std::string_view::npos && one.find_first_of("123456789", q) == std::string_view::npos;
    if (!refused) return true;
  }
  return false;
}

Answer answer_of(const Json& json, unsigned status) {
  return {.status = status, .body = sm::to_text(json) + '\n', .bundle = nullptr, .allow = {}};
}

Answer tokens_not_read() {
  return error_of(503, "waiting",
                  "the store of a subnet is not open yet, and what the token may do there is not known");
}

Answer error_of(unsigned status, std::string_view code, std::string_view message) {
  JsonObject error{{"code", Json(std::string(code))}, {"message", Json(std::string(message))}};
  auto answer = answer_of(Json(JsonObject{{"type", Json("about:blank")},
                                          {"title", Json(std::string(boost::beast::http::obsolete_reason(
                                                        boost::beast::http::int_to_status(status))))},
                                          {"status", Json(status)},
                                          {"detail", Json(std::string(message))},
                                          {"code", Json(std::string(code))},
                                          {"error", Json(std::move(error))}}),
                          status);
  answer.type = kProblem;
  if (status == 503) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

Answer bad_body(std::string_view message) { return error_of(400, "bad_body", message); }

}  // namespace smd::api
