# File operations on a target. Exit codes from 90 on are errors with a name in Go.
missing=91 denied=92 irregular=93 notdir=94 islink=95 dangling=96 torn=97 loop=98 unwanted=99

# at PATH: goes to the folder of PATH and sets base. The folder must be the real one, so
# that a link that was put there since the path was resolved leads nowhere else.
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

# facts PATH [-L]: mode in hex, size, time of the last change.
facts() {
	if [ ! -e "$1" ] && [ ! -L "$1" ]; then
		up=${1%/*}
		[ -x "${up:-/}" ] || [ ! -d "${up:-/}" ] || exit $denied
		exit $missing
	fi
	[ -z "$2" ] || [ -e "$1" ] || exit $dangling
	stat $2 -c '%f %s %Y' -- "$1" 2>/dev/null || stat $2 -f '%Xp %z %m' -- "$1"
}

# target PATH: where the link leads. The dot keeps newlines at its end.
target() {
	[ -L "$1" ] || { [ -e "$1" ] && exit $irregular || exit $missing; }
	readlink -- "$1" && echo .
}

# real PATH: without links. Names at its end that do not exist stay as they are.
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

# store PATH SIZE MODE TEMPNAME: standard input becomes the file, all of it or nothing.
store() {
	at "$1"
	[ ! -L "$base" ] || exit $islink
	[ ! -e "$base" ] || [ -f "$base" ] || exit $irregular
	[ -w . ] || exit $denied
	tmp=./$4 own=
	if [ -e "$base" ]; then
		# Its mode and, where we may, its owner stay.
		set -- "$1" "$2" "$(stat -c %a -- "$base" 2>/dev/null || stat -f %Lp -- "$base")"
		own=$(stat -c %u:%g -- "$base" 2>/dev/null || stat -f %u:%g -- "$base")
	fi
	trap 'rm -f -- "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	(umask 077 && cat >"$tmp") || exit 1
	[ $(($(wc -c <"$tmp"))) -eq "$2" ] || exit $torn
	[ -z "$own" ] || chown "$own" "$tmp" 2>/dev/null
	chmod "$3" "$tmp" && mv -f -- "$tmp" "$base" || exit 1
	trap - EXIT
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

# slices MAX TOKEN PATH...: each file, and after it a line with the token and 0 or why it
# is not there. With find_texts, a grep -l, files that it does not name are left out.
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

# mode PATH OCTAL
mode() {
	at "$1"
	mine
	chmod "$2" "$base"
}
