package action

import "strings"

// meantTools maps tool names of other programs, normalized by plainName, to the tools of buddy that do the same; ""
// means that buddy has no such tool.
var meantTools = spread(map[string]string{
	"bash shell execute exec execcommand executecommand executebash runcommand runcommands runshell runshellcommand shellcommand " +
		"command terminal runterminalcmd runterminalcommand runinterminal localshell unifiedexec powershell console": "run_shell",
	"read readfile readfiles readmanyfiles viewfile openfile view notebookread fsread":                    "read_file",
	"write writefile createfile create writetofile newfile":                                               "write_file apply_patch",
	"edit edits editfile editfiles multiedit replace strreplace searchreplace applydiff patch applypatch": "edit_file write_file apply_patch",
	"fswrite inserteditintofile replacestringinfile strreplaceeditor strreplacebasededittool":             "edit_file write_file apply_patch",
	"glob findfiles filesearch":                                        "glob",
	"grep grepsearch searchfilecontent searchfiles textsearch ripgrep": "grep",
	"search codebase codebasesearch":                                   "glob grep",
	"ls list listdir listdirectory listfiles":                          "list_dir",
	"webfetch fetch fetchurl urlfetch fetchwebpage":                    "fetch_url",
	"websearch googlewebsearch searchweb":                              "web_search",
	"web":                                                              "fetch_url web_search",
	"todo todos todowrite todoread writetodos updateplan todolist managetodolist": "todo",
	"askuser askuserquestion question askquestions requestuserinput":              "ask_user",
	"agent agents task subagent customagent runsubagent spawnagent delegate":      "agent",
	"skill skills activateskill":              "skill",
	"taskoutput bashoutput getterminaloutput": "task_output",
	"taskstop killshell killbash":             "task_kill",
	"enterplanmode":                           "enter_plan",
	"exitplanmode":                            "exit_plan",
	"toolsearch":                              "tool_search",
	"notebookedit slashcommand listmcpresources listmcpresourcestool readmcpresource readmcpresourcetool enterworktree exitworktree " +
		"croncreate crondelete cronlist teamcreate teamdelete sendmessage taskcreate taskget tasklist taskupdate lsp monitor config " +
		"savememory codesearch doomloop viewimage imagegeneration computer browser usages problems changes testfailure githubrepo extensions vscodeapi": "",
})

// spread expands keys that list several names into one entry per name.
func spread(table map[string]string) map[string][]string {
	all := make(map[string][]string)
	for names, ours := range table {
		for name := range strings.FieldsSeq(names) {
			all[name] = strings.Fields(ours)
		}
	}
	return all
}

// plainName returns a name in lower case without word separators.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// MeantTools returns buddy's tools for a tool name in the spelling of any program: bash, run_shell_command, execute and
// Bash mean the same tool. It knows every name that FieldTool knows, and guesses others. SERVER/TOOL, @SERVER and
// SERVER_* name tools of MCP servers. If the name is known but buddy has no such tool, ours is empty and ok is true.
// MeantTools is for hooks and for rules that deny; rules that allow must use FieldTool, which does not guess.
func MeantTools(name string) (ours []string, ok bool) {
	if ours, ok = FieldTool(name); ok {
		return ours, true
	}
	if ours, ok = meantTools[plainName(name)]; ok {
		return ours, true
	}
	server, tool, one := strings.Cut(strings.TrimPrefix(name, "@"), "/")
	switch {
	case one:
		return mcpTools(mcpPrefix + server + "__" + tool)
	case strings.HasPrefix(name, "@"):
		return mcpTools(mcpPrefix + server)
	}
	server, ok = strings.CutSuffix(name, "_*")
	if !ok || strings.Contains(server, "*") {
		return nil, false
	}
	return mcpTools(mcpPrefix + strings.TrimPrefix(server, "mcp_"))
}

// FieldDenials returns rules that deny the calls named by a rule of another agent. If the rule has no exact
// counterpart, they deny more: all calls of the tools in the text, in the spelling of any program.
func FieldDenials(text string, src Source) ([]Rule, error) {
	rules, err := FieldRules(text, Deny, src)
	if err == nil {
		return rules, nil
	}
	bare, _, _ := strings.Cut(text, "(")
	tools, ok := MeantTools(strings.TrimSpace(bare))
	if !ok || len(text) > maxFieldRule {
		return nil, err
	}
	for _, tool := range tools {
		rules = append(rules, Rule{Decision: Deny, Tool: tool, Source: src})
	}
	return rules, nil
}
