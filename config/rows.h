// SPDX-License-Identifier: Apache-2.0
#pragma once
// How rows of the schema are made: a key, the member that it sets, the codec of its values.

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "config/codecs.h"
#include "config/schema.h"

namespace smd::config {

struct About {
  std::string_view table;
  std::string_view name;
  std::string_view opensm;
  std::string_view doc;
};

/// A row; `access(settings)` is a reference to the member, const for const settings.
template <class Access, class T>
Key row(const About& about, Access access, Codec<T> codec) {
  Key key{.table = about.table, .name = about.name, .opensm = about.opensm, .doc = about.doc};
  key.form = codec.form;
  key.allowed = codec.allowed;
  key.read = [access, read = std::move(codec.read)](const Value& value, const Spot& spot, Settings& into) {
    if (auto found = read(value, spot)) access(into) = *std::move(found);
  };
  key.show = [access, show = std::move(codec.show)](const Settings& from) { return show(access(from)); };
  if (codec.explain) {
    key.explain = [access, explain = std::move(codec.explain)](const Settings& from) {
      return explain(access(from));
    };
  }
  key.block_keys = std::move(codec.block_keys);
  if (codec.show_blocks) {
    key.show_blocks = [access, show = std::move(codec.show_blocks)](const Settings& from) {
      return show(access(from));
    };
  }
  return key;
}

/// A row for a member of a table of a subnet.
template <class Table, class T>
Key row(const About& about, Table SubnetConfig::* table, T Table::* member, Codec<T> codec) {
  return row(
      about, [=](auto& settings) -> auto& { return (settings.subnet.*table).*member; }, std::move(codec));
}

/// The codec with an explanation of one of its values.
template <class T>
Codec<T> explained(Codec<T> codec, const T& value, std::string_view meaning) {
  codec.explain = [value, meaning](const T& is) { return std::string(is == value ? meaning : ""); };
  return codec;
}

/// The rows of [log].
std::vector<Key> log_keys();
/// The rows of [api].
std::vector<Key> api_keys();
/// The rows of [store].
std::vector<Key> store_keys();
/// The rows of [sm].
std::vector<Key> sm_keys();
/// The row of the file that holds the SM_Key, in [sm] by its old name and in [keys].
Key sm_key_file(std::string_view table, std::string_view name, std::string_view doc);
/// The rows of [keys].
std::vector<Key> secret_keys();
/// The rows of [mad].
std::vector<Key> mad_keys();
/// The rows of [sweep].
std::vector<Key> sweep_keys();
/// The rows of [ha].
std::vector<Key> ha_keys();
/// The rows of [ha] about copies of the state.
std::vector<Key> replica_keys();
/// The rows of [adopt].
std::vector<Key> adopt_keys();
/// The rows of [lids].
std::vector<Key> lids_keys();
/// The rows of [links].
std::vector<Key> links_keys();
/// The rows of [routing].
std::vector<Key> routing_keys();
/// The rows of [multicast].
std::vector<Key> multicast_keys();
/// The rows of [partitions].
std::vector<Key> partitions_keys();
/// The rows of [qos] about the policy.
std::vector<Key> qos_policy_keys();
/// The rows of [qos] about classes.
std::vector<Key> qos_class_keys();
/// The rows of [qos] about the tables of ports.
std::vector<Key> qos_table_keys();
/// The rows of [[group]] and [[partition]].
std::vector<Key> partition_keys();
/// The rows of [sa].
std::vector<Key> sa_keys();
/// The rows of [status].
std::vector<Key> status_keys();
/// The rows of [names].
std::vector<Key> names_keys();
/// The rows of a [[subnet]] itself.
std::vector<Key> subnet_keys();

/// All rows, in the order of the shipped file. A new list is declared above and named here.
inline constexpr std::array kRowLists{
    log_keys,     api_keys,       store_keys,      sm_keys,         secret_keys,    mad_keys,
    sweep_keys,   adopt_keys,     ha_keys,         replica_keys,    lids_keys,      links_keys,
    routing_keys, multicast_keys, partitions_keys, qos_policy_keys, qos_class_keys, qos_table_keys,
    sa_keys,      status_keys,    names_keys,      partition_keys,  subnet_keys,
};

}  // namespace smd::config
