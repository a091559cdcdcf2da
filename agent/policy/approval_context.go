package policy

import (
	"cmp"
	"fmt"
	"slices"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// Context returns the facts that the user needs before approving an action. They depend only on the action and the
// policy, so the same action always has the same text.
func (p Policy) Context(a action.Action, mode action.Mode) action.ApprovalContext {
	return p.context(a, p.strictest(a, mode))
}

func (p Policy) context(whole action.Action, j judgement) action.ApprovalContext {
	everywhere := p
	p, a, v, report := j.on, j.action, j.verdict, j.report
	c := action.ApprovalContext{Why: v.Reason, Rule: v.Rule, Risk: action.Low, Reversible: true}
	describe(&c, p, a, report)
	c.Effect, c.Because, c.Production = effectOf(p, a, report), because(p, a, report, v), p.guarded
	if isCommand(a.Kind) {
		c.Kept = p.kept(a)
		setLosses(&c, everywhere.losses(whole, report))
		setUndo(&c, p, report)
		c.Outside = j.mode == action.ModeAuto && a.Outside && fenced(p)
		c.Try = tries(whole, j)
	}
	if a.Privesc {
		note(&c, action.High, "", "it runs with elevated privileges")
	}
	c.Risk = higher(c.Risk, a.Risk)
	advise(&c, a, report)
	if v.Decision == action.Deny && report.Safer != "" {
		c.Alternatives = append(c.Alternatives, report.Safer)
	}
	if n := len(whole.Targets); n > 0 {
		note(&c, action.Low, "", fmt.Sprintf("it runs on %d machines at once", n))
	}
	setSimilar(&c, everywhere, whole, j)
	return c
}

// describe adds the facts that depend only on the action's kind and on the commands in report.
func describe(c *action.ApprovalContext, p Policy, a action.Action, report shell.Report) {
	switch a.Kind {
	case action.Shell, action.Git, action.PaneKeys:
		commandContext(c, report)
		if a.Kind == action.PaneKeys {
			note(c, action.Medium, "", "whatever program runs in the pane gets the text")
			c.Reversible = false
		}
	case action.FileRead, action.FileWrite, action.FileDelete:
		p.fileContext(c, a)
	case action.Network, action.Browser:
		networkContext(c, a)
	case action.Connect:
		connectContext(c)
	default:
		otherContext(c, a)
	}
}

// setSimilar describes the rules that "allow similar" would add, with examples. p is the policy for all targets, and j
// the judgement of a.
func setSimilar(c *action.ApprovalContext, p Policy, a action.Action, j judgement) {
	if a.Kind == action.Connect {
		c.Similar = offer(p, a, j.mode)
		return
	}
	if r, ok := j.on.similar(a, j.report, j.mode); ok {
		c.Similar = r.Offer(j.action.Cwd, j.on.Workspace)
		c.Passes, c.Stops = examples(j.on, r, a, j.report)
		c.Exact = isCommand(a.Kind) && r.Shape == action.Exactly
	}
}

// setLosses sets the work that would be lost; the first loss becomes the effect of the action.
func setLosses(c *action.ApprovalContext, lost []action.Effect) {
	for _, e := range lost {
		c.Loses = append(c.Loses, e.Text())
	}
	if len(lost) > 0 {
		c.Effect = lost[0]
	}
}

// setUndo names /undo as the way to undo a command that may write files, unless c already has a better one.
func setUndo(c *action.ApprovalContext, p Policy, report shell.Report) {
	writes := slices.ContainsFunc(report.Commands, func(cmd shell.Command) bool {
		return !cmd.ReadOnly && slices.Contains([]shell.Effect{shell.Unknown, shell.Writes, shell.RunsCode, shell.Deletes}, cmd.Effect)
	})
	if writes && c.Undo == "" && !c.Effect.Final && p.Undoes != nil && p.Undoes(p.Workspace) {
		c.Undo, c.Reversible = "/undo puts back files in this folder, but not ignored or very large files, other folders, services or git branches", true
	}
}

// networkContext describes a request to another machine.
func networkContext(c *action.ApprovalContext, a action.Action) {
	note(c, action.Medium, "", cmp.Or(a.Host, "another machine")+" sees the request and its contents")
	if a.Method != "" && a.Method != "GET" && a.Method != "HEAD" {
		note(c, action.High, "", "the request may change something there")
	}
	c.Reversible = false
}

// Free describes which commands need no approval on a target, and how the target is protected from them.
func (p Policy) Free(target string) string {
	if p.on(action.Action{Target: target}).Confined {
		return "read-only commands run without asking: the kernel keeps them from changing or sending anything"
	}
	return "only a few read-only commands run without asking: there is no read-only sandbox here"
}

// kept describes in two sentences how commands on the target are restricted: those that run without approval, and this
// action once it is approved, which may have asked to run outside the sandbox.
func (p Policy) kept(a action.Action) []string {
	in := ""
	if a.Cwd != "" {
		in = " in " + visible(a.Cwd)
	}
	this := "Once approved, it runs" + in + " with your full permissions."
	if p.Boxed && !a.Outside {
		this = "Once approved, it runs" + in + ", in the sandbox: it can write only to this folder and reach only the hosts in [sandbox] of the settings."
	}
	if !p.Confined {
		return []string{"Only a few read-only commands run without asking: there is no read-only sandbox here.", this}
	}
	return []string{"Read-only commands run in a sandbox without asking. This one isn't known to be read-only.", this}
}

func (p Policy) fileContext(c *action.ApprovalContext, a action.Action) {
	switch a.Kind {
	case action.FileRead:
		note(c, action.Low, "", "the model sees the contents of the file")
		if keysOf(p, "").secret(a.Path) != "" {
			note(c, action.High, "", "a secret that the model sees is sent to its provider")
			c.Reversible = false
			c.Alternatives = append(c.Alternatives, "give the model only the value that it needs, or a made-up one")
		}
	case action.FileWrite:
		note(c, action.Medium, "/undo restores the old content, unless the file is too large to copy")
		switch why, rule := delicateFile(a); {
		case rule == executedRule:
			note(c, action.Medium, "", why)
		case why != "" || p.protectedReason(a.Path) != "":
			note(c, action.High, "")
		}
	default:
		note(c, action.High, "", "the file is gone unless git or a backup has it")
		c.Reversible = false
		c.Alternatives = append(c.Alternatives, "move it somewhere else instead")
	}
}

// otherContext describes an action that is not a command, a file action or a request.
func otherContext(c *action.ApprovalContext, a action.Action) {
	switch a.Kind {
	case action.PlanFile:
		note(c, action.Low, "", "the content shown becomes the session's plan")
	case action.EnterPlan:
		note(c, action.Low, "/approve changes the mode again", "nothing else changes until you approve a plan")
	default:
		note(c, action.Medium, "", "buddy can't check what happens")
		c.Reversible = false
	}
}

// note raises c's risk to at least risk, sets how to undo the action unless c already says so, and adds consequences.
func note(c *action.ApprovalContext, risk action.Risk, undo string, consequences ...string) {
	c.Risk = higher(c.Risk, risk)
	if undo != "" && c.Undo == "" {
		c.Undo = undo
	}
	for _, s := range consequences {
		if s != "" && !slices.Contains(c.Consequences, s) {
			c.Consequences = append(c.Consequences, s)
		}
	}
}

func higher(a, b action.Risk) action.Risk {
	if later([]action.Risk{action.Low, action.Medium, action.High}, b, a) {
		return b
	}
	return a
}

// outcome holds a command's risk, whether its effect can be undone, and what the effect means for the user.
type outcome struct {
	risk       action.Risk
	reversible bool
	meaning    string
}

// outcomeOf returns the outcome of a command's effect, or of its kind where that is more specific.
func outcomeOf(cmd shell.Command) outcome {
	o := outcomes[cmd.Effect]
	k, ok := kinds[cmd.Kind]
	switch {
	case ok && (cmd.Effect == shell.Unknown || cmd.Effect == shell.Network):
		return outcome{k.risk, k.examines, k.meaning}
	case ok && !k.examines:
		o.risk, o.meaning = higher(o.risk, k.risk), k.meaning
	}
	return o
}

// outcomes maps the effects of commands to their outcomes.
var outcomes = map[shell.Effect]outcome{
	shell.Unknown:    {action.Medium, false, "buddy doesn't know what it does"},
	shell.Writes:     {action.Medium, false, "it changes files or settings"},
	shell.Network:    {action.Medium, false, "it sends data to another machine or gets data from there"},
	shell.RunsCode:   {action.Medium, false, "it runs code that buddy can't check"},
	shell.Deletes:    {action.High, false, "anything it deletes or ends is gone for good unless you have a copy"},
	shell.Remote:     {action.High, false, "it changes another machine or a shared service"},
	shell.Privileged: {action.High, false, "it runs with elevated privileges"},
}

// kinds maps the kinds of commands to their risk and meaning. examines marks kinds that only inspect something: an
// unknown effect or network access of such a command leaves nothing to undo, and for any other effect the outcome of
// the effect counts alone.
var kinds = map[shell.Kind]struct {
	risk     action.Risk
	examines bool
	meaning  string
}{
	shell.SecurityScan:  {action.Low, true, "a scanner examines files, and may get rules from the network, send findings there or run the build"},
	shell.VulnLookup:    {action.Low, true, "the names and versions of packages are sent to a service"},
	shell.Compliance:    {action.Low, true, "it examines files or settings and reports what breaks a rule"},
	shell.Inference:     {action.Medium, false, "a model may need many GB of disk and memory, and its files come from the network"},
	shell.Training:      {action.Medium, false, "it runs the training code, which may take hours, fill the disk and cost money"},
	shell.DataPipeline:  {action.Medium, false, "it runs the code of a pipeline, which reads and changes data elsewhere"},
	shell.GUIAutomation: {action.High, false, "it acts with your rights on whatever is on the screen"},
}

// undos maps commands to instructions for undoing them.
var undos = map[string]string{
	"git commit": "git reset --soft HEAD~1", "git commit --amend": "git reset --soft HEAD@{1}", "git branch -d": "recreate the branch at the commit that git printed", "git tag -d": "recreate the tag at the commit that git printed", "git add": "git restore --staged the files", "git stash": "git stash pop", "git merge": "git merge --abort, or git reset --hard ORIG_HEAD",
	"git rebase": "git reset --hard ORIG_HEAD", "git switch": "git switch -", "git checkout": "git checkout - returns to the branch, but doesn't restore files", "git branch": "git branch -D, or -m back",
	"git tag": "git tag -d the tag", "git revert": "git revert the new commit", "git cherry-pick": "git reset --hard ORIG_HEAD", "git mv": "git mv back", "mkdir": "rmdir the folder", "mv": "mv it back, unless it replaced a file",
	"touch": "rm the file if it is new", "ln": "rm the link", "chmod": "chmod back to the old permissions", "go build": "rm the program", "npm install": "git restore the package files and install again",
	"docker stop": "docker start", "systemctl stop": "systemctl start the unit", "systemctl start": "systemctl stop the unit", "systemctl enable": "systemctl disable the unit", "systemctl disable": "systemctl enable the unit", "git reset": "git reset to the commit that git reflog shows",
}

// gentler maps commands to less harmful alternatives.
var gentler = map[string]string{
	"rm": "move the files somewhere else instead", "git push": "git push --dry-run shows what it would do", "git clean": "git clean -n shows what it would delete", "git reset": "git stash keeps the changes",
	"rsync": "rsync -n shows what it would do", "terraform apply": "terraform plan shows what it would do", "kubectl delete": "kubectl get lists the objects", "kubectl apply": "kubectl diff shows what would change",
	"sed": "sed without -i shows the result", "apt": "apt -s shows what it would do", "npm install": "npm ls lists the installed packages", "make": "read the makefile's rule first", "curl": "the fetch_url tool requests one address only", "systemctl restart": "systemctl reload keeps connections if the service can",
	"find": "the same find without the action lists the files it would affect", "git checkout": "git switch changes branches only", "kill": "ask the service to stop first", "docker rm": "docker stop keeps the container",
}

// undoGit returns how to undo a git command, or "" if it can't be undone. most is the general instruction for the
// subcommand, for acts without one of their own in undos.
func undoGit(act *shell.GitAct, most string) string {
	switch act.Kind {
	case shell.GitLoses, shell.GitReplaces, shell.GitRuns:
		if act.Name != "git checkout" {
			return ""
		}
	}
	return cmp.Or(undos[act.Name], most)
}

func commandContext(c *action.ApprovalContext, report shell.Report) {
	for _, cmd := range report.Commands {
		if cmd.ReadOnly {
			continue
		}
		o := outcomeOf(cmd)
		c.Risk = higher(c.Risk, o.risk)
		two := cmd.Name()
		if len(cmd.Argv) > 1 {
			two += " " + cmd.Argv[1].Text
		}
		undo := cmp.Or(undos[two], undos[cmd.Name()])
		if cmd.Git != nil {
			undo = undoGit(cmd.Git, undo)
		}
		c.Reversible = c.Reversible && (o.reversible || undo != "")
		note(c, action.Low, undo, o.meaning)
		if other := cmp.Or(gentler[two], gentler[cmd.Name()]); other != "" && !slices.Contains(c.Alternatives, other) {
			c.Alternatives = append(c.Alternatives, other)
		}
	}
	for _, other := range report.Other {
		note(c, action.Medium, "", other)
		c.Reversible = false
	}
	if report.Dynamic && !report.ReadOnly {
		note(c, action.Medium, "", "a part of it is known only when it runs")
	}
	if report.Harm != "" {
		note(c, action.High, "", report.Harm)
		c.Reversible = false
	}
	if !c.Reversible {
		c.Undo = ""
	}
}
