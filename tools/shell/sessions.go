package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
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

// createdSession is the result that the model reads.
type createdSession struct {
	Session string   `json:"session"`
	Pane    string   `json:"pane_id"`
	Title   string   `json:"pane_title"`
	Created bool     `json:"created"`
	Attach  string   `json:"attach,omitempty"` // command for the person
	Left    []string `json:"left_over,omitempty"`
	Note    string   `json:"note,omitempty"`
}

type createSessionArgs struct {
	Session string `json:"session,omitempty" desc:"its own name is the only one; leave it out"`
	Why     string `json:"why,omitempty" schema:"-"`
}

type createSession struct {
	shell *Shell
	tools.Typed[createSessionArgs]
}

// PlanArgs returns an action that few policies ask about: any command would open the same pane.
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
		return tools.Failure(t.shell.paneError(err))
	}
	left, _ := t.shell.panes.AbandonedSessions(ctx) // the list is optional
	payload := createdSession{Session: t.shell.panes.Name(), Pane: pane.ID, Title: pane.Title, Created: created, Attach: t.shell.panes.AttachLine(), Left: left}
	if !created {
		payload.Note = "it was there already"
	}
	return tools.Success(payload, "session "+payload.Session+", pane "+pane.ID)
}

type killSessionArgs struct {
	Session  string `json:"session" desc:"one of left_over"`
	Why      string `json:"why,omitempty"`
	Risk     string `json:"risk,omitempty" schema:"-"`
	Mutation bool   `json:"mutation,omitempty" schema:"-"`
	Privesc  bool   `json:"privesc,omitempty" schema:"-"`
}

type killSession struct {
	shell *Shell
	tools.Typed[killSessionArgs]
}

// PlanArgs describes the equivalent command: everything that runs in the session ends.
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
		return tools.Failure(t.shell.paneError(err))
	}
	return tools.Success(map[string]string{"closed": args.Session}, "closed "+args.Session)
}
