package compose

import (
	"path/filepath"
	"slices"

	"github.com/adrg/xdg"

	"buddy/app/exit"
	"buddy/config"
	"buddy/tools/toolset"
)

// LoadConfig reads the settings that the command line means, with where each is and what to tell
// the person. Its errors have the exit code of wrong settings.
func LoadConfig(f *Options) (config.Config, config.Index, []string, error) {
	c, index, notices, err := config.Load(config.Options{Config: f.Config, Model: f.Model, BaseURL: f.BaseURL, Trust: TrustStore()})
	if err != nil {
		return c, index, notices, exit.Mistake(err)
	}
	if err := CheckOff(c); err != nil {
		return config.Config{}, nil, notices, exit.Mistake(index.Error(config.Path("tools", "off"), err))
	}
	return c, index, notices, nil
}

// CheckOff returns an error about a name in [tools] off that is neither a tool nor a group.
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

// TrustStore returns the file of the folders that the person trusts.
func TrustStore() *config.TrustStore {
	s := config.NewTrustStore(filepath.Join(xdg.StateHome, "buddy"))
	return &s
}
