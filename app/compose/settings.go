package compose

import (
	"errors"
	"maps"
	"slices"

	"buddy/app/exit"
	"buddy/app/keymap"
	"buddy/app/project"
	"buddy/config"
	"buddy/tools/toolset"
)

// LoadConfig reads the settings for a command line, with their locations and notices for the user. Its errors have the
// exit code of invalid settings.
func LoadConfig(f *Options) (config.Config, config.Index, []string, error) {
	o := config.Options{Config: f.Config, Model: f.Model, BaseURL: f.BaseURL, Trust: project.TrustStore()}
	if f.Chosen.Profile != "" {
		o.Model, o.BaseURL = f.Chosen.Profile, "" // the server of the command line may be another profile's
	}
	c, index, notices, err := config.Load(o)
	if err != nil {
		return c, index, notices, exit.Mistake(err)
	}
	if f.Chosen.Effort != "" && c.Active != nil {
		c.Active.Effort = f.Chosen.Effort
	}
	if err := CheckOff(c); err != nil {
		return config.Config{}, nil, notices, exit.Mistake(index.Error(config.Path("tools", "off"), err))
	}
	addServers(&c, f.Servers)
	keys, renamed := FormerKeys(c, index)
	c.Keys = keys
	return c, index, slices.Concat(notices, renamed, LostKeys(keys, index)), nil
}

// FormerKeys returns the bindings of c under the current action names, and a notice with its location for each renamed
// action.
func FormerKeys(c config.Config, index config.Index) (keys map[string][]string, notices []string) {
	keys, renamed := keymap.Current(c.Keys)
	for _, old := range slices.Sorted(maps.Keys(renamed)) {
		notices = append(notices, index.Error(config.Path("keys", old), errors.New(renamed[old])).Error())
		if now := config.Path("keys", string(keymap.Former(old))); index[now] == "" {
			index[now] = index[config.Path("keys", old)] // errors in these keys are reported there
		}
	}
	return keys, notices
}

// CheckOff returns an error for a name in [tools] off that is neither a tool nor a group.
func CheckOff(c config.Config) error {
	if len(c.Tools.Off) == 0 {
		return nil
	}
	known := toolset.Switches()
	for _, name := range c.Tools.Off {
		if !slices.Contains(known, name) {
			return config.Unknown("tool", name, known)
		}
	}
	return nil
}
