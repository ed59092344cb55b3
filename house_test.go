package agentstream_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// The budgets of docs/design.md.
const (
	fileLines, fileMedian         = 500, 150
	funcLines, funcPercentile95   = 80, 45
	namesInContract, namesInOther = 45, 40
	interfaceMethods              = 6
)

func TestFileSizes(t *testing.T) {
	var sizes []int
	for _, f := range tree(t) {
		if f.lines > fileLines {
			t.Errorf("%s has %d lines, at most %d", f.name, f.lines, fileLines)
		}
		if !f.isTest() {
			sizes = append(sizes, f.lines)
		}
	}
	slices.Sort(sizes)
	if m := sizes[len(sizes)/2]; m > fileMedian {
		t.Errorf("the median file has %d lines, at most %d", m, fileMedian)
	}
}

func TestFunctionLengths(t *testing.T) {
	var lengths []int
	for _, f := range tree(t) {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			n := span(fn)
			if f.isTest() {
				n -= tableLines(fn.Body)
			} else {
				lengths = append(lengths, n)
			}
			if n > funcLines {
				t.Errorf("%s: %s has %d lines, at most %d", f.name, fn.Name, n, funcLines)
			}
		}
	}
	slices.Sort(lengths)
	if p := lengths[len(lengths)*95/100]; p > funcPercentile95 {
		t.Errorf("one function in twenty is longer than %d lines, at most %d", p, funcPercentile95)
	}
}

func span(n ast.Node) int {
	return fileSet.Position(n.End()).Line - fileSet.Position(n.Pos()).Line + 1
}

// tableLines counts the lines of a test's tables: outermost composite literals.
func tableLines(body ast.Node) (n int) {
	ast.Inspect(body, func(node ast.Node) bool {
		if lit, ok := node.(*ast.CompositeLit); ok {
			n += span(lit) - 1
			return false
		}
		return true
	})
	return n
}

// names calls yield for each exported name a file declares at top level, with
// its comment, and for each exported method of an exported type.
func (f goFile) names(yield func(name string, doc bool, method bool)) {
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				yield(d.Name.Name, d.Doc != nil, false)
			} else if r := receiver(d); ast.IsExported(r) && d.Name.IsExported() {
				yield(r+"."+d.Name.Name, d.Doc != nil, true)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						yield(s.Name.Name, s.Doc != nil || d.Doc != nil, false)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.IsExported() {
							yield(id.Name, s.Doc != nil || s.Comment != nil || d.Doc != nil, false)
						}
					}
				}
			}
		}
	}
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return ""
	}
	x := d.Recv.List[0].Type
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// wellKnown methods mean what the standard library says they mean.
var wellKnown = []string{
	"String", "Error", "Unwrap", "Is", "Len", "Less", "Swap", "ServeHTTP", "Read", "Write",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "MarshalJSONTo", "UnmarshalJSONFrom",
}

func TestExportedNamesAreDocumented(t *testing.T) {
	packageDoc := map[string]bool{}
	for _, f := range tree(t) {
		if f.isTest() {
			continue
		}
		packageDoc[f.folder()] = packageDoc[f.folder()] || f.syntax.Doc != nil
		f.names(func(name string, doc, method bool) {
			_, last, _ := strings.Cut(name, ".")
			if !doc && !(method && slices.Contains(wellKnown, last)) {
				t.Errorf("%s: %s has no comment", f.name, name)
			}
		})
	}
	for folder, doc := range packageDoc {
		if !doc {
			t.Errorf("package %s has no comment", folder)
		}
	}
}

func TestExportedNamesAreFew(t *testing.T) {
	count := map[string]int{}
	catalogue := aguiCatalogue(t)
	for _, f := range tree(t) {
		if f.isTest() || f.syntax.Name.Name == "main" {
			continue
		}
		f.names(func(name string, _, method bool) {
			if !method && !(f.folder() == "agui" && catalogue[name]) {
				count[f.folder()]++
			}
		})
	}
	for folder, n := range count {
		limit := namesInOther
		if folder == "." {
			limit = namesInContract
		}
		if n > limit {
			t.Errorf("package %s exports %d names, at most %d", folder, n, limit)
		}
	}
}

// aguiCatalogue returns the names that AG-UI's own lists fix: one struct an event
// (it has a method Type), and one constant each for a type of event, a role and
// an outcome.
func aguiCatalogue(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, f := range tree(t) {
		if f.folder() != "agui" || f.isTest() {
			continue
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Type" {
				found[receiver(fn)] = true
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					if v := s.(*ast.ValueSpec); isIdent(v.Type, "Type") || isIdent(v.Type, "Role") || isIdent(v.Type, "OutcomeType") {
						for _, id := range v.Names {
							found[id.Name] = true
						}
					}
				}
			}
		}
	}
	return found
}

func isIdent(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

func TestInterfacesAreSmall(t *testing.T) {
	for _, f := range tree(t) {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if i, ok := spec.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > interfaceMethods {
					t.Errorf("%s: %s has %d methods, at most %d", f.name, spec.Name, i.Methods.NumFields(), interfaceMethods)
				}
			}
			return true
		})
	}
}

// Tests wait for conditions, never for durations: synctest, channels, contexts.
func TestTestsDoNotSleep(t *testing.T) {
	for _, f := range tree(t) {
		if !f.isTest() && !strings.HasSuffix(f.folder(), "test") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && isIdent(s.X, "time") && s.Sel.Name == "Sleep" {
				t.Errorf("%s sleeps", fileSet.Position(s.Pos()))
			}
			return true
		})
	}
}

// public reports whether others can import the folder.
func public(folder string) bool {
	for _, part := range strings.Split(folder, "/") {
		if part == "internal" || part == "cmd" || part == "e2e" || part == "bench" || part == "web" {
			return false
		}
	}
	return true
}

// functions returns folder.Name for each function of the tree's tests, or of all
// else, with its comments inside.
func functions(t *testing.T, tests bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, f := range tree(t) {
		if f.isTest() != tests {
			continue
		}
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil {
				from, to := fileSet.Position(fn.Pos()).Offset, fileSet.Position(fn.End()).Offset
				found[f.folder()+"."+fn.Name.Name] = f.text[from:to]
			}
		}
	}
	return found
}

func TestConstructorsHaveExamples(t *testing.T) {
	tests := functions(t, true)
	for name := range functions(t, false) {
		dot := strings.LastIndexByte(name, '.')
		folder, fn := name[:dot], name[dot+1:]
		if !public(folder) || !strings.HasPrefix(fn, "New") && fn != "Open" && fn != "Restore" {
			continue
		}
		if !strings.Contains(tests[folder+".Example"+fn], "// Output:") && !strings.Contains(tests[folder+".Example"], folder+"."+fn) {
			t.Errorf("%s has no example with output", name)
		}
	}
}

func TestDecodersAreFuzzed(t *testing.T) {
	tests := functions(t, true)
	for name := range functions(t, false) {
		dot := strings.LastIndexByte(name, '.')
		folder, fn := name[:dot], name[dot+1:]
		if !ast.IsExported(fn) || !strings.HasPrefix(fn, "Parse") && !strings.HasPrefix(fn, "Decode") {
			continue
		}
		fuzzed := false
		for test, body := range tests {
			fuzzed = fuzzed || strings.HasPrefix(test, folder+".Fuzz") && strings.Contains(body, fn)
		}
		if !fuzzed {
			t.Errorf("%s has no fuzz target", name)
		}
	}
}
