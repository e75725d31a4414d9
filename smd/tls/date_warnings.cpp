// SPDX-License-Identifier: Apache-2.0
#include "smd/tls/date_warnings.h"

#include <utility>

#include "smd/tls/certificate.h"

namespace smd::tls {

std::vector<DateWarning> DateWarnings::look(const Files& files, std::chrono::sys_seconds now, bool again) {
  std::vector<DateWarning> warnings;
  std::set<std::string> found;
  const auto add = [&](Dated of, std::string reason) {
    if (reason.empty()) return;
    found.insert(reason);
    if (again || !given_.contains(reason)) warnings.push_back({.of = of, .reason = std::move(reason)});
  };
  add(Dated::certificate, expiry_warning(files.cert, now));
  if (!files.ca.empty()) add(Dated::crl, crl_warning(files.ca, now));
  given_ = std::move(found);
  return warnings;
}

}  // namespace smd::tls
