// SPDX-License-Identifier: Apache-2.0
#include "smd/api/listen.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/socket_base.hpp>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace smd::api {
namespace {

constexpr std::string_view kName = "smd.sock";
constexpr std::string_view kFolder = "/run/smd";
constexpr const char* kGroup = "smd";

std::filesystem::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return {};
  // systemd separates several folders by colons.
  const std::string_view text(value);
  return std::filesystem::path(text.substr(0, text.find(':'))) / kName;
}

bool can_write(const std::filesystem::path& socket) {
  std::error_code error;
  std::filesystem::create_directories(socket.parent_path(), error);
  return ::access(socket.parent_path().c_str(), W_OK | X_OK) == 0;
}

/// What stands at the path: nothing (ENOENT), a stale socket (ECONNREFUSED), or a served one (0).
int knock(asio::io_context& io, const std::filesystem::path& path) {
  Protocol::socket socket(io);
  error_code error;
  socket.connect(Protocol::endpoint(path.string()), error);
  return error.value();
}

std::string failed(const std::filesystem::path& path, std::string_view what) {
  return fmt::format("{}: {}", path.string(), what);
}

std::expected<void, std::string> make_room(asio::io_context& io, const std::filesystem::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) return std::unexpected(failed(path, "there is a file that is no socket"));
  const int error = knock(io, path);
  if (error == 0)
    return std::unexpected(failed(path, "another smd answers there; --socket names another place"));
  if (error != ECONNREFUSED) return std::unexpected(failed(path, std::generic_category().message(error)));
  ::unlink(path.c_str());
  return {};
}

/// Only those who may take part: not being of the group is no reason not to serve our own user.
void give_to_group(const std::filesystem::path& path) {
  std::vector<char> buffer(16'384);
  group entry{};
  group* found = nullptr;
  if (::getgrnam_r(kGroup, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return;
  static_cast<void>(::chown(path.c_str(), static_cast<uid_t>(-1), found->gr_gid));
}

}  // namespace

std::filesystem::path default_socket() {
  for (const auto& path : {from_environment("RUNTIME_DIRECTORY"), std::filesystem::path(kFolder) / kName,
                           from_environment("XDG_RUNTIME_DIR")}) {
    if (!path.empty() && can_write(path)) return path;
  }
  return {};
}

std::filesystem::path default_socket_to_ask() {
  auto usual = std::filesystem::path(kFolder) / kName;
  auto own = from_environment("XDG_RUNTIME_DIR");
  std::error_code ignored;
  const bool only_own =
      !own.empty() && !std::filesystem::exists(usual, ignored) && std::filesystem::exists(own, ignored);
  return only_own ? own : usual;
}

std::expected<Protocol::endpoint, std::string> endpoint_of(const std::filesystem::path& path) {
  constexpr auto kMost = sizeof(sockaddr_un::sun_path) - 1;
  const auto text = path.string();
  if (text.size() <= kMost && text.find('\0') == std::string::npos) return Protocol::endpoint(text);
  return std::unexpected(
      failed(path, fmt::format("longer than the {} bytes that a socket's path may have", kMost)));
}

std::expected<Protocol::acceptor, std::string> listen_at(asio::io_context& io,
                                                         const std::filesystem::path& path) {
  const auto endpoint = endpoint_of(path);
  if (!endpoint) return std::unexpected(endpoint.error());
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  if (auto room = make_room(io, path); !room) return std::unexpected(std::move(room.error()));
  Protocol::acceptor acceptor(io);
  error_code error;
  acceptor.open(Protocol(), error);
  const auto before = ::umask(0117);  // not even for a moment open to others
  if (!error) acceptor.bind(*endpoint, error);
  ::umask(before);
  if (!error) give_to_group(path);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return std::unexpected(failed(path, error.message()));
  return acceptor;
}

}  // namespace smd::api
