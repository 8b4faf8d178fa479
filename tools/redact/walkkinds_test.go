package redact

import (
	"math/rand/v2"
	"strings"
)

// planted is a value of a kind that a transcript leaks, with the parts of it
// that must be nowhere in what is left.
type planted struct {
	text  string
	cores []string
	// want is the form of the value where it stands alone, its numbers left
	// out: what readers make of it. "" is not looked at.
	want string
}

// walkKind is a row of the table: values of one kind of issue 5.
type walkKind struct {
	name string
	// word says that a value cannot be told from a constant of the protocol
	// where only its form decides.
	word bool
	make func(g *made) []planted
}

// made makes names, ids and addresses that no vocabulary has.
type made struct{ *rand.Rand }

func (g *made) from(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[g.IntN(len(alphabet))])
	}
	return b.String()
}

func (g *made) word() string { return "z" + g.from("bcdfghjklmnpqrstvwxz", 6) }
func (g *made) cap() string  { return "Z" + g.from("bcdfghjklmnpqrstvwxz", 6) }
func (g *made) hex(n int) string {
	return "a1" + g.from("0123456789abcdef", n-2)
}
func (g *made) id(n int) string {
	return "x7Q" + g.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", n-5) + "4k"
}
func (g *made) digits(n int) string { return "7" + g.from("123456789", n-1) }
func (g *made) uuid() string {
	return g.hex(8) + "-" + g.hex(4) + "-7" + g.hex(3) + "-8" + g.hex(3) + "-" + g.hex(12)
}

// one is a value of which the parts must go.
func one(want, text string, cores ...string) planted { return planted{text, cores, want} }

// walkKinds are the kinds of value of issue 5, each in the spellings that CLIs
// print.
var walkKinds = []walkKind{
	{name: "URL", make: func(g *made) []planted {
		u, p, h, q := g.word(), g.id(14), g.word(), g.id(24)
		return []planted{
			one("<url:>", "https://"+u+":"+p+"@"+h+".example.com/v1", u, p, h),
			one("<url:>", "https://"+h+".example.com/cb?code="+q+"&user="+u+"#"+p, u, q, h, p),
			one("<url:>", "wss://"+h+".internal:8443/s?sid="+q, h, q),
			one("<url:>", "file:///C:/Users/"+u+"%20"+h+"/a.ts", u, h),
			one("<url:>", "ssh://git@"+h+".example.com/"+u+"/"+p+".git", h, u, p),
			one("<url:>", "postgres://"+u+":"+p+"@"+h+":5432/"+q, u, p, h, q),
			one("", "git@"+h+".example.com:"+u+"/"+p+".git", h, u, p),
		}
	}},
	{name: "POSIX path", make: func(g *made) []planted {
		u, p := g.word(), g.word()
		return []planted{
			one("/h/p.ts", "/home/"+u+"/"+p+"/a.ts", u, p),
			one("/h/p", "/Users/"+u+"/Library/"+p, u, p),
			one("/t/p.md", "/private/var/folders/zz/"+u+"/T/"+p+".md", u, p),
			one("/x/p.html", "/data/"+u+"/"+p+".html", u, p),
			one("/h/p.py", "~/"+u+"/"+p+".py", u, p),
			one("/h/p.go", "~"+u+"/"+p+"/main.go", u, p),
			one("./p", "../"+u+"/"+p, u, p),
			one("p.tsx", u+"/"+p+".tsx", u, p),
		}
	}},
	{name: "Windows path", make: func(g *made) []planted {
		u, p := g.word(), g.word()
		return []planted{
			one(`C:\h\p.md`, `C:\Users`+`\`+u+`\`+p+`\b.md`, u, p),
			one("C:/h/p.md", "D:/Users/"+u+"/"+p+".md", u, p),
			one(`C:\x\p.py`, `E:\`+u+`\`+p+`\b.py`, u, p),
			one(`\\x\p.sql`, `\\`+u+`\share\`+p+`.sql`, u, p),
			one(`\\x\p.ts`, `\\wsl$\Ubuntu\home\`+u+`\`+p+`.ts`, u, p),
			one(`\\x\p.ts`, `\\wsl.localhost\Debian\home\`+u+`\`+p+`.ts`, u, p),
			one("/x/p.ts", "/mnt/c/Users/"+u+"/"+p+".ts", u, p),
			one("", `\\?\C:\Users`+`\`+u+`\`+p+`\c.txt`, u, p),
			one("", `%USERPROFILE%\`+u+`\`+p+`.txt`, u, p),
		}
	}},
	{name: "user name with a space", make: func(g *made) []planted {
		a, b, p := g.cap(), g.cap(), g.word()
		return []planted{
			one("/h/p.ts", "/Users/"+a+" "+b+"/"+p+"/a.ts", a, b, p),
			one(`C:\h\p.md`, `C:\Users`+`\`+a+" "+b+`\`+p+`\b.md`, a, b, p),
			one("/h/p.md", "/home/"+a+`\ `+b+"/"+p+".md", a, b, p),
			one("/h/p.md", "/Users/"+a+"%20"+b+"/"+p+".md", a, b, p),
		}
	}},
	{name: "encoded path", make: func(g *made) []planted {
		u, p := g.word(), g.word()
		return []planted{
			one("/h/p", "-home-"+u+"-"+p, u, p),
			one("/h/p", "-Users-"+u+"-"+p+"-src", u, p),
			one("/h/p", "C--Users-"+u+"-"+p, u, p),
			one("/h/p", "-mnt-c-Users-"+u+"-"+p, u, p),
			one("/h/p", "%2FUsers%2F"+u+"%2F"+p, u, p),
			one("/h/p", "C%3A%5CUsers%5C"+u+"%5C"+p, u, p),
		}
	}},
	{name: "e-mail", make: func(g *made) []planted {
		u, h := g.word(), g.word()
		return []planted{
			one("<email:>", u+"@"+h+".example.com", u, h),
			one("<email:>", u+"."+h+"+tag@"+"mail.example.org", u, h),
			one("", `"`+u+" "+h+`" <`+u+"@"+h+".dev>", u, h),
		}
	}},
	{name: "host", make: func(g *made) []planted {
		a, b := g.word(), g.word()
		return []planted{
			one("<host:>", a+"."+b+".example.com", a, b),
			one("<host:>", a+"."+b+".internal:8080", a, b),
			one("<host:>", a+"."+b+".local", a, b),
			one("", a+"-"+b+".lan", a, b),
		}
	}},
	{name: "address", make: func(g *made) []planted {
		v6 := "2001:db8:" + g.hex(4) + ":" + g.hex(4) + "::" + g.hex(4)
		short := "fd00::12:34:" + g.hex(4)
		return []planted{
			one("<ip:>", "10.211.33.147", "211.33", "33.147"),
			one("<ip:>", "203.0.113.77:8443", "113.77", "203.0"),
			one("<ip:>", v6, "db8:", v6[9:13]),
			one("<ip:>", short, "12:34", short[12:]),
			one("", "["+v6+"]:8443", "db8:", v6[9:13]),
			one("", "fe80::"+g.hex(4)+":1:2:3%eth0", ":1:2:3"),
		}
	}},
	{name: "UUID", make: func(g *made) []planted {
		a, b := g.uuid(), strings.ToUpper(g.uuid())
		return []planted{one("<uuid:>", a, a[9:18], a[24:]), one("<uuid:>", b, b[9:18], b[24:]), one("", "urn:uuid:"+a, a[9:18])}
	}},
	{name: "id", make: func(g *made) []planted {
		a, b, c, d := g.id(24), g.id(22), g.hex(32), g.digits(14)
		return []planted{
			one("<id:>", "ses_"+a, a[3:]), one("<id:>", "req_"+b, b[3:]), one("<id:>", "toolu_"+a, a[3:]),
			one("<id:>", c, c[4:20]), one("<id:>", d, d), one("<id:>", "call-"+c, c[4:20]), one("<id:>", "01J"+strings.ToUpper(b), strings.ToUpper(b[3:])),
		}
	}},
	{name: "signature", make: func(g *made) []planted {
		a := g.id(90)
		return []planted{
			one("", "Eq"+a+"/+"+a+"==", a[4:40]), one("", "sha256="+g.hex(64), "sha256=a1"), one("", a+"."+a+"."+a, a[4:40]),
		}
	}},
	{name: "plugin or MCP server", word: true, make: func(g *made) []planted {
		a, b := g.word(), g.word()
		return []planted{
			one("<text:>", a+"@"+b+"-plugins", a, b), one("<text:>", "mcp__"+a+"__"+b, a, b),
			one("<text:>", a+"-"+b, a, b), one("<text:>", "plugin:"+a+":"+b, a, b),
		}
	}},
	{name: "quota, cost or account", word: true, make: func(g *made) []planted {
		n, w := g.digits(6), g.word()
		return []planted{
			one("<text:>", "Your balance is $"+n+".37 of $"+n+".55", n, ".37", ".55"),
			one("<text:>", "account "+g.digits(12)+" of org "+w, w),
			one("<text:>", "used 91.3% of the plan of "+w, w),
		}
	}},
	{name: "OSC title", make: func(g *made) []planted {
		u, h := g.word(), g.word()
		return []planted{
			one("\x1b]0;<text:>\x07", "\x1b]0;"+u+"@"+h+"\x07", u, h),
			one("", "\x1b]2;"+u+": ~/"+h+"\x1b\\", u, h),
			one("", "\x1b]7;file://"+h+"/home/"+u+"\x07", u, h),
			one("", "\x1b]8;;https://"+h+".example.com/"+u+"\x07link\x1b]8;;\x07", u, h),
		}
	}},
	{name: "environment dump", make: func(g *made) []planted {
		u, s, t := g.word(), g.id(20), g.id(40)
		return []planted{
			one("", "HOME=/home/"+u+"\x00USER="+u+"\x00MY_TOKEN="+s+"\x00GH="+t+"\x00", u, s, t),
			one("", "PATH=/opt/"+u+"/bin:/usr/bin\nUSER="+u+"\nSESSION_SECRET="+s+"\n", u, s),
		}
	}},
}
