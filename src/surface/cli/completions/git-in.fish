# Completes git blue. Not every version of fish passes the words after it to the completion of git-blue.

function __git_blue_in_git
    set -l words (commandline -opc)
    set -l at (contains -i -- blue $words); or return
    set -l folder (contains -i -- -C $words[1..$at])
    and set folder -C $words[(math $folder + 1)]
    set -l behind $words[(math $at + 1)..]
    complete -C "git-blue $(string escape -- $folder $behind | string join ' ') $(commandline -ct)"
end

complete -c git -f -n __fish_git_needs_command -a blue -d 'Contracts between repositories'
complete -c git -f -n '__fish_git_using_command blue' -a '(__git_blue_in_git)'
