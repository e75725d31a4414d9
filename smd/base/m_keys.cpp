// SPDX-License-Identifier: Apache-2.0
#include "smd/base/m_keys.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstddef>
#include <stdexcept>

namespace smd::sm::inline common {
namespace {

using Number = std::array<unsigned char, 8>;

Number bytes_of(std::uint64_t value) {
  Number bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(value >> (56 - 8 * i));
  return bytes;
}

}  // namespace

std::uint64_t derived_m_key(std::uint64_t secret, Guid port) {
  const auto key = bytes_of(secret), text = bytes_of(port.value());
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned length = 0;
  const auto* done =
      HMAC(EVP_sha256(), key.data(), int{key.size()}, text.data(), text.size(), sum.data(), &length);
  if (done == nullptr) throw std::runtime_error("OpenSSL has no HMAC-SHA-256");
  std::uint64_t derived = 0;
  for (std::size_t i = 0; i < 8; ++i) derived = derived << 8U | sum[i];
  return derived == 0 ? 1 : derived;  // 0 is no M_Key
}

std::optional<std::uint64_t> MKeySettings::key_of(Guid port) const {
  if (!per_port || !secret || *secret == 0) return secret;
  return derived_m_key(*secret, port);
}

}  // namespace smd::sm::inline common
