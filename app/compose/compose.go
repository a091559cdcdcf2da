// Package compose puts a session together from what the command line and the settings say.
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
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"buddy/agent"
	"buddy/agent/model"
	"buddy/agent/model/demo"
	"buddy/agent/model/limits"
	"buddy/agent/prompt"
	"buddy/agent/redact"
	"buddy/app/exit"
	"buddy/app/version"
	"buddy/config"
	"buddy/sessions"
	"buddy/tools"
	"buddy/tools/target"
	"buddy/tools/toolset"
	"buddy/tools/web"
	"buddy/views/markup"
)

const (
	demoPace = 12 * time.Millisecond // between two words of the demo

	// CloseTime is how long the program waits for a running command when it ends.
	CloseTime = 10 * time.Second
)

// Program is everything that runs behind a screen or a line, put together.
type Program struct {
	Live     live
	Options  agent.Options // of the runtime
	ID       string
	Store    sessions.Store
	Journal  *journal
	Dest     *Destination       // where the session begins
	Env      target.Environment // of that
	Targets  *target.Set        // that and the others
	Tail     sessions.Part      // the end of the session, when it is resumed
	Notices  []string           // to be said once the program runs
	Config   config.Config
	Index    config.Index // where each setting is
	withheld []string     // names of variables that commands do not get
	Problem  string       // why the configured model can't be used, or that there is none
}

// New builds the program on a target, which the caller closes after it, up to its
// runtime, which begin makes. resume is "", an id, the beginning of one, or "last".
func New(f *Options, d *Destination, resume string) (*Program, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("working directory: %v", err)}
	}
	p := &Program{Dest: d}
	var notice string
	if p.Store, notice, err = sessions.Dir(cwd); err != nil {
		return nil, exit.Failure(err)
	}
	p.note(notice)
	m, secrets, err := p.chooseModel(f)
	if err != nil {
		return nil, err
	}
	if err := p.openSession(f, resume, m.Info()); err != nil {
		return nil, err
	}
	judge, err := p.openTargets(f)
	if err != nil {
		return nil, errors.Join(err, p.Journal.close())
	}
	first := p.Targets.First()
	told := telling{
		facts: prompt.Facts{
			OS: p.Env.OS, Shell: cmp.Or(p.Config.Tools.ShellName(), p.Env.Shell), Cwd: p.Env.Dir, Also: p.Env.Also, Target: d.Name, Targets: promptTargets(p.Targets),
			Instead: p.Config.Agent.SystemPrompt, Extra: p.Config.Agent.AppendPrompt,
		},
		tools: tools.NewRegistry(toolset.New(p.Targets, web.NewClient(web.Options{Hits: p.Config.Tools.Hits, Proxy: httpproxy.FromEnvironment().ProxyFunc()}), nil)...).Without(toolset.Unlisted...).Off(toolset.Expand(p.Config.Tools.Off)...),
	}
	system, registry, err := told.to(m.Info())
	if err != nil {
		return nil, errors.Join(exit.Failure(err), p.Journal.close())
	}
	p.Options = agent.Options{
		Session: p.ID, Version: version.Number, Cwd: p.Env.Dir, Target: d.Name, Model: m, Models: p.modelOf, Tools: registry, System: system, Told: told.to,
		Instructions: p.instructions(first.Files), InstructionsOf: p.instructionsOf(first.Files), Small: p.small(f),
		Dates: time.Local, MaxTurns: p.Config.Agent.MaxIterations, MaxCost: model.Money(p.Config.Agent.MaxCost),
		Page: p.Config.Tools.Page, ToolTimeout: time.Duration(p.Config.Tools.Timeout) * time.Second, Context: contextOf(p.Config.Context), Mode: f.mode(p.Config), Policy: judge,
		Redact: redact.New(secrets...), Withheld: p.withheld,
		Reminders: agent.NewReminders(p.Targets.ChangedFiles, first.Shell.Screens),
		Journal:   p.Journal, Panes: managedPanes{p.Targets}, Targets: p.Targets, Files: p.filesOn, OutDir: p.Store.OutDir(p.ID),
	}
	return p, nil
}

func contextOf(c config.Context) agent.Context {
	return agent.Context{
		Strategy: agent.Strategy(c.Strategy), Hint: c.HintAt, Warn: c.WarnAt, Critical: c.CriticalAt,
		Compact: c.CompactAt, Hard: c.HardAt, Target: c.CompactTo, Manual: c.ManualTo, Tail: c.Keep,
		Messages: c.KeepMessages, Restore: agent.Restore(c.Restore), Memory: c.RestoreTokens,
	}
}

func (p *Program) note(text string) {
	if text != "" {
		p.Notices = append(p.Notices, text)
	}
}

// chooseModel returns the model that the configuration means, and all keys that there are:
// the person may change to another model. Without one it is the demo; line mode, where nobody would see that it is, refuses.
func (p *Program) chooseModel(f *Options) (m model.Model, secrets []string, err error) {
	c, index, notices, err := LoadConfig(f)
	if err != nil {
		return nil, nil, err
	}
	p.Config, p.Index = c, index
	f.Log.secrets(c.Secrets())
	p.Notices = append(p.Notices, notices...)
	if c.MissingFile != "" {
		if _, err := config.WriteTemplate(c.MissingFile); err != nil {
			p.note(err.Error())
		}
	}
	p.Problem, secrets = c.Problem, c.Secrets()
	if c.Problem != "" && f.Headless && (c.Active == nil || c.Active.Bundled()) {
		return nil, nil, exit.Error{Code: exit.Failed, Text: c.Problem}
	}
	if c.Active == nil {
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
	if other, ok := c.Profile(c.Agent.SmallModel); ok {
		if key, _, err := other.Key(); err == nil { // else there will be no title
			secrets = append(secrets, key)
		}
	}
	return m, secrets, nil
}

// contextWindow returns how many tokens the model of a profile takes in: what the profile says,
// else what is documented, 0 when neither is known.
func contextWindow(profile config.Profile) int {
	if profile.ContextLimit > 0 {
		return profile.ContextLimit
	}
	tokens, _ := limits.Window(profile.Model)
	return tokens
}

// modelOf returns the model of a profile by name, for switching.
func (p *Program) modelOf(name, effort string) (model.Model, error) {
	if name == config.Demo {
		return demo.New(demoPace), nil
	}
	profile, ok := p.Config.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("unknown model %q (have: %s; /model lists them all)", name, strings.Join(p.profiles(), ", "))
	}
	if problem := profile.Problem(); problem != "" && profile.Bundled() {
		return nil, errors.New(problem)
	}
	if effort != "" {
		profile.Effort = effort
	}
	return p.dependable(profile)
}

// profiles names the models that there are.
func (p *Program) profiles() []string {
	var all []string
	for _, m := range p.Config.Models {
		all = append(all, m.Name)
	}
	return append(all, config.Demo)
}

// firstEvents is how many events the first frame of a stored session is drawn from.
const firstEvents = 200

// openSession makes a new session or opens the one to go on with.
func (p *Program) openSession(f *Options, resume string, m model.Info) error {
	if resume == "" {
		if err := p.look(cmp.Or(f.Dir, p.Dest.Cwd)); err != nil {
			return err
		}
		header := sessions.Header{Cwd: p.Env.Dir, Target: p.Dest.Name, Model: m.Model}
		p.ID = sessions.NewID()
		header.ID = p.ID
		p.Journal = &journal{create: func() (*sessions.Journal, error) { return p.Store.Create(header) }}
		return nil
	}
	id, err := FindSession(p.Store, resume)
	if err != nil {
		return exit.Failure(err)
	}
	j, err := p.Store.Open(id)
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
	}
	if err := p.look(dir); err != nil {
		_ = j.Close()
		return err
	}
	for _, w := range j.Info().Warnings {
		p.note(w)
	}
	if p.Tail, err = j.Tail(firstEvents); err != nil {
		_ = j.Close()
		return exit.Failure(err)
	}
	p.ID = id
	p.Journal = &journal{file: j}
	return nil
}

// FindSession returns the id of a session that somebody means: the beginning of an id, or last.
func FindSession(store sessions.Store, resume string) (string, error) {
	if resume != "last" {
		return store.Find(resume)
	}
	last, err := store.Last()
	return last.ID, err
}

// findHere is find for sessions that this program can go on with.
func (p *Program) findHere(resume string) (string, error) {
	id, err := FindSession(p.Store, resume)
	if err != nil {
		return "", err
	}
	entries, err := p.Store.List()
	if i := slices.IndexFunc(entries, func(e sessions.Entry) bool { return e.ID == id }); i >= 0 {
		err = fits(p.Dest.Name, entries[i].Header, false)
	}
	return id, err
}

// look finds out where commands will start.
func (p *Program) look(dir string) (err error) {
	p.Env, err = p.Dest.Look(dir)
	return exit.Failure(err)
}

// Close ends everything, says what stays behind, and how to get to it.
func (p *Program) Close(stderr io.Writer) { p.End(stderr, stderr) }

// End is close with a place for errors and one for the rest. It reports whether all of the session
// is stored.
func (p *Program) End(stderr, said io.Writer) (stored bool) {
	ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
	defer cancel()
	say := func(err error) {
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "buddy: "+markup.Plain(err.Error()))
		}
	}
	if rt := p.Live.end(); rt != nil {
		say(rt.Close(ctx))
	}
	p.closeTargets(ctx, said)
	err := p.Journal.close()
	say(err)
	return err == nil
}

// Finish is close, before which what runs in panes of its own is killed if that is wanted.
func (p *Program) Finish(said io.Writer, kill bool) {
	if kill {
		ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
		defer cancel()
		if err := p.Targets.KillPanes(ctx); err != nil {
			_, _ = fmt.Fprintln(said, "buddy: "+markup.Plain(err.Error()))
		}
	}
	p.Close(said)
}
