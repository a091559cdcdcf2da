# whole PATH prints PATH without the entries that depend on the working directory: empty and relative
# ones.
whole() (
	set -f
	IFS=:
	all=
	for entry in $1; do
		case $entry in /*) all=${all:+$all:}$entry ;; esac
	done
	printf '%s\n' "${all:-/usr/bin:/bin}"
)

# unwritten ends the set-up: the shell's own message names neither the folder nor, with dash, the reason.
unwritten() {
	echo "the files of the shell could not be written to $D; see with df there if its disk is full" >&2
	exit 72
}

# setup NAME CD SHELL KIND ALONE creates the directory of a supervisor: its files, printed by the
# function text, and the state of its first command: the environment of a login, and the line CD. It
# also stores the PATH of the login, for commands that run without approval. ALONE is a line that
# exports variables for unattended commands, "" for attended ones. Without a SHELL it uses bash, or
# sh. A running supervisor keeps its shell. It prints the directory, the shell for commands and the
# version of tmux.
setup() {
	mask=$(umask)
	umask 077
	unset TMUX TMUX_PANE TERM
	sleep 0.01 || exit 72
	D=${TMUX_TMPDIR:-/tmp}/buddy-$(id -u)
	for part in "" "/$1"; do
		D=$D$part
		mkdir "$D" 2>/dev/null
		[ -d "$D" ] && [ ! -L "$D" ] && [ -O "$D" ] && chmod 700 "$D" || {
			echo "no directory for the state of the shell: $D cannot be made or belongs to somebody else; set TMUX_TMPDIR there to a folder that can be written, or start the container with --tmpfs /tmp" >&2
			exit 72
		}
	done
	cd "$D" && mkdir -p nowhere || unwritten
	kind=$4
	case $3 in
	'') shell=$(command -v bash) || { shell=$(command -v sh) && kind=sh; } ;;
	ash) shell=$(command -v ash || command -v busybox) ;;
	*) shell=$(command -v "$3") ;;
	esac || exit 74
	if [ -s kind ] && [ -s pid ] && read -r sup <pid && kill -0 "$sup" 2>/dev/null; then
		{ read -r kind && read -r shell; } <kind
	else
		old=$kind
		[ ! -s kind ] || read -r old <kind
		[ "$old" = "$kind" ] || rm -f at state.0 state.1 # only the old shell could read them
		printf '%s\n' "$kind" "$shell" >kind || unwritten
	fi
	# Another connection may be doing the same: each writes its own files.
	for file in sup lib tmux.conf "run.$kind" "main.$kind"; do
		text "$file" >new.$$ && mv -f new.$$ "${file%."$kind"}" || unwritten
	done
	[ -z "$5" ] || : >alone
	[ -n "$5" ] || rm -f alone
	if [ ! -s at ] && [ ! -s state.0 ]; then
		sh -lc 'export -p >&3; printf "%s\n" "$PATH" >&4' 3>new.$$ 4>path.$$ >/dev/null 2>&1 </dev/null || {
			export -p >new.$$
			printf '%s\n' "$PATH" >path.$$
		}
		read -r login <path.$$ || unwritten
		rm -f path.$$
		whole "$login" >path || unwritten
		{
			echo 'export PAGER=cat GIT_PAGER=cat SYSTEMD_PAGER= PYTHONUNBUFFERED=1'
			printf '%s\numask %s\n%s\n#complete\n' "$5" "$mask" "$2"
		} >>new.$$ && mv -f new.$$ state.0 || unwritten
	fi
	printf '%s\n' "$D" "$shell" "$(tmux -V 2>/dev/null || echo none)"
}
