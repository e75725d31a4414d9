// SPDX-License-Identifier: Apache-2.0
#include "smd/api/ufm.h"

#include <fmt/format.h>

#include <charconv>

#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

constexpr std::string_view kRoot = "/ufmRest";

/// Of keys that are not the default one: that they differ is all that a client compares.
constexpr std::string_view kHidden = "0xffffffffffffffff";

std::string_view key_text(bool is_default, std::string_view default_text) {
  return is_default ? default_text : kHidden;
}

}  // namespace

Answer as_ufm(Answer answer) {
  if (answer.type != kProblem) return answer;
  const auto body = parse_json(answer.body);
  if (body) answer.body = sm::to_text(sm::Json(sm::JsonObject{{"error", body->at("error")}})) + '\n';
  answer.type.clear();
  return answer;
}

bool is_ufm(std::string_view path) {
  return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
}

std::string ufm_path(std::string_view path) {
  for (const std::string_view prefix : {"/ufmRestV2", "/ufmRestV3"}) {
    if (!path.starts_with(prefix)) continue;
    const auto rest = path.substr(prefix.size());
    if (rest.empty() || rest.front() == '/') return ufm_path(std::string(kRoot) + std::string(rest));
  }
  if (is_ufm(path) && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

std::string ufm_subnet(const Question& question, const Backend& backend) {
  const auto fabric = question.query.find("fabric");
  if (fabric != question.query.end()) return fabric->second;
  for (const auto& view : backend.subnets()) {
    if (question.access->in(view->name)) return view->name;
  }
  return {};
}

bool ufm_is_asked(const Question& question, std::string_view key) {
  auto word = question.asked(key);
  for (auto& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word == "1" || word == "true";
}

std::expected<PKey, Answer> ufm_pkey(std::string_view text) {
  const auto pkey = ufm_pkey_or_default(text);
  if (!pkey || !pkey->same_partition(config::kDefaultPartition)) return pkey;
  return std::unexpected(
      error_of(400, "bad_pkey", fmt::format("pkey: found {}, allowed 0x1 to 0x7ffe", text)));
}

std::expected<PKey, Answer> ufm_pkey_or_default(std::string_view text) {
  const auto wrong = [&] {
    return std::unexpected(
        error_of(400, "bad_pkey", fmt::format("pkey: found {}, allowed 0x1 to 0x7ffe", text)));
  };
  if (!text.starts_with("0x") && !text.starts_with("0X")) return wrong();
  const auto digits = text.substr(2);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return wrong();
  if (value == 0 || value > 0x7FFF) return wrong();
  return PKey{static_cast<std::uint16_t>(value)};
}

std::string ufm_text(PKey pkey) { return fmt::format("0x{:x}", pkey.value() & 0x7FFFU); }
std::string ufm_text(Guid guid) { return fmt::format("{:016x}", guid.value()); }

Answer ufm_version(const Question&, Backend&) {
  return answer_of(Json(JsonObject{{"ufm_release_version", text("6.23.0")}}));
}

Answer ufm_smconf(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  if (!chosen->view->policy_state) return error_of(503, "waiting", "the store is not open yet");
  const auto& config = *chosen->view->policy_state->config;
  const bool usual = config.sm.sm_key == config::SmConfig{}.sm_key;
  const bool usual_sa = config.keys.sa_key ? *config.keys.sa_key == config::SmConfig{}.sm_key : usual;
  const bool no_m_key = config.keys.m_key.value_or(0) == 0;
  return answer_of(Json(JsonObject{{"subnet_prefix", text(fmt::format("0x{:016x}", config.sm.subnet_prefix))},
                                   {"m_key", text(key_text(no_m_key, "0x0000000000000000"))},
                                   {"sm_key", text(key_text(usual, "0x0000000000000001"))},
                                   {"sa_key", text(key_text(usual_sa, "0x0000000000000001"))},
                                   {"m_key_per_port", Json(config.keys.m_key_per_port)}}));
}

}  // namespace smd::api
