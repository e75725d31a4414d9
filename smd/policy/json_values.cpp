// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/json_values.h"

#include <boost/json/serialize.hpp>
#include <utility>

namespace smd::policy {

boost::json::array ports_json(const config::PortSet& ports) {
  boost::json::array terms;
  for (const auto& term : ports.terms) terms.emplace_back(to_string(term));
  return terms;
}

config::PortSet ports_of(const boost::json::value& list) {
  config::PortSet ports;
  for (const auto& item : list.as_array()) {
    auto term = config::parse_port_term(boost::json::value_to<std::string>(item));
    if (!term) throw std::invalid_argument(boost::json::serialize(item));
    ports.terms.push_back(*std::move(term));
  }
  return ports;
}

}  // namespace smd::policy
