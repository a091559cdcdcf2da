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
	"sync"
	"time"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/demo"
	"buddy/agent/model/limits"
	"buddy/agent/policy"
	"buddy/agent/prompt"
	"buddy/agent/redact"
	"buddy/app/slash"
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
		return nil, exit{code: exitFailed, text: err.Error()}
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
		tools: tools.NewRegistry(toolset.New(p.targets, web.NewClient(web.Options{}), nil)...).Without(toolset.Unlisted...),
	}
	system, registry, err := told.to(m.Info())
	if err != nil {
		return nil, exit{code: exitFailed, text: err.Error()}
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
	if c.Problem != "" && f.exec && (c.Active == nil || c.Active.Bundled()) {
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
		return nil, nil, exit{code: exitUsage, text: err.Error()}
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

// catalog returns what there is to choose from.
func (p *program) catalog() slash.Catalog {
	return slash.Catalog{
		Offers:   func() []slash.Offer { return offersOf(context.Background(), p.config, p.index) },
		Sessions: p.listSessions,
		Search:   p.searchSessions,
		Fork:     p.fork,
		Saved:    slash.SavedIn(p.store),
		Export:   p.exportHere,
		Changes:  p.changes,
		Find:     p.findHere,
		Target:   p.describe,
		Targets:  func() []slash.TargetOffer { return targetOffers(p.targets) },
		Trust:    p.trust,
		Current:  p.current,
		Notice:   func(text string) { p.live.publish(event.Notice{Text: text}) },
	}
}

// maxListed is how many sessions a list shows.
const maxListed = 20

func (p *program) listSessions() (string, error) {
	entries, err := p.store.List()
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "no session of this folder is saved yet; the first prompt makes one", nil
	}
	text := fmt.Sprintf("sessions of this folder (%d), the latest first:", len(entries))
	for _, e := range entries[:min(len(entries), maxListed)] {
		text += fmt.Sprintf("\n%s %s  %s  %s", p.mark(e.ID), e.ID, e.Used.Format("2006-01-02 15:04"), markup.Shorten(e.Title, 50))
	}
	return text + "\n/session resume ID goes on with one of them", nil
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
	id, err := p.find(resume)
	if err != nil {
		return exit{code: exitFailed, text: err.Error()}
	}
	j, err := p.store.Open(id)
	if err != nil {
		return exit{code: exitFailed, text: err.Error()}
	}
	head := j.Info().Header
	if err := fits(p.dest.Name, head, f.exec); err != nil {
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
		return exit{code: exitFailed, text: err.Error()}
	}
	p.id = id
	p.journal = &journal{file: j}
	return nil
}

func (p *program) find(resume string) (string, error) {
	if resume != "last" {
		return p.store.Find(resume)
	}
	last, err := p.store.Last()
	return last.ID, err
}

// findHere is find for sessions that this program can go on with.
func (p *program) findHere(resume string) (string, error) {
	id, err := p.find(resume)
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
			_, _ = fmt.Fprintln(stderr, "buddy: "+plain(err.Error()))
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

// journal is a session file that appears with the first prompt (DECISIONS 13): what
// comes before is kept until then.
type journal struct {
	create func() (*sessions.Journal, error) // nil when the file is there already

	mu     sync.Mutex // guards what follows
	file   *sessions.Journal
	held   []event.Envelope
	frozen bool
}

// freeze lets nothing more in, and whoever wants to record something stands still: an error
// would end what runs.
func (j *journal) freeze() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.frozen = true
}

// damagedCode marks the notice that lines of the session file can't be read. It is not stored
// there: every start finds it out anew.
const damagedCode = "damaged"

// Append stores env.
func (j *journal) Append(env event.Envelope) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.frozen {
		j.mu.Unlock()
		select {} // until the process ends
	}
	if n, ok := env.Payload.(event.Notice); ok && n.Code == damagedCode {
		return nil
	}
	if j.file != nil {
		return trustFirst(j.file.Info().Header.ID, j.file.Append(env))
	}
	j.held = append(j.held, env)
	if _, ok := env.Payload.(event.PromptSubmitted); !ok {
		return nil
	}
	file, err := j.create()
	if err != nil {
		return err
	}
	j.file = file
	for _, h := range j.held {
		if err := file.Append(h); err != nil {
			return err
		}
	}
	j.held = nil
	return nil
}

// Range calls f for what is stored after a number.
func (j *journal) Range(after uint64, f func(event.Envelope) bool) error {
	j.mu.Lock()
	file, held := j.file, j.held
	j.mu.Unlock()
	if file != nil {
		return file.Range(after, f)
	}
	for _, env := range held {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// resumed reports whether the session is of an earlier process.
func (j *journal) resumed() bool { return j.create == nil }

// readOnly returns why nothing can be stored, or nil.
func (j *journal) readOnly() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.ReadOnly()
}

// stored returns the session's file, nil before there is one.
func (j *journal) stored() *sessions.Journal {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
