# Completes git-blue, and git blue through git's own completion. The candidates come from the
# program.

# Completes the last word. The first arguments, up to "--", are options for git-blue itself.
__git_blue_offer() {
	local -a at=()
	while [ "$1" != -- ]; do
		at+=("$1")
		shift
	done
	shift
	local cur="${*: -1}" line word
	COMPREPLY=()
	# Readline replaces only the part after a "=".
	local done=""
	case "$cur" in
	-*=*) if [[ $COMP_WORDBREAKS == *=* ]]; then done="${cur%%=*}="; fi ;;
	esac
	while IFS= read -r line; do
		word="${line%%$'\t'*}"
		case "$word" in
		:files | :folders)
			compopt -o filenames +o nospace 2>/dev/null
			case "$cur" in -*=*) cur="${cur#*=}" ;; esac
			local what=-f
			if [ "$word" = :folders ]; then what=-d; fi
			while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$what" -- "$cur")
			return 0
			;;
		*/ | *@) COMPREPLY+=("${word#"$done"}") ;;
		# Git's completion leaves it to us to add the space after a whole word.
		*) COMPREPLY+=("${word#"$done"} ") ;;
		esac
	done < <(command git-blue ${at[@]+"${at[@]}"} complete -- "$@" 2>/dev/null)
	return 0
}

# Git's completion calls this for "git blue", and sets words and cword.
_git_blue() {
	local index="${__git_cmd_idx-}"
	if [ -z "$index" ]; then
		for ((index = 1; index < cword; index++)); do
			if [ "${words[index]}" = blue ]; then break; fi
		done
	fi
	__git_blue_offer ${__git_C_args:+"${__git_C_args[@]}"} -- "${words[@]:index + 1:cword - index}"
}

# Bash calls this for "git-blue", with words split at "=".
__git_blue_main() {
	local -a all=()
	local index word glue=""
	for ((index = 1; index <= COMP_CWORD; index++)); do
		word="${COMP_WORDS[index]}"
		if [ "$word" = = ] && [ "${#all[@]}" -gt 0 ]; then
			all[${#all[@]} - 1]+="="
			glue=yes
		elif [ -n "$glue" ]; then
			all[${#all[@]} - 1]+="$word"
			glue=""
		else
			all+=("$word")
		fi
	done
	__git_blue_offer -- "${all[@]}"
}

complete -o bashdefault -o default -o nospace -F __git_blue_main git-blue
