package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/hooks"
	"buddy/config"
)

// ProjectPart is a part of the project, as a file of it defines the part: nothing of it runs
// before the person trusts it. Its Definition is JSON; what runs is read from that, so that it is
// what the person saw.
type ProjectPart struct {
	config.Part
	Dir  string // absolute: the folder in which it is trusted
	File string // that defines it, relative to Dir
	Runs string // the whole command, or what it grants
	When string // when that happens

	lines []string // all texts of the definition, which may name files
}

// PartProblem is a file, or an entry of one, that was left out.
type PartProblem struct {
	File   string
	Reason string
	Quiet  bool // nobody made a mistake: it is written for another program
	Limits bool // it limits something
}

// FoundParts are the parts that files define, and what was left out.
type FoundParts struct {
	Parts    []ProjectPart
	Problems []PartProblem
}

// partCollectors find the parts of one folder, one function for each kind.
var partCollectors = []func(dir string) FoundParts{serverParts, hookParts, extensionParts}

// ProjectParts finds the parts of the project that dir, which ResolveDir returned, is in: those of
// the nearest folder first, then plugins. c names more files with hooks, and plugins of the person. It
// starts nothing.
func ProjectParts(dir string, c config.Config) FoundParts {
	collectors := slices.Clone(partCollectors)
	for _, file := range alsoHooks(c) {
		collectors = append(collectors, func(dir string) FoundParts { return hooksIn(dir, file) })
	}
	collectors = append(collectors, func(dir string) FoundParts { return languageParts(dir, c) })
	var all FoundParts
	for _, folder := range config.ProjectFolders(dir) {
		for _, collect := range collectors {
			found := collect(folder)
			for i := range found.Parts {
				found.Parts[i].Dir = folder
			}
			all.Parts = append(all.Parts, found.Parts...)
			all.Problems = append(all.Problems, found.Problems...)
		}
	}
	plugins, problems := findPlugins(dir, c)
	for _, f := range plugins {
		all.Parts = append(all.Parts, f.part)
	}
	all.Problems = append(all.Problems, problems...)
	return all
}

// leaveOut adds why a file, or an entry of it, is not used.
func (f *FoundParts) leaveOut(file, format string, args ...any) {
	f.Problems = append(f.Problems, PartProblem{File: file, Reason: fmt.Sprintf(format, args...)})
}

// read decodes a JSON file of the project and reports whether there is one that can be used.
func (f *FoundParts) read(dir, file string, into any) bool {
	data, err := config.ReadProjectFile(dir, file)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), into)
	}
	if err != nil {
		f.leaveOut(file, "%s", jsonReason(err))
	}
	return err == nil
}

// jsonReason says in words what is wrong with JSON.
func jsonReason(err error) string {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := "it"
		if kind.Field != "" {
			what = fmt.Sprintf("%q", kind.Field)
		}
		return fmt.Sprintf("%s can't be of type %s", what, kind.Value)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return "the file is not valid JSON: " + err.Error()
	}
	return err.Error()
}

// add adds a part whose definition is a value of JSON. Its files are those that any text in runs, a
// part of the definition, names.
func (f *FoundParts) add(dir string, p ProjectPart, definition, runs any) {
	p.Definition = canonical(definition)
	p.lines = stringsIn(runs)
	p.Files = config.FilesNamed(dir, p.lines...)
	f.Parts = append(f.Parts, p)
}

// canonical returns a value of JSON as people read it, the same for the same value.
func canonical(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil { // never: it was decoded from JSON
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded returns a value of JSON with its numbers as they were written.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // it is valid: it was decoded before
	return v
}

// stringsIn returns all texts in a value of JSON, those of lists in order.
func stringsIn(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, stringsIn(one)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, stringsIn(v[key])...)
		}
		return all
	}
	return nil
}

// serverParts are the servers of .mcp.json.
func serverParts(dir string) (found FoundParts) {
	const file = ".mcp.json"
	var servers struct {
		All map[string]json.RawMessage `json:"mcpServers"`
	}
	if !found.read(dir, file, &servers) {
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(servers.All)) {
		var one struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
			URL     string   `json:"url"`
		}
		if err := json.Unmarshal(servers.All[name], &one); err != nil {
			found.leaveOut(file, "server %q: %s", name, jsonReason(err))
			continue
		}
		var whole serverEntry
		if json.Unmarshal(servers.All[name], &whole) == nil && whole.limits.lost != "" { // else its list of servers says why
			found.leaveOut(file, "server %q: %s", name, whole.limits.lost)
			found.Problems[len(found.Problems)-1].Limits = true
		}
		p := ProjectPart{File: file, Runs: one.URL, When: "is asked for its tools in every session here"}
		p.Kind, p.Name = "mcp", name
		if one.Command != "" {
			p.Runs, p.When = action.Quote(append([]string{one.Command}, one.Args...)), "starts with every session here"
		}
		definition := decoded(servers.All[name])
		found.add(dir, p, definition, definition)
	}
	return found
}

// hookMoments says when the hooks of an event run. Those of other events never do.
var hookMoments = map[hooks.Event]string{
	"SessionStart": "runs when a session begins", "SessionEnd": "runs when a session ends", "UserPromptSubmit": "runs when you send a prompt",
	"PreToolUse": "runs before a tool is used", "PermissionRequest": "runs before you are asked", "PostToolUse": "runs after a tool was used",
	"PostToolUseFailure": "runs after a tool failed", "SubagentStart": "runs when a subagent begins", "SubagentStop": "runs when a subagent is done",
	"Stop": "runs when the model is done", "StopFailure": "runs when an answer failed", "PreCompact": "runs before the conversation is compacted",
	"PostCompact": "runs after the conversation was compacted", "Notification": "runs when you are notified",
}

// hookParts are the hooks of .buddy/hooks.json.
func hookParts(dir string) FoundParts { return hooksIn(dir, hookFile) }

// hookFile is the project's file of hooks.
const hookFile = ".buddy/hooks.json"

// hooksIn are the hooks of a file. A part is named EVENT, or EVENT:MATCHER, with #2 and so on
// where there are several.
func hooksIn(dir, file string) (found FoundParts) {
	text, err := config.ReadProjectFile(dir, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found
	case err != nil:
		found.leaveOut(file, "%v", err)
		return found
	}
	all, problems := hooks.Entries(text, file)
	found.leaveOutHooks(file, problems)
	taken := map[string]int{}
	for _, e := range all {
		definition := map[string]any{"event": e.Event, "matcher": e.Matcher, "hook": decoded(e.Hook)}
		set := hooks.ParsePart([]byte(canonical(definition)), hooks.Origin{Source: hooks.Project})
		found.leaveOutHooks(file, set.Problems)
		for _, h := range set.Handlers { // there is one, or none
			p := hookPart(h)
			p.File = file
			if file != hookFile {
				p.Name += "@" + file
			}
			if taken[p.Name]++; taken[p.Name] > 1 {
				p.Name = fmt.Sprintf("%s#%d", p.Name, taken[p.Name])
			}
			found.add(dir, p, definition, definition["hook"])
		}
	}
	return found
}

// leaveOutHooks adds what is wrong with hooks.
func (f *FoundParts) leaveOutHooks(file string, problems []hooks.Problem) {
	for _, p := range problems {
		f.Problems = append(f.Problems, PartProblem{File: file, Reason: p.Reason, Quiet: p.Quiet, Limits: p.Guard})
	}
}

// hookPart returns the part of a hook, without its file and definition.
func hookPart(h hooks.Handler) ProjectPart {
	p := ProjectPart{Runs: h.What(), When: hookMoments[h.Event]}
	p.Kind, p.Name = "hook", string(h.Event)
	if h.Matcher != "" && h.Matcher != "*" {
		p.Name += ":" + h.Matcher
		p.When += fmt.Sprintf(", for %q", h.Matcher)
	}
	if h.Lost != "" {
		p.Runs, p.When = "nothing, because it is not understood: "+h.Lost, "makes calls that it may be for questions"
	}
	return p
}
