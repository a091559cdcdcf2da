package e2e

import (
	"fmt"
	"strings"

	"buddy/agent/model/modeltest"
)

// foreignSession holds calls in the formats of six other programs. # is replaced by a count, ## by the next number.
var foreignSession = [][2]string{
	{"Bash", `{"command":"ls","description":"List files","timeout":120000}`},
	{"exec_command", `{"cmd":"cat a.go","workdir":".","max_output_tokens":100}`},
	{"shell", `{"command":["bash","-lc","ls -la | head"],"workdir":"."}`},
	{"Read", `{"file_path":"a.go"}`},
	{"read", `{"filePath":"a.go","offset":0,"limit":20}`},
	{"view", `{"file_path":"a.go"}`},
	{"read_file", `{"absolute_path":"a.go","start_line":1,"end_line":2}`},
	{"Edit", `{"file_path":"a.go","old_string":"var n = #","new_string":"var n = ##","replace_all":false}`},
	{"replace", `{"file_path":"a.go","instruction":"count","old_string":"var n = #","new_string":"var n = ##","expected_replacements":1}`},
	{"edit", `{"path":"a.go","oldText":"var n = #","newText":"var n = ##"}`},
	{"multiedit", `{"file_path":"a.go","edits":[{"old_string":"var n = #","new_string":"var n = ##"}]}`},
	{"Write", `{"file_path":"b.txt","content":"x\n"}`},
	{"write", `{"filePath":"b.txt","content":"x\n"}`},
	{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-var n = #\n+var n = ##\n*** End Patch\n"}`},
	{"shell", `{"command":["apply_patch","*** Begin Patch\n*** Update File: a.go\n@@\n-var n = #\n+var n = ##\n*** End Patch\n"]}`},
	{"Grep", `{"pattern":"var","output_mode":"files_with_matches","-i":true}`},
	{"grep", `{"pattern":"var","include":"*.go"}`},
	{"search_file_content", `{"pattern":"var"}`},
	{"Glob", `{"pattern":"**/*.go"}`},
	{"find", `{"pattern":"*.go","limit":5}`},
	{"LS", `{"path":"."}`},
	{"list_directory", `{"dir_path":"."}`},
	{"TodoWrite", `{"todos":[{"content":"x","status":"pending","activeForm":"y"}]}`},
	{"update_plan", `{"plan":[{"step":"x","status":"completed"}]}`},
	{"run_shell_command", `{"command":"echo hi","description":"say","is_background":false}`},
}

// foreign returns the n-th answer of a model that makes 100 such calls and then reports how
// many results were refusals.
func foreign(n int, results []string) modeltest.Answer {
	if n == 100 {
		refused := 0
		for _, r := range results {
			if strings.HasPrefix(r, "Tool error: ") || strings.HasPrefix(r, "Denied") || strings.HasPrefix(r, "Not run") {
				refused++
			}
		}
		return modeltest.Answer{modeltest.Text(fmt.Sprintf("%d calls, %d refused", n, refused))}
	}
	edits := 0
	for i := range n {
		if strings.Contains(foreignSession[i%len(foreignSession)][1], "##") {
			edits++
		}
	}
	c := foreignSession[n%len(foreignSession)]
	args := strings.ReplaceAll(strings.ReplaceAll(c[1], "##", fmt.Sprint(edits+1)), "#", fmt.Sprint(edits))
	return modeltest.Answer{modeltest.Call{ID: fmt.Sprintf("f%d", n), Name: c[0], Arguments: args}}
}
