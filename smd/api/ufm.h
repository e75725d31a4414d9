// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls of NVIDIA's UFM that clouds make, as its public documentation and the clients' sources have them:
// docs/ufm.md. Answers have UFM's quirks: what is not there is 200 with the body {}.

#include <expected>
#include <string>
#include <string_view>

#include "smd/api/router.h"

namespace smd::api {

/// The path without what UFM's kinds of authentication add ("/ufmRestV2", "/ufmRestV3") and without a slash
/// at its end; other paths as they are.
std::string ufm_path(std::string_view path);
/// Whether that is a path of UFM's.
bool is_ufm(std::string_view path);
/// An error without what clients of UFM do not know; any other answer as it is.
Answer as_ufm(Answer answer);
/// The subnet of such a call: `fabric` of the query, else the first one that the caller sees; empty: none.
std::string ufm_subnet(const Question& question, const Backend& backend);

/// Whether the query says so: "true", "True" (as Python's clients write it) or "1".
bool ufm_is_asked(const Question& question, std::string_view key);

/// 0x0001 to 0x7ffe, in hexadecimal with "0x"; case and zeros do not matter. Error: status 400.
std::expected<PKey, Answer> ufm_pkey(std::string_view text);
/// The same, and 0x7fff.
std::expected<PKey, Answer> ufm_pkey_or_default(std::string_view text);
/// "0x7aff": lower case, no zeros before.
std::string ufm_text(PKey pkey);
/// "0002c90300001234": 16 digits, as UFM writes GUIDs.
std::string ufm_text(Guid guid);

// ufm.cpp
/// {"ufm_release_version": ...}: clients ask it to see whether UFM answers.
Answer ufm_version(const Question& question, Backend& backend);
/// Whether keys are the default ones; never the keys.
Answer ufm_smconf(const Question& question, Backend& backend);
// ufm_sharp.cpp
/// Reservations of SHARP: none.
Answer ufm_sharp(const Question& question, Backend& backend);
/// 404: one of them, or a new one.
Answer ufm_no_sharp(const Question& question, Backend& backend);
// ufm_fabric.cpp
/// Ports of `sys_type` (Computer, Switch; all).
Answer ufm_ports(const Question& question, Backend& backend);
/// The port that the path names "{guid}_{number}", as a list of one.
Answer ufm_port(const Question& question, Backend& backend);
/// Nodes; with `ports=true` the names of their ports.
Answer ufm_systems(const Question& question, Backend& backend);
/// The node whose GUID the path names, as a list of one.
Answer ufm_system(const Question& question, Backend& backend);
/// Links of which both ends are known, each once.
Answer ufm_links(const Question& question, Backend& backend);
// ufm_pkeys.cpp
/// All partitions: a list of keys, or (guids_data, qos_conf) an object by key.
Answer ufm_pkeys(const Question& question, Backend& backend);
/// One of them; {} where there is none.
Answer ufm_pkey_of(const Question& question, Backend& backend);
// ufm_changes.cpp: of partitions of the API; 409 where a file defines the partition
/// Makes an empty partition, which stays.
Answer ufm_add_pkey(const Question& question, Backend& backend);
/// Adds GUIDs, and makes the partition where there is none.
Answer ufm_add_guids(const Question& question, Backend& backend);
/// The partition has these GUIDs and no others.
Answer ufm_set_guids(const Question& question, Backend& backend);
/// Takes GUIDs away; the partition goes with the last one.
Answer ufm_remove_guids(const Question& question, Backend& backend);
/// The same of those that the path names.
Answer ufm_delete_guids(const Question& question, Backend& backend);
/// Removes the partition, with all its members.
Answer ufm_delete_pkey(const Question& question, Backend& backend);
/// MTU, rate and SL of the partition's groups.
Answer ufm_qos_conf(const Question& question, Backend& backend);
/// Adds nodes by their names.
Answer ufm_add_hosts(const Question& question, Backend& backend);
/// Takes away the nodes that the path names.
Answer ufm_delete_hosts(const Question& question, Backend& backend);
/// The same of those that the body names.
Answer ufm_remove_hosts(const Question& question, Backend& backend);

}  // namespace smd::api
