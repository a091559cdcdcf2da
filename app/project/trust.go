package project

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/config"
)

// TrustedText describes the effect of trusting a folder. keys are its settings that need trust.
func TrustedText(dir string, keys []string) string {
	if len(keys) == 0 {
		return "trusted " + dir + "; none of its settings depend on that"
	}
	return "trusted " + dir + "; these settings now apply: " + strings.Join(keys, ", ")
}

// TrustState is the trust in an item of the project.
type TrustState string

// The states.
const (
	Trusted     TrustState = "trusted"
	NotTrusted  TrustState = "not trusted"
	Changed     TrustState = "changed" // changed since it was trusted
	Untrustable TrustState = "can't be trusted"
)

// Item is a thing in the project that has no effect before the user trusts it, such as a hook, a server or the
// settings. All its text is untrusted.
type Item struct {
	Kind  string // hook, mcp and so on; settings
	Name  string
	Dir   string // the folder that the trust applies to
	Print string // fingerprint of the shown form
	State TrustState
	Runs  string   // the full command, or what the item grants
	Lines []string // everything that the user should know before trusting it
}

// SettingsKind is the kind of the item for the settings of a folder.
const SettingsKind = "settings"

// Title returns the item in words: its kind and its name.
func (i Item) Title() string { return i.Kind + " " + i.Name }

// Waits reports whether the item can be trusted and is not trusted yet.
func (i Item) Waits() bool { return i.State == NotTrusted || i.State == Changed }

// TrustFolder trusts the working directory. It returns a message if the session needs no change, or "" if a new session
// is needed to apply the settings.
func (s *Source) TrustFolder() (string, error) {
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

// Items returns the items of the project that need trust, settings first.
func (s *Source) Items() ([]Item, error) {
	var all []Item
	if p := s.Config.Project; len(p.Ignored) > 0 || p.Trusted && p.Print != "" {
		one, err := settingsItem(p)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	checks, _, err := s.check()
	for _, c := range checks {
		all = append(all, c.item())
	}
	return all, err
}

// settingsItem describes the settings of a project, with their current trust.
func settingsItem(p config.Project) (Item, error) {
	one := Item{Kind: SettingsKind, Name: "buddy.toml", Dir: p.Dir, Print: p.Print, State: NotTrusted}
	trusted, changed, err := TrustStore().Trusted(p.Dir, p.Print)
	switch {
	case trusted:
		one.State = Trusted
	case changed:
		one.State = Changed
	}
	keys := p.Ignored
	if len(keys) == 0 { // they apply
		keys, _ = config.ProjectKeys(p.Dir) // read for display; errors are reported when they are loaded
	}
	one.Runs = strings.Join(keys, ", ")
	one.Lines = []string{"the settings of this folder apply to every session here", "from: " + filepath.Join(p.Dir, one.Name)}
	if one.Runs != "" {
		one.Lines = append(one.Lines, "they set: "+one.Runs)
	}
	return one, err
}

// check is CheckParts for the working directory. It finds no parts if the project is on another machine, where they do
// not run.
func (s *Source) check() ([]Check, []Problem, error) {
	if s.Away != "" {
		return nil, nil, nil
	}
	return CheckParts(".", s.Config)
}

// SetTrust trusts items in the form in which they were listed, or ends their trust. A failure in one folder does not
// affect other folders.
func (s *Source) SetTrust(on bool, items []Item) error {
	checks, _, err := s.check()
	if err != nil {
		return err
	}
	byDir := map[string][]config.Part{}
	var errs []error
	for _, item := range items {
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Dir == item.Dir && c.Kind == item.Kind && c.Name == item.Name })
		switch {
		case item.Kind == SettingsKind && on:
			errs = append(errs, TrustStore().Trust(item.Dir, item.Print))
		case item.Kind == SettingsKind:
			errs = append(errs, TrustStore().ForgetSettings(item.Dir))
		case i < 0:
			errs = append(errs, fmt.Errorf("%s is no longer there", item.Title()))
		default:
			p := checks[i].Part.Part
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

// PartDiff returns the changes of an item since it was trusted, "" if unknown.
func (s *Source) PartDiff(item Item) (string, error) {
	checks, _, err := CheckParts(item.Dir, s.Config)
	i := slices.IndexFunc(checks, func(c Check) bool { return c.Dir == item.Dir && c.Kind == item.Kind && c.Name == item.Name })
	if err != nil || i < 0 {
		return "", err
	}
	return checks[i].Diff()
}
