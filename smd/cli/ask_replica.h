// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `smd status` says of the other SMs' state: how it is copied, and what of it is in force.

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>

namespace smd::cli {

/// How the state is copied: "current (at 3.17 of 192.0.2.1:7650)". Empty where nothing is to be said.
std::string replica_words(const boost::json::value& subnet);

/// Keys of the files that are not in force; empty: none.
std::string config_words(const boost::json::value& subnet);

/// Of errors of files that are not in force the first one, and how many more there are; empty: none.
std::string refused_words(const boost::json::array& errors);

/// What a standby has read of the master's groups; empty: nothing.
std::string groups_read_words(const boost::json::value& subnet);

}  // namespace smd::cli
