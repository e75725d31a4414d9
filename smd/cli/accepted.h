// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deviations of the cabling that the operator accepts: the file of `--accepted`.

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/base/file_error.h"
#include "routing/cabling/health.h"

namespace smd::cli {

struct Accepted {
  unsigned line = 0;
  routing::CablingFault kind = routing::CablingFault::missing;
  routing::PortName port;  ///< port 0: any port of the node
};

/// Lines `KIND NODE` and `KIND NODE PORT`, empty lines and comments ('#'). KIND is one of those of the
/// report; NODE what NodeFinder takes, in double quotes if it has blanks. All errors at once.
std::expected<std::vector<Accepted>, base::FileErrors> read_accepted(const base::Fabric& fabric,
                                                                     std::string_view text,
                                                                     const std::string& file_name);

/// Takes findings that a line accepts (of its kind, with its port among theirs) out of `health`; returns how
/// many. Lines that accept none are told in `notes`, each as "FILE:LINE: …".
std::size_t take_accepted(const std::vector<Accepted>& accepted, const std::string& file_name,
                          routing::Health& health, std::vector<std::string>& notes);

}  // namespace smd::cli
