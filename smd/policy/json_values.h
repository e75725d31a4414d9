// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of the policies that the store keeps as JSON. Boost.JSON throws where one is missing or of another
// kind, and so do these; restore_accepted() catches that.

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "config/port_set.h"

namespace smd::policy {

/// At most `last`.
template <class T>
T number_at(const boost::json::value& object, const char* key, std::uint64_t last) {
  const auto number = boost::json::value_to<std::uint64_t>(object.at(key));
  if (number > last) throw std::out_of_range(fmt::format("{}: {}", key, number));
  return T(static_cast<T>(number));
}

/// The text of this member.
inline std::string text_at(const boost::json::value& object, const char* key) {
  return boost::json::value_to<std::string>(object.at(key));
}

/// The members as text, which ports_of() reads.
boost::json::array ports_json(const config::PortSet& ports);
/// Of ports_json(); throws where a member is no text, or no port term.
config::PortSet ports_of(const boost::json::value& list);

}  // namespace smd::policy
