// SPDX-License-Identifier: Apache-2.0
#include "smd/tls/self_signed.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace smd::tls {
namespace {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

constexpr long kDay = 24L * 3600;
/// Of a common name (ub-common-name of RFC 5280).
constexpr std::size_t kLongestCommonName = 64;

/// As it stands in subjectAltName; empty: it is no name.
std::string alternative_of(const std::string& name) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, name.c_str(), &four) == 1 || inet_pton(AF_INET6, name.c_str(), &six) == 1)
    return "IP:" + name;
  // "300.1.1.1" is a wrong address.
  const bool is_number =
      name.find('.') != std::string::npos && name.find_first_not_of("0123456789.") == std::string::npos;
  const bool right =
      !name.empty() && !is_number && name.size() <= 253 && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '-' || c == '*';
      });
  return right ? "DNS:" + name : "";
}

bool add_extension(X509* to, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, to, to, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(to, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] &= 0x7FU;  // positive
  auto* number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  const bool set =
      number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

bool fill(X509* certificate, EVP_PKEY* key, const std::vector<std::string>& names,
          const std::string& alternatives, int days) {
  const auto common = names.front().substr(0, kLongestCommonName);
  auto* subject = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(common.c_str());
  return X509_set_version(certificate, 2) == 1 && set_serial(certificate) &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), kDay * days) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, subject) == 1 &&
         add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
         add_extension(certificate, NID_subject_key_identifier, "hash") &&
         add_extension(certificate, NID_subject_alt_name, alternatives) &&
         X509_sign(certificate, key, EVP_sha256()) != 0;
}

std::string text_of(BIO* memory) {
  char* bytes = nullptr;
  const auto length = BIO_get_mem_data(memory, &bytes);
  return {bytes, static_cast<std::size_t>(std::max(0L, length))};
}

std::string fingerprint_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  std::string text;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &length) != 1) return text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest[i]);
  return text;
}

}  // namespace

std::expected<SelfSigned, std::string> self_signed(const std::vector<std::string>& names, int days) {
  if (names.empty()) return std::unexpected("a name is needed");
  std::string alternatives;
  for (const auto& name : names) {
    const auto one = alternative_of(name);
    if (one.empty()) return std::unexpected(fmt::format("{}: neither a DNS name nor an address", name));
    alternatives += (alternatives.empty() ? "" : ",") + one;
  }
  const KeyPtr key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const CertificatePtr made(X509_new(), X509_free);
  const BioPtr certificate(BIO_new(BIO_s_mem()), BIO_free_all), secret(BIO_new(BIO_s_mem()), BIO_free_all);
  const bool good =
      key && made && certificate && secret && fill(made.get(), key.get(), names, alternatives, days) &&
      PEM_write_bio_X509(certificate.get(), made.get()) == 1 &&
      PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  if (!good) return std::unexpected("OpenSSL cannot make a certificate");
  return SelfSigned{.certificate = text_of(certificate.get()),
                    .key = text_of(secret.get()),
                    .fingerprint = fingerprint_of(made.get())};
}

}  // namespace smd::tls
