// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays of tables in what `smd check` prints, in documents, and in what a reload changes.

#include <cstddef>
#include <string>
#include <vector>

#include "config/schema.h"

namespace smd::config {

/// The blocks of an array in one subnet, a line each; `most` of them, then how many more there are.
/// `base` holds the blocks outside of [[subnet]]: the first line says when this subnet replaces them.
std::string describe_blocks(const Key& array, const Settings& settings, const Settings& base,
                            std::size_t most);

/// True where the blocks of one subnet are others than those outside of [[subnet]].
bool replaces_blocks(const Key& array, const Settings& settings, const Settings& base);

/// What differs between two values of an array. Blocks with a unique key are compared by its value, others by
/// their index.
std::vector<std::string> block_differences(const Key& array, const Settings& before, const Settings& after);

/// What the blocks of an array are, for documents.
std::string blocks_doc(const Key& array);

/// How blocks are repeated, and replaced by a subnet; for documents.
std::string blocks_note(const Key& array);

/// What a key may be; of an array of tables in one line it names the blocks too.
std::string allowed_in_documents(const Key& key);

/// The array's section of docs/configuration.md.
std::string blocks_markdown(const Key& array);

/// The array's section of the man page.
std::string blocks_man(const Key& array);

/// The array's section of the shipped file: one block as an example.
std::string blocks_example(const Key& array);

}  // namespace smd::config
