// SPDX-License-Identifier: Apache-2.0
#pragma once
// The routes of the API. Pure but for the backend: any bytes in, an answer out.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "smd/api/backend.h"
#include "smd/api/request.h"

namespace smd::api {

/// A question whose route was found.
struct Question {
  std::map<std::string, std::string, std::less<>> path;  ///< what stands for "{subnet}" and so on; decoded
  std::map<std::string, std::string> query;              ///< decoded
  std::string_view body;

  /// What stands for "{name}" in the path; empty where the route has none.
  std::string part(std::string_view name) const {
    const auto at = path.find(name);
    return at != path.end() ? at->second : std::string();
  }
};

struct Route {
  std::string_view method;
  std::string_view path;                        ///< "/v1/subnets/{subnet}/ports"
  Answer (*answer)(const Question&, Backend&);  ///< no exceptions; from a thread of Compute
};

/// All paths of the API; static storage.
std::span<const Route> routes();

/// From any thread; may take as long as a dump takes.
Answer answer(const Request& request, Backend& backend);

/// "%2F" to "/"; nothing where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);
/// All but letters, digits and - . _ ~ as "%XX".
std::string percent_encoded(std::string_view text);

}  // namespace smd::api
