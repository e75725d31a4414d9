// SPDX-License-Identifier: Apache-2.0
#include "smd/tls/context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "smd/tls/certificate.h"

namespace smd::tls {
namespace {

/// What OpenSSL says last, without its numbers. "PEM lib" and the like name a part of it only: there the
/// first error is the cause.
std::string last_error() {
  const auto text_of = [](unsigned long code) {
    const auto* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
    return std::string(reason != nullptr ? reason : "not usable");
  };
  auto text = text_of(ERR_peek_last_error());
  if (text.ends_with(" lib")) text = text_of(ERR_peek_error());
  ERR_clear_error();
  return text;
}

std::unexpected<std::string> wrong(const std::filesystem::path& file) {
  if (auto why = unreadable(file); !why.empty()) {
    ERR_clear_error();
    return std::unexpected(std::move(why));
  }
  return std::unexpected(fmt::format("{}: {}", file.string(), last_error()));
}

/// OpenSSL asks the terminal for a passphrase by itself, also where there is none.
std::expected<void, std::string> use_key(SSL_CTX* handle, const std::filesystem::path& key) {
  bool is_asked = false;
  const auto refuse = [](char* /*into*/, int /*most*/, int /*writes*/, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  };
  SSL_CTX_set_default_passwd_cb(handle, refuse);
  SSL_CTX_set_default_passwd_cb_userdata(handle, &is_asked);
  const bool good = SSL_CTX_use_PrivateKey_file(handle, key.c_str(), SSL_FILETYPE_PEM) == 1;
  // Asio takes what is left there for its own.
  SSL_CTX_set_default_passwd_cb_userdata(handle, nullptr);
  SSL_CTX_set_default_passwd_cb(handle, nullptr);
  if (good) return {};
  if (!is_asked) return wrong(key);
  ERR_clear_error();
  return std::unexpected(fmt::format("{}: it has a passphrase, which smd cannot ask for", key.string()));
}

/// Whose certificates are good, and where the file has lists of revoked ones, which OpenSSL reads but does
/// not heed by itself, which of them are not.
bool trust(SSL_CTX* handle, const std::filesystem::path& ca) {
  if (SSL_CTX_load_verify_locations(handle, ca.c_str(), nullptr) != 1) return false;
  auto* store = SSL_CTX_get_cert_store(handle);
  const auto* read = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(read); ++i) {
    if (X509_OBJECT_get_type(sk_X509_OBJECT_value(read, i)) != X509_LU_CRL) continue;
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    return true;
  }
  return true;
}

ssl::context fresh(Minimum minimum) {
  ssl::context context(ssl::context::tls);
  const int version = minimum == Minimum::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
  SSL_CTX_set_min_proto_version(context.native_handle(), version);
  // Each connection proves itself: what was agreed before is not taken up again.
  SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.native_handle(), 0);  // of TLS 1.3
  // Tickets of TLS 1.2 have an option of their own.
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  return context;
}

std::expected<ssl::context, std::string> of_files(const Files& files, Minimum minimum) {
  auto context = fresh(minimum);
  ERR_clear_error();
  auto* handle = context.native_handle();
  if (SSL_CTX_use_certificate_chain_file(handle, files.cert.c_str()) != 1) return wrong(files.cert);
  if (auto used = use_key(handle, files.key); !used) return std::unexpected(std::move(used.error()));
  // A key of another kind than the certificate's is taken before.
  if (SSL_CTX_check_private_key(handle) != 1) {
    ERR_clear_error();
    return std::unexpected(
        fmt::format("{}: not the key of the certificate {}", files.key.string(), files.cert.string()));
  }
  if (files.ca.empty()) return context;
  if (!trust(handle, files.ca)) return wrong(files.ca);
  SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

/// The key of a context, which OpenSSL's callbacks find by the connection.
struct SharedKey {
  std::vector<std::uint8_t> bytes;
};

void free_key(void* /*parent*/, void* key, CRYPTO_EX_DATA* /*all*/, int /*index*/, long /*argument*/,
              void* /*pointer*/) {
  auto* shared = static_cast<SharedKey*>(key);
  if (shared != nullptr) OPENSSL_cleanse(shared->bytes.data(), shared->bytes.size());
  delete shared;
}

int key_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_key);
  return index;
}

/// Both ends name the key so: there is one.
constexpr char kKeyName[] = "smd-replica";

unsigned give_key(const SSL* connection, unsigned char* into, unsigned most) {
  const auto* key =
      static_cast<const SharedKey*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), key_index()));
  if (key == nullptr || key->bytes.size() > most) return 0;
  std::copy(key->bytes.begin(), key->bytes.end(), into);
  return static_cast<unsigned>(key->bytes.size());
}

unsigned client_key(SSL* connection, const char* /*hint*/, char* name, unsigned room, unsigned char* into,
                    unsigned most) {
  if (room < sizeof kKeyName) return 0;
  std::copy(std::begin(kKeyName), std::end(kKeyName), name);
  return give_key(connection, into, most);
}

unsigned server_key(SSL* connection, const char* name, unsigned char* into, unsigned most) {
  return name != nullptr && std::string_view(name) == kKeyName ? give_key(connection, into, most) : 0;
}

}  // namespace

std::expected<ssl::context, std::string> server_context(const Files& files, Minimum minimum) {
  return of_files(files, minimum);
}

std::expected<ssl::context, std::string> client_context(const Files& files, Minimum minimum) {
  return of_files(files, minimum);
}

std::expected<ssl::context, std::string> trusting_context(const std::filesystem::path& ca) {
  auto context = fresh(Minimum::tls_1_2);
  ERR_clear_error();
  auto* handle = context.native_handle();
  if (ca.empty() && SSL_CTX_set_default_verify_paths(handle) != 1)
    return std::unexpected(fmt::format("the system's certificates: {}", last_error()));
  if (!ca.empty() && !trust(handle, ca)) return wrong(ca);
  SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nullptr);
  return context;
}

std::expected<ssl::context, std::string> shared_key_context(const std::vector<std::uint8_t>& key, End end) {
  constexpr std::size_t kShortest = 16, kLongest = 256;
  if (key.size() < kShortest || key.size() > kLongest) {
    return std::unexpected(
        fmt::format("a key of {} bytes; from {} to {} are taken", key.size(), kShortest, kLongest));
  }
  auto context = fresh(Minimum::tls_1_3);
  auto* handle = context.native_handle();
  SSL_CTX_set_ex_data(handle, key_index(), new SharedKey{key});
  SSL_CTX_set_psk_client_callback(handle, client_key);
  SSL_CTX_set_psk_server_callback(handle, server_key);
  // OpenSSL gives keys of this kind the hash of this suite. A certificate is never taken instead of the key.
  SSL_CTX_set_ciphersuites(handle, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nullptr);
  // OpenSSL takes a shared key for a session that is resumed, and asks a server (alone) whose sessions it
  // has.
  if (end == End::server) {
    SSL_CTX_set_session_id_context(handle, reinterpret_cast<const unsigned char*>(kKeyName),
                                   sizeof kKeyName - 1);
  }
  return context;
}

}  // namespace smd::tls
