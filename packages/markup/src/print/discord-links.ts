import type { RunMark, TextRun } from '../document.ts';
import { containsUrl, findCommonMarks, findLink } from '../transform/runs.ts';
import { percentEncode } from './addresses.ts';
import { isCodeRun, moveSpaceOutside } from './outer-space.ts';

/**
 * Discord's marks for each format. Italic text never uses underscores, which work only at word
 * boundaries.
 */
export const SIGNS: Readonly<Record<Exclude<RunMark['type'], 'link'>, string>> = {
  code: '`',
  bold: '**',
  italic: '*',
  underline: '__',
  strike: '~~',
  spoiler: '||',
  // Discord does not render formulas, so its text never has this mark.
  math: '',
};

/**
 * Rewrites runs so that Discord can show them: a URL that is its own text has a link without `url`,
 * whitespace is outside the marks that begin or end next to it, and no mark surrounds text that
 * would end the mark too early.
 */
export function toDiscordRuns(runs: readonly TextRun[]): TextRun[] {
  const shown: TextRun[] = [];
  let at = 0;
  while (at < runs.length) {
    const link = findLink(runs[at]);
    let end = at + 1;
    while (link !== undefined && findLink(runs[end]) === link) end += 1;
    const own = runs.slice(at, end);
    shown.push(...(link === undefined ? toPlainRuns(own) : toLinkRuns(link, own)));
    at = end;
  }
  return moveSpaceOutside(shown);
}

/**
 * Backslashes have no effect in code or a URL, so their text must not end the marks around them.
 */
function preserveOuterMarks(text: string, marks: readonly RunMark[]): readonly RunMark[] {
  return marks.filter(({ type }) => !isMarkEnd(text, type));
}

function isMarkEnd(text: string, type: RunMark['type']): boolean {
  if (type === 'code' || type === 'link') return false;
  const sign = SIGNS[type];
  const knowsBackslash = type !== 'strike' && type !== 'spoiler';
  return (
    text.includes(sign) || text.endsWith(sign.charAt(0)) || (knowsBackslash && text.endsWith('\\'))
  );
}

/**
 * A link as Discord shows it: the URL itself, or text that links to it; when the text or the URL
 * does not allow a link, the text with the URL next to it.
 */
function toLinkRuns({ url }: { readonly url: string }, linked: readonly TextRun[]): TextRun[] {
  const runs = linked.map(({ text, marks }) => ({
    text,
    marks: marks.filter(({ type }) => type !== 'link'),
  }));
  const text = joinRunTexts(runs);
  const outer = runs
    .map(({ marks }): readonly RunMark[] => marks.filter(({ type }) => type !== 'code'))
    .reduce(findCommonMarks);
  if (text === url) return [createUrlRun(url, outer)];
  const target = toMaskedLinkUrl(url);
  if (isRecognizedUrl(target) && canBeLinkText(runs)) {
    const link: RunMark = { type: 'link', url: target };
    const keepsMarks = hasSafeMarks(runs, outer.length);
    return runs.map((run) => {
      const inner = run.marks.slice(outer.length);
      const kept = keepsMarks ? inner : inner.filter(({ type }) => type === 'code');
      return { text: run.text.replaceAll(/\s/g, ' '), marks: [...outer, link, ...kept] };
    });
  }
  const shown = toPlainRuns(runs);
  if (containsUrl(text, url)) return shown;
  return [...shown, { text: ' (', marks: [] }, createUrlRun(url, []), { text: ')', marks: [] }];
}

function joinRunTexts(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join('');
}

function createUrlRun(url: string, marks: readonly RunMark[]): TextRun {
  // Discord would also find an earlier end of the link in this text.
  if (!isRecognizedUrl(url) || url.includes('](')) return { text: url, marks };
  return { text: url, marks: [...preserveOuterMarks(url, marks), { type: 'link', url: '' }] };
}

/** Mark characters in a link's text cannot be separated, and backslashes do not work in it. */
function hasSafeMarks(runs: readonly TextRun[], outer: number): boolean {
  const text = joinRunTexts(runs);
  const inner = runs.map(({ marks }) => marks.slice(outer).filter(({ type }) => type !== 'code'));
  const touches = inner.some((marks, index) => {
    const before = inner[index - 1] ?? [];
    const common = findCommonMarks(before, marks).length;
    return common < before.length && common < marks.length;
  });
  return !touches && !/[_~|]/.test(text);
}

/** Discord does not create a link from text that contains a URL, including its own invites. */
const ADDRESS_IN_TEXT = /(?:https?|steam):\/\/|discord(?:app)?\.(?:com|gg|gift|new|me|store)\//i;
/**
 * Text that cannot be in a link: within links Discord ignores backslashes, removes zero-width
 * characters, and does not create a link for text that contains emoji, emoji names or mentions. An
 * underscore in a word neither ends italic text nor allows it to begin before the word.
 */
const UNFIT =
  /[\[\]`\\*]|_(?![0-9A-Za-z])|<(?=[@#:\/]|[^\s>]*[:@])|~~+|\|\|+|:[\w+\-]+:|@(?=everyone|here)|\p{RGI_Emoji}|[\p{Cf}\u034f\u17b4\u17b5\u1160\u3164\uffa0\ufe0e\ufe0f]/v;
/** Discord looks for links, mentions and names of emoji even in the code in a link. */
const UNFIT_CODE = /[`*~|<>@#[\]\\:]|_(?![0-9A-Za-z])/;

/** Whether these runs can be the text of a link. */
function canBeLinkText(runs: readonly TextRun[]): boolean {
  const text = joinRunTexts(runs);
  return (
    // Excludes a lone bracket that remains of a URL after a cut.
    /[\p{L}\p{N}]/u.test(text) &&
    !ADDRESS_IN_TEXT.test(text) &&
    runs.every((run) => !(isCodeRun(run) ? UNFIT_CODE : UNFIT).test(run.text))
  );
}

const BARE_ADDRESS = /https?:\/\/[^\s<]+[^<.,:;"'\]\s]/g;

/** Code and text, with the URLs in it that Discord links; backslashes do not work in those URLs. */
function toPlainRuns(runs: readonly TextRun[]): TextRun[] {
  return runs.flatMap((run) => {
    const { text, marks } = run;
    if (isCodeRun(run)) return { text, marks: preserveOuterMarks(`\`${text}\``, marks) };
    return text.includes('://') ? markBareUrls(run) : run;
  });
}

function markBareUrls({ text, marks }: TextRun): TextRun[] {
  const runs: TextRun[] = [];
  let from = 0;
  for (const { index, 0: found } of text.matchAll(BARE_ADDRESS)) {
    const url = trimUnpairedParenthesis(found);
    runs.push({ text: text.slice(from, index), marks }, createUrlRun(url, marks));
    from = index + url.length;
  }
  return [...runs, { text: text.slice(from), marks }].filter((run) => run.text !== '');
}

/** Whether Discord finds exactly this URL in this text. */
export function isFoundInText(url: string, text: string): boolean {
  const [found = ''] = text.match(BARE_ADDRESS) ?? [];
  return trimUnpairedParenthesis(found) === url;
}

/** A closing parenthesis at the end belongs to a URL only if an opening one does. */
function trimUnpairedParenthesis(found: string): string {
  let from = 0;
  for (let last = found.length - 1; found[last] === ')'; last -= 1) {
    const opening = found.indexOf('(', from);
    if (opening < 0) return found.slice(0, -1);
    from = opening + 1;
  }
  return found;
}

/** Whether Discord shows a link for this URL. */
function isRecognizedUrl(url: string): boolean {
  if (/[\p{Cf}\p{Z}\p{Cc}<>]/u.test(url) || !URL.canParse(url)) return false;
  const [scheme = '', empty, host = ''] = url.split('/');
  return /^https?:$/.test(scheme) && empty === '' && host !== '' && !host.includes('%');
}

/**
 * The URL with encoded characters where a character would end the URL, or a mark around it, too
 * early.
 */
function toMaskedLinkUrl(url: string): string {
  // Browsers treat a backslash in a URL as a slash. Discord's servers also look for mentions in
  // URLs.
  const encoded = percentEncode(
    url.replaceAll('\\', '/'),
    /[\p{Cf}\p{Z}\p{Cc}<>"'*`|]|(?<=_)_|(?<=~)~|\](?=\()|@(?=everyone|here)/gu,
  );
  // Discord accepts a pair of parentheses as part of a URL, but no nested pairs.
  const hasPairs = /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(encoded);
  return hasPairs ? encoded : percentEncode(encoded, /[()]/g);
}
