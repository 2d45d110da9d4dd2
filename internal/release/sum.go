package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// addSums adds the checksums of the root module to the go.sum of the modules in its folders.
// A version control system gives the go command the same files, so it computes the same sums.
func (r *release) addSums(tree map[string]file) error {
	var inner []string // folders of modules
	for name := range tree {
		if dir, file := path.Split(name); file == "go.mod" && dir != "" {
			inner = append(inner, dir)
		}
	}
	root := make(map[string][]byte)
	for name, f := range tree {
		if !slices.ContainsFunc(inner, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			root[r.module+"@"+r.version+"/"+name] = f.text
		}
	}
	if !slices.Contains(inner, "cluster/") {
		return fmt.Errorf("got the modules %q, want cluster/ among them", inner)
	}
	for _, dir := range inner {
		f, ok := tree[dir+"go.sum"]
		if !ok {
			return fmt.Errorf("got no %sgo.sum, want the sums of the module", dir)
		}
		lines := strings.Split(strings.TrimSpace(string(f.text)), "\n")
		lines = append(lines,
			r.module+" "+r.version+" "+hash1(root),
			r.module+" "+r.version+"/go.mod "+hash1(map[string][]byte{"go.mod": tree["go.mod"].text}))
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
		f.text = []byte(strings.Join(lines, "\n") + "\n")
		tree[dir+"go.sum"] = f
	}
	return nil
}

// hash1 is the h1 of go.sum: the hash of the hashes and names of all files.
func hash1(files map[string][]byte) string {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(all.Sum(nil))
}

func pathOf(line string) string {
	module, _, _ := strings.Cut(line, " ")
	return module
}
