# The supervisor on a target without an installed program of ours: sh DIR/sup DIR SHELL. In a pane it
# owns the terminal; without one it ends with its standard input. It reads lines "ID MODE TOKEN" from
# DIR/in and runs the command in DIR/ID/cmd:
#
#   DIR/ID/began          it was accepted
#   DIR/ID/o.N, e.N       its output from byte N on: the beginning and what is newest
#   DIR/ID/o.eof, e.eof   nobody holds the stream any more
#   DIR/ID/o.fault        a link to nothing, named why recording has stopped: text in a file needs room
#   DIR/ID/o.full         there was no room, so the state that the command leaves may be torn
#   DIR/ID/rc             it has ended
#
# The end of the own output of the command is a mark with the token in both streams; output after the
# mark comes from background jobs.
umask 077
D=$1 R=$2
cd "$D" || exit 1
main=$(cat main)
case $R in
*/busybox) name=ash flags='sh -c' ;;
*/zsh) name=zsh flags='-f -c' ;; # no start-up files, like the others
*) name=${R##*/} flags=-c ;;
esac
# tmux commands without a server name reach a separate server for commands, never the one of the pane,
# which sessions share: a socket next to DIR, the same for all panes of the session.
apart=${D##*/}
apart=${D%/*}/tmux-${apart%%-*},0,0
tty=
[ ! -t 1 ] || tty=/dev/tty
[ -n "$tty" ] || exec 3<&0 >/dev/null
if [ -n "$tty" ]; then set -m; fi
exec 2>/dev/null </dev/null
trap : PIPE
# Keys in the pane end commands, never their helpers: an unfinished stty would leave a terminal on
# which reading blocks.
trap '' INT QUIT TSTP TTOU TTIN
[ -p in ] || mkfifo in alive
rm -f life
mkfifo life
nl='
'
exec 8<>alive 9<>in
state=state.0
[ ! -s at ] || read -r state <at
# A shell starts with the PATH of the login, which commands without approval use. Others load theirs
# from the state.
read -r login <path || login=/usr/bin:/bin

# watchdog waits for the end of the supervisor, which no trap could catch while a command is in the
# foreground. Then it ends that command, records its end, and removes the directory if no client is
# connected: the state is not needed then, and it contains an environment.
watchdog() {
	trap '' INT QUIT HUP TERM
	exec 8>&- 9>&-
	read -r line <life
	read -r id mode token <now && [ -e "$id/cmd" ] && [ ! -e "$id/rc" ] && {
		for signal in HUP KILL; do
			read -r group <"$id/pid" && kill -s $signal -- "-$group" || break
			sleep 0.3
		done
		for s in o e; do
			end "$s"
		done
		echo closed >"$id/closed"
		echo 129 >"$id/rc"
	}
	read -r pid <pid && [ "$pid" != $$ ] || rm -f pid
	# A client that is leaving, and processes that still write here, may take a moment.
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ ! -s pid ] || return   # the next supervisor runs
		[ . -ef "$D" ] || return # the client removed the directory, and the next may have created another
		read -r holder <holder && kill -0 "$holder" || { (cd / && rm -rf "$D") && return; }
		sleep 0.5
	done
}

# end STREAM: writes the mark of a command that was cut off.
end() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ ! -e "$id/$1.eof" ] || break
		sleep 0.05
	done
	at=0
	for n in "$id/$1".[0-9]*; do
		n=${n##*.}
		[ "$n" -le "$at" ] || at=$n
	done
	printf '\033]7717;%s;129\007' "$token" >>"$id/$1.$at"
}

# record FILE: copies standard input to FILE.0 up to 4 MiB, then to files of that size, and keeps the
# last two of them.
record() {
	at=0 old=0
	while :; do
		if ! r=$(LC_ALL=C dd bs=65536 count=64 2>&1 >>"$1.$at"); then
			: >"$1.full"  # the state that the shell is writing has a hole
			rm -f reserve # room for the remaining files about the command
			r=${r##*: }
			ln -s "${r%%"$nl"*}" "$1.fault"
			cat >/dev/null # the command keeps running
			break
		fi
		r=${r%% records in*}
		r=${r##*[!0-9+]}
		[ $(($r)) -eq 64 ] || break
		size=$(($(wc -c <"$1.$at")))
		[ "$size" -ge 4194304 ] || continue
		[ "$old" -eq 0 ] || rm -f "$1.$old"
		old=$at at=$((at + size))
	done
	: >"$1.eof"
}

# output FIFO FILE: passes one stream to the pane and to the files.
output() {
	{
		trap '' INT QUIT HUP TERM PIPE
		exec tee -i ${tty:-/dev/null} <"$1" 5>&- 8>&- 9>&- 3<&-
	} | {
		trap '' INT QUIT HUP TERM PIPE
		exec 5>&- 8>&- 9>&- 3<&-
		record "$2"
	} &
}

# child runs the command in a fresh shell. Signals to the group must not end it before that shell. The
# fresh shell connects stderr itself, because otherwise dash would print messages about its end there.
child() {
	trap : INT QUIT HUP TERM
	set +m
	env -i "PATH=$login" "TERM=$TERM" ${tty:+"TMUX=$apart"} "$R" $flags "$connect; $main" "$name" "$D" "$D/$id/cmd" "$D/$state" "$D/$next"
	exit $?
}

# ready makes the terminal discard keys typed before the next command.
ready() {
	[ -z "$tty" ] || stty -icanon -echo min 0 time 0 </dev/tty
}

# show prints the start of the command.
show() {
	while IFS= read -r line; do printf '%s\r\n' "$line"; done <"$id/prompt"
}

# settle waits until the pane has the command's output, unless a job holds it, resets the
# terminal and shows how the command ended.
settle() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -e "$id/o.eof" ] && [ -e "$id/e.eof" ] && break
		sleep 0.01
	done
	[ -n "$tty" ] || return
	printf '\030\033[?1049l\033[?25h\017\033(B\033[m\033[?1000l\033[?1002l\033[?1003l\033[?2004l\033[?1l\033>'
	# To the first column: spaces wrap if the cursor is elsewhere.
	set -- $(stty size </dev/tty)
	printf '%*s\r\033[K' $((${2:-120} - 1)) ''
	[ "$rc" -eq 0 ] || printf '\033[2m[exit %s]\033[m\r\n' "$rc"
}

# mark marks the end of the own output of a command.
mark() {
	printf '\033]7717;%s;%s\007' "$token" "$rc"
}

# streams runs the command $id with its output in two streams.
streams() {
	output "$id/o" "$id/o"
	output "$id/e" "$id/e"
	exec 6>"$id/o" 7>"$id/e"
	err=7
	[ "$mode" != merge ] || err=6
	connect="exec 2>&$err 6>&- 7>&-"
	to=$tty
	[ ! -e alone ] || [ "$mode" = captty ] || to= # nobody types
	case $mode:$to in
	captty:?*) (child) </dev/tty >&6 5>&- 8>&- 9>&- ;;
	*:?*) (child) >&6 5>&- 8>&- 9>&- ;;
	*) apart >&6 2>&$err 5>&- 6>&- 7>&- 8>&- 9>&- ;;
	esac
	rc=$?
	mark >&6
	mark >&7
	exec 6>&- 7>&-
}

# terminal runs the command $id with all its streams on the terminal. tmux pipes the pane's
# output to us meanwhile; marks enclose the command's part.
terminal() {
	{
		trap '' INT QUIT HUP TERM PIPE
		exec <"$id/o" 5>&- 8>&- 9>&- 3<&-
		record "$id/o"
	} &
	to=$(printf %s "$D/$id/o" | sed "s/'/'\\\\''/g; s/[#%]/&&/g")
	recorded=1
	tmux -u pipe-pane -O -t "$TMUX_PANE" "exec cat >'$to'" || {
		recorded=
		ln -s 'tmux does not record the pane' "$id/o.fault"
		: 1<>"$id/o" # no other process opens it
	}
	printf '\033]7717;%s;start\007' "$token"
	connect='exec 2>&1'
	(child) </dev/tty 5>&- 8>&- 9>&-
	rc=$?
	stty sane -ixon </dev/tty
	mark
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		newest
		[ -n "$recorded" ] || break
		case $(tail -c 4096 "$id/o.$at") in *"$token;$rc"*) break ;; esac
		sleep 0.05
	done
	tmux -u pipe-pane -t "$TMUX_PANE"
	mark >"$id/e.0"
	: >"$id/e.eof"
}

# newest sets at to the number of the newest file of standard output.
newest() {
	at=0
	for n in "$id"/o.[0-9]*; do
		n=${n##*.}
		[ "$n" -le "$at" ] || at=$n
	done
}

# run runs the command $id.
run() {
	: >"$id/o.0"
	: >"$id/e.0"
	mkfifo "$id/o" "$id/e"
	echo "$id $mode $token" >now
	next=state.0
	[ "$state" != state.0 ] || next=state.1
	: >"$next"
	: >"$id/began"
	[ -e reserve ] || dd if=/dev/zero of=reserve bs=65536 count=4 || rm -f reserve
	if [ -n "$tty" ]; then
		dd bs=65536 count=16 </dev/tty >/dev/null
		stty sane -ixon </dev/tty
		show
	fi
	if [ "$mode" = tty ]; then terminal; else streams; fi
	if [ ! -e "$id/o.full" ] && [ ! -e "$id/e.full" ] && [ "$(tail -n 1 "$next")" = '#complete' ]; then
		state=$next
		echo "$state" >at
	fi
	echo "$rc" >"$id/rc"
}

# detached is child in a separate session: a program that prompts on /dev/tty fails instead of
# hanging.
detached() {
	trap - INT QUIT HUP TERM PIPE
	if command -v setsid >/dev/null; then set -- setsid; else set --; fi
	exec "$@" env -i "PATH=$login" "TERM=dumb" "$R" $flags "$main" "$name" "$D" "$D/$id/cmd" "$D/$state" "$D/$next"
}

# apart runs detached. With job control it would be the leader of a group, and would not be waited
# for.
apart() {
	set +m
	(detached)
	set -- $?
	[ -z "$tty" ] || set -m
	return "$1"
}

# watch ends the supervisor when the client has gone.
watch() {
	read -r line
	kill -s TERM $$
}

if [ -z "$tty" ]; then
	watch <&3 8>&- 9>&- &
	exec 3<&-
fi
: >now
watchdog &
exec 5>life
echo "${TMUX_PANE:--}" >pane
[ -z "$tty" ] || tty >tty </dev/tty
echo $$ >pid.new
mv pid.new pid
ready
while :; do
	IFS=' ' read -r id mode token <&9 || continue
	[ -f "$id/cmd" ] && [ ! -e "$id/began" ] || continue
	run
	settle
	ready
done
