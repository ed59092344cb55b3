package server

import (
	"encoding/json"
	flags "flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flags.Bool("update", false, "write the reference anew")

// The reference of the routes is openapi.json, that of the codes the table by
// which they are answered.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Routes and codes\n\nMade from `GET /openapi.json` and the server's table of codes; `docs/http.md` says what goes in and out.\n\n| route | query | |\n|---|---|---|\n")
	rec := httptest.NewRecorder()
	(&Server{}).openapi(rec, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Summary    string
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			var query []string
			for _, p := range op.Parameters {
				if p.In == "query" {
					query = append(query, "`"+p.Name+"`")
				}
			}
			fmt.Fprintf(&b, "| `%s %s` | %s | %s |\n", strings.ToUpper(method), path, strings.Join(query, " "), op.Summary)
		}
	}
	b.WriteString("\n## Codes\n\nOf problems (`application/problem+json`), by status.\n\n| status | codes |\n|---|---|\n")
	byStatus := map[int][]string{}
	for code, status := range statusOf {
		byStatus[status] = append(byStatus[status], "`"+code+"`")
	}
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		fmt.Fprintf(&b, "| %d %s | %s |\n", status, http.StatusText(status), strings.Join(slices.Sorted(slices.Values(byStatus[status])), ", "))
	}
	const path = "../docs/reference/http.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/reference/http.md is not what the code says ('go test ./server -update' writes it anew):\n%s", diff)
	}
}
