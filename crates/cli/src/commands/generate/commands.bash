
# After `hotset run --` and `hotset bench --`: the command and its own words.
_hotset_or_command() {
    local word
    if [[ ${COMP_WORDS[1]} == run || ${COMP_WORDS[1]} == bench ]]; then
        for ((word = 2; word < COMP_CWORD; word++)); do
            [[ ${COMP_WORDS[word]} == -- ]] || continue
            if declare -F _comp_command_offset >/dev/null; then
                _comp_command_offset $((word + 1))
            elif declare -F _command_offset >/dev/null; then
                _command_offset $((word + 1))
            elif ((COMP_CWORD == word + 1)); then
                mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
            fi
            return
        done
    fi
    _hotset "$@"
}
complete -F _hotset_or_command -o bashdefault -o default hotset
