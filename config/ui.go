package config

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

var uiSection = section{
	name: "ui", access: trusted,
	doc: "The screen and its notifications.",
	fields: []field{
		{
			name: "theme", short: "`auto` or the name of a theme",
			doc: "The colours: `auto` (`light` on a light background, else `dark`), `dark`, `light`, " +
				"`high-contrast`, `solarized`, or `NAME` for `themes/NAME.toml` in the folder of your file.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Theme },
		},
		{
			name: "notify", short: "`bell`, `osc9`, `osc777` or `off`",
			doc: "How to notify you of a waiting approval, of a command that waits for keys, or the end of a task of more than ten seconds, while the terminal is " +
				"not focused. `osc9` and `osc777` are desktop notifications of many terminals. In tmux this needs " +
				"`set -g focus-events on`, and only a bell is passed on.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Notify },
			check:   oneOf("value", "bell", "osc9", "osc777", "off"),
		},
		{
			name: "notify_command", short: "a command",
			doc: "Run by `sh` on this machine when a session that nobody is attached to needs you or ends a task, with " +
				"`BUDDY_SESSION`, `BUDDY_EVENT` (`approval`, `question` or `finished`) and `BUDDY_TEXT` in its environment, " +
				"such as `curl -d \"$BUDDY_TEXT\" ntfy.sh/my-topic`. It may take ten seconds.",
			own:     true,
			pointer: func(c *Config, _ *Profile) any { return &c.UI.NotifyCommand },
		},
		{
			name: "title", short: "`true` or `false`",
			doc:     "Whether the title of the window shows the folder and what runs or waits.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Title },
		},
		{
			name: "editor", short: "`emacs` or `vi`",
			doc: "The keys of the prompt. With `vi`, Esc goes to its normal mode and the border of the prompt names the mode; " +
				"[keys.md](keys.md) lists the commands.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Editor },
			check:   oneOf("value", "emacs", "vi"),
		},
		{
			name: "color", short: "`true` or `false`",
			doc:     "Whether the screen has colours, as without `--no-color` and `NO_COLOR`.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Color },
		},
		{
			name: "mouse", short: "`true` or `false`",
			doc: "Whether buddy uses the mouse: clicks, the wheel and selecting. With `false` the terminal does, so that you select and copy " +
				"text as in other programs (most terminals do that also while Shift is held).",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Mouse },
		},
		{
			name: "show_tokens", short: "`true` or `false`",
			doc:     "Whether the header counts the tokens of the session and what they cost. `/status` always does.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.ShowTokens },
		},
		{
			name: "show_tool_calls", short: "`true` or `false`",
			doc: "Whether plain mode and `buddy exec` print each call of a tool and what came of it. Without it they print those " +
				"that fail or do not run. On the full screen a call is one row, always.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.ShowToolCalls },
		},
		{
			name: "suggest_workflows", short: "`true` or `false`",
			doc:     "Whether a line names the workflow that a prompt's words fit, once a session for each (docs/workflows.md). None is ever started by that.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.SuggestWorkflows },
		},
	},
}

var keysSection = section{
	name: "keys",
	doc: "Keys of actions. A list replaces an action's keys, an empty one removes them. " +
		"[keys.md](keys.md) lists the actions and their keys.",
	free: &field{
		name: "ACTION", short: "list of keys",
		doc:     "The keys of an action, such as `\"Ctrl+J\"`, `\"Alt+Enter\"`, `\"F8\"`, `\"Space\"` or `\"x\"`.",
		pointer: func(c *Config, _ *Profile) any { return &c.Keys },
	},
	example: `newline = ["Alt+Enter", "Shift+Enter", "Ctrl+Enter", "Ctrl+J"]`,
}

// storeOther sets a value that is neither a string nor a number.
func storeOther(e entry, to any) error {
	switch to := to.(type) {
	case *bool:
		if e.kind != unstable.Bool {
			return fmt.Errorf("must be true or false, not %s", kindName(e.kind))
		}
		*to = e.text == "true"
	case *map[string][]string:
		if e.kind != unstable.Array {
			return fmt.Errorf("must be an array of strings, not %s", kindName(e.kind))
		}
		if e.items == nil {
			return errors.New("must be an array of strings and nothing else")
		}
		if *to == nil {
			*to = make(map[string][]string)
		}
		(*to)[e.path[len(e.path)-1]] = e.items
	}
	return nil
}
