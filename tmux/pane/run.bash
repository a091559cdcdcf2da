# Sourced by each fresh bash: $1 is the directory of the supervisor, $2 the file with the command, $3
# the state to load, if any, $4 the file for the new state, $5 the folder, if the state has another.
# No command here starts a process: a fork costs as much as everything else together. A command that
# runs without approval has a file named free next to it: it gets no aliases, functions and options of
# earlier ones, and the first PATH, so that they cannot change its meaning. With $2 empty the shell
# waits for the directory of the command on descriptor 3 and then reads the command from $6; $7 is not
# empty if that is free. $8 is evaluated before the command, as is a file named set next to it.
__buddy_file=${2:-${6-}} __buddy_dir=$1 __buddy_load=$3 __buddy_to=$4 __buddy_at=${2%/*} __buddy_folder=${5-} __buddy_free=${7-} __buddy_set=${8-}
[[ $__buddy_at && -e $__buddy_at/free ]] && __buddy_free=1
set --
builtin shopt -s expand_aliases
__buddy_opts=${BASHOPTS-} # macOS has bash 3.2, which lacks it

# Writes the state for the next shell. The supervisor accepts the file only if its last line is
# complete. `set` options are not carried over: `set -e` would outlive its script.
__buddy_save() {
	__buddy_rc=$?
	set +euxv
	__buddy_done=1
	builtin unset -f __buddy_save # not part of the state
	builtin printf %s "$PWD" >>"$__buddy_at/cwd" # empty so far: ext4 writes truncated files to the disk at once
	if [[ $__buddy_free ]]; then # only the directory is carried over
		builtin printf 'builtin cd -- %q 2>/dev/null || __buddy_gone=%q\n%s' "$PWD" "$PWD" "${__buddy_old#*$'\n'}" >|"$__buddy_to"
		return
	fi
	local __buddy_v __buddy_names=() __buddy_nocase= __buddy_noext=
	local __buddy_own='@(__buddy*|BASH|BASHOPTS|BASHPID|BASH_[!E]*|BASH_EXECUTION_STRING|_|COLUMNS|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|'
	__buddy_own+='GROUPS|HISTCMD|LINENO|LINES|OPTARG|OPTERR|OPTIND|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SRANDOM|TMUX|TMUX_PANE|UID)'
	builtin shopt -q nocasematch && { __buddy_nocase=1; builtin shopt -u nocasematch; } # names differ in case
	builtin shopt -q extglob || { __buddy_noext=1; builtin shopt -s extglob; }
	# Each ${!a@} sorts all variables: where compgen is built in (not in every bash of Nix), it lists them at once.
	{ builtin compgen -v -X "$__buddy_own" || for __buddy_v in "${!_@}" "${!a@}" "${!b@}" "${!c@}" "${!d@}" "${!e@}" "${!f@}" "${!g@}" \
		"${!h@}" "${!i@}" "${!j@}" "${!k@}" "${!l@}" "${!m@}" "${!n@}" "${!o@}" "${!p@}" "${!q@}" "${!r@}" "${!s@}" "${!t@}" \
		"${!u@}" "${!v@}" "${!w@}" "${!x@}" "${!y@}" "${!z@}" "${!A@}" "${!B@}" "${!C@}" "${!D@}" "${!E@}" \
		"${!F@}" "${!G@}" "${!H@}" "${!I@}" "${!J@}" "${!K@}" "${!L@}" "${!M@}" "${!N@}" "${!O@}" "${!P@}" \
		"${!Q@}" "${!R@}" "${!S@}" "${!T@}" "${!U@}" "${!V@}" "${!W@}" "${!X@}" "${!Y@}" "${!Z@}"; do
		[[ $__buddy_v == $__buddy_own ]] || builtin printf '%s\n' "$__buddy_v"
	done; } >|"$__buddy_to"
	IFS=$'\n' builtin read -r -d '' -a __buddy_names <"$__buddy_to"
	[[ $__buddy_noext ]] && builtin shopt -u extglob
	[[ $__buddy_nocase ]] && builtin shopt -s nocasematch
	{
		builtin printf 'builtin cd -- %q 2>/dev/null || __buddy_gone=%q\n' "$PWD" "$PWD"
		builtin umask -p
		builtin declare -p "${__buddy_names[@]}"
		builtin printf '#free\n'
		[[ $__buddy_load && $__buddy_opts && $BASHOPTS == "$__buddy_opts" ]] || builtin shopt -p # otherwise each shell has them
		builtin declare -f
		builtin declare -Fx
		builtin alias -p
		builtin printf '#complete\n'
	} >|"$__buddy_to"
}

# The command is read here, and run by the caller: aliases of the state must not change its words.
__buddy_read() {
	if [[ ! $__buddy_at ]]; then
		IFS= builtin read -r -d '' __buddy_at <&3 || builtin exit # the supervisor is gone
		SECONDS=0
	fi
	IFS= builtin read -r -d '' __buddy_cmd <"$__buddy_file"
	builtin unset -f __buddy_read
}

if [[ $__buddy_free ]]; then
	__buddy_old=$'\n#free\n#complete\n' __buddy_path=$PATH
	[[ $__buddy_load ]] && IFS= read -r -d '' __buddy_old <"$__buddy_load"
	builtin eval "${__buddy_old%%$'\n#free\n'*}" 2>/dev/null
	PATH=$__buddy_path
	builtin unset -v BASH_ENV ENV LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PROMPT_COMMAND CDPATH GLOBIGNORE IFS
	builtin export GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat PAGER=cat
else
	[[ $__buddy_load ]] && . "$__buddy_load" 2>/dev/null
fi
[[ $__buddy_at && -e $__buddy_at/set ]] && . "$__buddy_at/set"
[[ $__buddy_set ]] && builtin eval "$__buddy_set"
if [[ ${__buddy_folder} ]]; then
	builtin cd -- "$__buddy_folder" 2>/dev/null && builtin unset -v __buddy_gone || __buddy_gone=$__buddy_folder
fi
if [[ ${__buddy_gone-} ]]; then
	builtin printf 'buddy: the working directory %q is gone; running in an empty one\n' "$__buddy_gone" >&2
	builtin cd -- "$__buddy_dir/nowhere" && builtin unset __buddy_gone
fi
__buddy_read
builtin trap '[[ ${__buddy_done-} ]] || { __buddy_save; } >/dev/null 2>&1' EXIT
