package statement

import "testing"

// Where a page is has one form, the one that browsers write, and can stand in a header.
func TestOrigin(t *testing.T) {
	for text, want := range map[string]Origin{
		"https://Help.Example:443/": "https://help.example", "http://127.0.0.1:80": "http://127.0.0.1",
		"http://127.0.0.1:8080": "http://127.0.0.1:8080", "https://a-b.c:1": "https://a-b.c:1",
		"http://[0:0::1]:7": "http://[::1]:7", "http://localhost:7747": "http://localhost:7747",
		"ftp://x": "", "https://x/y": "", "https://x?y": "", "https://x#y": "", "https://u@x": "", "https://": "", "x": "",
		"https://x;y": "", "https://x y": "", "https://*": "", "https://x:0": "", "https://x:065": "", "https://x:70000": "",
		"http://127.1": "", "http://0x7f000001": "", "http://[fe80::1%25eth0]": "", "https://é.example": "", "https:x": "",
	} {
		got, err := OriginOf(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s became %q, %v", text, got, err)
		}
		if again, err := OriginOf(string(got)); want != "" && (err != nil || again != got) {
			t.Errorf("%s became %q, %v", got, again, err)
		}
	}
}
