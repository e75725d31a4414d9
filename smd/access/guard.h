// SPDX-License-Identifier: Apache-2.0
#pragma once
// Guessing secrets is made slow: an address that was wrong too often waits.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace smd::access {

/// What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, which one client has
/// to itself. The text of an address as Asio prints it.
std::string client_of(std::string_view address);

/// From any thread. `now`: seconds since 1970.
class Guard {
 public:
  static constexpr unsigned kMost = 10;             ///< failures that an address has in kWindow
  static constexpr std::int64_t kWindow = 60;       ///< seconds
  static constexpr std::size_t kAddresses = 4'096;  ///< that are remembered; the oldest is forgotten

  /// Seconds until this address may try again; 0: at once.
  std::int64_t waits(std::string_view address, std::int64_t now) const;
  /// It has shown a wrong secret. True: the first of its window.
  bool failed(std::string_view address, std::int64_t now);

 private:
  struct Record {
    std::int64_t since = 0;
    unsigned failures = 0;
  };
  mutable std::mutex lock_;
  std::map<std::string, Record, std::less<>> records_;
};

}  // namespace smd::access
