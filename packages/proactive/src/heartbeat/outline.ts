import { MARKS } from './english-times.ts';
import { type ParsedTimes, readTaskTimes } from './times.ts';

/** A line of HEARTBEAT.md outside comments. `number` counts from 1 within the whole file. */
export interface FileLine {
  readonly number: number;
  readonly text: string;
  /**
   * Whether the line is inside a code fence or is a fence line itself. Such a line is never parsed
   * as a key or a heading.
   */
  readonly fenced: boolean;
}

/**
 * A heading or list item with everything below it. `title` is the line without its Markdown marks.
 */
export interface OutlinePart extends Omit<FileLine, 'fenced'> {
  /**
   * The level: 1 to 6 for headings, 7 for bold lines, and more for list items, depending on their
   * indent.
   */
  readonly level: number;
  readonly title: string;
  /** Whether the part has an open checkbox, `[ ]`. */
  readonly isOpen: boolean;
  readonly times: ParsedTimes | null;
  readonly below: readonly (FileLine | OutlinePart)[];
}

/** The level at which lists start. */
export const ITEM = 10;
export const BOLD = 7;
const DONE_LABEL = 8;
/** Matches a line of bold text, which serves as a heading in many files. */
const BOLD_LINE = /^(?:\*\*[^*]+\*\*|__[^_]+__):?\s*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$/;
/**
 * Matches list items. A checkbox character may replace the bullet; `[a](b)` is a link, not a
 * checkbox.
 */
const LIST_ITEM =
  /^([ \t]*)(?:(?:[-*+•]|\d+[.)])[ \t]+|(?=[☐⬜🔲☑]))(\[[^\]]?\](?![([]))?[ \t]*(.*)$/u;
/**
 * Matches examples that templates comment out with a heading sign: `# - every hour: look at the
 * mail`.
 */
const COMMENTED_ITEM = /^[-*+•]\s/;
const STRUCK = /^(?:~~.+~~|<(s|del)>.+<\/\1>)[\s.,!✅✔]*(?:[(—–-].*)?$/u;
/** Matches checked boxes. Many editors write `[-]` for "cancelled". */
const TICKED = /^(?:\[[xX✓✔✅☑-]\]|[☑✅✔])/u;
const DONE =
  /^(?:completed?|done|finished|cancell?ed|disabled|inactive|paused|erledigte?[ns]?|abgeschlossene?[ns]?|fertige?s?|terminée?s?|faite?s?|achevée?s?|completad[ao]s?|hech[ao]s?|terminad[ao]s?|conclu[íi]d[ao]s?|feit[ao]s?|completat[aeio]|fatt[aeio]|voltooid|afgerond|выполнен[оы]|завершен[оы]|готово|(?:已|全部)?(?:完成|归档|存档)的?(?:任务|事项|项)?|完了|済み|완료)$/iu;
/** Titles of sections to ignore. In a list item these words may be the subject of a task. */
const PUT_AWAY =
  /^(?:archive?[ds]?|history|closed|examples?|beispiele?|exemples?|archivad[ao]s?|archivo|ejemplos?|arquivad[ao]s?|архив|示例|보관)$/iu;
/** Matches marks such as `Send it (done)`, `Send it - DONE`, `DONE: send it` and `Send it ✅`. */
const MARK =
  /^[【[(（]\s*(\p{L}+)\s*[】\])）]|[([（]\s*(\p{L}+)[^\p{L}?]*[)\]）]\W*$|\s[-–—]\s+(\p{L}+)\W*$|^(?!complete\b)(\p{L}+)\s*[:：]/iu;
const SIGN_AT_END = /\s[✅☑✔]\uFE0F?$/u;
const FILLER =
  /^(?:and|recently|already|the|tasks?|items?|to-?dos?|list|log|this|week|month|today|aufgaben|tâches|tareas|tarefas|compiti|taken|задачи)$/iu;

/**
 * Returns the outline of a file, without parts that are checked off, struck through or below a
 * title such as "Completed".
 */
export function parseOutline(lines: readonly FileLine[]): OutlinePart {
  const root = createOutlinePart({ number: 0, text: '' }, 0, '');
  const open = [root];
  const closeTo = (level: number) => {
    while (open.length > 1 && (open.at(-1)?.level ?? 0) >= level) open.pop();
    return open.at(-1) ?? root;
  };
  const add = (part: ReturnType<typeof createOutlinePart>, isDone: boolean) => {
    const above = closeTo(part.level);
    // Everything below a finished part is dropped as well.
    if (!isDone) above.below.push(part);
    open.push(part);
  };
  const hasSigns = lines.some(({ text }) => /^\s*(?:[-*+]\s*)?[☐⬜🔲]/u.test(text));
  let isAfterBlank = true;
  for (const line of lines) {
    const { text, fenced } = line;
    const [, marks, heading = ''] = (fenced ? null : HEADING.exec(text)) ?? [];
    const [, indent = '', box = '', item = ''] = (fenced ? null : LIST_ITEM.exec(text)) ?? [];
    if (marks !== undefined) {
      const isOver = isDoneTitle(heading) || isMarkedDone(heading) || COMMENTED_ITEM.test(heading);
      add(createOutlinePart(line, marks.length, heading), isOver || isStruckThrough(heading));
    } else if (hasItemText(item)) {
      const isTicked = TICKED.test(box) || (hasSigns && TICKED.test(item));
      const part = createOutlinePart(line, ITEM + indent.replaceAll('\t', '    ').length, item);
      const isOver = isMarkedDone(item) || SIGN_AT_END.test(item.trim());
      add({ ...part, isOpen: box !== '' }, isTicked || isOver || isStruckThrough(item));
    } else if (!fenced && /:[*_]*$/.test(text) && isDoneTitle(text)) {
      add(createOutlinePart(line, DONE_LABEL, text), true);
    } else if (!fenced && BOLD_LINE.test(text) && !isStruckThrough(text)) {
      add(createOutlinePart(line, BOLD, text.replace(/:?([*_]*):?\s*$/, '$1')), false);
    } else if (fenced || !(isStruckThrough(text) || (hasSigns && TICKED.test(text.trim())))) {
      const isNew = isAfterBlank && !fenced && /^\S/.test(text);
      (isNew ? closeTo(DONE_LABEL) : open.at(-1))?.below.push(line);
    }
    isAfterBlank = text.trim() === '';
  }
  return root;
}

function createOutlinePart(
  { number, text }: Pick<FileLine, 'number' | 'text'>,
  level: number,
  words: string,
) {
  const below: (FileLine | OutlinePart)[] = [];
  const title = stripMarks(words);
  return { number, text, level, title, isOpen: false, times: readTaskTimes(title), below };
}

function hasItemText(text: string): boolean {
  return /[^\s*_-]/.test(text);
}

export function isStruckThrough(text: string): boolean {
  return STRUCK.test(text.trim().replace(/^\*\*(.*)\*\*$/, '$1'));
}

/**
 * Whether a title is one like `Completed`, `Erledigt`, `Done this week` or `Paused (until spring)`.
 */
export function isDoneTitle(title: string): boolean {
  const [lead = ''] = title.split(/[(（]/, 1);
  const words = (/\p{L}/u.test(lead) ? lead : title).match(/[\p{L}-]+/gu) ?? [];
  const isOver = (word: string) => DONE.test(word) || PUT_AWAY.test(word);
  return words.every((word) => isOver(word) || FILLER.test(word)) && words.some(isOver);
}

function isMarkedDone(text: string): boolean {
  const [, ...words] = MARK.exec(text.replace(MARKS, '').trim()) ?? [];
  return words.some((word) => word !== undefined && DONE.test(word));
}

export function isOutlinePart(one: FileLine | OutlinePart): one is OutlinePart {
  return 'below' in one;
}

export function listChildParts({ below }: OutlinePart): readonly OutlinePart[] {
  return below.filter(isOutlinePart);
}

/** Returns the lines and parts below a part, in file order, except for those in `skip`. */
export function listDescendants(
  part: OutlinePart,
  skip?: ReadonlySet<OutlinePart>,
): readonly (FileLine | OutlinePart)[] {
  return part.below.flatMap((one) => {
    if (!isOutlinePart(one)) return [one];
    return skip?.has(one) ? [] : [one, ...listDescendants(one, skip)];
  });
}

/** Removes Markdown marks, punctuation and emoji from both ends of a text. */
export function stripMarks(text: string): string {
  return text
    .replace(MARKS, '')
    .replace(/^[^\p{L}\p{N}([>@*]+/u, '')
    .replace(/^\d+[.)]\s+/, '')
    .trim();
}
