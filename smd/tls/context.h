// SPDX-License-Identifier: Apache-2.0
#pragma once
// TLS contexts from PEM files, or from a key that both ends have.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "smd/tls/ssl.h"

namespace smd::tls {

/// PEM files.
struct Files {
  std::filesystem::path cert;  ///< our certificate, with those between it and the CA after it
  std::filesystem::path key;   ///< its private key
  /// Certificates that the other end's is signed by; empty: it needs none. With a list of revoked
  /// certificates (CRL) the file has one of each CA that signs them.
  std::filesystem::path ca;
};

enum class Minimum : std::uint8_t { tls_1_2, tls_1_3 };

enum class End : std::uint8_t { server, client };

/// For the end that accepts. With `files.ca` clients without a certificate of it are refused. The error names
/// the file and says what is wrong with it.
std::expected<ssl::context, std::string> server_context(const Files& files, Minimum minimum);
/// For the end that connects: as server_context(). `files.ca` is not empty; the server's name is not looked
/// at.
std::expected<ssl::context, std::string> client_context(const Files& files, Minimum minimum);

/// For an end that connects without a certificate of its own, to a server whose certificate is signed by one
/// of `ca`; empty: of those that the system trusts. Who looks at the server's name is the caller.
std::expected<ssl::context, std::string> trusting_context(const std::filesystem::path& ca);

/// TLS 1.3 between ends that have the same key and no certificates (RFC 8446, 2.2). At least 16 bytes; the
/// error says so. For either end.
std::expected<ssl::context, std::string> shared_key_context(const std::vector<std::uint8_t>& key, End end);

}  // namespace smd::tls
