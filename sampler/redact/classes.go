package redact

import (
	"bytes"
	"strings"
	"sync"
)

// class is what a name says of its value.
type class uint8

const (
	plain    class = iota // nothing
	password              // is a secret, whatever it looks like
	token                 // is one, unless it is a path, a number or a word such as none
	auth                  // is one, unless it is the word for a way to authenticate
	cookie                // is a list of name=value;
	maybe                 // is one only if it looks random
	variable              // is one if it looks random, be it of figures and small letters: X_KEY
	hook                  // is the URL of a webhook
)

// vocabulary are the words that classes are made of, built at first use.
type vocabulary struct {
	stems [256][]string // by their first byte
	// Words by which a name ends.
	passwords, tokens, neutral map[string]bool
	// Words before the last one.
	ofModels  map[string]bool // token
	ofPasses  map[string]bool // pass
	ofKeys    map[string]bool // key
	ofTokens  map[string]bool // tokens, and token without a break before it
	ofPhrases map[string]bool // phrase
	ofCodes   map[string]bool // code
	services  map[string]bool // key: whose
}

var vocabularies = sync.OnceValue(func() *vocabulary {
	return &vocabulary{
		stems:     byFirst(strings.Fields("token pass pwd pw secret key auth cred jwt cookie bearer pat sig hook otp mnemonic phrase dsn kennwort wachtwoord senha parola contrasena 2fa pin salt word basic code")),
		passwords: set("password passwd passphrase passcode pwd pw pass secret mnemonic passwords secrets otp sshpass storepass keypass dbpass userpass smtppass rootpass adminpass passwort passe kennwort wachtwoord senha parola contrasena"),
		tokens:    set("jwt bearer credential credentials creds apikeys authtoken authkey 2fa"),
		neutral:   set("value val prod production dev staging stage b64 base64 primary secondary plain raw current base json"),
		ofModels: set("tokenizer pad eos bos unk cls sep mask special image img video audio speech text stop start end trigger placeholder initializer num n max min per " +
			"class prompt instance modifier added add additional distillation distilled first last next begin ignore blank boi eoi bot eot eod eom sop eop im think thinking " +
			"tool function separator delimiter ctx context keep drop prune pruned merge merged vision visual patch learnable latent register memory time state action query " +
			"object subject concept unique identifier rare style domain lang language target source src tgt role response instruction answer chat turn step reward good bad " +
			"negative positive entity head tail empty newline fim prefix suffix middle gmask sentinel extra vocab word sub byte char space dummy null draft budget reasoning " +
			"column skip by loss new line motion codec semantic acoustic frame expected unexpected"),
		ofPasses:  set("by forward backward first second third single two multi one low high band num full pre all render max min n per z allow"),
		ofKeys:    set("api access secret private signing sign encryption encrypt decryption auth account license licence master service deploy consumer client app application subscription storage admin session webhook hmac jwt cipher root ingest integration shared function functions sas security personal"),
		ofTokens:  set("api access auth bearer refresh secret hf hub id user session csrf xsrf personal bot deploy registry git gh db sas oauth zugangs"),
		ofPhrases: set("seed recovery secret pass"),
		ofCodes:   set("time verification recovery backup"),
		services: set("openai kaggle azure anthropic claude wandb google gemini cohere mistral groq together togetherai replicate huggingface hf hugging github gitlab aws gcp s3 minio " +
			"comet neptune mlflow clearml ngc nvidia nim pinecone weaviate qdrant milvus langchain langsmith langfuse serper serpapi tavily exa perplexity deepseek dashscope qwen " +
			"zhipu zhipuai glm moonshot minimax baichuan ark volc siliconflow openrouter fireworks xai grok cerebras sambanova databricks snowflake elastic elevenlabs assemblyai " +
			"deepgram stability fal runpod vast lambda modal paperspace vultr linode digitalocean cloudflare datadog newrelic sentry segment mixpanel amplitude slack discord " +
			"telegram twilio sendgrid mailgun mailchimp stripe paypal square shopify notion airtable jira atlassian trello linear asana zapier firebase supabase mongodb redis " +
			"postgres mysql roboflow labelbox jina voyage voyageai nomic weather maps algolia alchemy infura etherscan binance coinbase aleph alephalpha ai21 bing brave wolfram " +
			"unsplash pexels civitai dagshub determined gradient polyaxon valohai swanlab aim arize whylabs"),
	}
})

// classify says what a name is the name of. Its words may be written in any way: api_key,
// api-key, apiKey, API_KEY, x.api.key.
func classify(name string) class {
	v := vocabularies()
	if !stemmed(name, v) {
		return plain
	}
	words := split(name)
	for len(words) > 1 && (v.neutral[words[len(words)-1]] || only(words[len(words)-1], digit)) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return plain
	}
	return v.class(words, words[len(words)-1], strings.TrimRight(words[len(words)-1], "0123456789"))
}

// class of a name with these words; last is the last of them, bare that without figures.
func (v *vocabulary) class(words []string, last, bare string) class {
	before := ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case bare == "pass" && v.ofPasses[before]:
		return plain
	case v.passwords[bare], ends(bare, "password", "passwd", "passphrase", "secret"), bare == "phrase" && v.ofPhrases[before], bare == "word" && before == "pass":
		return password
	case bare == "dsn", bare == "pin", bare == "salt", bare == "sig", bare == "signature":
		return maybe
	case bare == "token":
		return v.tokenClass(words)
	case bare == "tokens" && v.ofTokens[before], bare == "code" && v.ofCodes[before], v.tokens[bare]:
		return token
	case bare == "key" || bare == "keys":
		return v.keyClass(before)
	case bare == "id" && len(words) > 2 && before == "key" && words[len(words)-3] == "access":
		return token
	case bare == "auth" || bare == "authorization" || ends(bare, "basicauth", "httpauth"):
		return auth
	case bare == "cookie" || bare == "cookies":
		return cookie
	case bare == "config" && before == "auth" && words[0] == "docker":
		return token
	case bare == "pat":
		return maybe
	case ends(bare, "webhook"), (last == "url" || last == "uri") && ends(before, "webhook", "hook"):
		return hook
	}
	if of, ok := strings.CutSuffix(bare, "token"); ok && (v.ofTokens[of] || v.services[of]) {
		return token
	}
	if of, ok := strings.CutSuffix(bare, "key"); ok && (v.ofKeys[of] || v.services[of]) {
		return token
	}
	return plain
}

// tokenClass: models have tokens too.
func (v *vocabulary) tokenClass(words []string) class {
	for _, w := range words[:len(words)-1] {
		if v.ofModels[w] {
			return maybe
		}
	}
	return token
}

// keyClass: so do tables, queries and caches have keys.
func (v *vocabulary) keyClass(before string) class {
	switch {
	case before == "public":
		return plain
	case before == "session": // of a web framework, or of a table
		return variable
	case v.ofKeys[before] || v.services[before]:
		return token
	}
	return maybe
}

// stemmed says whether a name may have a class at all: most have none.
func stemmed(name string, v *vocabulary) bool {
	if len(name) > maxName {
		return false
	}
	var low [maxName]byte
	n := copy(low[:], name)
	for i := range n {
		if upper(low[i]) {
			low[i] += 'a' - 'A'
		}
	}
	for i, c := range low[:n] {
		for _, stem := range v.stems[c] {
			if bytes.HasPrefix(low[i:n], []byte(stem)) {
				return true
			}
		}
	}
	return false
}

func byFirst(stems []string) (by [256][]string) {
	for _, s := range stems {
		by[s[0]] = append(by[s[0]], s)
	}
	return by
}

// maxName is the longest name that is looked at.
const maxName = 128

// split makes lower-case words of a name.
func split(name string) (words []string) {
	from := 0
	cut := func(to int) {
		if from < to {
			words = append(words, strings.ToLower(name[from:to]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case !alnum(c):
			cut(i)
			from = i + 1
		case upper(c) && i > 0 && (lower(name[i-1]) || digit(name[i-1])),
			upper(c) && i+1 < len(name) && lower(name[i+1]) && i > 0 && upper(name[i-1]): // APIToken
			cut(i)
			from = i
		}
	}
	cut(len(name))
	return words
}

func ends(word string, suffixes ...string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(word, s) {
			return true
		}
	}
	return false
}
