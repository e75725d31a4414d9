// SPDX-License-Identifier: Apache-2.0
#pragma once
// Making the schema's rows: a key, the member that it sets, the codec of its values.

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

/// A row whose value stands in settings at `access(settings)`.
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
  return key;
}

/// A member of one of a subnet's tables.
template <class Table, class T>
Key row(const About& about, Table SubnetConfig::* table, T Table::* member, Codec<T> codec) {
  return row(
      about, [=](auto& settings) -> auto& { return (settings.subnet.*table).*member; }, std::move(codec));
}

/// The same codec with words for one of its values.
template <class T>
Codec<T> explained(Codec<T> codec, const T& value, std::string_view meaning) {
  codec.explain = [value, meaning](const T& is) { return std::string(is == value ? meaning : ""); };
  return codec;
}

std::vector<Key> log_keys();
std::vector<Key> api_keys();
std::vector<Key> store_keys();
std::vector<Key> sm_keys();
/// The file with the SM_Key, which has two names.
Key sm_key_file(std::string_view table, std::string_view name, std::string_view doc);
std::vector<Key> secret_keys();
std::vector<Key> mad_keys();
std::vector<Key> sweep_keys();
std::vector<Key> ha_keys();
std::vector<Key> adopt_keys();
std::vector<Key> lids_keys();
std::vector<Key> links_keys();
std::vector<Key> routing_keys();
std::vector<Key> multicast_keys();
std::vector<Key> sa_keys();
std::vector<Key> status_keys();
std::vector<Key> names_keys();
std::vector<Key> subnet_keys();

}  // namespace smd::config
