package shell

import (
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// command judges one command and those that it runs in turn, and records it.
func (a *analyser) command(words []arg, via []string, in input) names {
	if a.exhausted(via) {
		return names{}
	}
	for _, w := range words {
		a.rep.Dynamic = a.rep.Dynamic || w.dynamic()
	}
	name, ok := words[0].lit()
	if !ok {
		a.rep.fetchRuns(words[:1])
		a.record(words, via, RunsCode, "which command runs is computed: "+texts.ClipBytes(words[0].src, 60))
		return names{}
	}
	name = baseName(name)
	a.harms(name, words)
	defer runsTexts(a, name, words) // what they run comes after what runs them
	if words[0].expands {
		a.rep.other("which command runs is computed: " + texts.ClipBytes(words[0].src, 60))
	}
	if wrap, ok := wrappers[name]; ok {
		before := len(a.rep.Commands)
		switch done := wrap(a, words, via, in); {
		case done:
			return names{}
		case name == "find" && len(a.rep.Commands) > before:
			return findPrints(words)
		}
	}
	a.folders.started = a.folders.cwds
	defer a.folders.back(name, a.folders.cwds)
	words = a.folders.dashless(words)
	s, rest := a.lookup(name, words)
	if s == nil {
		e := effectOf(name, words)
		a.record(words, via, e.effect, e.reason)
		return names{}
	}
	c, why := s.sort(rest)
	if why == "" {
		c.in = in
		why = a.judge(c)
	}
	if why != "" {
		e := effectOf(name, words)
		a.record(words, via, e.effect, why)
		return names{}
	}
	a.record(words, via, Reads, s.name+" only reads: "+s.why)
	a.rep.Commands[len(a.rep.Commands)-1].spec = s.name
	if s.prints != nil {
		return s.prints(a, c)
	}
	return names{}
}

// exhausted counts a command, and reports whether there are more than can be judged.
func (a *analyser) exhausted(via []string) bool {
	*a.judged++
	if len(a.rep.Commands) <= maxCommands && len(via) <= maxDepth && *a.judged <= maxJudged {
		return false
	}
	a.rep.other("more commands than can be judged")
	return true
}

// back removes the folders that git -C added to the possible current folders: they apply to
// this command only.
func (d *folders) back(name string, cwds []string) {
	if name == "git" {
		d.cwds = cwds
	}
}

// dashless marks the patterns that match no name beginning with a dash.
func (d *folders) dashless(words []arg) []arg {
	if d.env.Match == nil {
		return words
	}
	words = slices.Clone(words)
	for i := range words {
		w := &words[i]
		w.dashless = true
		for _, v := range w.vals {
			if v.kind != pattern || v.text == "" || strings.IndexByte("*?[", v.text[0]) < 0 {
				continue
			}
			for _, dir := range d.cwds {
				found, ok := d.env.Match(dir, v.text)
				dash := slices.ContainsFunc(found, func(name string) bool { return strings.HasPrefix(strings.TrimPrefix(name, dir+"/"), "-") })
				w.dashless = w.dashless && ok && !dash && path.IsAbs(dir)
			}
		}
	}
	return words
}

// record adds a command to the report; with an effect other than Reads it needs approval.
func (a *analyser) record(words []arg, via []string, effect Effect, reason string) {
	c := Command{Argv: public(words), Via: slices.Clone(via), Effect: effect, ReadOnly: effect == Reads, Reason: reason, Dirs: slices.Clone(a.folders.cwds)}
	runs := ""
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
		c.Effect, c.ReadOnly, c.Reason = Privileged, false, via+" runs "+texts.ClipBytes(c.Argv[0].Text, 40)+" with more rights"
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

// lookup returns the table entry of a command and the words after its name. A subcommand may
// follow flags of the program itself.
func (a *analyser) lookup(name string, words []arg) (*spec, []arg) {
	table := specs()
	rest := words[1:]
	if len(rest) == 1 && slices.Contains(versioned, name) {
		if s, _ := rest[0].lit(); s == "--version" {
			return table["--version"], rest
		}
	}
	globals, ok := table[name+" *"]
	if !ok {
		return table[name], rest
	}
	n := a.leading(globals, rest)
	if n < 0 {
		return nil, nil
	}
	key := name
	var found *spec
	after := n
	for i := n; i < len(rest) && i < n+3; i++ {
		word, ok := rest[i].lit()
		if !ok || strings.HasPrefix(word, "-") {
			break
		}
		key += " " + word
		if s := table[key]; s != nil {
			found, after = s, i+1
		}
	}
	if found == nil {
		if n < len(rest) { // unknown subcommand
			return nil, nil
		}
		return table[name], rest
	}
	return found, rest[after:]
}

// leading counts the flags of the program before its subcommand; -1 if one is unknown.
func (a *analyser) leading(s *spec, words []arg) int {
	c, n := &call{spec: s}, len(words)
	for i := 0; i < len(words); {
		text, known := words[i].lit()
		if !known || !strings.HasPrefix(text, "-") || text == "-" {
			n = i
			break
		}
		used, why := s.flag(c, text, words[i+1:])
		if why != "" {
			return -1
		}
		i += 1 + used
	}
	if s.check != nil && s.check(a, c) != "" {
		return -1
	}
	return n
}

// effect describes a command that is not in the table, as far as known.
type effect struct {
	effect Effect
	reason string
}

func effectOf(name string, words []arg) effect {
	for _, w := range words[1:] { // the subcommand may come after flags
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
