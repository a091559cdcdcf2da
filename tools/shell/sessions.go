package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tmux"
	"buddy/tools"
)

var (
	//go:embed tmux_create_session.md
	createSessionText string
	//go:embed tmux_kill_session.md
	killSessionText string
)

type createSessionArgs struct {
	Session string `json:"session,omitempty" desc:"its own name is the only one; leave it out"`
	Why     string `json:"why,omitempty" schema:"-"`
}

type createSession struct {
	shell *Shell
	tools.Typed[createSessionArgs]
}

// PlanArgs returns an action for which few policies ask, because any command would open the same pane.
func (t *createSession) PlanArgs(args createSessionArgs) (action.Action, error) {
	if name := t.shell.panes.Name(); args.Session != "" && args.Session != "default" && args.Session != name {
		return action.Action{}, tools.Invalid("session: there is one session, %q; leave it out", name)
	}
	act := t.shell.planManaged(t.Name(), args.Why)
	act.Op = "open the shared pane"
	return act, nil
}

func (t *createSession) RunArgs(ctx context.Context, _ tools.Call, _ createSessionArgs) tools.Result {
	if t.shell.noPanes.Load() {
		return tools.Failure(errNoPanes)
	}
	pane, created, err := t.shell.panes.Open(ctx)
	if err != nil {
		return tools.Failure(t.shell.paneError(err, ""))
	}
	left, _ := t.shell.panes.AbandonedSessions(ctx) // the list is optional
	text := fmt.Sprintf("session %s, pane %s (%s)\n", t.shell.panes.Name(), pane.ID, pane.Title)
	if attach := t.shell.panes.AttachLine(); attach != "" {
		text += "the person attaches with: " + attach + "\n"
	}
	if len(left) > 0 {
		text += "left over from earlier: " + strings.Join(left, ", ") + "\n"
	}
	note := ""
	if !created {
		note = "it already existed"
	}
	return tools.Success(text, note)
}

type killSessionArgs struct {
	Session  string `json:"session" desc:"one that is left over"`
	Why      string `json:"why,omitempty"`
	Risk     string `json:"risk,omitempty" schema:"-"`
	Mutation bool   `json:"mutation,omitempty" schema:"-"`
	Privesc  bool   `json:"privesc,omitempty" schema:"-"`
}

type killSession struct {
	shell *Shell
	tools.Typed[killSessionArgs]
}

// PlanArgs describes the tmux command with the same effect, because the call ends everything in the session.
func (t *killSession) PlanArgs(args killSessionArgs) (action.Action, error) {
	if name := t.shell.panes.Name(); args.Session == "default" || args.Session == name {
		return action.Action{}, tools.Invalid("session: %q belongs to this program and cannot be closed", name)
	}
	if strings.ContainsFunc(args.Session, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return action.Action{}, tools.Invalid("session: %q has a control character", texts.ClipBytes(args.Session, 60))
	}
	return action.Action{
		Kind: action.Shell, Tool: t.Name(), Target: t.shell.target, Command: "tmux kill-session -t '=" + strings.ReplaceAll(args.Session, "'", `'\''`) + "'",
		Preview: "ends what an earlier session of buddy left running", Why: args.Why, Risk: action.Risk(cmp.Or(args.Risk, "medium")), Mutation: args.Mutation, Privesc: args.Privesc,
	}, nil
}

func (t *killSession) RunArgs(ctx context.Context, _ tools.Call, args killSessionArgs) tools.Result {
	if t.shell.noPanes.Load() {
		return tools.Failure(errNoPanes)
	}
	err := t.shell.panes.KillSession(ctx, args.Session)
	switch {
	case errors.Is(err, tmux.ErrNoSession):
		return tools.Failure(tools.Invalid("session: %v", err))
	case err != nil:
		return tools.Failure(t.shell.paneError(err, ""))
	}
	return tools.Success("closed " + args.Session)
}
