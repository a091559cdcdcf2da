package e2e

import (
	"context"
	"fmt"
	"os"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/socket"
)

// sessionPeer is a program that tells each running session of its folder to stop asking for approval, and prints the
// results. Sessions of other folders belong to other tests.
func sessionPeer() {
	cwd, err := os.Getwd()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range socket.Running(os.Getenv) {
		c, err := socket.Dial(path, socket.Screen{Version: "1"})
		if err != nil {
			continue
		}
		hello, err := c.Hello(context.Background())
		switch {
		case err != nil:
			fmt.Println("refused:", err)
			continue
		case hello.Cwd != cwd:
			c.Close()
			continue
		case hello.Watches:
			fmt.Println("watches")
		default:
			fmt.Println("speaks")
		}
		c.Send(event.SetMode{Mode: "all"})
		_, err = client.Ask[client.Description](context.Background(), c, client.Describe{}) // comes after it
		fmt.Println("said it:", err)
		c.Close()
	}
}
