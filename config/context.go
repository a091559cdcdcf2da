package config

import (
	"fmt"
	"slices"

	"buddy/agent/settings"
)

var contextSection = section{
	name: "context", access: trusted,
	doc: "What buddy does when a conversation fills the model's context window. Numbers are percentages of the " +
		"window unless stated otherwise. Nothing is lost: the session keeps the messages that buddy no longer sends " +
		"to the model.",
	fields: []field{
		{
			name: "strategy", short: "`summary`, `digest`, `window` or `keep`",
			doc: "`summary` has the model summarise the older messages; if that fails, buddy uses `digest`, which keeps " +
				"a few lines of each. `window` drops them. `keep` removes nothing: a full context window ends the exchange.",
			pointer: func(c *Config, _ *Profile) any { return (*string)(&c.Context.Strategy) },
			check:   oneOf("value", "summary", "digest", "window", "keep"),
		},
		{
			name: "compact_at", short: "1 to 100", most: 100,
			doc:     "`summary` and `window` compact above this. Lower it if the model gets worse with long contexts.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.CompactAt },
		},
		{
			name: "keep", short: "1 to 100", most: 100,
			doc:     "How much of the newest messages `summary` and `window` keep unchanged.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.Keep },
		},
		{
			name: "keep_messages", short: "messages, 1 to 10000", most: 10_000,
			doc:     "The maximum number of messages that `window` keeps; it also compacts once there are twice as many.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.KeepMessages },
		},
		{
			name: "keep_tokens", short: "tokens, 0 or more",
			doc: "The number of tokens above which `window` compacts; 0 means `compact_at`, or 100000 tokens if the " +
				"model's context window is unknown.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.KeepTokens },
		},
		{
			name: "restore", short: "`recent`, `accessed` or `none`",
			doc: "Which files buddy reads again after a summary, at most five: those that the model read last " +
				"(`recent`) or most often (`accessed`). Files whose reading needs approval are left out.",
			pointer: func(c *Config, _ *Profile) any { return (*string)(&c.Context.Restore) },
			check:   oneOf("value", "recent", "accessed", "none"),
		},
		{
			name: "restore_tokens", short: "tokens, 1 to 1000000", most: 1_000_000,
			doc: "The maximum number of tokens in all these files together, but never more than a tenth of the " +
				"context window.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.RestoreTokens },
		},
		{
			name: "instructions", short: "`true` or `false`",
			doc: "Whether the model gets the instruction files: `AGENTS.md` (or `CLAUDE.md` if that is missing) and " +
				"`CLAUDE.local.md` from your settings folder, from the repository's root down to the working directory, " +
				"and from subfolders once the model works there; also the rules in `.buddy/rules` and `.claude/rules`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.Instructions },
		},
		{
			name: "hint_at", short: "1 to 100", most: 100,
			doc: "From this percentage on, the header suggests `/compact`, and buddy stops sending old listings, " +
				"searches and repeated reads to the model. Below it, buddy does so only for a large gain, because " +
				"the later messages are then no longer in the provider's cache.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.HintAt },
		},
		{
			name: "keep_results", short: "`true` or `false`",
			doc:     "`true`: buddy keeps sending old listings, searches and repeated reads, whatever `hint_at` says.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.KeepResults },
		},
		{
			name: "no_prompt_cache", short: "`true` or `false`",
			doc: "`true`: buddy asks no provider to cache the start of a prompt. Providers that cache without being asked " +
				"still do.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.Cache.Off },
		},
		{
			name: "cache_breakpoints", short: "`system` and `summary`",
			doc: "The parts of a prompt after which a cached prefix ends, for providers that have to be asked: the system " +
				"prompt, the summary of the older messages, or both. If unset, only the later of the two. " +
				"A cached prefix always ends after the tools and after the newest messages, too.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.Cache.At },
			check:   oneOf("part", settings.CacheParts...),
		},
		{
			name: "warn_at", short: "1 to 100", most: 100,
			doc:     "From this percentage on, buddy warns you once per prompt.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.WarnAt },
		},
		{
			name: "critical_at", short: "1 to 100", most: 100,
			doc:     "From this percentage on, the header shows the context as critical.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.CriticalAt },
		},
		{
			name: "hard_at", short: "1 to 100", most: 100,
			doc:     "`digest` compacts at this point; if that is not enough, buddy sends nothing.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.HardAt },
		},
		{
			name: "compact_to", short: "1 to 100", most: 100,
			doc:     "How much `digest` keeps; must be less than `hard_at`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.CompactTo },
		},
		{
			name: "manual_to", short: "1 to 100", most: 100,
			doc:     "How much `/compact` keeps with `digest`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.ManualTo },
		},
	},
}

// oneOf returns a check that accepts only the words; its error is Unknown(what, …).
func oneOf(what string, words ...string) func(string, *file) (string, error) {
	return func(v string, _ *file) (string, error) {
		if slices.Contains(words, v) {
			return v, nil
		}
		return "", Unknown(what, v, words)
	}
}

// checkContext rejects thresholds in an impossible order.
func (l *loader) checkContext() error {
	if wrong := l.contextErrors(); len(wrong) > 0 {
		return wrong[0]
	}
	return nil
}

// contextErrors returns an error for each misordered pair of thresholds.
func (l *loader) contextErrors() (wrong []*Error) {
	c := l.cfg.Context
	for _, o := range []struct {
		low, high         int
		lowName, highName string
	}{
		{c.HintAt, c.WarnAt, "hint_at", "warn_at"},
		{c.WarnAt, c.CriticalAt, "warn_at", "critical_at"},
		{c.CompactAt, c.HardAt, "compact_at", "hard_at"},
		{c.CompactTo + 1, c.HardAt, "compact_to", "hard_at"},
		{c.Keep + 1, c.CompactAt, "keep", "compact_at"},
	} {
		if o.low <= o.high {
			continue
		}
		key := Path("context", o.lowName)
		if l.index[key] == "" {
			key = Path("context", o.highName)
		}
		wrong = append(wrong, l.index.Error(key, fmt.Errorf("%s is too high for %s (%d)", o.lowName, o.highName, o.high)))
	}
	return wrong
}
