// SPDX-License-Identifier: Apache-2.0
#pragma once
// The JSON of etcd's gateway: what it is asked, and what its answers say. As etcd 3.4 documents it and sends
// it: 64-bit numbers are texts, bytes are base64, what has its default is left out.

#include <string>
#include <string_view>

#include "smd/etcd/client.h"

namespace smd::etcd {

// Bodies of POST; the paths are kRangePath and so on.
inline constexpr std::string_view kRangePath = "/v3/kv/range", kTransactionPath = "/v3/kv/txn",
                                  kGrantPath = "/v3/lease/grant", kRenewPath = "/v3/lease/keepalive",
                                  kRevokePath = "/v3/lease/revoke", kWatchPath = "/v3/watch";
/// The body of one call, one JSON object. Keys and values may be any bytes.
std::string range_body(const RangeAsk& ask);
std::string transaction_body(const Transaction& transaction);
std::string grant_body(std::chrono::seconds time);
std::string lease_body(std::int64_t lease);  ///< of renewing and revoking
/// Changes of the keys from `key` to before `end`, from `revision` on.
std::string watch_body(std::string_view key, std::string_view end, std::int64_t revision);

// Answers, which are foreign bytes; `status` is HTTP's.
/// What the body says. An error where it says that etcd did not do it, and where it is malformed
/// (ErrorKind::unreachable).
std::expected<RangeAnswer, Error> range_answer(unsigned status, std::string_view body);
std::expected<TransactionAnswer, Error> transaction_answer(unsigned status, std::string_view body);
/// The id of the new lease, not 0.
std::expected<std::int64_t, Error> grant_answer(unsigned status, std::string_view body);
/// False: the lease has ended.
std::expected<bool, Error> renew_answer(unsigned status, std::string_view body);
/// Always true.
std::expected<bool, Error> revoke_answer(unsigned status, std::string_view body);
/// One line of a watch: the revision up to which something has changed; 0: nothing has. The error: the watch
/// has ended.
std::expected<std::int64_t, Error> watch_word(std::string_view line);

}  // namespace smd::etcd
