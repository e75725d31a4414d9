// SPDX-License-Identifier: Apache-2.0
#pragma once
// The routes of the API. Pure but for the backend: any bytes in, an answer out.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "smd/access/access.h"
#include "smd/api/answered.h"
#include "smd/api/backend.h"
#include "smd/api/request.h"

namespace smd::api {

/// A question whose route was found.
struct Question {
  std::map<std::string, std::string, std::less<>> path;  ///< what stands for "{subnet}" and so on; decoded
  std::map<std::string, std::string> query;              ///< decoded
  std::string_view body;
  const access::Access* access;      ///< not null
  const Request* request = nullptr;  ///< that it is of
  const Once* once = nullptr;        ///< null: it has no Idempotency-Key, or its answer is not kept
  const Answer* told = nullptr;      ///< what is answered, and kept, instead of a change's own; null: that

  /// What stands for "{name}" in the path; empty where the route has none.
  std::string part(std::string_view name) const {
    const auto at = path.find(name);
    return at != path.end() ? at->second : std::string();
  }
  /// The value of a member of the query; empty where there is none.
  std::string asked(std::string_view name) const {
    const auto at = query.find(std::string(name));
    return at != query.end() ? at->second : std::string();
  }
};

/// What the ETag of a route's answer is made of, and what If-Match is compared with.
enum class Tag : std::uint8_t {
  none,   ///< no ETag
  epoch,  ///< the state of the subnet as a whole; for a tenant as `body`
  body,   ///< the answer itself, which is made in any case
  policy  ///< of a change: what it is made from, at the moment at which it is kept
};

/// Who may call a route.
enum class Needs : std::uint8_t {
  nothing,    ///< every client, without a token: it tells nothing of the fabric
  tenant,     ///< any token; a tenant sees what is its own
  viewer,     ///< a token that sees all of the subnet
  operator_,  ///< one that changes the fabric
  admin,      ///< one that changes the daemon
  local       ///< the Unix socket
};

/// Which SM of a pair does it.
enum class At : std::uint8_t {
  any,    ///< the one that is asked
  master  ///< the master: a standby with a copy of its state hands it on
};

struct Route {
  std::string_view method;
  std::string_view path;                        ///< "/v1/subnets/{subnet}/ports"
  Answer (*answer)(const Question&, Backend&);  ///< no exceptions; from a thread of Compute
  Needs needs;
  Tag tag = Tag::none;
  At at = At::any;
  std::string_view query{};  ///< keys that its query may have, with spaces between; of UFM's calls any
};

/// All paths of the API; static storage.
std::span<const Route> routes();

/// From any thread; may take as long as a dump takes.
Answer answer(const Request& request, Backend& backend);
/// Whether every client may make this call, without a token. From any thread, at once.
bool is_for_all(const Request& request);

/// "%2F" to "/"; nothing where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);
/// All but letters, digits and - . _ ~ as "%XX".
std::string percent_encoded(std::string_view text);

}  // namespace smd::api
