// SPDX-License-Identifier: Apache-2.0
#pragma once
// As much of JSON Schema as docs/openapi.json uses: is an answer what the document says it is?

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_file.h"

namespace smd::test {

/// docs/openapi.json; throws where that is no JSON.
inline boost::json::value api_document() {
  std::ifstream in(source_file("docs/openapi.json"));
  return boost::json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
}

class Schema {
 public:
  explicit Schema(const boost::json::value& document) : document_(document) {}

  /// What is wrong with `value`, each with its place; nothing where all is well.
  std::vector<std::string> wrong(const boost::json::value& value, const boost::json::value& schema,
                                 const std::string& at = "$") const {
    std::vector<std::string> found;
    look(value, schema.as_object(), at, found);
    return found;
  }
  const boost::json::value& named(std::string_view name) const {
    return document_.at("components").at("schemas").at({name.data(), name.size()});
  }

 private:
  using Found = std::vector<std::string>;

  void look(const boost::json::value& value, const boost::json::object& schema, const std::string& at,
            Found& found) const {
    if (const auto* nullable = schema.if_contains("nullable");
        value.is_null() && nullable != nullptr && nullable->as_bool()) {
      return;
    }
    if (const auto* ref = schema.if_contains("$ref")) {
      const std::string_view text(ref->as_string());
      return look(value, named(text.substr(text.rfind('/') + 1)).as_object(), at, found);
    }
    if (const auto* all = schema.if_contains("allOf")) {
      for (const auto& one : all->as_array()) look(value, one.as_object(), at, found);
      return;
    }
    if (const auto* some = schema.if_contains("oneOf"))
      return look_at_one_of(value, some->as_array(), at, found);
    look_at_type(value, schema, at, found);
  }

  void look_at_one_of(const boost::json::value& value, const boost::json::array& some, const std::string& at,
                      Found& found) const {
    Found all;
    for (const auto& one : some) {
      Found wrong;
      look(value, one.as_object(), at, wrong);
      if (wrong.empty()) return;
      all.insert(all.end(), wrong.begin(), wrong.end());
    }
    found.insert(found.end(), all.begin(), all.end());
  }

  void look_at_type(const boost::json::value& value, const boost::json::object& schema, const std::string& at,
                    Found& found) const {
    if (schema.empty()) return;  // anything
    const std::string_view type(schema.at("type").as_string());
    const bool right = type == "object"    ? value.is_object()
                       : type == "array"   ? value.is_array()
                       : type == "string"  ? value.is_string()
                       : type == "integer" ? value.is_int64() || value.is_uint64()
                       : type == "number"  ? value.is_number()
                                           : value.is_bool();
    if (!right) return found.push_back(at + ": not " + std::string(type) + ": " + serialize(value));
    if (const auto* words = schema.if_contains("enum")) {
      const auto& all = words->as_array();
      if (std::ranges::find(all, value) == all.end()) found.push_back(at + ": " + serialize(value));
    }
    if (type == "object") look_at_members(value.as_object(), schema, at, found);
    if (type != "array") return;
    for (std::size_t i = 0; i < value.as_array().size(); ++i)
      look(value.as_array()[i], schema.at("items").as_object(), at + "[" + std::to_string(i) + "]", found);
  }

  void look_at_members(const boost::json::object& value, const boost::json::object& schema,
                       const std::string& at, Found& found) const {
    const auto* known = schema.if_contains("properties");
    const auto& more = schema.at("additionalProperties");
    for (const auto& [key, member] : value) {
      const auto place = at + "." + std::string(key);
      const auto* one = known != nullptr ? known->as_object().if_contains(key) : nullptr;
      if (one != nullptr) {
        look(member, one->as_object(), place, found);
      } else if (more.is_object()) {
        look(member, more.as_object(), place, found);
      } else {
        found.push_back(place + ": not described");
      }
    }
    if (const auto* required = schema.if_contains("required")) {
      for (const auto& key : required->as_array()) {
        if (!value.contains(key.as_string())) found.push_back(at + ": no " + std::string(key.as_string()));
      }
    }
  }

  const boost::json::value& document_;
};

}  // namespace smd::test
