package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// wrappers are commands that run another one, which is judged instead. Each returns whether it
// has handled the words.
var wrappers map[string]func(a *analyser, words []arg, via []string, in input) bool

func init() { // the functions refer to the map
	wrappers = map[string]func(a *analyser, words []arg, via []string, in input) bool{
		"env": wrapEnv, "command": wrapCommand, "xargs": wrapXargs, "find": wrapFind, "ssh": wrapSSH,
		"eval": wrapEval, "su": wrapSu, "busybox": wrapBusybox, "toybox": wrapBusybox,
	}
	for name := range prefixes {
		wrappers[name] = wrapPrefix
	}
	for _, name := range shells {
		wrappers[name] = wrapShell
	}
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"}

// prefixes are wrappers of the form: name, flags, own operands, command.
var prefixes = map[string]struct {
	flags string // as in spec
	own   int    // operands of its own
	asks  string // why it needs approval even if the command does not, or ""
}{
	"nice":     {flags: "-n: --adjustment: -#"},
	"timeout":  {flags: "-k: -s: -v --kill-after: --signal: --preserve-status --foreground --verbose", own: 1},
	"gtimeout": {flags: "-k: -s: -v --kill-after: --signal: --preserve-status --foreground --verbose", own: 1},
	"time":     {flags: "-p -v"},
	"stdbuf":   {flags: "-i: -o: -e: --input: --output: --error:"},
	"ionice":   {flags: "-c: -n: -t --class: --classdata: --ignore"},
	"builtin":  {},
	"nohup":    {asks: "nohup lets it run on and writes its output to a file"},
	"setsid":   {flags: "-c -f -w --ctty --fork --wait", asks: "setsid takes it out of reach of a cancel"},
	"exec":     {flags: "-c -l -a:", asks: "exec replaces the shell"},
	"sudo": {flags: "-A -b -E -e -H -i -K -k -l -n -P -S -s -v -g: -h: -p: -u: -C: -D: -R: -r: -t: -T: -U: " +
		"--user: --group: --login --shell --non-interactive --preserve-env? --stdin --set-home --host: --chdir:"},
	"doas":        {flags: "-n -s -L -u: -C:"},
	"pkexec":      {flags: "--user: --disable-internal-agent --keep-cwd"},
	"run0":        {flags: "-u: --user: -D: --chdir:"},
	"strace":      {flags: "-f -v -c -o: -e: -p: -s:", asks: "strace changes how it runs"},
	"watch":       {flags: "-n: -d -t -b -e -g -c -x --interval: --differences --no-title", asks: "watch runs it again and again"},
	"flock":       {flags: "-n -x -s -w: -e -u", own: 1, asks: "flock makes a lock file"},
	"chroot":      {own: 1, asks: "chroot changes what the paths mean"},
	"unshare":     {flags: "-r -n -m -p -f -U", asks: "unshare changes what it sees"},
	"taskset":     {flags: "-c -p -a", own: 1, asks: "taskset sets where it runs"},
	"chrt":        {flags: "-f -r -b -i -o", own: 1, asks: "chrt sets its priority"},
	"systemd-run": {flags: "--user --scope --pty --wait -p: -u: --unit: -t -P", asks: "systemd-run starts it as a service"},
	"parallel":    {flags: "-j: -k -0", asks: "parallel runs commands that it makes of its input"},
	"entr":        {flags: "-r -c -d -p -n -s -z", asks: "entr runs it at each change"},
	"caffeinate":  {flags: "-d -i -m -s", asks: "caffeinate keeps the machine awake"},
	"proxychains": {asks: "proxychains sends it through the network"},
	"script":      {flags: "-q -c: -f -a -e", own: 1, asks: "script writes what it prints to a file"},
	"fakeroot":    {asks: "fakeroot changes what it sees"},
	"xvfb-run":    {flags: "-a", asks: "xvfb-run starts a server"},
	"runuser":     {flags: "-u: --user: -g: -G: -l -m"},
	"setpriv":     {flags: "--reuid: --regid: --clear-groups --init-groups --no-new-privs", asks: "setpriv changes its rights"},
	"nsenter":     {flags: "-t: --target: -a -m -u -i -n -p -U -F --all --mount --net --pid", asks: "nsenter changes what it sees"},
	"setarch":     {flags: "-R -3", own: 1, asks: "setarch changes how it runs"},
	"firejail":    {flags: "--quiet --noprofile", asks: "firejail changes what it sees"},
	"proot":       {flags: "-0 -r: -b: -w:", asks: "proot changes what it sees"},
	"torsocks":    {asks: "torsocks sends it through the network"},
	"torify":      {asks: "torify sends it through the network"},
	"unbuffer":    {flags: "-p", asks: "unbuffer gives it a terminal"},
	"sshpass":     {flags: "-p: -f: -e -d:", asks: "sshpass types a password"},
	"prlimit":     {flags: "--nofile: --nproc: --cpu: --as:", asks: "prlimit sets its limits"},
	"numactl":     {flags: "-N: -m: -C: -i: -p:", asks: "numactl sets where it runs"},
	"gosu":        {own: 1, asks: "gosu changes the user"},
	"su-exec":     {own: 1, asks: "su-exec changes the user"},
	"valgrind":    {flags: "-q -v", asks: "valgrind changes how it runs"},
	"ltrace":      {flags: "-f -o: -e: -p:", asks: "ltrace changes how it runs"},
}

// wrapPrefix strips a wrapper of the table.
func wrapPrefix(a *analyser, words []arg, via []string, in input) bool {
	name, _ := words[0].lit()
	name = baseName(name)
	p := prefixes[name]
	s := &spec{name: name, flags: p.flags}
	s.compile()
	i, c := 1, &call{spec: s}
	for i < len(words) {
		text, known := words[i].lit()
		if text == "--" {
			i++
			break
		}
		if !known || !strings.HasPrefix(text, "-") {
			break
		}
		used, why := s.flag(c, text, words[i+1:])
		if why != "" {
			a.record(words, via, effectOf(name, words).effect, why)
			return a.guess(words[1:], append(slices.Clone(via), name), in)
		}
		i += 1 + used
	}
	for _, dir := range c.values("-D", "--chdir") {
		defer a.folders.moved(dir)()
	}
	for ; name == "sudo" && i < len(words) && isAssignment(words[i].src); i++ { // for the command
	}
	if p.asks != "" {
		a.rep.other(p.asks)
	}
	if i += p.own; i >= len(words) {
		e := effectOf(name, words)
		a.record(words, via, e.effect, e.reason)
		return true
	}
	for _, w := range words[1:i] {
		if w.split || w.dynamic() {
			a.rep.other("which command " + name + " runs is computed")
		}
	}
	a.command(words[i:], append(slices.Clone(via), name), in)
	return true
}

// guess looks for a command after flags that are not understood, so that harm in it is found.
// The program already is not read-only.
func (a *analyser) guess(words []arg, via []string, in input) bool {
	before := a.folders.adrift
	a.folders.adrift = true
	defer func() { a.folders.adrift = before }()
	for i, w := range words {
		name, ok := w.lit()
		if ok && (baseName(name) == "git" || effects[baseName(name)].effect != "" || wrappers[baseName(name)] != nil) {
			a.command(words[i:], via, in)
			break
		}
	}
	return true
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && syntax.ValidName(name)
}

// wrapEnv strips env and its assignments.
func wrapEnv(a *analyser, words []arg, via []string, in input) bool {
	i := 1
	for ; i < len(words); i++ {
		text, _ := words[i].lit()
		if isAssignment(words[i].src) {
			a.envAssign(words[i])
			continue
		}
		if text == "" || text[0] != '-' {
			break
		}
		switch text {
		case "-i", "-", "--ignore-environment":
		case "-u", "--unset":
			i++
		case "-C":
			if i+1 < len(words) {
				defer a.folders.moved(words[i+1])()
			}
			fallthrough
		default:
			why := "env " + texts.ClipBytes(text, 60) + " is not known to only read"
			a.record(words, via, RunsCode, why)
			a.rep.other(why) // -S splits a text into a command
			return a.guess(words[i+1:], append(slices.Clone(via), "env"), in)
		}
	}
	if i >= len(words) {
		a.record(words, via, Unknown, "env prints the variables of the environment, which may hold secrets")
		return true
	}
	a.command(words[i:], append(slices.Clone(via), "env"), in)
	return true
}

// envAssign judges VAR=value before the command of env.
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

// wrapCommand strips command; command -v is in the table.
func wrapCommand(a *analyser, words []arg, via []string, in input) bool {
	if len(words) > 1 {
		switch text, _ := words[1].lit(); text {
		case "-v", "-V":
			return false
		case "-p", "--":
			words = words[1:]
		}
	}
	if len(words) < 2 {
		return false
	}
	a.command(words[1:], append(slices.Clone(via), "command"), in)
	return true
}

// wrapShell judges the script of sh -c.
func wrapShell(a *analyser, words []arg, via []string, _ input) bool {
	name, _ := words[0].lit()
	name = baseName(name)
	for _, by := range via {
		if by, _, _ := strings.Cut(by, " "); by == "xargs" || by == "find" {
			a.rep.other(name + " runs what " + by + " gives it")
		}
	}
	via = append(slices.Clone(via), name+" -c")
	if program, ok := programOf(words[1:]); ok {
		if name == "fish" {
			a.rep.other("fish reads the text differently")
		}
		if p := privileged(via); p != "" {
			a.record(words, via[:len(via)-1], Privileged, p+" runs "+name+" with more rights")
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

func wrapEval(a *analyser, words []arg, via []string, _ input) bool {
	a.rep.fetchRuns(words)
	var text []string
	for _, w := range words[1:] {
		s, ok := w.lit()
		if !ok {
			a.record(words, via, RunsCode, "eval runs text that is computed")
			return true
		}
		text = append(text, s)
	}
	a.record(words, via, RunsCode, "eval runs text as a program")
	a.nested(strings.Join(text, " "), append(slices.Clone(via), "eval"))
	return true
}

// wrapSu judges the script of su -c.
func wrapSu(a *analyser, words []arg, via []string, _ input) bool {
	a.record(words, via, Privileged, "su changes to another user")
	for i := 1; i+1 < len(words); i++ {
		flag, _ := words[i].lit()
		if text, ok := words[i+1].lit(); ok && (flag == "-c" || flag == "--command") {
			a.folders.adrift = true // this also affects what follows, which is harmless
			a.nested(text, append(slices.Clone(via), "su"))
		}
	}
	return true
}

func wrapBusybox(a *analyser, words []arg, via []string, in input) bool {
	if len(words) < 2 {
		return false
	}
	a.rep.other("the commands of busybox know other flags")
	a.command(words[1:], append(slices.Clone(via), "busybox"), in)
	return true
}

// wrapSSH judges what runs on the other machine, where a shell parses the joined words.
func wrapSSH(a *analyser, words []arg, via []string, _ input) bool {
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

// xargsFlags are the flags of xargs that only affect how the input is split.
var xargsFlags = func() *spec {
	s := &spec{name: "xargs", flags: "-0rtx -n: -L: -I: -P: -d: -s: -E: -a: --arg-file: --null --no-run-if-empty --max-args: --max-procs: --max-lines: --delimiter: --verbose --replace?"}
	s.compile()
	return s
}()

// wrapXargs judges the command with the words that come from the input.
func wrapXargs(a *analyser, words []arg, via []string, in input) bool {
	i, c := 1, &call{spec: xargsFlags}
	for i < len(words) {
		text, known := words[i].lit()
		if !known || !strings.HasPrefix(text, "-") {
			break
		}
		used, why := xargsFlags.flag(c, text, words[i+1:])
		if why != "" {
			a.record(words, via, RunsCode, why)
			item := arg{vals: []val{{kind: dynamic}}, src: "…", split: true}
			return a.guess(append(slices.Clone(words[1:]), item), append(slices.Clone(via), "xargs"), in)
		}
		i += 1 + used
	}
	via = append(slices.Clone(via), "xargs")
	inner := slices.Clone(words[i:])
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
		a.command(append(inner, item), via, input{})
		return true
	}
	a.command(replace(inner, mark, item), via, input{})
	return true
}

// xargsMark returns the placeholder that xargs replaces in the command, "" if it appends. The
// last of several placeholders counts; of a placeholder and a count also the last one, but not
// in every xargs.
func xargsMark(c *call) (mark, why string) {
	counts := false
	for _, f := range c.flags {
		switch f.name {
		case "-I", "--replace":
			mark = "{}"
			if len(f.vals) > 0 {
				var ok bool
				if mark, ok = f.vals[0].lit(); !ok || mark == "" {
					return "", "what xargs replaces is computed"
				}
			}
		case "-n", "-L", "--max-args", "--max-lines":
			counts = true
		}
	}
	if mark != "" && counts {
		return "", "xargs with marks and counts takes one of them"
	}
	return mark, ""
}

// replace replaces mark in words by item.
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
