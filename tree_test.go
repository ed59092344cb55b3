package agentstream_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/agentstream-go/agentstream"

// goFile is one Go file of the tree, read in this process: no go command.
type goFile struct {
	name   string // with slashes, from the root
	text   string
	syntax *ast.File
	lines  int
}

func (f goFile) folder() string  { return path.Dir(f.name) }
func (f goFile) isTest() bool    { return strings.HasSuffix(f.name, "_test.go") }
func (f goFile) generated() bool { return ast.IsGenerated(f.syntax) }

var fileSet = token.NewFileSet()

// skipped are folders that hold nothing of ours, or what a build made.
var skipped = []string{".git", "node_modules", "bin", "dist", "artifacts", "testdata"}

var goFiles = sync.OnceValues(func() ([]goFile, error) {
	var files []goFile
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fileSet, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, goFile{filepath.ToSlash(name), string(text), syntax, strings.Count(string(text), "\n")})
		return nil
	})
	return files, err
})

// tree returns the Go files of the tree, generated ones left out.
func tree(t *testing.T) []goFile {
	t.Helper()
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("%d Go files found: the test does not run at the root", len(files))
	}
	return slices.DeleteFunc(slices.Clone(files), goFile.generated)
}

// imports returns what a file imports: packages of the project as folders from
// the root ("." is the root), all others as they are.
func (f goFile) imports() (ours, others []string) {
	for _, spec := range f.syntax.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		if p == module {
			ours = append(ours, ".")
		} else if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			ours = append(ours, rest)
		} else {
			others = append(others, p)
		}
	}
	return ours, others
}

func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}
