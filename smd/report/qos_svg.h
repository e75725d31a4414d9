// SPDX-License-Identifier: Apache-2.0
#pragma once
// Classes and their shares as a picture.

#include <iosfwd>
#include <string_view>

#include "smd/report/qos_explanation.h"

namespace smd::sm::inline reports {

/// An SVG file: for each kind of port a bar with the part of the link that each SL has, and its VL. `subnet`
/// is named in the titles; empty: it is the only one.
void write_qos_svg(std::ostream& out, const QosExplanation& explanation, std::string_view subnet = {});

}  // namespace smd::sm::inline reports
