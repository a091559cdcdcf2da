package app

import "os"

func fullScreen(f *flags, resume string, stdin, stdout *os.File) error {
	return usage("not yet")
}
