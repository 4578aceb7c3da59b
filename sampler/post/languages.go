package post

import "strings"

// languages are words of other languages than English. Go's \b and \w know Latin letters only, so that a word of another script
// is told by what stands in it.
var languages = []struct {
	name   string
	fails  string // for a failure for want of memory on a GPU
	mine   string // of whoever speaks of what happened to him
	doubts string // of one that did not happen, or is to be kept from happening
	guides string // of whoever explains such failures to readers
	past   string // of what failures did, and when
}{
	{"Chinese",
		`\d+ ?G\w? ?的?(?:显?卡|显存)[^。！？\n]{0,40}(?:也|就|还是|又|直接) ?(?:炸|爆)|[显现]存[^。！？\n]{0,20}漏到|(?:GPU|显卡)[^。！？，,\n]{0,6}(?:爆掉|爆了|爆满|撑爆|炸了|打满|占满|耗尽)|[显现]存[^。！？，,\n]{0,8}(?:不足|不够|溢出|爆|满了|撑满|打满|占满|跑满|吃满|耗尽|超限|超出|炸)|(?:GPU|显[存卡])[^。！？\n]{0,10}(?:飙升|暴增|暴涨|激增|猛增)[^。！？\n]{0,24}(?:失败|报错|崩|中断|挂|卡死|退出)`,
		`求解|谢谢|多谢|怎么回事|求大佬`, `会不会|够不够|够用?[吗么]|(?:解决|处理|优化)(?:方法|办法|方案|技巧)\s*[：:]|如果|如何(?:避免|处理|防止|减少|降低|设置)|可能|避免|防止`,
		`您|你(?:的|是否|可[以能]|需要|会|将)|本(?:文|教程|节|指南|篇)|这篇文章|一文|手把手|是指|意味着|常见(?:的)?(?:原因|错误|问题|报错|解决)|(?:如下|以下|类似)[^。\n]{0,8}(?:错误|报错|信息|提示|方法|步骤)|(?:错误|信息)[^。\n]{0,6}(?:说明|表示|表明)|通常|(?:当|在)[^。，,\n]{2,24}时[，,]|可以(?:尝试|通过|使用)|建议`, `(?:崩溃|报错|失败)了? ?[（(]?(?:\d+|[一两三四五几]) ?次|(?:\d+|[两三四五几]) ?[次条][^。\n重]{0,24}(?:错误信息|崩溃|报错)|(?:跑|试|运行|训练|测试)了`},
	{"Japanese",
		`(?:VRAM|GPU|ビデオ)[^。\n]{0,8}(?:メモリー?)?[^。\n]{0,4}(?:不足|足りな|足りませ|足らな|溢れ|あふれ|オーバー)|メモリー?(?:が|は|も)?(?:不足|足りな|足りませ|足らな|溢れ|あふれ|オーバー)`,
		`私|僕|当方|自分の|困って|でしょうか|教えて|お願い|質問|(?:発生|出て|落ち|止まり|なり|終了し)(?:しま|てい)?(?:した|ました|ます|しまい)`, `(?:不足|足り|足ら|溢れ|あふれ|オーバー)\p{Hiragana}*(?:場合|とき|時)|可能性|避け|防[ぐい]|ないように`,
		`本(?:記事|稿|ガイド|ページ)|この記事|今回は|読者|あなた|ください|ましょう|場合(?:が|は|に)|ことを(?:示|意味)|を意味|とは|について|典型的|よくある|一般的|することで|(?:対処|解決|回避)(?:法|策|方法)|解説|紹介|ませんか|のです|となります`, ``},
	{"Korean",
		`(?:메모리|VRAM|비디오 ?램)(?:가|이|는|도)? ?(?:부족|초과|터[지졌집]|모자라|꽉)`,
		`저는|제가|제 |저의|저희|질문|문의|나요|까요|[뜹납]니다|[났떴]습니다|감사합니다|도와|혹시|인데요`, `(?:부족|초과|모자라|터)\p{Hangul}* ?(?:경우|때|면|시(?:[^\p{Hangul}]|$))|수 ?있(?:습니다|다|음)|방지|피하|않도록`,
		`이번 ?글|지난 ?글|이 글|본 ?글|포스팅|알아보|살펴|다룬다|소개|하는 (?:법|방법)|방법(?:이|은|을)|발생(?:한다|할 수)|의미|때문이다|경우|줄이(?:면|거나|세요)|하(?:세요|십시오)|해 ?보(?:세요|자)|수 (?:있다|있습니다)|이다\.|한다\.`, `(?:[았었였했됐났떴졌겼갔왔켰렸웠]|해 ?봤)(?:다(?:[.,\s(]|$)|으나|지만|는데)`},
	{"Russian",
		`(?:не ?хватает|не ?хватило|нехватк\p{L}+|недостаточно|заканчивается|закончилась|кончилась|кончается) (?:\p{L}+ )?(?:(?:видео)?памят|VRAM)|(?:видео)?памят\p{L}+ (?:\p{L}+ )?(?:не ?хватает|не ?хватило|заканчивается|закончилась|кончилась|кончается|переполн\p{L}+)|переполн\p{L}+ (?:видео)?памят`,
		`(?:^|[^\p{L}])(?:я|у меня|мне|мой|моя|моей|моём|подскажите|помогите|запускаю|обучаю)(?:[^\p{L}]|$)`, `если|может|чтобы|избежать|(?:^|[^\p{L}])без (?:\p{L}+ )?нехватк`,
		`в этой (?:статье|главе)|разберём|рассмотрим|(?:^|[^\p{L}])(?:вы|вам|ваш\p{L}*|гид|руководство)(?:[^\p{L}]|$)|как исправить|что такое|указывает|означает|возникает|обычно|нередко|следует|попробуйте|убедитесь|уменьшите|используйте`, `(?:не ?хватило|закончил[ао]сь|кончил[ао]сь|упал[аои]?|вылетел[аои]?)(?:[^\p{L}]|$)`},
	{"Spanish",
		`\bsin memoria\b|\bfalta (?:de )?memoria\b|\bmemoria (?:de (?:la |mi )?(?:GPU|gráfica|video) )?(?:\w+ )?(?:insuficiente|agotada|llena)\b|\bno (?:hay|tengo|queda|tiene) (?:suficiente |bastante )?(?:memoria|VRAM)\b|\bse (?:me )?(?:queda|quedó|agota|agotó|acaba|acabó|llena) (?:sin |la )?(?:memoria|VRAM)\b`,
		`\b(?:tengo|estoy|mi (?:GPU|tarjeta|modelo|código|script)|intento|ayuda|gracias)\b`, `\bsi (?:la|el|te|se|no)\b|\b(?:puede|podría|evitar|para no|cuando)\b`,
		`\besta guía\b|\b(?:tu|tus|su|sus|usted|te)\b|\b(?:utilice|usa|use|selecciona|seleccione|reduce|reduzca|cierra|cierre|prueba|pruebe|comprueba|compruebe|verifica)\b|\bsignifica\b|\bsuele\b|\bcómo (?:solucionar|resolver|evitar|reducir)\b|\bcuando\b|\bpor suerte\b`, `\b(?:falló|fallaron|se cerró|se quedó)\b`},
	{"Portuguese",
		`\bsem memória|\bfalta (?:de )?memória|\bmemória (?:da (?:GPU|placa) )?(?:\w+ )?(?:insuficiente|esgotada|cheia|estour\w+)|\bestour\w+ (?:a )?memória|\bnão (?:há|tenho|tem) memória`,
		`\b(?:estou|tenho|minha (?:GPU|placa)|meu (?:modelo|código|script)|tentando|ajuda|obrigad[oa])\b`, `\bse (?:a|o|você)\b|\b(?:pode|poderia|evitar|para não|quando)\b`,
		`\beste (?:guia|artigo)\b|\b(?:você|seu|sua|seus|suas)\b|\b(?:use|reduza|feche|tente|verifique|selecione)\b|\bsignifica\b|\bcostuma\b|\bcomo (?:resolver|corrigir|evitar|reduzir)\b|\bgeralmente\b`, `\b(?:falhou|falharam|travou)\b`},
	{"French",
		`mémoire (?:(?:de la|du) (?:GPU|carte)(?: graphique)? )?(?:\p{L}+ )?(?:insuffisante|saturée|pleine|dépassée)|\b(?:manque|manquer|à court|plus|pas assez) de (?:mémoire|VRAM)|\b(?:mémoire|VRAM) sature`,
		`(?i:\bje\b|\bj['’](?:ai|essaie|obtiens|utilise)|\bm(?:on|a) (?:GPU|carte|modèle|code|script)\b|\bmerci\b)`, `\bsi (?:le|la|les|vous)\b|\b(?:peut|pourrait|éviter|pour ne)\b`,
		`\b(?:ce|cet) (?:guide|article)\b|\b(?:vous|votre|vos)\b|\b(?:utilisez|réduisez|fermez|essayez|vérifiez|activez)\b|\bsignifie\b|\bse produit\b|\bcomment (?:résoudre|corriger|éviter|réduire)\b|\bgénéralement\b|\bil (?:faut|suffit)\b`, `\b(?:a|ont) (?:planté|échoué|crashé)\b`},
	{"Italian",
		`\bmemoria (?:della (?:GPU|scheda) )?(?:\w+ )?(?:insufficiente|esaurita|piena)\b|\b(?:finisce|finita|manca|esaurita) la memoria\b`,
		`\b(?:ho|sono|la mia (?:GPU|scheda)|il mio (?:modello|codice|script)|sto|aiuto|grazie)\b`, `\bse (?:la|il|si)\b|\b(?:può|potrebbe|evitare|per non|quando)\b`,
		`\b(?:questo|quest['’]) ?(?:articolo|guida|errore)\b|\b(?:tuo|tua|tuoi|vostr[oa])\b|\b(?:usa|usate|riduci|riducete|chiudi|prova|verifica)\b|\bsignifica\b|\bsi verifica\b|\bcome (?:risolvere|evitare|ridurre)\b|\bpossiamo\b|\bsolitamente\b`, `\b(?:è|ha) (?:fallito|crashato|andato)\b`},
	{"Dutch",
		`\bonvoldoende (?:GPU-?|video)?-?geheugen\b|\b(?:GPU-?|video)geheugen (?:is|raakt) (?:vol|op)\b|\bgeen (?:GPU-?|video)?-?geheugen meer\b`,
		`\b(?:ik|mijn|mij|wij|onze|hulp|bedankt)\b`, `\b(?:als|indien|wanneer|kan|zou|voorkomen|zonder)\b`,
		`\b(?:deze|dit) (?:gids|handleiding|artikel|pagina)\b|\b(?:jouw|uw|u|jij|je)\b|\bbetekent\b|\b(?:verlaag|gebruik|sluit|probeer|controleer)\b|\bhoe (?:je|los)\b|\bmeestal\b`, `\b(?:crashte|faalde|mislukte|liep vast)\b`},
	{"German",
		`\b(?:zu wenig|nicht genug|nicht genügend|kein) (?:\p{L}+ )?(?:GPU-?|Grafik|Video|Grafikkarten)?-?(?:Speicher|VRAM)\b|\b(?:GPU-?|Grafik|Video|Grafikkarten)?-?(?:Speicher|VRAM)[^.\n]{0,20}\b(?:voll|reicht nicht|läuft über|überläuft|läuft voll|erschöpft|geht aus|ausgegangen)\b|\bSpeicherüberlauf\b`,
		`\b(?:ich|mein|meine|meiner|mir|wir|unsere|Hilfe|danke)\b`, `\b(?:wenn|falls|könnte|kann|sollte|vermeiden|ohne)\b`,
		`\bdiese[rsm]? (?:Artikel|Anleitung|Leitfaden|Seite|Beitrag)\b|\b(?-i:Sie|Ihr|Ihre|Ihrer|Ihren)\b|\b(?:du|dein|deine|deiner)\b|\bbedeutet\b|\btritt (?:auf|meist|oft|häufig)\b|\bhäufig\b|\b(?:man|hilft|empfiehlt)\b|\bwie (?:man|du)\b`, `\b(?:war|waren|hatte|hatten|lief|liefen|brach|scheiterte|stürzte)\b|\b(?:der|beim) Versuch\b`},
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
func guidesIn() string { return inLanguages(func(i int) string { return languages[i].guides }) }
func pastIn() string   { return inLanguages(func(i int) string { return languages[i].past }) }
func doubtsIn() string { return inLanguages(func(i int) string { return languages[i].doubts }) }
