package compose

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/config"
	"buddy/owners"
	"buddy/themes"
)

// ThemeDir returns the folder of the user's own themes, "" for none.
func ThemeDir() string {
	if dir := config.Dir(); dir != "" {
		return filepath.Join(dir, "themes")
	}
	return ""
}

// ownFile returns an error if another user could change a settings file.
func ownFile(name string) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil //nolint:nilerr // the working directory is gone, which is reported elsewhere
	}
	return owners.CheckOwn(path)
}

// CheckSettings adds to a report the errors that package config can't find: unknown themes, actions and keys, and rules
// without effect.
func CheckSettings(r *config.Report, project bool) {
	if r.Index == nil {
		return // it could not be read
	}
	if err := ownFile(r.File); err != nil && !project {
		r.Add(r.File, "", err)
	}
	if _, err := themes.Load(ThemeDir(), r.Config.UI.Theme); err != nil && r.Config.UI.Theme != themes.Auto {
		key := config.Path("ui", "theme")
		r.Add(r.Index[key], key, oneLine(err))
	}
	if err := CheckOff(r.Config); err != nil {
		key := config.Path("tools", "off")
		r.Add(r.Index[key], key, err)
	}
	keys, renamed := FormerKeys(r.Config, r.Index)
	r.Notices = slices.Concat(r.Notices, renamed, LostKeys(keys, r.Index))
	for _, bad := range keyErrors(keys) {
		key := config.Path("keys", bad.Action)
		r.Add(r.Index[key], key, bad.Err)
	}
	for _, rule := range r.Config.Rules {
		if project && rule.Decision != action.Allow { // these have a notice of their own
			rule.Source = action.FromProject
		}
		if err := CheckRule(rule.Rule, r.Config); err != nil {
			r.AddRule(rule, err)
		}
	}
	checkDestinations(r)
	if project {
		r.NoticeProject()
	}
}

// checkDestinations adds an error for each model and target to which its settings allow no connection.
func checkDestinations(r *config.Report) {
	for _, p := range r.Config.Models {
		if p.BaseURL == "" {
			continue // reported already
		}
		if _, err := Bare(p); err != nil {
			addStartError(r, p.Name, err)
		}
	}
	for _, t := range r.Config.Targets {
		if _, err := HostOf(t); err != nil && t.SSH+t.Container != "" { // otherwise reported already
			key := config.Path("targets", t.Name)
			r.Add(r.Index[key], key, err)
		}
	}
}

// keyErrors returns all errors in key bindings.
func keyErrors(bindings map[string][]string) []*keymap.BindError {
	var all []*keymap.BindError
	rest := maps.Clone(bindings)
	for len(rest) > 0 {
		_, err := keymap.Default().Rebind(rest)
		bad, ok := errors.AsType[*keymap.BindError](err)
		if !ok {
			return all
		}
		all = append(all, bad)
		if _, ok := rest[bad.Action]; !ok {
			return all
		}
		delete(rest, bad.Action)
	}
	return all
}

func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", " ")) }

// addStartError adds an error that would stop a start with a profile, such as a missing key file.
func addStartError(r *config.Report, profile string, err error) {
	if known, ok := errors.AsType[*config.Error](err); ok && known.Key != "" {
		r.Add(known.Place, known.Key, known.Err)
		return
	}
	key := config.Path("models", profile)
	r.Add(r.Index[key], key, oneLine(err))
}
