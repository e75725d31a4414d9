// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sessions of UFM's clients: the cookie is the token, so that it ends when the token does and is good at each
// SM of the fabric. Nothing is kept of it.

#include <string>
#include <string_view>

#include "smd/api/router.h"

namespace smd::api {

/// The header Authorization of a call to `target`: below /ufmRestV2 that of the cookie where there is none.
std::string ufm_authorization(std::string_view target, std::string authorization, std::string_view cookies);

/// A form with httpd_password, the secret of a token; the user name is not looked at. 200 with the cookie;
/// 401: no such token; 429: too many wrong ones.
Answer ufm_login(const Question& question, Backend& backend);

}  // namespace smd::api
