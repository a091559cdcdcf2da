package config

import (
	"fmt"
	"slices"
)

var contextSection = section{
	name: "context", access: trusted,
	doc: "What happens when a conversation fills the model's context window. Numbers are percent of it unless they say " +
		"otherwise. Nothing is lost: the session keeps what is no longer sent to the model.",
	fields: []field{
		{
			name: "strategy", short: "`summary`, `digest`, `window` or `keep`",
			doc: "`summary` asks the model to summarise the older messages; if that fails, `digest` follows, which keeps a few lines " +
				"of each. `window` drops them. `keep` removes nothing: a full context window ends the exchange.",
			pointer: func(c *Config, _ *Profile) any { return (*string)(&c.Context.Strategy) },
			check:   oneOf("value", "summary", "digest", "window", "keep"),
		},
		{
			name: "compact_at", short: "1 to 100", most: 100,
			doc:     "Above this `summary` and `window` compact. Lower it if the model gets worse with long contexts.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.CompactAt },
		},
		{
			name: "keep", short: "1 to 100", most: 100,
			doc:     "How much of the newest messages `summary` and `window` keep unchanged.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.Keep },
		},
		{
			name: "keep_messages", short: "messages, 1 to 10000", most: 10_000,
			doc:     "How many messages `window` keeps at most; it compacts when there are twice as many, too.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.KeepMessages },
		},
		{
			name: "restore", short: "`recent`, `accessed` or `none`",
			doc: "Which files are read again after a summary, at most five: those read last or most often. Only files " +
				"that may be read without approval.",
			pointer: func(c *Config, _ *Profile) any { return (*string)(&c.Context.Restore) },
			check:   oneOf("value", "recent", "accessed", "none"),
		},
		{
			name: "restore_tokens", short: "tokens, 1 to 1000000", most: 1_000_000,
			doc:     "How many tokens these files may have in all; at most a tenth of the context window.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.RestoreTokens },
		},
		{
			name: "instructions", short: "`true` or `false`",
			doc: "Whether the model gets the instruction files, `AGENTS.md` (or `CLAUDE.md` where that is missing) and `CLAUDE.local.md`: in the folder of your " +
				"settings, from the root of the repository down to the working directory, and in subfolders when it works there; and the rules in `.buddy/rules` and `.claude/rules`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.Instructions },
		},
		{
			name: "hint_at", short: "1 to 100", most: 100,
			doc:     "From here on the header says what to do, and old listings, searches and repeated reads are no longer sent to the model; below, only if that is worth sending again what stands behind them.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.HintAt },
		},
		{
			name: "warn_at", short: "1 to 100", most: 100,
			doc:     "From here on you are warned, once a prompt.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.WarnAt },
		},
		{
			name: "critical_at", short: "1 to 100", most: 100,
			doc:     "From here on the header shows the context as critical.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.CriticalAt },
		},
		{
			name: "hard_at", short: "1 to 100", most: 100,
			doc:     "Here `digest` compacts; if that is not enough, nothing is sent.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.HardAt },
		},
		{
			name: "compact_to", short: "1 to 100", most: 100,
			doc:     "How much `digest` keeps; less than `hard_at`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.CompactTo },
		},
		{
			name: "manual_to", short: "1 to 100", most: 100,
			doc:     "How much `/compact` keeps with `digest`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Context.ManualTo },
		},
	},
}

// oneOf returns a check that accepts the words. what names their kind in the error.
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

// contextErrors returns the thresholds that are in the wrong order.
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
