package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// wrappers maps commands that run another command to a function that judges the inner command. The function reports
// whether it has handled the words.
var wrappers map[string]func(a *analyser, name string, words []arg, via []string, piped bool) bool

func init() { // the functions refer to the map
	wrappers = map[string]func(a *analyser, name string, words []arg, via []string, piped bool) bool{
		"xargs": wrapXargs, "find": wrapFind, "ssh": wrapSSH, "eval": wrapEval, "su": wrapSu,
	}
	for name := range prefixes {
		wrappers[name] = wrapPrefix
	}
	for _, name := range shells {
		wrappers[name] = wrapShell
	}
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"}

// prefixes lists wrappers that are followed by their flags, their own operands, and then the inner command. asks says
// why the wrapper needs approval even if the inner command needs none.
var prefixes = specs([]spec{
	{name: "nice", flags: "-n: --adjustment: -#"},
	{name: "env", flags: "-i -u: -C: --ignore-environment --unset: --chdir:"},
	{name: "command", flags: "-p"},
	{name: "timeout|gtimeout", flags: "-k: -s: -v --kill-after: --signal: --preserve-status --foreground --verbose", own: 1},
	{name: "time", flags: "-p -v"},
	{name: "stdbuf", flags: "-i: -o: -e: --input: --output: --error:"},
	{name: "ionice", flags: "-c: -n: -t --class: --classdata: --ignore"},
	{name: "builtin"},
	{name: "nohup", asks: "keeps it running and writes its output to a file"},
	{name: "setsid", flags: "-c -f -w --ctty --fork --wait", asks: "prevents cancelling it"},
	{name: "exec", flags: "-c -l -a:", asks: "replaces the shell"},
	{name: "sudo", flags: "-A -b -E -e -H -i -K -k -l -n -P -S -s -v -g: -h: -p: -u: -C: -D: -R: -r: -t: -T: -U: " +
		"--user: --group: --login --shell --non-interactive --preserve-env? --stdin --set-home --host: --chdir:"},
	{name: "doas", flags: "-n -s -L -u: -C:"},
	{name: "pkexec", flags: "--user: --disable-internal-agent --keep-cwd"},
	{name: "run0", flags: "-u: --user: -D: --chdir:"},
	{name: "strace", flags: "-f -v -c -o: -e: -p: -s:", asks: "changes how it runs"},
	{name: "watch", flags: "-n: -d -t -b -e -g -c -x --interval: --differences --no-title", asks: "runs it repeatedly"},
	{name: "flock", flags: "-n -x -s -w: -e -u", own: 1, asks: "creates a lock file"},
	{name: "chroot", own: 1, asks: "changes what the paths refer to"},
	{name: "unshare", flags: "-r -n -m -p -f -U", asks: "changes which files and processes its command sees"},
	{name: "taskset", flags: "-c -p -a", own: 1, asks: "sets which processors it uses"},
	{name: "chrt", flags: "-f -r -b -i -o", own: 1, asks: "sets its priority"},
	{name: "systemd-run", flags: "--user --scope --pty --wait -p: -u: --unit: -t -P", asks: "starts it as a service"},
	{name: "parallel", flags: "-j: -k -0", asks: "runs commands that it builds from its input"},
	{name: "entr", flags: "-r -c -d -p -n -s -z", asks: "runs it at each file change"},
	{name: "caffeinate", flags: "-d -i -m -s", asks: "keeps the machine awake"},
	{name: "proxychains|torsocks|torify", asks: "sends it through the network"},
	{name: "script", flags: "-q -c: -f -a -e", own: 1, asks: "writes what it prints to a file"},
	{name: "fakeroot", asks: "changes which files and processes its command sees"},
	{name: "xvfb-run", flags: "-a", asks: "starts a server"},
	{name: "runuser", flags: "-u: --user: -g: -G: -l -m"},
	{name: "setpriv", flags: "--reuid: --regid: --clear-groups --init-groups --no-new-privs", asks: "changes its privileges"},
	{name: "nsenter", flags: "-t: --target: -a -m -u -i -n -p -U -F --all --mount --net --pid", asks: "changes which files and processes its command sees"},
	{name: "setarch", flags: "-R -3", own: 1, asks: "changes how it runs"},
	{name: "firejail", flags: "--quiet --noprofile", asks: "changes which files and processes its command sees"},
	{name: "proot", flags: "-0 -r: -b: -w:", asks: "changes which files and processes its command sees"},
	{name: "unbuffer", flags: "-p", asks: "gives it a terminal"},
	{name: "sshpass", flags: "-p: -f: -e -d:", asks: "types a password"},
	{name: "prlimit", flags: "--nofile: --nproc: --cpu: --as:", asks: "sets its limits"},
	{name: "numactl", flags: "-N: -m: -C: -i: -p:", asks: "sets which processors it uses"},
	{name: "gosu|su-exec", own: 1, asks: "changes the user"},
	{name: "valgrind", flags: "-q -v", asks: "changes how it runs"},
	{name: "ltrace", flags: "-f -o: -e: -p:", asks: "changes how it runs"},
	{name: "busybox|toybox", asks: "has commands with other flags"},
})

// wrapPrefix judges the inner command of a wrapper in prefixes.
func wrapPrefix(a *analyser, name string, words []arg, via []string, piped bool) bool {
	if name == "command" && (len(words) < 2 || given(words[:2], "-v -V")) {
		return false
	}
	p, inner, e := prefixes[name], append(slices.Clone(via), name), effectOf(name, words)
	c, i, why := p.leading(words[1:])
	if i++; why != "" {
		if name == "env" { // -S splits a text into a command
			e.effect = RunsCode
			a.rep.other(why)
		}
		a.record(words, via, e.effect, why)
		return a.guess(words[1:], inner, piped)
	}
	defer a.movedBy(name, c)()
	if name == "env" || name == "sudo" {
		i += a.givenVariables(name, words[i:])
	}
	if p.asks != "" {
		a.rep.other(name + " " + p.asks)
	}
	if i += p.own; i >= len(words) {
		a.record(words, via, e.effect, e.reason)
		return true
	}
	for _, w := range words[1:i] {
		if w.split || w.dynamic() {
			a.rep.other("the command that " + name + " runs is known only when it runs")
		}
	}
	a.command(words[i:], inner, piped)
	return true
}

// movedBy enters the folder in which a wrapper starts its command, and returns a function that restores the previous
// one.
func (a *analyser) movedBy(name string, c *call) (back func()) {
	dirs := c.values("-D", "--chdir")
	if name == "env" {
		dirs = c.values("-C", "--chdir")
	}
	if len(dirs) == 0 {
		return func() {}
	}
	a.rep.other(name + " starts it in another folder")
	a.folders.adrift = true // also affects later commands, which is harmless
	return a.folders.moved(dirs[len(dirs)-1])
}

// givenVariables judges the assignments before the command of env or sudo, and returns their number.
func (a *analyser) givenVariables(name string, words []arg) (n int) {
	for ; n < len(words) && (isAssignment(words[n].src) || words[n].src == "-"); n++ {
		if name == "env" && words[n].src != "-" {
			a.envAssign(words[n])
		}
	}
	return n
}

// guess looks for an inner command after flags that are not understood, in order to find harm. The script already
// counts as not read-only.
func (a *analyser) guess(words []arg, via []string, piped bool) bool {
	before := a.folders.adrift
	a.folders.adrift = true
	defer func() { a.folders.adrift = before }()
	for i, w := range words {
		name, ok := w.lit()
		if ok && (baseName(name) == "git" || effects[baseName(name)].effect != "" || wrappers[baseName(name)] != nil) {
			a.command(words[i:], via, piped)
			break
		}
	}
	return true
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && syntax.ValidName(name)
}

func (a *analyser) envAssign(w arg) {
	name, _, _ := strings.Cut(w.src, "=")
	a.folders.adrift = a.folders.adrift || redirectsGit(name)
	value := arg{vals: []val{{kind: dynamic}}}
	if text, known := w.lit(); known {
		_, text, _ = strings.Cut(text, "=")
		value = literalArg(text)
	}
	if why := assignable(name, value, true); why != "" {
		a.rep.other(why)
	}
}

// wrapShell judges the script after sh -c.
func wrapShell(a *analyser, name string, words []arg, via []string, _ bool) bool {
	for _, by := range via {
		if by, _, _ := strings.Cut(by, " "); by == "xargs" || by == "find" {
			a.rep.other(name + " runs commands from " + by)
		}
	}
	via = append(slices.Clone(via), name+" -c")
	if program, ok := programOf(words[1:]); ok {
		if name == "fish" {
			a.rep.other("fish reads the text differently")
		}
		if p := privileged(via); p != "" {
			a.record(words, via[:len(via)-1], Privileged, p+" runs "+name+" with elevated privileges")
		}
		a.nested(program, via)
		return true
	}
	if len(words) == 2 {
		if s, _ := words[1].lit(); s == "--version" {
			return false
		}
	}
	script := "commands from its input"
	for _, w := range words[1:] {
		if s, ok := w.lit(); !ok || !strings.HasPrefix(s, "-") {
			script = "the script " + texts.ClipBytes(w.src, 60)
			break
		}
	}
	a.record(words, via[:len(via)-1], RunsCode, name+" runs "+script+", which buddy can't check")
	return true
}

// programOf returns the script after -c.
func programOf(words []arg) (program string, ok bool) {
	for i, w := range words {
		text, known := w.lit()
		letters, dash := strings.CutPrefix(text, "-")
		if !known || !dash || letters == "" || strings.Trim(letters, "celux") != "" {
			break
		}
		if strings.Contains(letters, "c") && i+1 < len(words) {
			return words[i+1].lit()
		}
	}
	return "", false
}

func wrapEval(a *analyser, _ string, words []arg, via []string, _ bool) bool {
	a.rep.fetchRuns(words)
	var text []string
	for _, w := range words[1:] {
		s, ok := w.lit()
		if !ok {
			a.record(words, via, RunsCode, "eval runs text that is known only when it runs")
			return true
		}
		text = append(text, s)
	}
	a.record(words, via, RunsCode, "eval runs text as a program")
	a.nested(strings.Join(text, " "), append(slices.Clone(via), "eval"))
	return true
}

// wrapSu judges the script after su -c.
func wrapSu(a *analyser, _ string, words []arg, via []string, _ bool) bool {
	a.record(words, via, Privileged, "su changes to another user")
	for i := 1; i+1 < len(words); i++ {
		flag, _ := words[i].lit()
		if text, ok := words[i+1].lit(); ok && (flag == "-c" || flag == "--command") {
			a.folders.adrift = true // also affects later commands, which is harmless
			a.nested(text, append(slices.Clone(via), "su"))
		}
	}
	return true
}

// wrapSSH judges the command that ssh runs on the other machine, where a shell parses the joined words.
func wrapSSH(a *analyser, _ string, words []arg, via []string, _ bool) bool {
	a.record(words, via, Remote, "ssh runs a command on another machine")
	i := 1
	for ; i < len(words); i++ {
		text, ok := words[i].lit()
		if !ok || !strings.HasPrefix(text, "-") {
			break
		}
		if len(text) == 2 && strings.Contains("BbcDEeFIiJLlmOopQRSWw", text[1:]) {
			i++
		}
	}
	var text []string
	for j, w := range words[min(i+1, len(words)):] {
		s, ok := w.lit()
		if !ok {
			return true
		}
		if j == 0 && s == "--" {
			continue
		}
		text = append(text, s)
	}
	if len(text) > 0 {
		before, at := a.folders.adrift, a.folders.at
		a.folders.adrift, a.folders.at = true, a.folders.env.Home
		a.nested(strings.Join(text, " "), append(slices.Clone(via), "ssh"))
		a.folders.adrift, a.folders.at = before, at
	}
	return true
}

// xargsFlags lists flags of xargs that only affect how the input is split.
var xargsFlags = specs([]spec{{name: "xargs", flags: "-0rtx -n: -L: -I: -P: -d: -s: -E: -a: --arg-file: --null --no-run-if-empty --max-args: --max-procs: --max-lines: --delimiter: --verbose --replace?"}})["xargs"]

// wrapXargs judges the command that xargs runs on words from its input.
func wrapXargs(a *analyser, name string, words []arg, via []string, piped bool) bool {
	c, n, why := xargsFlags.leading(words[1:])
	if why != "" {
		a.record(words, via, RunsCode, why)
		item := arg{vals: []val{{kind: dynamic}}, src: "…", split: true}
		return a.guess(append(slices.Clone(words[1:]), item), append(slices.Clone(via), name), piped)
	}
	via = append(slices.Clone(via), name)
	inner := slices.Clone(words[1+n:])
	if len(inner) == 0 {
		inner = []arg{literalArg("echo")}
	}
	mark, why := xargsMark(c)
	if why != "" {
		a.rep.other(why)
		return true
	}
	item := arg{vals: []val{{kind: dynamic}}, src: "…", split: mark == ""}
	if mark == "" {
		a.command(append(inner, item), via, false)
		return true
	}
	a.command(replace(inner, mark, item), via, false)
	return true
}

// xargsMark returns the placeholder that xargs replaces in the command, or "" if xargs appends the words. The last
// placeholder wins. why is set if there is also a count, because versions of xargs differ in which one they use.
func xargsMark(c *call) (mark, why string) {
	counts := false
	for _, f := range c.flags {
		switch f.name {
		case "-I", "--replace":
			mark = "{}"
			if len(f.vals) > 0 {
				var ok bool
				if mark, ok = f.vals[0].lit(); !ok || mark == "" {
					return "", "the text that xargs replaces is known only when it runs"
				}
			}
		case "-n", "-L", "--max-args", "--max-lines":
			counts = true
		}
	}
	if mark != "" && counts {
		return "", "xargs uses only one of its replacement and count options"
	}
	return mark, ""
}

// replace returns words with item in place of the placeholder mark.
func replace(words []arg, mark string, item arg) []arg {
	out := make([]arg, 0, len(words))
	for _, w := range words {
		text, ok := w.lit()
		switch {
		case ok && text == mark:
			w = item
		case strings.Contains(w.src, mark) || ok && strings.Contains(text, mark):
			before, _, _ := strings.Cut(text, mark)
			w = arg{vals: []val{{kind: dynamic, text: before}}, src: w.src}
		}
		out = append(out, w)
	}
	return out
}

// wrapFind judges the commands that find runs, then find itself.
func wrapFind(a *analyser, _ string, words []arg, via []string, _ bool) bool {
	via = append(slices.Clone(via), "find -exec")
	for i := 1; i < len(words); i++ {
		switch s, _ := words[i].lit(); s {
		case "-ok", "-okdir":
			a.rep.other("find " + s + " asks in the terminal")
			fallthrough
		case "-exec", "-execdir":
			i += a.findExec(words[i+1:], via)
		}
	}
	return false
}

// findExec judges the command after -exec and returns the number of its words.
func (a *analyser) findExec(words []arg, via []string) int {
	for i, w := range words {
		s, _ := w.lit()
		if s != ";" && (s != "+" || i == 0 || words[i-1].src != "{}") {
			continue
		}
		if i == 0 {
			break
		}
		a.command(replace(words[:i], "{}", arg{vals: []val{{kind: dynamic}}, src: "{}"}), via, false)
		return i
	}
	a.rep.other("find -exec has no complete command")
	return 0
}
