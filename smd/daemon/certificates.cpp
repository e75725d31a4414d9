// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/certificates.h"

#include <set>

#include "smd/api/webhook.h"
#include "smd/tls/certificate.h"
#include "smd/tls/context.h"

namespace smd::daemon {

std::vector<std::string> certificate_faults(const config::Config& config, std::chrono::sys_seconds now) {
  std::set<std::string> seen;
  std::vector<std::string> faults;
  const auto add = [&](const std::string& fault) {
    if (!fault.empty() && seen.insert(fault).second) faults.push_back(fault);
  };
  const auto look = [&](const tls::Files& files, tls::Minimum minimum) {
    const auto read = tls::server_context(files, minimum);
    add(read ? tls::expiry_warning(files.cert, now) : read.error());
    if (read && !files.ca.empty()) add(tls::crl_warning(files.ca, now));
  };
  const auto& api = config.api;
  if (!api.listen.empty())
    look({.cert = api.cert, .key = api.key, .ca = api.client_ca}, tls::Minimum::tls_1_2);
  for (const auto& webhook : api.webhook) {
    if (const auto secret = api::webhook_secret(webhook); !secret) add(secret.error());
    if (!webhook.url.starts_with("https://")) continue;
    if (const auto trusting = tls::trusting_context(webhook.ca_file); !trusting) add(trusting.error());
  }
  for (const auto& subnet : config.subnets) {
    const auto& ha = subnet.ha;
    if (ha.copies() && ha.psk.empty() && ha.psk_file.empty() && !ha.cert.empty())
      look({.cert = ha.cert, .key = ha.key, .ca = ha.ca}, tls::Minimum::tls_1_3);
  }
  return faults;
}

}  // namespace smd::daemon
