package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/agent/reminder"
	"buddy/agent/settings"
	"buddy/tools"
	"buddy/tools/basic"
	"buddy/tools/file"
)

// Reminders are less than 2 % of what the model is sent in a session of 50 turns with a neglected list, changed
// files, a running command, a mode change and a new day.
func TestRemindersCostLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write := func(n, version int) {
			text := fmt.Sprintf("version %d\n", version) + strings.Repeat("a line of some source code, as long as such lines are\n", 75)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", n)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ws, err := file.NewWorkspace(dir, policy.Secret)
		if err != nil {
			t.Fatal(err)
		}
		var steps []step
		steps = append(steps, says("", `t todo {"items":[{"text":"build","state":"in_progress"},{"text":"test","state":"pending"}]}`))
		for turn := range 49 {
			write(turn, 1)
			if turn%5 == 4 || turn == 48 {
				steps = append(steps, says("done with this"))
				continue
			}
			steps = append(steps, func(ctx context.Context, yield func(model.Delta, error) bool) {
				if turn%8 == 7 { // somebody edits a file that was read
					write(turn-2, 2)
				}
				says("", fmt.Sprintf(`c%d read_file {"path":"f%d.go"}`, turn, turn))(ctx, yield)
			})
		}
		changed := reminder.Generator{Kind: reminder.ChangedFiles, Say: func(ctx context.Context, _ reminder.Snapshot) (said reminder.Said) {
			for _, c := range ws.Changed(ctx) {
				said.Text += c.Path + " changed:\n" + c.Diff
			}
			return said
		}}
		screens := reminder.Generator{Kind: reminder.TaskProgress, Say: func(_ context.Context, now reminder.Snapshot) (said reminder.Said) {
			if now.Turn > 10 && now.Turn < 25 { // a command keeps running
				said.Text = strings.Repeat("| a row of a screen\n", 120)
			}
			return said
		}}
		s := start(t, func(o *Options) {
			o.Model = described{o.Model.(*script), model.Info{Profile: "test", Model: "scripted", Window: 200_000}}
			o.Context.Strategy = settings.Keep
			o.Tools, o.Policy.Workspace, o.MaxIterations = tools.NewRegistry(file.NewReadFile(ws), basic.NewTodo()), dir, 100
			o.System, o.Dates = strings.Repeat("the system prompt ", 170), time.UTC
			o.Reminders = reminder.NewSet(nil, append(reminder.Own(), changed, screens)...)
		}, steps...)
		for n := range 10 {
			s.do(event.Submit{Text: "the next part, please"})
			switch n {
			case 3:
				s.do(event.SetMode{Mode: action.ModeEdits})
			case 6:
				time.Sleep(24 * time.Hour)
			}
		}
		told, all := 0, 0
		var before []model.Message
		for i, req := range s.model.requests {
			stays := req.Messages[:len(req.Messages)-req.Ephemeral]
			if len(stays) < len(before) || i > 0 && !reflect.DeepEqual(stays[:len(before)], before) {
				t.Errorf("request %d does not begin with the one before", i)
			}
			before = stays
			for _, m := range req.Messages {
				all += len(m.Content)
				if m.Kind == model.Reminder {
					told += len(m.Content)
				}
			}
			all += 9_000 // the tools of a real session
		}
		for _, kind := range []string{reminder.Todo, reminder.ChangedFiles, reminder.ModeChange} {
			if len(s.attached(kind)) == 0 {
				t.Errorf("%s was never told", kind)
			}
		}
		t.Logf("%d requests, %d bytes, %d of them reminders (%.2f %%)", len(s.model.requests), all, told, float64(told)*100/float64(all))
		if len(s.model.requests) != 50 || told*50 >= all {
			t.Errorf("%d requests, reminders are %d of %d bytes", len(s.model.requests), told, all)
		}
		s.stop()
	})
}
