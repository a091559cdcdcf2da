package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// TestSmallTasks checks that each judge accepts a solution, and rejects both a false claim and a solution that
// changes another file.
func TestSmallTasks(t *testing.T) {
	does := map[string][2]string{ // a command, and the answer
		"read": {"", "It says heron-42."}, "create": {"echo hello world >hello.txt", ""}, "edit": {"sed -i s/8080/9090/ config.ini", ""},
		"run": {"", "23151"}, "list": {"", "anchor.md and winch.md"}, "find": {"", "a/pay.py"}, "delete": {"rm old.txt", ""},
		"rename": {"mv draft.md final.md", ""}, "typo": {"sed -i s/ieve/eive/ README.md", ""}, "append": {"echo c=3 >>vars.env", ""},
		"count": {"", "37"}, "mend": {"sed -i s/-/+/ add.sh", ""}, "sum": {"", "100"}, "copy": {"mkdir backup; cp notes.txt backup", ""},
		"replace": {"sed -i s/colour/color/g text.md", ""}, "remove-line": {"sed -i /bananas/d shopping.txt", ""},
		"version": {"sed -i s/2.0.3/2.1.0/ package.json", ""}, "largest": {"", "logs/b.log"}, "script": {"echo echo Ahoy >hello.sh; chmod +x hello.sh", ""},
		"errors": {"", "5 lines"}, "sort": {"sort -o names.txt names.txt", ""}, "greet": {"sed -i s/2/1/ greet.sh", ""},
		"keep": {"mkdir build; touch build/.keep", ""}, "move": {"mv notes.txt archive", ""}, "words": {"", "19"}, "last": {"", "the lock is shut"},
		"replicas": {"sed -i s/2$/5/ app.yaml", ""}, "harbour": {"", "b/three.txt"}, "uncomment": {"sed -i s/#port/port/ server.conf", ""},
		"prepend": {"sed -i '1i # Notes' notes.md", ""}, "clean": {"find . -name '*.tmp' -delete", ""}, "python": {"sed -i s/totl/total/ main.py", ""},
	}
	for _, task := range smallTasks() {
		t.Run(task.name, func(t *testing.T) {
			right, ok := does[task.name]
			if !ok {
				t.Fatal("no way to do it is known")
			}
			judged := func(command, answer string) error {
				_, list, err := task.load()
				r := &result{dir: t.TempDir(), env: os.Environ()}
				if err == nil {
					err = task.unpack(list, r.dir)
				}
				if err == nil {
					r.before, err = r.tree()
				}
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = r.dir
				if out, failed := cmd.CombinedOutput(); err != nil || failed != nil {
					t.Fatal(err, failed, string(out))
				}
				r.add(event.Envelope{Payload: event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: answer}}})
				return task.judge(r)
			}
			if err := judged(right[0], right[1]); err != nil {
				t.Errorf("done well: %v", err)
			}
			if err := judged("", lie); err == nil {
				t.Error("nothing was done, and the judge took it")
			}
			if err := judged(right[0]+"\necho x >extra.txt", right[1]); err == nil || !strings.Contains(err.Error(), "extra.txt was made") {
				t.Errorf("another file was made, and the judge says %v", err)
			}
		})
	}
}
