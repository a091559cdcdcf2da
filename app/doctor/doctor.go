// Package doctor implements buddy doctor: it checks the settings and everything that a session depends on, such as
// the model, tmux and servers.
//
//	fmt.Print(doctor.Text(doctor.Examine(ctx, options, true, os.Stderr)))
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"golang.org/x/term"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/app/compose"
	"buddy/app/input"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/texts/searchpath"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/pane/seatbelt"
	"buddy/tools/target"
	"buddy/views/markup"
)

// Health is the result of a check.
type Health string

// The states of a [Finding].
const (
	Fine   Health = "ok"
	Weak   Health = "weak"   // buddy works, with restrictions
	Broken Health = "broken" // something requested does not work
)

// Finding holds the result of one check.
type Finding struct {
	Check string `json:"check"`
	State Health `json:"state"`
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // how to fix it
}

// AnswerTime limits how long AskModel waits for the model's answer.
const AnswerTime = 30 * time.Second

// Examine makes all checks. Before a slow check it prints a message to say. With ask, it also sends a short request to
// the model.
func Examine(ctx context.Context, f *compose.Options, ask bool, say io.Writer) []Finding {
	c, _, notices, err := compose.LoadConfig(f)
	all := append([]Finding{checkSettings(c, notices, err)}, checkMachine(ctx, c)...)
	if err == nil {
		all = append(all, CheckModel(ctx, c, ask)...)
	}
	all = append(append(all, checkServers(f)...), checkLanguages(f)...)
	all = append(all, checkFolders()...)
	return append(append(all, checkExtensions(ctx)), checkTarget(f, say)...)
}

// checkMachine checks the machine that buddy runs on.
func checkMachine(ctx context.Context, c config.Config) []Finding {
	cwd, _ := os.Getwd() // if unknown, no settings file is in it
	free := checkFree(&target.Target{Name: slash.ThisMachine}, target.Environment{Dir: cwd})
	return []Finding{checkKeys(), checkTrust(c), checkHooks(c), checkTerminal(os.Getenv), checkTmux(ctx), free, checkFence(c, cwd), checkClipboard(os.Getenv), checkNetwork(os.Getenv), checkSearch(c.Tools.Search)}
}

// checkServers lists the MCP servers that can't be started. It starts none.
func checkServers(f *compose.Options) []Finding {
	servers, err := compose.ServersHere(f)
	if err != nil || len(servers) == 0 {
		return nil // another check reports errors in settings
	}
	var left []string
	state := Weak
	for _, s := range servers {
		if s.Problem != "" {
			left = append(left, s.Name+": "+s.Problem)
		}
		if strings.HasSuffix(s.Problem, project.NotUnderstood) {
			state = Broken
		}
	}
	if len(left) > 0 {
		return []Finding{{"mcp", state, "not started: " + strings.Join(left, "; "), "buddy mcp list"}}
	}
	return []Finding{{"mcp", Fine, fmt.Sprintf("servers: %d (buddy mcp check starts them)", len(servers)), ""}}
}

// checkLanguages lists the language servers, and those that can't be used. It starts none.
func checkLanguages(f *compose.Options) []Finding {
	servers, err := compose.LanguageServersHere(f)
	if err != nil {
		return nil // another check reports errors in settings
	}
	var here, left []string
	for _, s := range servers {
		switch {
		case s.Off:
		case s.Problem != "":
			left = append(left, s.Name+": "+s.Problem)
		default:
			here = append(here, s.Name)
		}
	}
	text := "language servers: " + cmp.Or(strings.Join(here, ", "), "none, so edits are not checked (install gopls, pyright or another language server on the PATH)")
	if len(left) > 0 {
		return []Finding{{"lsp", Weak, text + "; not used: " + strings.Join(left, "; "), "docs/extensions.md explains what each needs"}}
	}
	return []Finding{{"lsp", Fine, text, ""}}
}

// Text returns the report in the form shown to the user.
func Text(all []Finding) string {
	var b strings.Builder
	for _, one := range all {
		mark := map[Health]string{Fine: "✓", Weak: "!", Broken: "✗"}[one.State]
		fmt.Fprintf(&b, "%s %-10s %s\n", mark, one.Check, markup.Plain(strings.ReplaceAll(one.Text, "\n", "; ")))
		if one.Do != "" {
			fmt.Fprintf(&b, "  %-10s → %s\n", "", markup.Plain(one.Do))
		}
	}
	return b.String()
}

func checkSettings(c config.Config, notices []string, err error) Finding {
	switch {
	case err != nil:
		return Finding{"settings", Broken, err.Error(), "fix that line; docs/config.md lists the allowed values"}
	case len(notices) > 0:
		return Finding{"settings", Weak, strings.Join(notices, "; "), ""}
	case c.MissingFile != "":
		return Finding{"settings", Fine, "no file; defaults are used", ""}
	}
	return Finding{"settings", Fine, fmt.Sprintf("%s, profiles: %d", cmp.Or(c.File, "none"), len(c.Models)), ""}
}

// checkKeys checks the file with keys.
func checkKeys() Finding {
	s := config.Auth()
	info, err := os.Stat(s.Path())
	if errors.Is(err, os.ErrNotExist) || s.Path() == "" {
		return Finding{"keys", Fine, "no saved keys", ""}
	}
	all, readErr := s.Read()
	switch err := errors.Join(err, readErr); {
	case err != nil:
		return Finding{"keys", Broken, err.Error(), "remove the file and log in again"}
	case info.Mode().Perm()&0o077 != 0:
		return Finding{"keys", Broken, fmt.Sprintf("%s is accessible to others (mode %04o)", s.Path(), info.Mode().Perm()), "chmod 600 " + s.Path()}
	}
	if len(all.Keys)+len(all.Logins) == 0 {
		return Finding{"keys", Fine, "no saved keys", ""}
	}
	return Finding{"keys", Fine, fmt.Sprintf("in %s; keys: %d, logins: %d", s.Path(), len(all.Keys), len(all.Logins)), ""}
}

// checkTrust checks the parts of the project in this folder that run something or grant permissions.
func checkTrust(c config.Config) Finding {
	checks, problems, err := project.CheckParts(".", c)
	if err != nil {
		return Finding{"project", Broken, err.Error(), "fix or remove that file; until then, nothing from the project runs"}
	}
	var off []string
	for _, c := range checks {
		switch {
		case c.State.Err != nil:
			off = append(off, "can't be trusted: "+c.State.Err.Error())
		case c.State.Changed:
			off = append(off, c.String()+" changed since you trusted it")
		case !c.State.Trusted:
			off = append(off, c.String()+" is not trusted")
		}
	}
	state := Weak
	for _, p := range problems {
		off = append(off, "skipped in "+p.File+": "+p.Reason)
		if !p.Quiet {
			state = Broken
		}
	}
	switch {
	case len(off) > 0:
		return Finding{"project", state, strings.Join(off, "; "), "/trust, or run: buddy trust"}
	case len(checks) == 0:
		return Finding{"project", Fine, "this folder has no hooks or servers", ""}
	}
	return Finding{"project", Fine, fmt.Sprintf("hooks and servers: %d, all trusted", len(checks)), ""}
}

// checkTerminal checks the requirements of the screen.
func checkTerminal(getenv func(string) string) Finding {
	name := getenv("TERM")
	locale := getenv("LANG")
	for _, v := range []string{"LC_CTYPE", "LC_ALL"} {
		if s := getenv(v); s != "" {
			locale = s
		}
	}
	utf8 := strings.ReplaceAll(strings.ToLower(locale), "-", "")
	switch {
	case name == "" || name == "dumb":
		return Finding{"terminal", Broken, fmt.Sprintf("TERM is %q, so the full screen is not available", name), "set TERM to your terminal's type, such as xterm-256color; buddy exec works without it"}
	case !strings.Contains(utf8, "utf8"):
		return Finding{"terminal", Weak, fmt.Sprintf("the locale %q is not UTF-8, so lines may look wrong", locale), "export LC_ALL=C.UTF-8"}
	}
	colours := "16 colours or fewer"
	switch ct := getenv("COLORTERM"); {
	case getenv("NO_COLOR") != "":
		colours = "no colours, because NO_COLOR is set"
	case ct == "truecolor" || ct == "24bit":
		colours = "true colours"
	case strings.Contains(name, "256"):
		colours = "256 colours"
	}
	text := name + ", " + colours
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		text += fmt.Sprintf(", %d×%d", w, h)
		if w < 40 || h < 10 {
			return Finding{"terminal", Weak, text, "make it 40×10 or larger"}
		}
	}
	return Finding{"terminal", Fine, text, ""}
}

func checkTmux(ctx context.Context) Finding {
	version, err := tmux.Installed(ctx)
	if err != nil {
		return Finding{"tmux", Weak, err.Error() + "; commands run without panes", "install tmux 3.2 or newer"}
	}
	if err := tmux.CheckOutside(os.Getenv); err != nil {
		return Finding{"tmux", Broken, err.Error(), ""}
	}
	return Finding{"tmux", Fine, version, ""}
}

// checkFree reports which commands run without approval on a target, and what confines them.
func checkFree(t *target.Target, env target.Environment) Finding {
	err := t.Confines(env, tmux.Options{Greeting: pane.Greeting{Env: os.Environ()}})
	one := Finding{"read-only", Fine, t.Name + ": " + policy.Policy{Confined: err == nil}.Free(""), ""}
	switch by := seatbelt.Tested(); {
	case err != nil:
		one.Text += " (" + err.Error() + ")"
		if t.Host == nil {
			one.State = Weak
		}
	case by != "":
		one.Text += " (" + by + ")"
	}
	return one
}

// checkFence reports whether the sandbox of auto mode works in a folder, and what to do if not.
func checkFence(c config.Config, cwd string) Finding {
	err := tmux.Fences(tmux.Options{Greeting: pane.Greeting{Env: os.Environ(), Fence: compose.FenceSettings(c.Sandbox, []string{cwd}, nil)}})
	if err != nil {
		return Finding{"sandbox", Weak, "auto mode is not available: " + err.Error(), ""}
	}
	return Finding{"sandbox", Fine, "auto mode: commands write only in the workspace (" + cmp.Or(seatbelt.Tested(), "bubblewrap") + ")", ""}
}

func checkClipboard(getenv func(string) string) Finding {
	if tool := input.ClipboardTool(getenv, searchpath.Look); tool != nil {
		return Finding{"clipboard", Fine, "through " + tool[0] + " and the terminal", ""}
	}
	if getenv("TMUX") != "" {
		return Finding{"clipboard", Fine, "through tmux's buffer and the terminal (OSC 52)", ""}
	}
	return Finding{"clipboard", Fine, "through the terminal (OSC 52), if the terminal allows it", ""}
}

// CheckModel checks the model with which a session would start. With ask, it also sends a short request to the model.
func CheckModel(ctx context.Context, c config.Config, ask bool) []Finding {
	switch {
	case c.Active == nil && c.Problem == "":
		return []Finding{{"model", Fine, "the demo, as requested", ""}}
	case c.Active == nil:
		return []Finding{{"model", Broken, c.Problem, "buddy init"}}
	}
	p := *c.Active
	o := compose.Describe(p, "", true)
	if !o.Usable {
		return []Finding{{"model", Broken, o.Why, "buddy models lists available models"}}
	}
	all := []Finding{{"model", Fine, fmt.Sprintf("%s (%s) at %s, %s", p.Name, p.Model, p.Address(), o.Why), ""}}
	if o.Window == 0 {
		do := "set context_limit in a profile for this model"
		if !p.Bundled() && model.HasSection(p.Name, p.Model) {
			do = "buddy config set " + action.Quote([]string{config.Path("models", p.Name, "context_limit")}) + " TOKENS"
		}
		all = append(all, Finding{"window", Weak, "the model's context window is unknown", do})
	}
	if ask {
		all = append(all, AskModel(ctx, p))
	}
	return all
}

// AskModel sends a short request to the model and reports whether it answers.
func AskModel(ctx context.Context, p config.Profile) Finding {
	ctx, stop := context.WithTimeout(ctx, AnswerTime)
	defer stop()
	m, err := compose.Bare(p)
	if err != nil {
		return Finding{"endpoint", Broken, err.Error(), ""}
	}
	begin, spent := time.Now(), ""
	for d, e := range m.Stream(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: "Answer with the word ok."}}}) {
		err = e
		if d.Kind == model.Done && d.Usage != nil {
			spent = fmt.Sprintf(", %d tokens", d.Usage.Prompt+d.Usage.Completion)
			if cost := compose.PriceOf(p).Cost(*d.Usage); cost > 0 {
				spent += " for " + cost.String()
			}
		}
	}
	var e *model.Error
	switch {
	case errors.As(err, &e):
		hint := e.Hint
		said := *e
		said.Hint = ""
		return Finding{"endpoint", Broken, said.Error(), hint}
	case err != nil:
		return Finding{"endpoint", Broken, fmt.Sprintf("%s: no answer within %v: %v", p.Address(), AnswerTime, err), "check the network or the server's load"}
	}
	return Finding{"endpoint", Fine, fmt.Sprintf("answered in %.1f s%s", time.Since(begin).Seconds(), spent), ""}
}

// checkFolders checks the folders that buddy writes to.
func checkFolders() []Finding {
	var all []Finding
	cwd, err := os.Getwd()
	if err == nil {
		var store sessions.Store
		var notice string
		c, _, _, _ := compose.LoadConfig(new(compose.Options)) // another check reports its errors
		if store, notice, err = sessions.Dir(cwd, sessions.Location(c.Sessions.Location)); err == nil {
			one := Finding{"sessions", Fine, "in " + store.Path(), ""}
			if notice != "" {
				one = Finding{"sessions", Weak, notice, ""}
			}
			all = append(append(all, one), checkDamage(store)...)
		}
	}
	if err != nil {
		all = append(all, Finding{"sessions", Broken, err.Error(), "work in a folder that you can write to"})
	}
	state := filepath.Join(xdg.StateHome, "buddy")
	err = os.MkdirAll(state, 0o700)
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(state, ".doctor-*")
	}
	if err != nil {
		return append(all, Finding{"state", Broken, err.Error(), "make " + state + " writable for you"})
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return append(all, Finding{"state", Fine, state, ""})
}

// checkDamage lists the sessions of a project that can't be opened.
func checkDamage(store sessions.Store) []Finding {
	var all []Finding
	for _, s := range append([]sessions.Store{store}, store.Others()...) {
		damaged, err := sessions.Damaged(s)
		if err != nil {
			all = append(all, Finding{"sessions", Broken, err.Error(), "make the folder readable for you"})
		}
		for _, e := range damaged {
			all = append(all, Finding{"sessions", Weak, fmt.Sprintf("session %s can't be opened: %s", e.ID, e.Problem), ""})
		}
	}
	return all
}

// checkTarget connects to the target in the flags.
func checkTarget(f *compose.Options, say io.Writer) []Finding {
	t, err := compose.NewDestination(f)
	if err != nil {
		return []Finding{{"target", Broken, err.Error(), ""}}
	}
	if t.Host == nil {
		return nil
	}
	defer func() { _ = t.Close() }() // only checked
	if err := t.Reach(say); err != nil {
		return []Finding{{"target", Broken, err.Error(), ""}}
	}
	env, err := t.Look(context.Background(), f.Dir)
	switch {
	case t.Away != nil:
		return []Finding{{"target", Broken, t.Away.Error(), "check the name, and that it is running"}}
	case err != nil:
		return []Finding{{"target", Broken, err.Error(), ""}}
	}
	if err := tmux.Usable(env.Tmux); err != nil {
		return []Finding{{"target", Weak, fmt.Sprintf("%s: %v; commands run without panes", t.Name, err), "install tmux 3.2 or newer there"}}
	}
	return []Finding{{"target", Fine, fmt.Sprintf("%s: %s, %s, %s", t.Name, env.OS, env.Shell, strings.TrimSpace(env.Tmux)), ""}, checkFree(t.Target, env)}
}

// ExamineSession runs the checks for a session with the settings c and the model of profile.
func ExamineSession(ctx context.Context, c config.Config, profile string) []Finding {
	if now, ok := c.Lookup(profile); ok {
		c.Active = &now
	}
	all := append([]Finding{checkSettings(c, nil, nil)}, checkMachine(ctx, c)...)
	return append(append(all, CheckModel(ctx, c, true)...), checkFolders()...)
}
