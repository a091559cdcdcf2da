package turn

import (
	"context"
	"errors"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/texts"
	"buddy/tools"
)

const (
	readTool = "read_file"
	maxWhy   = 300 // characters of the reason why a file is not read
)

// ErrNoFile is returned for a name that is not a file.
var ErrNoFile = errors.New("there is no such file")

// FileRead holds a file or folder as the model reads it.
type FileRead struct {
	Call    string // the call that reads it
	Path    string
	Text    string
	Outcome string // how much was read, for the person
	Seen    []action.SeenFile
}

// ReadFile reads at most page bytes of a file as the model would. The error is the reason why the file is not read: the
// file does not exist, it is not text, or the read would need approval by the person or a hook.
func (b Briefing) ReadFile(ctx context.Context, name string, page int) (f FileRead, err error) {
	calls, j := b.l.planOne(ctx, b.x, conversation.AtFile, readTool, map[string]any{"path": name})
	defer calls.cancel(nil)
	switch {
	case tools.Missing(j.err):
		return f, ErrNoFile
	case j.err != nil:
		return f, j.err
	case j.call.Planned.Kind == action.FileRead && j.call.Planned.Op != "": // a similar file was found
		return f, ErrNoFile
	}
	j.call.Page = min(j.call.Page, page)
	if calls.judge(j.call.Planned).Decision != action.Allow || calls.waitsForHooks(j) {
		return f, errors.New("the model needs your approval to read it")
	}
	res := b.l.runTool(ctx, j.call, func(ctx context.Context) tools.Result { return j.tool.Run(ctx, j.call) })
	switch {
	case res.Missing:
		return f, ErrNoFile
	case res.IsError:
		return f, errors.New(texts.Clip(texts.OneLine(tools.Why(res)), maxWhy))
	case len(res.Images) > 0:
		return f, errors.New("it is a picture: only pictures on this machine with names such as shot.png can be attached")
	}
	return FileRead{readTool + " " + j.call.Arguments, j.call.Planned.Path, b.Foreign(texts.ClipBytes(name, 200), res.Content), res.Outcome, res.Seen}, nil
}

// TellRules adds the instruction files of the subfolders that hold these files, which the model has just read.
func (b Briefing) TellRules(ctx context.Context, files []string) {
	b.l.p.Instructions.Below(ctx, b.x.conv, b.x.task, 0, files)
}
