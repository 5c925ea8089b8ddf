
# After `hotset run --` and `hotset bench --`: the command and its own words.
function __fish_hotset_behind_dashes
    __fish_hotset_using_subcommand run bench
    and contains -- -- (commandline -opc)
end

function __fish_hotset_complete_command
    set -l words (commandline -opc)
    set -l dashes (contains -i -- -- $words)
    set -e words[1..$dashes]
    complete -C (string join -- ' ' (string escape -- $words) (commandline -ct))
end

complete -c hotset -n __fish_hotset_behind_dashes -f -a "(__fish_hotset_complete_command)"
