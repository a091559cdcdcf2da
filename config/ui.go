package config

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// UI holds the section [ui].
type UI struct {
	Theme  string // not checked here: package themes has the names
	Notify string // bell, osc9, osc777 or off
	Title  bool   // set the window's title to the state of the session
	Editor string // emacs or vi: keys of the line editor

	NotifyCommand string // for the shell, when no screen is attached; "" for none
	StatusCommand string // for the shell, prints the end of the status line; "" for none
	StatusSandbox bool   // run StatusCommand in the read-only sandbox

	Color         bool
	Mouse         bool // mouse support by buddy instead of the terminal
	ShowTokens    bool // in the header
	ShowToolCalls bool // in plain mode and exec

	SuggestWorkflows bool // suggest workflows whose words a prompt contains
}

func defaultUI() UI {
	return UI{Theme: "auto", Notify: "bell", Title: true, Editor: "emacs", Color: true, Mouse: true, StatusSandbox: true, ShowTokens: true, ShowToolCalls: true, SuggestWorkflows: true}
}

var uiSection = section{
	name: "ui", access: trusted,
	doc: "The screen and its notifications.",
	fields: []field{
		{
			name: "theme", short: "`auto` or the name of a theme",
			doc: "The colours: `auto` (`light` on a light background, otherwise `dark`), `dark`, `light`, " +
				"`high-contrast`, `solarized`, or `NAME` for `themes/NAME.toml` in your settings folder.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Theme },
		},
		{
			name: "notify", short: "`bell`, `osc9`, `osc777` or `off`",
			doc: "How buddy notifies you, while the terminal is not focused, that an approval is waiting, a command is " +
				"waiting for keys, or a task of more than ten seconds has ended. `osc9` and `osc777` are desktop " +
				"notifications, which many terminals support. In tmux, this needs `set -g focus-events on`, and only a " +
				"bell gets through.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Notify },
			check:   oneOf("value", "bell", "osc9", "osc777", "off"),
		},
		{
			name: "notify_command", short: "a command",
			doc: "A command that `sh` runs on this machine when a session to which nobody is attached needs you or ends " +
				"a task, such as `curl -d \"$BUDDY_TEXT\" ntfy.sh/my-topic`. Its environment has `BUDDY_SESSION`, " +
				"`BUDDY_TITLE` (the session's title), `BUDDY_EVENT` (`approval`, `question`, `failed` or `finished`) and `BUDDY_TEXT`. It may take ten seconds.",
			own:     true,
			pointer: func(c *Config, _ *Profile) any { return &c.UI.NotifyCommand },
		},
		{
			name: "status_command", short: "a command",
			doc: "A command that `sh` runs on this machine, and whose first line of output is the end of the full screen's " +
				"status line. It gets JSON on its standard input and may take two seconds " +
				"([screen.md](screen.md#a-status-line-of-your-own) has the fields and an example).",
			own:     true,
			pointer: func(c *Config, _ *Profile) any { return &c.UI.StatusCommand },
		},
		{
			name: "status_sandbox", short: "`true` or `false`",
			doc: "Whether `status_command` runs in the read-only sandbox. With `false`, it runs with all your permissions and " +
				"your whole environment.",
			own:     true,
			pointer: func(c *Config, _ *Profile) any { return &c.UI.StatusSandbox },
		},
		{
			name: "title", short: "`true` or `false`",
			doc:     "Whether the window's title shows the folder and what is running or waiting.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Title },
		},
		{
			name: "editor", short: "`emacs` or `vi`",
			doc: "The keys of the prompt. With `vi`, Esc switches to normal mode, and the prompt's border names the " +
				"mode; [keys.md](keys.md) lists the commands.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Editor },
			check:   oneOf("value", "emacs", "vi"),
		},
		{
			name: "color", short: "`true` or `false`",
			doc:     "Whether the screen has colours. `--no-color` and `NO_COLOR` switch them off, too.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Color },
		},
		{
			name: "mouse", short: "`true` or `false`",
			doc: "Whether buddy handles the mouse: clicks, the wheel and selections. With `false`, the terminal " +
				"handles it, so that you can select and copy text as in other programs (in most terminals, holding Shift does the " +
				"same).",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.Mouse },
		},
		{
			name: "show_tokens", short: "`true` or `false`",
			doc:     "Whether the header shows the session's tokens and cost. `/status` always does.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.ShowTokens },
		},
		{
			name: "show_tool_calls", short: "`true` or `false`",
			doc: "Whether plain mode and `buddy exec` print each tool call and its outcome. With `false`, they print " +
				"only calls that fail or do not run. The full screen always shows the calls.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.ShowToolCalls },
		},
		{
			name: "suggest_workflows", short: "`true` or `false`",
			doc: "Whether buddy suggests a workflow that fits a prompt's words, once per session for each workflow " +
				"(docs/workflows.md). buddy never starts a workflow by itself.",
			pointer: func(c *Config, _ *Profile) any { return &c.UI.SuggestWorkflows },
		},
	},
}

var keysSection = section{
	name: "keys",
	doc: "Keys of actions. A list replaces an action's keys; an empty list removes them. [keys.md](keys.md) lists " +
		"the actions and their keys.",
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
			return errors.New("must be an array of strings only")
		}
		if *to == nil {
			*to = make(map[string][]string)
		}
		(*to)[e.path[len(e.path)-1]] = e.items
	}
	return nil
}
