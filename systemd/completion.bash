# SPDX-License-Identifier: Apache-2.0
# bash completion: smd's own help says which commands and options this version has; all else are file names.
_smd() {
  local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} help word
  local -a command=()
  COMPREPLY=()
  help=$("$program" --help 2>/dev/null) || return 0
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" != -- ] || return 0 # the command of another program follows
    _smd_commands "$help" | grep -qxF -e "$word" || continue
    command+=("$word")
    help=$("$program" "${command[@]}" --help 2>/dev/null) || return 0
  done
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^  (-[a-z],)?--[a-z][a-z0-9-]+' <<<"$help" | grep -oE -e '--.*')" -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$(_smd_commands "$help")" -- "$current") ;;
  esac
}
_smd_commands() { sed -n '/^Subcommands:/,$s/^  \([a-z][a-z0-9-]*\) .*/\1/p' <<<"$1"; }
complete -o default -F _smd smd
