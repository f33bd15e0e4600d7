if [ -z "${GIT_BLUE_RUNNING-}" ]; then
	git_blue="@EXE@"
	[ -x "$git_blue" ] || git_blue=$(command -v git-blue) || git_blue=
	git_blue_pushed=$(cat)
	if [ -n "$git_blue" ]; then
		printf '%s\n' "$git_blue_pushed" | "$git_blue" hook @EVENT@ "$@" || [ $? -ne 1 ] || exit 1
	fi
	if [ -n "$git_blue_pushed" ]; then
		exec <<-GIT_BLUE_PUSHED
		$git_blue_pushed
		GIT_BLUE_PUSHED
	else
		exec </dev/null
	fi
fi
