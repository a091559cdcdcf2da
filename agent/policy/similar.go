package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
	"buddy/texts"
)

// Similar returns the one rule that "allow similar this session" would add for an action that needs approval. The rule
// applies only to the action's target. ok is false if the user could not judge the rule at a glance: for commands that
// are computed, destroy data, need elevated privileges, reach other machines, or have several parts or targets that
// need approval. In auto mode, a command outside the sandbox gets a rule only if it has a closed shape, and none after
// unseen changes.
func (p Policy) Similar(a action.Action, mode action.Mode) (action.Rule, bool) {
	if len(a.Targets) > 0 {
		return action.Rule{}, false
	}
	j := p.strictest(a, mode)
	return j.on.similar(a, j.report, mode)
}

// similar is Similar for the target of p. report is the analysis if the action is a command.
func (p Policy) similar(a action.Action, report shell.Report, mode action.Mode) (action.Rule, bool) {
	if len(a.Targets) > 0 || Unseen(p, a, mode) {
		return action.Rule{}, false
	}
	r := action.Rule{Decision: action.Allow, Tool: a.Tool, Target: a.Target, Source: action.FromSession}
	if p.judge(a, report, action.ModeAsk).Decision != action.Ask || a.Privesc || a.Tool == "" || strings.ContainsAny(a.Target, `*?[{\`) {
		return action.Rule{}, false
	}
	r, ok := widened(p, r, a, report, mode)
	// The rule must allow this action itself.
	if !ok || p.With(r).judgeFiles(a, report, action.ModeAsk).Decision != action.Allow {
		return action.Rule{}, false
	}
	return r, true
}

// widened extends r, depending on the action's kind, to actions similar to a.
func widened(p Policy, r action.Rule, a action.Action, report shell.Report, mode action.Mode) (_ action.Rule, ok bool) {
	switch a.Kind {
	case action.Shell, action.Git:
		r, ok = similarCommand(p, r, report)
		ok = ok && (r.Shape == action.Closed || mode != action.ModeAuto || !fenced(p))
	case action.FileWrite, action.FileRead:
		r.Path, ok = similarFolder(p, a)
	case action.Network, action.Browser:
		r.Host, ok = a.Host, a.Host != "" && !a.Local && offers(a)
	case action.Connect:
		r.Host, r.Shape, ok = a.Host, action.Exactly, a.Host != ""
	case action.MCP:
		ok = offers(a) // the tool's name describes its effect
	}
	return r, ok
}

// offers reports whether "allow similar" makes sense for an action that is not a command. Actions that delete, send
// something or are risky are approved one by one.
func offers(a action.Action) bool {
	switch a.Kind {
	case action.FileDelete:
		return false
	case action.Network, action.Browser:
		return a.Method == "" || a.Method == "GET" || a.Method == "HEAD"
	case action.MCP:
		return a.Risk != action.High
	}
	return true
}

// similarFolder returns a pattern for all files in the folder of an action's file. ok is false if that would be too
// broad.
func similarFolder(p Policy, a action.Action) (string, bool) {
	dir := filepath.Dir(a.Path)
	ok := p.editable(a)
	if a.Kind == action.FileRead {
		ok = filepath.IsAbs(a.Path) && keysOf(p, "").secret(a.Path) == "" && strings.Count(dir, "/") > 1 && !texts.Below(p.Home, dir)
	}
	return filepath.Join(dir, "**"), ok && !strings.ContainsAny(dir, `*?[{\`)
}

// maxExact limits the words of a rule for one command, in bytes, so that the user can read them.
const maxExact = 400

// similarCommand fills in a rule for the one command in report that needs approval: by its closed shape, or by all its
// words. ok is false for commands that destroy data, need elevated privileges, reach other machines or are computed.
func similarCommand(p Policy, r action.Rule, report shell.Report) (action.Rule, bool) {
	var asked []shell.Command
	for _, c := range report.Commands {
		if !c.InCore() {
			asked = append(asked, c)
		}
	}
	if len(asked) != 1 || len(report.Other) > 0 || len(asked[0].Via) > 0 {
		return r, false
	}
	c := asked[0]
	if closed, ok := c.Shape(); ok && within(p, closed, c) {
		r.Shape, r.Prefix = action.Closed, closed.Prefix
		return r, true
	}
	return exactly(r, c)
}

// exactly fills in a rule that allows one exact command in one folder.
func exactly(r action.Rule, c shell.Command) (action.Rule, bool) {
	// A network command without a kind may connect to any host, while a scanner or a look-up may not. For GUI commands,
	// the same keys or clicks do something else on another screen.
	anywhere := c.Effect == shell.Network && c.Kind == "" || c.Kind == shell.GUIAutomation
	if anywhere || slices.Contains([]shell.Effect{shell.Deletes, shell.Privileged, shell.Remote}, c.Effect) || len(c.Dirs) != 1 || !filepath.IsAbs(c.Dirs[0]) {
		return r, false
	}
	size := 0
	for _, w := range c.Argv {
		uncertain := w.Dynamic || w.Pattern || w.Odd
		if Secret(w.Text) != "" || uncertain || w.Text == "" || w.Text[0] == '~' || strings.ContainsAny(w.Text, "\n\t") {
			return r, false
		}
		size += len(w.Text)
		r.Prefix = append(r.Prefix, w.Text)
	}
	r.Shape, r.Folder = action.Exactly, filepath.Clean(c.Dirs[0])
	return r, size <= maxExact
}

// within reports whether a command with a closed shape changes only files in the workspace, and none that other
// programs execute or that hold secrets.
func within(p Policy, closed shell.Shape, c shell.Command) bool {
	for _, file := range closed.Files {
		for _, dir := range c.Dirs {
			full := file
			if !filepath.IsAbs(full) {
				full = dir + "/" + full
			}
			if !filepath.IsAbs(full) || !ordinary(p, full, closed.Whole) {
				return false
			}
		}
	}
	return closed.Reads || len(c.Dirs) > 0
}

// ordinary reports whether edits mode would allow writing a file. Links in full are already resolved. whole also allows
// the workspace folder itself.
func ordinary(p Policy, full string, whole bool) bool {
	if p.Resolve != nil {
		full = p.Resolve(full)
	} else if slices.Contains(strings.Split(full, "/"), "..") {
		return false
	}
	full = filepath.Clean(full)
	return whole && full == p.Workspace || p.editable(action.Action{Kind: action.FileWrite, Path: full})
}

// covered reports whether the command fits the shape of the allow rule r.
func covered(p Policy, r action.Rule, c shell.Command) bool {
	switch r.Shape {
	case action.AnyWords:
		return true
	case action.Exactly:
		same := len(c.Argv) == len(r.Prefix) && (r.Folder == "" || len(c.Dirs) == 1 && filepath.Clean(c.Dirs[0]) == r.Folder)
		return same && c.Argv[0].Text == r.Prefix[0] && !slices.ContainsFunc(c.Argv, func(w shell.Arg) bool { return w.Pattern || w.Odd })
	case action.Closed:
		closed, ok := c.Shape()
		return ok && slices.Equal(closed.Prefix, r.Prefix) && within(p, closed, c)
	}
	return false
}
