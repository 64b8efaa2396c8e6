# Completion of tuplescan and tuplescan-mpi in fish. The command knows what may follow; where it says nothing, a file does.
function __tuplescan_complete
    set -l words (commandline -opc)
    set -l found ($words[1] --complete $words[2..] (commandline -ct | string collect --allow-empty) 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c tuplescan -f -a '(__tuplescan_complete)'
complete -c tuplescan-mpi -f -a '(__tuplescan_complete)'
