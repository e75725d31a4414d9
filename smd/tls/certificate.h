// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether certificates, and lists of revoked ones (CRL), are in their time.

#include <chrono>
#include <expected>
#include <filesystem>
#include <string>

namespace smd::tls {

/// A certificate that ends within this time is to be replaced.
inline constexpr std::chrono::days kExpiresSoon{30};

struct Validity {
  std::chrono::sys_seconds begins, ends;
  /// "it has expired on 2026-11-27T00:00:00Z", "it expires on ... (in 12 days)", "it is not valid before
  /// ..."; empty: it is valid for longer than kExpiresSoon.
  std::string complaint(std::chrono::sys_seconds now) const;
  /// Clients accept it now.
  bool holds(std::chrono::sys_seconds now) const { return begins <= now && now < ends; }
};

/// Of the first certificate of a PEM file. The error names the file and says what is wrong with it.
std::expected<Validity, std::string> validity_of(const std::filesystem::path& cert);

/// What a daemon has to warn of: "FILE: " and Validity::complaint(); empty: there is no complaint, or the
/// file cannot be read or has no certificate.
std::string expiry_warning(const std::filesystem::path& cert, std::chrono::sys_seconds now);

/// The same of the lists of revoked certificates (CRL) of a PEM file: of the issuer whose latest list ends
/// first. Where it has ended, all certificates of the issuer are refused. A list is complained of in the last
/// quarter of its time, at most kExpiresSoon before its end. Empty: there is no complaint, or no list, or the
/// file cannot be read.
std::string crl_warning(const std::filesystem::path& ca, std::chrono::sys_seconds now);

/// "FILE: it is empty", "FILE: No such file or directory"; empty: it can be read and has something in it.
std::string unreadable(const std::filesystem::path& file);

}  // namespace smd::tls
