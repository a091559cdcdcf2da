// Package config reads buddy's settings from the command line, the environment and TOML files. An error is one line
// with the file, the line and the key.
//
//	cfg, index, notices, err := config.Load(config.Options{Model: "work"})
//	if err != nil {
//		return 2 // err is an [*Error]: "buddy.toml:3: agent.modell: unknown key (have: …; nearest: model)"
//	}
//	if cfg.Active == nil {
//		// no model: cfg.Problem says why and how to connect one
//	}
//	key, source, err := cfg.Active.Key()
//
// The command line overrides the environment, which overrides the project's file, ./buddy.toml, which overrides the
// user's file, $XDG_CONFIG_HOME/buddy/buddy.toml. The option --config FILE replaces both files. Because a project's
// file comes with its repository, it may only make settings stricter until the user trusts the folder. docs/config.md
// is generated from the table of settings in fields.go.
package config

import (
	"os"
	"slices"
	"time"

	"buddy/agent/model"
	"buddy/agent/settings"
)

// Demo is the name of the embedded offline model. It is valid wherever the name of a profile is, unless a profile has
// that name.
const Demo = "demo"

// Options holds the options of the command line. Empty fields were not given.
type Options struct {
	Config  string // --config: the only file that is read; os.DevNull reads none
	Model   string // --model: a profile's name, else a raw model id for the active profile
	BaseURL string // --base-url: replaces the active profile's endpoint
	// Trust lists the folders that the person trusts; nil means none.
	Trust *TrustStore
}

// Config holds all settings. It is data: callers may copy it and must not modify the
// values that it points to.
type Config struct {
	Models   []Profile // in the file's order
	Agent    Agent
	Agents   settings.Agents
	Context  settings.Context
	Tools    Tools
	UI       UI
	Sandbox  Sandbox
	Hooks    Hooks
	Plugins  Plugins
	Sessions Sessions
	Host     Host

	Reminders Reminders
	Rules     []Rule   // in the files' order
	Targets   []Target // in the files' order
	MCP       []MCPServer
	LSP       []LanguageServer
	Project   Project
	Keys      map[string][]string // section [keys]: action to key names; package keymap checks them

	// Active is the profile to start with, overrides applied; nil means the demo model.
	Active *Profile
	// Problem is one line about why Active cannot be used, or why there is none, and how to connect a model. It is
	// empty when there is no problem or the demo was requested.
	Problem string
	// MissingFile is the path of the user's file when it does not exist and --config was not given: the argument of
	// [WriteTemplate] at the first start.
	MissingFile string
	// File is the path of the person's own file, which need not exist: that of --config, else the user's.
	File string

	owned map[string]any // values of the sections of features, by name: pointers

	at int // index of the target or server being read
}

// Agent holds the section [agent].
type Agent struct {
	settings.Limits
	Model         string // the profile to start with; empty: see Config.Active
	SystemPrompt  string // replaces the built-in one; empty keeps it
	AppendPrompt  string // follows the system prompt; empty adds nothing
	Mode          string // how approvals are decided at the start; package action defines the words
	FallbackModel string // a profile's name; empty: none
	SmallModel    string // a profile's name; empty: none
	OnStall       model.Recovery
	Style         string // name of an output style; "" is the default one
}

// Sessions holds the section [sessions].
type Sessions struct {
	Location     string // where sessions are stored, see package sessions
	IdleExit     int    // minutes until a session without an attached screen ends
	ApprovalWait int    // minutes until an approval that nobody sees is denied; 0 means never
	Outputs      int    // maximum MB of the complete outputs of commands, for all sessions of a project
}

// Host holds the section [host].
type Host struct {
	WithoutTerminal bool // programs without a terminal get the rights of screens
}

// Ways to call tools.
const (
	Native = "native" // in the wire format
	Blocks = "blocks" // as fenced blocks of text
)

// Profile holds one section [models.NAME]: an endpoint, a model and the source of its key.
type Profile struct {
	Name         string
	BaseURL      string // http or https, without a trailing slash
	API          API
	Model        string // the id sent to the endpoint; Name when the file has none
	APIKey       Secret
	KeyEnv       string // api_key_env
	KeyFile      string // api_key_file as an absolute path
	ContextLimit int    // tokens; 0 means unknown
	// ServerCompaction is the size of a request, in tokens, from which the provider summarises; 0 means never.
	ServerCompaction int
	MaxTokens        int         // of one answer; 0 means the documented limit, or the adapter's default
	Effort           string      // reasoning_effort; empty leaves it to the provider
	Calls            string      // Native or Blocks; "" lets the model and its server decide
	Prices           model.Price // zero means the documented prices
	Login            Login       // used instead of a key
	Connection

	Server string // owner of the models of a server on this machine, see [buddy/agent/model/local]; "" if unknown

	keyPlace string // file:line of the key's source
	bundled  bool   // built in, not from a file
}

// Connection holds how requests of a profile are sent, their additional parts, and their time limits.
type Connection struct {
	Temperature      *float64 // nil: not sent
	TopP             *float64 // nil: not sent
	Headers          []string // "Name: value", sent with every request
	KeyHeader        string   // api_key_header: the header that holds the key; empty means the protocol's
	CAFile           string   // ca_file as an absolute path
	FirstByteTimeout int      // seconds, like those below; 0 means the default
	StallTimeout     int
	KeepAliveTimeout int
}

// Profile returns the profile of that name.
func (c *Config) Profile(name string) (Profile, bool) {
	return first(c.Models, func(p Profile) bool { return p.Name == name })
}

// first returns the first item that wanted accepts.
func first[T any](list []T, wanted func(T) bool) (item T, ok bool) {
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return list[i], true
	}
	return item, false
}

func defaults() Config {
	c := Config{
		owned:   make(map[string]any),
		Agent:   Agent{Limits: settings.Limits{MaxIterations: 200, MaxRepeats: 10, WarnAt: settings.WarnAt}, Mode: "ask", OnStall: model.RecoverRetry},
		Context: settings.Context{Instructions: true}.WithDefaults(),
		Tools:   Tools{Calls: settings.Calls{}.WithDefaults(), UnattendedTimeout: 10 * time.Minute, Output: 4000, Screen: 8000, Whole: 256, Search: Search{Engine: DuckDuckGo, Hits: 8}, Shell: autoShell, Confirm: true},
		Sandbox: Sandbox{Mode: "off", Network: "off"},
		Hooks:   Hooks{Enabled: true},
		Agents:  settings.Agents{}.WithDefaults(),

		Sessions: Sessions{Location: "auto", IdleExit: 30, Outputs: 2048},
		UI:       defaultUI(),
	}
	for _, fill := range owned {
		fill(c.owned)
	}
	return c
}

// Load reads the files, the environment and o. It writes nothing. Notices are complete lines for the person: deprecated
// names, ignored keys, files that other users may read. Every error is an [*Error] of one line, and the Config returned
// with it is empty.
func Load(o Options) (Config, Index, []string, error) {
	l := &loader{cfg: defaults(), index: Index{}}
	err := l.readFiles(o.Config, o.Trust)
	l.cfg.File = l.userFile
	if err == nil {
		err = l.checkContext()
	}
	if err == nil {
		err = l.selectProfile(o)
	}
	l.noticeDeprecated()
	if err != nil {
		return Config{}, nil, l.notices, err
	}
	return l.cfg, l.index, l.notices, nil
}

// loader holds the state of one Load.
type loader struct {
	cfg        Config
	index      Index
	notices    []string
	deprecated []string // "OLD (now NEW)" for each legacy name in use
	userFile   string   // the file to which a person would add a profile; may be ""
}

// override returns the value of an option or environment variable that replaces a setting, and its source. An empty
// variable counts as not set.
func (l *loader) override(flag, value string, v envVar) (string, string) {
	if value != "" {
		return value, flag
	}
	value, name := v.lookup()
	return value, name
}

// envVar is an environment variable with its legacy name.
type envVar struct{ name, legacy, doc string }

// Environment variables with settings.
var (
	envKey     = envVar{"BUDDY_API_KEY", "AGENT_API_KEY", "The key of the profile in use. It overrides every key in a file."}
	envBaseURL = envVar{"BUDDY_BASE_URL", "AGENT_BASE_URL", "Replaces `api_base_url` of the active profile."}
	envModel   = envVar{"BUDDY_MODEL", "AGENT_MODEL", "A profile's name, or a model id for the active profile."}

	envVars = []envVar{envKey, envBaseURL, envModel}
)

// lookup returns the value and the name that has it.
func (v envVar) lookup() (value, name string) {
	for _, name := range []string{v.name, v.legacy} {
		if value := os.Getenv(name); value != "" {
			return value, name
		}
	}
	return "", ""
}
