// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/event_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

void print_event(std::ostream& out, const json::value& event, const std::string& subnet) {
  out << fmt::format("{} {:5} {}", text_of(event, "time"), text_of(event, "level"), text_of(event, "event"));
  if (!subnet.empty()) out << " subnet=" << subnet;
  const auto& fields = member_of(event, "fields");
  if (const auto* object = fields.if_object()) {
    for (const auto& [key, value] : *object) {
      const auto shown = text_of(fields, key);
      const bool quoted = shown.empty() || shown.find(' ') != std::string::npos;
      out << fmt::format(" {}={}{}{}", std::string_view(key), quoted ? "\"" : "", shown, quoted ? "\"" : "");
    }
  }
  out << '\n';
}

/// Puts frames of server-sent events together from pieces, and hands their data over.
class Frames {
 public:
  using Take = std::function<Done(const json::value& data)>;
  Done add(std::string_view piece, const Take& take) {
    text_ += piece;
    for (auto end = text_.find("\n\n"); end != std::string::npos; end = text_.find("\n\n")) {
      const auto frame = std::string_view(text_).substr(0, end);
      const auto at = frame.find("\ndata: ");
      const bool gap = frame.find("\nevent: gap\n") != std::string_view::npos;
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

 private:
  std::string text_;
};

/// Of the subnet that was named, else of all of them and of the process.
std::string events_target(const Conversation& daemon, const std::string& query) {
  return daemon.names_subnet() ? path_of(daemon.named(), query) : "/v1/" + query;
}

Done follow_events(const Conversation& daemon, const std::string& target, const Frames::Take& print,
                   std::ostream& out) {
  Frames frames;
  const auto reply = api::follow(daemon.socket(), target, [&](std::string_view piece) {
    auto done = frames.add(piece, print);
    out << std::flush;
    return done;
  });
  if (!reply) return std::unexpected(reply.error().text);
  if (reply->status / 100 != 2) return std::unexpected(message_of(*reply));
  return std::unexpected(std::string("the daemon has ended"));
}

}  // namespace

void add_event_options(CLI::App& command, EventOptions& options) {
  command.add_option("--match", options.match, "only events whose names have this pattern, as \"link.*\"")
      ->type_name("PATTERN");
  command.add_option("--limit", options.limit, "the latest so many (default: 100)")
      ->check(CLI::Range(1, 10'000));
  command.add_flag("--follow", options.follow, "goes on with those that come");
}

Done event_command(const Conversation& daemon, const EventOptions& options, bool as_json, std::ostream& out) {
  auto query = fmt::format("events?limit={}", options.limit);
  if (!options.match.empty()) query += "&match=" + api::percent_encoded(options.match);
  const auto target = events_target(daemon, query);
  const auto names = daemon.subnets();
  const bool several = !daemon.names_subnet() && names && names->size() > 1;
  const auto print = [&](const json::value& event) -> Done {
    if (as_json) out << json::serialize(event) << '\n';
    if (!as_json) print_event(out, event, several ? text_of(event, "subnet") : "");
    return out ? Done{} : std::unexpected(std::string("the output takes no more"));
  };
  if (options.follow) return follow_events(daemon, target, print, out);
  const auto page = daemon.call("GET", target);
  if (!page) return std::unexpected(page.error());
  for (const auto& event : list_of(*page, "events")) {
    if (auto done = print(event); !done) return done;
  }
  return {};
}

}  // namespace smd::cli
