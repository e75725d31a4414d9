// SPDX-License-Identifier: Apache-2.0
#pragma once
// A daemon's answers for people. What is missing in an answer, or of another kind, shows as nothing.

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <iosfwd>
#include <string>
#include <string_view>

namespace smd::cli {

std::string text_of(const boost::json::value& from, std::string_view key);
const boost::json::value& member_of(const boost::json::value& from, std::string_view key);
const boost::json::array& list_of(const boost::json::value& from, std::string_view key);

/// Of all subnets, or of one: each is up, or is a standby of a master that answers.
bool is_in_service(const boost::json::value& status);
/// A line for each subnet: its state, and why it is not up.
void print_check(std::ostream& out, const boost::json::value& status);

void print_status(std::ostream& out, const boost::json::value& status);
void print_subnet(std::ostream& out, const boost::json::value& subnet);
void print_ports(std::ostream& out, const boost::json::value& ports, bool with_subnet);
/// What is missing: each node and link once.
void print_lost(std::ostream& out, const boost::json::value& ports, bool with_subnet);
void print_accepted(std::ostream& out, const boost::json::value& answer);
void print_log(std::ostream& out, const boost::json::value& log);

}  // namespace smd::cli
