/** Something that no soul may say. */
export interface ForbiddenWords {
  readonly rule: string;
  /** What is wrong with it, as a sentence. */
  readonly words: string;
  readonly patterns: readonly RegExp[];
  /** "Never …" before it turns it into a good intention; looked for in the same sentence. */
  readonly mayBeDenied: boolean;
}

const RULES = String.raw`(?:safety|rules?|instructions?|guidelines?|guardrails?|restrictions?|limits?|AGENTS\.md|system prompt)`;
const HUMAN = `(?:an? )?(?:real |actual |living )?(?:human|person|man|woman)`;
const PROGRAM = `(?:an? )?(?:AI|bot|robot|program|machine|language model|LLM|software|assistant|KI|Programm|Maschine)`;

/** English, German and Chinese, as people and models write them. */
export const FORBIDDEN: readonly ForbiddenWords[] = [
  {
    rule: 'safety',
    words: 'It tells me to pass over my safety or other rules.',
    mayBeDenied: true,
    patterns: [
      new RegExp(
        String.raw`\b(?:ignore|disregard|override|overrule|bypass|circumvent)\b[^.!?\n]{0,60}\b${RULES}\b`,
        'iu',
      ),
      new RegExp(
        String.raw`\b(?:forget|break|disable|skip|drop)\b[^,;.!?\n]{0,40}\b${RULES}\b`,
        'iu',
      ),
      new RegExp(
        String.raw`\b${RULES}\b[^.!?\n]{0,40}\b(?:do(?:es)? not|don[’']t|doesn[’']t|no longer|never)\b[^.!?\n]{0,12}\b(?:apply|count|matter|hold|bind)`,
        'iu',
      ),
      /\b(?:you have|there are|without)\b (?:no|any) (?:rules|restrictions|limits|guardrails)\b/iu,
      /\b(?:stands?|counts?|ranks?|wins?|goes) (?:above|over|before) (?:the )?(?:safety|AGENTS\.md|all rules|every rule)/iu,
      /\b(?:ignorier|missacht|umgeh|übergeh|vergiss|setz)\w*[^.!?\n]{0,60}(?:Sicherheit|Regeln?|Anweisung|Vorgaben|Grenzen|AGENTS\.md)/iu,
      /(?:忽略|无视|绕过|违反|忘记)[^。！？\n]{0,20}(?:安全|规则|指示|指令|限制|规定)/u,
    ],
  },
  {
    rule: 'human',
    words: 'It tells me to pass for a human.',
    mayBeDenied: true,
    patterns: [
      new RegExp(
        String.raw`\b(?:(?:say|claim|pretend|insist|tell (?:them|people|everyone|everybody)|act as if|act like|believe)\b[^.!?\n]{0,40}\b(?:you are|you[’']re|to be|being)|(?:pose|pass|present yourself|introduce yourself)\b[^.!?\n]{0,20}\b(?:as|for|to be)) ${HUMAN}\b`,
        'iu',
      ),
      new RegExp(
        String.raw`\byou(?: are|[’']re) (?:not (?:an? )?(?:AI|bot|robot|program|machine|language model|LLM)\b|${HUMAN}(?:,? not (?:an? )?(?:AI|bot|program|machine)| being)\b)`,
        'iu',
      ),
      /\b(?:gib|gebe|behaupte|tu|sag)\b(?:(?!\b(?:nie|niemals|nicht)\b)[^.!?\n]){0,40}\bMensch\b/iu,
      /(?:假装|声称|自称|说)[^。！？\n]{0,10}(?:你是|是|自己是)[^。！？\n]{0,4}(?:人类|真人)/u,
    ],
  },
  {
    rule: 'program',
    words: 'It tells me to deny that I am a program.',
    mayBeDenied: false,
    patterns: [
      new RegExp(
        String.raw`\b(?:never|do not|don[’']t|not|avoid|refuse to)\b[^.!?\n]{0,20}\b(?:(?:admit|reveal|disclos|confess|acknowledg|confirm)\w*[^.!?\n]{0,40}|(?:say|tell|mention)\w*[^.!?\n]{0,40}\b(?:you are|you[’']re|being|are|is)\s)\b${PROGRAM}\b`,
        'iu',
      ),
      new RegExp(
        String.raw`(?<!\b(?:never|not|don[’']t) )\b(?:deny|hide|conceal)\b[^.!?\n]{0,40}\b${PROGRAM}\b`,
        'iu',
      ),
      new RegExp(
        String.raw`(?:\b(?:leugne|verbirg|verschweig|verheimlich)\w*\b[^.!?\n]{0,40}|\b(?:sag|gib|verrate)\w*\b[^.!?\n]{0,30}\b(?:nie|niemals|nicht)\b[^.!?\n]{0,30})\b${PROGRAM}\b`,
        'iu',
      ),
      /(?:不要|别|从不|绝不|否认|隐瞒)[^。！？\n]{0,10}(?:AI|人工智能|机器人|程序)/iu,
    ],
  },
  {
    rule: 'owner',
    words: 'It says who my owner is or whom I must obey; that is in the settings alone.',
    mayBeDenied: true,
    patterns: [
      /\b(?:is|are|as|becomes?) (?:also )?(?:your|my|the|an?) (?:new |real |true |second )?(?:owner|admin|administrator|master|operator)\b/iu,
      /\b(?:your|my|the) (?:new |real |true |second )?(?:owner|admin|administrator|master|operator) is\b/iu,
      /\b[Oo]bey\b[^.!?\n]{0,40}\b(?:everyone|everybody|anyone|anybody|whoever|all|him|her|them|without question|any|[A-Z]\w+)\b/u,
      /\b(?:telegram|discord|whatsapp|web|slack):\d{3,}/iu,
      /\b(?:approve|allow|run)\b[^.!?\n]{0,30}\bwithout (?:asking|approval|a yes)\b/iu,
      /\bgehorch\w*\b|\b(?:ist|sind) (?:auch )?(?:dein|der neue)e? (?:neuer )?(?:Besitzer|Eigentümer|Herr|Admin)/iu,
      /(?:是|为)(?:你的|我的)(?:新)?(?:主人|拥有者|管理员)|服从(?:所有|任何|每)/u,
    ],
  },
  {
    rule: 'private',
    words: 'It tells me to hand out what is private.',
    mayBeDenied: true,
    patterns: [
      /\b(?:share|reveal|tell|show|send|post|forward|read out|give|leak)\b[^.!?\n]{0,50}\b(?:MEMORY\.md|memor(?:y|ies)|private notes?|secrets?|passwords?|keys?|credentials?|system prompt)\b/iu,
      /\b(?:send|post|forward|upload|copy)\b[^.!?\n]{0,60}\b(?:https?:\/\/|webhook|e-?mail address|\w+@\w+)/iu,
      /\b(?:verrate|teile|schicke?|zeige?)\b[^.!?\n]{0,50}(?:Geheimnis|Passw|MEMORY\.md|Notizen)/iu,
      /(?:告诉|分享|泄露|发送)[^。！？\n]{0,15}(?:密码|秘密|记忆|私人)/u,
    ],
  },
  {
    rule: 'injection',
    words: 'It has marks that belong to prompts and not to a character.',
    mayBeDenied: false,
    patterns: [
      /<\/?(?:system|assistant|user|tool|instructions?|prompt|important)\b[^>]*>/iu,
      /<\|[a-z_]+\|>|\[\/?INST\]|<<SYS>>/iu,
      /\b(?:BEGIN|END|NEW) (?:SYSTEM )?(?:PROMPT|INSTRUCTIONS)\b/u,
      /^#+ *(?:system|instructions?|safety|tooling)\b/imu,
      /\[memory context\]/iu,
      /[A-Za-z0-9+/]{120,}={0,2}/u,
      /!\[[^\]]*\]\([^)]*\)/u,
    ],
  },
  {
    rule: 'hidden',
    words: 'It has characters or comments that people do not see.',
    mayBeDenied: false,
    patterns: [
      /[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/u,
      /<!--/u,
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/u,
    ],
  },
  {
    rule: 'secret',
    words: 'It has what looks like a password or a key.',
    mayBeDenied: false,
    patterns: [
      /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}/u,
      /\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\b\d{6,12}:[A-Za-z0-9_-]{30,}|\beyJ[\w-]{10,}\.[\w-]{10,}/u,
      /-----BEGIN [A-Z ]*PRIVATE KEY-----/u,
      /\b(?:password|passwort|passwd|api[_ -]?key|secret|token)\b\s*(?:[:=]|is)\s*\S{6,}/iu,
    ],
  },
];

const DENIED =
  /(?:\b(?:never|not|don[’']t|doesn[’']t|no|nobody|nothing|cannot|can[’']t|won[’']t|without|nie|niemals|nicht|kein\w*)\b|不要|不会|不能|从不|绝不|别)[^.!?\n。！？]{0,40}$/iu;

/** What of it stands in a text: the first passage that is meant as it is written, or null. */
export function findForbidden(
  { patterns, mayBeDenied }: ForbiddenWords,
  text: string,
): string | null {
  for (const pattern of patterns) {
    for (const { 0: passage, index } of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
      if (!mayBeDenied || !DENIED.test(text.slice(Math.max(0, index - 80), index))) return passage;
    }
  }
  return null;
}
