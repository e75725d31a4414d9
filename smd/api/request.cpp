// SPDX-License-Identifier: Apache-2.0
#include "smd/api/request.h"

#include <system_error>
#include <utility>

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

Answer answer_of(const Json& json, unsigned status) {
  return {.status = status, .body = sm::to_text(json) + '\n', .bundle = nullptr, .allow = {}};
}

Answer error_of(unsigned status, std::string_view code, std::string_view message) {
  JsonObject error{{"code", Json(std::string(code))}, {"message", Json(std::string(message))}};
  return answer_of(Json(JsonObject{{"error", Json(std::move(error))}}), status);
}

Answer bad_body(std::string_view message) { return error_of(400, "bad_body", message); }

}  // namespace smd::api
