package layout

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayDepend has the functions that break a rule of [TestTests_DoNotFailByChance], by reason.
var mayDepend = map[string]string{
	"runs in a bubble of its callers":       "world.newPending world.submitMarks world.wantLate",
	"pauses goroutines as the system does":  "tasks.TestTeam_RunsEveryTaskOfEveryPhaseOnce tasks.pauses",
	"is the fault that history has to find": "history.TestVerify_RefusesImpurePrograms",
	"ends a run at any moment":              "stress.TestCampaign_ReportsAfterInterrupt",
	"tries another port if one is taken":    "guide/bank.freeAddress",
	"repeats":                               "cluster.AppendTo cluster.call cluster.isCurrent cluster.wantNoCell cluster/cells.handOff",
	"wants a refusal or silence":            "cluster.TestOpen_RefusesInvalidOptions cluster.enters cluster/internal/localnet.TestLink_DialNeedsBothDirections",
	"reads no clock and no server":          "cluster.TestLocalReplica_TrimsWithMissingRecords cluster.TestNoteResponse_CountsAnswersBelow500 cluster.deliver",
}

var (
	waits   = regexp.MustCompile(`^(context\.With(Timeout|Deadline)\w*|time\.(After|AfterFunc|NewTimer)|time\.Now\.Add|\w+\.Set(Read|Write)?Deadline|within)$`)
	draws   = regexp.MustCompile(`^(rand\.(N|NormFloat64|(Int|Uint|Float|Perm|Shuffle|Exp|Read)\w*)|maphash\.MakeSeed|time\.Now\.UnixNano)$`)
	appends = regexp.MustCompile(`^[a-z]\w*\.Append$`)
	units   = strings.NewReplacer("time.Nanosecond", "1", "time.Microsecond", "1e3", "time.Millisecond", "1e6", "time.Second", "1e9", "time.Minute", "60e9", "time.Hour", "3600e9")
)

// A test that fails by chance is not believed when it has a reason. Tests and their helpers wait
// for 30 s at least, unless in a bubble of synctest. They draw no numbers. Those of the module
// cluster append by a helper that repeats, because servers elect.
func TestTests_DoNotFailByChance(t *testing.T) {
	files, texts, values, drawn, found := map[string]*ast.File{}, map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}
	eachFile(t, repository, func(name, text string) {
		dir := path.Dir(name)
		_, files[name] = parse(t, name, text)
		texts[name] = text
		drawn[dir] = drawn[dir] || slices.ContainsFunc(files[name].Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"pgregory.net/rapid"` })
		ast.Inspect(files[name], func(n ast.Node) bool {
			if v, is := n.(*ast.ValueSpec); is && len(v.Values) == 1 {
				values[dir+"."+v.Names[0].Name] = types.ExprString(v.Values[0])
			}
			return true
		})
	}, func(name string) bool {
		return strings.HasSuffix(name, "_test.go") || isGo(name) && (room(name) == "proof" || path.Dir(name) == "world/logtest")
	})
	for name, file := range files {
		dir := path.Dir(name)
		short := func(e ast.Expr) bool {
			text := types.ExprString(e)
			if v := values[dir+"."+text]; v != "" {
				text = v
			}
			v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, units.Replace(text))
			if err != nil || v.Value == nil || !strings.Contains(text, "time.") {
				return false
			}
			ns, _ := constant.Float64Val(constant.ToFloat(v.Value))
			return ns > 0 && ns < 30e9
		}
		for _, d := range file.Decls {
			where, source := dir, texts[name][d.Pos()-file.FileStart:d.End()-file.FileStart]
			if f, is := d.(*ast.FuncDecl); is {
				where += "." + f.Name.Name
			}
			bubble := strings.Contains(source, "synctest.") || strings.Contains(source, "inBubble(") || strings.Contains(where, ".Benchmark")
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					call := strings.ReplaceAll(types.ExprString(n.Fun), "()", "")
					bare := (dir == "cluster" || dir == "cluster/cells") && appends.MatchString(call) && len(n.Args) == 3 && call != "fmt.Append" && call != "kit.Append"
					found[where] = found[where] || bare || draws.MatchString(call) || !bubble && waits.MatchString(call) && slices.ContainsFunc(n.Args, short)
					drawn[dir] = drawn[dir] && (call != "flag.Set" || types.ExprString(n.Args[0]) != `"rapid.seed"`)
				case *ast.BinaryExpr:
					found[where] = found[where] || !bubble && strings.HasPrefix(types.ExprString(n.X), "time.Since(") && short(n.Y)
				}
				return true
			})
		}
	}
	for dir, draws := range drawn {
		found[dir] = found[dir] || draws // by rapid
	}
	for _, functions := range mayDepend {
		for where := range strings.FieldsSeq(functions) {
			if !found[where] {
				t.Errorf("%s: keeps the rules now, remove it from the list", where)
			}
			delete(found, where)
		}
	}
	for where, is := range found {
		if is {
			t.Errorf("%s waits for less than 30 s, draws a number, or appends to servers once", where)
		}
	}
}
