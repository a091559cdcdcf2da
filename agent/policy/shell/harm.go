package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"buddy/texts"
)

// Parts of reasons that several checks use.
const (
	runsUnseen  = "runs a download that nobody has read"
	readFirst   = "download it to a file, read it, then run it"
	doItByHand  = "do it by hand"
	withAllInIt = " with everything in it"
)

// harms records the harm of a command that destroys a machine or a home folder. Such commands are denied in every mode.
func (a *analyser) harms(name string, words []arg) {
	d := &a.folders
	kind, _, _ := strings.Cut(name, ".") // mkfs.ext4
	switch kind {
	case "rm", "srm", "unlink":
		a.rep.harm(d.removes(words), "")
	case "find":
		a.rep.harm(findErases(d, words), "")
	case "dd", "tee", "sponge", "cp", "mv", "shred", "truncate", "ddrescue", "install", "ln", "pv", "sort":
		a.rep.harm(overwrites(d, name, words), "")
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		a.rep.harm(d.owns(name, words), "")
	case "rsync", "rclone":
		a.rep.harm(mirrors(d, name, words), "")
	case "git":
		a.rep.harm(cleansHome(d, words), "")
	case "kill", "pkill", "killall", "skill":
		a.rep.harm(endsAll(name, words), doItByHand)
	case "cd", "pushd", "popd":
		d.goTo(name, words)
	}
	erases(a, kind, name, words)
	stopsMachine(a.rep, name, words)
	downloads(a, name, words)
}

// erases records the harm of a command that the table of erasers lists.
func erases(a *analyser, kind, name string, words []arg) {
	for _, e := range erasers {
		if !slices.Contains(strings.Fields(e.name), kind) || e.with != "" && !given(words, e.with) || given(words, e.safe) {
			continue
		}
		if e.disk && !namesDisk(&a.folders, words) || e.vital && !slices.ContainsFunc(operandsOf(words), a.folders.isVital) {
			continue
		}
		if len(words) > 1 || e.with == "" && !e.disk && !strings.HasPrefix(e.name, "userdel") {
			a.rep.harm(name+" "+e.does, doItByHand)
		}
	}
}

// given reports whether one of the words listed in some follows the command name. A listed single-letter flag also
// matches inside a cluster of flags, and a final * matches any text.
func given(words []arg, some string) bool {
	for want := range strings.FieldsSeq(some) {
		for _, w := range words[1:] {
			s, _ := w.lit()
			letters, dash := strings.CutPrefix(s, "-")
			cluster := dash && !strings.HasPrefix(letters, "-") && len(want) == 2 && want[0] == '-' && strings.Contains(letters, want[1:])
			begin, open := strings.CutSuffix(want, "*")
			if s == want || cluster || open && strings.HasPrefix(s, begin) || strings.HasPrefix(want, "--") && strings.HasPrefix(s, want+"=") {
				return true
			}
		}
	}
	return false
}

// namesDisk reports whether a command names a disk, or may do so because a word is computed.
func namesDisk(d *folders, words []arg) bool {
	return slices.ContainsFunc(words[1:], func(w arg) bool {
		return w.dynamic() || slices.ContainsFunc(d.places(w), blockDevice().MatchString)
	})
}

func stopsMachine(r *Report, name string, words []arg) {
	c := Command{Argv: public(words)}
	stops := slices.Contains(stoppers, name) && !given(words, "--help --version --list") && (len(words) != 2 || !given(words, "-c"))
	for _, line := range stopLines {
		stops = stops || strings.HasPrefix(line, name+" ") && c.Begins(strings.Fields(line)) == Yes
	}
	if stops {
		r.harm(name+" stops the machine", doItByHand)
	}
}

// forkRegexp matches code that starts processes in an endless loop.
var forkRegexp = texts.Regexp(`fork\s*(\(\s*\))?\s*while\b|while\s*\(?\s*(1|true|True)\s*\)?\s*[:{]?\s*(os\.)?fork`)

// killRegexp matches calls in programming languages that end all processes.
var killRegexp = texts.Regexp(`\bkill\s*\(?\s*(-1\s*,|['"]?\w+['"]?\s*,\s*-1\b)`)

// eraseRegexp matches calls in programming languages that delete a whole folder, if it is written out or is the home
// folder.
var eraseRegexp = texts.Regexp(`(rmtree|rm_rf|rm_r|remove_tree|rmSync|rmdirSync|rimraf|removeSync|remove_dir_all|remove_entry_secure)\W[^;\n]{0,40}?` +
	`(["']([^"']*)["']|homedir\(\)|Path\.home\(\)|ENV\[.HOME.\]|environ|Dir\.home|\$ENV\{HOME\}|process\.env\.HOME)`)

// programHarm returns the harm that code for an interpreter would do, or "": through folders that it deletes, or
// commands that it passes to a shell.
func programHarm(a *analyser, text string) string {
	if forkRegexp().MatchString(text) {
		return "starts itself endlessly: a fork bomb"
	}
	if killRegexp().MatchString(text) {
		return "ends all processes"
	}
	for _, m := range eraseRegexp().FindAllStringSubmatch(text, 20) {
		named := m[3]
		if m[3] == "" {
			named = "~"
		}
		if a.folders.isVital(literalArg(named)) {
			return "erases " + texts.ClipBytes(named, 60) + withAllInIt
		}
	}
	if !texts.HasAny(text, "system", "exec", "popen", "spawn", "subprocess", "qx", "`", "shell", "getline") {
		return ""
	}
	for _, quoted := range quotedTexts(text) {
		if b := fork(a); b != nil {
			if b.program(quoted); b.rep.Harm != "" {
				return b.rep.Harm
			}
			for _, c := range b.rep.Commands { // for rules that deny
				if name := c.Name(); programNamed()[name] != nil || effects[name].effect != "" {
					c.Via = append([]string{"a program"}, c.Via...)
					a.rep.Commands = append(a.rep.Commands, c)
				}
			}
		}
	}
	return ""
}

// fork returns a new analyser that starts in the state of another one, or nil if scripts are nested too deeply.
func fork(a *analyser) *analyser {
	if a.depth >= maxDepth {
		return nil
	}
	b := newAnalyser(a.folders.env)
	b.judged = a.judged
	b.depth, b.folders.cwds, b.folders.adrift = a.depth+1, a.folders.cwds, a.folders.adrift
	b.folders.at, b.folders.downloads, b.folders.written = a.folders.at, a.folders.downloads, a.folders.written
	return b
}

var quotedRegexp = texts.Regexp("\"([^\"\n]{1,400})\"|'([^'\n]{1,400})'|`([^`\n]{1,400})`|qx?[({]([^)}\n]{1,400})[)}]")

// quotedTexts returns the quoted texts in code and, last, all of them joined, because a list such as ["rm", "-rf", "/"]
// may be a command.
func quotedTexts(text string) []string {
	var all []string
	for _, m := range quotedRegexp().FindAllStringSubmatch(text, 40) {
		for _, s := range m[1:] {
			if s != "" {
				all = append(all, s)
			}
		}
	}
	return append(all, strings.Join(all, " "))
}

// places returns the absolute paths that a word may name, as patterns. Relative paths are left out if the current
// folder is unknown.
func (d *folders) places(w arg) []string {
	var all []string
	add := func(p string) {
		switch {
		case p == "":
			return
		case p == "~" || strings.HasPrefix(p, "~/"):
			if d.env.Home != "" {
				p = d.env.Home + p[1:]
			}
		case p[0] == '~': // of another user
			user, rest, _ := strings.Cut(p[1:], "/")
			if p = path.Join("/home", user, rest); user == "root" {
				p = path.Join("/root", rest)
			}
		case p[0] == '/':
		case d.at == "":
			return
		default:
			p = escape(d.at) + "/" + p
		}
		all = append(all, path.Clean(p))
	}
	for _, v := range w.vals {
		switch v.kind {
		case literal:
			add(escape(v.text))
		case pattern:
			add(v.text)
		}
	}
	if w.dynamic() {
		add(homeward(d, w.src))
	}
	return all
}

// Expansions that are resolved only to find harm. For approvals, their values count as unknown.
var (
	homeRegexp = texts.Regexp(`\$\{HOME([:?=+/%#-][^}]*)?\}|\$HOME\b|\$\((echo|eval echo) ~\)`)
	userRegexp = texts.Regexp("\\$\\{(USER|LOGNAME)([:?=-][^}]*)?\\}|\\$(USER|LOGNAME)\\b|\\$\\((whoami|id -un|logname)\\)|`(whoami|id -un|logname)`")
	echoRegexp = texts.Regexp("\\$\\((?:echo|printf)(?: -n| '%s'| %s)? ([^()$`]*)\\)|`(?:echo|printf) ([^()$`]*)`")
	ansiRegexp = texts.Regexp(`\$'([^']*)'`)
	hereRegexp = texts.Regexp("\\$\\{PWD([:?=-][^}]*)?\\}|\\$PWD\\b|\\$\\(pwd\\)|`pwd`")
)

// homeward expands the source text of a word to a path pattern. It expands only the home folder, the user's name and the
// current folder; for any other expansion it returns "".
func homeward(d *folders, src string) string {
	src = ansiRegexp().ReplaceAllStringFunc(src, func(s string) string {
		text, _, _ := expand.Format(nil, s[2:len(s)-1], nil)
		return text
	})
	src = strings.NewReplacer(`"`, "", `'`, "").Replace(src)
	src = echoRegexp().ReplaceAllString(src, "$1$2")
	src = homeRegexp().ReplaceAllLiteralString(src, "~")
	src = userRegexp().ReplaceAllLiteralString(src, path.Base("/"+d.env.Home))
	src = hereRegexp().ReplaceAllLiteralString(src, d.at)
	if strings.ContainsAny(src, "$`") {
		return ""
	}
	return src
}

// isVital reports whether a word may name a vital folder, or everything in it.
func (d *folders) isVital(w arg) bool {
	return slices.ContainsFunc(d.places(w), d.vital)
}

// vital reports whether a pattern matches a vital folder, or everything in it.
func (d *folders) vital(p string) bool {
	dir, last := path.Split(p)
	if dir = strings.TrimSuffix(dir, "/"); dir == "" {
		dir = "/"
	}
	if last != "" && broad(last) {
		return d.vital(dir) || slices.ContainsFunc(vital, func(v string) bool { return strings.HasPrefix(v, "/") && matches(p, v) })
	}
	home := d.env.Home
	switch plain := unescape(p); {
	case home != "" && (plain == home || strings.HasPrefix(home, strings.TrimSuffix(plain, "/")+"/")):
		return true
	case dir == "/home" || dir == "/Users": // somebody's home
		return true
	case !strings.ContainsAny(p, "*?["):
		return slices.Contains(vital, plain)
	}
	return slices.ContainsFunc(vital, func(v string) bool { return matches(p, v) }) || home != "" && matches(p, home)
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// broad reports whether a pattern for names matches almost everything: *, .*, ?*, [a-z]*.
func broad(last string) bool {
	if !strings.ContainsAny(last, "*?") {
		return false
	}
	rest := bracketRegexp().ReplaceAllLiteralString(last, "")
	return strings.Trim(rest, "*?.") == ""
}

var bracketRegexp = texts.Regexp(`\[[^\]]*\]`)

// vitalFile returns the vital file that a word may name, or "".
func vitalFile(d *folders, w arg) string {
	for _, p := range d.places(w) {
		for _, v := range vitalFiles {
			if p == v || matches(v, unescape(p)) || strings.ContainsAny(p, "*?[") && !broad(path.Base(p)) && matches(p, v) {
				return texts.ClipBytes(unescape(p), 60)
			}
		}
	}
	return ""
}

// goTo follows cd, so that harm to files with relative names is found.
func (d *folders) goTo(name string, words []arg) {
	var to []arg
	for _, w := range words[1:] {
		if s, _ := w.lit(); !strings.HasPrefix(s, "-") || s == "-" {
			to = append(to, w)
		}
	}
	switch {
	case name == "popd" || len(to) > 1:
		d.at = ""
	case len(to) == 0 && name == "cd":
		d.at = d.env.Home
	case len(to) == 1:
		at := ""
		if places := d.places(to[0]); len(places) == 1 && !strings.ContainsAny(places[0], "*?[") {
			at = unescape(places[0])
		}
		if s, _ := to[0].lit(); s == "-" {
			at = ""
		}
		d.at = at
	}
	if d.at != "" {
		d.visited = append(d.visited, d.at)
	}
}

// moved changes d.at to the folder dir for one command, and returns a function that changes it back.
func (d *folders) moved(dir arg) (back func()) {
	at := d.at
	d.goTo("cd", []arg{literalArg("cd"), dir})
	return func() { d.at = at }
}

// within runs f, which visits code with its own current folder, such as a subshell or a pipe. It then restores the
// folder.
func (d *folders) within(f func()) {
	at := d.at
	f()
	d.at = at
}

func public(words []arg) []Arg {
	out := make([]Arg, len(words))
	for i, w := range words {
		out[i] = w.public()
	}
	return out
}
