package app

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

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/agent/model/demo"
	"buddy/agent/model/limits"
	"buddy/agent/policy"
	"buddy/agent/prompt"
	"buddy/agent/redact"
	"buddy/config"
	"buddy/sessions"
	"buddy/tools"
	"buddy/tools/target"
	"buddy/tools/toolset"
	"buddy/tools/web"
	"buddy/views/markup"
)

const (
	demoPace  = 12 * time.Millisecond // between two words of the demo
	closeTime = 10 * time.Second      // that a running command has to end when the program does
)

// program is everything that runs behind a screen or a line, put together.
type program struct {
	live     live
	options  agent.Options // of the runtime
	id       string
	store    sessions.Store
	journal  *journal
	dest     *destination       // where the session begins
	env      target.Environment // of that
	targets  *target.Set        // that and the others
	tail     sessions.Part      // the end of the session, when it is resumed
	notices  []string           // to be said once the program runs
	config   config.Config
	index    config.Index // where each setting is
	withheld []string     // names of variables that commands do not get
	problem  string       // why the configured model can't be used, or that there is none
}

// compose builds the program on a target, which the caller closes after it, up to its
// runtime, which begin makes. resume is "", an id, the beginning of one, or "last".
func compose(f *flags, d *destination, resume string, mode action.Mode) (*program, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, exit{code: exitFailed, text: fmt.Sprintf("working directory: %v", err)}
	}
	p := &program{dest: d}
	var notice string
	if p.store, notice, err = sessions.Dir(cwd); err != nil {
		return nil, failed(err)
	}
	p.note(notice)
	m, secrets, err := p.chooseModel(f)
	if err != nil {
		return nil, err
	}
	if err := p.openSession(f, resume, m.Info()); err != nil {
		return nil, err
	}
	if err := d.needTmux(f, p.env); err != nil {
		return nil, errors.Join(err, p.journal.close())
	}
	if p.env.Also, err = d.folders(f.also); err != nil {
		return nil, errors.Join(err, p.journal.close())
	}
	if err := p.openTargets(f, d, p.env); err != nil {
		return nil, errors.Join(err, p.journal.close())
	}
	first := p.targets.First()
	judge, err := newPolicy(policy.Policy{Workspace: first.Files.Root(), At: p.targets.Facts, Shell: p.config.Tools.ShellName()}, p.config)
	if err != nil {
		return nil, err
	}
	told := telling{
		facts: prompt.Facts{
			OS: p.env.OS, Shell: cmp.Or(p.config.Tools.ShellName(), p.env.Shell), Cwd: p.env.Dir, Also: p.env.Also, Target: d.Name, Targets: promptTargets(p.targets), Extra: p.config.Agent.SystemPrompt,
		},
		tools: tools.NewRegistry(toolset.New(p.targets, web.NewClient(web.Options{}), nil)...).Without(toolset.Quiet...),
	}
	system, registry, err := told.to(m.Info())
	if err != nil {
		return nil, failed(err)
	}
	p.options = agent.Options{
		Session: p.id, Version: Version, Cwd: p.env.Dir, Target: d.Name, Model: m, Models: p.modelOf, Tools: registry, System: system, Told: told.to,
		Instructions: p.instructions(first.Files), InstructionsOf: p.instructionsOf(first.Files), Small: p.small(f),
		Dates: time.Local, MaxTurns: p.config.Agent.MaxIterations, MaxCost: model.Money(p.config.Agent.MaxCost),
		Page: p.config.Tools.Page, ToolTimeout: time.Duration(p.config.Tools.Timeout) * time.Second, Context: contextOf(p.config.Context), Mode: mode, Policy: judge,
		Redact: redact.New(secrets...), Withheld: p.withheld,
		Notes:   agent.NewNotes(p.targets.ChangedFiles, first.Shell.Screens),
		Journal: p.journal, Panes: managedPanes{p.targets}, Targets: p.targets, Files: p.filesOn, OutDir: p.store.OutDir(p.id),
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

func (p *program) note(text string) {
	if text != "" {
		p.notices = append(p.notices, text)
	}
}

// chooseModel returns the model that the configuration means, and all keys that there are:
// the person may change to another model. Without one it is the demo; line mode, where nobody would see that it is, refuses.
func (p *program) chooseModel(f *flags) (m model.Model, secrets []string, err error) {
	c, index, notices, err := loadConfig(f)
	if err != nil {
		return nil, nil, err
	}
	p.config, p.index = c, index
	f.log.secrets(c.Secrets())
	p.notices = append(p.notices, notices...)
	if c.MissingFile != "" {
		if _, err := config.WriteTemplate(c.MissingFile); err != nil {
			p.note(err.Error())
		}
	}
	p.problem, secrets = c.Problem, c.Secrets()
	if c.Problem != "" && f.headless && (c.Active == nil || c.Active.Bundled()) {
		return nil, nil, exit{code: exitFailed, text: c.Problem}
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
		return nil, nil, mistake(err)
	}
	if other, ok := c.Profile(c.Agent.SmallModel); ok {
		if key, _, err := other.Key(); err == nil { // else there will be no title
			secrets = append(secrets, key)
		}
	}
	return m, secrets, nil
}

// contextWindow returns how many tokens the model of a profile takes in: what the profile says,
// else what is documented, 0 when neither is known (B13).
func contextWindow(profile config.Profile) int {
	if profile.ContextLimit > 0 {
		return profile.ContextLimit
	}
	tokens, _ := limits.Window(profile.Model)
	return tokens
}

// modelOf returns the model of a profile by name, for switching.
func (p *program) modelOf(name, effort string) (model.Model, error) {
	if name == config.Demo {
		return demo.New(demoPace), nil
	}
	profile, ok := p.config.Lookup(name)
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
func (p *program) profiles() []string {
	var all []string
	for _, m := range p.config.Models {
		all = append(all, m.Name)
	}
	return append(all, config.Demo)
}

// firstEvents is how many events the first frame of a stored session is drawn from.
const firstEvents = 200

// openSession makes a new session or opens the one to go on with.
func (p *program) openSession(f *flags, resume string, m model.Info) error {
	if resume == "" {
		if err := p.look(cmp.Or(f.dir, p.dest.Cwd)); err != nil {
			return err
		}
		header := sessions.Header{Cwd: p.env.Dir, Target: p.dest.Name, Model: m.Model}
		p.id = sessions.NewID()
		header.ID = p.id
		p.journal = &journal{create: func() (*sessions.Journal, error) { return p.store.Create(header) }}
		return nil
	}
	id, err := findSession(p.store, resume)
	if err != nil {
		return failed(err)
	}
	j, err := p.store.Open(id)
	if err != nil {
		return failed(err)
	}
	head := j.Info().Header
	if err := fits(p.dest.Name, head, f.headless); err != nil {
		_ = j.Close()
		return err
	}
	dir := head.Cwd
	if f.dir != "" {
		dir = f.dir
	}
	if err := p.look(dir); err != nil {
		_ = j.Close()
		return err
	}
	for _, w := range j.Info().Warnings {
		p.note(w)
	}
	if p.tail, err = j.Tail(firstEvents); err != nil {
		_ = j.Close()
		return failed(err)
	}
	p.id = id
	p.journal = &journal{file: j}
	return nil
}

// findSession returns the id of a session that somebody means: the beginning of an id, or last.
func findSession(store sessions.Store, resume string) (string, error) {
	if resume != "last" {
		return store.Find(resume)
	}
	last, err := store.Last()
	return last.ID, err
}

// findHere is find for sessions that this program can go on with.
func (p *program) findHere(resume string) (string, error) {
	id, err := findSession(p.store, resume)
	if err != nil {
		return "", err
	}
	entries, err := p.store.List()
	if i := slices.IndexFunc(entries, func(e sessions.Entry) bool { return e.ID == id }); i >= 0 {
		err = fits(p.dest.Name, entries[i].Header, false)
	}
	return id, err
}

// look finds out where commands will start.
func (p *program) look(dir string) (err error) {
	p.env, err = p.dest.Look(dir)
	return failed(err)
}

// close ends everything, says what stays behind, and how to get to it.
func (p *program) close(stderr io.Writer) { p.end(stderr, stderr) }

// end is close with a place for errors and one for the rest. It reports whether all of the session
// is stored.
func (p *program) end(stderr, said io.Writer) (stored bool) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	say := func(err error) {
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "buddy: "+markup.Plain(err.Error()))
		}
	}
	if rt := p.live.end(); rt != nil {
		say(rt.Close(ctx))
	}
	p.closeTargets(ctx, said)
	err := p.journal.close()
	say(err)
	return err == nil
}

// finish is close, before which what runs in panes of its own is killed if that is wanted.
func (p *program) finish(said io.Writer, kill bool) {
	if kill {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := p.targets.KillPanes(ctx); err != nil {
			_, _ = fmt.Fprintln(said, "buddy: "+markup.Plain(err.Error()))
		}
	}
	p.close(said)
}
