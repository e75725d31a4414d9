// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes that a standby is asked for: the master does them, the standby answers with what the master says.

#include <cstdint>
#include <optional>
#include <string>

#include "smd/api/router.h"

namespace smd::api {

/// Whether changes of this subnet are the master's, and the link that copies its state carries them.
bool hands_on(const SubnetView& view);
/// The answer that comes from the master. 503: there is none, or it does not answer. Of a subnet that is
/// there.
Answer hand_on(const Route& route, const Question& question, Backend& backend);

/// As master: what a standby hands on, for the subnet `subnet` as it is named here. 403: a role that there is
/// not.
std::expected<Request, Answer> request_of(const replica::Call& call, const std::string& subnet, Guid standby);
/// What the standby is sent.
replica::CallAnswer call_answer_of(const Answer& answer);

/// A use of this token at a standby, so many seconds ago. It is no request: a master of an earlier version
/// answers 403, and logs nothing.
replica::Call call_of_use(const std::string& token, std::int64_t ago);
struct TokenUse {
  std::string token;
  std::int64_t ago = 0;  ///< seconds
  friend bool operator==(const TokenUse&, const TokenUse&) = default;
};
/// Of a call of that sort; nothing: it is none. A standby of an earlier version does not say how long ago: 0.
std::optional<TokenUse> used_token(const replica::Call& call);

}  // namespace smd::api
