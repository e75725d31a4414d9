// SPDX-License-Identifier: Apache-2.0
// The keys of [keys]: names of files that hold secrets. Secrets are neither shown nor part of an error.
#include "config/rows.h"
#include "config/scalars.h"

namespace smd::config {
namespace {

/// `name_of(settings)` is the member for the file's name; `store(settings, number)` stores its contents, no
/// number where the name is empty.
template <class Name, class Store>
Key secret_file(const About& about, Name name_of, Store store) {
  Key key{.table = about.table, .name = about.name, .opensm = about.opensm, .doc = about.doc};
  key.allowed = "a file's name";
  key.read = [name_of, store](const Value& value, const Spot& spot, Settings& into) {
    if (value.kind != Value::Kind::text) return spot.wrong(value, "a file's name");
    if (value.text.empty()) {
      name_of(into).clear();
      return store(into, std::optional<std::uint64_t>());
    }
    const auto bytes = spot.secret(value);
    if (!bytes) return;
    const auto number = parse_number(trim(*bytes));
    if (!number) return spot.wrong(value, "a file that holds one number of 64 bits");
    name_of(into) = spot.resolve(value.text).string();
    store(into, number);
  };
  key.show = [name_of](const Settings& from) { return toml_quoted(name_of(from)); };
  return key;
}

}  // namespace

Key sm_key_file(std::string_view table, std::string_view name, std::string_view doc) {
  const bool old = table == "sm";
  return secret_file(
      {.table = table, .name = name, .opensm = old ? "" : "sm_key", .doc = doc},
      [old](auto& settings) -> auto& {
        return old ? settings.subnet.sm.key_file : settings.subnet.keys.sm_key_file;
      },
      [](Settings& into, std::optional<std::uint64_t> key) {
        into.subnet.sm.sm_key = key.value_or(SmConfig{}.sm_key);
      });
}

std::vector<Key> secret_keys() {
  return {
      sm_key_file(
          "keys", "sm_key_file",
          "A file that holds the SM_Key, a number in decimal or 0x notation, shared by all SMs of the "
          "subnet. It belongs to root or smd, mode 0600 or 0640 with the group smd. Without it the "
          "SM_Key is 1, as OpenSM's. Only ports of SMs are shown it."),
      secret_file(
          {.table = "keys",
           .name = "sa_key_file",
           .opensm = "sa_key",
           .doc = "A file that holds the key by which a client of subnet administration is trusted "
                  "(what saquery calls --smkey). Without it that is the SM_Key."},
          [](auto& settings) -> auto& { return settings.subnet.keys.sa_key_file; },
          [](Settings& into, std::optional<std::uint64_t> key) { into.subnet.keys.sa_key = key; }),
      secret_file(
          {.table = "keys",
           .name = "m_key_file",
           .opensm = "m_key",
           .doc =
               "A file that holds the M_Key of all ports, or with `m_key_per_port` what each port's is "
               "derived from: without it no program can change the ports' PortInfo and tables. The same on "
               "all SMs of the subnet. 0 takes M_Keys away; without a file they stay as they are."},
          [](auto& settings) -> auto& { return settings.subnet.keys.m_key_file; },
          [](Settings& into, std::optional<std::uint64_t> key) { into.subnet.keys.m_key = key; }),
      row({.table = "keys",
           .name = "m_key_level",
           .opensm = "m_key_protection_level",
           .doc = "What needs the M_Key: 0: any change, but all programs see the key; 1: to see the key, "
                  "too; 2 and 3: to read anything (smpquery and ibnetdiscover need -y then)."},
          &SubnetConfig::keys, &KeysConfig::m_key_level, whole<std::uint8_t>(0, 3)),
      row({.table = "keys",
           .name = "m_key_lease",
           .opensm = "m_key_lease_period",
           .doc = "How long after a wrong M_Key a port waits for one that is right before it lowers its "
                  "level to 0, in whole seconds; 0: for ever. A fabric whose M_Key is lost can then only be "
                  "freed node by node."},
          &SubnetConfig::keys, &KeysConfig::m_key_lease,
          duration(std::chrono::seconds(0), std::chrono::seconds(65535))),
      row({.table = "keys",
           .name = "m_key_per_port",
           .opensm = "",
           .doc = "Each port has an M_Key of its own, HMAC-SHA-256 of its port GUID: the key of a stolen "
                  "port opens no other."},
          &SubnetConfig::keys, &KeysConfig::m_key_per_port, flag("a key for each port", "one key for all")),
      row({.table = "keys",
           .name = "import_guid2mkey",
           .opensm = "",
           .doc = "OpenSM's file of M_Keys by port GUID (guid2mkey), taken once: while none is stored."},
          &SubnetConfig::keys, &KeysConfig::import_guid2mkey, path("a file's name", true)),
  };
}

}  // namespace smd::config
