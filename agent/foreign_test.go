package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/tools"
)

// bulky is a read_file with a schema and large files.
type bulky struct{ reader }

func (*bulky) Definition() model.ToolDef {
	return model.ToolDef{Name: "read_file", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
}

// Files read under the tool names of another program are restored after a compaction and cleared when read again,
// like buddy's own reads; also in a session resumed before that.
func TestReadsInAnotherDialectAreReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			summarising(100_000)(o)
			o.Tools = tools.NewRegistry(&bulky{})
		}
		s := start(t, options,
			uncounted("", `a Read {"file_path":"/w/a"}`), uncounted("", `b view {"filePath":"/w/b"}`), uncounted(strings.Repeat("word ", 4000)))
		s.do(event.Submit{Text: "read"})
		s.stop()
		for what, replay := range map[string][]event.Envelope{"live": nil, "resumed": s.mem.events} {
			steps := []step{uncounted("<summary>s</summary>"), uncounted("fine")}
			if replay == nil {
				steps = slices.Concat([]step{uncounted("", `a Read {"file_path":"/w/a"}`), uncounted("", `b view {"filePath":"/w/b"}`), uncounted(strings.Repeat("word ", 4000))}, steps)
			}
			x := start(t, func(o *Options) { options(o); o.Replay = replay }, steps...)
			if replay == nil {
				x.do(event.Submit{Text: "read"})
			}
			x.do(event.Compact{}, event.Submit{Text: "go on"})
			c, _ := find[event.ContextCompacted](x)
			if i, j := strings.Index(c.Restored, "read_file /w/b\n"), strings.Index(c.Restored, "read_file /w/a\n"); i < 0 || j < i {
				t.Errorf("%s: restored %q", what, c.Restored)
			}
			x.stop()
		}
	})
}

func TestAReadInAnotherDialectIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			withWindow(27_000)(o)
			o.Tools = tools.NewRegistry(&bulky{})
		}
		steps := []step{uncounted("", `a Read {"file_path":"/w/big"}`), uncounted("", `b read_file {"path":"/w/big"}`)}
		for i := range 6 {
			steps = append(steps, uncounted("", fmt.Sprintf(`n%d read_file {"path":"/w/%d"}`, i, i)))
		}
		s := start(t, options, append(steps, uncounted("ok"))...)
		s.do(event.Submit{Text: "read"})
		if m, n := find[event.MicroCompacted](s); n != 1 || !slices.Equal(m.CallIDs, []string{"a"}) {
			t.Errorf("%d times results were cleared, last %v", n, m.CallIDs)
		}
		if !slices.ContainsFunc(s.Messages(), func(m model.Message) bool { return m.ToolCallID == "a" && m.Content == history.Cleared }) {
			t.Error("the first read is not cleared")
		}
		s.stop()
	})
}
