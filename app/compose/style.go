package compose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"buddy/agent/policy"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/style"
	"buddy/tools/file"
)

// styleTime limits reading styles.
const styleTime = 5 * time.Second

// chooseStyle returns the output style of the session. If the chosen style can't be used, it adds a notice and returns
// the default style. Without a choice it reads no file.
func (s *Setup) chooseStyle() style.Style {
	name := s.Config.Agent.Style
	plain := style.Style{Name: style.Default, KeepsCoding: true}
	if name == "" || name == style.Default {
		return plain
	}
	chosen, err := s.findStyle(name)
	if err != nil {
		s.note("[agent] style is ignored: " + err.Error())
		return plain
	}
	return chosen
}

// findStyle returns the style with a name, if it may be used.
func (s *Setup) findStyle(name string) (style.Style, error) {
	all, _, err := s.Styles()
	if err != nil {
		return style.Style{}, err
	}
	chosen, err := style.Choose(all, name)
	if err == nil && chosen.Origin == extensions.Plugin {
		err = s.Project().PluginTrusted(strings.Split(chosen.Name, ":")[0])
	}
	if err != nil || chosen.Origin != extensions.Project {
		return chosen, err
	}
	part := project.StylePart(chosen.Part, chosen.Source)
	trusted, changed, err := project.TrustStore().PartTrusted(chosen.Base, part)
	switch {
	case err != nil:
		return chosen, err
	case changed:
		return chosen, fmt.Errorf("%s changed since you trusted it (to see the changes, run: buddy trust)", part)
	case !trusted:
		return chosen, fmt.Errorf("%s comes with the project, and you don't trust it yet (to trust it, run: buddy trust)", part)
	}
	return chosen, nil
}

// Styles returns all styles, and the problems found. A project's styles are read only if the session starts on this
// machine.
func (s *Setup) Styles() ([]style.Style, []extensions.Problem, error) {
	ctx, cancel := context.WithTimeout(context.Background(), styleTime)
	defer cancel()
	dir := ""
	if s.Target == slash.ThisMachine {
		dir = s.Config.Project.Dir
	}
	return stylesIn(ctx, dir, s.Project().PluginTexts)
}

// stylesIn reads the styles of a project, and of plugins unless plugins is nil.
func stylesIn(ctx context.Context, dir string, plugins func() ([]extensions.Source, map[string]bool, error)) ([]style.Style, []extensions.Problem, error) {
	var there *file.Workspace
	if dir != "" {
		var err error
		if there, err = file.NewWorkspace(dir, policy.Secret); err != nil {
			return nil, nil, err
		}
	}
	files := project.NewExtensions(there, true)
	files.Plugins = plugins
	items, problems, err := files.Find(ctx, style.Reserved, extensions.Style)
	all, wrong := style.All(items)
	return all, append(problems, wrong...), err
}

// SetStyle saves a style in the user's settings and returns the message to show.
func (s *Setup) SetStyle(name string) (string, error) {
	if _, err := s.findStyle(name); err != nil {
		return "", err
	}
	if s.Config.File == "" {
		return "", errors.New("there is no settings file to save the style in")
	}
	if err := config.SetStyle(s.Config.File, name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return "the style is " + name + " from the next session or /clear on; this conversation keeps its style", nil
}
