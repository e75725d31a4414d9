// SPDX-License-Identifier: Apache-2.0
#pragma once
// ETags: which state of a subnet an answer is of.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "smd/api/router.h"

namespace smd::api {

/// `"EPOCH-POLICY"`, both in hexadecimal digits: all that answers show changes the first part; partitions
/// alone the second one, which is the same on all SMs of a pair.
std::string tag_of(const SubnetView& view);
/// The tag, in its quotes, of an answer as the caller sees it: it changes with that alone.
std::string tag_of_body(std::string_view body);
/// Whether `If-None-Match` names the tag.
bool is_known_tag(const std::string& if_none_match, const std::string& tag);
/// Whether `If-Match` names states, instead of any.
bool names_state(const std::string& if_match);
/// Of the ports that are disabled, which are the same on all SMs of a pair, as the whole state is not.
std::string ports_tag_of(const SubnetView& view);
/// 412 where the request has an If-Match without the state of `view`, or a standby has compared it with other
/// disabled ports.
std::optional<Answer> not_that_state(const Request& request, const SubnetView& view);
/// 412 where the request has an If-Match that does not name the state from which a change of partitions, or
/// (`tokens`) of tokens, is made; nothing: the change may go on.
std::optional<Answer> not_that_policy(const Request& request, const PolicyState& policy_state, bool tokens);
/// The headers by which clients keep an answer and ask whether it is current: ETag, Cache-Control and Vary.
void add_tag(Answer& answer, const std::string& tag);

}  // namespace smd::api
