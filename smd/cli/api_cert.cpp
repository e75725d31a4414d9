// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/api_cert.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grp.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <expected>
#include <filesystem>
#include <memory>
#include <ostream>
#include <utility>

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

/// A file that is written beside its place, and goes there when all are written. What did not get there is
/// removed.
class PreparedFile {
 public:
  PreparedFile(std::string path, bool force)
      : path_(std::move(path)), beside_(fmt::format("{}.new-{}", path_, ::getpid())), force_(force) {}
  PreparedFile(const PreparedFile&) = delete;
  PreparedFile& operator=(const PreparedFile&) = delete;
  ~PreparedFile() {
    if (written_) ::unlink(beside_.c_str());
  }

  /// `secret`: for its owner and, where there is one, the group smd.
  std::expected<void, std::string> write(const std::string& text, bool secret) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored))
      return std::unexpected(fmt::format("{}: it is a folder", path_));
    struct stat there{};
    if (!force_ && ::lstat(path_.c_str(), &there) == 0) return is_there();
    const base::Descriptor file(
        ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, secret ? 0600 : 0644));
    if (file.get() < 0) return failed();
    written_ = true;
    const auto* group = secret ? ::getgrnam("smd") : nullptr;
    if (group != nullptr && ::fchown(file.get(), static_cast<uid_t>(-1), group->gr_gid) == 0)
      ::fchmod(file.get(), 0640);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return failed();
    return {};
  }
  std::expected<void, std::string> put_in_place() {
    if (force_ && ::rename(beside_.c_str(), path_.c_str()) != 0) return failed();
    if (!force_ && ::link(beside_.c_str(), path_.c_str()) != 0) {
      if (errno == EEXIST) return is_there();
      return failed();
    }
    if (force_) written_ = false;
    return {};
  }
  /// Takes it away again.
  void withdraw() const { ::unlink(path_.c_str()); }

 private:
  std::unexpected<std::string> failed() const {
    return std::unexpected(fmt::format("{}: {}", path_, std::strerror(errno)));
  }
  std::unexpected<std::string> is_there() const {
    return std::unexpected(fmt::format("{}: it is there already; --force replaces it", path_));
  }

  std::string path_, beside_;
  bool force_, written_ = false;
};

/// Both or none.
std::expected<void, std::string> write_both(const std::string& cert, const std::string& key,
                                            const tls::SelfSigned& made, bool force) {
  PreparedFile key_file(key, force), cert_file(cert, force);
  auto done = key_file.write(made.key, true);
  if (done) done = cert_file.write(made.certificate, false);
  if (done) done = key_file.put_in_place();
  if (!done) return done;
  done = cert_file.put_in_place();
  if (!done) key_file.withdraw();
  return done;
}

/// They name one file, perhaps by different ways.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto whole = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return a == b || (!error && whole(a) == whole(b));
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
  if (is_same_file(cert, key)) {
    err << fmt::format("smd api cert: {}: the certificate and its key need a file each\n", cert);
    return 2;
  }
  const auto names = options.names.empty() ? own_names() : options.names;
  const auto made = tls::self_signed(names, options.days);
  if (!made) {
    err << "smd api cert: " << made.error() << '\n';
    return 2;
  }
  if (const auto written = write_both(cert, key, *made, options.force); !written) {
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
