// SPDX-License-Identifier: Apache-2.0
#pragma once
// A daemon at a Unix socket that gives the answers of a test, and a command line that asks it.

#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "smd/api/listen.h"
#include "smd/cli/ask.h"

namespace smd::test {

class FakeDaemon {
 public:
  FakeDaemon() {
    std::string made = (std::filesystem::temp_directory_path() / "smd-fake-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    answers["/v1/status"] = R"({"subnets":[{"subnet":"f","state":"up"}]})";
    acceptor_.open();
    acceptor_.bind(api::Protocol::endpoint(path()));
    acceptor_.listen();
    thread_ = std::jthread([this] { serve(); });
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon() {
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);  // accept() ends
    thread_.join();
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return (folder_ / "smd.sock").string(); }
  /// Texts of the requests so far.
  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

  /// Bodies, by target; 404 for others. Before the first question.
  std::map<std::string, std::string> answers;
  /// Instead of these: the whole answer to a request, with its header; empty: the daemon says nothing.
  std::function<std::string(const std::string& request)> answer;

 private:
  void serve() {
    for (;;) {
      boost::system::error_code error;
      auto socket = acceptor_.accept(error);
      if (error) return;
      std::string request;
      asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n", error);
      {
        const std::scoped_lock lock(mutex_);
        asked_.push_back(request);
      }
      const auto text = answer ? answer(request) : usual(request);
      if (text.empty()) {
        silent_.push_back(std::move(socket));
      } else {
        asio::write(socket, asio::buffer(text), error);
      }
    }
  }
  std::string usual(const std::string& request) const {
    const auto begin = request.find(' ') + 1;
    const auto found = answers.find(request.substr(begin, request.find(' ', begin) - begin));
    const std::string body =
        found != answers.end() ? found->second : R"({"error":{"code":"x","message":"it is not there"}})";
    return "HTTP/1.1 " + std::string(found != answers.end() ? "200 OK" : "404 Not Found") +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
  }

  std::filesystem::path folder_;
  asio::io_context io_;
  api::Protocol::acceptor acceptor_{io_};
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<api::Protocol::socket> silent_;
  std::jthread thread_;
};

struct Asked {
  int status = 0;
  std::string out, err;
};

/// Runs `smd WORDS --socket SOCKET`, without a process of its own.
inline Asked ask_daemon(const std::string& socket, std::vector<std::string> words) {
  CLI::App app;
  app.require_subcommand(1);  // as the command has: `wait` of `partitions wait` is no command then
  cli::AskOptions options;
  cli::add_ask_commands(app, options);
  words.insert(words.end(), {"--socket", socket});
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 has it
  std::ostringstream out, err;
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return {.status = 2, .out = {}, .err = error.what()};
  }
  const int status = cli::ask(app, options, out, err);
  return {.status = status, .out = out.str(), .err = err.str()};
}

}  // namespace smd::test
