package compose

import (
	"path/filepath"
	"slices"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/config"
)

// Reading holds the configuration on disk, or the error in it.
type Reading struct {
	Config  config.Config
	Index   config.Index
	Notices []string
	Keys    *keymap.Map
	Rules   []action.Rule
	Live    bool // whether the rules may be applied at once
	Err     error
}

// ReadSettings reads the configuration as a start would. Any goroutine may call it.
func ReadSettings(f *Options) Reading {
	var r Reading
	r.Config, r.Index, r.Notices, r.Err = LoadConfig(f)
	if r.Err == nil {
		r.Keys, r.Err = BoundKeys(r.Config.Keys, r.Index)
	}
	if r.Err == nil {
		r.Rules, r.Err = rulesOf(r.Config)
	}
	for i := 0; i < len(r.Config.Targets) && r.Err == nil; i++ {
		_, r.Err = configured(r.Config.Targets[i], r.Index)
	}
	r.Live = RulesLive(f.Config)
	return r
}

// RulesLive reports whether changed rules may apply at once, even while tools run. They may if the policy asks the user
// about every change to the settings files in all modes except "all". Otherwise the model could write its own rule.
func RulesLive(explicit string) bool {
	return !slices.ContainsFunc(config.Sources(explicit, nil), func(s config.Source) bool {
		real, err := filepath.EvalSymlinks(s.Path)
		return s.Read && (filepath.Base(s.Path) != "buddy.toml" || err == nil && filepath.Base(real) != "buddy.toml")
	})
}
