// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/status_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "smd/cli/ask_replica.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/paint.h"

namespace smd::cli {

namespace json = boost::json;

namespace {

bool is_good_state(const json::value& subnet) {
  const auto state = text_of(subnet, "state");
  return state == "up" || state == "standby";
}

/// Whether `good` is true of each subnet, or of the one that `status` is; false where there is none.
template <class Fn>
bool each_is(const json::value& status, Fn good) {
  if (!member_of(status, "subnets").is_array()) return good(status);
  const auto& subnets = list_of(status, "subnets");
  return !subnets.empty() && std::ranges::all_of(subnets, good);
}

}  // namespace

// The state is that of the last sweep: without sweeps it stays as it was.
bool is_in_service(const json::value& status) {
  return each_is(status, [](const json::value& subnet) {
    return is_good_state(subnet) && text_of(subnet, "sweeps_off_until").empty();
  });
}

// The state of a standby says nothing of the files, by which it would be master.
bool all_is_good(const json::value& status) {
  return is_in_service(status) &&
         each_is(status, [](const json::value& subnet) { return list_of(subnet, "files_refused").empty(); });
}

namespace {

/// "NAME: STATE: why", until when sweeps are off, and what is wrong with the files, in the colours of `out`.
std::string check_words(std::ostream& out, const json::value& subnet) {
  const auto name = text_of(subnet, "subnet");
  const auto& waiting = member_of(subnet, "waiting");
  auto why = waiting.is_object() ? text_of(waiting, "reason") : text_of(subnet, "why");
  if (const auto off = text_of(subnet, "sweeps_off_until"); !off.empty())
    why += fmt::format("{}sweeps off until {}", why.empty() ? "" : "; ", off);
  if (const auto wrong = refused_words(list_of(subnet, "files_refused")); !wrong.empty())
    why +=
        fmt::format("{}the files are wrong, those before are in force: {}", why.empty() ? "" : "; ", wrong);
  const auto state = text_of(subnet, "state");
  return fmt::format("subnet {}: {}{}{}", name.empty() ? "(no name yet)" : name,
                     painted(out, tone_of(state), state), why.empty() ? "" : ": ", why);
}

/// Calls fn(subnet) for each, or for the one that `status` is.
template <class Fn>
void for_each_subnet(const json::value& status, Fn fn) {
  if (!member_of(status, "subnets").is_array()) return fn(status);
  for (const auto& subnet : list_of(status, "subnets")) fn(subnet);
}

}  // namespace

void print_check(std::ostream& out, const json::value& status) {
  for_each_subnet(status, [&](const json::value& subnet) { out << check_words(out, subnet) << '\n'; });
}

int nagios_status(const json::value& status) {
  int worst = -1;
  for_each_subnet(status, [&](const json::value& subnet) {
    const bool warns = is_good_state(subnet) || text_of(subnet, "state") == "reduced";
    const int one = all_is_good(subnet) ? 0 : warns ? 1 : 2;
    worst = std::max(worst, one);
  });
  return worst < 0 ? 2 : worst;
}

void print_nagios(std::ostream& out, const json::value& status) {
  constexpr std::array<std::string_view, 3> kWords{"OK", "WARNING", "CRITICAL"};
  std::string words;
  for_each_subnet(status, [&](const json::value& subnet) {
    words += (words.empty() ? "" : "; ") + check_words(out, subnet);
  });
  // Names of nodes may have one: what follows it would be performance data.
  for (auto bar = words.find('|'); bar != std::string::npos; bar = words.find('|', bar))
    words.replace(bar, 1, "\\x7c");
  out << fmt::format("SMD {} - {}\n", kWords.at(static_cast<std::size_t>(nagios_status(status))),
                     words.empty() ? "no subnet" : words);
}

}  // namespace smd::cli
