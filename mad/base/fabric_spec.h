// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fabrics from a line of text: "ft3:8", "torus:5x5:1+guids=3". docs/simulator.md ('Specs', 'Suffixes')
// defines each of them.

#include <expected>
#include <string>
#include <string_view>

#include "mad/base/fabric.h"
#include "mad/base/file_error.h"

namespace smd::base {

/// True if the text starts with the name of a spec and a colon; it may still be a bad one.
bool is_spec(std::string_view text);

/// All specs with their arguments, and all suffixes: for help texts.
std::string all_specs();

/// The same spec gives the same fabric, names and GUIDs included. An error is a sentence that starts with the
/// spec: "ft3:7: K is 7: an even number from 2 to 254 is needed".
std::expected<Fabric, std::string> make_fabric(std::string_view spec);

/// The FABRIC argument of the commands: a spec, else the path of a file (see fabric_file.h).
std::expected<Fabric, FileErrors> load_fabric(std::string_view argument);

}  // namespace smd::base
