// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arguments of a spec: numbers in ranges, and what a fabric may have at most.

#include <cstdint>
#include <expected>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::base::spec {

inline constexpr std::uint64_t kMostPorts = 254;   ///< 255 says 'no port' in a forwarding table
inline constexpr std::uint64_t kMostLids = 49151;  ///< unicast LIDs 1 to 0xBFFF

using Args = std::span<const std::string_view>;
using Numbers = std::vector<unsigned>;

/// What one number of a spec may be.
struct Rule {
  std::string_view name;
  std::uint64_t first = 0, last = kMostLids;
  bool even = false;
};

/// One decimal number within the rule, else the text for the operator, without the spec in front.
std::expected<std::uint64_t, std::string> number(std::string_view text, const Rule& rule);

/// One number for each argument; the last rules may be without one (the result is as long as args).
std::expected<Numbers, std::string> numbers(Args args, std::initializer_list<Rule> rules);

/// "5x5x2", "4,4": one number or more, each by the rule, whose name gets the place: "X1".
std::expected<Numbers, std::string> list(std::string_view text, char separator, const Rule& rule);

/// The product, at most a quarter of the largest value, so that sums of a few still fit.
std::uint64_t times(std::uint64_t a, std::uint64_t b);
/// The same for all factors; 1 for none.
std::uint64_t product(std::span<const unsigned> factors);

/// Empty when the fabric can exist, else why it cannot.
std::string too_large(std::uint64_t switches, std::uint64_t host_ports, std::uint64_t ports_of_a_switch);

}  // namespace smd::base::spec
