// SPDX-License-Identifier: Apache-2.0
#pragma once
// MTU, rate and packet lifetime as requests limit them.

#include <cstdint>
#include <optional>

#include "mad/base/rate.h"
#include "mad/wire/sa/path_record.h"

namespace smd::sa {

/// A limit of a request: without a selector none.
template <class Value>
struct Limit {
  wire::Selector selector{};
  Value value{};
};

/// What of a path's (or group's) own value is left under the limit: the value itself, a smaller one that the
/// limit asks for, or nothing where it cannot be had.
std::optional<Mtu> limited(Mtu has, const std::optional<Limit<Mtu>>& limit);
std::optional<StaticRate> limited(StaticRate has, const std::optional<Limit<std::uint8_t>>& limit);
/// Packet lifetimes are what they are: they meet the limit or not.
bool meets(std::uint8_t life, const std::optional<Limit<std::uint8_t>>& limit);

}  // namespace smd::sa
