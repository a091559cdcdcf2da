package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// command judges a command and the commands that it runs in turn, and records them in the report.
func (a *analyser) command(words []arg, via []string, piped bool) {
	if a.exhausted(via) {
		return
	}
	for _, w := range words {
		a.rep.Dynamic = a.rep.Dynamic || w.dynamic()
	}
	name, ok := words[0].lit()
	if !ok {
		a.rep.fetchRuns(words[:1])
		a.record(words, via, RunsCode, "buddy can't tell in advance which command runs: "+texts.ClipBytes(words[0].src, 60))
		return
	}
	name = baseName(name)
	a.harms(name, words)
	defer runsTexts(a, name, words) // records the program before the commands that it runs
	if words[0].expands {
		a.rep.other("buddy can't tell in advance which command runs: " + texts.ClipBytes(words[0].src, 60))
	}
	if wrap, ok := wrappers[name]; ok {
		if wrap(a, name, words, via, piped) {
			return
		}
	}
	a.folders.started = a.folders.cwds
	why := a.reading(name, words, piped)
	if why != "" {
		a.record(words, via, effectOf(name, words).effect, why)
		return
	}
	row := row(name, words)
	a.record(words, via, Reads, row+" is read-only")
	c := &a.rep.Commands[len(a.rep.Commands)-1]
	c.spec, c.beyond = row, a.searches(name, words)
}

// row returns the name under which the tables list a read-only command: the program, followed by the subcommand if only
// some of its subcommands are read-only.
func row(name string, words []arg) string {
	if s, _ := lookup(name, words); talkers[name] != "" && s != nil {
		return s.name
	}
	if i := slices.IndexFunc(words[1:], func(w arg) bool { s, _ := w.lit(); return slices.Contains(strings.Fields(subcommands[name]), s) }); i >= 0 && subcommands[name] != "" {
		return name + " " + words[1+i].src
	}
	return name
}

// searches returns why a recursive grep is not in the literal core, or "": a searched folder may hold a file with
// secrets, which only the sandbox would hide.
func (a *analyser) searches(name string, words []arg) string {
	d := &a.folders
	if name != "grep" || d.env.Holds == nil || !given(words, "-r -R --recursive") {
		return ""
	}
	list := fileWords(name, words[1:])
	if len(list) == 0 {
		list = []arg{literalArg(".")}
	}
	for _, w := range list {
		for _, full := range d.fulls(w.vals[0].text) {
			if d.env.Resolve != nil {
				full = d.env.Resolve(full)
			}
			found, ok := d.env.Holds(full)
			if !ok {
				return "grep searches more files than can be checked for secrets; narrow it to a folder"
			}
			if found != "" {
				return "grep would read " + texts.ClipBytes(found, 80) + ", which may hold secrets; narrow it to other folders"
			}
		}
	}
	return ""
}

// reading returns why a command needs approval, or "" if it only reads. A command that queries a service is judged by
// all its flags; any other, by its name, flags that write, and files.
func (a *analyser) reading(name string, words []arg, piped bool) string {
	if name == "cd" || name == "pushd" {
		return cdCheck(a, words)
	}
	if talkers[name] != "" && !printsVersion(name, words) {
		return a.service(name, words)
	}
	return cmp.Or(a.names(name, words), a.opens(name, words, piped))
}

// cdCheck records that a cd or pushd may change the current folder, and returns why the command needs approval, or "".
func cdCheck(a *analyser, words []arg) string {
	list := operandsOf(words)
	if len(list) == 0 {
		a.folders.cwds = append(slices.Clone(a.folders.cwds), a.folders.env.Home)
		return ""
	}
	text, ok := list[0].lit()
	switch {
	case !ok || len(list) > 1 || text == "-" || text == "" || text[0] == '+':
		return "cd to an unknown folder"
	case slices.ContainsFunc([]string{"/proc", "/dev", "/sys"}, func(dir string) bool { return strings.HasPrefix(text, dir) }):
		return "cd to a kernel folder"
	case len(a.folders.cwds) > 8:
		return "changes the folder too often to check"
	}
	if why := a.folders.reads(list[0]); why != "" {
		return why
	}
	a.folders.enter(text)
	return ""
}

// enter records a folder in which the following commands may run. A path with .. leads to two possible folders if it
// contains a symbolic link: the shell drops the name before .., while programs follow the link.
func (d *folders) enter(text string) {
	d.entered = nil
	for _, dir := range d.cwds {
		switch {
		case strings.HasPrefix(text, "/"), dir == "":
			d.entered = append(d.entered, text)
		default:
			d.entered = append(d.entered, dir+"/"+text)
			if strings.Contains(text, "..") {
				d.entered = append(d.entered, path.Join(dir, text))
			}
		}
	}
	d.cwds = union(d.cwds, d.entered)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// exhausted counts a command and reports whether the limit is exceeded.
func (a *analyser) exhausted(via []string) bool {
	*a.judged++
	if len(a.rep.Commands) <= maxCommands && len(via) <= maxDepth && *a.judged <= maxJudged {
		return false
	}
	a.rep.other("too many commands to check")
	return true
}

// record adds a command to the report. A command with an effect other than Reads needs approval.
func (a *analyser) record(words []arg, via []string, effect Effect, reason string) {
	c := Command{Argv: public(words), Via: slices.Clone(via), Effect: effect, ReadOnly: effect == Reads, Reason: reason, Dirs: slices.Clone(a.folders.cwds)}
	runs := ""
	if _, p, ok := purposeOf(c.Name(), words); ok && !c.ReadOnly {
		c.Kind, c.does = p.kind, p.does
	}
	if !c.ReadOnly && c.Name() == "git" {
		c.Git, runs = a.folders.gitAct(words, via)
	}
	if act := c.Git; act != nil {
		c.Effect, c.Reason = gitEffects[act.Kind], act.Name+" "+act.Does
	}
	if runs != "" {
		c.Effect, c.Reason = RunsCode, "git "+runs
	}
	if via := privileged(via); via != "" {
		c.Effect, c.ReadOnly, c.Reason = Privileged, false, via+" runs "+texts.ClipBytes(c.Argv[0].Text, 40)+" with elevated privileges"
	}
	a.rep.Commands = append(a.rep.Commands, c)
}

func privileged(via []string) string {
	for _, v := range via {
		if effects[v].effect == Privileged {
			return v
		}
	}
	return ""
}

// effect holds the known effect of a command that is not read-only, and its reason for display.
type effect struct {
	effect Effect
	reason string
}

func effectOf(name string, words []arg) effect {
	if said, p, ok := purposeOf(name, words); ok {
		return effect{p.effect, strings.Join(strings.Fields(name+" "+said+" "+p.does), " ")}
	}
	for _, w := range words[1:] { // the subcommand may follow flags
		second, _ := w.lit()
		if e, ok := effects[name+" "+second]; ok {
			e.reason = name + " " + second + " " + e.reason
			return e
		}
	}
	if e, ok := effects[name]; ok {
		e.reason = name + " " + e.reason
		return e
	}
	if strings.Contains(name, "/") {
		return effect{RunsCode, "runs the program " + texts.ClipBytes(name, 60)}
	}
	return effect{Unknown, texts.ClipBytes(name, 60) + " " + NotKnown}
}
