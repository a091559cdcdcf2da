package seatbelt

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"golang.org/x/sys/unix"
)

// Path lists the folders with the programs of macOS.
const Path = "/usr/bin:/bin:/usr/sbin:/sbin"

// Here returns the store with the verdicts for this Mac.
func Here() Store {
	version, _ := unix.Sysctl("kern.osproductversion") // if it is missing, the build identifies the version
	build, _ := unix.Sysctl("kern.osversion")
	kernel, _ := unix.Sysctl("kern.version")
	host, _ := os.Hostname()
	return Store{
		File: filepath.Join(xdg.StateHome, "buddy", "seatbelt.json"), System: "macOS " + version,
		Machine: fmt.Sprint(build, kernel, host, os.Getuid()),
	}
}

// Tested names the sandbox and the system on which it was tested.
func Tested() string { return "macOS's sandbox, tested on " + Here().System }
