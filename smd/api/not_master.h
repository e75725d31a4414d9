// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a client hears of an SM that is not master, where only the master can do what it asks, or that has not
// begun yet.

#include <optional>
#include <string>
#include <string_view>

#include "smd/api/backend.h"
#include "smd/api/request.h"

namespace smd::api {

/// Which SM the master is, its address in the fabric, and where it listens for its standbys, which only those
/// know; empty: not known.
std::string master_words(const SubnetView& view);

/// Why it is in its state; of one that reads its fabric for the first time how far it is.
std::string why_words(const SubnetView& view);

/// Why nothing can be changed here now: not_master(), two_masters(), or no_longer_master() after a standstill
/// and where the next request is handed on to the master. By the SM's state, which is ahead of the last
/// sweep; nothing before the first one.
std::optional<Answer> mastership_hindrance(const SubnetView& view, std::string_view what);

/// 503 no_master: the mastership has ended during the request, or may have. Nothing was changed.
Answer no_longer_master(const SubnetView& view);

/// 503 no_master: that has happened while a change was kept, and the next master may have it.
Answer mastership_ended(const SubnetView& view);

/// 503 two_masters: another SM says that it is master, too, and what is changed now is lost where this one
/// gives way. Or 503 waiting: the state is copied, and the port of this SM has no link: another one may be.
std::optional<Answer> two_masters(const SubnetView& view);

/// 503 waiting: "east waits: no port mlx5_9"; what is waited for, else `what`.
Answer not_yet(const SubnetView& view, std::string_view what);
/// The same of what is known after the first sweep.
Answer not_read(const SubnetView& view);

/// 409 not_master: "east: this SM is not master: ask the master, NODE (port GUID ...)". `what`: what the
/// client can do.
Answer not_master(const SubnetView& view, std::string_view what);

}  // namespace smd::api
