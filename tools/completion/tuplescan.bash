# Completion of tuplescan and tuplescan-mpi in bash. The command knows what may follow; where it says nothing, a file does.
_tuplescan() {
    local IFS=$'\n'
    COMPREPLY=($("$1" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o bashdefault -o default -F _tuplescan tuplescan tuplescan-mpi
