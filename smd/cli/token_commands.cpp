// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/token_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <boost/json.hpp>
#include <functional>
#include <ostream>
#include <utility>

#include "mad/base/escaped.h"
#include "smd/access/token.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/times.h"
#include "smd/cli/words.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

constexpr std::array kTokenOptions{OptionOfKey{"partitions", "--partition"},
                                   OptionOfKey{"expires_in", "--expires"}};

class TokenCommand {
 public:
  TokenCommand(const Conversation& daemon, const TokenOptions& options, bool as_json, std::ostream& out,
               std::ostream& err)
      : daemon_(daemon), options_(options), as_json_(as_json), out_(out), err_(err) {}

  Done list() const;
  Done add() const;
  Done revoke() const;
  Done rotate() const;

 private:
  std::string path(std::string_view after = {}) const {
    return fmt::format("tokens/{}{}", api::percent_encoded(options_.name), after);
  }
  void print_warning(const json::value& answer, const std::string& prefix) const;
  Done look_for_name() const;
  Done give_secret(std::string_view method, const std::string& what, json::object body) const;
  /// As Conversation::call() for each subnet; one that has no such token is wrong only where none has it.
  Done each_with_token(
      std::string_view method, const std::string& what, const std::string& body,
      const std::function<void(json::value answer, const std::string& prefix)>& answered) const;

  const Conversation& daemon_;
  const TokenOptions& options_;
  bool as_json_;
  std::ostream& out_;
  std::ostream& err_;
};

std::string when(const json::value& token, std::string_view key, std::string_view never) {
  const auto text = text_of(token, key);
  return text.empty() ? std::string(never) : text;
}

void print_token(std::ostream& out, const json::value& token) {
  std::string partitions;
  for (const auto& one : list_of(token, "partitions")) {
    if (const auto* name = one.if_string())
      partitions += (partitions.empty() ? " of " : ", ") + base::escaped(std::string(*name));
  }
  const bool expired = text_of(token, "expired") == "true";
  out << fmt::format("{}: {}{}, made {}, {} {}, last used {}\n", text_of(token, "name"),
                     text_of(token, "role"), partitions, when(token, "made", "?"),
                     expired ? "EXPIRED" : "expires", when(token, "expires", "never"),
                     when(token, "last_use", "never"));
}

Done TokenCommand::list() const {
  return daemon_.each([&](const std::string& name, bool several) -> Done {
    const auto value = daemon_.call("GET", path_of(name, "tokens"));
    if (!value) return std::unexpected(value.error());
    if (as_json_) {
      out_ << sm::to_text(*value) << '\n';
      return {};
    }
    if (several) out_ << fmt::format("subnet {}\n", name);
    const auto& tokens = list_of(*value, "tokens");
    if (tokens.empty()) out_ << "no tokens: the API is open to the Unix socket only\n";
    for (const auto& token : tokens) print_token(out_, token);
    return {};
  });
}

void TokenCommand::print_warning(const json::value& answer, const std::string& prefix) const {
  if (const auto warning = text_of(answer, "warning"); !warning.empty())
    err_ << fmt::format("smd token: {}{}\n", prefix, warning);
}

Done TokenCommand::each_with_token(
    std::string_view method, const std::string& what, const std::string& body,
    const std::function<void(json::value answer, const std::string& prefix)>& answered) const {
  bool done = false;
  std::string missing;
  const auto each = daemon_.each([&](const std::string& name, bool several) -> Done {
    std::string code;
    auto value = daemon_.call(method, path_of(name, what), body, &code);
    if (!value && code == "no_such_token") {
      missing = value.error();
      return {};
    }
    if (!value) return std::unexpected(with_option(value.error(), kTokenOptions));
    done = true;
    const auto prefix = several ? name + ": " : std::string();
    print_warning(*value, prefix);
    answered(*std::move(value), prefix);
    return {};
  });
  if (each && !done) return std::unexpected(missing);
  return each;
}

/// That none of several subnets has a token of this name: else some would have the new one, and the others
/// another one.
Done TokenCommand::look_for_name() const {
  return daemon_.each([&](const std::string& name, bool several) -> Done {
    if (!several) return {};  // the daemon says so
    const auto value = daemon_.call("GET", path_of(name, "tokens"));
    if (!value) return std::unexpected(value.error());
    for (const auto& token : list_of(*value, "tokens")) {
      if (text_of(token, "name") == options_.name)
        return std::unexpected(fmt::format("there is a token {}", options_.name));
    }
    return {};
  });
}

/// One secret for all subnets that are meant.
Done TokenCommand::give_secret(std::string_view method, const std::string& what, json::object body) const {
  const auto secret = access::new_secret();
  if (secret.empty()) return std::unexpected("the system gives no random numbers");
  body["sha256"] = access::hash_of(secret);
  bool given = false;
  const auto done =
      each_with_token(method, what, json::serialize(body), [&](json::value answer, const std::string&) {
        given = true;
        if (!as_json_) return;
        answer.as_object()["secret"] = secret;
        out_ << sm::to_text(answer) << '\n';
      });
  if (given && !as_json_) out_ << secret << '\n';
  return done;
}

Done TokenCommand::add() const {
  json::object body{{"role", options_.role}};
  if (!options_.partitions.empty()) {
    json::array partitions;
    for (const auto& one : options_.partitions) partitions.emplace_back(one);
    body["partitions"] = std::move(partitions);
  }
  if (!options_.expires.empty()) body["expires_in"] = *seconds_of(options_.expires);
  if (auto free = look_for_name(); !free) return free;
  return give_secret("PUT", path(), std::move(body));
}

Done TokenCommand::rotate() const { return give_secret("POST", path("/rotate"), {}); }

Done TokenCommand::revoke() const {
  return each_with_token("DELETE", path(), {}, [&](const json::value& answer, const std::string& prefix) {
    if (as_json_) {
      out_ << sm::to_text(answer) << '\n';
    } else {
      out_ << fmt::format("{}{}: revoked\n", prefix, options_.name);
    }
  });
}

struct TokenWhat {
  const char* name;
  bool needs_name;
  Done (TokenCommand::*act)() const;
};
constexpr std::array kTokenWhats{
    TokenWhat{"list", false, &TokenCommand::list}, TokenWhat{"add", true, &TokenCommand::add},
    TokenWhat{"revoke", true, &TokenCommand::revoke}, TokenWhat{"rotate", true, &TokenCommand::rotate}};

}  // namespace

void add_token_options(CLI::App& command, TokenOptions& options) {
  std::vector<std::string> names;
  for (const auto& what : kTokenWhats) names.emplace_back(what.name);
  command
      .add_option(
          "WHAT", options.what,
          "list (the default): all of them; add: makes one and prints its secret, once; revoke: it is "
          "good for nothing any more; rotate: another secret instead of the one before")
      ->check(CLI::IsMember(names));
  command.add_option("NAME", options.name, "of add, revoke and rotate: what the log calls it");
  command
      .add_option("--role", options.role,
                  "of add: viewer sees all; tenant sees its partitions (--partition); operator changes the "
                  "fabric, too; admin also the daemon")
      ->check(CLI::IsMember({"viewer", "tenant", "operator", "admin"}));
  command.add_option("--partition", options.partitions, "of add: one that the tenant sees; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--expires", options.expires, "of add: when it ends, such as 90d or 12h (default: never)")
      ->type_name("TIME")
      ->check(why_no_time);
}

std::string misuse_of(const TokenOptions& options) {
  const auto chosen = options.what.empty() ? "list" : options.what;
  for (const auto& what : kTokenWhats) {
    if (what.name == chosen && what.needs_name && options.name.empty())
      return fmt::format("{} needs a name", what.name);
  }
  if (chosen == "list" && !options.name.empty()) return "list has no name: it shows all";
  if (chosen == "add") return options.role.empty() ? "add needs --role" : "";
  const auto* const useless = !options.role.empty()         ? "--role"
                              : !options.partitions.empty() ? "--partition"
                              : !options.expires.empty()    ? "--expires"
                                                            : "";
  return *useless != '\0' ? fmt::format("{} is of add: {} changes nothing of it", useless, chosen) : "";
}

Done token_command(const Conversation& daemon, const TokenOptions& options, bool as_json, std::ostream& out,
                   std::ostream& err) {
  const TokenCommand command(daemon, options, as_json, out, err);
  for (const auto& what : kTokenWhats) {
    if (what.name != (options.what.empty() ? "list" : options.what)) continue;
    return (command.*what.act)();
  }
  return {};
}

}  // namespace smd::cli
