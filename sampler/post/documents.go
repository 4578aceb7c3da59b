package post

// about are words with which a sentence speaks of such failures in general, or of what a program makes of them.
const about = `\bstands for out\b|\b(?:of|for|to|detect\w*|list\w*|find\w*) (?:\w+ )?oom[- ]killed\b|\b(?:oom|out[- ]of[- ]memory)(?: error)? (?:memory )?(?:summary|header|retryable|suggests?|situations?|conditions?)\b|^\W*(?:give (?:more|better)|back off|drop \w+|abort on|exit on|halve|explain)\b|\boomkiller\b|\bwhen (?:the |an? )?(?:linux )?(?:kernel|linux|operating system|system|container|process) (?:runs?|is|exceeds?)\b|\b(?:typical|common) (?:error )?messages?\b|\b(?:entries|lines|messages) that (?:begin|start|contain)\b|\bcheck (?:whether|if) there (?:are|is)\b|\braises? this (?:class|error|exception)\b|`
