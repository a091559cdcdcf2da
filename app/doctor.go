package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux"
	"buddy/tools/target"
)

// health is how something is.
type health string

const (
	fine   health = "ok"
	weak   health = "weak"   // buddy works, with less
	broken health = "broken" // something that was asked for does not work
)

// finding is what the doctor says of one thing.
type finding struct {
	Check string `json:"check"`
	State health `json:"state"`
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what mends it
}

// answerTime is how long the doctor waits for a model.
const answerTime = 30 * time.Second

func doctorCommand(f *flags, stdout, stderr *os.File) *cobra.Command {
	asJSON, offline := false, false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check what buddy needs, and say what to do about the rest",
		Long: "doctor looks at the settings, the terminal, tmux, the clipboard, the folders that buddy writes to, the\n" +
			"target that --ssh or --container names, and asks the model for one word. It exits 1 when something is broken.",
		Example: "  buddy doctor\n  buddy doctor --ssh root@web-02 --offline",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := context.WithTimeout(context.Background(), 2*answerTime)
			defer stop()
			all := examine(ctx, f, !offline, stderr)
			var err error
			if asJSON {
				enc := json.NewEncoder(stdout)
				enc.SetIndent("", "\t")
				enc.SetEscapeHTML(false)
				err = enc.Encode(all)
			} else {
				_, err = io.WriteString(stdout, findingsText(all))
			}
			if err != nil {
				return failed(err)
			}
			for _, one := range all {
				if one.State == broken {
					return exit{code: exitFailed}
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a list for programs")
	c.Flags().BoolVar(&offline, "offline", false, "ask no model")
	return c
}

// examine makes all checks. say gets what takes time.
func examine(ctx context.Context, f *flags, ask bool, say io.Writer) []finding {
	c, _, notices, err := loadConfig(f)
	all := append([]finding{checkSettings(c, notices, err)}, checkMachine(ctx)...)
	if err == nil {
		all = append(all, checkModel(ctx, c, ask)...)
	}
	return append(append(all, checkFolders()...), checkTarget(f, say)...)
}

// checkMachine looks at what is around buddy.
func checkMachine(ctx context.Context) []finding {
	cwd, _ := os.Getwd() // unknown: no file of ours is in it
	free := checkFree(&target.Target{Name: onThisMachine}, target.Environment{Dir: cwd})
	return []finding{checkKeys(), checkTerminal(os.Getenv), checkTmux(ctx), free, checkClipboard(os.Getenv)}
}

// findingsText is the report for people.
func findingsText(all []finding) string {
	var b strings.Builder
	for _, one := range all {
		mark := map[health]string{fine: "✓", weak: "!", broken: "✗"}[one.State]
		fmt.Fprintf(&b, "%s %-10s %s\n", mark, one.Check, plain(strings.ReplaceAll(one.Text, "\n", "; ")))
		if one.Do != "" {
			fmt.Fprintf(&b, "  %-10s → %s\n", "", plain(one.Do))
		}
	}
	return b.String()
}

func checkSettings(c config.Config, notices []string, err error) finding {
	switch {
	case err != nil:
		return finding{"settings", broken, err.Error(), "mend that line; docs/config.md lists what is allowed"}
	case len(notices) > 0:
		return finding{"settings", weak, strings.Join(notices, "; "), ""}
	case c.MissingFile != "":
		return finding{"settings", fine, "no file: the defaults apply", ""}
	}
	return finding{"settings", fine, fmt.Sprintf("%s, profiles: %d", cmp.Or(c.File, "none"), len(c.Models)), ""}
}

// checkKeys looks at the file with keys.
func checkKeys() finding {
	s := config.Auth()
	info, err := os.Stat(s.Path())
	if errors.Is(err, os.ErrNotExist) || s.Path() == "" {
		return finding{"keys", fine, "none are kept by buddy login", ""}
	}
	all, readErr := s.Read()
	switch err := errors.Join(err, readErr); {
	case err != nil:
		return finding{"keys", broken, err.Error(), "remove the file and log in again"}
	case info.Mode().Perm()&0o077 != 0:
		return finding{"keys", broken, fmt.Sprintf("%s can be opened by others (mode %04o)", s.Path(), info.Mode().Perm()), "chmod 600 " + s.Path()}
	}
	if len(all.Keys)+len(all.Logins) == 0 {
		return finding{"keys", fine, "none are kept by buddy login", ""}
	}
	return finding{"keys", fine, fmt.Sprintf("in %s; keys: %d, logins: %d", s.Path(), len(all.Keys), len(all.Logins)), ""}
}

// checkTerminal looks at what the screen needs.
func checkTerminal(getenv func(string) string) finding {
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
		return finding{"terminal", broken, fmt.Sprintf("TERM is %q: there is no full screen", name), "set TERM to what your terminal is, such as xterm-256color; buddy exec needs none"}
	case !strings.Contains(utf8, "utf8"):
		return finding{"terminal", weak, fmt.Sprintf("the locale %q is not UTF-8: lines may be drawn wrong", locale), "export LC_ALL=C.UTF-8"}
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
			return finding{"terminal", weak, text, "make it 40×10 or larger"}
		}
	}
	return finding{"terminal", fine, text, ""}
}

func checkTmux(ctx context.Context) finding {
	version, err := tmux.Installed(ctx)
	if err != nil {
		return finding{"tmux", weak, err.Error() + "; commands run without panes", "install tmux 3.2 or newer"}
	}
	if err := tmux.CheckOutside(os.Getenv); err != nil {
		return finding{"tmux", broken, err.Error(), ""}
	}
	return finding{"tmux", fine, version, ""}
}

// checkFree tells which commands nobody is asked about on a target, and what keeps them.
func checkFree(t *target.Target, env target.Environment) finding {
	err := t.Confines(env, tmux.Options{Env: os.Environ()})
	one := finding{"free", fine, t.Name + ": " + policy.Policy{Confined: err == nil}.Free(""), ""}
	if err != nil {
		one.Text += " (" + err.Error() + ")"
	}
	if err != nil && t.Host == nil {
		one.State = weak
	}
	return one
}

func checkClipboard(getenv func(string) string) finding {
	if tool := clipboardTool(getenv, exec.LookPath); tool != nil {
		return finding{"clipboard", fine, "through " + tool[0] + " and the terminal", ""}
	}
	if getenv("TMUX") != "" {
		return finding{"clipboard", fine, "through tmux's buffer and the terminal (OSC 52)", ""}
	}
	return finding{"clipboard", fine, "through the terminal (OSC 52), if it allows that", ""}
}

// checkModel looks at the model that a start takes, and asks it for a word.
func checkModel(ctx context.Context, c config.Config, ask bool) []finding {
	switch {
	case c.Active == nil && c.Problem == "":
		return []finding{{"model", fine, "the demo, which was asked for", ""}}
	case c.Active == nil:
		return []finding{{"model", broken, c.Problem, "buddy init"}}
	}
	p := *c.Active
	o := describe(p, "", true)
	if !o.Usable {
		return []finding{{"model", broken, o.Why, "buddy models shows what can be used"}}
	}
	all := []finding{{"model", fine, fmt.Sprintf("%s (%s) at %s, %s", p.Name, p.Model, p.BaseURL, o.Why), ""}}
	if o.Window == 0 {
		do := "set context_limit in a profile for it"
		if !p.Bundled() {
			do = "buddy config set " + config.Path("models", p.Name, "context_limit") + " TOKENS"
		}
		all = append(all, finding{"window", weak, "the context window of the model is not known", do})
	}
	if ask {
		all = append(all, askModel(ctx, p))
	}
	return all
}

// askModel sends a real request, once.
func askModel(ctx context.Context, p config.Profile) finding {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	m, err := bare(p)
	if err != nil {
		return finding{"endpoint", broken, err.Error(), ""}
	}
	begin, spent := time.Now(), ""
	for d, e := range m.Stream(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: "Answer with the word ok."}}}) {
		err = e
		if d.Kind == model.Done && d.Usage != nil {
			spent = fmt.Sprintf(", %d tokens", d.Usage.Prompt+d.Usage.Completion)
			if cost := priceOf(p).Cost(*d.Usage); cost > 0 {
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
		return finding{"endpoint", broken, said.Error(), hint}
	case err != nil:
		return finding{"endpoint", broken, fmt.Sprintf("%s: no answer within %v: %v", p.BaseURL, answerTime, err), "check the network, or the load of the server"}
	}
	return finding{"endpoint", fine, fmt.Sprintf("it answered in %.1f s%s", time.Since(begin).Seconds(), spent), ""}
}

// checkFolders looks at the folders that buddy writes to.
func checkFolders() []finding {
	var all []finding
	cwd, err := os.Getwd()
	if err == nil {
		var notice string
		if _, notice, err = sessions.Dir(cwd); err == nil {
			one := finding{"sessions", fine, "in .buddyx of this folder", ""}
			if notice != "" {
				one = finding{"sessions", weak, notice, ""}
			}
			all = append(all, one)
		}
	}
	if err != nil {
		all = append(all, finding{"sessions", broken, err.Error(), "work in a folder that you may write to"})
	}
	state := filepath.Join(xdg.StateHome, "buddy")
	err = os.MkdirAll(state, 0o700)
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(state, ".doctor-*")
	}
	if err != nil {
		return append(all, finding{"state", broken, err.Error(), "make " + state + " writable for you"})
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return append(all, finding{"state", fine, state, ""})
}

// checkTarget reaches for what the flags name.
func checkTarget(f *flags, say io.Writer) []finding {
	t, err := newDestination(f)
	if err != nil {
		return []finding{{"target", broken, err.Error(), ""}}
	}
	if t.Host == nil {
		return nil
	}
	defer func() { _ = t.close() }() // it was only looked at
	if err := t.connect(say); err != nil {
		return []finding{{"target", broken, err.Error(), ""}}
	}
	env, err := t.Look(f.dir)
	switch {
	case t.Away != nil:
		return []finding{{"target", broken, t.Away.Error(), "check the name and that it runs"}}
	case err != nil:
		return []finding{{"target", broken, err.Error(), ""}}
	}
	if err := tmux.Usable(env.Tmux); err != nil {
		return []finding{{"target", weak, fmt.Sprintf("%s: %v; commands run without panes", t.Name, err), "install tmux 3.2 or newer there"}}
	}
	return []finding{{"target", fine, fmt.Sprintf("%s: %s, %s, %s", t.Name, env.OS, env.Shell, strings.TrimSpace(env.Tmux)), ""}, checkFree(t.Target, env)}
}

// examine makes the checks that concern a running program, with the model that answers now.
func (p *program) examine(ctx context.Context, profile string) []finding {
	c := p.config
	if now, ok := c.Lookup(profile); ok {
		c.Active = &now
	}
	all := append([]finding{checkSettings(c, nil, nil)}, checkMachine(ctx)...)
	return append(append(all, checkModel(ctx, c, true)...), checkFolders()...)
}
