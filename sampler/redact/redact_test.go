package redact

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lines of a file of testdata, without comments.
func lines(t testing.TB, name string) (list []string) {
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	for in := bufio.NewScanner(file); in.Scan(); {
		if line := in.Text(); line != "" && line[0] != '#' {
			list = append(list, line)
		}
	}
	return list
}

// form is one line of secrets.txt: the text, and what must not be seen of it.
func form(line string) (text string, secrets []string) {
	line = strings.ReplaceAll(line, "·", "")
	for rest := line; ; {
		_, after, ok := strings.Cut(rest, "«")
		if !ok {
			return strings.NewReplacer("«", "", "»", "").Replace(line), secrets
		}
		secret, behind, _ := strings.Cut(after, "»")
		secrets = append(secrets, strings.Fields(secret)...)
		rest = behind
	}
}

// leaks is what of the secrets is still to be seen: a piece of five bytes is too much.
func leaks(text string, secrets []string) string {
	for _, s := range secrets {
		size := min(5, len(s))
		for i := 0; i+size <= len(s); i++ {
			if size > 1 && strings.Contains(text, s[i:i+size]) {
				return s[i : i+size]
			}
		}
	}
	return ""
}

// TestQuoting: a name in a word that was typed makes no secret of the program's own words, and what is secret stays so.
func TestQuoting(t *testing.T) {
	for _, row := range []struct {
		text, want string
		typed      []string
	}{
		{"/etc/passwd: neither a recording nor a log", "/etc/passwd: neither a recording nor a log", []string{"report", "/etc/passwd"}},
		{"open api_key=foo.jsonl: no such file or directory", "open api_key=foo.jsonl: no such file or directory", []string{"report", "api_key=foo.jsonl"}},
		{"open api_key=Zx81kqpW7: no such file or directory", "open api_key=[redacted]: no such file or directory", []string{"report", "api_key=Zx81kqpW7"}},
		{"open password: no such file", "open password: no such file", []string{"report", "password"}},
		{"/etc/passwd: no TOML", "/etc/passwd: no TOML", []string{"--config=/etc/passwd"}},
		{"passwd: neither; /tmp/passwd: neither", "passwd: neither; /tmp/passwd: neither", []string{"report", "passwd", "/tmp/passwd"}},
		{"unknown: --hf-token hunter22", "unknown: --hf-token [redacted]", []string{"--hf-token", "hunter22"}},
		{"unknown: --hf-token=hunter22", "unknown: --hf-token=[redacted]", []string{"--hf-token=hunter22"}},
		{`"hunter22" is none, and hf-token: hunter22`, `"hunter22" is none, and hf-token: [redacted]`, []string{"--lang=xx"}},
		{"Get http://ann:hunter22@box/metrics: refused", "Get http://[redacted]@box/metrics: refused", []string{"--from", "http://ann:hunter22@box/metrics"}},
		{"the log says password: hunter22", "the log says password: [redacted]", []string{"once", "a", "word"}},
		{"the log says password: hunter22", "the log says password: [redacted]", nil},
	} {
		if got := Quoting(row.text, row.typed); got != row.want {
			t.Errorf("%q, typed %q: %q, want %q", row.text, row.typed, got, row.want)
		}
	}
}

// TestSecrets: of the forms in which secrets stand, at least 98 of 100 are taken out.
func TestSecrets(t *testing.T) {
	missed := 0
	list := lines(t, "secrets.txt")
	for _, line := range list {
		text, secrets := form(line)
		got := Text(text)
		if piece := leaks(got, secrets); piece != "" {
			missed++
			t.Logf("still shows %q\n %s\n %s", piece, text, got)
		}
		if again := Text(got); again != got {
			t.Errorf("not the same again:\n %s\n %s", got, again)
		}
	}
	t.Logf("%d of %d missed", missed, len(list))
	if missed*50 > len(list) {
		t.Errorf("%d of %d secrets are still to be seen", missed, len(list))
	}
}

// TestOrdinary: nothing is taken out of a command or of a line of a log that has no secret.
func TestOrdinary(t *testing.T) {
	touched := 0
	list := append(lines(t, "ordinary.txt"), lines(t, "ordinary-logs.txt")...)
	for _, line := range list {
		if got := Text(line); got != line {
			touched++
			t.Logf("touched\n %s\n %s", line, got)
		}
	}
	t.Logf("%d of %d touched", touched, len(list))
	if touched*200 > len(list) {
		t.Errorf("%d of %d ordinary texts are touched", touched, len(list))
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"python train.py --batch-size 64 --lr=0.1", "python train.py --batch-size 64 --lr=0.1"},
		{"x --token=abc123 --y", "x --token=[redacted] --y"},
		{"x --api-key s3cr3t", "x --api-key [redacted]"},
		{"x --api_key='s3cr3t' z", "x --api_key='[redacted]' z"},
		{"x --hub-token abcdef", "x --hub-token [redacted]"},
		{"x --password hunter2 y", "x --password [redacted] y"},
		{"WANDB_API_KEY=0123456789abcdef python x.py", "WANDB_API_KEY=[redacted] python x.py"},
		{"env AWS_SECRET_ACCESS_KEY=abc/def+ghi x", "env AWS_SECRET_ACCESS_KEY=[redacted] x"},
		{"aws AKIAIOSFODNN7EXAMPLE go", "aws [redacted] go"},
		{"login hf_AbCdEfGhIjKlMn x", "login [redacted] x"},
		{"x sk-proj-abcdefghijklmnop y", "x [redacted] y"},
		{"git clone https://ann:pa55@host/x.git", "git clone https://[redacted]@host/x.git"},
		{"s3 https://b/x?X-Amz-Signature=00ff&y=1", "s3 https://b/x?X-Amz-Signature=[redacted]&y=1"},
		{"curl -H Authorization: Bearer abcdefgh12345678", "curl -H Authorization: Bearer [redacted]"},
		{"x ghp_abcdefghijklmnopqrst", "x [redacted]"},
		{"x --password\u00a0S3cretPw1", "x --password [redacted]"},
		{"x --pass\u200bword=S3cretPw1 y", "x --password=[redacted] y"},
		{"\x1b[1mpassword\x1b[0m: S3cretPw1", "password: [redacted]"},
		{"--hf-\x1b[0mtoken S3cretPw1", "--hf-token [redacted]"},
		{"--hf\u115f-to\u3164ken\u2800S3cretPw1", "--hf-token [redacted]"},
		{"--hf-?[0mtoken S3cretPw1", "--hf-?[0mtoken [redacted]"},
		{"password?: S3cretPw1", "password?: [redacted]"},
		{"https://h/x?page=3&token?", "https://h/x?page=3&token?"},
		{"密码：S3cretPw1", "密码：[redacted]"},
		{"token%3DS3cretPw1%26x", "token%3D[redacted]"},
		{"token: >-\n  S3cretPw1\nx: y", "token: >-\n  [redacted]\nx: y"},
		{"PassWord\t=\tS3cretPw1", "PassWord\t=\t[redacted]"},
		{"secret_key_base: 0123456789abcdef01", "secret_key_base: [redacted]"},
		{"SENTRY_DSN=a8Zq0123456789abcdef01", "SENTRY_DSN=[redacted]"},
		{"DSN=warehouse", "DSN=warehouse"},
		{"HF_TOKEN+=abc123def456", "HF_TOKEN+=[redacted]"},
		{"setattr(cfg, 'api_key', 'abc123def456')", "setattr(cfg, 'api_key', '[redacted]')"},
		{"os.environ.setdefault('HF_TOKEN', 'abc123def456')", "os.environ.setdefault('HF_TOKEN', '[redacted]')"},
		{"columns=['password', 'email', 'token', 'name']", "columns=['password', 'email', 'token', 'name']"},
		{"<password>S3cretPw1</password>", "<password>[redacted]</password>"},
		{"subprocess.run('curl -u ann:S3cretPw https://h/x', shell=True)", "subprocess.run('curl -u ann:[redacted] https://h/x', shell=True)"},
		{"os.system('wandb login 0123456789abcdef0123')", "os.system('wandb login [redacted])"},
		{"curl -su ann:S3cretPw https://host/x", "curl -su ann:[redacted] https://host/x"},
		{"curl -sSLuann:S3cretPw https://host/x", "curl -sSLuann:[redacted] https://host/x"},
		{"curl -sSfL -o out:put https://host/x", "curl -sSfL -o out:put https://host/x"},
		{"curl -kvU proxy:S3cretPw https://host/x", "curl -kvU proxy:[redacted] https://host/x"},
		{"jwt eyJhbGciOiJI.eyJzdWIiOiIx.abc_def", "jwt [redacted]"},
		{"x --password=", "x --password="},
		{"vllm serve --max-num-batched-tokens 8192 --tokenizer x/y", "vllm serve --max-num-batched-tokens 8192 --tokenizer x/y"},
		{"x --auth none --token 5", "x --auth none --token 5"},
		{"x --token --verbose", "x --token --verbose"},
		{"postgres://ann:JTq3tl/AcubB@db/x", "postgres://[redacted]@db/x"},
		{"sftp://ann:8q8wp@ssd5J/5b@host/path", "sftp://[redacted]@host/path"},
		{"http://db:5432/a@b docker://alpine:latest/x@sha256:ab12", "http://db:5432/a@b docker://alpine:latest/x@sha256:ab12"},
		{"DOCKER_AUTH_CONFIG=Zm9vOmJhcg docker pull x", "DOCKER_AUTH_CONFIG=[redacted] docker pull x"},
		{"net use z: /user:ann Sommer7", "net use z: /user:ann [redacted]"},
		{`net use \\srv\share Sommer7 /user:ann`, `net use \\srv\share [redacted] /user:ann`},
		{"net use z: /user:ann *", "net use z: /user:ann *"},
		{`python -c "max_tokens=100; token=tokens[0]"`, `python -c "max_tokens=100; token=tokens[0]"`},
		{"x --session_key user", "x --session_key user"},
		{"x --session-key 9fj3kfj39fjk3f93jf", "x --session-key [redacted]"},
		{`x --prompt "key: value, token: word"`, `x --prompt "key: value, token: word"`},
		{"mailto ann@example.org", "mailto ann@example.org"},
		{"", ""},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// FuzzText: whatever the text, what went through once does not change again, and a key
// beside it goes.
func FuzzText(f *testing.F) {
	for _, line := range append(lines(f, "secrets.txt"), lines(f, "ordinary.txt")...) {
		text, _ := form(line)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if again := Text(once); again != once {
			t.Errorf("%q\n once %q\nagain %q", s, once, again)
		}
		if len(once) > len(Mark)*len(s) {
			t.Errorf("%q grew to %d bytes", s, len(once))
		}
		const key = "hf" + "_AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
		if got := Text(s + " " + key); strings.Contains(got, key) {
			t.Errorf("%q keeps its key: %q", s, got)
		}
	})
}

// TestLinear: a text made to be slow is not.
func TestLinear(t *testing.T) {
	for _, piece := range []string{"key=", "token=", "--token ", "://", "a://b:c@", "sk-", "-----BEGIN ", "mysql ", "wandb login ", "password: ", "'", `\"`, "a,", "eyJ.", "--password a ",
		"token 'a ", "Cookie: a;", "bearer a", "[redacted]", "1:AA", "M", "echo a | ", "set password ", `"token":`, "(", "-p ", "AKIA", "login(", "login('", "a?", "?[1m", "| token ", "token -> ", "token for a: ", "key is ", "密码", "<token ", "token>", "token value=",
		"%3D", "password\"", "api key "} {
		start := processorTime()
		Text(strings.Repeat(piece, 1<<18/len(piece)))
		if took := processorTime() - start; took > 3*time.Second {
			t.Errorf("256 KiB of %q take %v", piece, took)
		}
	}
}

// processorTime is what this process has had so far: what it waits for others on a busy machine is none of its work.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) //nolint:errcheck // it always succeeds
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkText(b *testing.B) {
	const command = "/opt/conda/bin/python -u train.py --model_name_or_path meta-llama/Llama-3.1-8B --tokenizer meta-llama/Llama-3.1-8B --max_tokens 4096 --lr 1e-4 --output_dir runs/a --hf_token abcdef0123"
	b.SetBytes(int64(len(command)))
	for b.Loop() {
		Text(command)
	}
}
