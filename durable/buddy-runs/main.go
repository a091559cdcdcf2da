// Command buddy-runs starts, lists and cancels durable runs, and answers their approvals. Package durable explains
// them. The commands buddy runs and buddy exec --durable call this program.
//
//	buddy-runs list --json
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"buddy/durable"
	"buddy/sessions"
	"buddy/views/markup"
)

const (
	dialTime = 10 * time.Second
	pageSize = 1000
)

const usage = `usage: buddy runs COMMAND

  start [FLAGS] PROMPT   start a run and print its id (buddy exec --durable does the same)
  list                   list the runs and what they wait for; --json: one object per line
  show ID                show one run
  attach ID              show the run's session on this screen, or print the command for its machine
  logs ID                print the session's events, or the command for its machine
  approve ID             show the waiting call and answer it; --deny --reason TEXT
  cancel ID              stop a run

TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other variables and files of the temporal program
say where the server is (default: 127.0.0.1:7233).`

func main() {
	if err := run(os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "buddy runs: "+markup.Plain(err.Error()))
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		fmt.Println(usage)
		return nil
	}
	commands := map[string]func(context.Context, client.Client, []string) error{
		"start": start, "list": list, "show": show, "attach": onMachine("attach"), "logs": onMachine("logs"), "approve": approve, "cancel": cancel,
	}
	do, ok := commands[args[0]]
	if !ok {
		return fmt.Errorf("unknown command %q\n%s", args[0], usage)
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), dialTime)
	defer stop()
	options.Logger = log.NewStructuredLogger(slog.New(slog.DiscardHandler)) // errors are returned as well
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("the Temporal server at %s does not answer: %w", options.HostPort, err)
	}
	defer c.Close()
	return do(context.Background(), c, args[1:])
}

func start(ctx context.Context, c client.Client, args []string) error {
	f := flag.NewFlagSet("start", flag.ContinueOnError)
	id := f.String("id", "", "the run's id; starting it again prints the same id")
	queue, label := f.String("queue", durable.Queue, "the task queue"), f.String("label", "", "only workers with this label")
	var r durable.Run
	f.StringVar(&r.Folder, "folder", "", "the folder on the worker (default: this one)")
	f.StringVar(&r.Mode, "approve", "", "the permission mode")
	f.StringVar(&r.Model, "model", "", "the model")
	f.DurationVar(&r.FailoverAfter, "failover-after", 15*time.Minute, "how long the run waits for its worker to come back")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 || strings.TrimSpace(f.Arg(0)) == "" {
		return errors.New("start needs one PROMPT")
	}
	if r.Folder == "" {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		r.Folder = dir
	}
	if *id == "" {
		*id = sessions.NewID()
	}
	if err := sessions.CheckID(*id); err != nil {
		return err
	}
	r.Prompt, r.Queue = f.Arg(0), durable.QueueOf(*queue, *label)
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: *id, TaskQueue: r.Queue, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		Memo:                  map[string]any{durable.StatusKey: durable.Status{Folder: r.Folder}},
	}, durable.WorkflowName, r)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		_, _ = fmt.Fprintf(os.Stderr, "buddy runs: run %s has been started before\n", *id)
	} else if err != nil {
		return err
	}
	fmt.Println(*id)
	return nil
}

// found is a run with its memo.
type found struct {
	ID    string `json:"id"`
	State string `json:"state"`
	durable.Status
	problem string // of the last attempt of its worker; "" if it works
}

func list(ctx context.Context, c client.Client, args []string) error {
	asJSON := len(args) > 0 && args[0] == "--json"
	var page []byte
	for first := true; first || len(page) > 0; first = false {
		reply, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "WorkflowType = '" + durable.WorkflowName + "'", PageSize: pageSize, NextPageToken: page,
		})
		if err != nil {
			return err
		}
		for _, e := range reply.Executions {
			r := found{ID: e.Execution.WorkflowId}
			r.read(e.Status, e.Memo.GetFields()[durable.StatusKey])
			if asJSON {
				line, err := json.Marshal(r)
				if err != nil {
					return err
				}
				fmt.Println(string(line))
				continue
			}
			fmt.Println(markup.Plain(fmt.Sprintf("%-20s %-18s %-16s %s", r.ID, r.State, r.Worker.Host, r.Folder)))
		}
		page = reply.NextPageToken
	}
	return nil
}

// read sets the state of a run from Temporal and its memo.
func (r *found) read(status enums.WorkflowExecutionStatus, memo *common.Payload) {
	if memo != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(memo, &r.Status) // an unreadable memo shows nothing
	}
	switch {
	case status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		if r.State = strings.ToLower(status.String()); r.Outcome != "" {
			r.State = string(r.Outcome)
		}
	case len(r.Waits) > 0:
		r.State = "waits for approval"
		if r.Waits[0].Question {
			r.State = "waits for answer"
		}
	case r.Worker.Queue == "":
		r.State = "waits for worker"
	default:
		r.State = "working"
	}
}

func find(ctx context.Context, c client.Client, args []string) (r found, err error) {
	if len(args) == 0 {
		return r, errors.New("name a run; buddy runs list lists them")
	}
	r.ID = args[0]
	about, err := c.DescribeWorkflow(ctx, r.ID, "")
	if err != nil {
		return r, fmt.Errorf("run %s: %w", r.ID, err)
	}
	raw := about.RawResponse
	r.read(raw.WorkflowExecutionInfo.Status, raw.WorkflowExecutionInfo.Memo.GetFields()[durable.StatusKey])
	for _, a := range raw.PendingActivities {
		r.problem = a.GetLastFailure().GetMessage()
	}
	return r, nil
}

func show(ctx context.Context, c client.Client, args []string) error {
	r, err := find(ctx, c, args)
	if err != nil {
		return err
	}
	fmt.Println(markup.Plain(fmt.Sprintf("run     %s\nstate   %s\nworker  %s\nfolder  %s", r.ID, r.State, r.Worker.Host, r.Folder)))
	for _, a := range r.Waits {
		fmt.Println("waits   " + strings.ReplaceAll(markup.Answer(a.Text), "\n", "\n        "))
	}
	if r.problem != "" {
		fmt.Println("problem " + markup.Plain(r.problem))
	}
	if r.State == "working" || len(r.Waits) > 0 || r.Worker.Queue == "" {
		return nil
	}
	var result durable.Result
	if err := c.GetWorkflow(ctx, r.ID, "").Get(ctx, &result); err != nil {
		fmt.Println("error   " + markup.Plain(err.Error()))
	} else if result.Error != "" {
		fmt.Println("error   " + markup.Plain(result.Error))
	}
	return nil
}

// onMachine runs a command of buddy with the session, if it is on this machine; otherwise it prints how to do so.
func onMachine(command string) func(context.Context, client.Client, []string) error {
	return func(ctx context.Context, c client.Client, args []string) error {
		r, err := find(ctx, c, args)
		if err != nil {
			return err
		}
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		if r.Worker.Host != host {
			fmt.Printf("ssh -t %s buddy %s %s\n", markup.Plain(r.Worker.Host), command, r.ID)
			return nil
		}
		path, err := exec.LookPath("buddy")
		if err != nil {
			return err
		}
		return syscall.Exec(path, []string{"buddy", command, r.ID}, os.Environ()) //nolint:gosec // the person's own buddy
	}
}

func approve(ctx context.Context, c client.Client, args []string) error {
	f := flag.NewFlagSet("approve", flag.ContinueOnError)
	deny, reason := f.Bool("deny", false, "deny without asking"), f.String("reason", "", "your reason, which the model sees")
	if len(args) == 0 {
		return errors.New("name a run; buddy runs list lists them")
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	r, err := find(ctx, c, args)
	if err != nil {
		return err
	}
	if len(r.Waits) == 0 || r.Waits[0].Question {
		return fmt.Errorf("run %s is not waiting for an approval (%s)", r.ID, r.State)
	}
	ask := r.Waits[0]
	answer := durable.Answer{Ask: ask.ID, Allow: !*deny, Reason: *reason}
	if answer.Allow {
		if ask.Cut {
			return fmt.Errorf("the call is too long to show here; look at it on its machine: buddy runs attach %s", r.ID)
		}
		if answer.Allow, err = confirm(r, ask); err != nil {
			return err
		}
	}
	answer.Until = time.Now().Add(durable.AnswerTime)
	ctx, stop := context.WithTimeout(ctx, durable.AnswerTime)
	defer stop()
	update, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: r.ID, UpdateName: durable.AnswerUpdate, Args: []any{answer}, WaitForStage: client.WorkflowUpdateStageCompleted})
	var said string
	if err == nil {
		err = update.Get(ctx, &said)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("no worker answers for run %s (%s)", r.ID, r.Worker.Host)
	}
	if err != nil {
		return err
	}
	fmt.Println(said)
	return nil
}

// confirm shows a call and asks the person at the terminal.
func confirm(r found, ask durable.Ask) (bool, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false, errors.New("approve needs a terminal to ask a person; --deny works without a terminal")
	}
	defer tty.Close() //nolint:errcheck // only asked
	_, _ = fmt.Fprintf(tty, "Run this on %s in %s?\n\n%s\n\ny for yes, anything else denies: ", markup.Plain(r.Worker.Host), markup.Plain(r.Folder), markup.Plain(ask.Text))
	line, err := bufio.NewReader(tty).ReadString('\n')
	return strings.TrimSpace(line) == "y", err
}

func cancel(ctx context.Context, c client.Client, args []string) error {
	r, err := find(ctx, c, args)
	if err != nil {
		return err
	}
	return c.CancelWorkflow(ctx, r.ID, "")
}
