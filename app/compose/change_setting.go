package compose

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"buddy/app/exit"
	"buddy/app/socket"
	"buddy/config"
)

// ByPerson returns an error if a session has started this process, in a command, a hook or a server, because only the
// user may loosen settings. Only sessions count that share a folder of state or settings with this process, or use the
// folder of one of files.
func ByPerson(files ...string) error {
	folders := socket.Folders()
	for _, file := range files {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			folders = append(folders, dir)
		}
	}
	return exit.Failure(socket.Within(folders))
}

// ChangeSetting sets a key in the user's settings file, or removes it if values is empty. A change that would make the
// file invalid returns an error and changes nothing. The note explains why a change has no effect.
func ChangeSetting(f *Options, key string, values []string) (note string, err error) {
	path := config.UserFile(f.Config)
	if err := ByPerson(path); err != nil {
		return "", err
	}
	d, err := config.OpenDocument(path)
	if err != nil {
		return "", exit.Mistake(err)
	}
	defer d.Close()
	if wrong := mistakesIn(d); len(wrong) > 0 {
		return "", exit.Error{Code: exit.BadUsage, Text: wrong[0].Error() + "; nothing was changed: use buddy config edit"}
	}
	found := true
	if len(values) == 0 {
		found, err = d.Unset(key)
	} else {
		err = d.Set(key, values)
	}
	switch {
	case err != nil:
		return "", exit.Mistake(err)
	case !found:
		return fmt.Sprintf("%s is not set in %s", key, path), nil
	}
	if wrong := mistakesIn(d); len(wrong) > 0 {
		// The error names no line, because the file with that line was never saved.
		return "", exit.Error{Code: exit.BadUsage, Text: (&config.Error{Key: wrong[0].Key, Err: wrong[0].Err}).Error() + "; nothing was changed"}
	}
	if err := d.Save(); err != nil || len(values) == 0 {
		return "", exit.Failure(err)
	}
	return overridden(f, key), nil
}

func mistakesIn(d *config.Document) []*config.Error {
	r := d.Check()
	CheckSettings(r, false)
	return r.Mistakes()
}

// overridden explains why a setting in the user's file has no effect, "" if it has an effect.
func overridden(f *Options, key string) string {
	settings, err := SettingsOf(f)
	if err != nil {
		return ""
	}
	v, err := config.Lookup(settings.All, key)
	if err != nil || v.Source == config.Default || OwnSetting(f, v) {
		return ""
	}
	return fmt.Sprintf("saved, but %s is currently set by %s", v.Key, v.Source)
}

// OwnSetting reports whether a setting comes from the user's settings file.
func OwnSetting(f *Options, v config.Setting) bool {
	return strings.HasPrefix(v.Source, config.UserFile(f.Config)+":")
}

// Settings holds the settings in effect, and notices about them.
type Settings struct {
	All     []config.Setting
	Config  config.Config
	Notices []string
}

// SettingsOf reads the current settings for a command line, because a file may have changed since the session started.
func SettingsOf(f *Options) (Settings, error) {
	c, index, notices, err := LoadConfig(f)
	if err != nil {
		return Settings{}, exit.Error{Code: exit.BadUsage, Text: err.Error() + "; buddy config check finds all errors"}
	}
	if f.Theme != "" {
		c.UI.Theme, index["ui.theme"] = f.Theme, "--theme"
	}
	return Settings{c.Settings(index), c, notices}, nil
}

// SettingsFile returns the path of the user's settings file, and creates it from the template if it is missing.
func SettingsFile(f *Options) (string, error) {
	path := config.UserFile(f.Config)
	if path == "" {
		return "", errors.New("can't find your home folder: give the settings file with --config FILE")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = config.WriteTemplate(path)
	}
	return path, err
}
