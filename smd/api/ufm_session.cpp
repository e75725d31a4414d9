// SPDX-License-Identifier: Apache-2.0
#include "smd/api/ufm_session.h"

#include <algorithm>
#include <optional>

#include "mad/base/parse.h"
#include "smd/api/caller.h"

namespace smd::api {
namespace {

constexpr std::string_view kSessionPrefix = "/ufmRestV2/";
constexpr std::string_view kSessionCookie = "smd_session=";

/// Letters, digits and "_", as secrets have: nothing of a header or a cookie can be in it.
bool is_plain_secret(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The first field of this name in a body of type application/x-www-form-urlencoded.
std::optional<std::string> form_field(std::string_view form, std::string_view name) {
  while (!form.empty()) {
    const auto item = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(form.size(), item.size() + 1));
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || item.substr(0, equals) != name) continue;
    std::string value(item.substr(equals + 1));
    std::ranges::replace(value, '+', ' ');
    return percent_decoded(value);
  }
  return std::nullopt;
}

}  // namespace

std::string ufm_authorization(std::string_view target, std::string authorization, std::string_view cookies) {
  if (!authorization.empty() || !target.starts_with(kSessionPrefix)) return authorization;
  while (!cookies.empty()) {
    const auto item = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookies.size(), item.size() + 1));
    const auto cookie = base::trim(item);
    if (cookie.starts_with(kSessionCookie))
      return "Bearer " + std::string(cookie.substr(kSessionCookie.size()));
  }
  return authorization;
}

Answer ufm_login(const Question& question, Backend& backend) {
  if (question.request->peer.local)
    return error_of(400, "no_session", "the Unix socket needs no session, and has none");
  const auto password = form_field(question.body, "httpd_password");
  if (!password || !is_plain_secret(*password))
    return bad_body("httpd_password: must be the secret of a token, in a form with httpd_username");
  Request shown{.method = question.request->method, .target = question.request->target, .body = {}};
  shown.authorization = "Bearer " + *password;
  shown.peer = question.request->peer;
  shown.time = question.request->time;
  const auto access = caller_of(shown, backend);
  if (!access) return access.error();
  auto answer = answer_of(sm::Json(sm::JsonObject{{"user", sm::Json(access->name())}}));
  answer.headers.emplace_back("Set-Cookie", std::string(kSessionCookie) + *password +
                                                "; Path=/ufmRestV2; HttpOnly; Secure; SameSite=Strict");
  answer.headers.emplace_back("Cache-Control", "no-store");
  return answer;
}

}  // namespace smd::api
