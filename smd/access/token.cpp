// SPDX-License-Identifier: Apache-2.0
#include "smd/access/token.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <span>

namespace smd::access {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kHashDigits = 64;

std::string hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

std::optional<Role> parse_role(std::string_view text) {
  for (const auto role : {Role::tenant, Role::viewer, Role::operator_, Role::admin}) {
    if (to_string(role) == text) return role;
  }
  return std::nullopt;
}

std::string new_secret() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
  return "smd_" + hex(bytes);
}

std::string hash_of(std::string_view secret) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(secret.data(), secret.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  return hex(std::span(digest).first(length));
}

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName || text.front() == '.') return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace smd::access
