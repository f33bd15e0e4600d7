if [ -n "${GIT_BLUE_RUNNING-}" ]; then
	:
elif [ -x "@EXE@" ]; then
	"@EXE@" hook @EVENT@ "$@" </dev/null || :
elif command -v git-blue >/dev/null 2>&1; then
	git-blue hook @EVENT@ "$@" </dev/null || :
fi
