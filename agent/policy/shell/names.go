package shell

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"buddy/texts"
)

// looking lists programs that only inspect things. In the read-only sandbox they run without approval, whatever their
// flags, because the kernel prevents changes. Interpreters, build tools, tests and a project's own programs are not
// listed.
var looking = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool, 300)
	for name := range strings.FieldsSeq(`
		cat tac nl head tail rev cut paste column fold fmt pr expand unexpand tr wc uniq sort shuf comm join diff diff3 sdiff cmp colordiff delta difft
		grep egrep fgrep zgrep zegrep rg ag ack sed awk gawk mawk nawk jq yq gron xmllint htmlq xsv qsv mlr xxd hexdump hexyl hd od strings base64 base32 iconv
		seq numfmt factor tsort expr bc dc look bat batcat less more most glow zcat bzcat xzcat zstdcat lz4cat zless zdiff zcmp funzip
		ls dir vdir eza exa tree stat file du ncdu dust df fd fdfind find locate plocate readlink realpath basename dirname pathchk cksum sum
		md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum md5 tar unzip zipinfo gzip ar nm objdump readelf size otool getfacl lsattr namei
		tokei scc cloc pdfinfo pdftotext identify exiftool ffprobe dot2tex
		cd pushd popd dirs pwd echo printf true false : test [ sleep exit return break continue shift wait times jobs set shopt umask ulimit type command which whereis
		hash help whatis apropos man info tldr read mapfile readarray let local getopts tty uname arch hostname date cal uptime nproc lscpu lsmem lsblk lspci lsusb lsmod modinfo
		lsb_release sw_vers system_profiler free vmstat iostat mpstat ps pgrep pidof pstree pmap top lsof fuser id whoami logname groups users who w last lastlog
		getent locale getconf findmnt mount swapon blkid dmesg sysctl ipcs lslocks lsns sensors ip ss netstat ifconfig route arp
		gofmt gofumpt shellcheck pkg-config pkgconf dpkg dpkg-query apt-cache rpm pacman`) {
		m[name] = true
	}
	return m
})

// subcommands lists the subcommands that only inspect, for programs that can do more. Git subcommands that inspect with
// some arguments and change something with others are in gitLists instead.
var subcommands = map[string]string{
	"git": "status log show whatchanged diff diff-tree diff-index diff-files difftool range-diff blame annotate shortlog grep ls-files ls-tree cat-file rev-parse rev-list describe name-rev " +
		"merge-base merge-tree cherry count-objects for-each-ref show-ref show-branch check-ignore check-attr check-ref-format check-mailmap var version help verify-commit verify-tag fsck " +
		"stripspace column patch-id hash-object get-tar-commit-id show-index unpack-file diagnose interpret-trailers",
	"git stash": "list show", "git worktree": "list", "git submodule": "status summary", "git notes": "list show", "git bisect": "log view visualize", "git lfs": "ls-files status env",
	"git bundle": "verify list-heads", "git remote": "get-url show", "git commit-graph": "verify", "git sparse-checkout": "list",
	"go": "version env list doc help", "go mod": "verify graph why", "cargo": "version metadata locate-project help tree pkgid", "rustup": "show", "rustup toolchain": "list",
	"npm": "ls list ll la explain why root prefix bin help outdated view", "npm pkg": "get", "npm config": "get", "pnpm": "ls list why root", "nvm": "ls list current",
	"pip": "list show freeze check", "pip3": "list show freeze check", "uv pip": "list show freeze tree check", "conda": "list info", "conda env": "list", "gem": "list env", "bundle": "list show info",
	"apt": "list show search policy", "apt-mark": "showmanual showauto showhold", "apk": "info list search", "brew": "list info deps", "openssl": "version x509 dgst ciphers", "terraform": "version",
	"composer": "show", "poetry": "show", "dotnet": "--info --list-sdks", "mix": "help", "make": "", "rustc": "--print -vV",
}

// versioned lists programs that can safely be run to print their version. It omits those that load settings or programs
// from the folder first: yarn, mvn, pytest, rails.
var versioned = strings.Fields(`
	bash zsh sh fish node npm bun deno tsc python python3 python2 pip pip3 uv ruff black mypy ruby gem perl php java javac rustc rustup cargo rustfmt clippy-driver gcc g++ cc c++ clang
	clang++ cmake make gmake ninja meson ld go gopls golangci-lint protoc terraform tofu helm docker podman nerdctl docker-compose kubectl minikube kind k9s aws gcloud az gh glab hub
	git git-lfs svn hg tmux screen vim nvim emacs nano code curl wget ssh rsync zip openssl gpg fzf systemctl nginx apache2 psql mysql sqlite3 redis-cli redis-server mongod postgres
	swift dotnet elixir erl ghc nix brew apt apt-get dnf yum snap flatpak zig lua R julia env timeout nice xargs buddy sudo`)

// versionFlags lists flags that print a version. Python's -v is an exception: it starts the interpreter, which ends at
// once in the sandbox.
var versionFlags = []string{"--version", "-version", "-V", "-v", "-dumpversion", "-dumpmachine", "version"}

// writing lists flags that make a program write. A command with such a flag needs approval right away, so that it does
// not fail in the sandbox first. The list need not be complete, because the kernel prevents other writes.
var writing = map[string]string{
	"sed": "-i --in-place", "sort": "-o --output", "find": "-delete -fprint -fprint0 -fprintf -fls", "tree": "-o", "yq": "-i --inplace", "gawk": "-i", "awk": "-i", "mlr": "-I",
	"gofmt": "-w", "gofumpt": "-w", "git": "--output", "shuf": "-o --output", "iconv": "-o --output", "openssl": "-out", "date": "-s --set", "dmesg": "-C -c --clear", "sysctl": "-w -p", "go": "-w",
}

// needed lists, for programs that otherwise write, the flags with which they don't: letters or long names.
var needed = map[string]string{
	"tar": "t list", "unzip": "l Z v t p c", "gzip": "l t c list test stdout", "ar": "t p", "dpkg": "l L s S p list status listfiles search print-architecture get-selections", "rpm": "q query", "pacman": "Q",
}

// names returns why a command does more than inspect, judged by its name and flags, or "". It does not look at files.
func (a *analyser) names(name string, words []arg) string {
	switch {
	case printsVersion(name, words):
		return ""
	case name == "git":
		if why := a.gitReads(words); why != "" {
			return why
		}
	case looking()[name]:
	case !subcommand(name, words[1:]):
		return effectOf(name, words).reason
	}
	if name == "sleep" && !shortTime(words) {
		return "sleep waits for a long or unknown time"
	}
	if name == "set" && len(words) == 1 {
		return "set prints shell variables, which may hold secrets"
	}
	if f := writes(name, words); f != "" {
		e := effects[name+" "+f]
		return name + " " + f + " " + cmp.Or(e.reason, "writes files")
	}
	return ""
}

// shortTime reports whether a sleep is short: every time is in seconds and has at most three characters. A longer sleep
// serves to poll something and needs approval.
func shortTime(words []arg) bool {
	return !slices.ContainsFunc(words[1:], func(w arg) bool {
		s, _ := w.lit()
		n := strings.TrimSuffix(s, "s")
		return len(n) > 3 || !digits(strings.Replace(n, ".", "", 1))
	})
}

func printsVersion(name string, words []arg) bool {
	if len(words) != 2 || !slices.Contains(versioned, name) {
		return false
	}
	s, _ := words[1].lit()
	return slices.Contains(versionFlags, s)
}

// subcommand reports whether the first non-flag words of a command are a listed subcommand of the program.
func subcommand(name string, words []arg) bool {
	list, ok := subcommands[name]
	for _, w := range words {
		s, known := w.lit()
		if !known {
			return false
		}
		if ok && slices.Contains(strings.Fields(list), s) {
			return true
		}
		if strings.HasPrefix(s, "-") {
			continue
		}
		if _, more := subcommands[name+" "+s]; !more {
			return false
		}
		name += " " + s
		list, ok = subcommands[name]
	}
	return false
}

// gitReads returns why a git command does more than inspect, or "".
func (a *analyser) gitReads(words []arg) string {
	g := &gitCall{dash: -1, dir: a.folders.certain(nil)}
	at, _, ok := g.globals(words)
	if !ok {
		return "buddy can't read what git does"
	}
	if at == len(words) {
		return "" // it prints help
	}
	name, ok := words[at].lit()
	switch {
	case !ok:
		return "what git does is known only when it runs"
	case name == "config":
		return gitConfig(words[at:])
	case gitLists(name, words[at:]), subcommand("git", words[at:]):
		return ""
	}
	return cmp.Or(effectOf("git", words[at-1:]).reason, "git "+texts.ClipBytes(name, 40)+" may change something")
}

// gitLists reports whether a git subcommand that can change something only lists something with these arguments.
func gitLists(name string, words []arg) bool {
	operands := operandsOf(words)
	first := ""
	if len(operands) > 0 {
		first, _ = operands[0].lit()
	}
	switch name {
	case "branch", "tag":
		return (len(operands) == 0 || given(words, "--list -l -n --contains --no-contains --merged --no-merged --points-at --sort --format")) &&
			!given(words, "-d -D -m -M -c -C -f -u --delete --force --move --copy --edit-description --set-upstream-to --unset-upstream")
	case "remote":
		return len(operands) == 0
	case "reflog":
		return !slices.Contains([]string{"expire", "delete", "drop", "write"}, first) && !slices.ContainsFunc(operands, arg.dynamic)
	case "symbolic-ref":
		return len(operands) < 2 && !given(words, "-d --delete -m")
	}
	return false
}

// gitConfig refuses everything except reading one setting that is not a secret.
func gitConfig(words []arg) string {
	list := operandsOf(words)
	if s, ok := literals(list); ok && len(s) == 2 && s[0] == "get" {
		list = list[1:]
	}
	s, ok := literals(list)
	switch {
	case given(words, "-l --list --get-regexp"), ok && len(s) == 1 && s[0] == "list":
		return "git config --list prints all settings, which may hold secrets"
	case !ok || len(s) != 1 || !strings.Contains(s[0], ".") || given(words, "--unset --unset-all --add --replace-all --edit -e --rename-section --remove-section"):
		return "git config with these arguments may change a setting"
	case texts.HasAny(s[0], "token", "header", "password", "credential", "secret", "key", "proxy", "sendemail"):
		return "git config " + texts.ClipBytes(s[0], 40) + " may be a secret"
	}
	return ""
}

// writes returns the word that makes a command write, or "".
func writes(name string, words []arg) string {
	for _, w := range words[1:] {
		s, _ := w.lit()
		if s == "--" {
			break
		}
		if hasFlag(s, strings.Fields(writing[name])) && (name != "find" || slices.Contains(strings.Fields(writing[name]), s)) {
			return texts.ClipBytes(s, 40)
		}
	}
	operands := len(operandsOf(words))
	switch {
	case needed[name] != "" && len(words) > 1 && !hasNeeded(name, words) && !given(words, "--help --version"):
		return "without -" + needed[name][:1]
	case name == "uniq" && operands > 1, slices.Contains([]string{"hostname", "mount", "swapon"}, name) && operands > 0:
		return "with these arguments"
	}
	return ""
}

// hasFlag reports whether a word is one of the flags, with or without a value, or a cluster that contains the letter of
// such a flag.
func hasFlag(word string, flags []string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.ContainsFunc(flags, func(f string) bool { return flag == f || len(f) == 2 && leadingLetters(word, f[1:]) })
}

// hasNeeded reports whether a command has one of its needed flags. The first word of tar and ar may be letters without
// a dash.
func hasNeeded(name string, words []arg) bool {
	for i, w := range words[1:] {
		s, _ := w.lit()
		for l := range strings.FieldsSeq(needed[name]) {
			long := "--"
			if len(l) == 1 {
				long = "-"
			}
			bare := i == 0 && len(l) == 1 && (name == "tar" || name == "ar") && !strings.ContainsAny(s, "./") && strings.Contains(s, l)
			if hasFlag(s, []string{long + l}) || bare {
				return true
			}
		}
	}
	return false
}

// leadingLetters reports whether a word is a cluster of flags that contains letter before the start of a possible
// value.
func leadingLetters(s, letter string) bool {
	rest := strings.TrimLeft(s, "-")
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(rest)
	}
	return len(s)-len(rest) == 1 && strings.Contains(rest[:end], letter)
}

// Programs by how they use their words. textFirst: the first non-flag word is a script or a pattern. noFiles: no word
// is a file. metadata: the program prints only names, sizes and times of files.
var (
	textFirst = strings.Fields("grep egrep fgrep zgrep zegrep rg ag ack sed awk gawk mawk nawk jq yq gron htmlq mlr")
	noFiles   = strings.Fields("df echo printf seq expr tr true false : sleep exit return break continue shift set shopt type command which whereis hash help whatis apropos man info tldr read let local getopts ps pgrep pidof basename dirname numfmt factor cal getent locale pkg-config pkgconf apt-cache go npm pip pip3 apt bc dc ip sysctl printenv id groups uname top pmap kill umask ulimit")
	metadata  = strings.Fields("ls dir vdir eza exa tree stat du dust ncdu df fd fdfind find locate plocate readlink realpath pathchk test [ getfacl lsattr namei")
	// textAfter lists flags whose next word is not a file.
	textAfter = strings.Fields("-e -S -G -g --grep --author --committer --since --until --after --before --format --pretty --regexp --glob --include --exclude --exclude-dir -name -iname -path -ipath -regex -iregex --date")
)

// opens returns why a file named by a command needs approval, or "": its name, or that of a current match of a pattern,
// suggests secrets or is outside the allowed folders. The kernel guards against computed names.
func (a *analyser) opens(name string, words []arg, piped bool) string {
	d := &a.folders
	if slices.Contains(noFiles, name) || printsVersion(name, words) {
		return ""
	}
	list := fileWords(name, words[1:])
	for _, w := range list {
		for _, v := range w.vals {
			if why := d.opens(v, slices.Contains(metadata, name)); why != "" {
				return why
			}
		}
	}
	if len(list) == 0 && !piped {
		return d.outside(val{text: "."})
	}
	return ""
}

func fileWords(name string, words []arg) (list []arg) {
	if s := coreTools()[name]; s != nil && !s.raw {
		if c, why := s.sort(words); why == "" {
			own := s.own
			if c.has("-e") {
				own = 0
			}
			return c.rest[min(own, len(c.rest)):]
		}
	}
	text := takesText(name, words)
	before := name
	for _, w := range words {
		s, _ := w.lit()
		grep := name == "git" && s == "grep" && len(list) == 0
		switch {
		case grep:
			text = true
		case strings.HasPrefix(s, "-"), slices.Contains(textAfter, before):
		case text:
			text = false
		default:
			list = append(list, w)
		}
		before = s
	}
	return list
}

// takesText reports whether the first operand of a command is a pattern or a script, because no flag supplies one.
func takesText(name string, words []arg) bool {
	return slices.Contains(textFirst, name) && !slices.ContainsFunc(words, func(w arg) bool {
		s, _ := w.lit()
		return s == "-e" || s == "-f" || strings.HasPrefix(s, "--regexp") || strings.HasPrefix(s, "--file") || strings.HasPrefix(s, "--expression")
	})
}

// opens returns why a possible value of a word needs approval as a file name, or "".
func (d *folders) opens(v val, onlyNames bool) string {
	switch {
	case v.kind == dynamic && strings.HasPrefix(v.text, "/dev/"): // /dev/tcp/$host
		return device(unescape(v.text), false)
	case v.kind == dynamic || v.text == "" || v.text[0] == '-':
		return ""
	case v.kind == literal && onlyNames:
		return d.outside(v)
	case v.kind == literal:
		return cmp.Or(d.secret(v), d.outside(v))
	}
	return cmp.Or(d.outside(v), d.matches(v, onlyNames))
}

// matches returns why one of the files that now match a pattern needs approval, or "". If they can't be listed, it
// judges what the pattern could match; the kernel prevents access outside the allowed folders.
func (d *folders) matches(v val, onlyNames bool) string {
	source := fixedSource(v.text)
	for _, full := range d.fulls(cmp.Or(fixed(v.text), ".")) {
		found, ok := []string(nil), false
		if d.env.Match != nil && strings.HasPrefix(full, "/") {
			if d.env.Resolve != nil {
				full = d.env.Resolve(full)
			}
			found, ok = d.env.Match(full, v.text[len(source):])
		}
		for _, name := range found {
			if d.env.Border != nil && d.env.Border(name) != "" {
				return texts.ClipBytes(v.text, 60) + " leads to " + texts.ClipBytes(name, 60) + ", " + d.env.Border(name)
			}
			if d.env.Secret != nil && d.env.Secret(name, false) != "" && !onlyNames {
				return texts.ClipBytes(v.text, 60) + " matches " + texts.ClipBytes(d.env.Secret(name, false), 60) + ", which may hold secrets"
			}
		}
		if !ok && !onlyNames {
			return d.secret(v)
		}
	}
	return ""
}
