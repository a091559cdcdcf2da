package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/fullscreen"
	"buddy/app/headless"
	"buddy/app/host"
	"buddy/app/plain"
	"buddy/app/slash"
	"buddy/app/socket"
	"buddy/texts"
	"buddy/views/markup"
	"buddy/views/words"
)

func (s *cli) lsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "ls",
		Short: "list running sessions and what they are waiting for",
		Long: "ls lists the running sessions on this machine, in all folders, with a screen or detached.\n" +
			"buddy sessions list shows this folder's saved sessions.",
		Example: "  buddy ls\n  buddy ls --json | jq -r 'select(.state == \"waits for approval\").id'",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.listRunning() },
	}
	s.jsonFlag(c, "print JSON, one object per line")
	return c
}

func (s *cli) listRunning() error {
	all, silent := host.Running(context.Background())
	for _, q := range silent {
		s.hint("session %s does not report its state: %v", q.ID, q.Err)
	}
	if s.json {
		for _, d := range all {
			if err := s.encode(d); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case len(all) == 0 && len(silent) > 0:
		return nil // the running ones were printed
	case len(all) == 0:
		s.hint("no session is running; start one with buddy")
		return nil
	}
	rows := [][]string{{"id", "state", "age", "cost", "screens", "target", "folder", "title"}}
	for _, d := range all {
		rows = append(rows, []string{
			d.ID, string(d.State), age(d.Began), money(d.Cost), fmt.Sprint(d.Screens), d.Target, cmp.Or(texts.Worktree(d.Folder), d.Folder), markup.Shorten(d.Title, 60),
		})
	}
	var b strings.Builder
	table(&b, "", rows)
	return s.print("%s", strings.TrimSuffix(b.String(), "\n"))
}

// age formats the time since unixMS; a dash if it is 0.
func age(unixMS int64) string {
	if unixMS == 0 {
		return "–"
	}
	switch d := time.Since(time.UnixMilli(unixMS)); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// ofRunning makes a command take the name of a running session as its argument, and call do with that session.
func ofRunning(c *cobra.Command, do func(d client.Description) error) *cobra.Command {
	c.Args = cobra.MaximumNArgs(1)
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, onlyThese
		}
		var names []cobra.Completion
		all, _ := host.Running(context.Background())
		for _, d := range all {
			names = append(names, cobra.CompletionWithDesc(d.ID, markup.Plain(string(d.State)+" · "+d.Title)))
		}
		return names, inOrder
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		d, err := host.Meant(context.Background(), strings.Join(args, ""))
		if err == nil {
			err = do(d)
		}
		return exit.Failure(err)
	}
	return c
}

func (s *cli) attachCommand() *cobra.Command {
	return ofRunning(&cobra.Command{
		Use:   "attach [ID]",
		Short: "show a running session on this screen",
		Long: "attach opens a screen on a running session, even if other screens show it. You see everything\n" +
			"that happened so far. You can shorten ID to its first characters, as long as they are unique;\n" +
			"last is the newest session. Without an ID, attach opens the only running session.",
		Example: "  buddy attach\n  buddy attach 7f3a",
	}, func(d client.Description) error {
		if err := compose.ByPerson(); err != nil {
			return err
		}
		socket.Private()
		return s.attach(d)
	})
}

func (s *cli) attach(d client.Description) error {
	if d.Began == 0 {
		return fmt.Errorf("session %s has no prompt yet: you can attach to it after its first prompt", d.ID)
	}
	if err := os.Chdir(d.Here); err != nil {
		return fmt.Errorf("session %s was started in a folder that can't be opened: %w", d.ID, err)
	}
	own := *s.options
	if err := json.Unmarshal(d.Options, s.options); err != nil {
		return fmt.Errorf("session %s runs a version of buddy with another protocol: %w", d.ID, err)
	}
	s.options.Theme, s.options.NoColor, s.options.Log = own.Theme, own.NoColor, own.Log
	return fullscreen.Run(s.options, slash.Next{Resume: d.ID})
}

func (s *cli) stopCommand() *cobra.Command {
	var q client.Close
	c := ofRunning(&cobra.Command{
		Use:   "stop [ID]",
		Short: "stop a running session; it stays saved",
		Long: "stop ends a session the way quitting does: running tasks are cancelled, commands in their own panes\n" +
			"keep running unless you use --kill, and buddy resume continues the session. With --when-idle, the\n" +
			"session finishes its work first, and stop does not wait for that.",
		Example: "  buddy stop 7f3a\n  buddy stop --kill\n  buddy stop 7f3a --when-idle",
	}, func(d client.Description) error { return s.stop(d, q) })
	c.Flags().BoolVar(&q.Kill, "kill", false, "also end commands that run in their own panes")
	c.Flags().BoolVar(&q.WhenIdle, "when-idle", false, "stop the session as soon as nothing in it runs or needs your answer")
	return c
}

func (s *cli) stop(d client.Description, q client.Close) error {
	session, err := host.Look(d.ID)
	if err != nil {
		return err
	}
	defer session.Close()
	reply, err := client.Ask[client.CloseReply](context.Background(), session, q)
	if err != nil {
		return fmt.Errorf("session %s did not end: %w", d.ID, err)
	}
	for _, line := range reply.Lines {
		s.hint("%s", strings.TrimPrefix(line, "buddy: "))
	}
	if reply.Later {
		return s.print("%s stops when its work is done", d.ID)
	}
	session.Close() // the host waits for connected screens
	host.AwaitEnd(d.ID)
	return s.print("stopped %s", d.ID)
}

func (s *cli) logsCommand() *cobra.Command {
	follow := false
	c := ofRunning(&cobra.Command{
		Use:   "logs [ID]",
		Short: "print the events of a running session",
		Long: "logs prints the session from its start. With -f, it keeps printing\n" +
			"until the session ends or you press Ctrl+C.",
		Example: "  buddy logs 7f3a -f\n  buddy logs 7f3a --json | jq -r .type",
	}, func(d client.Description) error { return s.logs(d, follow) })
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new events")
	s.jsonFlag(c, "print every saved event as a line of JSON")
	return c
}

func (s *cli) logs(d client.Description, follow bool) error {
	ctx, stop := exit.UntilEnded()
	defer stop()
	session, err := host.Look(d.ID)
	if err != nil {
		return err
	}
	defer session.Close()
	hello, err := session.Hello(ctx)
	if err != nil {
		return err
	}
	batches, err := session.Subscribe(ctx, 0, 0)
	if err != nil {
		return err
	}
	p := &logPrinter{cli: s, remarks: plain.Remarks{Target: d.Target, Err: s.out, ShowToolCalls: true}}
	for hello.Last > 0 || follow {
		batch, open := <-batches
		if !open {
			break
		}
		for _, env := range batch {
			if err := p.print(env); err != nil {
				return err
			}
			if !follow && env.Seq >= hello.Last {
				return nil
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return session.Err()
}

type logPrinter struct {
	*cli
	remarks plain.Remarks
}

func (p *logPrinter) print(env event.Envelope) error {
	if p.json {
		if event.Durable(env.Payload) {
			return p.encode(env)
		}
		return nil
	}
	switch e := env.Payload.(type) {
	case event.PromptSubmitted:
		if !e.Queued {
			return p.cli.print("› %s", e.Text)
		}
	case event.ModelMessage:
		if text := strings.TrimSpace(e.Message.Content); text != "" {
			return p.cli.print("%s", text)
		}
	case event.ApprovalAsked:
		return p.cli.print("waiting for approval: %s", words.Asked(e).Line())
	case event.ApprovalAnswered:
		return p.cli.print("approval: %s", answer(e))
	case event.QuestionAsked:
		return p.cli.print("%s", plain.QuestionText(e))
	case event.QuestionAnswered:
		return p.cli.print("answer%s: %s", on(e.Screen), cmp.Or(e.Text, e.By))
	case event.TaskFinished:
		if e.Outcome != event.Completed {
			return p.cli.print("%s %s", plain.Ended(e.Outcome), e.Error)
		}
	default:
		return p.remark(e)
	}
	return nil
}

// remark prints an event without a format of its own.
func (p *logPrinter) remark(e event.Event) error {
	if mode, ok := e.(event.ModeChanged); ok && mode.Screen != "" {
		return p.cli.print("mode %s%s", mode.Mode, on(mode.Screen))
	}
	p.remarks.Remark(e)
	return nil
}

// answer describes the decision about an approval, and who made it.
func answer(p event.ApprovalAnswered) string {
	text := string(p.Decision)
	if p.By != "user" {
		text += " (" + p.By + ")"
	}
	text += on(p.Screen)
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// on returns " on SCREEN" for the end of a sentence, or "" if the screen is unknown.
func on(screen string) string {
	if screen == "" {
		return ""
	}
	return " on " + screen
}

func (s *cli) approveCommand() *cobra.Command {
	deny, reason := false, ""
	c := ofRunning(&cobra.Command{
		Use:   "approve [ID]",
		Short: "answer a session's approvals",
		Long: "approve shows a session's whole request, or its plan, and asks you.\nOnly a person at a terminal can approve.\n" +
			"With --deny, it denies all open requests without asking.",
		Example: "  buddy approve 7f3a\n  buddy approve 7f3a --deny --reason \"use the staging server\"",
	}, func(d client.Description) error { return s.approve(d, deny, reason) })
	c.Flags().BoolVar(&deny, "deny", false, "deny all open requests without asking")
	c.Flags().StringVar(&reason, "reason", "", "your reason, which the model sees; only from a terminal")
	return c
}

// answerTime limits the wait for the session to record an answer.
const answerTime = 10 * time.Second

func (s *cli) approve(d client.Description, deny bool, reason string) error {
	if reason != "" && !deny {
		return exit.Usage("--reason needs --deny")
	}
	ctx, stop := exit.UntilEnded()
	defer stop()
	session, err := host.Look(d.ID)
	if err != nil {
		return err
	}
	defer session.Close()
	hello, err := session.Hello(ctx)
	if err != nil {
		return err
	}
	waiting := slices.DeleteFunc(hello.Open, func(env event.Envelope) bool { return !decides(env.Payload) })
	if len(waiting) == 0 {
		return fmt.Errorf("session %s is not waiting for an approval (%s)", d.ID, d.State)
	}
	if err := mayDecide(deny, reason, hello.Watches); err != nil {
		return err
	}
	batches, err := session.Subscribe(ctx, hello.Last, 0)
	if err != nil {
		return err
	}
	m := plain.Remarks{Err: s.err, Send: func(c event.Command) bool { session.Send(c); return true }, ShowToolCalls: true}
	for _, env := range waiting {
		if err := decide(&m, env.Payload, deny, reason); err != nil {
			return err
		}
		if err := s.answered(ctx, batches, env.Payload, hello.Screen); err != nil {
			return err
		}
	}
	return nil
}

// decides reports whether an event asks for an approval or about a plan.
func decides(e event.Event) bool {
	q, asks := e.(event.QuestionAsked)
	_, ok := e.(event.ApprovalAsked)
	return ok || asks && q.Plan != ""
}

// mayDecide returns an error if this process may not answer. watches means that the session allows this process only to
// watch and to stop it.
func mayDecide(deny bool, reason string, watches bool) error {
	switch {
	case !deny:
		return errors.Join(compose.ByPerson(), terminalHere())
	case reason != "" && watches:
		return errors.New("--reason needs a terminal, because the model reads it as your words; --deny alone works without a terminal")
	}
	return nil
}

// decide answers an approval or a plan: it asks the user or, with deny, answers no. After a no to a plan, the model
// keeps planning.
func decide(m *plain.Remarks, e event.Event, deny bool, reason string) error {
	switch e := e.(type) {
	case event.ApprovalAsked:
		if !deny {
			m.Approve(e)
			return nil
		}
		m.Send(event.AnswerApproval{ID: e.ID, Decision: event.Deny, Reason: reason})
	case event.QuestionAsked:
		if !deny {
			return m.Plan(e)
		}
		m.Send(event.Answer{ID: e.ID, Text: cmp.Or(reason, event.PlanKeep)})
	}
	return nil
}

// terminalHere returns an error if there is no terminal on which to ask the user.
func terminalHere() error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return errors.New("approve needs a terminal to ask a person; --deny works without a terminal")
	}
	return tty.Close()
}

// answered waits for the answer to an approval or a plan, and prints the answer. A screen other than this one may have
// answered first.
func (s *cli) answered(ctx context.Context, batches <-chan []event.Envelope, asked event.Event, here string) error {
	late := time.After(answerTime)
	for {
		select {
		case batch, open := <-batches:
			if !open {
				return errors.New("the session has ended")
			}
			for _, env := range batch {
				text, screen, ok := answerTo(asked, env.Payload)
				if !ok {
					continue
				}
				before := ""
				if screen != here {
					before = "already answered" + on(screen) + ": "
				}
				return s.print("%s%s", before, text)
			}
		case <-late:
			return fmt.Errorf("the session did not accept the answer within %s", answerTime)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// answerTo returns the answer to an approval or a plan, and the screen that gave it; ok is false if the event is not an
// answer to the approval or plan.
func answerTo(asked, e event.Event) (text, screen string, ok bool) {
	switch p := e.(type) {
	case event.ApprovalAnswered:
		a, is := asked.(event.ApprovalAsked)
		return fmt.Sprintf("%s: %s", p.Decision, markup.Shorten(words.Asked(a).Line(), 80)), p.Screen, is && a.ID == p.ID
	case event.QuestionAnswered:
		q, is := asked.(event.QuestionAsked)
		return markup.Shorten(plan.Label(p.Text, q.Before), 80), p.Screen, is && q.ID == p.ID
	}
	return "", "", false
}

// detached starts a session that works on a prompt without a screen, and prints its id.
func (s *cli) detached(c *cobra.Command, args []string) error {
	for _, flag := range []string{"json", "output-schema", "timeout", "max-turns", "max-cost"} {
		if c.Flags().Changed(flag) {
			return exit.Usage("--%s can't be combined with --detach: nobody waits for the answer", flag)
		}
	}
	id, earlier, err := headless.Detach(s.options, s.once, args, s.in, s.err)
	switch {
	case err != nil:
		return err
	case earlier != "":
		s.hint("session %s %s", id, earlier)
	default:
		s.hint("running in the background; to see it: buddy attach %s (buddy ls lists all sessions)", host.Short(id))
	}
	return s.print("%s", id)
}
