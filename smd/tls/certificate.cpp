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

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string_view>

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

/// "in 1 day"
std::string in_days(std::chrono::seconds left) {
  const auto days = std::chrono::floor<std::chrono::days>(left).count();
  return fmt::format("in {} {}", days, days == 1 ? "day" : "days");
}

/// As RFC 2253 has it: other bytes than those of printable ASCII are escaped.
std::string name_text(const X509_NAME* name) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(BIO_new(BIO_s_mem()), BIO_free_all);
  if (!text || X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  char* bytes = nullptr;
  const auto count = BIO_get_mem_data(text.get(), &bytes);
  return count > 0 ? std::string(bytes, static_cast<std::size_t>(count)) : std::string();
}

/// When the latest list of each issuer begins and ends; those without an end are left out.
std::map<std::string, Validity> crls_of(const std::filesystem::path& ca) {
  std::map<std::string, Validity> lists;
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> file(BIO_new_file(ca.c_str(), "r"), BIO_free_all);
  while (file) {
    const std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> list(
        PEM_read_bio_X509_CRL(file.get(), nullptr, nullptr, nullptr), X509_CRL_free);
    if (!list) break;
    const auto* next = X509_CRL_get0_nextUpdate(list.get());
    const auto begins = time_of(X509_CRL_get0_lastUpdate(list.get()));
    const auto ends = next != nullptr ? time_of(next) : std::unexpected(std::string());
    if (!begins || !ends) continue;
    auto& latest = lists[name_text(X509_CRL_get_issuer(list.get()))];
    if (latest.ends < *ends) latest = {.begins = *begins, .ends = *ends};
  }
  ERR_clear_error();
  return lists;
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
  return fmt::format("it expires on {} ({})", date_text(ends), in_days(left));
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

std::string crl_warning(const std::filesystem::path& ca, sys_seconds now) {
  const auto lists = crls_of(ca);
  const auto first = std::ranges::min_element(lists, {}, [](const auto& list) { return list.second.ends; });
  if (first == lists.end()) return {};
  const auto& [issuer, list] = *first;
  const auto about = [&](std::string_view is, std::string_view then) {
    return fmt::format(
        "{}: the list of revoked certificates (CRL) of {} {}: all certificates of this issuer are "
        "refused{}",
        ca.string(), issuer, is, then);
  };
  if (now >= list.ends) return about(fmt::format("has ended on {}", date_text(list.ends)), "");
  if (now < list.begins)
    return about(fmt::format("is not valid before {}", date_text(list.begins)), " until then");
  const auto left = list.ends - now;
  if (left >= kExpiresSoon || left > (list.ends - list.begins) / 4) return {};
  return about(fmt::format("ends on {} ({})", date_text(list.ends), in_days(left)), " from then on");
}

}  // namespace smd::tls
