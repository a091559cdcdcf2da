package app

import (
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/config"
)

// loadConfig reads the settings that the command line means.
func loadConfig(f *flags) (config.Config, config.Index, []string, error) {
	c, index, notices, err := config.Load(config.Options{Config: f.config, Model: f.model, BaseURL: f.baseURL, Trust: trustStore()})
	if err != nil {
		return c, index, notices, mistake(err)
	}
	return c, index, notices, nil
}

// trustStore is where the person's trust in folders is kept.
func trustStore() *config.TrustStore {
	s := config.NewTrustStore(filepath.Join(xdg.StateHome, "buddy"))
	return &s
}
