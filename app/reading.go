package app

import (
	"path/filepath"
	"slices"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/app/keymap"
	"buddy/config"
)

// reading is the configuration as it is on the disk.
type reading struct {
	config  config.Config
	index   config.Index
	notices []string
	keys    *keymap.Map
	rules   []action.Rule
	live    bool // the rules may be taken over
	err     error
}

// readSettings reads the configuration as a start would. Any goroutine may call it.
func readSettings(f *flags) reading {
	var r reading
	r.config, r.index, r.notices, r.err = config.Load(config.Options{Config: f.config, Model: f.model, BaseURL: f.baseURL, Trust: trustStore()})
	if r.err == nil {
		r.keys, r.err = boundKeys(r.config.Keys, r.index)
	}
	if r.err == nil {
		var judge policy.Policy
		judge, r.err = newPolicy(policy.Policy{}, r.config)
		r.rules = judge.Rules
	}
	for i := 0; i < len(r.config.Targets) && r.err == nil; i++ {
		_, r.err = configured(r.config.Targets[i], r.index)
	}
	r.live = rulesLive(f.config)
	return r
}

// rulesLive reports whether rules may be taken over while tools run: only if the policy asks
// about every change to the files that they come from, in all modes but "all". Else the
// model could edit itself a rule.
func rulesLive(explicit string) bool {
	return !slices.ContainsFunc(config.Sources(explicit, nil), func(s config.Source) bool {
		real, err := filepath.EvalSymlinks(s.Path)
		return s.Read && (filepath.Base(s.Path) != "buddy.toml" || err == nil && filepath.Base(real) != "buddy.toml")
	})
}
