// SPDX-License-Identifier: Apache-2.0
#pragma once
// A certificate without a CA: clients that are given it know the server by it.

#include <expected>
#include <string>
#include <vector>

namespace smd::tls {

struct SelfSigned {
  std::string certificate, key;  ///< PEM; the key is one of P-256
  std::string fingerprint;       ///< SHA-256 of the certificate, as `openssl x509 -fingerprint` shows it
};

/// Of a server with these names: DNS names, IPv4 and IPv6 addresses, at least one. The error names the one
/// that is not valid. The certificate is valid from an hour ago on: clocks differ.
std::expected<SelfSigned, std::string> self_signed(const std::vector<std::string>& names, int days);

}  // namespace smd::tls
