# File operations on a target. Exit codes from 89 on are errors with a name in Go.
half=89 loses=90 missing=91 denied=92 irregular=93 notdir=94 islink=95 dangling=96 torn=97 loop=98 unwanted=99

# at PATH: changes to the folder of PATH and sets base. The folder must be the real one, so that a
# link that replaced it since the path was resolved is not followed.
at() {
	base=${1##*/} dir=${1%/*}
	dir=${dir:-/}
	[ -d "$dir" ] || { [ -e "$dir" ] && exit $notdir || exit $missing; }
	cd -P -- "$dir" 2>/dev/null || exit $denied
	[ "$(pwd -P; echo .)" = "$dir
." ] || exit $islink
	base=./${base:-.}
}

# regular: checks that base is a regular file that can be read.
regular() {
	[ ! -L "$base" ] || exit $islink
	[ -e "$base" ] || exit $missing
	[ -f "$base" ] || exit $irregular
	[ -r "$base" ] || exit $denied
}

# slice PATH OFFSET COUNT
slice() {
	at "$1"
	regular
	exec <"$base" || exit $denied
	if [ "$2" -gt 0 ]; then
		tail -c "+$(($2 + 1))" | head -c "$3"
	else
		head -c "$3"
	fi
}

# facts PATH [-L]: mode in hex, size, time of the last change, names.
facts() {
	if [ ! -e "$1" ] && [ ! -L "$1" ]; then
		up=${1%/*}
		[ -x "${up:-/}" ] || [ ! -d "${up:-/}" ] || exit $denied
		exit $missing
	fi
	[ -z "$2" ] || [ -e "$1" ] || exit $dangling
	stat $2 -c '%f %s %Y %h' -- "$1" 2>/dev/null || stat $2 -f '%Xp %z %m %l' -- "$1"
}

# target PATH: the target of the link. The dot keeps newlines at its end.
target() {
	[ -L "$1" ] || { [ -e "$1" ] && exit $irregular || exit $missing; }
	readlink -- "$1" && echo .
}

# real PATH: without links. Missing names at its end stay unchanged.
real() {
	path=$1 rest= links=0
	while :; do
		if [ -L "$path" ]; then
			links=$((links + 1))
			[ $links -le 40 ] || exit $loop
			to=$(readlink -- "$path" && echo .) || exit $denied
			to=${to%??}
			case $to in
			/*) path=$to ;;
			*) path=${path%/*}/$to ;;
			esac
			led=1
		elif [ -d "$path" ]; then
			cd -P -- "$path" 2>/dev/null || exit $denied
			path=$(pwd -P && echo .)
			path=${path%??}
			[ "$path" != / ] || path=
			rest=$path$rest
			printf '%s.' "${rest:-/}"
			return
		else
			[ -e "$path" ] || [ -z "$led" ] || exit $dangling
			while [ "${path%/}" != "$path" ]; do path=${path%/}; done
			rest=/${path##*/}$rest path=${path%/*} led=
			path=${path:-/}
		fi
	done
}

# list PATH MAX: name, mode, size and time of each, after //, which no name has.
list() {
	at "$1"
	[ ! -L "$base" ] || exit $islink
	[ -d "$base" ] || { [ -e "$base" ] && exit $notdir || exit $missing; }
	cd "$base" 2>/dev/null && [ -r . ] || exit $denied
	if stat -c %f . >/dev/null 2>&1; then
		find . ! -name . -prune -exec stat -c '//%f %s %Y %n' {} +
	else
		find . ! -name . -prune -exec stat -f '//%Xp %z %m %N' {} +
	fi | head -c "$2"
}

# number GNU BSD FILE: the output of stat in the format of either.
number() { stat -c "$1" -- "$3" 2>/dev/null || stat -f "$2" -- "$3"; }

# rights FILE: its permissions in octal, without setuid and setgid.
rights() {
	rights=000$(number %a %Lp "$1")
	rights=${rights#"${rights%???}"}
}

# fill FILE SIZE: a new file with standard input, which only this user can read. Go recognizes a full
# disk by the English message.
fill() {
	(umask 077 && set -C && LC_ALL=C cat >"$1") || exit 1
	[ $(($(wc -c <"$1"))) -eq "$2" ] || exit $torn
}

# carries FILE: gives tmp the attributes of FILE; fails if it cannot.
carries() {
	owner=$(number %u:%g %u:%g "$1")
	[ "$owner" = "$(number %u:%g %u:%g "$tmp")" ] || chown "$owner" "$tmp" 2>/dev/null || return 1
	rights "$1"
	chmod "$rights" "$tmp" || return 1
	case $(ls -ld -- "$1") in ??????????[+@]*) return 1 ;; esac
	case $(ls -ld -- "$tmp") in ??????????[+@]*) return 1 ;; esac
	[ "$(stat -c %C -- "$1" 2>/dev/null)" = "$(stat -c %C -- "$tmp" 2>/dev/null)" ] || return 1
	# Other extended attributes are visible only to a rare program; GNU cp copies them anyway.
	if command -v getfattr >/dev/null; then
		[ -z "$(getfattr -m '^(user|trusted)\.' -- "$1" 2>/dev/null)" ]
	elif cp --help 2>&1 | grep -q attributes-only; then
		cp --attributes-only --preserve=xattr -- "$1" "$tmp" 2>/dev/null && chown "$owner" "$tmp" # drops capabilities
	else
		[ "$(uname)" != Linux ] # BusyBox ls does not show access lists
	fi
}

# store PATH SIZE TEMPNAME MODE [ANYWAY]: writes standard input to the file, completely or not at all.
# With ANYWAY attributes of the file may be lost.
store() {
	at "$1"
	[ ! -L "$base" ] || exit $islink
	[ ! -e "$base" ] || [ -f "$base" ] || exit $irregular
	[ -w . ] || { [ -e "$base" ] && [ -z "$5" ] && exit $loses || exit $denied; }
	tmp=./$3 rights=$4 anyway=$5
	trap 'rm -f -- "$tmp"' EXIT
	trap 'exit 129' HUP INT TERM # the file may have been replaced already
	fill "$tmp" "$2"
	if [ -e "$base" ]; then
		carries "$base" || [ -n "$anyway" ] || exit $loses
	else
		chmod "$rights" "$tmp" || exit 1
	fi
	if ! mv -f -- "$tmp" "$base"; then
		[ -e "$base" ] && [ -z "$anyway" ] && exit $loses || exit 1
	fi
	trap - EXIT
}

# pour FILE: writes the content of FILE to base.
pour() { LC_ALL=C cat <"$1" >"$base" && [ $(($(wc -c <"$1"))) -eq $(($(wc -c <"$base"))) ]; }

# overwrite PATH SIZE TEMPNAME: writes standard input into the file, which keeps its identity. Its old
# content is restored if that fails.
overwrite() {
	at "$1"
	mine
	owner=
	if [ ! -w "$base" ]; then
		[ -O "$base" ] && owner=u || exit $denied
	fi
	for dir in "${TMPDIR:-/tmp}" /tmp .; do [ ! -w "$dir" ] || break; done
	new=$dir/$3 old=$dir/$3.old
	trap 'rm -f -- "$new" "$old"' EXIT
	trap 'exit 1' HUP INT TERM
	fill "$new" "$2"
	fill "$old" $(($(wc -c <"$base"))) <"$base"
	sync "$old" 2>/dev/null
	trap '' HUP INT TERM PIPE
	rights "$base"
	chmod u-s,g-s "$base" 2>/dev/null # before other bytes are in it; without the right to do so, the kernel does it at the write
	[ -z "$owner" ] || chmod u+w "$base" || exit 1
	code=0
	if ! true >>"$base"; then # a running program
		code=1
	elif ! pour "$new"; then
		code=1
		pour "$old" || code=$half
	fi
	[ -z "$owner" ] || chmod "$rights" "$base"
	sync "$base" 2>/dev/null
	[ $code -ne $half ] || trap 'rm -f -- "$new"' EXIT
	exit $code
}

# lists MAX TOP FOLDER...: like list, of several folders below TOP, in one go. Names are
# those of find: FOLDER/./NAME. Folders that cannot be read come first, after //-.
lists() {
	max=$1
	at "${2%/}/."
	shift 2
	for d; do
		[ -d "$d" ] && [ ! -L "$d" ] && [ -r "$d" ] && [ -x "$d" ] || printf '//- %s\n' "$d"
	done
	for d; do
		set -- "$@" "$d/."
		shift
	done
	if stat -c %f . >/dev/null 2>&1; then
		find "$@" ! -name . -prune -exec stat -c '//%f %s %Y %n' {} + 2>/dev/null
	else
		find "$@" ! -name . -prune -exec stat -f '//%Xp %z %m %N' {} + 2>/dev/null
	fi | head -c "$max"
}

# slices MAX TOKEN PATH...: each file, then a line with the token and 0 or the reason why it is
# missing. With find_texts, a grep -l, only files that it lists are included.
slices() {
	max=$1 token=$2 named=
	shift 2
	if command -v find_texts >/dev/null; then
		named="
$(find_texts "$@" 2>/dev/null)
"
	fi
	for f; do
		if [ -n "$named" ] && [ -f "$f" ] && [ -r "$f" ]; then
			case $named in
			*"
$f
"*) ;;
			*)
				printf '\n%s %d\n' "$token" $unwanted
				continue
				;;
			esac
		fi
		(
			at "$f"
			regular
			exec <"$base" || exit $denied
			head -c "$max"
		)
		printf '\n%s %d\n' "$token" $?
	done
}

# mine: checks that base is a regular file in a folder that can be changed.
mine() {
	[ ! -L "$base" ] || exit $islink
	[ -e "$base" ] || exit $missing
	[ -f "$base" ] || exit $irregular
}

# remove PATH
remove() {
	at "$1"
	mine
	[ -w . ] || exit $denied
	rm -f -- "$base"
}

# rename PATH PATH
rename() {
	at "$1"
	mine
	[ -w . ] || exit $denied
	from=$dir/${base#./}
	mkdir -p -- "${2%/*}/" || exit 1
	at "$2"
	[ ! -L "$base" ] && [ ! -d "$base" ] || exit $irregular
	[ -w . ] || exit $denied
	mv -f -- "$from" "$base"
}

# mode PATH OCTAL
mode() {
	at "$1"
	mine
	chmod "$2" "$base"
}
