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

// ByPerson returns nil unless a session that has the folders of this process runs it, in a command, a hook or a server.
// What loosens something is for the person. More files that would be changed can be named.
func ByPerson(files ...string) error {
	folders := socket.Folders()
	for _, file := range files {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			folders = append(folders, dir)
		}
	}
	return exit.Failure(socket.Within(folders))
}

// ChangeSetting sets a key in the person's file, or takes it out where there is no value. A change that would make the
// file wrong is an error, and changes nothing. The note says when the change has no effect.
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
		// Its place would be one in a text that nobody has.
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

// overridden says when a setting of the person's file has no effect because something beats the file.
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

// OwnSetting reports whether a setting stands in the person's file.
func OwnSetting(f *Options, v config.Setting) bool {
	return strings.HasPrefix(v.Source, config.UserFile(f.Config)+":")
}

// Settings holds the settings in effect, and what a person should know of them.
type Settings struct {
	All     []config.Setting
	Config  config.Config
	Notices []string
}

// SettingsOf reads the settings that a command line means, as they are now: a file may have changed since the session began.
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

// SettingsFile returns the person's file, which it begins with the commented template where there is none.
func SettingsFile(f *Options) (string, error) {
	path := config.UserFile(f.Config)
	if path == "" {
		return "", errors.New("the home folder is unknown: name a file with --config")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = config.WriteTemplate(path)
	}
	return path, err
}
