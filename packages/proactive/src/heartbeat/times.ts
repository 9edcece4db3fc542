import { isDeepStrictEqual } from 'node:util';
import { type DayRule, type DayWindow, WHOLE_DAY } from '../zone-clock.ts';
import { MARKS, translateToEnglish } from './english-times.ts';
import {
  type Cadence,
  DEFAULT_CADENCE,
  parseCadence,
  parseClockMinutes,
  parseDayWindow,
} from './task.ts';

export interface LineTimes {
  readonly cadence?: Cadence;
  /** The time of day, in minutes since midnight, from which the task may run, as in `at 9:00`. */
  readonly at?: number;
  readonly hours?: DayWindow;
  readonly on?: DayRule;
  /** The part of the text about times that was not recognized. */
  readonly unclear?: string;
}

/** The times in a line, the text before the first time, and the line without its times. */
export interface ParsedTimes {
  readonly times: LineTimes;
  readonly lead: string;
  readonly rest: string;
}

const UNIT = '(?:m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)';
const RANGE = '(?:\\s*(?:[-–]|to|or)\\s*\\d+)';
const EVERY = new RegExp(
  `\\b(?:every|each)\\s+(\\d+(?:\\.\\d+)?)(${RANGE})?\\s*(${UNIT}(?:\\s*(?:and\\s+)?\\d+\\s*${UNIT})?)\\b|>\\s*(\\d+)()\\s*(${UNIT})\\s+(?:since\\s+(?:the\\s+)?last|ago)\\b`,
  'i',
);
/**
 * Matches a cadence that refers to heartbeats. In OpenClaw, a heartbeat takes place every half hour
 * by default.
 */
const BEATS = /\b(?:every|each)\s+(?:(\d+)(\s*[-–]\s*\d+)?\s+)?(?:heart)?beats?\b/i;
const BEAT_MINUTES = 30;
const PER_DAY =
  /\b(\d+)(\s*[-–]\s*\d+)?\s*(?:(?:x|×|times?)?\s*(?:(?:an?|per|each)\s+|\/\s*)day|(?:x|×|times?)\s*daily)\b/i;
const PARTS: Readonly<Record<string, DayWindow>> = {
  morning: { from: 360, to: 720 },
  afternoon: { from: 720, to: 1080 },
  evening: { from: 1020, to: 1320 },
};
const PART = /\b(?:in the )?(morning|afternoon|evening)s?\b/i;
const EACH =
  /\b(?:every|each|once an?|once per|once every)\s+(?:(hour|day|week|month)s?(?!\p{L})|night\b|(?=morning|afternoon|evening))/iu;
/**
 * Matches such a word as an adverb or at the start of a title; `the daily notes` does not state a
 * time.
 */
const ADVERB =
  /(?:^|[(:,;–—|/]|\s-|\b(?:once|runs?|checks?|checked|done|do|this|it|mail|repeats?))\s*(hourly|daily|nightly|weekly|monthly)\b(?!\s+(?:notes?|logs?|files?|journals?|entries|memor\w+))|(?<!\b(?:the|a|an|your|my|our|this|its|last|latest|today['’]s)\s)\b(hourly|daily|nightly|weekly|monthly)(?=\s*(?:$|[).,;:!–—|]|-|at\b|\d|\(|in the\b|on\b|(?:between|from|around|about|by|before|after)\b))/i;
const WORKDAYS =
  /\b(?:(?:every|each|on)\s+)?(?:week\s?days|work(?:ing)?\s?days|business\s+days)\b|\b(?:every|each)\s+(?:week|work(?:ing)?\s?|business\s+)day\b/i;
const WEEKEND = /\b(?:(?:every|each|on|at)\s+(?:the\s+)?)?weekends\b|\b(?:every|each)\s+weekend\b/i;
const DAY =
  "(?:(?:sun|mon|tues|wednes|thurs|fri|satur)days?|sun|mon|tues?|wed|thu(?:rs?)?|fri|sat)(?![\\p{L}’'])\\.?";
const DAYS = new RegExp(
  `(?<![\\p{L}])(${DAY})((?:\\s*(?:,\\s*and|,|and|&|/|\\+|-|–|to|through|until)\\s*${DAY})*)`,
  'iu',
);
const DAY_LEAD = /\b(?:every|each|on|weekly|week)[\s,:(–-]*(?:on\s+)?$/i;
const DAY_START = /(?:^|[(:])\s*$/;
const DAY_TAIL = /^s?\s*(?:$|[):–—-]|at\b|\d)/i;
const DATES = '(?:first|\\d{1,2}(?:st|nd|rd|th)?)(?:\\s*(?:,|and|&|/)\\s*\\d{1,2}(?:st|nd|rd|th))*';
const MONTH_DAY = new RegExp(
  `\\b(?:on\\s+|every\\s+)?(?:the\\s+)?(${DATES})\\s+(?:day\\s+)?of\\s+(?:the|each|every)\\s+month\\b|\\bmonthly,?\\s*[(:–-]*\\s*(?:on\\s+)?(?:the\\s+|day\\s+)?(${DATES})(?![\\d:.]|\\s*[ap]m)`,
  'i',
);

const CLOCK = '\\d{1,2}(?:[:.]\\d{2})?\\s*(?:[ap]m\\b)?';
/** Matches a time of day that does not need a word such as `at` before it. */
const MARKED = '\\d{1,2}:\\d{2}(?:\\s*[ap]m\\b)?|\\d{1,2}(?:\\.\\d{2})?\\s*[ap]m\\b';
/** Matches the zone of a time, which may differ from the owner's. */
const ZONE =
  '(?:\\s*\\(?((?:UTC|GMT)(?:\\s*[+-]\\d+)?|[ECMP][SD]?T|CES?T|BST|IST|JST|AE[SD]T|SGT|[a-z]+\\/[a-z_]+|(?!local)[a-z]+ time)\\b\\)?)?';
const TO = '\\s*(?:-|–|—|~|to|until)\\s*';
const HOURS = new RegExp(
  `(?:(?:between|from)\\s+(${CLOCK})(?:${TO}|\\s+and\\s+)(${CLOCK})|(?<![\\d:.-])(?:(${MARKED})${TO}(${CLOCK})|(${CLOCK})${TO}(${MARKED})))(?![\\d-])${ZONE}`,
  'iu',
);
/** Matches two numbers next to days, which are a range of hours, as in `Mon-Fri 9-17`. */
const BARE_HOURS = /(?<![\p{L}\d.:-])\d{1,2}\s*[-–]\s*\d{1,2}(?=\s*(?:$|[,;:)|]|\uE000))/iu;
const MORE = `((?:\\s*(?:,|and|&|/|\\+)\\s*(?:at\\s+)?(?:${MARKED}))*)`;
const ABOUT = '\\b(?:around|about|by|before|after)\\s+';
const hourBehind = (lead: string, clock: string) =>
  new RegExp(`(?:${lead})(${clock})(?![\\d%-]|:\\d)${ZONE}${MORE}`, 'iu');
const LEAD = `\\bat\\s+|@\\s*|(${ABOUT})`;
const AT = hourBehind(`${LEAD}|^[[(]?|(?<!\\d)[(,:;|]\\s*|[–—-]\\s+`, MARKED);
/** Next to days, a bare number after `at` is an hour; `9:00` is an hour wherever it appears. */
const AT_NUMBER = hourBehind(LEAD, '\\d{1,2}(?:\\.\\d{2})?');
const ANY_HOUR = hourBehind(`(?<![\\d:])()`, MARKED);
/** A placeholder for a time that was removed from a line. */
const TAKEN = '\uE000';
/** Matches words that modify a time in a way that cannot be represented. */
const UNCLEAR = new RegExp(
  `\\b(?:business|working|office|market|trading)\\s+hours\\b|${TAKEN}[\\s,]*(?:(?:unless|until|till?|during|while|when|if|starting|as of|after|before|in (?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*)\\b|at\\s*:\\d|\\d{1,2}[ap]\\b)[^.:;)]*|${TAKEN}[\\s,(&/+]*(?:(?:and|at)\\s+)?\\d{1,2}:\\d{2}|(?:${DAY})\\s*${TAKEN}`,
  'iu',
);
/**
 * Matches a part of the day after a time, as in `Every 2 hours (daytime)`, which does not state the
 * hours.
 */
const PART_BEHIND = new RegExp(
  `${TAKEN}[\\s,(]*(?:in the |at |by )?(?:mornings?|afternoons?|evenings?|nights?|day\\s?time|overnight)\\b`,
  'i',
);
const EXCEPTION = /\b(?:except|excluding|but not)\b(?:[^.:;)]|(?<=\d)[.:](?=\d))*/i;
/** Matches times that cannot be represented. */
const UNREAD_TIME =
  /\b(?:first|second|third|fourth|last|\d(?:st|nd|rd|th))\s+(?!of)\p{L}+\s+of\s+(?:the|each|every)\s+(?:month|week|year)\b|\b\d+\s*(?:x|×|times)\s*(?:weekly|monthly)\b|\b(?:quarterly|yearly|annually|bi-?weekly|bi-?monthly)\b|(?:^|[\s`(])(?:[*\d][\d*/,-]*\s+){3}[*\w/,-]+\s+[*\w/,-]+(?=$|[\s`)])|\b(?:every|each|once an?|once per)\s+(?:(?:few|couple|several|some|quarter|year)\b|\d+\s*(?:s|ms|sec\w*|month\w*|quarter\w*|year\w*)\b)[^.;:)]*/iu;
const ALL_DAY = /\b(?:all day|24\/7|around the clock)\b/i;
/** Matches dates. Dates and `tomorrow` are not recurring times. */
const DATE =
  /^\W*(?:today|tomorrow|tonight)\b|\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b/i;
const CLOCK_FACE = /(?<![\d:])\d{1,2}:\d{2}(?![\d:])/;
const MAX_LINE = 500;

/** Parses the times in a heading or list item; null if it has none. */
export function parseTimes(written: string): ParsedTimes | null {
  // A malicious file may consist of empty lines, and each of them would be matched against every
  // pattern.
  if (written.trim() === '' || DATE.test(written)) return null;
  const text = translateToEnglish(written.slice(0, MAX_LINE));
  let rest = text;
  let start = text.length;
  const unclear: string[] = [];
  const take: ConsumeMatch = (pattern) => {
    const found = pattern.exec(rest);
    if (found !== null) {
      start = Math.min(start, found.index);
      rest = `${rest.slice(0, found.index)}${TAKEN}${rest.slice(found.index + found[0].length)}`;
    }
    return found;
  };
  const note = (text: string | undefined) => {
    const plain = text
      ?.replaceAll(TAKEN, ' ')
      .replace(/[`\s]+/g, ' ')
      .trim();
    if (plain) unclear.push(plain);
  };
  // An exception may contain hours: the hours to leave out.
  const exception = take(EXCEPTION)?.[0];
  note(take(UNREAD_TIME)?.[0]);
  const on = consumeDays(take, () => rest, note);
  const often = consumeCadence(take, note);
  const isMonthly = often === 'month';
  const cadence = isMonthly ? undefined : often;
  const isUnread = unclear.length > 0;
  const hours = consumeHours(take, note, on !== undefined);
  const at = consumeHour(take, note, (on ?? often) !== undefined);
  const hasDays = on !== undefined || isMonthly || cadence?.kind === 'days';
  const part = hasDays ? consumePartOfDay(take) : undefined;
  const isAllDay = take(ALL_DAY) !== null;
  const found = [on, often, hours, at];
  if (!isUnread && found.every((one) => one === undefined)) return null;
  note(exception);
  note(take(UNCLEAR)?.[0]);
  if (cadence?.kind === 'minutes') note(take(PART_BEHIND)?.[0]);
  if (cadence?.kind === 'minutes' && at !== undefined) note(written);
  const within = hours ?? (at === undefined && !isAllDay ? part : undefined);
  const days = on ?? (isMonthly ? { of: 'month' as const, days: [1] } : undefined);
  if (isMonthly && on === undefined) note('monthly, without a day');
  const times = {
    ...(cadence !== undefined && { cadence }),
    ...(at !== undefined && { at }),
    ...(within !== undefined && { hours: within }),
    ...(days !== undefined && { on: days }),
    ...(unclear.length > 0 && { unclear: unclear.join(', ') }),
  };
  const others = rest
    .replaceAll(TAKEN, ' ')
    .replace(/\[\s*\]|\s+/g, ' ')
    .trim();
  return { times, lead: text.slice(0, start), rest: others };
}

/**
 * Matches conditions and limits, which are not times: `at most twice a day`, `quiet hours
 * 22:00-7:00`.
 */
const CONDITION =
  /^(?:(?:if|only|nur|when(?:ever)?|unless|otherwise|except|wenn|falls|si|cuando|lorsque|quand|se|quando|e\.g\.|example|beispiel)(?![\p{L}])|如果|若|当|只有|仅|例)/iu;
const LIMIT =
  /(?<!\p{L})(?:at most|more than|max(?:imum)?|never|don['’]?t|do not|not|no|avoid|up to|limit|höchstens|maximal|nicht|keine?|jamais|nunca|máximo)(?!\p{L})|不要|请勿|最多|不超过/iu;
const QUIET =
  /quiet|silen|\bnight|sleep|disturb|ruhe|nacht|stören|nuit|noche|安静|静默|勿扰|免打扰|睡|深夜|夜间/iu;

export function isRuleTitle(title: string): boolean {
  return CONDITION.test(title);
}

/**
 * Returns the times that make a heading or list item a task; null if it has none, or only states a
 * rule about times.
 */
export function readTaskTimes(title: string): ParsedTimes | null {
  const read = isRuleTitle(title) ? null : parseTimes(title);
  if (read === null || LIMIT.test(read.lead)) return null;
  const { hours, ...others } = read.times;
  return Object.keys(others).length === 0 && hours && QUIET.test(title) ? null : read;
}

const ONLY_TIME =
  /^(?:[^\p{L}]|(?<!\p{L})(?:heartbeats?|md|tasks?|checks?|checklist|schedules?|scheduled|things|to|do|the|my|runs?|times?|timed|periodic|continuous|jobs?|aufgaben|任务|清单|检查|定期|日常|调度|frequency|frequência|frequenz|fréquence|frecuencia|频率)(?!\p{Script=Latin}))*$/iu;
const LABELED =
  /^(?:schedule[ds]?|frequency|interval|cadence|every|when|times?|how often|runs?|repeats?|window|active(?: hours)?|hours|trigger|heartbeat|frequenz|zeitplan|intervall|uhrzeit|wann|fréquence|horaire|frecuencia|horario|intervalo|frequência|poll a cada|janela ativa|频率|间隔|周期|时间|时段|调度|执行时间)\s*[:：]\s*(.+)$/iu;

/** Whether the rest of a line describes no work, as in `Daily tasks`. */
export function isOnlyTime(rest: string): boolean {
  return ONLY_TIME.test(rest);
}

/** Returns the times in a line that only states a time, such as `Interval: 15m`. */
export function readLabeledTimes(line: string): LineTimes | null {
  if (line.trim().startsWith('|')) return null;
  const text = line.replace(MARKS, '').replace(/^[\s>+-]+/, '');
  const [, value = text] = LABELED.exec(text) ?? [];
  const read = parseTimes(value) ?? (value === text ? null : parseTimes(`every ${value}`));
  const isLabel = value !== text || read?.times.unclear === undefined;
  return read !== null && isLabel && isOnlyTime(read.rest) ? read.times : null;
}

/**
 * Merges times: inner ones take precedence over outer ones, and an inner time of day replaces an
 * outer interval.
 */
export function mergeTimes(outer: LineTimes, own: LineTimes | null): LineTimes {
  const { cadence, ...others } = outer;
  const isOver = own?.at !== undefined && cadence?.kind === 'minutes';
  return { ...(isOver ? others : outer), ...own };
}

/**
 * Combines the times of two lines about one task. The first line takes precedence if they differ.
 */
export function addTimes(all: LineTimes, more: LineTimes): LineTimes {
  const isTwice = Object.keys(more).some((key) => key in all);
  const both = { ...more, ...all, ...(isTwice && { unclear: 'two times for one task' }) };
  const isBoth = both.cadence?.kind === 'minutes' && both.at !== undefined;
  return { ...both, ...(isBoth && { unclear: 'an interval and a time of day' }) };
}

/** Whether a line contains a time that differs from the task's times `kept`. */
export function hasDifferentTime(line: string, kept: LineTimes): boolean {
  const read = readTaskTimes(line);
  if (read !== null)
    return !isDeepStrictEqual(
      toSchedule(read.times),
      toSchedule({ ...kept, cadence: kept.cadence ?? DEFAULT_CADENCE }),
    );
  return CLOCK_FACE.test(line) && !DATE.test(line) && parseTimes(line) === null;
}

/**
 * Returns the schedule of a task with these times. `isKnown` is false if the schedule is only the
 * default.
 */
export function toSchedule({ cadence, at, hours, on }: LineTimes) {
  const isOften = cadence?.kind === 'minutes';
  const from = isOften ? undefined : at;
  const daily: Cadence = { kind: 'days', days: 1 };
  const usual = at === undefined && on === undefined ? DEFAULT_CADENCE : daily;
  const isWeekly = cadence?.kind === 'days' && cadence.days === 7 && on !== undefined;
  const to = hours !== undefined && from !== undefined && hours.to > from ? hours.to : WHOLE_DAY.to;
  const window: DayWindow = {
    ...(from === undefined ? (hours ?? WHOLE_DAY) : { from, to }),
    ...(on !== undefined && { on }),
  };
  const schedule = { cadence: isWeekly ? daily : (cadence ?? usual), window };
  return { schedule, isKnown: (cadence ?? at ?? hours ?? on) !== undefined };
}

type ConsumeMatch = (pattern: RegExp) => RegExpExecArray | null;
type NoteText = (text: string | undefined) => void;

function consumeCadence(take: ConsumeMatch, note: NoteText): Cadence | 'month' | undefined {
  const every = take(EVERY);
  const [, count = every?.[4], range, unit = every?.[6]] = every ?? [];
  if (every !== null) {
    if (range !== undefined) note(every[0]);
    const read = parseCadence(`${count} ${unit}`)?.cadence;
    // In `Every 4 hours (6x per day)`, both times mean the same.
    const perDay = toCadencePerDay(take(PER_DAY));
    if (read === undefined || (perDay !== undefined && !isDeepStrictEqual(read, perDay))) {
      note(every[0]);
    }
    return read;
  }
  const beats = take(BEATS);
  if (beats !== null) {
    if (beats[2] !== undefined) note(beats[0]);
    return { kind: 'minutes', minutes: Number(beats[1] ?? 1) * BEAT_MINUTES };
  }
  const perDay = take(PER_DAY);
  if (perDay !== null) {
    if (perDay[2] !== undefined) note(perDay[0]);
    return toCadencePerDay(perDay);
  }
  const each = take(EACH);
  const word = (each === null ? take(ADVERB) : null)?.find((one, nth) => nth > 0 && one);
  const name = (each?.[1] || word || (each === null ? '' : 'day')).toLowerCase();
  if (name === '') return undefined;
  if (each !== null) take(ADVERB);
  if (name.startsWith('hour')) return { kind: 'minutes', minutes: 60 };
  if (name.startsWith('month')) return 'month';
  return { kind: 'days', days: name.startsWith('week') ? 7 : 1 };
}

function toCadencePerDay(found: RegExpExecArray | null): Cadence | undefined {
  if (found === null) return undefined;
  const times = Number(found[1]);
  if (times <= 1 || times > 288) return { kind: 'days', days: 1 };
  return { kind: 'minutes', minutes: Math.floor(1440 / times) };
}

const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function consumeDays(take: ConsumeMatch, text: () => string, note: NoteText): DayRule | undefined {
  const month = take(MONTH_DAY);
  if (month !== null) {
    const written = (month[1] ?? month[2] ?? '').replace(/first/i, '1').match(/\d+/g) ?? [];
    const days = written.map(Number);
    if (days.every((day) => day >= 1 && day <= 31)) return { of: 'month', days };
    note(month[0]);
  }
  if (take(WORKDAYS) !== null) return { of: 'week', days: [1, 2, 3, 4, 5] };
  if (take(WEEKEND) !== null) return { of: 'week', days: [0, 6] };
  const [all, first = '', more = ''] = DAYS.exec(text()) ?? [];
  if (all === undefined) return undefined;
  const at = text().indexOf(all);
  const [lead, tail] = [text().slice(0, at), text().slice(at + all.length)];
  const isTime =
    more !== '' ||
    DAY_LEAD.test(lead) ||
    /days$/i.test(first) ||
    (DAY_START.test(lead) && DAY_TAIL.test(tail));
  if (!isTime) return undefined;
  take(new RegExp(`(?:\\b(?:every|each|on|weekly)[\\s,:(–-]*(?:on\\s+)?)?${DAYS.source}`, 'iu'));
  return { of: 'week', days: parseDays(all) };
}

/** Parses lists and ranges of days, such as `Mon, Wed` and `Monday to Friday`. */
function parseDays(list: string): readonly number[] {
  const days = new Set<number>();
  let [last, isRange] = [0, false];
  for (const [word] of list.toLowerCase().matchAll(/[a-z]+|[-–]/g)) {
    const day = DAY_NAMES.indexOf(word.slice(0, 3));
    if (day === -1) {
      isRange = /^(?:-|–|to|through|until)$/.test(word);
      continue;
    }
    for (let next = isRange ? (last + 1) % 7 : day; next !== day; next = (next + 1) % 7) {
      days.add(next);
    }
    days.add(day);
    [last, isRange] = [day, false];
  }
  return [...days].sort((a, b) => a - b);
}

function consumeHours(take: ConsumeMatch, note: NoteText, hasDays: boolean): DayWindow | undefined {
  let found: DayWindow | undefined;
  for (let range = take(HOURS); range !== null; range = take(HOURS)) {
    const [all, ...ends] = range;
    const [from = '', to = ''] = ends.slice(0, 6).filter((end) => end !== undefined);
    // In `8-10 pm`, the am or pm of the second time applies to both.
    const half = /[ap]m$/i.test(from) ? '' : (/[ap]m$/i.exec(to)?.[0] ?? '');
    const hours = parseDayWindow(`${from}${half} - ${to}`) ?? parseDayWindow(`${from} - ${to}`);
    if (hours === null || ends[6] !== undefined || found !== undefined) note(all);
    found ??= hours ?? undefined;
  }
  const [bare] = (hasDays && found === undefined ? take(BARE_HOURS) : null) ?? [];
  return found ?? parseDayWindow(bare ?? '') ?? undefined;
}

function consumeHour(take: ConsumeMatch, note: NoteText, hasDays: boolean): number | undefined {
  const found = take(AT) ?? (hasDays ? (take(AT_NUMBER) ?? take(ANY_HOUR)) : null);
  if (found === null) return undefined;
  const [all, about = '', clock = '', zone, more = ''] = found;
  const minutes = parseClockMinutes(clock);
  const isHour = minutes !== null && minutes < 1440;
  if (!isHour || about !== '' || zone !== undefined || more !== '') note(all);
  return isHour ? minutes : undefined;
}

function consumePartOfDay(take: ConsumeMatch): DayWindow | undefined {
  const [, part = ''] = take(PART) ?? [];
  return PARTS[part.toLowerCase()];
}
