package post

import "strings"

// languages are words of other languages than English. Go's \b and \w know Latin letters only, so that a word of another script
// is told by what stands in it.
var languages = []struct {
	name   string
	fails  string // for a failure for want of memory on a GPU
	mine   string // of whoever speaks of what happened to him
	doubts string // of one that did not happen, or is to be kept from happening
}{
	{"Chinese",
		`\d+ ?G\w? ?的?(?:显?卡|显存)[^。！？\n]{0,40}(?:也|就|还是|又|直接) ?(?:炸|爆)|[显现]存[^。！？\n]{0,20}漏到|(?:GPU|显卡)[^。！？，,\n]{0,6}(?:爆掉|爆了|爆满|撑爆|炸了|打满|占满|耗尽)|[显现]存[^。！？，,\n]{0,8}(?:不足|不够|溢出|爆|满了|撑满|打满|占满|跑满|吃满|耗尽|超限|超出|炸)|(?:GPU|显[存卡])[^。！？\n]{0,10}(?:飙升|暴增|暴涨|激增|猛增)[^。！？\n]{0,24}(?:失败|报错|崩|中断|挂|卡死|退出)`,
		``, `会不会|够不够|够用?[吗么]|(?:解决|处理|优化)(?:方法|办法|方案|技巧)\s*[：:]|如果|如何(?:避免|处理|防止|减少|降低|设置)|可能|避免|防止`},
	{"Japanese",
		`(?:VRAM|GPU|ビデオ)[^。\n]{0,8}(?:メモリー?)?[^。\n]{0,4}(?:不足|足りな|足りませ|足らな|溢れ|あふれ|オーバー)|メモリー?(?:が|は|も)?(?:不足|足りな|足りませ|足らな|溢れ|あふれ|オーバー)`,
		``, `(?:不足|足り|足ら|溢れ|あふれ|オーバー)\p{Hiragana}*(?:場合|とき|時)|可能性|避け|防[ぐい]|ないように`},
	{"Korean",
		`(?:메모리|VRAM|비디오 ?램)(?:가|이|는|도)? ?(?:부족|초과|터[지졌집]|모자라|꽉)`,
		``, `(?:부족|초과|모자라|터)\p{Hangul}* ?(?:경우|때|면)|수 ?있(?:습니다|다|음)|방지|피하|않도록`},
	{"Russian",
		`(?:не ?хватает|не ?хватило|нехватк\p{L}+|недостаточно|заканчивается|закончилась|кончилась|кончается) (?:\p{L}+ )?(?:видео)?памят|(?:видео)?памят\p{L}+ (?:\p{L}+ )?(?:не ?хватает|не ?хватило|заканчивается|закончилась|кончилась|кончается|переполн\p{L}+)|переполн\p{L}+ (?:видео)?памят`,
		`(?:^|[^\p{L}])(?:я|у меня|мне|мой|моя|моей|моём|подскажите|помогите|запускаю|обучаю)(?:[^\p{L}]|$)`, `если|может|чтобы|избежать|(?:^|[^\p{L}])без (?:\p{L}+ )?нехватк`},
	{"Spanish",
		`\bsin memoria\b|\bfalta (?:de )?memoria\b|\bmemoria (?:de (?:la |mi )?(?:GPU|gráfica|video) )?(?:\w+ )?(?:insuficiente|agotada|llena)\b|\bno (?:hay|tengo|queda|tiene) (?:suficiente |bastante )?(?:memoria|VRAM)\b|\bse (?:me )?(?:queda|quedó|agota|agotó|acaba|acabó|llena) (?:sin |la )?(?:memoria|VRAM)\b`,
		`\b(?:tengo|estoy|mi (?:GPU|tarjeta|modelo|código|script)|intento|ayuda|gracias)\b`, `\bsi (?:la|el|te|se|no)\b|\b(?:puede|podría|evitar|para no|cuando)\b`},
	{"Portuguese",
		`\bsem memória|\bfalta (?:de )?memória|\bmemória (?:da (?:GPU|placa) )?(?:\w+ )?(?:insuficiente|esgotada|cheia|estour\w+)|\bestour\w+ (?:a )?memória|\bnão (?:há|tenho|tem) memória`,
		`\b(?:estou|tenho|minha (?:GPU|placa)|meu (?:modelo|código|script)|tentando|ajuda|obrigad[oa])\b`, `\bse (?:a|o|você)\b|\b(?:pode|poderia|evitar|para não|quando)\b`},
	{"French",
		`mémoire (?:(?:de la|du) (?:GPU|carte)(?: graphique)? )?(?:\p{L}+ )?(?:insuffisante|saturée|pleine|dépassée)|\b(?:manque|manquer|à court|plus|pas assez) de (?:mémoire|VRAM)|\b(?:mémoire|VRAM) sature`,
		`(?i:\bje\b|\bj['’](?:ai|essaie|obtiens|utilise)|\bm(?:on|a) (?:GPU|carte|modèle|code|script)\b|\bmerci\b)`, `\bsi (?:le|la|les|vous)\b|\b(?:peut|pourrait|éviter|pour ne)\b`},
	{"German",
		`\b(?:zu wenig|nicht genug|nicht genügend|kein) (?:\p{L}+ )?(?:GPU-?|Grafik|Video|Grafikkarten)?-?(?:Speicher|VRAM)\b|\b(?:GPU-?|Grafik|Video|Grafikkarten)?-?Speicher[^.\n]{0,20}\b(?:voll|reicht nicht|läuft über|überläuft|läuft voll|erschöpft|geht aus|ausgegangen)\b|\bSpeicherüberlauf\b`,
		`\b(?:ich|mein|meine|meiner|mir|wir|unsere|Hilfe|danke)\b`, `\b(?:wenn|falls|könnte|kann|sollte|vermeiden|ohne)\b`},
}

// inLanguages joins what one column of them has, as further alternatives of a pattern.
func inLanguages(column func(i int) string) string {
	var b strings.Builder
	for i := range languages {
		if words := column(i); words != "" {
			b.WriteString("|(?i:" + words + ")")
		}
	}
	return b.String()
}

func failsIn() string  { return inLanguages(func(i int) string { return languages[i].fails }) }
func mineIn() string   { return inLanguages(func(i int) string { return languages[i].mine }) }
func doubtsIn() string { return inLanguages(func(i int) string { return languages[i].doubts }) }
