// SPDX-License-Identifier: Apache-2.0
#pragma once
// Classes and their shares as a picture.

#include <iosfwd>

#include "smd/report/qos_explanation.h"

namespace smd::sm::inline reports {

/// An SVG file: for each kind of port a bar with the part of the link that each SL has, and its VL.
void write_qos_svg(std::ostream& out, const QosExplanation& explanation);

}  // namespace smd::sm::inline reports
