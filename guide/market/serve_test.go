package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"handloom/proof/browser"
)

var picture = flag.String("picture", "", "a file to write a picture of the page into")

// The page leads from the check to the line, as the commands do.
func TestServe_LeadsToTheLine(t *testing.T) {
	b := browser.Open(t)
	served()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve", "copy")
	cmd.Dir = folder
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	address, _, _ := strings.Cut(line, " ")
	click := func(selector, then string) {
		b.Eval(fmt.Sprintf("document.querySelector(%q).click() ?? true", selector), new(bool))
		b.Until(fmt.Sprintf("!!document.getElementById('state')?.innerText.includes(%q)", then))
	}
	b.Show(address, 1000)
	click(".checks button", "Check gold fails after tick 78 for the first time.")
	if *picture != "" {
		if err := os.WriteFile(*picture, b.Picture(false), 0o644); err != nil {
			t.Error(err)
		}
	}
	click("td.changed a", `put #2 of task 0 in pass 1 (Do), system "pay", market.go:96`)
}
