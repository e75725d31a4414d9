// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API says, in words of the command line.

#include <span>
#include <string>
#include <string_view>

#include "mad/base/counted.h"

namespace smd::cli {

using base::counted;
/// The same of the text of a number, as answers have it; of another text with the plural.
std::string counted(std::string_view number, std::string_view one, std::string_view many = {});

/// A key in the body or the query of a call, and the option or word that it is made from.
struct OptionOfKey {
  std::string_view key;  ///< "members[]" is that of a list's item, with the keys inside it
  std::string_view option;
};
/// A refusal of the form "KEY: TEXT" with the option in the place of the key; any other one as it is.
std::string with_option(const std::string& refusal, std::span<const OptionOfKey> options);

/// For options whose empty value would mean something else (all nodes): why it is refused; empty: it is not.
std::string not_empty(const std::string& value);

}  // namespace smd::cli
