// SPDX-License-Identifier: Apache-2.0
// The keys of [store], and a codec for names of files that need not exist when the configuration is read.
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {

Codec<std::string> path(std::string allowed, bool may_be_empty) {
  Codec<std::string> codec;
  codec.allowed = std::move(allowed);
  codec.read = [allowed = codec.allowed, may_be_empty](const Value& value,
                                                       const Spot& spot) -> std::optional<std::string> {
    const bool is_text = value.kind == Value::Kind::text;
    if (is_text && value.text.empty() && may_be_empty) return std::string();
    if (is_text && !value.text.empty() && value.text.find('\0') == std::string::npos) {
      return spot.resolve(value.text).string();
    }
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  codec.show = [](const std::string& value) { return toml_quoted(value); };
  return codec;
}

std::vector<Key> store_keys() {
  return {
      row(
          {.table = "store",
           .name = "directory",
           .opensm = "",
           .doc =
               "The state directory. Under systemd the unit's StateDirectory takes the place of the default. "
               "`--state-dir` overrides it; with `--sim` nothing is kept unless that is "
               "given. Where it cannot be written smd says so once and goes on from memory."},
          [](auto& settings) -> auto& { return settings.store.directory; },
          path("a directory's name", false)),
      row(
          {.table = "store",
           .name = "retry",
           .opensm = "",
           .doc = "When what could not be written is tried again."},
          [](auto& settings) -> auto& { return settings.store.retry; },
          duration(std::chrono::milliseconds(100), std::chrono::hours(1))),
  };
}

}  // namespace smd::config
