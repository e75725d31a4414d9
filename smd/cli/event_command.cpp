// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/event_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "mad/asio.h"
#include "mad/real_clock.h"
#include "smd/api/event_view.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/api/since.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/paint.h"
#include "smd/log/format.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

void print_event(std::ostream& out, const json::value& event, const std::string& subnet) {
  const auto level = text_of(event, "level");
  out << fmt::format("{} {} {}", text_of(event, "time"),
                     painted(out, tone_of(level), fmt::format("{:5}", level)), text_of(event, "event"));
  std::string line;
  if (!subnet.empty()) log::append_text_field(line, "subnet", subnet);
  if (const auto* fields = member_of(event, "fields").if_object()) {
    for (const auto& [key, value] : *fields) {
      const auto* text = value.if_string();
      log::append_text_field(line, key, text != nullptr ? std::string(*text) : sm::to_text(value));
    }
  }
  out << line << '\n';
}

constexpr std::string_view kGap = "smd events: some events that followed are not kept any more\n";

/// Puts frames of server-sent events together from pieces, and hands their data over.
class Frames {
 public:
  using Take = std::function<Done(const json::value& data)>;
  /// Gaps are said to `err`, which outlives this.
  explicit Frames(std::ostream& err) : err_(err) {}
  Done add(std::string_view piece, const Take& take) {
    text_ += piece;
    for (auto end = text_.find("\n\n"); end != std::string::npos; end = text_.find("\n\n")) {
      const auto frame = std::string_view(text_).substr(0, end);
      const auto at = frame.find("\ndata: ");
      const bool gap = frame.find("\nevent: gap\n") != std::string_view::npos;
      if (frame.starts_with("id: ")) last_id_ = frame.substr(4, frame.find('\n') - 4);
      if (const auto id = frame.find("\nid: "); id != std::string_view::npos)
        last_id_ = frame.substr(id + 5, frame.find('\n', id + 1) - (id + 5));
      if (gap) err_ << kGap << std::flush;
      Done done;
      if (at != std::string_view::npos && !gap) {
        const auto value = api::parse_json(frame.substr(at + 7));
        done = value ? take(*value) : std::unexpected(value.error());
      }
      text_.erase(0, end + 2);
      if (!done) return done;
    }
    return {};
  }
  /// Of a connection that has ended: what had begun does not come any more.
  void begin_again() { text_.clear(); }
  /// Where a new connection goes on; empty: from the beginning.
  const std::string& last_id() const { return last_id_; }

 private:
  std::ostream& err_;
  std::string text_, last_id_;
};

void pause_before_connecting() {
  constexpr mad::Duration kPause = std::chrono::milliseconds(500);
  asio::io_context io{1};
  mad::RealClock clock(io);
  clock.call_at(clock.now() + kPause, [] {});
  io.run();
}

/// Of the subnet that was named, else of all of them and of the process.
std::string events_target(const Conversation& daemon, const std::string& query) {
  return daemon.names_subnet() ? path_of(daemon.named(), query) : "/v1/" + query;
}

/// Ends with the output; or where the first connection fails.
Done follow_events(const Conversation& daemon, const std::string& target, const Frames::Take& print,
                   std::ostream& out, std::ostream& err) {
  Frames frames(err);
  bool connected = false, told = false;
  for (;;) {
    Done shown;
    const auto reply = api::follow(
        daemon.socket(), target, frames.last_id(),
        [&](std::string_view piece) {
          connected = true;
          told = false;
          shown = frames.add(piece, print);
          out << std::flush;
          if (shown && !out) shown = std::unexpected(std::string("cannot write to standard output"));
          return shown;
        },
        daemon.timeout());
    if (!shown) return shown;
    const bool good = reply && reply->status / 100 == 2;
    const auto why = !reply ? reply.error().text : good ? "the daemon has ended" : message_of(*reply);
    if (!connected && !good) return std::unexpected(why);
    connected = true;
    if (!std::exchange(told, true))
      err << fmt::format("smd events: {}: waiting for the daemon\n", why) << std::flush;
    frames.begin_again();
    pause_before_connecting();
  }
}

}  // namespace

void add_event_options(CLI::App& command, EventOptions& options) {
  command.add_option("--match", options.match, "only events whose names have this pattern, as \"link.*\"")
      ->type_name("PATTERN");
  command
      .add_option("--since", options.since,
                  "only events since then: a time (2026-11-29T01:30:00Z, of UTC), how long ago (1h30m), or "
                  "the id of the event before")
      ->type_name("TIME")
      ->check([](const std::string& text) {
        const bool good =
            api::parse_event_id(text) || api::parse_since(text, std::chrono::system_clock::now());
        return good ? std::string()
                    : fmt::format(
                          "{}: not a time such as 2026-11-29T01:30:00Z, nor a length of time such as "
                          "1h30m, nor the id of an event",
                          text);
      });
  command
      .add_option("--limit", options.limit,
                  "the latest so many, after an id the first so many (default: 100; with --since: 10,000)")
      ->check(CLI::Range(1, 10'000));
  command.add_flag("--follow", options.follow, "follows new events");
}

Done event_command(const Conversation& daemon, const EventOptions& options, bool as_json, std::ostream& out,
                   std::ostream& err) {
  constexpr unsigned kUsually = 100, kMost = 10'000;
  const auto limit = options.limit != 0 ? options.limit : options.since.empty() ? kUsually : kMost;
  auto query = fmt::format("events?limit={}", limit);
  if (!options.since.empty()) query += "&since=" + api::percent_encoded(options.since);
  if (!options.match.empty()) query += "&match=" + api::percent_encoded(options.match);
  const auto target = events_target(daemon, query);
  const auto names = daemon.subnets();
  const bool several = !daemon.names_subnet() && names && names->size() > 1;
  const auto print = [&](const json::value& event) -> Done {
    if (as_json) out << sm::to_text(event) << '\n';
    if (!as_json) print_event(out, event, several ? text_of(event, "subnet") : "");
    return out ? Done{} : std::unexpected(std::string("cannot write to standard output"));
  };
  if (options.follow) return follow_events(daemon, target, print, out, err);
  const auto page = daemon.call("GET", target);
  if (!page) return std::unexpected(page.error());
  if (text_of(*page, "gap") == "true") err << kGap;
  for (const auto& event : list_of(*page, "events")) {
    if (auto done = print(event); !done) return done;
  }
  return {};
}

}  // namespace smd::cli
