package compose

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/app/exit"
	"buddy/config"
)

// LoadConfig reads the settings that the command line means, with where each is and what to tell
// the person. Its errors have the exit code of wrong settings.
func LoadConfig(f *Options) (config.Config, config.Index, []string, error) {
	c, index, notices, err := config.Load(config.Options{Config: f.Config, Model: f.Model, BaseURL: f.BaseURL, Trust: TrustStore()})
	if err != nil {
		return c, index, notices, exit.Mistake(err)
	}
	return c, index, notices, nil
}

// TrustStore returns the file of the folders that the person trusts.
func TrustStore() *config.TrustStore {
	s := config.NewTrustStore(filepath.Join(xdg.StateHome, "buddy"))
	return &s
}
