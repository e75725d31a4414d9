// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/api_cert.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grp.h>
#include <netdb.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <expected>
#include <filesystem>
#include <memory>
#include <ostream>

#include "mad/base/descriptor.h"
#include "smd/daemon/configuration.h"
#include "smd/tls/self_signed.h"

namespace smd::cli {
namespace {

constexpr const char* kCert = "/etc/smd/api.pem";
constexpr const char* kKey = "/etc/smd/api.key";

/// The host's name, and the whole one where it is known here.
std::vector<std::string> own_names() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {"localhost"};
  std::vector<std::string> names{name.data()};
  addrinfo hints{};
  hints.ai_flags = AI_CANONNAME;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.data(), nullptr, &hints, &found) == 0) {
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
    if (found->ai_canonname != nullptr && found->ai_canonname != names.front())
      names.emplace_back(found->ai_canonname);
  }
  return names;
}

/// A new file; `secret`: for its owner and, where there is one, the group smd.
std::expected<void, std::string> write(const std::string& path, const std::string& text, bool secret,
                                       bool force) {
  const auto failed = [&] { return std::unexpected(fmt::format("{}: {}", path, std::strerror(errno))); };
  if (force) ::unlink(path.c_str());
  const base::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, secret ? 0600 : 0644));
  if (file.get() < 0 && errno == EEXIST)
    return std::unexpected(fmt::format("{}: it is there already; --force replaces it", path));
  if (file.get() < 0) return failed();
  if (secret) {
    const auto* group = ::getgrnam("smd");
    if (group != nullptr && ::fchown(file.get(), static_cast<uid_t>(-1), group->gr_gid) == 0)
      ::fchmod(file.get(), 0640);
  }
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return failed();
  return {};
}

}  // namespace

const CLI::App* add_api_command(CLI::App& app, ApiCertOptions& options) {
  auto* api = app.add_subcommand("api", "the API over the network");
  api->require_subcommand(1);
  auto* cert = api->add_subcommand("cert", "makes a certificate and its key for [api] cert and key");
  cert->add_flag("--self-signed", options.self_signed, "one that no CA has signed (there is no other kind)")
      ->required();
  cert->add_option("NAMES", options.names,
                   "DNS names and addresses by which clients call this machine (default: its own names)");
  cert->add_option("--cert", options.cert, fmt::format("where to (default: [api] cert, else {})", kCert))
      ->type_name("FILE");
  cert->add_option("--key", options.key, fmt::format("where to (default: [api] key, else {})", kKey))
      ->type_name("FILE");
  cert->add_option("--days", options.days, "how long it is good (default: 825)")
      ->check(CLI::Range(1, 36'500));
  cert->add_flag("--force", options.force, "replaces files that are there");
  cert->add_option("--config", options.config, "configuration (default: /etc/smd/smd.toml where it exists)")
      ->type_name("FILE");
  return cert;
}

int api_cert(const ApiCertOptions& options, std::ostream& out, std::ostream& err) {
  // A configuration that is wrong, for want of this certificate perhaps, does not matter here.
  const auto config = daemon::load_configuration(daemon::configuration_file(options.config), {}, true);
  const auto choose = [&](const std::string& given, std::string config::ApiConfig::* member,
                          const char* usual) {
    if (!given.empty()) return given;
    return config && !(config->api.*member).empty() ? config->api.*member : std::string(usual);
  };
  const auto cert = choose(options.cert, &config::ApiConfig::cert, kCert);
  const auto key = choose(options.key, &config::ApiConfig::key, kKey);
  const auto names = options.names.empty() ? own_names() : options.names;
  const auto made = tls::self_signed(names, options.days);
  if (!made) {
    err << "smd api cert: " << made.error() << '\n';
    return 2;
  }
  auto written = write(key, made->key, true, options.force);
  if (written) written = write(cert, made->certificate, false, options.force);
  if (!written) {
    err << "smd api cert: " << written.error() << '\n';
    return 1;
  }
  std::error_code ignored;
  out << fmt::format("cert = \"{}\"\nkey = \"{}\"\nnames: {}\nSHA-256: {}\n",
                     std::filesystem::absolute(cert, ignored).string(),
                     std::filesystem::absolute(key, ignored).string(), fmt::join(names, ", "),
                     made->fingerprint);
  return 0;
}

}  // namespace smd::cli
