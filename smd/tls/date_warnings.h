// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mad/clock.h"
#include "smd/tls/context.h"

namespace smd::tls {

/// Between two looks at the dates of what is in use: a list of revoked certificates may be for a day.
inline constexpr mad::Duration kLookAtDates = std::chrono::minutes(10);

enum class Dated : std::uint8_t { certificate, crl };

struct DateWarning {
  Dated of{};
  std::string reason;  ///< see expiry_warning() and crl_warning()
};

/// What a daemon warns of while it has files in use: of each complaint once, until it is another one.
class DateWarnings {
 public:
  /// Of the certificate and of the lists beside `files.ca`, if there is one. `again`: those too that the call
  /// before has given.
  std::vector<DateWarning> look(const Files& files, std::chrono::sys_seconds now, bool again);

 private:
  std::set<std::string> given_;
};

}  // namespace smd::tls
