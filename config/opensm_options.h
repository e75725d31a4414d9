// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options of OpenSM's configuration that have no key here, and why.

#include <string>
#include <string_view>

namespace smd::config {

/// One line that says why an option of OpenSM about routing has no key, for its name with or without "_file";
/// empty: not the name of such an option.
std::string why_no_key(std::string_view name);

}  // namespace smd::config
