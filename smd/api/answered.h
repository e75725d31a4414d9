// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests that come twice because a client has lost the answer: the second one gets the answer of the first.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "smd/api/request.h"
#include "smd/policy/policies.h"

namespace smd::api {

/// A request with an Idempotency-Key.
struct Once {
  std::string scope;   ///< of caller, method, path and key
  std::string digest;  ///< of the body
};

/// The key of a request by `caller`; 400 where it is none: 1 to 255 printable characters of ASCII, no blank.
std::expected<Once, Answer> once_of(const Request& request, const std::string& caller, std::string_view path);
/// What the request was answered less than kAnswerKept before, or 422 where that was to another body;
/// nothing: it is not known. `now`: seconds since 1970.
std::optional<Answer> answered_before(const policy::KeptAnswers& kept, const Once& once, std::int64_t now);

/// Of this process. From any thread.
class Answered {
 public:
  /// What it was answered before; nothing: it is not known.
  std::optional<Answer> find(const Once& once, std::int64_t now) const;
  /// Nothing: the request is to be answered now, and end() follows. 409: it is being answered.
  std::optional<Answer> begin(const Once& once, std::int64_t now);
  /// Keeps answers of success only: what was refused may be asked again.
  void end(const Once& once, const Answer& answer, std::int64_t now);

 private:
  mutable std::mutex mutex_;
  policy::KeptAnswers kept_;
  std::map<std::string, std::string> under_way_;  ///< scope -> digest
};

}  // namespace smd::api
