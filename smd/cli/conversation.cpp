// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/conversation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "mad/base/escaped.h"
#include "smd/api/json_in.h"
#include "smd/api/listen.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"

namespace smd::cli {

namespace json = boost::json;

namespace {

std::expected<json::value, std::string> body_of(const std::filesystem::path& socket,
                                                const api::Reply& reply) {
  auto value = api::parse_json(reply.body);
  if (!value) return std::unexpected(fmt::format("{}: {}", socket.string(), value.error()));
  return *std::move(value);
}

/// Of a refusal; empty where it has none.
std::string code_of(const api::Reply& reply) {
  return text_of(api::parse_json(reply.body).value_or(json::value()), "code");
}

}  // namespace

std::string joined(const std::vector<SubnetError>& errors) {
  const auto most = std::ranges::max(errors, {}, &SubnetError::has).has;
  std::vector<std::pair<std::string, std::vector<std::string>>> texts;  // with their subnets
  for (const auto& one : errors) {
    if (one.has != most) continue;
    auto at = std::ranges::find(texts, one.text, &std::pair<std::string, std::vector<std::string>>::first);
    if (at == texts.end()) at = texts.insert(at, {one.text, {}});
    at->second.push_back(one.subnet);
  }
  std::string all;
  for (const auto& [text, subnets] : texts) {
    const auto& first = subnets.front();
    const bool named = text.starts_with(first + ": ") || text.starts_with(first + " waits: ");
    all += all.empty() ? "" : "; ";
    all += named ? text : fmt::format("{}: {}", fmt::join(subnets, ", "), text);
  }
  return all;
}

bool is_elsewhere(std::string_view error) {
  return error.starts_with("no node ") || error.starts_with("no port ");
}

Conversation::Conversation(const std::string& socket, std::string subnet, std::chrono::seconds timeout)
    : socket_(socket.empty() ? api::default_socket_to_ask() : std::filesystem::path(socket)),
      subnet_(std::move(subnet)),
      timeout_(timeout) {}

Conversation Conversation::within(std::chrono::seconds timeout) const {
  auto other = *this;
  other.timeout_ = timeout;
  return other;
}

std::expected<json::value, std::string> Conversation::call(std::string_view method, const std::string& target,
                                                           const std::string& body, std::string* code) const {
  const auto reply = api::ask(socket_, method, target, body, {}, timeout_);
  if (!reply) {
    if (code != nullptr && reply.error().timed_out) *code = kNoAnswer;
    return std::unexpected(reply.error().text);
  }
  if (reply->status / 100 != 2) {
    if (code != nullptr) *code = code_of(*reply);
    return std::unexpected(message_of(*reply));
  }
  return body_of(socket_, *reply);
}

std::expected<std::optional<json::value>, std::string> Conversation::find(const std::string& target,
                                                                          std::string* why,
                                                                          std::string* code) const {
  const auto reply = api::ask(socket_, "GET", target, {}, {}, timeout_);
  if (!reply) return std::unexpected(reply.error().text);
  if (reply->status == 404) {
    *why = message_of(*reply);
    return std::optional<json::value>{};
  }
  if (reply->status / 100 != 2) {
    if (code != nullptr) *code = code_of(*reply);
    return std::unexpected(message_of(*reply));
  }
  auto value = body_of(socket_, *reply);
  if (!value) return std::unexpected(std::move(value.error()));
  return std::optional(*std::move(value));
}

/// The one that was named, else all that have a name yet.
std::expected<std::vector<std::string>, std::string> Conversation::subnets(std::string* code) const {
  if (!subnet_.empty()) return std::vector{subnet_};
  const auto status = call("GET", "/v1/status", {}, code);
  if (!status) return std::unexpected(status.error());
  std::vector<std::string> names;
  std::string waiting;
  for (const auto& subnet : list_of(*status, "subnets")) {
    auto name = text_of(subnet, "subnet");
    if (name.empty()) waiting = text_of(member_of(subnet, "waiting"), "reason");
    if (!name.empty()) names.push_back(std::move(name));
  }
  if (!names.empty()) return names;
  if (code != nullptr) *code = kNoSubnet;
  return std::unexpected(fmt::format("no subnet yet: {}", waiting.empty() ? "smd begins" : waiting));
}

Done Conversation::each_that_has(const Act& act, const Has& has, std::string* code) const {
  const auto names = subnets(code);
  if (!names) return std::unexpected(names.error());
  const bool several = names->size() > 1;
  std::vector<SubnetError> failed;
  for (const auto& name : *names) {
    auto done = act(name, several);
    if (!done) failed.push_back({.subnet = name, .text = std::move(done.error()), .has = 0});
  }
  if (failed.empty()) return {};
  // What is wrong with the words of the command is wrong in each subnet.
  const bool same =
      failed.size() == names->size() &&
      std::ranges::all_of(failed, [&](const SubnetError& one) { return one.text == failed.front().text; });
  if (same) return std::unexpected(std::move(failed.front().text));
  for (auto& one : failed) one.has = has ? has(one.subnet, one.text) : 0;
  return std::unexpected(joined(failed));
}

std::expected<std::string, std::string> Conversation::only_subnet() const {
  auto names = subnets();
  if (!names) return std::unexpected(std::move(names.error()));
  if (names->size() == 1) return std::move(names->front());
  return std::unexpected(
      fmt::format("there are several subnets ({}): name one with --subnet", fmt::join(*names, ", ")));
}

std::string path_of(const std::string& subnet, std::string_view what) {
  return fmt::format("/v1/subnets/{}/{}", api::percent_encoded(subnet), what);
}

std::string message_of(const api::Reply& reply) {
  const auto body = api::parse_json(reply.body);
  if (body && body->is_object()) {
    const auto* error = body->get_object().if_contains("error");
    const auto* text =
        error != nullptr && error->is_object() ? error->get_object().if_contains("message") : nullptr;
    if (text != nullptr && text->is_string()) return base::escaped(std::string_view(text->get_string()));
  }
  return fmt::format("status {}", reply.status);
}

}  // namespace smd::cli
