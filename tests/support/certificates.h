// SPDX-License-Identifier: Apache-2.0
#pragma once
// Certificates of a test's own.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "smd/tls/context.h"

namespace smd::test {

/// Certificates of CAs of the test's own, in a folder.
class Certificates {
 public:
  Certificates() {
    auto name = (std::filesystem::temp_directory_path() / "smd_tls_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  /// A CA `ca` (made where it is new), and a certificate of it that ends in `seconds`.
  tls::Files files(const std::string& ca, const std::string& name, long seconds = 3600) {
    auto& issuer = cas_[ca];
    if (!issuer.key) issuer = make(ca, nullptr, 3600);
    made_[name] = make(name, &issuer, seconds);
    return {.cert = file(name, ".pem"), .key = file(name, ".key"), .ca = file(ca, ".pem")};
  }
  /// The same with its key encrypted.
  tls::Files with_passphrase(const std::string& ca, const std::string& name) {
    auto made = files(ca, name);
    const std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::string phrase = "secret";
    if (auto* out = std::fopen(made.key.c_str(), "w")) {
      PEM_write_PrivateKey(out, key.get(), EVP_aes_256_cbc(),
                           reinterpret_cast<const unsigned char*>(phrase.data()),
                           static_cast<int>(phrase.size()), nullptr, nullptr);
      std::fclose(out);
    }
    return made;
  }
  /// Adds a list of revoked certificates to the file of a CA, which begins and ends in so many seconds.
  void revoke(const std::string& ca, const std::vector<std::string>& names, long begins = -60,
              long ends = 3600) {
    const std::shared_ptr<X509_CRL> list(X509_CRL_new(), X509_CRL_free);
    const std::shared_ptr<ASN1_TIME> before(X509_gmtime_adj(nullptr, begins), ASN1_TIME_free),
        after(X509_gmtime_adj(nullptr, ends), ASN1_TIME_free);
    X509_CRL_set_version(list.get(), 1);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(cas_[ca].certificate.get()));
    X509_CRL_set1_lastUpdate(list.get(), before.get());
    X509_CRL_set1_nextUpdate(list.get(), after.get());
    for (const auto& name : names) {
      auto* revoked = X509_REVOKED_new();
      X509_REVOKED_set_serialNumber(revoked, X509_get_serialNumber(made_[name].certificate.get()));
      X509_REVOKED_set_revocationDate(revoked, before.get());
      X509_CRL_add0_revoked(list.get(), revoked);
    }
    X509_CRL_sort(list.get());
    X509_CRL_sign(list.get(), cas_[ca].key.get(), EVP_sha256());
    if (auto* out = std::fopen(file(ca, ".pem").c_str(), "a")) {
      PEM_write_X509_CRL(out, list.get());
      std::fclose(out);
    }
  }

 private:
  struct Made {
    std::shared_ptr<EVP_PKEY> key;
    std::shared_ptr<X509> certificate;
  };
  std::filesystem::path file(const std::string& name, const char* ending) const {
    return folder_ / (name + ending);
  }
  Made make(const std::string& name, const Made* issuer, long seconds) {
    const std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::shared_ptr<X509> made(X509_new(), X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), seconds);
    X509_set_pubkey(made.get(), key.get());
    auto* subject = X509_get_subject_name(made.get());
    const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(made.get(),
                         issuer != nullptr ? X509_get_subject_name(issuer->certificate.get()) : subject);
    if (issuer == nullptr) may_sign(made.get());
    X509_sign(made.get(), issuer != nullptr ? issuer->key.get() : key.get(), EVP_sha256());
    write(name, made.get(), key.get());
    return {key, made};
  }
  static void may_sign(X509* ca) {
    const std::shared_ptr<X509_EXTENSION> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE"),
        X509_EXTENSION_free);
    X509_add_ext(ca, extension.get(), -1);
  }
  void write(const std::string& name, X509* certificate, EVP_PKEY* key) const {
    if (auto* out = std::fopen(file(name, ".pem").c_str(), "w")) {
      PEM_write_X509(out, certificate);
      std::fclose(out);
    }
    if (auto* out = std::fopen(file(name, ".key").c_str(), "w")) {
      PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(out);
    }
  }
  std::filesystem::path folder_;
  std::map<std::string, Made> cas_, made_;
  long serial_ = 0;
};

}  // namespace smd::test
