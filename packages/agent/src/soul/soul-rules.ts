import type { SoulFinding, SoulVerdict } from '@parley/store';
import { isBlank } from '@parley/workspace';
import { explainAgentOnlyEdits, MAX_SOUL, SEED_ONLY, type SoulSettings } from './soul-text.ts';

export interface SoulCandidate {
  readonly text: string;
  /** The text in use; null if the candidate is judged without comparison. */
  readonly before: string | null;
  readonly author: 'seed' | 'agent' | 'person';
}

export type SoulJudgment = Omit<SoulVerdict, 'appliesAt'>;

/** `score` is the share of passed scenarios, from 0 to 100. */
export interface ScenarioResults {
  readonly score: number;
  readonly findings: readonly SoulFinding[];
}

const PASS = 60;
/** How many points lower than the text in use a proposed text may score. */
const WORSE = 15;

/**
 * Decides whether a text may become SOUL.md (W06), based on the rules and, if available, the
 * scenario results. The text in use is judged by the same rules for comparison. Pure.
 */
export function judgeSoul(
  candidate: SoulCandidate,
  scenarios: Readonly<Record<'after' | 'before', ScenarioResults>> | null,
): SoulJudgment {
  const { before } = candidate;
  const rules = listSoulFindings(candidate);
  const score = combineScores(computeScore(rules), scenarios?.after.score);
  const findings = [...rules, ...(scenarios?.after.findings ?? [])];
  const blocks = findings.some((finding) => finding.blocks);
  if (blocks || score < PASS) return { state: 'refused', score, findings };
  if (before === null) return { state: 'passed', score, findings };
  const alone = listSoulFindings({ text: before, before: null, author: 'seed' });
  const was = combineScores(computeScore(alone), scenarios?.before.score);
  if (score >= was - WORSE) return { state: 'passed', score, findings };
  const text = `The text in use scores ${was} points and this one ${score}, but it may score at most ${WORSE} points lower.`;
  const worse = { rule: 'worse', points: 0, blocks: true, text };
  return { state: 'refused', score, findings: [...findings, worse] };
}

/**
 * The verdict if only the agent may change SOUL.md: a person's text is stored as a version but
 * never used.
 */
export function createHumanEditRefusal(settings: Pick<SoulSettings, 'humanEdits'>): SoulJudgment {
  const text = `${explainAgentOnlyEdits(settings)} This text is kept for reference: ask the agent in your direct chat to propose it. You can veto proposals and roll back.`;
  return {
    state: 'refused',
    score: 0,
    findings: [{ rule: SEED_ONLY, points: 0, blocks: true, text }],
  };
}

function combineScores(rules: number, scenarios: number | undefined): number {
  return scenarios === undefined ? rules : Math.round((rules + scenarios) / 2);
}

/** Some layouts show at most this many characters. */
const COMFORTABLE = 4_000;
const MIN_CHARACTERS = 40;
/**
 * The share of the words that the agent may remove in one change, and the share up to which a
 * change counts as small.
 */
const MAX_REMOVED_SHARE = 0.6;
const SMALL_STEP = 0.35;
/**
 * A text shorter than this, in characters, may be replaced as a whole, because there is little to
 * lose.
 */
const LITTLE = 200;
const HEAVY = 60;

/** Returns the rules that a proposed text breaks. */
export function listSoulFindings(candidate: SoulCandidate): readonly SoulFinding[] {
  const { text, before } = candidate;
  if (isBlank(text)) return [createSevereFinding('empty', 'It is empty.')];
  // A text that is far too long is not matched against the patterns.
  if (text.length > MAX_SOUL) return findLengthFindings(text);
  return [
    ...(before !== null && before.trim() === text.trim()
      ? [createSevereFinding('no-change', 'SOUL.md already says this.')]
      : []),
    ...findLengthFindings(text),
    ...FORBIDDEN.flatMap((forbidden) => {
      const passage = findForbiddenPassage(forbidden, text);
      return passage === null
        ? []
        : [
            createSevereFinding(
              forbidden.rule,
              `${forbidden.text} (${quotePassage(forbidden.rule, passage)})`,
            ),
          ];
    }),
    ...(/^---\s*$/m.test(text.split('\n', 1)[0] ?? '')
      ? [
          createSevereFinding(
            'front-matter',
            'It begins with front matter; the file keeps its own.',
          ),
        ]
      : []),
    ...(/https?:\/\//i.test(text)
      ? [createMinorFinding('address', 15, 'It contains web addresses, which do not belong in it.')]
      : []),
    ...(before === null ? [] : findChangeSizeFindings({ ...candidate, before })),
  ];
}

/** The score that remains after deducting the findings, from 0 to 100. */
export function computeScore(findings: readonly SoulFinding[]): number {
  return Math.max(0, 100 - findings.reduce((sum, { points }) => sum + points, 0));
}

function findLengthFindings(text: string): readonly SoulFinding[] {
  const { length } = text;
  if (length > MAX_SOUL) {
    return [
      createSevereFinding(
        'length',
        `It has ${length} characters; at most ${MAX_SOUL} are allowed.`,
      ),
    ];
  }
  if (length > COMFORTABLE) {
    const finding = `It has ${length} characters; some prompts show only the first ${COMFORTABLE}.`;
    return [createMinorFinding('length', 15, finding)];
  }
  return length < MIN_CHARACTERS ? [createMinorFinding('length', 10, 'It says very little.')] : [];
}

/** Findings about the size of the change. A person may change as much as they want. */
function findChangeSizeFindings({
  text,
  before,
  author,
}: SoulCandidate & { readonly before: string }): readonly SoulFinding[] {
  if (author !== 'agent') return [];
  const findings: SoulFinding[] = [];
  const lost = before.length < LITTLE ? 0 : computeLostShare(before, text);
  const percent = `${Math.round(lost * 100)} %`;
  if (lost > MAX_REMOVED_SHARE) {
    const most = `at most ${MAX_REMOVED_SHARE * 100} % are allowed in one step`;
    findings.push(createSevereFinding('rewrite', `It removes ${percent} of the words; ${most}.`));
  } else if (lost > SMALL_STEP) {
    findings.push(
      createMinorFinding(
        'rewrite',
        15,
        `It removes ${percent} of the words, which is a lot at once.`,
      ),
    );
  }
  if (text.length > COMFORTABLE / 2 && text.length > before.length * 3) {
    findings.push(
      createMinorFinding('growth', 15, 'It is more than three times as long as before.'),
    );
  }
  const [was, is] = [detectLanguage(before), detectLanguage(text)];
  if (was !== null && is !== null && was !== is) {
    findings.push(
      createMinorFinding('language', 30, `It changes the language from ${was} to ${is}.`),
    );
  }
  return findings;
}

function createSevereFinding(rule: string, text: string): SoulFinding {
  return { rule, points: HEAVY, blocks: true, text };
}

function createMinorFinding(rule: string, points: number, text: string): SoulFinding {
  return { rule, points, blocks: false, text };
}

/** Quotes the passage, so that it can be fixed. A passage that contains a secret is not quoted. */
function quotePassage(rule: string, passage: string): string {
  if (rule === 'secret') return `${passage.length} characters`;
  if (rule === 'hidden') return JSON.stringify(passage.slice(0, 20)).replace(/[^\x20-\x7e]/g, '?');
  const line = passage.replace(/\s+/g, ' ');
  return `“${line.length > 80 ? `${line.slice(0, 80).trimEnd()} …` : line}”`;
}

/**
 * The share of the words in `before` that are missing in `after`, from 0 to 1; word order is
 * ignored.
 */
function computeLostShare(before: string, after: string): number {
  const left = new Map<string, number>();
  for (const word of splitWords(after)) left.set(word, (left.get(word) ?? 0) + 1);
  const words = splitWords(before);
  if (words.length === 0) return 0;
  let lost = 0;
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count === 0) lost += 1;
    else left.set(word, count - 1);
  }
  return lost / words.length;
}

function splitWords(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}’']+/gu) ?? [];
}

const COMMON: Readonly<Record<string, ReadonlySet<string>>> = {
  English: new Set('the and you your are is to of in not it that with for be when what'.split(' ')),
  German: new Set(
    'der die das und du dein bist ist zu von in nicht es mit für sei wenn was'.split(' '),
  ),
};

/** The language of a text, detected from its most common words; null if unclear. */
function detectLanguage(text: string): string | null {
  const words = splitWords(text);
  if (words.length < 8) return null;
  const han = words.filter((word) => /\p{Script=Han}/u.test(word)).length;
  if (han > words.length / 2) return 'Chinese';
  const [best, next] = Object.entries(COMMON)
    .map(([name, common]) => ({ name, hits: words.filter((word) => common.has(word)).length }))
    .sort((a, b) => b.hits - a.hits);
  if (best === undefined || next === undefined) return null;
  return best.hits >= 3 && best.hits > next.hits * 1.5 ? best.name : null;
}

interface ForbiddenPattern {
  readonly rule: string;
  readonly text: string;
  readonly patterns: readonly RegExp[];
  /** Whether an earlier negation in the same sentence makes the match harmless. */
  readonly mayBeDenied: boolean;
}

const RULES = String.raw`(?:safety|rules?|instructions?|guidelines?|guardrails?|restrictions?|limits?|AGENTS\.md|system prompt)`;
const HUMAN = `(?:an? )?(?:real |actual |living )?(?:human|person|man|woman)`;
const PROGRAM = `(?:an? )?(?:AI|bot|robot|program|machine|language model|LLM|software|assistant|KI|Programm|Maschine)`;

/** Patterns in English, German and Chinese, as people and models phrase such sentences. */
const FORBIDDEN: readonly ForbiddenPattern[] = [
  {
    rule: 'safety',
    text: 'It tells me to ignore my safety rules or other rules.',
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
    text: 'It tells me to pretend to be human.',
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
    text: 'It tells me to deny that I am a program.',
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
    text: 'It says who my owner is or whom I must obey; only the settings decide that.',
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
    text: 'It tells me to hand out private information.',
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
    text: 'It contains markup that belongs to prompts, not to a character.',
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
    text: 'It contains characters or comments that people cannot see.',
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
    text: 'It contains what looks like a password or a key.',
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

/** Returns the first match that is not negated, or null. */
function findForbiddenPassage(
  { patterns, mayBeDenied }: ForbiddenPattern,
  text: string,
): string | null {
  for (const pattern of patterns) {
    for (const { 0: passage, index } of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
      if (!mayBeDenied || !DENIED.test(text.slice(Math.max(0, index - 80), index))) return passage;
    }
  }
  return null;
}
