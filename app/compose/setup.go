package compose

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/demo"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/app/exit"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/app/version"
	"buddy/config"
	"buddy/features/feature"
	"buddy/sessions"
	"buddy/texts"
	"buddy/tools/file"
)

// Setup holds the inputs of a session, which a screen can also read without the session's process: the settings, the
// sessions of the folder, and the id of this session.
type Setup struct {
	ID      string
	Target  string // where the session starts
	Store   sessions.Store
	Config  config.Config
	Index   config.Index // the location of each setting
	Problem string       // why no configured model can be used
	Notices []string     // published once the session runs
	limits  []string     // warnings about limits that have no effect, published at the same time

	options *Options // the options of the settings
}

// NewSetup reads the settings and finds the session. resume is "" for a new session, a session's id, the start of an
// id, or "last". Missing settings are created from a template. It starts nothing and locks nothing.
func NewSetup(f *Options, target, resume string) (s Setup, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return s, exit.Error{Code: exit.Failed, Text: fmt.Sprintf("working directory: %v", err)}
	}
	s.Target, s.options = target, f
	var notices []string
	if s.Config, s.Index, notices, err = LoadConfig(f); err != nil {
		return s, err
	}
	if s.Store, s.Notices, err = openStore(cwd, s.Config); err != nil {
		return s, exit.Failure(err)
	}
	s.ID = cmp.Or(f.Session, sessions.NewID())
	if resume != "" {
		if s.Store, s.ID, err = FindSession(s.Store, resume); err != nil {
			return s, exit.Failure(err)
		}
		elsewhere, err := enter(&s, cwd)
		if err != nil {
			return s, exit.Failure(err)
		}
		if elsewhere {
			if s.Config, s.Index, notices, err = LoadConfig(f); err != nil {
				return s, err
			}
		}
	}
	s.Notices, s.Problem = append(s.Notices, notices...), s.Config.Problem
	if s.Config.MissingFile != "" {
		if _, err := config.WriteTemplate(s.Config.MissingFile); err != nil {
			s.note(err.Error())
		}
	}
	if f.Log != nil {
		f.Log.Hide(redact.New(s.Config.Secrets()...), knownKeys(s.Config))
	}
	return s, nil
}

// enter changes the working directory to the folder of a stored session, if that is another folder of the same project,
// and reports whether it did.
func enter(s *Setup, cwd string) (elsewhere bool, err error) {
	e, err := s.Store.Entry(s.ID)
	if err != nil || e.Header.Target != slash.ThisMachine || e.Header.Cwd == cwd || !sessions.HasFolder(s.Store, e.Header.Cwd) {
		return false, nil // errors are reported when the session is opened
	}
	if err := os.Chdir(e.Header.Cwd); err != nil {
		return false, fmt.Errorf("the folder of session %s: %w", s.ID, err)
	}
	s.note("continued in " + e.Header.Cwd)
	return true, nil
}

// openStore returns the session store of a working directory, and notices for the user. It first moves sessions that an
// older program or other settings have left elsewhere into the store.
func openStore(cwd string, c config.Config) (store sessions.Store, notices []string, err error) {
	store, notice, err := sessions.Dir(cwd, sessions.Location(c.Sessions.Location))
	if err != nil {
		return store, nil, err
	}
	if notice != "" {
		notices = append(notices, notice)
	}
	moved, err := sessions.Move(store)
	if err != nil {
		notices = append(notices, err.Error())
	}
	if moved.Sessions > 0 {
		notices = append(notices, fmt.Sprintf("%s moved to %s", texts.Plural(moved.Sessions, "session"), store.Path()))
	}
	if moved.Problem != "" {
		notices = append(notices, moved.Problem)
	}
	if moved.Imported > 0 {
		notices = append(notices, fmt.Sprintf("imported %s of an older program; buddy sessions list shows them, and buddy sessions trust ID lets you continue one", texts.Plural(moved.Imported, "session")))
	}
	if from := sessions.MovedFrom(store); from != "" {
		notices = append(notices, MovedHint(from))
	}
	return store, notices, nil
}

// MovedHint tells the user how to get the sessions of a project that has moved here from another folder.
func MovedHint(from string) string {
	return fmt.Sprintf("this project was in %s; to bring its sessions here: buddy sessions adopt %s", from, action.Quote([]string{from}))
}

// Sessions returns the sessions of the working directory, for commands that run no session. Unreadable settings are
// ignored.
func Sessions() (sessions.Store, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return sessions.Store{}, err
	}
	c, _, _, _ := LoadConfig(new(Options))
	store, _, err := openStore(cwd, c)
	return store, err
}

// Here returns the session facts that features need in the working directory, for commands that run no session.
func Here(c *config.Config) (s feature.Session, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return s, err
	}
	s = feature.Session{Config: c, Target: slash.ThisMachine, Redact: redact.New(c.Secrets()...)}
	if s.Store, _, err = openStore(cwd, *c); err == nil {
		s.Files, err = file.NewWorkspace(cwd, policy.Secret)
	}
	return s, err
}

func (s *Setup) note(text string) {
	if text != "" {
		s.Notices = append(s.Notices, text)
	}
}

// Project returns the source of the project's hooks, servers, plugins and styles.
func (s *Setup) Project() *project.Source {
	source := project.Source{Config: s.Config}
	if s.Target != slash.ThisMachine {
		source.Away = s.Target
	}
	return &source
}

// Stored reports whether the session has a file.
func (s *Setup) Stored() bool {
	_, err := os.Lstat(s.Store.File(s.ID))
	return !errors.Is(err, fs.ErrNotExist)
}

// firstEvents is the number of events that the first frame of a stored session is drawn from.
const firstEvents = 200

// View opens the session's file for reading and reads its end. The caller closes the file. A session of another target
// is an error.
func (s *Setup) View() (*sessions.Journal, sessions.Part, error) {
	j, err := s.Store.View(s.ID)
	if err != nil {
		return nil, sessions.Part{}, exit.Failure(err)
	}
	tail, err := j.Tail(firstEvents)
	if err == nil {
		err = fits(s.Target, j.Info().Header, false)
	}
	if err != nil {
		return nil, tail, exit.Failure(errors.Join(err, j.Close()))
	}
	return j, tail, nil
}

// Resumed returns the event that the runtime will publish for a resumed session, with the fields that are known before
// the runtime starts.
func (s *Setup) Resumed(h sessions.Header) event.SessionResumed {
	info := s.modelInfo()
	return event.SessionResumed{
		Version: version.Number, Cwd: h.Cwd, Target: s.Target,
		Profile: info.Profile, Model: info.Model, API: info.API, Window: info.Window, Effort: info.Effort,
	}
}

// modelInfo describes the model that a session starts with.
func (s *Setup) modelInfo() model.Info {
	p := s.Config.Active
	if p == nil {
		return demo.New(demoPace).Info()
	}
	return model.Info{Profile: p.Name, Model: p.Model, API: string(p.API), Window: contextWindow(*p), Effort: p.Effort}
}

// FindSession returns the store and the id of the session that resume names: an id, a unique start of one, words of a
// title, or last. It searches store, then the other stores of the project.
func FindSession(store sessions.Store, resume string) (sessions.Store, string, error) {
	id, err := findIn(store, resume)
	if err == nil || resume == "last" && !errors.Is(err, sessions.ErrNone) { // no other store has the last one
		return store, id, err
	}
	for _, other := range store.Others() {
		if id, err := findIn(other, resume); err == nil {
			return other, id, nil
		}
	}
	return store, id, err
}

func findIn(store sessions.Store, resume string) (string, error) {
	if resume == "last" {
		last, err := store.Last()
		return last.ID, err
	}
	id, err := store.Find(resume)
	if err == nil {
		return id, nil
	}
	id, titled := sessions.FindTitle(store, resume)
	if errors.Is(titled, sessions.ErrNone) && !strings.Contains(resume, " ") { // it was meant as an id
		return "", err
	}
	return id, titled
}

// FindHere is FindSession for sessions of the same target.
func (s *Setup) FindHere(resume string) (string, error) {
	store, id, err := FindSession(s.Store, resume)
	if err != nil {
		return "", err
	}
	entries, err := store.List()
	if i := slices.IndexFunc(entries, func(e sessions.Entry) bool { return e.ID == id }); i >= 0 {
		if p := entries[i].Problem; p != "" {
			return id, fmt.Errorf("session %s can't be opened: %s", id, p)
		}
		err = fits(s.Target, entries[i].Header, false)
	}
	return id, err
}

// CommandLine returns the options that the settings were read with.
func (s *Setup) CommandLine() *Options { return s.options }

// Current returns the id of the session to continue, or "" while nothing of it is saved.
func (s *Setup) Current() string {
	if s.Stored() {
		return s.ID
	}
	return ""
}

// Transcript returns all messages to and from the model in this session.
func (s *Setup) Transcript() (string, error) {
	if !s.Stored() {
		return "", errors.New("it starts with the first prompt")
	}
	return s.Store.Transcript(s.ID)
}
