// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether all is well, as scripts and Nagios ask it: of an answer to GET /v1/status, or of one of its
// subnets.

#include <boost/json/value.hpp>
#include <iosfwd>

namespace smd::cli {

/// Each subnet is up, or is a standby of a master that answers, and sweeps are not off; false where there is
/// none.
bool is_in_service(const boost::json::value& status);
/// The same, and the files are those in force.
bool all_is_good(const boost::json::value& status);
/// A line for each subnet: its state, why it is not up, until when sweeps are off, and what is wrong with the
/// files.
void print_check(std::ostream& out, const boost::json::value& status);

/// What a plugin of Nagios returns: 0 all subnets are good, 1 one is reduced, its sweeps are off or its files
/// are wrong, 2 one is worse, or there is none.
int nagios_status(const boost::json::value& status);
/// The line of such a plugin: "SMD OK - " and the state of each subnet.
void print_nagios(std::ostream& out, const boost::json::value& status);

}  // namespace smd::cli
