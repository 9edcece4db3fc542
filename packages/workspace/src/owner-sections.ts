import { AudienceFrontMatter } from './audience.ts';
import { readFrontMatter } from './front-matter.ts';
import { getReusableFrontMatter } from './write-rules.ts';

/** A text split into a part for everyone and a part about the owner, which may be empty. */
export interface AudienceSplit {
  readonly everyone: string;
  readonly owners: string;
}

/** Words for the person who owns a workspace. */
const PERSON = `(?:owner|user|human|principal|boss|creator|maker|operator)`;
const WHOSE = `(?:(?:the|my|your|our|its) )?`;

/** Sections about the owner, matched by their entire heading: English, German and Chinese. */
const HEADINGS: readonly RegExp[] = [
  new RegExp(
    `^(?:(?:about|who is|notes? (?:on|about|for)|facts (?:on|about)|relationship with) )?${WHOSE}${PERSON}(?:['’]s)?(?: (?:profile|preferences|details|info|information|notes|facts|data|contacts?|schedule|family|context|background))?$`,
    'iu',
  ),
  /^(?:about (?:me|us)|(?:personal|private|household)(?: (?:facts|details|info|information|notes|data))?|contacts?|family|household|addresses|ssh|hosts|(?:home )?network|local services|devices|accounts)$/iu,
  /^(?:über )?(?:mich|(?:den|meinen|deinen|mein|dein) )?(?:besitzer|eigentümer|nutzer|benutzer|menschen?|mich)$/iu,
  /^(?:kontakte|familie|haushalt|adressen|geräte|persönliches|privates)$/iu,
  /^(?:关于)?(?:我的?|你的?)?(?:用户|主人|人类|使用者)(?:画像|信息|偏好|资料|档案)?$|^(?:联系人|家庭|家人|个人信息|隐私)$/u,
];

/** Lines that describe the owner, in any section. */
const LINES: readonly RegExp[] = [
  // Matches `- Name of owner: …` and `**Human’s city:** …`, for example.
  new RegExp(
    String.raw`^[\s>*_+-]*(?:[a-z]+ of )?${WHOSE}${PERSON}(?:['’]s)?(?: [a-z-]+)?[*_]*\s*[:：]`,
    'iu',
  ),
  /^[\s>*_+-]*(?:e-?mail|phone|telephone|mobile|(?:home )?address|spouse|wife|husband|partner|children|kids|family|doctor|employer|iban|passport|主人|用户|besitzer|eigentümer|nutzer)[*_]*\s*[:：]\s*[*_]*\s*\S/iu,
  new RegExp(
    String.raw`\b(?:your|my|the) ${PERSON} (?:lives|works|was born|likes|loves|hates|prefers|is (?:called|named|married|allergic)|goes by|speaks|owns|drives|studies)\b`,
    'iu',
  ),
  new RegExp(
    String.raw`\b${PERSON}['’]s (?:name|wife|husband|spouse|partner|kids?|children|son|daughter|birthday|e-?mail|phone|address|doctor|employer|flat|house|home|car|time ?zone)\b[^.!?\n]{0,20}\b(?:is|are)\b`,
    'iu',
  ),
  /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b\w+@(?:\d{1,3}\.){3}\d{1,3}\b/u,
  /(?<![\w.])(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3}(?![\w.])|\blocalhost:\d+|\bssh \S+/iu,
  /(?<![\w.])\+\d[\d ()./-]{6,}\d(?!\w)/u,
];

/** Labels in USER.md that are followed by a name. */
const NAME_LABEL =
  /^(?:full |first |last |nick|user|real )?name$|call (?:them|me)|address|^称呼|姓名|名字/iu;
const LABELLED = /^[ \t>*_+-]*([^:：*_\n]{1,40})[*_]*[ \t]*[:：][*_]*[^\S\n]*(\S.*)$/gmu;

/**
 * Lists the values in USER.md that identify the owner in other files: names, and values with a
 * digit, `@` or `/`, such as a time zone or an address.
 */
export function listOwnerIdentifiers(user: string): readonly string[] {
  const marks = Array.from(user.matchAll(LABELLED), ([, label = '', raw = '']) => {
    const value = raw
      .replace(/(?<!\s)\s*[（(].*$/u, '')
      .replace(/(?<![*_`])[*_`]+$/, '')
      .trim();
    if (NAME_LABEL.test(label.trim())) return findNames(value);
    return /[\d@/]/.test(value) && value.length >= 5 && value.length <= 80 ? [value] : [];
  });
  return [...new Set(marks.flat())];
}

function findNames(value: string): readonly string[] {
  // Other people capitalize a name that the owner writes in lower case.
  if (/^\p{Ll}{3,}$/u.test(value) && isPersonName(capitalize(value)))
    return [value, capitalize(value)];
  return [value, ...value.split(/[\s,，;/]+/u)].filter(isPersonName);
}

function capitalize(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

const NO_NAME =
  /^(?:they|them|their|she|hers?|him|his|you|sir|madam|boss|mrs?|the|owner|user|human|friend)$/iu;

function isPersonName(word: string): boolean {
  if (NO_NAME.test(word)) return false;
  return /^\p{Script=Han}{2,}$/u.test(word) || /^\p{Lu}[\p{L}\p{M}'’ .-]{2,}$/u.test(word);
}

/**
 * Removes text about the owner from text that others read: sections by their heading, and list
 * items, paragraphs and code by their content or by a mark from `listOwnerIdentifiers`. When in doubt,
 * text is removed, because the owner reads both parts.
 */
export function splitOwnerText(text: string, marks: readonly string[]): AudienceSplit {
  const isMarked = createIdentifierFinder(marks);
  const isOwners = (line: string) => isMarked(line) || LINES.some((pattern) => pattern.test(line));
  const everyone: string[] = [];
  const owners: string[] = [];
  /** The depth of the heading whose section is private to the owner; 0 outside such a section. */
  let section = 0;
  for (const [nth, block] of splitIntoBlocks(text).entries()) {
    const heading = parseHeading(block);
    if (heading !== null && heading.depth <= section) section = 0;
    const isNamed = heading !== null && isMarked(heading.title);
    const isTitle = nth === 0 && heading?.depth === 1;
    if (
      heading !== null &&
      section === 0 &&
      (isOwnerHeading(heading.title) || (isNamed && !isTitle))
    ) {
      section = heading.depth;
    }
    const isTaken =
      section > 0 || isNamed || (heading === null && block.split('\n').some(isOwners));
    (isTaken ? owners : everyone).push(block);
    // The blank line below the removed text still separates the remaining text.
    const last = everyone.at(-1);
    if (isTaken && block.endsWith('\n') && last && !last.endsWith('\n')) everyone.push('');
  }
  return { everyone: joinBlocks(everyone), owners: joinBlocks(owners) };
}

/**
 * Splits an entire file; its front matter stays with the part for everyone. A file that declares
 * its audience is not changed.
 */
export function splitOwnerFile(file: string, marks: readonly string[]): AudienceSplit {
  const front = readFrontMatter(file, AudienceFrontMatter);
  const isDecided = front.kind === 'refused' || (front.kind === 'parsed' && front.data.audience);
  const parts = isDecided ? { everyone: file, owners: '' } : splitOwnerText(front.body, marks);
  if (parts.owners === '') return { everyone: file, owners: '' };
  return { everyone: `${getReusableFrontMatter(front)}${parts.everyone}\n`, owners: parts.owners };
}

/**
 * Creates a function that finds marks as whole words, except in Chinese, which does not separate
 * words with spaces.
 */
function createIdentifierFinder(marks: readonly string[]): (line: string) => boolean {
  const patterns = marks.map((mark) => {
    const text = RegExp.escape(mark);
    const isHan = /\p{Script=Han}/u.test(mark);
    return new RegExp(isHan ? text : `(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`, 'u');
  });
  return (line) => patterns.some((pattern) => pattern.test(line));
}

/** A bold line also counts as a heading, below all other headings. */
function parseHeading(block: string): { readonly depth: number; readonly title: string } | null {
  const [first = ''] = block.split('\n', 1);
  const [, marks, title = '', bold] =
    /^(#{1,6})\s+(.*)$|^\*\*([^*]+)\*\*[:：]?\s*$/.exec(first)?.map((part) => part ?? '') ?? [];
  if (marks === undefined) return null;
  return marks === '' ? { depth: 7, title: bold ?? '' } : { depth: marks.length, title };
}

function isOwnerHeading(title: string): boolean {
  const words = title
    .replace(/[^\p{L}\p{N}'’ -]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return HEADINGS.some((pattern) => pattern.test(words));
}

/**
 * Splits a text into headings, list items with everything below them, labeled lines, paragraphs and
 * fenced code.
 */
function splitIntoBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let fence: string | null = null;
  for (const line of text.split('\n')) {
    const last = blocks.at(-1);
    if (last === undefined || (fence === null && isBlockStart(line, last))) blocks.push(line);
    else blocks[blocks.length - 1] = `${last}\n${line}`;
    const [mark] = /^\s*(?:`{3}|~{3})/.exec(line) ?? [];
    if (mark !== undefined)
      fence = fence === null ? mark.trim() : fence === mark.trim() ? null : fence;
  }
  return blocks;
}

const ITEM = /^ ?(?:[-*+]|\d+[.)])\s/;
const LABEL = /^[*_]*[\p{L}\p{N}][\p{L}\p{N} '’_*-]{0,40}[:：][*_]*(?:\s|$)/u;

const SENTENCE_END = /[.!?。！？]["'”’)*_\]]*\s*$/u;
const GOES_ON =
  /^\s*(?:(?:and|also|but) )?(?:s?he|they|her|his|him|their|them|er|sie|ihr|sein|他|她|它)/iu;

function isBlockStart(line: string, last: string): boolean {
  if (line.trim() === '') return false;
  if (ITEM.test(line) || LABEL.test(line) || parseHeading(line) !== null) return true;
  if (/^\s{2,}/.test(line) && ITEM.test(last)) return false;
  if (last.endsWith('\n') || parseHeading(last) !== null) return true;
  // Rules are often written one sentence per line; a following line about the same person belongs
  // to the same rule.
  return SENTENCE_END.test(last) && !GOES_ON.test(line);
}

function joinBlocks(blocks: readonly string[]): string {
  return blocks
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
