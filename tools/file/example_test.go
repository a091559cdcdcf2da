package file_test

import (
	"context"
	"fmt"
	"os"

	"buddy/tools"
	"buddy/tools/file"
)

// Plan shows the effects of a call without changing anything; Run executes it.
func ExampleTools() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	noSecrets := func(string) string { return "" }
	ws, err := file.NewWorkspace(root, noSecrets)
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := tools.NewRegistry(file.Tools(ws)...)

	call := tools.Call{Name: "write_file", Arguments: `{"path": "hello.txt", "content": "hello\n", "why": "to greet"}`}
	tool, err := registry.Lookup(call.Name)
	if err != nil {
		fmt.Println(err)
		return
	}
	call.Planned, err = tool.Plan(call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(call.Planned.Preview)
	fmt.Println(tool.Run(context.Background(), call).Tail)
	// Output:
	// new file, +1 -0 lines, 6 bytes
	// --- /dev/null
	// +++ hello.txt
	// @@ -0,0 +1 @@
	// +hello
	// Wrote 6 bytes to hello.txt
}
