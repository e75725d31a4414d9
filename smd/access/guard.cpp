// SPDX-License-Identifier: Apache-2.0
#include "smd/access/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace smd::access {

std::string client_of(std::string_view address) {
  std::string text(address.substr(0, address.find('%')));
  in6_addr six{};
  if (inet_pton(AF_INET6, text.c_str(), &six) != 1) return text;
  if (IN6_IS_ADDR_V4MAPPED(&six)) return text.substr(text.rfind(':') + 1);
  std::fill_n(six.s6_addr + 8, 8, std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> shown{};
  inet_ntop(AF_INET6, &six, shown.data(), shown.size());
  return shown.data();
}

std::int64_t Guard::waits(std::string_view address, std::int64_t now) const {
  const std::scoped_lock lock(lock_);
  const auto at = records_.find(client_of(address));
  if (at == records_.end() || at->second.failures < kMost) return 0;
  return std::max<std::int64_t>(0, at->second.since + kWindow - now);
}

bool Guard::failed(std::string_view address, std::int64_t now) {
  const std::scoped_lock lock(lock_);
  auto& record = records_[client_of(address)];
  const bool fresh = record.failures == 0 || now - record.since >= kWindow;
  if (fresh) record = {.since = now};
  ++record.failures;
  if (records_.size() > kAddresses)
    records_.erase(std::ranges::min_element(records_, {}, [](const auto& one) { return one.second.since; }));
  return fresh;
}

}  // namespace smd::access
