# SPDX-License-Identifier: Apache-2.0
# bash completion: smd's own help says which commands, options and values this version has; all else are file names.
_smd() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]} help word last= place=1
  local -a command=()
  COMPREPLY=()
  help=$("$program" --help 2>/dev/null) || return 0
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" != -- ] || return 0 # the command of another program follows
    if _smd_commands "$help" | grep -qxF -e "$word"; then
      command+=("$word")
      help=$("$program" "${command[@]}" --help 2>/dev/null) || return 0
      place=1
    elif [[ $word != -* ]] && ! _smd_takes_value "$help" "$last"; then
      place=$((place + 1))
    fi
    last=$word
  done
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^  (-[a-z],)?--[a-z][a-z0-9-]+' <<<"$help" | grep -oE -e '--.*')" -- "$current") ;;
    *)
      if [ "$before" = "$last" ] && _smd_takes_value "$help" "$before"; then
        mapfile -t COMPREPLY < <(compgen -W "$(_smd_values "$help" "$before ")" -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "$(_smd_commands "$help") $(_smd_values "$(_smd_place "$help" "$place")" '')" -- "$current")
      fi
      ;;
  esac
}
_smd_commands() { sed -n '/^Subcommands:/,$s/^  \([a-z][a-z0-9-]*\) .*/\1/p' <<<"$1"; }
# _smd_takes_value HELP OPTION: it has a value behind it.
_smd_takes_value() { [[ $2 == --* ]] && grep -qE -e "^  (-[a-z],)?$2 [A-Z]" <<<"$1"; }
# _smd_values HELP BEFORE: what is in the braces of a line that begins with BEFORE.
_smd_values() { sed -n "s/^  \(-[a-z],\)\{0,1\}$2[^{]*{\([^}]*\)}.*/\2/p" <<<"$1" | tr ',' ' '; }
# _smd_place HELP N: the line of the Nth word that is no option.
_smd_place() { sed -n '/^Positionals:/,/^$/s/^  [A-Z].*/&/p' <<<"$1" | sed -n "$2p"; }
complete -o default -F _smd smd
