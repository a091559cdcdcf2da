# Sourced by each fresh zsh: $1 is the directory of the supervisor, $2 the file with the command, $3
# the state to load, if any, $4 the file for the new state, $5 to $8 as in run.bash. Like run.bash, it
# carries over directory, variables, functions, aliases and options, except options that would outlive
# a script, such as errexit. With a file named free next to the command, only the directory is carried
# over.
__buddy_file=${2:-${6-}} __buddy_dir=$1 __buddy_load=$3 __buddy_to=$4 __buddy_at=${2%/*} __buddy_folder=${5-} __buddy_free=${7-} __buddy_set=${8-}
[[ -n $__buddy_at && -e $__buddy_at/free ]] && __buddy_free=1
set --

# Runs at the exit of the shell: the hook runs after a trap of the command itself, and if errexit is
# the reason only the trap runs.
__buddy_save() {
	[[ -z ${__buddy_done-} ]] || return 0
	__buddy_done=1
	local -A __buddy_o
	__buddy_o=("${(@kv)options}")
	emulate -LR zsh
	setopt localtraps
	trap - ZERR DEBUG
	{
		builtin print -rn -- "$PWD" >|"$__buddy_at/cwd"
		{
			# Twice, because of cd -
			builtin print -r -- "builtin cd -q -- ${(qq)OLDPWD:-/} 2>/dev/null; builtin cd -q -- ${(qq)PWD} 2>/dev/null || __buddy_gone=${(qq)PWD}"
			if [[ -n $__buddy_free ]]; then
				builtin print -rn -- "${__buddy_old#*$'\n'}"
			else
				__buddy_state
			fi
			builtin print -r -- $'\n#complete'
		} >|"$__buddy_to"
	} 2>/dev/null
}

__buddy_state() {
	local __buddy_v
	local -a __buddy_f
	builtin print -n 'umask '
	builtin umask
	for __buddy_v in ${(ok)parameters}; do
		case $__buddy_v in
		__buddy* | _ | PWD | OLDPWD | SHLVL | TMUX | TMUX_PANE | LINES | COLUMNS | argv | status | pipestatus | zshexit_functions | options | parameters) continue ;;
		esac
		case ${parameters[$__buddy_v]} in
		*readonly* | *local* | *hideval*) continue ;;
		*special*) [[ ${parameters[$__buddy_v]} == *export* ]] || continue ;;
		esac
		builtin typeset -p -- $__buddy_v
	done
	(( ${+HOME} )) || builtin print -r -- 'unset HOME' # zsh would set it
	__buddy_f=(${(ok)functions:#__buddy*})
	(( $#__buddy_f )) && builtin functions -- $__buddy_f
	builtin alias -L
	for __buddy_v in ${(ok)__buddy_o}; do
		case $__buddy_v in
		errexit | errreturn | nounset | unset | xtrace | verbose | exec | glob | noglob | clobber | pipefail | monitor | interactive | login | \
			privileged | restricted | shinstdin | singlecommand | zle | localoptions | localtraps | rcs | globalrcs) continue ;;
		esac
		[[ ${options[$__buddy_v]} == ${__buddy_o[$__buddy_v]} ]] && continue
		[[ ${__buddy_o[$__buddy_v]} == on ]] && builtin print -r -- "setopt $__buddy_v" || builtin print -r -- "unsetopt $__buddy_v"
	done
}

__buddy_read() {
	if [[ -z $__buddy_at ]]; then
		IFS= builtin read -r -d '' __buddy_at <&3 || builtin exit
		builtin exec 3<&-
		SECONDS=0
	fi
	__buddy_cmd=$(<"$__buddy_file")
	builtin unfunction __buddy_read
}

__buddy_tmux=${TMUX-} __buddy_path=$PATH __buddy_old=
if [[ -n $__buddy_load ]]; then
	__buddy_old=$(<"$__buddy_load")
	__buddy_old=${__buddy_old%$'\n#complete'}
	. "$__buddy_load" 2>/dev/null
fi
if [[ -n $__buddy_free ]]; then
	emulate zsh
	unalias -a
	unalias -s -m '*'
	for __buddy_v in ${(k)functions:#__buddy*}; do unfunction -- $__buddy_v; done
	PATH=$__buddy_path
	unset ENV LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT CDPATH
	IFS=$' \t\n\0'
	export GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat PAGER=cat
fi
[[ -n $__buddy_at && -e $__buddy_at/set ]] && . "$__buddy_at/set"
[[ -n $__buddy_set ]] && builtin eval "$__buddy_set"
if [[ -n $__buddy_tmux ]]; then export TMUX=$__buddy_tmux; fi
if [[ -n $__buddy_folder ]]; then
	builtin cd -q -- "$__buddy_folder" 2>/dev/null && builtin unset __buddy_gone || __buddy_gone=$__buddy_folder
fi
if [[ -n ${__buddy_gone-} ]]; then
	builtin print -r -- "buddy: the working directory ${(qq)__buddy_gone} is gone; running in an empty one" >&2
	builtin cd -q -- "$__buddy_dir/nowhere" && unset __buddy_gone
fi
__buddy_read
typeset -ga zshexit_functions
zshexit_functions=(__buddy_save)
trap __buddy_save EXIT
