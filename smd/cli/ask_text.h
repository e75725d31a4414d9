// SPDX-License-Identifier: Apache-2.0
#pragma once
// A daemon's answers for people. What is missing in an answer, or of another kind, shows as nothing.

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <iosfwd>
#include <string>
#include <string_view>

namespace smd::cli {

/// Printable text of a member, numbers as text; empty where it is missing or null.
std::string text_of(const boost::json::value& from, std::string_view key);
/// Null where it is missing, or `from` is no object. Lives as long as `from`.
const boost::json::value& member_of(const boost::json::value& from, std::string_view key);
/// Empty where it is missing, or no array. Lives as long as `from`.
const boost::json::array& list_of(const boost::json::value& from, std::string_view key);
/// Its texts with ", " between; what is no text is left out. Not escaped.
std::string joined_texts(const boost::json::array& items);

/// Of a port; "Down" where its link is lost and it was not asked, as ports of CAs; empty: it is not known.
std::string state_words(const boost::json::value& port);

/// An end of a link, `"leaf000" port 5`; empty for null.
std::string end_text(const boost::json::value& end);

/// All of GET /v1/status: the process, and each subnet.
void print_status(std::ostream& out, const boost::json::value& status);
/// One subnet of it, several lines.
void print_subnet(std::ostream& out, const boost::json::value& subnet);
/// A line for each port; `with_subnet`: with the name of the subnet first.
void print_ports(std::ostream& out, const boost::json::value& ports, bool with_subnet);
/// What is missing: each node and link once.
void print_lost(std::ostream& out, const boost::json::value& ports, bool with_subnet);
/// Members of a partition that are in the fabric by the state of their key, and how many are not in it: "1 of
/// 3 members programmed, 1 pending, 1 refused; 1 not in the fabric".
std::string members_by_state(const boost::json::value& partition);
/// A line for each partition, and one for each member where they were asked for.
void print_partitions(std::ostream& out, const boost::json::value& answer, bool with_subnet);
/// A line for each SM, ours first, under a line of titles.
void print_sms(std::ostream& out, const boost::json::value& answer, bool with_subnet);
/// What is no longer counted as lost.
void print_accepted(std::ostream& out, const boost::json::value& answer);
/// A line for the level, one for each module and GUID with a level of its own.
void print_log(std::ostream& out, const boost::json::value& log);

}  // namespace smd::cli
