// SPDX-License-Identifier: Apache-2.0
// An etcd says what it likes: answers, lines of a watch, and values that another hand has written. The first
// byte is the status of HTTP and what was asked.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "smd/base/base64.h"
#include "smd/etcd/layout.h"
#include "smd/etcd/messages.h"

namespace {

/// What is made of rows.
void read_rows(const smd::etcd::RangeAnswer& answer) {
  using namespace smd::etcd;
  const Layout layout("/smd", "s");
  const auto live = live_of(answer, layout);
  if (live.head) (void)layout.before(live.head->snapshot);
  Joiner joiner(0);
  for (const auto& row : answer.rows) {
    (void)layout.standby_of(row.key);
    (void)position_of(row.value);
    (void)joiner.add(row);
    (void)open_frame({row.value.begin(), row.value.end()});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::etcd;
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr unsigned kStatus[] = {200, 400, 429, 503};
  const unsigned status = kStatus[data[0] % 4];
  if (const auto answer = range_answer(status, body)) read_rows(*answer);
  (void)transaction_answer(status, body);
  (void)grant_answer(status, body);
  (void)renew_answer(status, body);
  (void)revoke_answer(status, body);
  (void)watch_word(body);
  if (const auto bytes = smd::sm::from_base64(body);
      bytes && smd::sm::from_base64(smd::sm::to_base64(*bytes)) != bytes)
    __builtin_trap();
  const auto head = head_of(body);
  if (head && head->min_reader <= kLayout && head_of(to_text(*head)) != head) __builtin_trap();
  return 0;
}
