package patch_test

import (
	"fmt"

	"buddy/tools/patch"
)

func ExampleParse() {
	files, err := patch.Parse("--- a/greet.txt\n+++ b/greet.txt\n@@ -1,2 +1,2 @@\n-hello\n+good morning\n world\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := files[0].Apply("hello\nworld\n")
	fmt.Println(files[0].New, err)
	fmt.Print(after)
	// Output:
	// greet.txt <nil>
	// good morning
	// world
}
