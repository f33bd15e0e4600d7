# Completes git-blue, and git blue through fish's own completion of git. The candidates come from the
# program.

function __git_blue_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    test (count $current) -gt 0; or set current ''
    set -l lines (command git-blue complete -- $words $current 2>/dev/null)
    switch "$lines[1]"
        case ':files*'
            __fish_complete_path (string replace -r '^-.*?=' '' -- $current)
        case ':folders*'
            __fish_complete_directories (string replace -r '^-.*?=' '' -- $current) ''
        case '*'
            test (count $lines) -gt 0; and printf '%s\n' $lines
    end
end

complete -c git-blue -f -a '(__git_blue_complete)'
