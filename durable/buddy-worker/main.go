// Command buddy-worker takes durable runs (see package durable) from a Temporal task queue and runs them with buddy
// on this machine.
//
//	buddy-worker -queue buddy -label gpu -max 4
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"buddy/durable"
	"buddy/sessions"
)

func main() {
	queue := flag.String("queue", durable.Queue, "the task queue of the runs")
	labels := flag.String("label", "", "labels of this machine, separated by commas; runs can ask for one")
	most := flag.Int("max", 4, "how many runs this worker takes at once for each label, and without one")
	buddy := flag.String("buddy", "buddy", "the buddy program")
	answers := flag.Bool("answers", false, "let buddy runs approve answer approvals from elsewhere")
	flag.Parse()
	if err := run(*queue, *labels, *most, *buddy, *answers); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "buddy-worker:", err)
		os.Exit(1)
	}
}

func run(queue, labels string, most int, buddy string, answers bool) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	notes := filepath.Join(xdg.StateHome, "buddy", "runs")
	own, err := ownQueue(notes)
	if err != nil {
		return err
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return err
	}
	options.Logger = log.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	c, err := client.Dial(options)
	if err != nil {
		return err
	}
	defer c.Close()
	driver := &durable.Driver{Client: c, Worker: durable.Worker{Host: host, Queue: own}, Buddy: buddy, Notes: notes, Answers: answers}
	queues := []string{queue}
	for label := range strings.SplitSeq(labels, ",") {
		if label = strings.TrimSpace(label); label != "" {
			queues = append(queues, durable.QueueOf(queue, label))
		}
	}
	var all []worker.Worker
	for _, name := range append(queues, own) {
		limits := worker.Options{MaxConcurrentActivityExecutionSize: most}
		if name == own { // its runs are this worker's already, and answers must not wait for them
			limits = worker.Options{DisableWorkflowWorker: true}
		}
		w := worker.New(c, name, limits)
		w.RegisterActivityWithOptions(driver.Drive, activity.RegisterOptions{Name: "Drive"})
		w.RegisterActivityWithOptions(driver.Answer, activity.RegisterOptions{Name: "Answer"})
		if name != own {
			w.RegisterWorkflowWithOptions(durable.Workflow, workflow.RegisterOptions{Name: durable.WorkflowName})
		}
		if err := w.Start(); err != nil {
			return err
		}
		all = append(all, w)
	}
	fmt.Printf("takes runs from %s\n", strings.Join(queues, ", "))
	<-worker.InterruptCh()
	for _, w := range all {
		w.Stop()
	}
	return nil
}

// ownQueue returns the queue that only this worker reads. A worker with the same state folder has the same one, so that
// runs find it after a restart.
func ownQueue(notes string) (string, error) {
	if err := os.MkdirAll(notes, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(notes, "worker")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte("buddy-worker-" + sessions.NewID())
		err = os.WriteFile(file, text, 0o600)
	}
	return string(text), err
}
