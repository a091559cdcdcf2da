// Package rules checks rules for all packages of the program: which may import which, how many methods a type may have,
// how comments begin.
//
//	go test ./.ci/rules
package rules

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// root is the repository.
var root = os.DirFS("../..")

// rule lists what the packages below a folder must not import.
type rule struct {
	from   string   // one of our folders, with all below it
	except []string // exempt packages
	not    []string // our folders, or paths of libraries; with $ at the end, without subfolders
	why    string
}

var rules = []rule{
	{"agent", []string{"agent/evals"}, []string{"buddy/app", "buddy/views", "buddy/sessions", "buddy/config", "buddy/themes"}, "the runtime knows nothing of the screen or of files of ours"},
	{"agent/action", nil, []string{"buddy"}, "a leaf"},
	{"agent/model", nil, []string{"buddy/agent/event", "buddy/agent/history", "buddy/agent/policy", "buddy/tools", "buddy/tmux"}, "adapters only translate"},
	{"agent/settings", nil, []string{"buddy"}, "a leaf, but for money"},
	{"agent/event", nil, []string{"buddy/tools", "buddy/tmux", "buddy/agent/history", "buddy/agent/policy"}, "data only"},
	{"agent/stream", nil, []string{"buddy/agent$", "buddy/agent/approval", "buddy/agent/usage", "buddy/agent/undo", "buddy/agent/selection", "buddy/agent/conversation", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/history", "buddy/agent/policy", "buddy/tools"}, "the stream knows events only"},
	{"agent/usage", nil, []string{"buddy/agent$", "buddy/agent/approval", "buddy/agent/undo", "buddy/agent/selection", "buddy/agent/conversation", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/history", "buddy/agent/policy", "buddy/tools"}, "the ledger counts"},
	{"agent/undo", nil, []string{"buddy/agent$", "buddy/agent/approval", "buddy/agent/usage", "buddy/agent/selection", "buddy/agent/conversation", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/history", "buddy/agent/policy"}, "files are put back whatever was said of them"},
	{"agent/approval", nil, []string{"buddy/agent$", "buddy/agent/usage", "buddy/agent/undo", "buddy/agent/selection", "buddy/agent/conversation", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/history"}, "who asks the person knows actions, no conversation"},
	{"agent/selection", nil, []string{"buddy/agent$", "buddy/agent/stream", "buddy/agent/approval", "buddy/agent/usage", "buddy/agent/undo", "buddy/agent/conversation", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/history", "buddy/agent/policy"}, "what is selected, for all who ask"},
	{"agent/conversation", nil, []string{"buddy/agent$", "buddy/agent/approval", "buddy/agent/usage", "buddy/agent/undo", "buddy/agent/selection", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/policy", "buddy/tools"}, "what a model is sent, not who sends it"},
	{"agent/compact", nil, []string{"buddy/agent$", "buddy/agent/undo", "buddy/agent/turn"}, "room is made between turns"},
	{"agent/reminder", nil, []string{"buddy/agent$", "buddy/agent/conversation", "buddy/agent/turn", "buddy/agent/event", "buddy/agent/stream", "buddy/tools", "buddy/tmux"}, "says what is told, and keeps no conversation"},
	{"agent/turn", nil, []string{"buddy/agent$"}, "turns know no commands"},
	{"agent/policy", nil, []string{"buddy/agent/event", "buddy/agent/model", "buddy/tools", "buddy/tmux"}, "judges actions only"},
	{"tools", nil, []string{"buddy/app", "buddy/views", "buddy/agent/event", "buddy/agent/history", "buddy/sessions", "buddy/config", "buddy/features"}, "tools are below the runtime"},
	{"tools$", nil, []string{"buddy/tools", "buddy/tmux$", "buddy/tmux/pane"}, "says what a tool is, not which there are"},
	{"tools/fs", nil, []string{"buddy/agent", "buddy/tools", "buddy/tmux$", "buddy/tmux/pane"}, "files only"},
	{"tools/file", nil, []string{"buddy/tools/shell", "buddy/tools/target", "buddy/tools/toolset", "buddy/tools/web", "buddy/tools/basic", "buddy/tmux$", "buddy/tmux/pane"}, "works on the files of one target"},
	{"tools/shell", nil, []string{"buddy/tools/fs", "buddy/tools/file", "buddy/tools/target", "buddy/tools/toolset", "buddy/tools/web", "buddy/tools/basic"}, "works in the panes of one target"},
	{"tools/web", nil, []string{"buddy/tools/fs", "buddy/tools/file", "buddy/tools/shell", "buddy/tools/target", "buddy/tools/toolset", "buddy/tmux"}, "knows no target"},
	{"tools/basic", nil, []string{"buddy/tools/fs", "buddy/tools/file", "buddy/tools/shell", "buddy/tools/target", "buddy/tools/toolset", "buddy/tools/web", "buddy/tmux"}, "affects nothing outside buddy"},
	{"tools/plan", nil, []string{"buddy/tools/fs", "buddy/tools/file", "buddy/tools/shell", "buddy/tools/target", "buddy/tools/toolset", "buddy/tools/web", "buddy/tools/basic", "buddy/tmux", "buddy/agent/plan"}, "asks the runtime"},
	{"agent/plan", nil, []string{"buddy/agent$", "buddy/agent/approval", "buddy/agent/conversation", "buddy/agent/turn", "buddy/agent/history", "buddy/agent/policy", "buddy/tools", "buddy/tmux"}, "reads texts"},
	{"tools/target", nil, []string{"buddy/tools/toolset", "buddy/tools/web", "buddy/tools/basic"}, "routes to the tools of a target"},
	{"agent/hooks", nil, []string{"buddy/agent$", "buddy/agent/approval", "buddy/agent/conversation", "buddy/agent/compact", "buddy/agent/turn", "buddy/agent/history", "buddy/tools", "buddy/tmux$", "buddy/tmux/host$", "buddy/tmux/pane"}, "hooks are asked, they ask nobody"},
	{"agent", []string{"agent/evals", "agent/hooks"}, []string{"buddy/tools/toolset", "buddy/tools/target", "buddy/tools/shell", "buddy/tmux"}, "the runtime gets its tools, panes and targets in its options"},
	{"tmux", nil, []string{"buddy/app", "buddy/views", "buddy/agent", "buddy/tools", "buddy/sessions", "buddy/config"}, "tmux is below the tools"},
	{"tmux/host", []string{"tmux/host/hosttest"}, []string{"buddy/tmux"}, "the hosts are below tmux"},
	{"tmux/host/child", nil, []string{"buddy"}, "a leaf"},
	{"tmux/pane", nil, []string{"buddy/tmux"}, "the supervisor knows nothing of hosts"},
	{"sessions", nil, []string{"buddy/app", "buddy/views", "buddy/tools", "buddy/tmux", "buddy/config"}, "files of events"},
	{"config", nil, []string{"buddy"}, "a leaf, but for the structs that it fills for the runtime"},
	{"themes", nil, []string{"buddy"}, "a leaf"},
	{"texts", nil, []string{"buddy"}, "below all others"},
	{"owners", nil, []string{"buddy"}, "a leaf"},
	{"extensions", nil, []string{"buddy/app", "buddy/views", "buddy/config", "buddy/sessions", "buddy/tools", "buddy/tmux", "buddy/agent$", "buddy/agent/turn", "buddy/agent/conversation", "buddy/agent/event"}, "reads files that others find and use"},
	{"features", nil, []string{"buddy/agent$", "buddy/app$", "buddy/app/cli", "buddy/app/commands", "buddy/app/compose", "buddy/app/fullscreen", "buddy/app/headless", "buddy/app/host", "buddy/app/plain", "buddy/app/repl", "buddy/app/ui", "buddy/tmux$"}, "a feature is a part of sessions that others compose"},
	{"features/mcp", nil, []string{"buddy/config", "buddy/sessions"}, "gets its servers from who composes it"},
	{"features/lsp", nil, []string{"buddy/app", "buddy/views", "buddy/config", "buddy/sessions", "buddy/tmux$"}, "says what is wrong with files, answers questions about them, and publishes what happens to servers"},
	{"features/memory", nil, []string{"buddy/agent/approval", "buddy/agent/conversation", "buddy/agent/stream", "buddy/agent/history", "buddy/tmux"}, "files and events, nothing that runs"},
	{"features/skills", nil, []string{"buddy/views", "buddy/sessions"}, "reads files that the project finds, and tells models of them"},
	{"agent", nil, []string{"buddy/features"}, "the runtime knows parts, not which there are"},
	{"agent", nil, []string{"buddy/extensions/skill"}, "skills are a feature"},
	{"extensions/frontmatter", nil, []string{"buddy"}, "a leaf"},
	{"views", nil, []string{"buddy/tools", "buddy/tmux", "buddy/sessions", "buddy/config", "buddy/app$", "buddy/app/ui", "buddy/app/slash", "buddy/app/loop", "buddy/app/screen", "buddy/app/compose"}, "views draw the state"},
	{"views$", nil, []string{"buddy/views/edit", "buddy/views/prompt", "buddy/views/transcript", "buddy/views/panes", "buddy/views/dialog"}, "lines of text need no more than drawing"},
	{"views/markup", nil, []string{"buddy/views", "buddy/app"}, "text knows no view"},
	{"views/words", nil, []string{"buddy/app", "buddy/sessions", "buddy/views/edit", "buddy/views/prompt", "buddy/views/transcript", "buddy/views/panes", "buddy/views/dialog"}, "words, wherever they are shown"},
	{"views/pattern", nil, []string{"buddy"}, "a leaf"},
	{"views/draw", nil, []string{"buddy/views$", "buddy/views/pattern", "buddy/views/edit", "buddy/views/prompt", "buddy/views/transcript", "buddy/views/panes", "buddy/views/dialog"}, "drawing knows no view"},
	{"views/edit", nil, []string{"buddy/views$", "buddy/views/pattern", "buddy/views/prompt", "buddy/views/transcript", "buddy/views/panes", "buddy/views/dialog"}, "an editor knows no view that it is in"},
	{"views/prompt", nil, []string{"buddy/views$", "buddy/views/transcript", "buddy/views/panes", "buddy/views/dialog"}, "views do not know each other"},
	{"views/transcript", nil, []string{"buddy/views$", "buddy/views/prompt", "buddy/views/panes", "buddy/views/dialog"}, "views do not know each other"},
	{"views/panes", nil, []string{"buddy/views$", "buddy/views/edit", "buddy/views/prompt", "buddy/views/transcript", "buddy/views/dialog"}, "views do not know each other"},
	{"views/dialog", nil, []string{"buddy/views$", "buddy/views/prompt", "buddy/views/transcript", "buddy/views/panes"}, "views do not know each other"},
	{"app/cli", nil, []string{"buddy/app$"}, "Main is above all"},
	{"app/fullscreen", nil, []string{"buddy/agent$", "buddy/agent/stream", "buddy/app/socket", "buddy/app$", "buddy/app/cli", "buddy/app/repl", "buddy/app/headless", "github.com/spf13/cobra"}, "the commands start it"},
	{"app/client", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/host", "buddy/app/socket", "buddy/app/compose", "buddy/app/ui", "buddy/app/state", "buddy/agent$", "buddy/tools", "buddy/tmux", "buddy/sessions", "buddy/config"}, "what both sides say, and neither of them"},
	{"app/socket", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/host", "buddy/app/compose", "buddy/app/ui", "buddy/app/state", "buddy/agent$", "buddy/tools", "buddy/tmux$", "buddy/sessions", "buddy/config"}, "carries what is said, whoever says it"},
	{"app/host", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/repl", "buddy/app/headless", "buddy/app/ui", "buddy/app/loop", "buddy/app/screen", "buddy/app/state", "github.com/rivo/tview", "github.com/gdamore/tcell/v2", "github.com/spf13/cobra"}, "has no screen"},
	{"app/gc", nil, []string{"buddy"}, "a leaf"},
	{"app/repl", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/headless", "buddy/app/ui", "buddy/app/screen", "buddy/app/loop", "github.com/spf13/cobra"}, "the commands start it"},
	{"app/headless", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/repl", "buddy/app/ui", "github.com/spf13/cobra"}, "the commands start it"},
	{"app/doctor", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/repl", "buddy/app/headless", "buddy/app/ui", "buddy/app/screen", "github.com/spf13/cobra"}, "the same with a screen and without"},
	{"app/project", nil, []string{"buddy/app$", "buddy/app/c", "buddy/app/ui", "buddy/app/slash", "buddy/app/client", "buddy/tmux$", "buddy/sessions", "github.com/spf13/cobra"}, "finds what comes with a folder, for whoever asks"},
	{"app/compose", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/repl", "buddy/app/headless", "buddy/app/doctor", "buddy/app/plain", "buddy/app/input", "buddy/app/ui", "buddy/app/screen", "buddy/app/loop", "github.com/spf13/cobra"}, "below all that shows a session"},
	{"app/input", nil, []string{"buddy/app/compose", "buddy/app/ui", "buddy/config", "buddy/agent$"}, "the same with a screen and without"},
	{"app/account", nil, []string{"buddy/app/compose", "buddy/app/ui", "buddy/agent", "buddy/tools", "buddy/tmux"}, "keys and logins only"},
	{"app/plain", nil, []string{"buddy/app", "buddy/agent$", "buddy/config", "buddy/sessions", "buddy/tools", "buddy/tmux$", "buddy/tmux/host"}, "prints events"},
	{"app/exit", nil, []string{"buddy"}, "a leaf"},
	{"app/version", nil, []string{"buddy"}, "a leaf"},
	{"app/ui", nil, []string{"buddy/agent/policy", "buddy/agent/history", "buddy/agent/prompt", "buddy/agent/instructions", "buddy/tools", "buddy/tmux", "buddy/config"}, "the screen gets what it needs in its deps"},
	{"app/ui", nil, []string{"buddy/agent$"}, "the screen sends commands, it runs no agent"},
	{"app/ui", nil, []string{"buddy/sessions", "os", "io/ioutil", "github.com/google/renameio"}, "the screen reads and writes no file"},
	{"app/slash", nil, []string{"buddy/agent$", "buddy/agent/policy", "buddy/agent/history", "buddy/tmux", "buddy/config", "buddy/app$", "buddy/app/ui", "github.com/rivo/tview", "github.com/gdamore/tcell/v2"}, "the same with a screen and without"},
	{"app/show", nil, []string{"buddy/agent", "buddy/app", "buddy/tools", "buddy/tmux", "buddy/sessions", "buddy/config", "buddy/extensions", "buddy/views/draw", "github.com/rivo/tview", "github.com/gdamore/tcell/v2"}, "shapes, whoever fills and draws them"},
	{"app/commands", nil, []string{"buddy/app$", "buddy/app/cli", "buddy/app/fullscreen", "buddy/app/host", "buddy/app/repl", "buddy/app/headless", "buddy/app/ui", "buddy/app/screen", "buddy/app/loop", "github.com/rivo/tview", "github.com/gdamore/tcell/v2", "github.com/spf13/cobra"}, "answers in shapes, whoever draws them"},
	{"app/state", nil, []string{"buddy/views", "buddy/tools", "buddy/tmux", "buddy/sessions"}, "folds events"},
	{"", []string{"app", "views"}, []string{"github.com/rivo/tview", "github.com/gdamore/tcell/v2"}, "only the screen draws"},
	{"", []string{"features/mcp", "config/login", "app/compose"}, []string{"github.com/modelcontextprotocol/go-sdk"}, "only the client of servers knows their protocol, and their logins"},
	{"", []string{"features/lsp"}, []string{"github.com/creachadair/jrpc2"}, "only the client of language servers knows their protocol"},
	{"", nil, []string{"text/template", "html/template"}, "a template calls methods by their names, so that the linker keeps all methods of all types: 4 MB"},
	{"", []string{"agent/model/completions", "agent/model/responses"}, []string{"github.com/sashabaranov/go-openai"}, "only its adapters know a protocol"},
}

// belowLeaves may be imported by all packages, or by those below a folder, whatever they import.
var belowLeaves = map[string][]string{
	"":               {"buddy/texts", "buddy/texts/proxies", "buddy/texts/secretvariable", "buddy/owners"},
	"config":         {"buddy/agent/settings", "buddy/agent/model", "buddy/agent/action"},
	"agent/settings": {"buddy/agent/model"},
}

// TestArrows reads the direct imports of every package of ours and fails on a forbidden one.
func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "buddy/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	checked := 0
	for l := range strings.Lines(string(out)) {
		words := strings.Fields(l)
		pkg := strings.TrimPrefix(strings.TrimPrefix(words[0], "buddy"), "/")
		for _, r := range rules {
			if !below(pkg, r.from) || slices.ContainsFunc(r.except, func(e string) bool { return below(pkg, e) }) {
				continue
			}
			for _, imported := range words[1:] {
				checked++
				if slices.Contains(belowLeaves[""], imported) || slices.Contains(belowLeaves[r.from], imported) {
					continue
				}
				if slices.ContainsFunc(r.not, func(n string) bool { return below(imported, n) }) && !below(imported, "buddy/"+r.from) {
					t.Errorf("%s imports %s: %s", words[0], imported, r.why)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d imports were checked: the list is not what it was", checked)
	}
}

// A feature is one folder. Only the list of features, the packages that compose it, and one more package may import it.
func TestFeaturesStayApart(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "buddy/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	known := map[string][]string{} // importers, by feature
	for l := range strings.Lines(string(out)) {
		words := strings.Fields(l)
		for _, imported := range words[1:] {
			name, ok := strings.CutPrefix(imported, "buddy/features/")
			name, _, _ = strings.Cut(name, "/")
			apart := words[0] != "buddy/features" && words[0] != "buddy/app/compose" && !below(words[0], "buddy/features/"+name)
			if ok && name != "feature" && apart && !slices.Contains(known[name], words[0]) {
				known[name] = append(known[name], words[0])
			}
		}
	}
	for name, by := range known {
		if len(by) > 1 {
			t.Errorf("features/%s is imported by %s: one of them is enough", name, strings.Join(by, " and "))
		}
	}
	if len(known) == 0 {
		t.Error("no feature was found: the check is not what it was")
	}
}

// below reports whether path is folder or inside it.
func below(path, folder string) bool {
	if only, ok := strings.CutSuffix(folder, "$"); ok {
		return path == only
	}
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}
