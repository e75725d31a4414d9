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
/// Of an answer as the caller sees it: it changes with that alone.
std::string tag_of_body(std::string_view body);
/// Whether `If-None-Match` names the tag.
bool is_known_tag(const std::string& if_none_match, const std::string& tag);
/// 412 where the request has an If-Match without the state of `view`.
std::optional<Answer> not_that_state(const Request& request, const SubnetView& view);
/// 412 where it has one without what a change of partitions, or (`tokens`) of tokens, is made from.
std::optional<Answer> not_that_policy(const Request& request, const PolicyState& ground, bool tokens);
/// What clients need to keep an answer and ask whether it is current.
void add_tag(Answer& answer, const std::string& tag);

}  // namespace smd::api
