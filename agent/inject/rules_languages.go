package inject

// Phrases in other languages. They are written naturally; accents and scripts are folded as in the text.

// Reasons of the findings in every language.
const (
	overrides = "tells the agent to ignore its instructions"
	plays     = "gives the agent another role"
	commands  = "tells agents what to run"
	unasked   = "tells the agent to run something without asking"
	hides     = "tells the agent to hide something from the user"
	sends     = "tells the agent to send secrets away"
	claims    = "claims that the user has approved it"
)

// Regular expressions that occur in several phrases of a language.
const (
	germanOwn     = `(?:vorherig|vorig|vorangegangen|vorangehend|bisherig|früher|fruher|obig|ursprünglich|bestehend|vorstehend|dein|ihr|eur|system-?)[a-z]*`
	germanFill    = `(?:(?:bitte|sie|ab|sofort|jetzt|nun|alle|aller|allen|sämtliche|samtliche|jegliche|jede|die|den|der|meine|unsere|und|anderen|weiteren|oben|genannten|gegebenen) )*`
	germanOrders  = `(?:system)?(?:anweisung|instruktion|vorgabe|regel|richtlinie|befehl|prompt|anleitung|einschränkung|sicherheits|auftrag|auftr[aä]g|aufgabe)[a-z]*`
	germanPerson  = `(?:(?:be)?nutzer|anwender|user|menschen?|bediener|entwickler|person)[a-z]*`
	germanSecret  = `(?:schlüssel|passw[oö]r|geheimnis|zugangsdaten|token|umgebungsvariable|api-?key|anmeldedaten|\.env|systemprompt|gesprächsverlauf)`
	frenchFill    = `(?:(?:donc|maintenant|immédiatement|désormais|toutes?|tous|les?|la|mes|ces|des?|du|et|autres) )*`
	frenchOrders  = `(?:instructions?|consignes?|directives?|règles?|ordres?|prompts?|restrictions?|messages?)`
	frenchOwn     = `(?:précédente?s?|antérieure?s?|préalables?|initiales?|ci-dessus|système|reçues|données|d ?origine|existantes?)`
	frenchPerson  = `(?:l|à l|aux?|à|le|la|les|avec)? ?l?(?:utilisat(?:eur|rice)s?|usagers?|humains?|opérateurs?|personne|développeurs?|propriétaires?)`
	frenchSecret  = `(?:clés?|mots? de passe|secrets?|identifiants|jetons?|tokens?|variables? d ?environnement|\.env|prompt système)`
	spanishFill   = `(?:(?:ahora|por favor|inmediatamente|todas?|todos|las?|los?|el|mis|estas?|de|del|y|otras?|cualquier|por completo) )*`
	spanishOrders = `(?:instrucci[oó]n(?:es)?|indicaci[oó]n(?:es)?|directrices|directivas?|reglas?|órdenes|prompts?|restricciones|mensajes?)`
	spanishOwn    = `(?:anterior(?:es)?|previ[oa]s?|precedentes?|iniciales|originales|del sistema|de sistema|de arriba|recibidas|existentes)`
	spanishPerson = `(?:al?|el|la|los|las|con el)? ?(?:usuari[oa]s?|humanos?|operador(?:es)?|personas?|desarrollador(?:es)?|nadie|dueñ[oa])`
	spanishSecret = `(?:claves?|contraseñas?|secretos?|credenciales|tokens?|variables de entorno|\.env|prompt del sistema)`
	russianFill   = `(?:(?:все|всё|всех|любые|эти|те|мои|и|другие|данные|пожалуйста|сейчас|теперь|немедленно|полностью) )*`
	russianOwn    = `(?:предыдущи[a-z]*|прежни[a-z]*|прошлы[a-z]*|вышестоящи[a-z]*|вышеуказанн[a-z]*|ранн?(?:ее|ие) данн[a-z]*|исходн[a-z]*|первоначальн[a-z]*|начальн[a-z]*|системн[a-z]*|сво[a-z]+|тво[a-z]+|ваш[a-z]*|полученн[a-z]*)`
	russianOrders = `(?:инструкци[a-z]*|указани[a-z]*|правил[a-z]*|команд[a-z]*|приказ[a-z]*|промпт[a-z]*|ограничени[a-z]*|директив[a-z]*|сообщени[a-z]*)`
	russianPerson = `(?:пользовател[a-z]*|юзер[a-z]*|человек[a-z]*|люд[a-z]+|оператор[a-z]*|разработчик[a-z]*|владел[a-z]*)`
	russianSecret = `(?:ключ[a-z]*|парол[a-z]*|секрет[a-z]*|токен[a-z]*|уч[её]тн[a-z]* данн[a-z]*|переменн[a-z]* окружени[a-z]*|\.env|системн[a-z]* промпт[a-z]*)`
	chineseOwn    = `(?:之前|以前|以上|上面|上述|先前|前面|此前|原有|原来|原來|初始|系统|系統|你的|您的|已有|所收到|收到)`
	chineseFill   = `(?:所有|全部|一切|任何|其他|的|掉|了|和|与|與|及|或|给出|給出|给你|你|您|、|安全|开发者| )`
	chineseOrders = `(?:指令|指示|提示词|提示詞|提示|说明|說明|规则|規則|命令|要求|约束|約束|限制|设定|設定|对话|對話|内容|內容)`
	chinesePerson = `(?:用户|用戶|使用者|人类|人類|主人|开发者|開發者|操作员|管理员|任何人|他们|對方|对方)`
	chineseSecret = `(?:密钥|密鑰|密码|密碼|凭据|凭证|憑證|令牌|环境变量|環境變數|私钥|api ?key|token|系统提示|\.env|对话记录)`
)

var german = []rule{
	{
		words: "ignoriere ignoriert ignorieren missachte missachten vergiss vergesse vergesst vergessen übergehe übergehen überschreibe umgehe verwirf", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`[a-z]+ ` + germanFill + germanOwn + ` (?:` + germanOwn + ` )*` + germanFill + germanOrders + `|[a-z]+ ` + germanFill + germanOrders + ` (?:von )?(?:oben|zuvor|davor|vorher)\b|[a-z]+ (?:sie |bitte )*alles[ ,]*(?:bisher|vorher|zuvor|davor|oben|was (?:du|dir|sie|ihnen|oben|vorher|bisher|zuvor|davor))`),
	},
	{
		words: "befolge befolgen beachte beachten", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`[a-z]+ (?:sie |bitte )*(?:nicht(?: mehr| länger)?|keine(?:rlei)?) ` + germanFill + `(?:` + germanOwn + ` )+` + germanOrders + `|[a-z]+ ` + germanFill + `(?:` + germanOwn + ` )+` + germanOrders + ` nicht\b`),
	},
	{
		words: "du sie", kind: Role, severity: Low, reason: plays,
		phrase: phrase(`(?:du bist|sie sind) (?:jetzt|nun|ab sofort|ab jetzt|von nun an) (?:ein|eine|mein|der|die|im|kein|nicht mehr|frei|uneingeschränkt)`),
	},
	{
		words: "neue geänderte aktualisierte deine", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:deine )?(?:neue|geänderte|aktualisierte|eigentliche|wahre) (?:anweisung|instruktion|aufgabe|order)[a-z]*(?: (?:lautet|ist|sind|für (?:den|die|das) (?:assistent|agent|ki|modell))| ?:)`),
	},
	{
		words: "du sie ihr", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`(?:du musst|sie müssen|ihr müsst|du sollst|sie sollen) (?:jetzt|sofort|unverzüglich|heimlich|unbemerkt|stillschweigend) [^.]*?(?:ausführ|installier|lösch|send|schick|herunterl|aufruf|start|hochl)`),
	},
	{
		words: "ki agent agenten assistent assistenten sprachmodell sprachmodelle modell hinweis achtung wichtig", kind: Command, severity: Low, reason: commands,
		next:   "|mu|so|bi|fu|di|de|ag|as|sp|mo|sy|an|al|ki|",
		phrase: phrase(`(?:(?:hinweis|achtung|wichtig)[ !:,]*(?:an|für) (?:alle |den |die |das )*(?:ki|ai|sprachmodell|agent|assistent)[a-z]*|(?:ki|ai)?[- ]?(?:agent|assistent|sprachmodell|modell|system)[a-z]*[ ,:]*(?:die dies lesen |der dies liest )?[ ,]*(?:müssen|muss|sollen|bitte|führe?n?) (?:[a-z0-9./-]+ ){0,6}?(?:ausführ|aus\b|installier|lösch|send|schick|herunterl|aufruf|öffne|lies))`),
	},
	{
		words: "führe führen starte installiere lösche sende schicke", kind: Command, severity: Low, reason: unasked, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?(?:ohne (?:nachzufragen|zu fragen|rückfrage|nachfrage|bestätigung|genehmigung|zustimmung)|heimlich|unbemerkt|stillschweigend)`),
	},
	{
		words: "sage sag sagen sagt informiere informieren erzähle erzählen erwähne erwähnen verrate teile benachrichtige frage fragen ohne", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`(?:ohne (?:dass )?(?:es )?(?:de[mnr]|einen|ihren|deinen) ` + germanPerson + ` (?:darüber |davon |vorher )?(?:zu |es |etwas |davon )?(?:fragen|informier|sagen|mitteil|erwähn|merk|weiß)|[a-z]+ (?:sie |es |bitte |das |dies |davon )*(?:niemand[a-z]*|keinem|(?:de[mnr]|deinem|deinen) ` + germanPerson + ` (?:davon |darüber |hiervon |etwas |es |das |von [a-z]+ [a-z]+ )*(?:nicht|nichts|kein))\b)`),
		needs:  []string{"nicht", "niemand", "kein", "ohne"},
	},
	{
		words: "sende senden schicke schicken übermittle lade poste übertrage kopiere", kind: Exfil, severity: Low, reason: sends, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?` + germanSecret + `[^.]*? (?:an|nach|zu|auf|per)\b[^.]*?` + away),
	},
	{
		words: "benutzer nutzer anwender user benutzerin nutzerin mensch betreiber entwickler administrator", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:hat|haben) (?:[a-z]+ ){0,3}?(?:bereits|schon|vorab|ausdrücklich|vorher|längst) (?:[a-z]+ ){0,5}?(?:zugestimmt|genehmigt|erlaubt|bestätigt|freigegeben|autorisiert|bewilligt|gebilligt|zustimmung)`),
	},
	{
		words: "ignoriere ignorieren vergiss missachte", kind: Override, severity: High, reason: "tells the agent to ignore the user's wishes",
		phrase: phrase(`[a-z]+ (?:sie |bitte )*(?:(?:den|die|das) (?:auftrag|auftr[aä]ge|wunsch|frage|aufgabe|anfrage|bitte)n? (?:de[sr] )` + germanPerson + `|was (?:der|die) ` + germanPerson + ` )`),
	},
	{
		words: "gib gebe geben zeige zeig nenne verrate drucke wiederhole", kind: Exfil, severity: Low, reason: "asks for the agent's prompt",
		phrase: phrase(`[a-z]+ (?:mir |uns |bitte |sie |den |die |das |inhalt |deine[nrs]? |ihre[nrs]? |vollständig[a-z]* |ganzen |gesamten |der |des )*(?:system-? ?(?:prompt|anweisung|instruktion|nachricht)|(?:deine|ihre)[nrs]? (?:anweisung|instruktion|vorgabe|prompt))[a-z]*`),
	},
	{
		words: "ab von", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:ab (?:jetzt|sofort|nun)|von (?:jetzt|nun) an) (?:gelten (?:nur|diese|die folgenden)|(?:folgst|gehorchst|befolgst|antwortest|bist|darfst|musst) du|du (?:folgst|gehorchst|antwortest|bist|darfst|musst))`),
	},
	{
		words: "vom von", kind: Approval, severity: Low, reason: claims, claim: true,
		phrase: phrase(`(?:vom|von (?:der|dem|den)) ` + germanPerson + ` (?:bereits|schon|vorab|ausdrücklich) (?:genehmigt|erlaubt|bestätigt|freigegeben|autorisiert|gebilligt)`),
	},
	{
		words: "als", kind: Command, severity: Low, reason: commands,
		next:   "|ki|ai|sp|as|ag|ei|",
		phrase: phrase(`als (?:eine? )?(?:(?:ki|ai|sprach)[- ]?(?:assistent|agent|modell|system)?|assistent|agent)[, ]*(?:musst|sollst|wirst|darfst) du`),
	},
	{
		words: "verschweige verschweigen verheimliche verheimlichen verbirg verbergen", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`[a-z]+ (?:sie |es |dies |das |bitte )*(?:[a-z]+ ){0,4}?(?:vor )?(?:dem |der |den )` + germanPerson),
	},
}

var french = []rule{
	{
		words: "ignore ignorez ignorer oublie oubliez oublier néglige négligez contourne contournez outrepasse outrepassez abandonne", kind: Override, severity: High, reason: overrides,
		next:   "|do|ma|im|de|to|le|la|me|ce|du|et|in|co|di|re|or|pr|pa|te|vo|tu|au|an|sy|ci|",
		phrase: phrase(`[a-z]+ ` + frenchFill + `(?:` + frenchOrders + ` (?:[a-z]+ ){0,2}?` + frenchOwn + `|` + frenchOwn + ` ` + frenchOrders + `|(?:tes|vos|ton|votre) (?:[a-z]+ )?` + frenchOrders + `|` + frenchOrders + ` (?:que )?(?:tu as|vous avez|t ?ont été|on t))`),
	},
	{
		words: "oublie oubliez ignore ignorez", kind: Override, severity: High, reason: "tells the agent to forget its instructions",
		next:   "|to|do|ma|",
		phrase: phrase(`[a-z]+ (?:donc |maintenant )?tout (?:ce qui (?:précède|a été dit|est (?:écrit |dit )?(?:ci-dessus|avant))|ce que (?:tu|vous|on|l)|le (?:reste|contexte) précédent)`),
	},
	{
		words: "ne n", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`(?:ne |n)(?:suis|suivez|respecte|respectez|obéis|obéissez|applique|appliquez) (?:pas|plus|aucune?) (?:à )?(?:tes|vos|les|la|aucune)? ?(?:[a-z]+ )?` + frenchOrders),
	},
	{
		words: "tu vous", kind: Role, severity: Low, reason: plays,
		phrase: phrase(`(?:tu es|vous êtes) (?:maintenant|désormais|à présent) (?:une?|le|la|mon|en mode|libre|sans)\b`),
	},
	{
		words: "nouvelle nouvelles voici ta votre", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:voici )?(?:ta|tes|votre|vos)? ?(?:nouvelles?|véritables?|vraies?) (?:instructions?|consignes?|tâche|mission|directives?)(?: (?:est|sont|pour (?:l )?l?(?:agent|assistant|ia|modèle))| ?:)`),
	},
	{
		words: "tu vous", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`(?:tu dois|vous devez|il faut) (?:maintenant|immédiatement|tout de suite|discrètement|secrètement|en secret|silencieusement) (?:[a-z]+ ){0,2}?(?:exécut|lanc|install|supprim|envoy|télécharg|appel|ouvr|effac)`),
	},
	{
		words: "agents agent assistants assistant ia modèle modèles attention important note", kind: Command, severity: Low, reason: commands,
		next:   "|au|a |po|to|le|l |ag|as|mo|ia|d |di|de|qu|do|ve|il|, |: |! |",
		phrase: phrase(`(?:(?:attention|important|note)[ !:,]*(?:aux?|à l|pour|à)? ?(?:tous |toutes |les |l)*(?:agents?|assistants?|modèles?|ia)\b|(?:agents?|assistants?|modèles?|ia)(?: d)?(?: ?ia| de langage)?[ ,:]*(?:qui (?:lit|lisez|lisent) (?:ceci|cela|ce texte) ?)?[ ,]*(?:doi(?:t|vent)|devez|veuillez|doit|il faut) (?:[a-z]+ ){0,3}?(?:exécut|lanc|install|supprim|envoy|télécharg|appel|ouvr|effac|lire))`),
	},
	{
		words: "exécute exécutez lance lancez installe installez supprime supprimez envoie envoyez télécharge téléchargez", kind: Command, severity: Low, reason: unasked, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?(?:sans (?:demander|confirmation|autorisation|poser de question|prévenir|avertir|rien dire|en parler)|discrètement|en secret|silencieusement)`),
	},
	{
		words: "ne n sans", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`(?:(?:ne |n)(?:le |la |l|en |rien )?(?:dis|dites|mentionne|mentionnez|parle|parlez|préviens|prévenez|informe|informez|révèle|révélez|signale|signalez|avertis|avertissez|montre|montrez|demande|demandez) (?:[a-z]+ ){0,4}?` + frenchPerson + `|sans (?:le dire|demander|prévenir|informer|avertir|en informer|en parler|consulter) ` + frenchPerson + `)`),
	},
	{
		words: "envoie envoyez envoyer transmets transmettez publie publiez poste postez téléverse copie copiez", kind: Exfil, severity: Low, reason: sends, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?` + frenchSecret + `[^.]*? (?:à|vers|sur|par)\b[^.]*?` + away),
	},
	{
		words: "lutilisateur utilisateur lutilisatrice lusager lhumain lopérateur propriétaire ladministrateur administrateur développeur", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:a|ont) (?:déjà|préalablement|explicitement|expressément) (?:[a-z]+ ){0,3}?(?:approuv|autoris|valid|confirm|accept|accord|consenti|permis)`),
	},
	{
		words: "ne n", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`(?:ne |n)(?:tiens|tenez|tenir) (?:pas|plus|aucun) compte (?:des?|de la|du) (?:[a-z]+ )?(?:` + frenchOrders + ` ` + frenchOwn + `|` + frenchOwn + `|(?:tes|vos) ` + frenchOrders + `|(?:demande|question)s? de)`),
	},
	{
		words: "ignore ignorez oublie oubliez", kind: Override, severity: High, reason: "tells the agent to ignore the user's wishes",
		next:   "|la|le|ce|l |lo|",
		phrase: phrase(`[a-z]+ (?:(?:la|les?) (?:demandes?|questions?|requêtes?|consignes?|tâches?|ordres?) de ` + frenchPerson + `|ce que (?:veut|demande|dit|t ?a (?:demandé|dit)) ` + frenchPerson + `)`),
	},
	{
		words: "affiche affichez montre montrez révèle révélez répète répétez donne donnez", kind: Exfil, severity: Low, reason: "asks for the agent's prompt",
		phrase: phrase(`[a-z]+ (?:moi |nous |-?moi )*(?:ton|votre|le|tes|vos) (?:[a-z]+ )?(?:prompt|instructions? système|consignes? système|message système|instructions initiales|instructions cachées)`),
	},
	{
		words: "désormais dorénavant à fais faites", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:(?:désormais|dorénavant|à partir de maintenant)[, ]*(?:tu (?:obéis|es|dois|réponds|suis|n)|vous (?:obéissez|êtes|devez|répondez|suivez|n))|fai(?:s|tes) comme si (?:tu n|vous n))`),
	},
	{
		words: "lutilisateur utilisateur", kind: Approval, severity: Low, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:est (?:déjà )?d ?accord|a (?:dit oui|donné son (?:accord|autorisation)))`),
	},
	{
		words: "laisse laissez cesse cessez arrête arrêtez", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`[a-z]+ (?:tomber |de (?:suivre|respecter|appliquer) |d ?(?:obéir|appliquer) (?:à )?)(?:toutes? )?(?:tes|vos|les) (?:[a-z]+ )?` + frenchOrders),
	},
	{
		words: "en", kind: Command, severity: Low, reason: commands,
		next:   "|ta|",
		phrase: phrase(`en tant qu ?e? ?(?:ia|une? ia|assistant|agent|modèle)(?: d)?(?: ?ia| de langage)?[, ]*(?:tu (?:dois|vas|peux)|vous (?:devez|allez|pouvez))`),
	},
	{
		words: "cache cachez dissimule dissimulez", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`[a-z]+ (?:[a-z]+ ){1,4}?(?:à|aux?|de) ` + frenchPerson),
	},
}

var spanish = []rule{
	{
		words: "ignora ignore ignorad ignorar ignoren olvida olvide olvidad olvidar descarta descarte omite omita desatiende anula", kind: Override, severity: High, reason: overrides,
		next:   "|ah|po|in|to|la|lo|el|mi|es|de|y |ot|cu|re|di|or|pr|tu|su|an|vu|me|",
		phrase: phrase(`[a-z]+ ` + spanishFill + `(?:` + spanishOrders + ` (?:[a-z]+ ){0,2}?` + spanishOwn + `|` + spanishOwn + ` ` + spanishOrders + `|(?:tus|sus|vuestras) (?:[a-z]+ )?` + spanishOrders + `|` + spanishOrders + ` que (?:te|le|se|has|ha)\b)`),
	},
	{
		words: "olvida olvide olvidad ignora ignore", kind: Override, severity: High, reason: "tells the agent to forget its instructions",
		next:   "|to|ah|",
		phrase: phrase(`[a-z]+ (?:ahora )?todo lo (?:anterior|de arriba|que (?:se )?(?:te|le|has|ha|sabes|dije|dijo|está)\b|dicho|previo)`),
	},
	{
		words: "no", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`no (?:sigas?|obedezcas?|respetes?|cumplas?) (?:más )?(?:ya )?(?:las |los )?(?:tus |sus )?` + spanishOrders + ` ` + spanishOwn + `|no (?:sigas?|obedezcas?|respetes?|cumplas?) (?:más )?(?:tus|sus) (?:[a-z]+ )?` + spanishOrders),
	},
	{
		words: "ahora eres usted", kind: Role, severity: Low, reason: plays,
		phrase: phrase(`(?:ahora (?:tú |usted )?(?:eres|es|estás|está)|eres ahora|usted es ahora) (?:una?|el|la|mi|en modo|libre|sin)\b`),
	},
	{
		words: "nueva nuevas tu tus su sus", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:tus? |sus? )?(?:nuevas?|verdaderas?|reales) (?:instrucci[oó]n(?:es)?|tareas?|misi[oó]n|órdenes|directrices)(?: (?:es|son|para (?:el |la )?(?:agente|asistente|ia|modelo))| ?:)`),
	},
	{
		words: "debes debe tienes tiene", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`(?:debes?|tienes? que) (?:ahora|inmediatamente|de inmediato|en secreto|silenciosamente|discretamente) (?:[a-z]+ ){0,2}?(?:ejecut|instal|borr|elimin|envi|descarg|llam|abr|lanz)`),
	},
	{
		words: "agentes agente asistentes asistente ia modelo modelos atención importante nota", kind: Command, severity: Low, reason: commands,
		next:   "|a |pa|to|lo|la|el|ag|as|mo|ia|de|qu|ti|po|, |: |! |",
		phrase: phrase(`(?:(?:atención|importante|nota)[ !:,]*(?:a|para) (?:todos |los |las |el |la )*(?:agentes?|asistentes?|modelos?|ia)\b|(?:agentes?|asistentes?|modelos?|ia)(?: de)?(?: ia| de lenguaje)?[ ,:]*(?:que (?:lea|lean|leen|lee) (?:esto|este texto) ?)?[ ,]*(?:deben?|debes|tienen? que|por favor) (?:[a-z]+ ){0,3}?(?:ejecut|instal|borr|elimin|envi|descarg|llam|abr|lanz|leer))`),
	},
	{
		words: "ejecuta ejecute ejecuten instala instale borra borre elimina envía envíe descarga descargue", kind: Command, severity: Low, reason: unasked, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?(?:sin (?:preguntar|pedir (?:permiso|confirmación)|confirmación|permiso|autorización|avisar|decir nada)|en secreto|silenciosamente|discretamente)`),
	},
	{
		words: "no sin nunca", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`(?:(?:no|nunca) (?:se )?(?:lo |le |les )?(?:digas?|menciones?|informes?|avises?|reveles?|muestres?|notifiques?|preguntes?|cuentes?) (?:[a-z]+ ){0,3}?` + spanishPerson + `|sin (?:que (?:el|la) usuari[oa]|(?:decir(?:le|lo|selo)?|avisar|informar|preguntar(?:le)?|notificar|consultar) (?:nada )?` + spanishPerson + `))`),
	},
	{
		words: "envía envíe enviar envia envie manda mande publica publique sube suba transmite copia copie", kind: Exfil, severity: Low, reason: sends, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?` + spanishSecret + `[^.]*? (?:a|hacia|en|por)\b[^.]*?` + away),
	},
	{
		words: "usuario usuaria usuarios humano operador dueño propietario administrador desarrollador", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:ya|previamente|explícitamente|expresamente)? ?(?:ha|han) (?:ya |previamente |explícitamente |dado (?:ya )?su )?(?:aprob|autoriz|confirm|acept|permit|consent|valid)[a-z]*`),
		needs:  []string{" ya ", "previamente", "explicitamente", "expresamente"},
	},
	{
		words: "usuario usuaria", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ ya (?:lo |la |los )?(?:aprobó|autorizó|confirmó|aceptó|permitió|dio su)`),
	},
	{
		words: "haz haga hagan hace", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`[a-z]+ caso omiso (?:de|a) (?:[a-z]+ ){0,2}?(?:` + spanishOrders + ` (?:[a-z]+ )?` + spanishOwn + `|(?:tus|sus) |lo anterior|todo lo)`),
	},
	{
		words: "ignora ignore olvida olvide", kind: Override, severity: High, reason: "tells the agent to ignore the user's wishes",
		next:   "|la|el|lo|",
		phrase: phrase(`[a-z]+ (?:(?:la|el|las|los) (?:petici[oó]n|solicitud|pregunta|tarea|orden|instrucci[oó]n)(?:es)? del? ` + spanishPerson + `|lo que (?:te |le )?(?:pidió|pide|dijo|dice|quiere) ` + spanishPerson + `)`),
	},
	{
		words: "muestra muestre revela revele repite repita imprime imprima dame", kind: Exfil, severity: Low, reason: "asks for the agent's prompt",
		phrase: phrase(`[a-z]+ (?:tu|su|tus|sus|el|las) (?:[a-z]+ )?(?:prompt|instrucciones (?:del sistema|iniciales|ocultas)|mensaje del sistema)`),
	},
	{
		words: "a", kind: Override, severity: Low, reason: "gives the agent new instructions",
		next:   "|pa|",
		phrase: phrase(`a partir de (?:ahora|este momento)[, ]*(?:tú |usted )?(?:solo |únicamente |siempre )?(?:obedece|eres|es|debe|responde|sigue|actú|no)`),
	},
	{
		words: "usuario usuaria", kind: Approval, severity: Low, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:ya )?(?:está de acuerdo|dijo que sí|dio su (?:permiso|consentimiento|aprobación)|ha dado su)`),
	},
	{
		words: "deja deje dejad", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`[a-z]+ de (?:seguir|obedecer|cumplir|respetar) (?:tus|sus|las|los) (?:[a-z]+ )?` + spanishOrders),
	},
	{
		words: "como", kind: Command, severity: Low, reason: commands,
		next:   "|ia|as|ag|mo|un|",
		phrase: phrase(`como (?:una? )?(?:ia|asistente|agente|modelo)(?: de)?(?: ia| de lenguaje)?[, ]*(?:debes?|tienes? que|vas a|puedes)\b`),
	},
	{
		words: "oculta oculte ocultar ocultarlo ocúltalo esconde", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`[a-z]+ (?:[a-z]+ ){0,4}?(?:al?|del) ` + spanishPerson + `|[a-z]+ (?:al|del) usuari[oa]`),
	},
}

var russian = []rule{
	{
		words: "игнорируй игнорируйте проигнорируй проигнорируйте забудь забудьте отбрось отбросьте отмени отмените обойди обойдите", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`[a-z]+ ` + russianFill + `(?:` + russianOwn + ` )+` + russianFill + `(?:[a-z]+ )?` + russianOrders + `|[a-z]+ ` + russianFill + russianOrders + ` (?:выше|ранее|системы)`),
	},
	{
		words: "забудь забудьте игнорируй игнорируйте", kind: Override, severity: High, reason: "tells the agent to forget its instructions",
		phrase: phrase(`[a-z]+ (?:обо? )?(?:всё|все|всем|том)[ ,]*(?:что |о чем )?(?:было |тебе |вам |сказано |написано )*(?:выше|ранее|раньше|до этого|говорили|сказали|сказано|знаешь)`),
	},
	{
		words: "не", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`не (?:следуй|следуйте|выполняй|выполняйте|соблюдай|соблюдайте|подчиняйся) (?:больше )?(?:` + russianOwn + ` )+` + russianOrders),
	},
	{
		words: "ты вы теперь отныне", kind: Role, severity: Low, reason: plays,
		phrase: phrase(`(?:(?:ты|вы) (?:теперь|отныне)|(?:теперь|отныне) (?:ты|вы))[ —-]*(?:не |без |в режиме|свободн|мой |новый |(?:[a-z]+ )?(?:ассистент|помощник|агент|модель|бот|хакер))`),
	},
	{
		words: "новые новая новое твоя твои ваша ваши", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:тво[a-z]+ |ваш[a-z]* )?(?:нов|настоящ|обновл[её]нн)[a-z]+ (?:инструкци|задач|задани|указани|цел)[a-z]*(?: для (?:агент|ассистент|модел|ии)| ?:| [—-])`),
	},
	{
		words: "ты вы необходимо", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`(?:(?:ты|вы) (?:должен|должны|обязан|обязаны)|необходимо) (?:сейчас|немедленно|тайно|незаметно|сразу|скрытно) (?:[a-z]+ ){0,2}?(?:выполн|запуст|установ|удал|отправ|скача|вызв|откр)`),
	},
	{
		words: "ии агент агенты ассистент ассистенты помощник модель модели внимание важно", kind: Command, severity: Low, reason: commands,
		phrase: phrase(`(?:(?:внимание|важно)[ !:,]*(?:для |всем )?(?:ии|агент|ассистент|модел|языков)[a-z]*|(?:ии[- ]?)?(?:агент|ассистент|помощник|модел)[a-z]*[ ,:]*(?:читающ[a-z]+ это ?|которы[a-z]+ это чита[a-z]+ ?)?[ ,]*(?:должен|должны|обязан[a-z]*|следует|необходимо) (?:[a-z]+ ){0,3}?(?:выполн|запуст|установ|удал|отправ|скача|вызв|откр|прочит))`),
	},
	{
		words: "выполни выполните запусти запустите установи установите удали удалите отправь отправьте скачай скачайте", kind: Command, severity: Low, reason: unasked, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?(?:без (?:подтверждения|спроса|разрешения|запроса|вопросов|согласия|ведома)|не спрашивая|тайно|незаметно|скрытно|втайне)`),
	},
	{
		words: "не никогда без", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`(?:(?:не|никогда не) (?:говори|говорите|сообщай|сообщайте|упоминай|упоминайте|рассказывай|рассказывайте|показывай|показывайте|раскрывай|раскрывайте|уведомляй|уведомляйте|спрашивай|спрашивайте) (?:[a-z]+ ){0,3}?` + russianPerson + `|без (?:ведома|согласия|уведомления|разрешения) ` + russianPerson + `)`),
	},
	{
		words: "отправь отправьте отправить пошли пошлите перешли перешлите передай передайте загрузи загрузите опубликуй", kind: Exfil, severity: Low, reason: sends, wide: true,
		phrase: phrase(`[a-z]+ [^.]*?` + russianSecret + `[^.]*? (?:на|в|по|к)\b[^.]*?` + away),
	},
	{
		words: "пользователь пользователем человек оператор владелец администратор разработчик", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:уже|заранее|ранее|явно)[ -](?:[a-z]+ ){0,3}?(?:одобри|разреши|подтверди|согласи|утверди|авторизова|дал[a-z]* (?:сво[a-z]+ )?(?:согласие|разрешение))`),
	},
	{
		words: "уже", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`уже (?:одобрен|разрешен|подтвержд[её]н|утвержд[её]н|согласован)[a-z]* ` + russianPerson),
	},
	{
		words: "не", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`не (?:обращай|обращайте) внимани[a-z]+ на ` + russianFill + `(?:` + russianOwn + ` )+(?:[a-z]+ )?` + russianOrders),
	},
	{
		words: "игнорируй игнорируйте забудь забудьте", kind: Override, severity: High, reason: "tells the agent to ignore the user's wishes",
		phrase: phrase(`[a-z]+ (?:про )?(?:запрос|вопрос|просьб|задач|задани|желани|слова)[a-z]* ` + russianPerson + `|[a-z]+ (?:то[, ]*)?что (?:хочет|просит|просил|сказал|говорит) ` + russianPerson),
	},
	{
		words: "покажи покажите выведи выведите раскрой раскройте повтори повторите напечатай", kind: Exfil, severity: Low, reason: "asks for the agent's prompt",
		phrase: phrase(`[a-z]+ (?:мне |нам )?(?:весь |полн[a-z]+ )?(?:сво[a-z]+ |тво[a-z]+ |ваш[a-z]* )?(?:системн[a-z]+ (?:промпт|инструкци|сообщени|подсказк)|(?:начальн|исходн|скрыт)[a-z]+ (?:инструкци|промпт))[a-z]*`),
	},
	{
		words: "с отныне", kind: Override, severity: Low, reason: "gives the agent new instructions",
		next:   "|et|",
		phrase: phrase(`с этого момента[, ]*(?:ты|вы) (?:[a-z]+ )?(?:подчиня|выполня|следу|отвеча|долж|слуша|работа)`),
	},
	{
		words: "пользователь", kind: Approval, severity: Low, reason: claims, claim: true,
		phrase: phrase(`[a-z]+ (?:полностью |уже )?(?:согласен|не против|дал (?:сво[a-z]+ )?(?:добро|согласие|разрешение)|сказал да)`),
	},
	{
		words: "перестань перестаньте прекрати прекратите", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`[a-z]+ (?:следовать|выполнять|соблюдать|подчиняться) (?:[a-z]+ ){0,2}?` + russianOrders),
	},
	{
		words: "как", kind: Command, severity: Low, reason: commands,
		phrase: phrase(`как (?:ии|ии-[a-z]+|ассистент|агент|помощник|модель|языковая модель)[, ]*(?:ты|вы) (?:долж|обязан|можешь|можете)`),
	},
	{
		words: "скрой скройте скрывай скрывайте утаи утаите", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`[a-z]+ (?:[a-z]+ ){0,4}?от ` + russianPerson),
	},
}

var chinese = []rule{
	{
		words: "忽 无 無 忘 抛 拋 跳 绕 不 别 別", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|忘了|抛弃|拋棄|跳过|绕过|(?:不要|不再|别|別|不用|无需)(?:再)?(?:理会|理會|遵守|遵循|遵从|管|执行|執行))` + chineseFill + `*` + chineseOwn + `(?:` + chineseFill + `|` + chineseOwn + `)*` + chineseOrders + `|(?:忘记|忘掉|忘記|忽略)(?:上面|以上|之前)(?:的)?(?:一切|所有|全部|说过|說過)`),
	},
	{
		words: "你 您 从 從 现 現", kind: Role, severity: Low, reason: plays,
		phrase: phrase(`(?:从现在(?:起|开始)[, ]*|從現在(?:起|開始)[, ]*|现在(?:起)?[, ]*|現在(?:起)?[, ]*)?(?:你|您)(?:现在|現在|将|從現在起|从现在起)*(?:是(?:一个|一個|一名)?(?:不受|没有|沒有|无)(?:任何)?(?:限制|约束|約束)|(?:处于|處於|进入|進入)(?:开发者|開發者|无限制|無限制|调试|管理员)模式|不再(?:受|是|需要|遵守))`),
	},
	{
		words: "新 你 您 真", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:(?:你|您)的)?(?:新|真正|真实)(?:的)?(?:指令|任务|任務|指示|目标|目標)(?:是|如下|为|為|:)`),
	},
	{
		words: "你 您 必 请 請", kind: Command, severity: Low, reason: "tells the agent to run something",
		phrase: phrase(`(?:你|您|请|請)?(?:必须|必須|务必|務必|应当|需要|请|請)(?:现在|現在|立即|立刻|马上|馬上|首先|先|悄悄|偷偷|秘密|静默)(?:地)?(?:运行|運行|执行|執行|下载|下載|删除|刪除|发送|發送|调用|調用|访问|安装|安裝|上传)`),
	},
	{
		words: "智 助 代 人 模 所 任", kind: Command, severity: Low, reason: commands,
		phrase: phrase(`(?:所有|任何)?(?:的)?(?:人工智能|ai)?(?:智能体|智能體|助手|助理|代理|模型)(?:在)?(?:阅读|閱讀|读到|讀到|看到)?(?:此|这|這|本)?(?:文|段|内容|文件|页面)?(?:时|時|后)?[, ]*(?:必须|必須|务必|務必|应当|應當|应该|请|請|需要)(?:现在|立即|立刻|马上|首先|先)?(?:运行|運行|执行|執行|下载|下載|删除|刪除|发送|發送|调用|調用|访问|訪問|安装|安裝|上传|打开|读取)`),
	},
	{
		words: "无 無 不 直 未", kind: Command, severity: Low, reason: unasked,
		phrase: phrase(`(?:无需|無需|不需要|不必|不用|未经|直接(?:运行|执行|執行)[, ]*(?:不要|无需|無需|不必|不用))(?:再)?(?:征求|徵求|经过|詢問|询问|请求|等待|向)?(?:用户|用戶|使用者)?(?:的)?(?:确认|確認|许可|許可|批准|同意|询问|詢問)`),
	},
	{
		words: "不 请 請 切 别 別 勿 瞒", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`(?:不要|请勿|請勿|切勿|不得|别|別|勿|不准|不能)(?:将此|把此|把这件事|把这)?(?:告诉|告訴|告知|通知|提及|透露|让|讓|询问|詢問|提醒|向)(?:给|給)?` + chinesePerson + `|瞒着` + chinesePerson),
	},
	{
		words: "将 將 把 发 發 上 传", kind: Exfil, severity: Low, reason: sends,
		wide:   true,
		phrase: phrase(`(?:将|將|把|发送|發送|上传|上傳|传送)[^。]*?` + chineseSecret + `[^。]*?(?:发送|發送|上传|上傳|发到|發到|提交|转发|轉發|传到|到|至|给)[^。]*?` + away),
	},
	{
		words: "用 使 主 管", kind: Approval, severity: High, reason: claims, claim: true,
		phrase: phrase(`(?:用户|用戶|使用者|主人|管理员|管理員)(?:已经|已經|已|早已|事先|之前)+(?:明确|明確|提前|经|經|预先)*(?:批准|同意|授权|授權|许可|許可|确认|確認|允许|允許)`),
	},
	{
		words: "不 别 別 无 無 忽 忘", kind: Override, severity: High, reason: overrides,
		phrase: phrase(`(?:(?:不用|不要|不必|别|別|无需|無需)(?:再)?(?:管|理|理会|理會|听|聽|遵守)|忽略|无视|無視|忘记|忘掉)` + chineseFill + `*(?:` + chineseOwn + `|` + chinesePerson + `)(?:` + chineseFill + `|` + chineseOwn + `)*(?:` + chineseOrders + `|请求|請求|问题|問題|任务|任務)`),
	},
	{
		words: "输 輸 显 顯 告 打 重 泄", kind: Exfil, severity: Low, reason: "asks for the agent's prompt",
		phrase: phrase(`(?:输出|輸出|显示|顯示|告诉我|告訴我|打印|重复|重複|泄露)(?:出)?(?:你|您)?的?(?:完整|全部|所有|初始)?的?(?:系统|系統)(?:提示词|提示詞|提示|指令|消息)`),
	},
	{
		words: "从 從", kind: Override, severity: Low, reason: "gives the agent new instructions",
		phrase: phrase(`(?:从|從)(?:现在|現在|此刻)(?:起|开始|開始)[, ]*(?:你|您)?(?:只|必须|必須|将|將|要|不再|仅)(?:能|会|會|需|要)?(?:听从|聽從|服从|服從|遵循|遵守|回答|执行|执行|是)`),
	},
	{
		words: "用 使", kind: Approval, severity: Low, reason: claims, claim: true,
		phrase: phrase(`(?:用户|用戶|使用者)(?:同意|批准|授权|授權|允许|允許|答应)了`),
	},
	{
		words: "停", kind: Override, severity: High, reason: "tells the agent not to follow its instructions",
		phrase: phrase(`停止(?:遵循|执行|執行|遵守|服从)` + chineseFill + `*` + chineseOwn + `(?:` + chineseFill + `|` + chineseOwn + `)*` + chineseOrders),
	},
	{
		words: "作", kind: Command, severity: Low, reason: commands,
		phrase: phrase(`作(?:为|為)(?:一个|一個|一名)? ?(?:人工智能|ai)? ?(?:智能体|智能體|助手|助理|代理|语言模型|模型)?[, ]*(?:你|您)?(?:必须|必須|务必|务须|应当|应该|需要|要)`),
	},
	{
		words: "对 對 向", kind: Secrecy, severity: Low, reason: hides,
		phrase: phrase(`(?:对|對|向)` + chinesePerson + `(?:保密|隐瞒|隱瞞|隐藏)`),
	},
}
