package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/extensions"
	"buddy/extensions/workflow"
	"buddy/texts"
	"buddy/views/markup"
)

type workflowCLI struct{ *cli }

func (s *workflowCLI) command() *cobra.Command {
	return group(&cobra.Command{
		Use:   "workflow",
		Short: "run and check workflows: files of repeatable steps",
		Long: "A workflow is a file of inputs, steps and gates. Steps are tool calls that need the usual\n" +
			"approvals; at a gate, you decide. Your workflows are in workflows/NAME.yaml next to your\n" +
			"settings, a project's in .buddy/workflows; some come with buddy.",
		Example: "  buddy workflow list\n  buddy workflow show code_review\n  buddy workflow run code_review base=main\n  buddy workflow check .buddy/workflows/release.yaml",
	}, s.list(), s.show(), s.check(), s.run(), s.runs(), s.status(), s.resume(), s.cancel())
}

func (s *workflowCLI) list() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "list the workflows of this folder and skipped files",
		Example: "  buddy workflow list\n  buddy workflow list --json | jq -r '.[].name'",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			found, err := compose.WorkflowsHere(s.options)
			if err != nil {
				return exit.Failure(err)
			}
			for _, p := range found.Problems {
				s.hint("%s", markup.Plain(p.String()))
			}
			if s.json {
				all := []workflow.Brief{}
				for _, w := range found.All {
					all = append(all, w.Brief())
				}
				return s.indented(all, "\t")
			}
			t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			for _, w := range found.All {
				_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", markup.Inline(w.Name), w.Origin, markup.Inline(w.Description))
			}
			return t.Flush()
		},
	}
	s.jsonFlag(c, "print a JSON list")
	return c
}

func (s *workflowCLI) show() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "show a workflow's inputs, steps and gates",
		Example:           "  buddy workflow show deployment",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.names,
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := compose.WorkflowsHere(s.options)
			if err != nil {
				return exit.Failure(err)
			}
			w, err := found.Find(args[0])
			if err != nil {
				return exit.Failure(err)
			}
			return s.print("%s", markup.Plain(strings.TrimSuffix(w.Describe(), "\n")))
		},
	}
}

func (s *workflowCLI) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check [NAME|FILE]...",
		Short: "find errors in workflow files",
		Long: "check reads workflow files, by default all of this folder, and prints line and key of each error:\n" +
			"unknown keys, tools and parameters, cycles, and values that are unknown where they are used or\n" +
			"would not be a single word in a command. It runs nothing, and exits with 1 if there is an\n" +
			"error.",
		Example:           "  buddy workflow check\n  buddy workflow check release ~/drafts/backup.yaml",
		ValidArgsFunction: s.names,
		RunE: func(_ *cobra.Command, args []string) error {
			mistakes, checked, err := s.mistakes(args)
			if err != nil {
				return exit.Failure(err)
			}
			for _, m := range mistakes {
				if err := s.print("%s", markup.Plain(m)); err != nil {
					return err
				}
			}
			if len(mistakes) > 0 {
				return exit.Failure(fmt.Errorf("workflow check: errors: %d", len(mistakes)))
			}
			return s.print("%d without errors", checked)
		},
	}
}

// mistakes returns the errors of workflows, one per line, and the number of checked workflows.
func (s *workflowCLI) mistakes(args []string) (lines []string, checked int, err error) {
	found, err := compose.WorkflowsHere(s.options)
	if err != nil {
		return nil, 0, err
	}
	note := func(file string, all []workflow.Mistake) {
		checked++
		for _, m := range all {
			lines = append(lines, fmt.Sprintf("%s:%d: %s: %s", file, m.Line, m.Key, texts.OneLine(m.Reason)))
		}
	}
	for _, arg := range args {
		if strings.HasSuffix(arg, ".yaml") {
			it, err := workflowFile(arg)
			if err != nil {
				return nil, 0, err
			}
			_, wrong := workflow.Read(it, compose.WorkflowTools())
			note(arg, wrong)
			continue
		}
		if w, err := found.Find(arg); err == nil {
			note(w.File, nil)
			continue
		}
		broken := false
		for _, b := range found.Broken {
			if b.Name == arg {
				note(b.File, b.Mistakes)
				broken = true
			}
		}
		if !broken {
			_, err := found.Find(arg)
			return nil, 0, err
		}
	}
	if len(args) > 0 {
		return lines, checked, nil
	}
	for _, b := range found.Broken {
		note(b.File, b.Mistakes)
	}
	for _, p := range found.Problems {
		if !p.Used && p.Line == 0 { // it could not be read at all
			lines = append(lines, p.String())
		}
	}
	return lines, checked + len(found.All), nil
}

// workflowFile reads a workflow file outside the workflow folders.
func workflowFile(name string) (extensions.Item, error) {
	info, err := os.Stat(name)
	if err != nil {
		return extensions.Item{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > workflow.MaxFile {
		return extensions.Item{}, fmt.Errorf("%s: a workflow must be a regular file of at most %d bytes", name, workflow.MaxFile)
	}
	data, err := os.ReadFile(name)
	called := strings.TrimSuffix(filepath.Base(name), ".yaml")
	return extensions.Item{Kind: extensions.Workflow, Name: called, Origin: extensions.Person, File: name, Source: string(data)}, err
}

// names completes the names of workflows.
func (s *workflowCLI) names(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return s.words(nil), onlyThese
}

// words completes the word after the typed words of the command line that runs a workflow.
func (s *workflowCLI) words(typed []string) (all []cobra.Completion) {
	found, err := compose.WorkflowsHere(s.options)
	if err != nil {
		return nil
	}
	for _, w := range workflow.Complete(found.All, typed) {
		all = append(all, cobra.CompletionWithDesc(w.Word, markup.Inline(w.Help)))
	}
	return all
}
