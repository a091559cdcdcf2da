package compose

import (
	"context"
	"errors"
	"maps"

	"buddy/agent/policy"
	"buddy/app/project"
	"buddy/app/slash"
	steps "buddy/extensions/workflow"
	"buddy/features/lsp"
	"buddy/features/workflow"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/toolset"
)

// WorkflowTools returns the arguments of the tools that workflow steps may call, including those that a session has
// only on demand.
func WorkflowTools() steps.Tools {
	known := toolset.Arguments()
	servers := lsp.New(lsp.Options{})
	maps.Copy(known, tools.ArgumentsOf(servers.Tool(), servers.CodeTool(nil)))
	return known
}

// WorkflowsHere reads the workflows that a session in the folder of the settings would have on this machine. It starts
// nothing.
func WorkflowsHere(o *Options) (workflow.Set, error) {
	c, _, _, err := LoadConfig(o)
	if err != nil {
		return workflow.Set{}, err
	}
	there, err := file.NewWorkspace(c.Project.Dir, policy.Secret)
	if err != nil {
		return workflow.Set{}, err
	}
	files := project.NewExtensions(there, true)
	s := &Setup{Config: c, Target: slash.ThisMachine}
	files.Plugins = s.Project().PluginTexts
	ctx, cancel := context.WithTimeout(context.Background(), styleTime)
	defer cancel()
	all, err := workflow.Read(ctx, files, WorkflowTools())
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("reading the workflows took longer than " + styleTime.String())
	}
	return all, err
}
