import { type DayWindow, WHOLE_DAY } from '../zone-clock.ts';
import { type Cadence, readCadence, readTime, readWindow, type StandingTask } from './task.ts';

/** A line of HEARTBEAT.md that is not in a comment; `number` counts from 1 in the whole file. */
export interface FileLine {
  readonly number: number;
  readonly text: string;
  /** In a code fence, or the fence itself: such a line is never a key or a heading. */
  readonly fenced: boolean;
}

/** How often it runs if it does not say. */
export const DEFAULT_CADENCE: Cadence = { kind: 'minutes', minutes: 30 };

/** A task as it was found: with the times that its author wrote, if any. */
interface Piece {
  readonly line: number;
  readonly name: string;
  readonly text: string;
  readonly timing: Timing | null;
}

interface Timing {
  readonly cadence?: Cadence;
  readonly window?: DayWindow;
}

/**
 * The tasks of a file that was written for another agent (H02): OpenClaw's `tasks:` block, a list, sections, or
 * sentences with times. What holds for all of them is added to each. Null where nothing shows where one task ends:
 * steps that build on one another stay together.
 */
export function cutTasks(lines: readonly FileLine[]): readonly StandingTask[] | null {
  const found = tasksBlock(lines) ?? looseTasks(lines);
  const { pieces, rules } = found;
  if (pieces.length < 2 && pieces.every(({ timing }) => timing === null)) return null;
  const forAll = rules.join('\n').trim();
  const names = new Set<string>();
  return pieces.map(({ line, name, text, timing }) => ({
    name: uniqueName(name, names),
    line,
    cadence: timing?.cadence ?? DEFAULT_CADENCE,
    window: timing?.window ?? WHOLE_DAY,
    instruction: forAll === '' ? text : `${text}\n\nFor each task of this file:\n${forAll}`,
  }));
}

interface Found {
  readonly pieces: readonly Piece[];
  readonly rules: readonly string[];
}

const BLOCK = /^\s*tasks:\s*$/i;
const ENTRY = /^\s*-\s+(\w+):\s*(.*)$/;
const FIELD = /^\s+(\w+):\s*(.*)$/;

/** OpenClaw's block: `- name:` with `interval:` and `prompt:`. The rest of the file is for all of them. */
function tasksBlock(lines: readonly FileLine[]): Found | null {
  const start = lines.findIndex(({ text }) => BLOCK.test(text));
  if (start === -1) return null;
  const entries: { line: number; fields: Map<string, string> }[] = [];
  let last = '';
  let end = start + 1;
  for (const { number, text } of lines.slice(start + 1)) {
    const [, key = '', value = ''] = ENTRY.exec(text) ?? FIELD.exec(text) ?? [];
    if (ENTRY.test(text)) entries.push({ line: number, fields: new Map() });
    const fields = entries.at(-1)?.fields;
    const isMore = /^\s/.test(text) && last !== '';
    if (text.trim() !== '' && (fields === undefined || (key === '' && !isMore))) break;
    if (key !== '') last = key.toLowerCase();
    const more =
      key === '' ? text.trim() : value.replace(/^[|>]-?$/, '').replace(/^(["'])(.*)\1$/, '$2');
    if (more !== '') fields?.set(last, [fields.get(last) ?? '', more].join('\n').trim());
    end += 1;
  }
  if (entries.length === 0) return null;
  const rest = [...lines.slice(0, start), ...lines.slice(end)].map(({ text }) => text);
  const rules = rest.filter((text) => !/^\s*(?:#\s.*heartbeat.*|`{3,}\w*|~{3,}\w*)$/i.test(text));
  return { pieces: entries.map(({ line, fields }) => pieceOf(line, fields)), rules };
}

function pieceOf(line: number, fields: ReadonlyMap<string, string>): Piece {
  const { name = '', interval, prompt, window, ...others } = Object.fromEntries(fields);
  const cadence = readCadence(interval ?? '')?.cadence;
  const hours = readWindow(window ?? '');
  const more = Object.entries({
    ...(cadence === undefined && interval !== undefined && { interval }),
    ...(hours === null && window !== undefined && { window }),
    ...others,
  }).map(([key, value]) => `${key}: ${value}`);
  const text = [prompt ?? name, ...more].join('\n').trim();
  const timing = { ...(cadence && { cadence }), ...(hours && { window: hours }) };
  return { line, name: shortName(name || text), text: text || 'Look after this.', timing };
}

interface Section {
  readonly level: number;
  readonly title: string;
  readonly line: number;
  readonly lines: FileLine[];
}

/** Titles of sections that say how, not what. */
const RULES =
  /\b(?:rules?|quiet|when to|how|notes?|respon[ds]e?|reply|replies|state|tracking|formats?|guidelines?|instructions?|report(?:ing)?|output|don['’]?t|do not|never|purpose|customi[sz]ation|escalation|principles?|tips?|reach out)\b|规则|原则|注意|说明|静默|安静|勿扰|状态|格式|回复|汇报/i;
/** Items that say how, not what. */
const RULE_ITEM =
  /^(?:if|when|unless|otherwise|notes?|rules?|important|don['’]?t|do not|never|always|keep|only|reply|respond|be|late night|quiet|skip|avoid)\b|^(?:如果|若|当|不要|请勿|注意|除非|只)/i;
/** A title of these words alone names no task: the items below it do. */
const GENERIC =
  /^(?:heartbeat|checklist|checks?|tasks?|periodic|standing|priority|list|things|to|do|todo|rotate|through|these|routines?|recurring|regular|scheduled|cadences?|based|active|continuous|and|or|the|my|each|every|run|time|proactive|daily|weekly|hourly|reminders?|md|of|on|a|per|check|primary|system|morning|evening|openclaw|neomagi|(?:心跳|任务|清单|列表|检查|定期|巡检|日常|事项|的|项)+)$/i;
const STEPS = /^\W*(?:step|phase|stage)\s+\d|^第.{1,2}步|^步骤/i;

function looseTasks(lines: readonly FileLine[]): Found {
  const pieces: Piece[] = [];
  const rules: string[] = [];
  const sections = sectionsOf(lines);
  if (sections.some(({ title }) => STEPS.test(title))) return { pieces, rules };
  let underRules = Number.POSITIVE_INFINITY;
  for (const section of sections) {
    if (section.level <= underRules) underRules = Number.POSITIVE_INFINITY;
    const isRules = section.level > underRules || RULES.test(section.title);
    // Also an empty one ends the section before it.
    const isEmpty = !section.lines.some(({ text }) => /[\p{L}\p{N}]/u.test(text));
    if (isEmpty) continue;
    if (!isRules) {
      const cut = cutSection(section);
      pieces.push(...cut.pieces);
      rules.push(...cut.rules);
      continue;
    }
    underRules = Math.min(underRules, section.level);
    rules.push(`${section.title}:`, ...section.lines.map(({ text }) => text));
  }
  return { pieces, rules: rules.filter((text, at) => text.trim() !== '' || rules[at - 1]?.trim()) };
}

function sectionsOf(lines: readonly FileLine[]): readonly Section[] {
  const sections: Section[] = [{ level: 0, title: '', line: 1, lines: [] }];
  for (const line of lines) {
    const [, marks = '', title = ''] =
      (line.fenced ? null : /^ {0,3}(#{1,6})[ \t]+(.*[^ \t#])?[ \t#]*$/.exec(line.text)) ?? [];
    if (marks === '') sections.at(-1)?.lines.push(line);
    else sections.push({ level: marks.length, title: bare(title), line: line.number, lines: [] });
  }
  return sections;
}

/** A section is one task, or each item of it is, or each sentence with times. */
function cutSection({ level, title, line, lines }: Section): Found {
  const { items, loose, isOrdered } = itemsOf(lines);
  const timing = timingOf(title);
  const words = title
    .replace(/[(（][^)）]{0,1000}[)）]|[^\p{L}]+/gu, ' ')
    .trim()
    .split(/\s+/);
  const isGeneric = level < 2 || withoutTimes(words.join(' ')).every((word) => GENERIC.test(word));
  const isTimed = items.some(({ text }) => timingOf(firstLine(text)) !== null);
  if (items.length > 0 && !isTimed && (!isGeneric || isOrdered)) {
    const text = [title, ...lines.map((one) => one.text)].join('\n').trim();
    return { pieces: [{ line, name: shortName(title || text), text, timing }], rules: [] };
  }
  if (items.length === 0) return cutSentences(loose, { title, line, timing, isGeneric });
  const before = timing === null && isGeneric ? '' : `${title}: `;
  const isRule = ({ text }: Item) =>
    RULE_ITEM.test(bare(text)) && timingOf(firstLine(text))?.cadence === undefined;
  const pieces = items
    .filter((item) => !isRule(item))
    .map((item) => ({
      line: item.line,
      name: shortName(item.text),
      text: `${before}${item.text}`,
      timing: mergedTiming(timing, timingOf(firstLine(item.text))),
    }));
  const rules = items.filter(isRule).map(({ text }) => `- ${text}`);
  return { pieces, rules: [...(loose === '' ? [] : [loose]), ...rules] };
}

function cutSentences(
  loose: string,
  {
    title,
    line,
    timing,
    isGeneric,
  }: { title: string; line: number; timing: Timing | null; isGeneric: boolean },
): Found {
  if (timing !== null || !isGeneric) {
    return {
      pieces: [{ line, name: shortName(title), text: `${title}\n${loose}`, timing }],
      rules: [],
    };
  }
  const pieces: { line: number; name: string; text: string; timing: Timing }[] = [];
  const rules: string[] = [];
  for (const sentence of loose.split(/(?<=[.!?])\s+(?=\p{Lu})|(?<=[。！？])|\n{2,}/u)) {
    const own = timingOf(sentence);
    const last = pieces.at(-1);
    if (own?.cadence !== undefined) {
      pieces.push({ line, name: shortName(sentence), text: sentence, timing: own });
    } else if (last === undefined) rules.push(sentence);
    else last.text = `${last.text} ${sentence}`;
  }
  // One sentence with a time says nothing about where its task ends.
  return pieces.length < 2 ? { pieces: [], rules: [loose] } : { pieces, rules };
}

interface Item {
  readonly line: number;
  readonly text: string;
}

/** The items of the outermost list, with what is indented below them; `loose`: the text between. */
function itemsOf(lines: readonly FileLine[]): {
  items: readonly Item[];
  loose: string;
  isOrdered: boolean;
} {
  const items: { line: number; text: string }[] = [];
  const loose: string[] = [];
  let ordered = 0;
  let isOpen = false;
  for (const { number, text, fenced } of lines) {
    const [, mark = '', written = ''] =
      (fenced ? null : /^ {0,1}([-*+]|\d+[.)])\s+(?:\[[ xX]?\]\s*)?(.*)$/.exec(text)) ?? [];
    const last = items.at(-1);
    if (written.trim() !== '') {
      items.push({ line: number, text: written.trim() });
      ordered += /\d/.test(mark) ? 1 : 0;
      isOpen = true;
    } else if (isOpen && last !== undefined && (fenced || /^\s+\S/.test(text))) {
      last.text = `${last.text}\n${text}`;
    } else if (!/^(?:-{3,}|[-*+](?:\s*\[[ xX]?\])?)?$/.test(text.trim())) {
      loose.push(text);
      isOpen = false;
    }
  }
  return { items, loose: loose.join('\n').trim(), isOrdered: ordered > 0 };
}

const UNIT = '(?:m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)';
const EVERY = new RegExp(
  `\\b(?:every|each)\\s+(\\d+(?:\\.\\d+)?)(?:\\s*[-–]\\s*\\d+)?\\s*(${UNIT})\\b|>\\s*(\\d+)\\s*(${UNIT})\\s+since\\b`,
  'i',
);
const WORD =
  /\b(?:(?:every|each|once an?|once per|once every)\s+(hour|day|week|morning|afternoon|evening|night)|(hourly|daily|nightly|weekly))\b/i;
const TIMES =
  /\b(\d+|twice|two|three|four)\s*(?:[-–]\s*\d+\s*)?(?:x|times)?\s*(?:(?:an?|per|each)\s+day|daily)\b/i;
const COUNTS: Readonly<Record<string, number>> = { twice: 2, two: 2, three: 3, four: 4 };
const CLOCK = '\\d{1,2}(?:[:.]\\d{2})?\\s*(?:[ap]\\.?m\\.?)?';
const HOURS = new RegExp(
  `(between\\s+|from\\s+)?(${CLOCK})\\s*(?:[-–—]|to|until|and)\\s*(${CLOCK})(?![\\d-])`,
  'i',
);
const PARTS: Readonly<Record<string, DayWindow>> = {
  morning: { from: 360, to: 720 },
  afternoon: { from: 720, to: 1080 },
  evening: { from: 1020, to: 1320 },
};

/** How often, and in which hours, as far as a text says so. */
function timingOf(written: string): Timing | null {
  const text = inEnglish(written);
  const cadence = cadenceIn(text);
  const window = hoursIn(text) ?? (cadence?.kind === 'days' ? partOfDay(text) : undefined);
  if (cadence === undefined && window === undefined) return null;
  return { ...(cadence && { cadence }), ...(window && { window }) };
}

function cadenceIn(text: string): Cadence | undefined {
  const [, count, unit, since, ofSince] = EVERY.exec(text) ?? [];
  const length = count === undefined ? since && `${since} ${ofSince}` : `${count} ${unit}`;
  if (length !== undefined) return readCadence(length)?.cadence;
  const times = TIMES.exec(text)?.[1]?.toLowerCase();
  const perDay = times === undefined ? 0 : (COUNTS[times] ?? Number(times));
  if (perDay > 1 && perDay <= 288) return { kind: 'minutes', minutes: Math.floor(1440 / perDay) };
  const [, each, word] = WORD.exec(text) ?? [];
  const named = (each ?? word)?.toLowerCase();
  if (named === undefined) return undefined;
  if (/^hour/.test(named)) return { kind: 'minutes', minutes: 60 };
  return { kind: 'days', days: /^week/.test(named) ? 7 : 1 };
}

/** Two numbers are hours only if something says so: a colon, am or pm, or "between". */
function hoursIn(text: string): DayWindow | undefined {
  const [all = '', lead, from = '', to = ''] = HOURS.exec(text) ?? [];
  if (lead === undefined && !/[:]|[ap]\.?m\b/i.test(all)) return undefined;
  const clean = (time: string) => time.replaceAll(/(?<=[apm])\./gi, '').trim();
  return readWindow(`${clean(from)} - ${clean(to)}`) ?? undefined;
}

/** `daily at 3 AM`, `every morning`. */
function partOfDay(text: string): DayWindow | undefined {
  const [, time = ''] = new RegExp(`\\bat\\s+(${CLOCK})`, 'i').exec(text) ?? [];
  const at = readTime(time.replaceAll('.', ':').replace(/:m/i, 'm'));
  if (at !== null && at < WHOLE_DAY.to) return { from: at, to: WHOLE_DAY.to };
  const part = Object.keys(PARTS).find((name) => new RegExp(`\\b${name}\\b`, 'i').test(text));
  return part === undefined ? undefined : PARTS[part];
}

function mergedTiming(outer: Timing | null, own: Timing | null): Timing | null {
  return outer === null && own === null ? null : { ...outer, ...own };
}

/** NeoMAGI's times, `每 24 小时, 凌晨 3:00`, in the words that are understood here. */
const CHINESE: readonly (readonly [RegExp, string])[] = [
  [/[，、；]/g, ', '],
  [/(\d)：(\d)/g, '$1:$2'],
  [/(\d)\s*点(?:钟|整)?/g, '$1:00'],
  [/(\d)\s*(?:到|至|~|～)\s*(?=\d)/g, '$1 - '],
  [/每(?:隔)?半(?:个)?小时/g, ' every 30 min '],
  [/每(?:隔)?\s*(\d+)\s*分钟?/g, ' every $1 min '],
  [/每(?:隔)?\s*(\d+)\s*(?:个)?(?:小时|钟头)/g, ' every $1 h '],
  [/每(?:隔)?\s*(\d+)\s*天/g, ' every $1 days '],
  [/每(?:隔)?\s*(\d+)\s*周/g, ' every $1 weeks '],
  [/每(?:个)?小时/g, ' hourly '],
  [/每(?:天|日)|每个?早上|每晚/g, ' daily '],
  [/每(?:个)?(?:周|星期)/g, ' weekly '],
  [/(?:凌晨|早上|早晨|上午)\s*(?=\d)/g, ' at '],
  [/(?:下午|晚上|傍晚)\s*(\d{1,2}(?::\d{2})?)/g, ' at $1 pm'],
];

function inEnglish(text: string): string {
  if (!/\p{sc=Han}/u.test(text)) return text;
  return CHINESE.reduce((rest, [pattern, words]) => rest.replace(pattern, words), text);
}

function untimed(text: string): string {
  const times = [HOURS, EVERY, WORD, TIMES, new RegExp(`\\bat\\s+${CLOCK}`, 'i')];
  return bare(times.reduce((rest, time) => rest.replace(time, ' '), inEnglish(text))) || text;
}

function withoutTimes(text: string): readonly string[] {
  return text
    .replace(new RegExp(EVERY, 'gi'), ' ')
    .replace(new RegExp(WORD, 'gi'), ' ')
    .split(/\s+/)
    .filter(
      (word) => word !== '' && !/^(?:hours?|minutes?|min|days?|once|x|am|pm|mondays?)$/i.test(word),
    );
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}

/** Without marks, signs and emoji around it. */
function bare(text: string): string {
  return text
    .replace(/[*_`]/g, '')
    .replace(/^[^\p{L}\p{N}(]+/u, '')
    .replace(/^\d+[.)]\s+/, '')
    .trim();
}

/** What stands before a colon, else the first words: the key in heartbeat-state.json. */
function shortName(text: string): string {
  const plain = bare(firstLine(text)).replace(/[(（][^)）]{0,1000}[)）]/g, ' ');
  const [, label = '', rest = ''] =
    /^([^:：]{2,40}?)\s*(?:(?::|\s[—–-])\s+|：\s*)(.*)$/.exec(plain) ?? [];
  const isLabel = label !== '' && timingOf(label) === null;
  const words = (isLabel ? label : untimed(rest === '' ? plain : rest)).trim().split(/\s+/);
  const name = words
    .slice(0, isLabel ? 8 : 5)
    .join(' ')
    .slice(0, 40);
  return name.replace(/(?<![^\p{L}\p{N})])[^\p{L}\p{N})]+$/u, '') || 'task';
}

function uniqueName(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth += 1) free = `${name} ${nth}`;
  taken.add(free);
  return free;
}
