// SPDX-License-Identifier: Apache-2.0
#pragma once
// MTU, rate and packet lifetime as requests limit them.

#include <cstdint>
#include <optional>

#include "mad/base/rate.h"
#include "mad/wire/sa/path_record.h"
#include "smd/sa/request.h"

namespace smd::sa {

/// A limit of a request: without a selector none.
template <class Value>
struct Limit {
  wire::Selector selector{};
  Value value{};
};

/// What a request's components say of one value.
template <class Value>
std::optional<Limit<Value>> limit_of(const Request& request, unsigned selector, unsigned component,
                                     wire::Selector how, Value value) {
  // One without the other says nothing, as OpenSM has it.
  if (!request.has(component) || !request.has(selector)) return std::nullopt;
  return Limit<Value>{how, value};
}

/// What of a path's (or group's) own value is left under the limit: the value itself, a smaller one that the
/// limit asks for, or nothing where it cannot be had.
std::optional<Mtu> limited(Mtu has, const std::optional<Limit<Mtu>>& limit);
/// The same of a rate; a limit's value is IBA's code.
std::optional<StaticRate> limited(StaticRate has, const std::optional<Limit<std::uint8_t>>& limit);
/// Packet lifetimes are what they are: they meet the limit or not.
bool meets(std::uint8_t life, const std::optional<Limit<std::uint8_t>>& limit);

}  // namespace smd::sa
