# Sourced by each fresh shell other than bash: $1 is the directory of the supervisor, $2 the file with
# the command, $3 the state to load, if any, $4 the file for the new state, $5 to $8 as in run.bash.
# Carries exports, one-line aliases, umask and the directory over. A command that runs without
# approval has a file named free next to it: it gets no aliases and no PATH of earlier ones, and only
# its directory is carried over.
__buddy_dir=$1 __buddy_cmd=${2:-${6-}} __buddy_load=$3 __buddy_to=$4 __buddy_at=${2%/*} __buddy_folder=${5-} __buddy_free=${7-} __buddy_set=${8-}
[ -z "$__buddy_at" ] || [ ! -e "$__buddy_at/free" ] || __buddy_free=1
set --
__buddy_save() {
	__buddy_rc=$?
	[ -z "${__buddy_done-}" ] || return "$__buddy_rc"
	__buddy_done=1
	set +eux
	printf %s "$PWD" >|"$__buddy_at/cwd"
	export PWD __buddy_old="${OLDPWD-}"
	if [ -n "$__buddy_free" ]; then
		unset __buddy_old
		{
			{ [ -z "$__buddy_load" ] || sed '$d' "$__buddy_load"; } &&
				export -p | grep '^export PWD=' &&
				printf 'cd "$PWD" || __buddy_gone=$PWD\n#complete\n'
		} >|"$__buddy_to"
		return "$__buddy_rc"
	fi
	{ # a failed write leaves a hole, although there may be room again later
		export -p && printf '#free\n' &&
			(alias | while IFS= read -r __buddy_l; do printf 'alias %s\n' "${__buddy_l#alias }" || exit 1; done) &&
			printf 'umask ' &&
			umask &&
			printf 'cd "$PWD" || __buddy_gone=$PWD\n[ -z "$__buddy_old" ] || OLDPWD=$__buddy_old\nunset __buddy_old\n#complete\n'
	} >|"$__buddy_to"
	return "$__buddy_rc"
} 2>/dev/null
__buddy_wait() {
	[ -n "$__buddy_at" ] || {
		IFS= read -r __buddy_at <&3 || exit
		exec 3<&-
	}
	unset -f __buddy_wait
}
__buddy_tmux=${TMUX-}
__buddy_path=$PATH
[ -z "$__buddy_load" ] || . "$__buddy_load" 2>/dev/null
if [ -n "$__buddy_free" ]; then
	unalias -a
	PATH=$__buddy_path
	unset ENV LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT CDPATH IFS
	export GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat PAGER=cat
fi
[ -z "$__buddy_at" ] || [ ! -e "$__buddy_at/set" ] || . "$__buddy_at/set"
[ -z "$__buddy_set" ] || eval "$__buddy_set"
if [ -n "$__buddy_tmux" ]; then export TMUX="$__buddy_tmux"; fi
if [ -n "$__buddy_folder" ]; then
	cd "$__buddy_folder" 2>/dev/null && unset __buddy_gone || __buddy_gone=$__buddy_folder
fi
if [ -n "${__buddy_gone-}" ]; then
	printf 'buddy: the working directory "%s" is gone; running in an empty one\n' "$__buddy_gone" >&2
	cd "$__buddy_dir/nowhere" && unset __buddy_gone
fi
__buddy_wait
trap __buddy_save EXIT
