// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/ask_replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "mad/base/escaped.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/words.h"

namespace smd::cli {

namespace json = boost::json;

namespace {

double lag_seconds_of(const json::value& standby) {
  const auto* seconds = member_of(standby, "lag_seconds").if_double();
  return seconds != nullptr ? *seconds : 0;
}

/// It is in the list of standbys, and is none.
bool is_etcd(const json::value& standby) { return text_of(standby, "name") == "etcd"; }

}  // namespace

std::string replica_words(const json::value& subnet) {
  const auto& replica = member_of(subnet, "replica");
  const bool standby = text_of(subnet, "state") == "standby";
  if (!replica.is_object())
    return standby ? "none: the state is not copied (no [ha] peers or etcd; or ha.not_replicated in the log)"
                   : "";
  const auto role = text_of(replica, "role");
  const auto failure = text_of(replica, "trouble");
  if (role == "none" && !failure.empty())
    return fmt::format("none: {}: correct it, then restart; the state is not copied", failure);
  if (role != "source") {
    if (role == "lost" || role == "none") {
      const auto heard = text_of(replica, "heard"), master = text_of(replica, "master");
      const auto why = master.empty() ? "" : "; " + master;
      if (heard.empty())
        return fmt::format("{} (at {}; nothing has come from the master since the start{})", role,
                           text_of(replica, "position"), why);
      return fmt::format("{} (at {}; last heard {}: later changes of the master are missing{})", role,
                         text_of(replica, "position"), heard, why);
    }
    return fmt::format("{} (at {}, {} behind; {})", role, text_of(replica, "position"),
                       counted(text_of(replica, "lag_transactions"), "transaction"),
                       text_of(replica, "master"));
  }
  const auto& standbys = list_of(replica, "standbys");
  const bool lost = text_of(replica, "mode") != "async" && text_of(replica, "in_sync") == "false";
  const auto is_sm = [](const json::value& one) { return !is_etcd(one); };
  const auto count = std::ranges::count_if(standbys, is_sm);
  std::string words =
      fmt::format("source of {}{}, {}{}", counted(static_cast<std::uint64_t>(count), "standby"),
                  static_cast<std::size_t>(count) != standbys.size() ? " and etcd" : "",
                  text_of(replica, "mode"), lost ? " (not in sync now)" : "");
  for (const auto& one : standbys) {
    const auto name = is_etcd(one) ? text_of(one, "name")
                                   : fmt::format("{} ({})", text_of(one, "guid"), text_of(one, "name"));
    words += fmt::format("; {} is {}, {:.1f} s behind", name,
                         counted(text_of(one, "lag_transactions"), "transaction"), lag_seconds_of(one));
  }
  if (!failure.empty()) words += fmt::format("; etcd: {}", failure);
  if (const auto refused = text_of(replica, "refused"); !refused.empty())
    words += fmt::format("; refused: {}: does a standby have another certificate or key?", refused);
  return words;
}

std::string config_words(const json::value& subnet) {
  const auto keys = joined_texts(list_of(subnet, "config_differs"));
  return keys.empty() ? keys
                      : keys +
                            ": the values of the master before are in force; smd check --running says what a "
                            "reload would change";
}

std::string refused_words(const json::array& errors) {
  const auto* first = errors.empty() ? nullptr : errors.front().if_string();
  if (first == nullptr) return {};
  return base::escaped(std::string(*first)) +
         (errors.size() > 1 ? fmt::format(" (and {} more: smd check)", errors.size() - 1) : "");
}

std::string groups_read_words(const json::value& subnet) {
  const auto& read = member_of(subnet, "groups_read");
  if (!read.is_object()) return {};
  return fmt::format("{} with {}, of the master at LID {} (read {})", text_of(read, "groups"),
                     counted(text_of(read, "members"), "member"), text_of(read, "sm_lid"),
                     text_of(read, "at"));
}

}  // namespace smd::cli
