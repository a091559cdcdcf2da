// Package compose builds a session from the command line and the settings: its model, tools, targets and features.
//
//	d, err := compose.NewDestination(options)
//	p, err := compose.New(options, d, "")
//	events, err := p.Begin(ctx)
//	defer p.Close(os.Stderr)
package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/blocks"
	"buddy/agent/model/demo"
	"buddy/agent/model/limits"
	"buddy/agent/policy"
	"buddy/agent/prompt"
	"buddy/agent/redact"
	"buddy/agent/reminder"
	"buddy/agent/turn"
	"buddy/app/exit"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/app/version"
	"buddy/config"
	"buddy/extensions/skill"
	"buddy/features"
	"buddy/features/feature"
	"buddy/features/files"
	"buddy/features/lsp"
	"buddy/features/mcp"
	"buddy/features/memory"
	"buddy/features/skills"
	"buddy/features/workflow"
	"buddy/sessions"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/target"
	"buddy/tools/toolset"
	"buddy/views/markup"
)

const (
	demoPace = 12 * time.Millisecond // between two words of the demo

	// CloseTime limits how long the program waits for a running command when it ends.
	CloseTime = 10 * time.Second
)

// Program holds everything that runs behind the full screen, plain mode or exec.
type Program struct {
	Setup
	Live      deferredRuntime
	Options   agent.Options // of the runtime
	Journal   *journal
	Dest      *Destination       // where the session starts
	Env       target.Environment // of Dest
	Targets   *target.Set        // Dest and the other targets
	Servers   *mcp.Servers       // MCP servers
	Checks    *lsp.Clients       // language servers
	Skills    *skills.Book       // skills and custom commands
	Workflows *workflow.Part
	Parts     map[*feature.Feature]turn.Part // the parts of the features in [features.All], by feature
	inside    inside                         // sandbox of programs that the session starts itself
	files     *project.Extensions            // of skills, commands and styles
	plan      *file.Plan                     // the session's plan, shared by all targets
	withheld  []string                       // names of variables that commands do not get

	tmuxNames map[string]string // of earlier processes' tmux sessions, by target

	memory    memory.Part
	ofProject []event.Event // the last notices about parts of the project
}

// New builds a session's program without the runtime, which Begin makes. The caller closes the program, then d. resume
// is "" for a new session, a session's id, the start of an id, or "last".
func New(f *Options, d *Destination, resume string) (*Program, error) {
	p := &Program{Dest: d}
	var err error
	if p.Setup, err = NewSetup(f, d.Name, resume); err != nil {
		return nil, err
	}
	m, secrets, err := p.chooseModel(f)
	if err != nil {
		return nil, err
	}
	if err := p.openSession(f, resume != "", m.Info()); err != nil {
		return nil, err
	}
	judge, err := p.openTargets(f)
	if err != nil {
		return nil, errors.Join(err, p.Journal.close())
	}
	mode, err := p.startMode(f, judge, resume != "")
	if err != nil {
		return nil, errors.Join(err, p.Journal.close())
	}
	first := p.Targets.First()
	deferred := tools.NewDeferred()
	secret := redact.New(append(secrets, p.serverSecrets()...)...)
	servers, err := p.newServers(deferred, secret)
	if err != nil {
		return nil, errors.Join(err, p.Journal.close())
	}
	p.Servers = servers
	p.Checks = p.newChecks(deferred)
	p.files = project.NewExtensions(first.Files, p.Dest.Name == slash.ThisMachine)
	p.files.Plugins = p.Project().PluginTexts
	p.Workflows = workflow.Of(p.files, p.Targets, WorkflowTools(), p.Config.Project.Dir, p.Config.UI.SuggestWorkflows && !f.Headless, strings.EqualFold(p.Env.OS, "darwin"))
	p.Skills = skills.Of(&p.Config, p.files, skill.Facts{Project: p.Env.Dir, Session: p.ID})
	parts := p.newParts(f, &judge, feature.Session{
		Config: &p.Config, ID: p.ID, Dir: p.dir(), Attended: !f.Headless, Publish: p.Live.Publish,
		Target: d.Name, Files: first.Files, Folders: append([]string{first.Files.Root()}, p.Env.Also...), Store: p.Store, Redact: secret,
	})
	WorktreeStarted(f)
	chosen := p.chooseStyle()
	prompts := promptBuilder{
		facts: prompt.Facts{
			OS: p.Env.OS, Shell: cmp.Or(p.Config.Tools.ShellName(), p.Env.Shell), Cwd: p.Env.Dir, Also: p.Env.Also, Target: d.Name, Targets: promptTargets(p.Targets),
			Instead: p.Config.Agent.SystemPrompt, Extra: p.Config.Agent.AppendPrompt,
			Style: chosen.Text, StyleOnly: !chosen.KeepsCoding,
		},
		tools: tools.NewRegistry(toolset.New(p.Targets, webClient(p.Config.Tools.Search), deferred)...).Without(toolset.Unlisted...).Off("[tools] off", toolset.Expand(p.Config.Tools.Off)...).Off("[memory] enabled, observe", p.memory.Unoffered()...),
	}
	system, registry := prompts.forModel(m.Info())
	c := p.Config
	p.Options = agent.Options{
		Session: p.ID, Cleared: f.Cleared, Version: version.Number, Model: m, Models: p.modelOf, Small: p.small(f), Tools: registry, System: system,
		Mode: mode, ModeAsked: f.Approve != "", Policy: judge, Journal: p.Journal,
		Limits: c.Agent.Limits, Calls: c.Tools.Calls, Context: c.Context,
		Agents: p.agents(prompts.facts, secret),
		Places: agent.Places{
			Cwd: p.Env.Dir, Target: d.Name, Targets: p.Targets, Panes: managedPanes{p.Targets}, Files: p.filesOn, Readers: p.Targets, OutDir: p.Store.OutDir(p.ID),
		},
		Prompts: agent.Prompts{
			Breakpoints: c.Context.Cache.Breakpoints(),
			Here:        prompt.Here(prompts.facts), Told: prompts.forModel, Dates: time.Local,
			Instructions: p.memory.After(p.instructions(first.Files)), InstructionsOf: p.instructionsOf(first.Files),
			Memory: agent.Memory{Report: p.memory.Report, Told: p.memory.Told},
		},
		Secrets: agent.Secrets{Redact: secret, Keys: knownKeys(c), Withheld: p.withheld},
		Features: turn.Features{
			Programs: p.hooks(judge, secret), Reminders: newReminders(p.Targets, c.Reminders.Off, p.memory.Generator(), reminder.Repeated(c.Reminders.Critical)),
			Parts: parts,
		},
	}
	return p, nil
}

// newParts makes the feature parts of a session. Some of them add to the facts that the policy has about targets.
func (p *Program) newParts(f *Options, judge *policy.Policy, s feature.Session) (all []turn.Part) {
	all = mcp.Parts(p.Servers, p.serversElsewhere)
	p.Parts = map[*feature.Feature]turn.Part{mcp.Feature: all[0], skills.Feature: p.Skills, workflow.Feature: p.Workflows}
	all = append(all, p.Skills, p.Workflows) // an interrupted workflow run resumes before a goal does
	for _, one := range features.All {
		if one.Part == nil {
			continue
		}
		if part := one.Part(s); part != nil {
			p.Parts[one] = part
			all = append(all, part)
		}
	}
	all = append(all, files.Part(p.Targets), lsp.Part(p.Checks))
	if part := p.tryFirst(f, s.Target); part != nil {
		all = append(all, part)
	}
	for _, part := range all {
		if knows, ok := part.(interface {
			Facts(at func(target string) policy.Target) func(target string) policy.Target
		}); ok {
			judge.At = knows.Facts(judge.At)
		}
	}
	p.memory, _ = p.Parts[memory.Feature].(memory.Part)
	return all
}

// chooseModel returns the configured model, and all API keys because the user may switch models. Without a model it
// returns the demo, or an error in a run without a screen, where nobody would notice the demo.
func (p *Program) chooseModel(f *Options) (m model.Model, secrets []string, err error) {
	c := p.Config
	secrets = c.Secrets()
	none := c.Problem != "" && (c.Active == nil || c.Active.Bundled())
	switch {
	case none && f.Headless && !f.Modelless:
		return nil, nil, exit.Error{Code: exit.Failed, Text: NoModel(f, c)}
	case none && f.Modelless, c.Active == nil:
		return demo.New(demoPace), secrets, nil
	}
	if other, ok := c.Lookup(c.Agent.FallbackModel); ok {
		if _, _, err = other.Key(); err != nil {
			p.note("the fallback_model can't be used: " + err.Error())
		}
	}
	if m, err = p.dependable(*c.Active); err != nil {
		return nil, nil, exit.Mistake(err)
	}
	if c.Active.Calls != config.Blocks {
		p.note(blocks.Line(m.Info()))
	}
	if other, ok := c.Profile(c.Agent.SmallModel); ok {
		if key, _, err := other.Key(); err == nil { // without a key there is no title
			secrets = append(secrets, key)
		}
	}
	return m, secrets, nil
}

// contextWindow returns the context window of a profile's model in tokens: the profile's own, else the documented one;
// 0 if unknown.
func contextWindow(profile config.Profile) int {
	if profile.ContextLimit > 0 {
		return profile.ContextLimit
	}
	tokens, _ := limits.Window(profile.Model)
	return tokens
}

// modelOf returns the model of the named profile, to switch to it.
func (p *Program) modelOf(name, effort string) (model.Model, error) {
	if name == config.Demo {
		return demo.New(demoPace), nil
	}
	profile, ok := p.Config.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("unknown model %q (have: %s; /model lists all models)", name, strings.Join(p.profiles(), ", "))
	}
	if problem := profile.Problem(); problem != "" && profile.Bundled() {
		return nil, errors.New(problem)
	}
	if effort != "" {
		profile.Effort = effort
	}
	return p.dependable(profile)
}

// profiles returns the names of all models.
func (p *Program) profiles() []string {
	var all []string
	for _, m := range p.Config.Models {
		all = append(all, m.Name)
	}
	return append(all, config.Demo)
}

// openSession creates a session, or opens the one to resume.
func (p *Program) openSession(f *Options, resume bool, m model.Info) error {
	if !resume {
		if err := p.look(cmp.Or(f.Dir, p.Dest.Cwd)); err != nil {
			return err
		}
		header := sessions.Header{Cwd: p.Env.Dir, Target: p.Dest.Name, Model: m.Model}
		header.ID = p.ID
		if f.Headless {
			header.By = sessions.Exec
		}
		if err := sessions.KeyProblem(p.Store); err != nil {
			p.note("the session can't be resumed later, because " + err.Error())
		}
		p.Journal = &journal{create: func() (*sessions.Journal, error) { return p.Store.Create(header) }}
		return nil
	}
	j, err := p.Store.Open(p.ID)
	if err != nil {
		return exit.Failure(err)
	}
	head := j.Info().Header
	if err := fits(p.Dest.Name, head, f.Headless); err != nil {
		_ = j.Close()
		return err
	}
	dir := head.Cwd
	if f.Dir != "" {
		dir = f.Dir
	} else if here, err := os.Getwd(); err == nil && p.Dest.Name == slash.ThisMachine && gone(dir) {
		p.note(fmt.Sprintf("this session's folder %s no longer exists: the session continues in %s", dir, here))
		dir = here
	}
	if err := p.look(dir); err != nil {
		_ = j.Close()
		return err
	}
	for _, w := range j.Info().Warnings {
		p.note(w)
	}
	p.Journal = &journal{file: j}
	return nil
}

// gone reports whether a path does not exist.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// look reads the environment of commands on the first target.
func (p *Program) look(dir string) (err error) {
	p.Env, err = p.Dest.Look(context.Background(), dir)
	return exit.Failure(err)
}

// Close ends the session, and prints which commands keep running and how to reach them.
func (p *Program) Close(stderr io.Writer) { p.End(stderr, stderr) }

// End is Close with separate writers for errors and messages. It reports whether the whole session is stored.
func (p *Program) End(stderr, out io.Writer) (stored bool) {
	ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
	defer cancel()
	report := func(err error) {
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "buddy: "+markup.Plain(err.Error()))
		}
	}
	if rt := p.Live.end(); rt != nil {
		report(rt.Close(ctx))
	}
	p.memory.Flush(ctx)
	p.Servers.Close()
	p.Checks.Close()
	report(p.inside.close())
	runs := p.closeTargets(ctx, out)
	err := p.Journal.close()
	report(err)
	leaveWorktree(ctx, p, out, !runs)
	return err == nil
}

// Finish is End with one writer; with kill it first ends background tasks and everything in managed panes.
func (p *Program) Finish(out io.Writer, kill bool) (stored bool) {
	if kill {
		if rt := p.Live.runtime(); rt != nil {
			ending, cancel := context.WithTimeout(context.Background(), CloseTime/2)
			agent.EndBackground(ending, rt)
			cancel()
		}
		ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
		defer cancel()
		if err := p.Targets.KillPanes(ctx); err != nil {
			_, _ = fmt.Fprintln(out, "buddy: "+markup.Plain(err.Error()))
		}
	}
	return p.End(out, out)
}
