// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/wait_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ostream>
#include <tuple>

#include "mad/asio.h"
#include "mad/base/parse.h"
#include "mad/real_clock.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/status_check.h"
#include "smd/cli/words.h"

namespace smd::cli {
namespace {

namespace json = boost::json;
using std::chrono::steady_clock;

/// Between two questions to the daemon.
constexpr mad::Duration kAskAgain = std::chrono::milliseconds(200);

/// The longest time that may be given: a day.
constexpr unsigned kLongest = 86'400;

void pause() {
  asio::io_context io;
  mad::RealClock clock(io);
  clock.call_at(clock.now() + kAskAgain, [] {});
  io.run();
}

/// Of a master's replica: the standby with this port GUID has all that is committed.
bool has_all(const json::value& replica, std::string_view guid) {
  return std::ranges::any_of(list_of(replica, "standbys"), [&](const json::value& standby) {
    return text_of(standby, "guid") == guid && text_of(standby, "position") == text_of(replica, "position");
  });
}

/// Of a master's replica: this SM copies.
bool copies(const json::value& replica, std::string_view guid) {
  return std::ranges::any_of(list_of(replica, "standbys"),
                             [&](const json::value& standby) { return text_of(standby, "guid") == guid; });
}

bool may_have_fabric(const json::value& status, std::string_view guid) {
  return std::ranges::none_of(list_of(status, "other_sms"), [&](const json::value& sm) {
    return text_of(sm, "guid") == guid && !text_of(sm, "never_obeyed").empty();
  });
}

/// The SM that the fabric goes to when the master ends, as machine::successor chooses it: a standby before
/// one that shows Not-active, one that has all that is committed before one that copies, and that before
/// others, and of these the one with the highest rank. Null: there is none.
const json::value* heir_of(const json::value& sms, const json::value& status) {
  const auto& replica = member_of(status, "replica");
  const auto rank = [&](const json::value& sm) {
    const auto guid = base::parse_guid(text_of(sm, "guid"));
    const auto port = text_of(sm, "guid");
    return std::tuple(text_of(sm, "state") == "standby", has_all(replica, port), copies(replica, port),
                      base::parse_number(text_of(sm, "priority")), ~(guid ? guid->value() : 0));
  };
  const json::value* best = nullptr;
  for (const auto& sm : list_of(sms, "sms")) {
    const auto state = text_of(sm, "state");
    const bool waits = state == "standby" || state == "not_active";
    if (text_of(sm, "self") == "true" || text_of(sm, "answers") != "true" || !waits) continue;
    if (!may_have_fabric(status, text_of(sm, "guid"))) continue;
    if (best == nullptr || rank(*best) < rank(sm)) best = &sm;
  }
  return best;
}

bool another_is_master(const json::value& sms) {
  return std::ranges::any_of(list_of(sms, "sms"), [](const json::value& sm) {
    return text_of(sm, "self") != "true" && text_of(sm, "answers") == "true" &&
           text_of(sm, "state") == "master";
  });
}

std::string own_state(const json::value& sms) {
  for (const auto& sm : list_of(sms, "sms")) {
    if (text_of(sm, "self") == "true") return text_of(sm, "state");
  }
  return {};
}

/// Of the master: whether `heir` has all that is committed.
Readiness at_standby(const json::value& replica, const json::value* heir) {
  if (heir == nullptr) return {false, "no standby answers on the fabric"};
  const auto guid = text_of(*heir, "guid");
  if (has_all(replica, guid))
    return {true, fmt::format("standby {} \"{}\" is current", guid, text_of(*heir, "node"))};
  for (const auto& standby : list_of(replica, "standbys")) {
    if (text_of(standby, "guid") != guid) continue;
    return {false, fmt::format("standby {} lacks {}", guid,
                               counted(text_of(standby, "lag_transactions"), "transaction"))};
  }
  return {false, fmt::format("standby {} \"{}\" does not copy the state", guid, text_of(*heir, "node"))};
}

}  // namespace

void add_wait_options(CLI::App& command, WaitOptions& options) {
  command
      .add_option("WHAT", options.what,
                  "up: the last sweep has found all in order, or this SM is a standby; replica: the master's "
                  "state is current at a standby; restart: that, or another SM is master")
      ->required()
      ->check(CLI::IsMember({"up", "replica", "restart"}));
  command.add_option("--timeout", options.timeout, "seconds (default: 60)")->check(CLI::Range(0U, kLongest));
}

std::expected<Readiness, std::string> readiness(const std::string& what, const json::value& status,
                                                const json::value& sms) {
  const auto state = own_state(sms);
  const bool restart = what == "restart";
  if (restart && !state.empty() && state != "master")
    return another_is_master(sms)
               ? Readiness{true, fmt::format("this SM is {}", state)}
               : Readiness{false, fmt::format("this SM is {}, and no other SM is master", state)};
  if (restart && state.empty()) return Readiness{false, "this SM has not begun yet"};
  const auto& replica = member_of(status, "replica");
  if (!replica.is_object())
    return std::unexpected("the state is not copied: [ha] listen, peers and etcd are not set");
  const auto role = text_of(replica, "role");
  if (role == "current") return Readiness{true, "the copy of the master's state is current"};
  if (role == "source") return at_standby(replica, heir_of(sms, status));
  return Readiness{false, fmt::format("replica: {}", role)};
}

namespace {

/// The time that is left, and enough for a daemon that answers at once.
std::chrono::seconds time_left(steady_clock::time_point end) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(end - steady_clock::now()),
                  std::chrono::seconds(1));
}

/// For one call, which is over when the time is.
Conversation until(const Conversation& daemon, steady_clock::time_point end) {
  return daemon.within(std::min(daemon.timeout(), time_left(end)));
}

/// A daemon that has not begun yet, or does not answer, is waited for as well.
Done wait_up(const Conversation& daemon, const WaitOptions& options, bool* ready, std::ostream& out) {
  const auto end = steady_clock::now() + std::chrono::seconds(options.timeout);
  const auto target = daemon.names_subnet() ? path_of(daemon.named(), "status") : "/v1/status";
  for (;;) {
    std::string code;
    const auto status = until(daemon, end).call("GET", target, {}, &code);
    *ready = status && is_in_service(*status);
    const bool over = *ready || steady_clock::now() >= end;
    if (over && !status && code != kNoAnswer) return std::unexpected(status.error());
    if (over) {
      if (status) {
        print_check(out, *status);
      } else {
        out << status.error() << '\n';
      }
      return {};
    }
    pause();
  }
}

/// `code`: as Conversation::call() sets it.
std::expected<Readiness, std::string> readiness_of(const Conversation& daemon, steady_clock::time_point end,
                                                   const std::string& what, const std::string& subnet,
                                                   std::string* code) {
  const auto status = until(daemon, end).call("GET", path_of(subnet, "status"), {}, code);
  if (!status) return std::unexpected(status.error());
  const auto sms = until(daemon, end).call("GET", path_of(subnet, "sms"), {}, code);
  if (!sms) return std::unexpected(sms.error());
  auto found = readiness(what, *status, *sms);
  if (!found) return std::unexpected(fmt::format("{}: {}", subnet, found.error()));
  return found;
}

}  // namespace

Done wait_command(const Conversation& daemon, const WaitOptions& options, bool* ready, std::ostream& out) {
  if (options.what == "up") return wait_up(daemon, options, ready, out);
  const auto end = steady_clock::now() + std::chrono::seconds(options.timeout);
  for (;;) {
    std::string words, code;
    *ready = true;
    const auto ask = [&](const std::string& name, bool) -> Done {
      if (code == kNoAnswer) return {};  // of the subnet before
      const auto found = readiness_of(daemon, end, options.what, name, &code);
      if (!found) return std::unexpected(found.error());
      *ready = *ready && found->ready;
      words += fmt::format("{}: {}\n", name, found->why);
      return {};
    };
    const auto done = until(daemon, end).each(ask, &code);
    if (!done && code != kNoAnswer && code != kNoSubnet) return done;
    *ready = *ready && done;
    if (*ready || steady_clock::now() >= end) {
      out << words;
      if (!done) out << done.error() << '\n';
      return {};
    }
    pause();
  }
}

}  // namespace smd::cli
