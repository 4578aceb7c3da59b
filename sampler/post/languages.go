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
	pages  string // of what only a page for readers says of itself, and of what it shows next
	past   string // of what failures did, and when
	ends   string // of a program that ends there, in languages whose letters English has
	denies string // of whoever says that what he met is another problem
}{
	{"Chinese",
		`显卡的?内存[^。！？，,\n]{0,6}(?:不足|不够|溢出|爆|满了|耗尽)|\d+ ?G\w? ?的?(?:显?卡|显存)[^。！？\n]{0,40}(?:也|就|还是|又|直接) ?(?:炸|爆)|[显现]存[^。！？\n]{0,20}漏到|` +
			`(?:就会?|又|总是?|还是)(?:溢出|爆)了?[显现]存|超[显现]存|[显现]存超了|` +
			`(?:GPU|显卡)[^。！？，,\n]{0,6}(?:爆掉|爆了|爆满|撑爆|炸了|打满|占满|耗尽)|[显现]存[^。！？，,\n]{0,8}(?:不足|不够|溢出|爆|满了|撑满|打满|占满|跑满|吃满|耗尽|超限|超出|炸)|` +
			`(?:GPU|显[存卡])[^。！？\n]{0,10}(?:飙升|暴增|暴涨|激增|猛增)[^。！？\n]{0,24}(?:失败|报错|崩|中断|挂|卡死|退出)`,
		`求解|谢谢|多谢|怎么回事|求大佬|贴一下`, `会不会|够不够|够用?[吗么]|(?:解决|处理|优化)(?:方法|办法|方案|技巧)\s*[：:]|如果|如何(?:避免|处理|防止|减少|降低|设置)|可能|避免|防止`,
		`您(?:的(?:[^代论文项工仓]|$)|可|需|应|会|将|必|是否|能够|要|正)|你(?:的|是否|可[以能]|需要|会|将)|本(?:文|教程|节|指南|篇)|这篇文章|一文|手把手|是指|意味着|常见(?:的)?(?:原因|错误|问题|报错|解决)|` +
			`(?:如下|以下|类似)[^。\n]{0,8}(?:错误|报错|信息|提示|方法|步骤)|(?:错误|信息)[^。\n]{0,6}(?:说明|表示|表明)|通常|(?:当|在)[^。，,\n]{2,24}时[，,]|可以(?:尝试|通过|使用)|建议|几乎每个人|迟早会`,
		`我们先?来看|先来看|下面(?:我们)?(?:介绍|来看)|接下来(?:我们)?(?:将|会|介绍|来看|看)|本(?:文|教程|节|指南|篇|章)(?:将|介绍|会|主要)|这篇文章(?:将|介绍|会)|一文(?:搞懂|读懂|看懂)|手把手教`,
		`(?:崩溃|报错|失败)了? ?[（(]?(?:\d+|[一两三四五几]) ?次|(?:\d+|[两三四五几]) ?[次条][^。\n重]{0,24}(?:错误信息|崩溃|报错)|(?:跑|试|运行|训练|测试)了|时(?:报|抛出|提示|出现)[^。\n]{0,80}(?:错误|异常)`,
		``,
		`(?:^|[^是])不(?:像|太像)?是(?:因为|由于)?[^。！？，,\n]{0,8}(?:显存|内存|OOM|爆)|(?:^|[^是])并非[^。，,\n]{0,6}(?:显存|内存|OOM)|(?:与|和|跟)(?:显存|内存|OOM)[^。，,\n]{0,8}(?:无关|没有?关系)|排除了?[^。，,\n]{0,6}(?:显存|内存|OOM)`},
	{"Japanese",
		`(?:VRAM|GPU|ビデオ)[^。\n]{0,8}(?:メモリー?)?[^。\n]{0,4}(?:不足|足りな|足りませ|足らな|溢れ|あふれ|オーバー)|メモリー?(?:が|は|も)?(?:不足|足りな|足りませ|足らな|溢れ|あふれ|オーバー)`,
		`私|僕|当方|自分の|困って|でしょうか|教えて|お願い|質問|(?:発生|出て|落ち|止まり|なり|終了し)(?:しま|てい)?(?:した(?:[^際場と時]|$)|ました|ます|しまい)`,
		`(?:不足|足り|足ら|溢れ|あふれ|オーバー)\p{Hiragana}*(?:場合|とき|時)|可能性|避け|防[ぐい]|ないように`,
		`本(?:記事|稿|ガイド|ページ)|この記事|今回は|読者|あなた|ください|ましょう|場合(?:が|は|に)|ことを(?:示|意味)|を意味|とは|について|典型的|よくある|一般的|することで|(?:対処|解決|回避)(?:法|策|方法)|解説|紹介|ませんか|のです|となります|誰もが|必ず一度は|であろう`,
		`見て(?:み|い)(?:き)?ましょう|考えてみましょう|(?:本|この|今回の)(?:記事|稿|チュートリアル|章|節|ページ|ガイド)では|紹介します|解説し(?:ます|ていきます)|について説明します`,
		``,
		``,
		`(?:メモリー?不足|OOM|out of memory)[^。\n]{0,8}(?:では|じゃ)(?:なく|なさそう|ありません(?:[^か]|$)|ないです(?:[^か]|$)|ない(?:[。、とよ]|よう|みたい))|(?:メモリー?不足|OOM)[^。\n]{0,6}(?:無関係|関係(?:ない|ありません|なさそう))`},
	{"Korean",
		`(?:메모리|VRAM|비디오 ?램)(?:가|이|는|도)? ?(?:부족|초과|터[지졌집]|모자라|꽉)`,
		`저는|제가|(?:^|[^\p{Hangul}])제 |저의|저희|질문|문의|나요|까요|[뜹납]니다|[났떴]습니다|감사합니다|도와|혹시|인데요`,
		`(?:부족|초과|모자라|터)\p{Hangul}* ?(?:경우|때|면|시(?:[^\p{Hangul}]|$))|수 ?있(?:습니다|다|음)|방지|피하|않도록`,
		`이번 ?글|지난 ?글|이 글|본 ?글|포스팅|알아보|살펴|다룬다|소개|하는 (?:법|방법)|방법(?:이|은|을)|발생(?:한다|할 수)|의미|때문이다|경우|줄이(?:면|거나|세요)|하(?:세요|십시오)|해 ?보(?:세요|자)|수 (?:있다|있습니다)|이다\.|한다\.|누구나|한 ?번쯤`,
		`(?:살펴|알아) ?보(?:겠습니다|자(?:[.\s]|$)|도록|려)|(?:이번|이|본) ?(?:글|포스팅|장|절|튜토리얼|가이드)(?:에서는|은)|소개(?:합니다|하겠습니다)`,
		`(?:[았었였했됐났떴졌겼갔왔켰렸웠]|해 ?봤)(?:다(?:[.,\s(]|$)|으나|지만|는데)`,
		``,
		`(?:메모리 ?(?:부족|초과)|OOM|out of memory)[^.\n]{0,10}(?:아니(?:라|고|며|다|에요|었)|아닙니다|아닌 것|무관|상관 ?없|관계 ?없)`},
	{"Russian",
		`(?:не ?хватает|не ?хватило|нехватк\p{L}+|недостаточно|заканчивается|закончилась|кончилась|кончается) (?:\p{L}+ )?(?:(?:видео)?памят|VRAM)|` +
			`(?:видео)?памят\p{L}+ (?:\p{L}+ )?(?:не ?хватает|не ?хватило|заканчивается|закончилась|кончилась|кончается|переполн\p{L}+)|` +
			`переполн\p{L}+ (?:видео)?памят`,
		`(?:^|[^\p{L}])(?:я|у меня|мне|мой|моя|моей|моём|подскажите|помогите|запускаю|обучаю)(?:[^\p{L}]|$)`,
		`если|может|чтобы|избежать|(?:^|[^\p{L}])без (?:\p{L}+ )?нехватк`,
		`в этой (?:статье|главе)|разберём|рассмотрим|(?:^|[^\p{L}])(?:вы|вам|ваш\p{L}*|гид|руководство)(?:[^\p{L}]|$)|как исправить|что такое|указывает|` +
			`означает|возникает|обычно|нередко|следует|попробуйте|убедитесь|уменьшите|используйте|рано или поздно|каждый, кто`,
		`в этой (?:статье|главе|заметке)|в этом (?:руководстве|уроке|разделе)|(?:посмотрим|рассмотрим|разбер[ёе]м) (?:на |как |их |\p{L}+ )|` +
			`(?:^|[^\p{L}])далее мы|(?:эта статья|это руководство) (?:покаж|помож|расскаж|объясн)`,
		`(?:не ?хватило|закончил[ао]сь|кончил[ао]сь|упал[аои]?|вылетел[аои]?)(?:[^\p{L}]|$)`,
		``,
		`(?:^|[^\p{L}])не (?:из-за|от|в|связан\p{L}* с|проблема с?) ?(?:\p{L}+ ){0,2}?(?:\p{L}*памят|нехватк|переполнен|OOM)|(?:OOM|памят\p{L}*)[^.\n]{0,12} ни при ч[её]м`},
	{"Spanish",
		`\bsin memoria\b|\bfalta (?:de )?memoria\b|\bmemoria (?:de (?:la |mi )?(?:GPU|gráfica|video) )?(?:\w+ )?(?:insuficiente|agotada|llena)\b|` +
			`\bno (?:hay|tengo|queda|tiene) (?:suficiente |bastante )?(?:memoria|VRAM)\b|` +
			`\bmemoria (?:de (?:la |mi )?)?(?:GPU|gráfica|VRAM)\b[^.\n]{0,12}\bno (?:alcanza|basta|es suficiente)\b|` +
			`\bse (?:me )?(?:queda|quedó|agota|agotó|acaba|acabó|llena) (?:sin |la )?(?:memoria|VRAM)\b`,
		`\b(?:tengo|estoy|mi (?:GPU|tarjeta|modelo|código|script)|intento|ayuda|gracias)\b`, `\bsi (?:la|el|te|se|no)\b|\b(?:puede|podría|evitar|para no|cuando)\b`,
		`\besta guía\b|\b(?:tu|tus|su|sus|usted|te)\b|` +
			`\b(?:utilice|usa|use|selecciona|seleccione|reduce|reduzca|cierra|cierre|prueba|pruebe|comprueba|compruebe|verifica)\b|\bsignifica\b|\bsuele\b|` +
			`\bcómo (?:solucionar|resolver|evitar|reducir)\b|\bcuando\b|\bpor suerte\b|\b(?:tarde o temprano|todo el que)\b`,
		`\ben (?:este|esta) (?:artículo|guía|tutorial|sección|capítulo|entrada)\b|\b(?:veamos|veremos)\b|\bvamos a ver\b|\best[ea] (?:artículo|guía|tutorial) (?:te )?(?:muestra|explica|enseña|cubre)\b`,
		`\b(?:falló|fallaron|se cerró|se quedó)\b`,
		`\b(?:se (?:cierra|cuelga|detiene|para|bloquea)|falla|termina|sale)\b`,
		`\bno (?:es|parece|fue|creo que sea)(?: ser)? (?:un |una |el |la |por |cosa de |problema de |cuestión de |falta de |error de )*(?:memoria|OOM|` +
			`out of memory)\b|\bno tiene (?:nada )?que ver con (?:la )?(?:memoria|falta|OOM)\b`},
	{"Portuguese",
		`\bsem memória|\bfalta (?:de )?memória|\bmemória (?:da (?:GPU|placa) )?(?:\w+ )?(?:insuficiente|esgotada|cheia|estour\w+)|` +
			`\bmemória (?:da (?:minha )?)?(?:GPU|placa(?: de vídeo)?|VRAM) (?:acabou|não (?:é suficiente|basta|chega)|se esgotou)|\bestour\w+ (?:a )?memória|` +
			`\bnão (?:há|tenho|tem) memória`,
		`\b(?:estou|tenho|minha (?:GPU|placa)|meu (?:modelo|código|script)|tentando|ajuda|obrigad[oa])\b`,
		`\bse (?:a|o|você)\b|\b(?:pode|poderia|evitar|para não|quando)\b`,
		`\beste (?:guia|artigo)\b|\b(?:você|seu|sua|seus|suas)\b|\b(?:use|reduza|feche|tente|verifique|selecione)\b|\bsignifica\b|\bcostuma\b|` +
			`\bcomo (?:resolver|corrigir|evitar|reduzir)\b|\bgeralmente\b|\bmais cedo ou mais tarde\b`,
		`\bneste (?:artigo|guia|tutorial|capítulo)\b|\bnesta (?:seção|página)|\b(?:vejamos|veremos)\b|\bvamos ver\b|\beste (?:guia|artigo|tutorial) (?:mostra|explica|apresenta)\b`,
		`\b(?:falhou|falharam|travou)\b`,
		`\b(?:fecha|trava|falha|parou|para|cai|encerra)\b`,
		`\bnão (?:é|parece|foi)(?: ser)? (?:um |uma |o |a |por |problema de |questão de |erro de |falta de )*(?:memória|OOM|out of memory)|\bnão tem (?:nada )?a ver com (?:a )?(?:memória|falta|OOM)`},
	{"French",
		`mémoire (?:(?:de la|du|de mon|de ma) (?:GPU|carte)(?: graphique)? )?(?:\p{L}+ )?(?:insuffisante|saturée|pleine|dépassée)|` +
			`\b(?:manque|manquer|à court|plus|pas assez) de (?:mémoire|VRAM)|\b(?:mémoire|VRAM) sature`,
		`(?i:\bje\b|\bj['’](?:ai|essaie|obtiens|utilise)|\bm(?:on|a) (?:GPU|carte|modèle|code|script)\b|\bmerci\b)`,
		`\bsi (?:le|la|les|vous)\b|\b(?:peut|pourrait|éviter|pour ne)\b`,
		`\b(?:ce|cet) (?:guide|article)\b|\b(?:vous|votre|vos)\b|\b(?:utilisez|réduisez|fermez|essayez|vérifiez|activez)\b|\bsignifie\b|\bse produit\b|` +
			`\bcomment (?:résoudre|corriger|éviter|réduire)\b|\bgénéralement\b|\bil (?:faut|suffit)\b|\b(?:tôt ou tard|quiconque)\b`,
		`\bdans (?:cet article|ce guide|ce tutoriel|cette section|ce chapitre)\b|\bvoyons\b|\bnous (?:allons voir|verrons)\b|\b(?:ce guide|cet article|ce tutoriel) (?:vous )?(?:montre|explique|présente)\b`,
		`\b(?:a|ont) (?:planté|échoué|crashé)\b`,
		`\b(?:plante|échoue|s[\x27’]arrête|crashe|se ferme|se termine)(?:[^\p{L}]|$)`,
		`\b(?:n['’]est|n['’]était|ne semble|ne vient|ne provient) pas (?:être )?(?:un |une |le |la |d['’]un |du |dû à |problème |manque |question |de |` +
			`d['’])*(?:mémoire|VRAM|OOM|out of memory)|\brien à voir avec (?:la |un |le )?(?:mémoire|VRAM|OOM|manque)`},
	{"Italian",
		`\bmemoria (?:della (?:GPU|scheda) )?(?:\w+ )?(?:insufficiente|esaurita|piena)\b|\b(?:finisce|finita|manca|esaurita) la memoria\b`,
		`\b(?:ho|sono (?:riuscito|incappato|imbattuto|un|una|alle prese)|la mia (?:GPU|scheda)|il mio (?:modello|codice|script)|sto|aiuto|grazie)\b`,
		`\bse (?:la|il|si)\b|\b(?:può|potrebbe|evitare|per non|quando)\b`,
		`\b(?:questo|quest['’]) ?(?:articolo|guida|errore)\b|\b(?:tuo|tua|tuoi|vostr[oa])\b|\b(?:usa|usate|riduci|riducete|chiudi|prova|verifica)\b|` +
			`\bsignifica\b|\bsi verifica\b|\bcome (?:risolvere|evitare|ridurre)\b|\bpossiamo\b|\bsolitamente\b|\b(?:prima o poi|chiunque)\b`,
		`\bin quest(?:o |a |[\x27’])(?:articolo|guida|tutorial|sezione|capitolo)\b|\b(?:vediamo|vedremo)\b|\bquest(?:o |a |[\x27’])(?:articolo|guida|tutorial) (?:mostra|spiega)\b`,
		`\b(?:è|ha) (?:fallito|crashato|andato)\b`,
		`\b(?:si (?:chiude|blocca|ferma|interrompe)|fallisce|crasha)\b`,
		`\bnon (?:è|era|sembra)(?: essere)? (?:un |una |il |la |per |problema di |questione di |mancanza di |errore di )*(?:memoria|OOM|out of memory)\b|` +
			`\bniente a che (?:fare|vedere) con (?:la )?(?:memoria|mancanza|OOM)\b`},
	{"Dutch",
		`\bonvoldoende (?:GPU-?|video)?-?geheugen\b|\b(?:GPU-?|video)geheugen (?:is|raakt) (?:vol|op)\b|\bgeen (?:GPU-?|video)?-?geheugen meer\b`,
		`\b(?:ik|mijn|mij|wij|onze|hulp|bedankt)\b`, `\b(?:als|indien|wanneer|kan|zou|voorkomen|zonder)\b`,
		`\b(?:deze|dit) (?:gids|handleiding|artikel|pagina)\b|\b(?:jouw|uw|u|jij|je)\b|\bbetekent\b|\b(?:verlaag|gebruik|sluit|probeer|controleer)\b|` +
			`\bhoe (?:je|los)\b|\bmeestal\b|\b(?:vroeg of laat|iedereen die)\b`,
		`\bin (?:dit|deze) (?:artikel|gids|handleiding|hoofdstuk|tutorial)\b|\blaten we (?:eens |een |het |de )|\bbekijken we\b|\b(?:deze gids|deze handleiding|dit artikel) (?:laat|toont|legt|beschrijft)\b`,
		`\b(?:crashte|faalde|mislukte|liep vast)\b`,
		`\b(?:crasht|faalt|stopt|mislukt|sluit af)\b`,
		`\b(?:is|lijkt|ligt) (?:dus |volgens mij )?(?:geen|niet) (?:aan |door |een |het )*(?:proble+m met (?:het )?)?(?:te weinig |` +
			`onvoldoende )?(?:(?:GPU-?|video)?-?geheugen\w*|VRAM|OOM|out of memory)\b|\bniets te maken met (?:het )?(?:\w*geheugen|VRAM|OOM)\b`},
	{"Polish",
		`\b(?:za mało|brak|brakuje|brakło|zabrakło) (?:\p{L}+ )?(?:pamięci|VRAM)|` +
			`\bpamięć (?:GPU|karty(?: graficznej)?|VRAM) (?:\p{L}+ )?(?:skończyła|pełna|przepełniona|wyczerpana|zapełniona)|` +
			`\b(?:skończyła się|przepełnia się) pamięć|\bniewystarczając\p{L}+ (?:ilość )?pamięci`,
		`(?:^|[^\p{L}])(?:mam|mój|moja|moje|mnie|mi|u mnie|próbuję|uruchamiam|trenuję|pomocy|dzięki|dziękuję|proszę o pomoc)(?:[^\p{L}]|$)`,
		`\b(?:jeśli|jeżeli|gdy|może|żeby|uniknąć|bez)(?:[^\p{L}]|$)`,
		`\b(?:ten|tym|tego) (?:artyku|poradni|przewodni)\p{L}+|\b(?:twój|twoja|twoje|możesz|musisz)(?:[^\p{L}]|$)|\boznacza\b|` +
			`\b(?:zmniejsz|użyj|zamknij|spróbuj|sprawdź)(?:[^\p{L}]|$)|\bjak (?:rozwiązać|naprawić|uniknąć)|\bzazwyczaj\b`,
		`\bw tym (?:artykule|poradniku|przewodniku|rozdziale)\b`,
		`\b(?:padł|padła|wysypał|zakończył|przerwał)\p{L}*`,
		`\b(?:pada|wysypuje|kończy się|zawiesza|przerywa|padł\p{L}*)(?:[^\p{L}]|$)`,
		`\bto nie (?:jest )?(?:problem|brak|kwestia)(?: z)? (?:pamię|VRAM|OOM)`},
	{"Turkish",
		`(?:GPU|ekran kartı|VRAM)[^.\n]{0,12}\bbelle[kğ]\p{L}*[^.\n]{0,12}\b(?:yetmiyor|yetmedi|yetersiz|doldu|doluyor|bitti|dolu)|` +
			`\bbellek (?:yetersiz|yetmiyor|doldu|taştı|taşması)|\bVRAM (?:yetmiyor|yetersiz|doldu)|\byetersiz (?:GPU |ekran kartı )?(?:bellek|belleği|VRAM)`,
		`(?:^|[^\p{L}])(?:benim|bende|ben|bana|alıyorum|çalıştırıyorum|eğitiyorum|deniyorum|yardım|teşekkürler)(?:[^\p{L}]|$)`,
		`(?:^|[^\p{L}])(?:eğer|belki|olabilir|önlemek|olmadan)(?:[^\p{L}]|$)`,
		`\bbu (?:makale|rehber|yazı|kılavuz)\p{L}*|\b(?:sizin|siz|kullanın|azaltın|deneyin|kapatın|kontrol edin)(?:[^\p{L}]|$)|\banlamına gelir|\bgenellikle\b|\bnasıl (?:çözülür|düzeltilir|önlenir)`,
		`\bbu (?:makalede|rehberde|yazıda|bölümde)\b`,
		`\b(?:çöktü|durdu|kapandı)(?:[^\p{L}]|$)`,
		`(?:^|[^\p{L}])(?:çöküyor|çöktü|duruyor|durdu|kapanıyor|kapandı|hata veriyor)(?:[^\p{L}]|$)`,
		`\bbellek (?:sorunu|hatası|yetersizliği) değil`},
	{"Vietnamese",
		`(?:GPU|VRAM|card)[^.\n]{0,12}bộ nhớ[^.\n]{0,8}(?:không đủ|bị đầy|đầy|hết|tràn)|(?:không đủ|hết|tràn|thiếu|đầy) (?:bộ nhớ|VRAM)|bộ nhớ (?:GPU|card đồ họa|VRAM)[^.\n]{0,8}(?:không đủ|đầy|hết|tràn)`,
		`(?:^|[^\p{L}])(?:tôi|mình|em|của tôi|của mình|giúp|cảm ơn|cho hỏi)(?:[^\p{L}]|$)`, `(?:^|[^\p{L}])(?:nếu|có thể|tránh|để không)(?:[^\p{L}]|$)`,
		`bài viết này|hướng dẫn này|(?:^|[^\p{L}])bạn (?:cần|nên|có thể|hãy)|có nghĩa là|cách (?:khắc phục|sửa|xử lý)|thường xảy ra`,
		`trong (?:bài viết|hướng dẫn|phần) này`,
		`(?:^|[^\p{L}])đã bị|bị dừng`,
		`(?:^|[^\p{L}])bị (?:dừng|lỗi|văng|treo|thoát)|báo lỗi`,
		`không phải (?:do |lỗi )?(?:thiếu |hết )?(?:bộ nhớ|VRAM|OOM)`},
	{"German",
		`\b(?:zu wenig|nicht genug|nicht genügend|kein) (?:\p{L}+ )?(?:GPU-?|Grafik|Video|Grafikkarten)?-?(?:Speicher|VRAM)\b|` +
			`\b(?:GPU-?|Grafik|Video|Grafikkarten)?-?(?:Speicher|VRAM)[^.\n]{0,20}\b(?:voll|reicht nicht|läuft über|überläuft|läuft voll|erschöpft|geht aus|` +
			`ausgegangen)\b|\bSpeicherüberlauf\b`,
		`\b(?:ich|mein|meine|meiner|mir|wir|unsere|Hilfe|danke)\b`, `\b(?:wenn|falls|könnte|kann|sollte|vermeiden|ohne)\b`,
		`\bdiese[rsm]? (?:Artikel|Anleitung|Leitfaden|Seite|Beitrag)\b|\b(?-i:Sie|Ihr|Ihre|Ihrer|Ihren)\b|\b(?:du|dein|deine|deiner)\b|\bbedeutet\b|` +
			`\btritt (?:auf|meist|oft|häufig)\b|\bhäufig\b|\b(?:man|hilft|empfiehlt)\b|\bwie (?:man|du)\b|\b(?:früher oder später|jeder, der)\b`,
		`\bin diese[mr] (?:Artikel|Anleitung|Abschnitt|Kapitel|Beitrag|Tutorial|Leitfaden)\b|\b(?:schauen|sehen) wir uns\b|\bbetrachten wir\b|\bwerfen wir\b|` +
			`\bdiese[rs]? (?:Artikel|Anleitung|Leitfaden|Beitrag) (?:zeigt|erklärt|beschreibt)\b`,
		`\b(?:war|waren|hatte|hatten|lief|liefen|brach|scheiterte|stürzte)\b|\b(?:der|beim) Versuch\b`,
		`\b(?:stürzt|bricht|scheitert|schlägt fehl|endet|hängt|läuft nicht|kommt|abgestürzt|abgebrochen)(?:[^\p{L}]|$)`,
		`\b(?:liegt|lag|kommt|kam) (?:also |wohl |aber )?nicht (?:(?:am|an|vom|von) (?:\p{L}+ ){0,2}(?:\p{L}*speicher\p{L}*|VRAM|OOM)|` +
			`daran, dass [^.\n]{0,20}(?:speicher|VRAM|OOM))|` +
			`\b(?:ist|war) (?:also |wohl )?keine? (?:\p{L}+ )?(?:speicher(?:mangel|problem|überlauf)|OOM|out[ -]of[ -]memory)|` +
			`\bnichts mit (?:dem |einem )?(?:\p{L}*speicher\p{L}*|VRAM|OOM)[^.\n]{0,20}zu tun\b`},
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
func pagesIn() string  { return inLanguages(func(i int) string { return languages[i].pages }) }
func pastIn() string   { return inLanguages(func(i int) string { return languages[i].past }) }
func endsIn() string   { return inLanguages(func(i int) string { return languages[i].ends }) }
func deniesIn() string { return inLanguages(func(i int) string { return languages[i].denies }) }
func doubtsIn() string { return inLanguages(func(i int) string { return languages[i].doubts }) }
