package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/extensions"
	"buddy/tools"
)

// fileReader reads the file named in the call.
type fileReader struct{}

type readCall struct {
	Path string `json:"path"`
	Why  string `json:"why,omitempty"`
}

func (fileReader) Definition() model.ToolDef {
	return model.ToolDef{Name: "read_file", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
}

func (fileReader) Plan(c tools.Call) (action.Action, error) {
	args, err := tools.Decode[readCall](c)
	return action.Action{Kind: action.FileRead, Tool: "read_file", Path: path.Join("/w", args.Path)}, err
}

func (fileReader) Run(_ context.Context, c tools.Call) tools.Result {
	if strings.Contains(c.Planned.Path, "missing") {
		return tools.Result{Content: "no such file", IsError: true}
	}
	return tools.Success("content of " + c.Planned.Path)
}

// lookingBelow is withSkills with a tool that reads files, and subfolders in which skills are found.
func lookingBelow(l *library, searched *[]string, found func(dirs []string) bool) func(*Options) {
	l.Below = func(_ context.Context, dirs []string) (bool, error) {
		*searched = append(*searched, dirs...)
		return found(dirs), nil
	}
	return withSkills(l, &printer{}, func(o *Options) { o.Tools = tools.NewRegistry(fileReader{}, &printer{}) })
}

func readsFiles(file string) step { return uncounted("", "c read_file {\"path\":\""+file+"\"}") }

// TestSkillsOfFoldersBelow: a folder is searched when one of its files is first read; its skills are listed once,
// before the next request, and a resumed session knows them before its first.
func TestSkillsOfFoldersBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, searched := &library{}, []string(nil)
		l.add(t, extensions.Person, extensions.Skill, "mine", "---\ndescription: Mine\n---\nText")
		found := func(dirs []string) bool {
			if !slices.Contains(dirs, "/w/web") || len(l.all) > 1 {
				return false
			}
			l.add(t, extensions.Project, extensions.Skill, "ship", "---\ndescription: Ships\n---\nText")
			return true
		}
		options := lookingBelow(l, &searched, found)
		s := start(t, options, readsFiles("web/missing.ts"), readsFiles("top.txt"), readsFiles("web/src/a.ts"), readsFiles("web/src/b.ts"), readsFiles("web/.claude/skills/ship/x.md"), uncounted("ok"))
		s.do(event.Submit{Text: "look"})
		if want := []string{"/w/web", "/w/web/src", "/w/web"}; !slices.Equal(searched, want) {
			t.Errorf("searched %q, want %q", searched, want)
		}
		for i, r := range s.model.requests {
			if told := count(contents(r.Messages), "- ship: Ships"); told != min(1, i/3) {
				t.Errorf("request %d tells %d times of it", i, told)
			}
		}
		s.stop()
		l.all, searched = l.all[:1], nil
		again := start(t, func(o *Options) {
			options(o)
			o.Replay = s.mem.events
			o.Model.(windowed).steps = []step{uncounted("ok")}
		})
		defer again.stop()
		again.do(event.Submit{Text: "go on"})
		if got := contents(again.request()); count(got, "- ship: Ships") != 1 || strings.Contains(got[len(got)-2], "replaces") || !slices.Contains(searched, "/w/web") {
			t.Errorf("resumed, searched %q: %q", searched, got)
		}
	})
}

// TestSkillsForSomeFiles: a skill with paths is listed after a matching file was used, also by an earlier process,
// and not before.
func TestSkillsForSomeFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, searched := &library{}, []string(nil)
		l.add(t, extensions.Person, extensions.Skill, "types", "---\ndescription: Types\npaths: src/**/*.{ts,tsx}, docs/\n---\nText")
		options := lookingBelow(l, &searched, func([]string) bool { return false })
		s := start(t, options, readsFiles("a.ts"), readsFiles("src/missing.ts"), readsFiles("src/deep/a.tsx"), uncounted("ok"), uncounted("ok"))
		s.do(event.Submit{Text: "look"}, event.Submit{Text: "more"})
		for i, r := range s.model.requests {
			if told := count(contents(r.Messages), "- types: Types"); told != min(1, i/3) {
				t.Errorf("request %d tells %d times of it", i, told)
			}
		}
		l.book.Refresh()
		s.do(event.Submit{Text: "after its file was read again"})
		if got := contents(s.request()); count(got, "- types: Types") != 1 || count(got, "No longer there") != 0 {
			t.Errorf("%q", got)
		}
		s.stop()
		again := start(t, func(o *Options) {
			options(o)
			o.Replay = s.mem.events
			o.Model.(windowed).steps = []step{uncounted("ok")}
		})
		defer again.stop()
		again.do(event.Submit{Text: "go on"})
		if got := contents(again.request()); count(got, "- types: Types") != 1 || count(got, "There are none") != 0 {
			t.Errorf("resumed: %q", got)
		}
	})
}

// TestFilesInTexts: files named in a skill's text are read as if the model had asked; output of commands names none,
// and a project's text names none outside the workspace.
func TestFilesInTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &library{}
		l.add(t, extensions.Person, extensions.Command, "cmp", "Compare @a.txt, @$1, @none.txt, @a.txt and `@code.txt`. !`./printed`")
		l.add(t, extensions.Project, extensions.Command, "theirs", "See @a.txt, @~/x.txt, @/etc/hosts and @../up.txt")
		many, missing := "", ""
		for i := range 100 {
			many, missing = many+fmt.Sprintf(" @f%d.txt", i), missing+" @none.txt"
		}
		l.add(t, extensions.Person, extensions.Command, "many", many)
		l.add(t, extensions.Person, extensions.Command, "missing", missing)
		var asked []string
		l.IsFile = func(_ context.Context, name string) bool {
			asked = append(asked, name)
			return name != "none.txt"
		}
		s := start(t, withSkills(l, &printer{}, func(o *Options) {
			o.Tools = tools.NewRegistry(fileReader{}, &printer{})
			o.Policy.Rules = []action.Rule{{Decision: action.Allow, Tool: "run_shell", Prefix: []string{"./printed"}, Source: action.FromUser}}
		}), answers(4)...)
		defer s.stop()
		s.do(event.Submit{Text: "/cmp b.txt"})
		if want := []string{"a.txt", "b.txt", "none.txt"}; !slices.Equal(asked, want) {
			t.Errorf("looked for %q, want %q", asked, want)
		}
		got := contents(s.request())
		last := got[len(got)-1]
		if !strings.HasSuffix(last, "</command>\n<file path=\"a.txt\">\ncontent of /w/a.txt\n</file>\n<file path=\"b.txt\">\ncontent of /w/b.txt\n</file>") {
			t.Errorf("%q", last)
		}
		asked = nil
		s.do(event.Submit{Text: "/many"})
		if got := contents(s.request()); strings.Count(got[len(got)-1], "<file ") != 10 || !strings.Contains(got[len(got)-1], "only the first 10 files are attached") || len(asked) != 11 {
			t.Errorf("of many files %d were looked for: %q", len(asked), got[len(got)-1])
		}
		s.do(event.Submit{Text: "/missing"})
		if len(asked) != 11+32 {
			t.Errorf("%d names were looked for", len(asked)-11)
		}
		asked = nil
		s.do(event.Submit{Text: "/theirs"})
		got = contents(s.request())
		if last = got[len(got)-1]; strings.Count(last, "<file ") != 1 {
			t.Errorf("%q", last)
		}
		if want := []string{"a.txt"}; !slices.Equal(asked, want) {
			t.Errorf("looked for %q, want %q", asked, want)
		}
	})
}
