// SPDX-License-Identifier: Apache-2.0
#include "smd/tls/certificate.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "mad/base/descriptor.h"

namespace smd::tls {
namespace {

using std::chrono::sys_seconds;

std::string date_text(sys_seconds when) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(when)));
}

std::expected<sys_seconds, std::string> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::unexpected("it has no time that is one");
  return sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

}  // namespace

std::string unreadable(const std::filesystem::path& file) {
  const base::Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  const auto bytes = opened.get() < 0 ? ssize_t{-1} : ::read(opened.get(), &byte, 1);
  if (bytes < 0) return fmt::format("{}: {}", file.string(), std::strerror(errno));
  return bytes == 0 ? fmt::format("{}: it is empty", file.string()) : "";
}

std::string Validity::complaint(sys_seconds now) const {
  if (now >= ends) return fmt::format("it has expired on {}", date_text(ends));
  if (now < begins) return fmt::format("it is not valid before {}", date_text(begins));
  const auto left = std::chrono::floor<std::chrono::days>(ends - now);
  if (left >= kExpiresSoon) return {};
  return fmt::format("it expires on {} (in {} {})", date_text(ends), left.count(),
                     left.count() == 1 ? "day" : "days");
}

std::expected<Validity, std::string> validity_of(const std::filesystem::path& cert) {
  if (auto why = unreadable(cert); !why.empty()) return std::unexpected(std::move(why));
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> file(BIO_new_file(cert.c_str(), "r"), BIO_free_all);
  const std::unique_ptr<X509, decltype(&X509_free)> read(
      file ? PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  ERR_clear_error();
  if (!read) return std::unexpected(fmt::format("{}: it holds no certificate in PEM", cert.string()));
  const auto begins = time_of(X509_get0_notBefore(read.get()));
  const auto ends = time_of(X509_get0_notAfter(read.get()));
  if (!begins || !ends)
    return std::unexpected(fmt::format("{}: {}", cert.string(), begins ? ends.error() : begins.error()));
  return Validity{.begins = *begins, .ends = *ends};
}

std::string expiry_warning(const std::filesystem::path& cert, sys_seconds now) {
  const auto validity = validity_of(cert);
  const auto complaint = validity ? validity->complaint(now) : std::string();
  return complaint.empty() ? "" : fmt::format("{}: {}", cert.string(), complaint);
}

}  // namespace smd::tls
