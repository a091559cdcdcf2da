package compose

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/config"
	"buddy/texts"
)

// TrustedText says what trusting a folder changes, whose settings have keys that need it.
func TrustedText(dir string, keys []string) string {
	if len(keys) == 0 {
		return "trusted " + dir + "; its settings have nothing that needs it"
	}
	return "trusted " + dir + "; its settings apply: " + strings.Join(keys, ", ")
}

// TrustState says whether something of the project is trusted.
type TrustState string

// The states.
const (
	Trusted     TrustState = "trusted"
	NotTrusted  TrustState = "not trusted"
	Changed     TrustState = "changed" // since it was trusted
	Untrustable TrustState = "can't be trusted"
)

// TrustItem is something of the project that does nothing before the person trusts it: a hook, a
// server, the settings. All text in it may be anybody's.
type TrustItem struct {
	Kind  string // hook, mcp and so on; settings
	Name  string
	Dir   string // in which it is trusted
	Print string // of the form that is shown
	State TrustState
	Runs  string   // the whole command, or what it grants
	Lines []string // all that a person should know before trusting it
}

// SettingsKind is the kind of the item that stands for the settings of a folder.
const SettingsKind = "settings"

// Title names the item.
func (i TrustItem) Title() string { return i.Kind + " " + i.Name }

// Waits reports whether the item could be trusted and is not.
func (i TrustItem) Waits() bool { return i.State == NotTrusted || i.State == Changed }

// TrustFolder remembers the working directory as trusted. It returns what to say when that
// changes nothing, "" when the session has to begin anew for it.
func (s *Setup) TrustFolder() (string, error) {
	project := s.Config.Project
	switch {
	case project.Print == "":
		return "", errors.New("there is nothing to trust: the settings of this folder were not read")
	case project.Trusted:
		return "this folder is trusted already", nil
	}
	if err := TrustStore().Trust(project.Dir, project.Print); err != nil {
		return "", err
	}
	if len(project.Ignored) == 0 {
		return TrustedText(project.Dir, nil), nil
	}
	return "", nil
}

// SettingsPart names the settings of a folder among its parts.
const SettingsPart = SettingsKind + ":buddy.toml"

// PartCheck is a part of the project with the trust that it has.
type PartCheck struct {
	ProjectPart
	State config.PartState
}

// CheckParts finds the parts of the project that dir is in, and which of them are trusted. c is
// as for ProjectParts.
func CheckParts(dir string, c config.Config) ([]PartCheck, []PartProblem, error) {
	dir, err := config.ResolveDir(dir)
	if err != nil {
		return nil, nil, err
	}
	found := ProjectParts(dir, c)
	var all []PartCheck
	for rest := found.Parts; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(p ProjectPart) bool { return p.Dir != rest[0].Dir })
		if n < 0 {
			n = len(rest)
		}
		var parts []config.Part
		for _, p := range rest[:n] {
			parts = append(parts, p.Part)
		}
		states, err := TrustStore().CheckParts(rest[0].Dir, parts...)
		if err != nil {
			return nil, found.Problems, err
		}
		for i, state := range states {
			all = append(all, PartCheck{rest[i], state})
		}
		rest = rest[n:]
	}
	return all, found.Problems, nil
}

// state says whether the part is trusted.
func (c PartCheck) state() TrustState {
	switch {
	case c.State.Trusted:
		return Trusted
	case c.State.Err != nil:
		return Untrustable
	case c.State.Changed:
		return Changed
	}
	return NotTrusted
}

// Lines returns all that a person should know before trusting the part.
func (c PartCheck) Lines() []string {
	runs := c.Runs
	if c.State.Err != nil { // it may be any length, and nobody decides by it
		runs = texts.Clip(runs, 1000)
	}
	lines := []string{c.Kind + " " + c.Name + " " + c.When}
	lines = append(lines, strings.Split("runs: "+strings.ReplaceAll(runs, "\n", "\n      "), "\n")...)
	lines = append(lines, "from: "+c.path())
	if len(c.Files) > 0 {
		lines = append(lines, "with the files: "+strings.Join(c.Files, ", "))
	}
	if c.State.Err != nil {
		return append(lines, "it can't be trusted: "+c.State.Err.Error())
	}
	return append(lines, strings.Split("definition: "+c.Definition, "\n")...)
}

// item returns the part for people.
func (c PartCheck) item() TrustItem {
	return TrustItem{Kind: c.Kind, Name: c.Name, Dir: c.Dir, Print: c.State.Print, State: c.state(), Runs: c.Runs, Lines: c.Lines()}
}

// TrustItems returns what of the project needs trust: its settings first, if there are some that do.
func (s *Setup) TrustItems() ([]TrustItem, error) {
	var all []TrustItem
	if p := s.Config.Project; len(p.Ignored) > 0 || p.Trusted && p.Print != "" {
		one, err := settingsItem(p)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	checks, _, err := s.checkParts()
	for _, c := range checks {
		all = append(all, c.item())
	}
	return all, err
}

// settingsItem describes the settings of a project, with the trust that they have now.
func settingsItem(p config.Project) (TrustItem, error) {
	one := TrustItem{Kind: SettingsKind, Name: "buddy.toml", Dir: p.Dir, Print: p.Print, State: NotTrusted}
	trusted, changed, err := TrustStore().Trusted(p.Dir, p.Print)
	switch {
	case trusted:
		one.State = Trusted
	case changed:
		one.State = Changed
	}
	keys := p.Ignored
	if len(keys) == 0 { // they apply
		keys, _ = config.ProjectKeys(p.Dir) // read again to be shown; what is broken is reported where it is loaded
	}
	one.Runs = strings.Join(keys, ", ")
	one.Lines = []string{"the settings of this folder apply to every session here", "from: " + filepath.Join(p.Dir, one.Name)}
	if one.Runs != "" {
		one.Lines = append(one.Lines, "they set: "+one.Runs)
	}
	return one, err
}

// checkParts is CheckParts for a session on this machine. On another one the project's programs
// do not run.
func (s *Setup) checkParts() ([]PartCheck, []PartProblem, error) {
	if s.Target != slash.ThisMachine {
		return nil, nil, nil
	}
	return CheckParts(".", s.Config)
}

// SetTrust trusts items in the form in which they were listed, or ends that. Those of other folders
// are trusted even if one of this folder can't be.
func (s *Setup) SetTrust(on bool, items []TrustItem) error {
	checks, _, err := s.checkParts()
	if err != nil {
		return err
	}
	byDir := map[string][]config.Part{}
	var errs []error
	for _, item := range items {
		i := slices.IndexFunc(checks, func(c PartCheck) bool { return c.Dir == item.Dir && c.Kind == item.Kind && c.Name == item.Name })
		switch {
		case item.Kind == SettingsKind && on:
			errs = append(errs, TrustStore().Trust(item.Dir, item.Print))
		case item.Kind == SettingsKind:
			errs = append(errs, TrustStore().ForgetSettings(item.Dir))
		case i < 0:
			errs = append(errs, fmt.Errorf("%s is no longer there", item.Title()))
		default:
			p := checks[i].Part
			p.Seen = item.Print
			byDir[item.Dir] = append(byDir[item.Dir], p)
		}
	}
	for dir, parts := range byDir {
		if on {
			errs = append(errs, TrustStore().TrustParts(dir, parts...))
		} else {
			errs = append(errs, TrustStore().ForgetParts(dir, parts...))
		}
	}
	return errors.Join(errs...)
}

// PartDiff returns what changed in an item since it was trusted, "" where that is not known.
func (s *Setup) PartDiff(item TrustItem) (string, error) {
	checks, _, err := CheckParts(item.Dir, s.Config)
	i := slices.IndexFunc(checks, func(c PartCheck) bool { return c.Dir == item.Dir && c.Kind == item.Kind && c.Name == item.Name })
	if err != nil || i < 0 {
		return "", err
	}
	return checks[i].Diff()
}

// Diff returns what changed in the part since it was trusted, as a unified diff.
func (c PartCheck) Diff() (string, error) {
	changes, err := TrustStore().PartChanges(c.Dir, c.Part)
	var b strings.Builder
	for _, one := range changes {
		name := one.Name
		if name == "" {
			name = "definition in " + c.File
			one.Before, one.After = one.Before+"\n", one.After+"\n"
		}
		b.WriteString(udiff.Unified("trusted/"+name, name, one.Before, one.After))
	}
	if b.Len() == 0 && err == nil && c.state() == Changed {
		return "a file changed whose text was not kept: " + texts.Some(c.Files) + "\n", nil
	}
	return b.String(), err
}

// shownName limits the characters of a part's name in a notice.
const shownName = 60

// projectNotices say which parts of the project do not run, and what was left out of its files, one a line.
func (s *Setup) projectNotices() (all []event.Event) {
	checks, problems, err := s.checkParts()
	if err != nil {
		return []event.Event{lostLimit(fmt.Sprintf("hooks and servers of this project don't run: %v", err))}
	}
	var fresh, changed []string
	for _, c := range checks {
		switch c.state() {
		case Changed:
			changed = append(changed, texts.Clip(c.Kind+" "+c.Name, shownName))
		case NotTrusted, Untrustable:
			fresh = append(fresh, texts.Clip(c.Kind+" "+c.Name, shownName))
		}
	}
	if len(fresh) > 0 {
		all = append(all, event.Notice{Text: texts.OneLine("not run until you trust it: " + texts.Some(fresh) + seeTrust), Code: "trust"})
	}
	if len(changed) > 0 {
		all = append(all, lostLimit("not run, because it changed since you trusted it: "+texts.Some(changed)+seeTrust))
	}
	for _, p := range problems {
		switch text := "left out of " + p.File + ": " + p.Reason; {
		case p.Limits:
			all = append(all, lostLimit(text))
		case !p.Quiet || len(fresh)+len(changed) > 0:
			all = append(all, event.Notice{Text: texts.OneLine(text), Code: "trust"})
		}
	}
	return all
}

const seeTrust = "; see /trust, or: buddy trust"

// lostLimit says that something does not limit what it should.
func lostLimit(text string) event.Warning {
	return event.Warning{Text: texts.OneLine(text), Code: event.LostLimit}
}

// Current returns the session to continue: its id, or "" while nothing of it is saved.
func (s *Setup) Current() string {
	if s.Stored() {
		return s.ID
	}
	return ""
}
