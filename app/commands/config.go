package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"buddy/app/compose"
	"buddy/app/project"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "config", Means: []string{"settings", "preferences", "options", "search engine", "searxng", "brave", "tavily"}, Args: "[edit|set KEY [VALUE]]", Brief: "show or change settings", Early: true,
		Help: "show the settings and where each comes from; change or remove one in your file; open your file in your editor",
	}, feature.Verbs("config", verb{Name: "show", Run: showSettings}, verb{Name: "edit", Run: editSettings}, verb{Name: "set", Args: "KEY [VALUE]", Run: changeSetting}))
}

// showSettings shows the settings files and all settings. It reads them again, because a file may have changed since
// the session started.
func showSettings(_ context.Context, s *Session, _ []string) (show.Answer, error) {
	options := s.Setup.CommandLine()
	now, err := compose.SettingsOf(options)
	if err != nil {
		return show.Answer{}, err
	}
	home, _ := os.UserHomeDir() // without one, paths are shown whole
	d := show.Document{Title: "Config", Tabs: tabs, Usage: "/config set KEY VALUE changes a setting. /config edit opens your file. buddy config show lists all settings."}
	d.Sections = append(d.Sections, settingsFiles(options.Config, home))
	for _, v := range now.All {
		if title := strings.Trim(v.Table, "[]"); d.Sections[len(d.Sections)-1].Title != title {
			d.Sections = append(d.Sections, show.Section{Title: title})
		}
		section := &d.Sections[len(d.Sections)-1]
		section.Values = append(section.Values, settingValue(options, v, home))
	}
	notes := show.Section{Title: "Notes"}
	for _, n := range append(now.Notices, now.Config.Problem) {
		if n != "" {
			notes.Values = append(notes.Values, show.Value{Text: n})
		}
	}
	if len(notes.Values) > 0 {
		d.Sections = append(d.Sections, notes)
	}
	return show.Answer{Document: &d}, nil
}

// settingsFiles lists the settings files, highest priority first.
func settingsFiles(explicit, home string) show.Section {
	files := show.Section{Title: "Settings files, highest priority first"}
	listed := make(map[string]bool)
	for _, f := range config.Sources(explicit, project.TrustStore()) {
		if !f.Exists && listed[f.Kind] {
			continue // an old name that no new file should have
		}
		listed[f.Kind] = true
		state := "no such file"
		if f.Exists {
			state = cmp.Or(f.Note, "used")
		}
		files.Values = append(files.Values, show.Value{Label: f.Kind, Text: texts.WithTilde(f.Path, home) + " · " + state})
	}
	return files
}

// settingValue returns a setting and the commands that change it in the user's settings file.
func settingValue(options *compose.Options, v config.Setting, home string) show.Value {
	list, isList := v.Value.([]string)
	value := show.Value{Label: v.Name, Text: v.Text(), From: texts.WithTilde(v.Source, home), BuiltIn: v.Source == config.Default}
	if isList {
		value.Text = strings.Join(list, ", ")
	}
	doc, words, err := config.Describe(v.Key)
	own := compose.OwnSetting(options, v)
	switch {
	case err != nil:
		value.Line = err.Error()
		return value
	case v.Secret:
		value.Line = v.Key + ": API keys are never shown here; add one with /login"
		return value
	case !own && !value.BuiltIn:
		value.Line = fmt.Sprintf("%s is set in %s, which has priority over your file: change it there", v.Key, value.From)
		return value
	}
	value.Line = v.Key + ": " + strings.ReplaceAll(doc, "`", "")
	set := []string{"config", "set", v.Key}
	_, isBool := v.Value.(bool)
	switch {
	case isBool && v.Value == true:
		words = []string{"false"}
	case isBool:
		words = []string{"true"}
	case len(words) == 0:
		edit := value.Text
		if isList {
			edit = v.TOML
		}
		value.Deeds = []show.Deed{{Label: "change", Run: set, Edit: edit, Typed: true}}
		return value
	}
	for _, w := range words {
		d := show.Deed{Label: w, Run: append(set[:3:3], w)}
		if w == value.Text {
			d.Label += " (now)"
		}
		value.Deeds = append(value.Deeds, d)
	}
	if own && !isBool {
		value.Deeds = append(value.Deeds, show.Deed{Label: "reset to the default", Run: set})
	}
	return value
}

// editSettings opens the user's settings file in the editor.
func editSettings(_ context.Context, s *Session, _ []string) (show.Answer, error) {
	path, err := compose.SettingsFile(s.Setup.CommandLine())
	return show.Answer{Open: path}, err
}

// changeSetting sets a key in the user's settings file. An empty value removes the key.
func changeSetting(_ context.Context, s *Session, args []string) (show.Answer, error) {
	key, values := args[0], args[1:]
	if strings.HasSuffix(key, ".api_key") && len(values) > 0 { // the typed line is in the history
		return show.Answer{}, errors.New("don't type an API key here: add it with /login")
	}
	options := s.Setup.CommandLine()
	if len(values) > 1 {
		now, err := compose.SettingsOf(options)
		if err != nil {
			return show.Answer{}, err
		}
		if v, err := config.Lookup(now.All, key); err == nil {
			line := strings.Join(values, " ") // the user typed no quotes
			if values = []string{line}; strings.HasPrefix(v.TOML, "[") && !strings.HasPrefix(line, "[") {
				values = strings.Fields(line)
			}
		}
	}
	if len(values) == 1 && values[0] == "" {
		values = nil
	}
	note, err := compose.ChangeSetting(options, key, values)
	if err != nil {
		return show.Answer{}, errors.New(strings.ReplaceAll(err.Error(), "buddy config edit", "/config edit"))
	}
	switch {
	case note != "":
	case len(values) == 0:
		note = key + " is reset to its default"
	default:
		home, _ := os.UserHomeDir() // without one, paths are shown whole
		note = fmt.Sprintf("%s = %s, in %s", key, strings.Join(values, " "), texts.WithTilde(config.UserFile(options.Config), home))
	}
	return show.Say(note), nil
}
