package policy

import (
	"path/filepath"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// examples returns at most two actions that r would allow and one that it would not, as a user would type them. r is
// what "allow similar" would add for a. A rule about files has no examples, because its text already names the files.
func examples(p Policy, r action.Rule, a action.Action, report shell.Report) (passes []string, stops string) {
	with := p.With(r)
	allowed := func(e example) bool {
		return with.judgeFiles(e.act, reportOn(with, e.act), action.ModeAsk).Decision == action.Allow
	}
	yes, no := candidates(r, a, report)
	for _, e := range yes {
		if len(passes) < 2 && allowed(e) {
			passes = append(passes, e.text)
		}
	}
	for _, e := range no {
		if stops == "" && !allowed(e) {
			stops = e.text
		}
	}
	return passes, stops
}

type example struct {
	act  action.Action
	text string
}

// reportOn returns the analysis of an action if it is a command.
func reportOn(p Policy, a action.Action) shell.Report {
	if !isCommand(a.Kind) {
		return shell.Report{}
	}
	return p.Analyse(a.Command, a.Cwd)
}

// candidates returns actions that r probably allows, and others that it probably does not allow.
func candidates(r action.Rule, a action.Action, report shell.Report) (yes, no []example) {
	switch a.Kind {
	case action.Shell, action.Git:
		command := func(text string) example {
			one := a
			one.Command = text
			return example{one, text}
		}
		pass, stop := commandExamples(r, a, report)
		for _, s := range pass {
			yes = append(yes, command(s))
		}
		for _, s := range stop {
			no = append(no, command(s))
		}
	case action.Network, action.Browser:
		host := func(name string) example {
			one := a
			one.Host, one.URL = name, "https://"+name+"/"
			return example{one, one.URL}
		}
		yes = []example{host(r.Host), host("docs." + r.Host)}
		no = []example{host("other-" + r.Host)}
	}
	return yes, no
}

// commandExamples returns commands that r probably allows (pass) and others that it probably does not (stop). r is for
// the one command in report that needs approval. The commands have placeholders such as NAME and DIR, because a
// realistic name could be mistaken for an existing file.
func commandExamples(r action.Rule, a action.Action, report shell.Report) (pass, stop []string) {
	words := action.Quote(r.Prefix)
	if r.Shape == action.Exactly {
		if there, err := filepath.Rel(a.Cwd, r.Folder); err == nil && there != "." {
			words = "cd " + action.Quote([]string{there}) + " && " + words
		}
		return []string{words, words + " | tail -n 20"}, []string{words + " x", words + " > FILE"}
	}
	var closed shell.Shape
	own := words
	for _, c := range report.Commands {
		if s, ok := c.Shape(); ok && action.Quote(s.Prefix) == words {
			closed, own = s, c.String()
		}
	}
	before := words
	if closed.Sample != "" {
		before += " " + closed.Sample
	}
	pass = []string{before + " NAME", words + " " + closed.Option + strings.TrimPrefix(before, words) + " DIR/NAME"}
	if closed.Reads {
		pass = []string{words + " WORD", words + " MORE WORDS", own, own + " | tail -n 20"}
	}
	return pass, []string{before + " ../NAME", before + " .env", words + " --other", own + " > FILE"}
}
