# Functions that a client runs on the target; D is the supervisor's directory. Exit codes: 0
# done, 70 not yet, 71 the supervisor is gone, 72 not possible, 73 ended together with the
# supervisor.
umask 077

# alive checks that the supervisor of pid $sup and its pane exist.
alive() {
	kill -0 "$sup" 2>/dev/null || return 1
	[ -n "$tty" ] || return 0
	[ -r "/proc/$sup/stat" ] || { [ -c "$tty" ]; return; }
	read -r stat <"/proc/$sup/stat" || return 1
	set -- ${stat##*) }
	[ "$5" != 0 ] # the number of its terminal
}

known() {
	sup= tty=
	[ ! -s "$D/tty" ] || read -r tty <"$D/tty"
	read -r sup <"$D/pid" && alive
} 2>/dev/null

# greet prints the supervisor's state: pid, pane, last id, whether something runs.
greet() {
	known || exit 71
	if [ -r "/proc/$sup/cmdline" ]; then
		case $(tr '\0' ' ' <"/proc/$sup/cmdline") in *"$D"/sup*) ;; *) exit 71 ;; esac
	fi
	last=0 busy=0
	[ ! -s "$D/last" ] || read -r last <"$D/last"
	read -r pane <"$D/pane"
	for c in "$D"/[0-9]*; do
		[ -e "$c/cmd" ] || continue
		for i in 1 2 3 4 5 6 7 8 9 10; do # the end of the streams comes a little later
			[ -e "$c/rc" ] || break
			[ -e "$c/o.eof" ] && [ -e "$c/e.eof" ] && continue 2
			sleep 0.03
		done
		[ ! -e "$c/cmd" ] || busy=1 # or it was just removed
	done
	echo "$sup $pane $last $busy"
}

# hold prints a line, then waits for the end of the supervisor. It ends the waiting holder of an
# earlier connection; unread input of a killed holder ends no other.
hold() {
	echo "$$" >"$D/holder"
	echo "$1" 1<>"$D/alive"
	exec 5<>"$D/alive" 4<"$D/alive" 5>&- # so that opening does not block
	known || exit 0
	rm -f "$D/left"
	echo
	while read -r line <&4; do
		read -r holder <"$D/holder"
		[ "$line" = "$1" ] || [ "$holder" = "$$" ] || break
	done
}

# mourn ID waits until the end of a command is known after its supervisor has gone.
mourn() {
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		[ ! -e "$D/$1/rc" ] || exit 0
		sleep 0.25
	done
	exit 70
}

# forget ID removes the files of a command that has ended, starting with the one by which greet, which
# may run meanwhile, recognizes it.
forget() {
	rm -f "$D/$1/cmd"
	rm -rf "${D:?}/$1"
}

# submit ID MODE TOKEN COMMAND PROMPT FREE SET: passes the command to the supervisor, only once even
# if it is called again, and follows it.
submit() {
	known || exit 71
	if [ ! -e "$D/$1/sent" ]; then
		mkdir -p "$D/$1" && printf %s "$4" >"$D/$1/cmd" && printf '%s\n' "$5" >"$D/$1/prompt" && { [ -z "$6" ] || : >"$D/$1/free"; } && { [ -z "$7" ] || printf '%s\n' "$7" >"$D/$1/set"; } && : >"$D/$1/cwd" && echo "$1" >"$D/last" || {
			rm -rf "${D:?}/$1"
			exit 72
		}
		if [ -e "$D/$1/withdrawn" ]; then rm -f "$D/$1/cmd"
		else echo "$1 $2 $3" 1<>"$D/in"; fi
		: >"$D/$1/sent"
	fi
	follow "$1" 0 0 rc
}

# withdraw ID keeps a command from starting, even if its submission arrives later; 70 if it has
# started.
withdraw() {
	mkdir -p "$D/$1" && : >"$D/$1/withdrawn"
	[ -e "$D/$1/began" ] || rm -f "$D/$1/cmd"
	[ ! -e "$D/$1/began" ] || exit 70
}

# follow ID OUT ERR rc|eof|now: prints the output of the command from these offsets on, until it has
# ended or no process holds its streams. After some seconds it asks to be called again; with "now"
# soon. It is not possible (72) once the command was withdrawn.
follow() {
	c=$D/$1 i=0 had=
	known
	while :; do
		end=
		if [ "$4" = rc ]; then [ ! -e "$c/rc" ] || end=1
		else [ ! -e "$c/o.eof" ] || [ ! -e "$c/e.eof" ] || end=1; fi
		if [ -z "$had" ] && [ -e "$c/began" ]; then
			had=1
			exec 3<"$c/o.0" 4<"$c/e.0"
			printf '\006'
			[ "$2" -eq 0 ] || tail -c "+$(($2 + 1))" <&3
			[ "$3" -eq 0 ] || tail -c "+$(($3 + 1))" <&4 >&2
		fi
		[ -z "$had" ] || { cat <&3; cat <&4 >&2; }
		[ -z "$end" ] || { [ ! -e "$c/closed" ] || exit 73; exit 0; }
		[ -n "$had" ] || [ -e "$c/cmd" ] || [ -e "$c/began" ] || exit 72
		[ "$4" != rc ] || alive || [ -e "$c/rc" ] || exit 71
		i=$((i + 1))
		if [ "$4" = now ]; then sleep 0.5; exit 70
		elif [ $i -le 10 ]; then sleep 0.01
		elif [ $i -le 40 ]; then sleep 0.03
		elif [ $i -le 80 ]; then sleep 0.2
		else exit 70; fi
	done
}

# ends ID o|e: prints the size of a stream that is larger than its first file (otherwise 0), the exit
# code, why recording has stopped; then the last 1 MiB of the stream.
ends() {
	f=$D/$1/$2 at=0 old=0 rc=-1 fault=
	[ ! -s "$D/$1/rc" ] || read -r rc <"$D/$1/rc"
	[ ! -L "$f.fault" ] || fault=$(readlink "$f.fault")
	for n in "$f".[0-9]*; do
		n=${n##*.}
		if [ "$n" -gt "$at" ]; then old=$at at=$n
		elif [ "$n" -gt "$old" ]; then old=$n; fi
	done
	[ "$at" -gt 0 ] || { echo "0 $rc $fault"; exit 0; }
	size=$(($(wc -c <"$f.$at")))
	echo "$((at + size)) $rc $fault"
	{ cat "$f.$old"; head -c "$size" "$f.$at"; } | tail -c 1048576
}

# ended: its files may have been fetched and removed already.
ended() {
	[ -e "$c/rc" ] || [ ! -e "$c" ]
}

# stop ID SIGNAL SIGNAL QUARTERS: sends the command a signal, the next one after that time (in
# quarters of a second), and so on up to KILL. Ctrl-C reaches only the foreground.
stop() {
	c=$D/$1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ ! -s "$c/pid" ] || break
		sleep 0.05
	done
	read -r group <"$c/pid" || exit 0
	for s in "$2" "$3" KILL; do
		! ended || break
		front=
		[ ! -r "/proc/$group/stat" ] || { read -r stat <"/proc/$group/stat"; set -- "$1" "$2" "$3" "$4" ${stat##*) }; front=${10}; }
		own=
		if [ -n "$front" ] && [ "$front" -gt 1 ] && [ "$front" != "$group" ]; then
			read -r sup <"$D/pid"
			[ "$front" = "$sup" ] || { kill -s "$s" -- "-$front"; [ "$s" != INT ] || own=no; }
		fi
		[ -n "$own" ] || kill -s "$s" -- "-$group"
		i=0
		while [ $i -lt "$4" ] && ! ended; do
			i=$((i + 1))
			sleep 0.25
		done
	done
	# Shells start jobs with SIGINT ignored.
	kill -s TERM -- "-$group" || exit 0
	{ sleep 2; kill -s KILL -- "-$group"; } >/dev/null & # in the background
} 2>/dev/null
