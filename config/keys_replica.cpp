// SPDX-License-Identifier: Apache-2.0
// The keys of [ha] that say how the state is copied to a standby.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "config/replica_key.h"
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

/// "https://HOST:PORT"
bool is_member(std::string_view text) {
  constexpr std::string_view kScheme = "https://";
  return text.starts_with(kScheme) && is_address(text.substr(kScheme.size()));
}

/// A list of texts of which `good` is true.
Codec<std::vector<std::string>> texts_of(std::string_view form, bool (*is_good)(std::string_view)) {
  using Texts = std::vector<std::string>;
  Codec<Texts> codec;
  codec.form = Form::list;
  codec.allowed = fmt::format("a list of \"{}\"", form);
  codec.read = [allowed = codec.allowed, is_good](const Value& value,
                                                  const Spot& spot) -> std::optional<Texts> {
    Texts found;
    bool good = value.kind == Value::Kind::list;
    for (const auto& item : value.items) {
      good = good && item.kind == Value::Kind::text && is_good(item.text);
      found.push_back(item.text);
    }
    if (good) return found;
    spot.wrong(value, allowed);
    return std::nullopt;
  };
  codec.show = [](const Texts& texts) {
    std::string shown;
    for (const auto& one : texts) shown += fmt::format("{}{}", shown.empty() ? "" : ", ", toml_quoted(one));
    return fmt::format("[{}]", shown);
  };
  return codec;
}

Key psk_file() {
  Key key{.table = "ha",
          .name = "psk_file",
          .opensm = "",
          .doc =
              "A file with a key that all SMs of the subnet have, instead of certificates: 32 to 512 "
              "hexadecimal digits, as `openssl rand -hex 32` writes them. It belongs to root or smd, mode "
              "0600 or 0640 with the group smd."};
  key.allowed = "a file's name";
  key.read = [](const Value& value, const Spot& spot, Settings& into) {
    auto& ha = into.subnet.ha;
    if (value.kind != Value::Kind::text) return spot.wrong(value, "a file's name");
    ha.psk_file.clear();
    ha.psk.clear();
    if (value.text.empty()) return;
    ha.psk_file = spot.resolve(value.text).string();
    // Without it the state is not copied: a warning, as of a certificate that cannot be used (whole_checks).
    if (auto bytes = read_replica_key(ha.psk_file, spot.context)) ha.psk = *std::move(bytes);
  };
  key.show = [](const Settings& from) { return toml_quoted(from.subnet.ha.psk_file); };
  return key;
}

/// How an SM proves who it is.
std::vector<Key> proof_keys() {
  constexpr auto kHa = &SubnetConfig::ha;
  return {
      row({.table = "ha", .name = "cert", .opensm = "", .doc = "The certificate of this SM, in PEM."}, kHa,
          &HaConfig::cert, path("a file's name", true)),
      row({.table = "ha", .name = "key", .opensm = "", .doc = "Its private key, in PEM."}, kHa,
          &HaConfig::key, path("a file's name", true)),
      row({.table = "ha",
           .name = "ca",
           .opensm = "",
           .doc = "The certificate, in PEM, that those of all SMs of the subnet are signed by, and nothing "
                  "else is: any holder of one of them may copy the state."},
          kHa, &HaConfig::ca, path("a file's name", true)),
      psk_file(),
  };
}

}  // namespace

std::vector<Key> replica_keys() {
  constexpr auto kHa = &SubnetConfig::ha;
  const auto listen = text("\"ADDRESS:PORT\", or nothing",
                           [](const std::string& value) { return value.empty() || is_address(value); });
  std::vector<Key> keys{
      row({.table = "ha",
           .name = "listen",
           .opensm = "",
           .doc = "Where standbys connect to copy the state of this SM: an address of this machine and a "
                  "port, \"[::]:7650\" for all. Nothing: none can."},
          kHa, &HaConfig::listen, listen),
      row({.table = "ha",
           .name = "peers",
           .opensm = "",
           .doc = "Where the other SMs of the subnet listen. A standby copies the state of the one that is "
                  "master, by TLS 1.3; both ends prove who they are by psk_file, or by cert, key and ca."},
          kHa, &HaConfig::peers,
          explained(texts_of("HOST:PORT", is_address), std::vector<std::string>(), "nothing is copied")),
      row({.table = "ha",
           .name = "etcd",
           .opensm = "",
           .doc = "Members of an etcd 3.4 or later that the state is copied through, instead of from peer to "
                  "peer: \"https://HOST:PORT\" of their client ports. cert and key are shown to them, ca has "
                  "signed theirs."},
          kHa, &HaConfig::etcd,
          explained(texts_of("https://HOST:PORT", is_member), std::vector<std::string>(), "not used")),
      row({.table = "ha",
           .name = "etcd_prefix",
           .opensm = "",
           .doc = "What the keys in etcd begin with; the name of the subnet follows."},
          kHa, &HaConfig::etcd_prefix,
          text("a text that begins with a slash, and does not end with one",
               [](const std::string& value) { return value.starts_with('/') && !value.ends_with('/'); })),
      row({.table = "ha",
           .name = "mode",
           .opensm = "",
           .doc = "When a client is told that it is registered. \"async\": when that is on this SM's disk. "
                  "\"sync\": when it is on a standby's too, but after 50 ms at most. \"sync-strict\": when "
                  "it is on a standby's too, else the client is asked to come again. The last two need "
                  "listen and peers, or etcd."},
          kHa, &HaConfig::mode,
          one_of<HaMode>(
              {{"async", HaMode::async}, {"sync", HaMode::sync}, {"sync-strict", HaMode::sync_strict}})),
      row({.table = "ha",
           .name = "policy",
           .opensm = "",
           .doc = "Whose partitions a standby that takes over goes on with: \"replica\" those of the master, "
                  "until its own files are loaded again, \"local\" those of its own files."},
          kHa, &HaConfig::policy,
          one_of<HaPolicy>({{"replica", HaPolicy::replica}, {"local", HaPolicy::local}})),
  };
  std::ranges::move(proof_keys(), std::back_inserter(keys));
  return keys;
}

}  // namespace smd::config
