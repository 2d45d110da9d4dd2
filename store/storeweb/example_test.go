package storeweb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"handloom/store"
	"handloom/store/storeweb"
)

// The page is HTML for browsers, and JSON for programs that accept JSON.
func Example() {
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[string]{Name: "ship"})
	_ = s.Write(context.Background(), func(w *store.Writer) { ships.Insert(w, "Argo") })

	mux := http.NewServeMux()
	mux.Handle("/debug/store/", storeweb.Handler(s))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/store/?table=ship&from=0&format=json", nil))
	var page struct {
		Table struct {
			Stats store.TableStats
			Items []struct {
				Handle store.ID
				Value  string
			}
		}
	}
	fmt.Println(w.Code, json.Unmarshal(w.Body.Bytes(), &page))
	fmt.Println(page.Table.Stats.Live, page.Table.Items)
	// Output:
	// 200 <nil>
	// 1 [{1:0.1 Argo}]
}
