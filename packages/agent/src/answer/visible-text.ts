import {
  canBecomeSilentToken,
  containsSilentToken,
  getStableLength,
  hasVisibleText,
  matchSilentToken,
  removeLeadingToken,
  removeTokenParagraphs,
  removeTrailingToken,
} from './silent-token.ts';

export interface QuotableMessages {
  /**
   * The message being answered; absent if it belongs to another chat or was not written by a
   * person.
   */
  readonly current?: string;
  readonly known: ReadonlySet<string>;
}

export type VisibleAnswer =
  | { readonly kind: 'silent'; readonly reason: string }
  | { readonly kind: 'says'; readonly text: string; readonly replyTo?: string };

/**
 * Returns what people see of an answer (G08–G10): nothing if it is the silent token, otherwise its
 * text without tokens at its edges, reply tags, repeated frames and the system mark. A token in the
 * middle of a sentence belongs to the sentence and is kept. All other text is kept character for
 * character.
 */
export function getVisibleAnswer(answer: string, quotable: QuotableMessages): VisibleAnswer {
  let text = answer;
  for (let before = ''; text !== before; ) {
    before = text;
    const started = removeUnclosedFrames(trimBeginning(text));
    const token = matchSilentToken(text) ?? matchSilentToken(started);
    if (token !== null) return { kind: 'silent', reason: `it answered ${token}` };
    const next = removeTrailingToken(started) ?? started;
    if (next !== text) text = next.trimEnd();
  }
  if (!hasVisibleText(text) && containsSilentToken(answer)) {
    return { kind: 'silent', reason: 'the answer contained only silent tokens' };
  }
  const replyTo = findQuotedMessage(answer, quotable);
  return { kind: 'says', text, ...(replyTo !== undefined && { replyTo }) };
}

/**
 * Removes everything that can be removed from a growing text regardless of the text that follows.
 * Anything that might still become a tag, token or frame is kept.
 */
function trimBeginning(text: string): string {
  for (let before = text; ; ) {
    const { text: untagged } = extractReplyTags(removeClosedFrames(before));
    const started = removeSystemMark(removeTokenParagraphs(untagged));
    const next = removeLeadingToken(started) ?? started;
    if (next === before) return next;
    // Text that has moved to the front loses its leading whitespace; the answer's own leading
    // whitespace is kept.
    before = /^\s/.test(before) ? next : next.trimStart();
  }
}

/**
 * The message that an answer asks to quote: the first of its tags that names a message in this
 * chat.
 */
function findQuotedMessage(
  answer: string,
  { current, known }: QuotableMessages,
): string | undefined {
  const idOf = (asked: RequestedQuote) => (asked.kind === 'current' ? current : asked.id);
  const { asked } = extractReplyTags(removeClosedFrames(answer));
  return asked.map(idOf).find((id) => id !== undefined && (id === current || known.has(id)));
}

const TAG = /\[\[[ \t]*reply_to(?:_current|[ \t]*:[ \t]*([^[\]<>\n]{1,200}?))[ \t]*\]\][ \t]*/gi;

/**
 * The maximum length of a tag, in characters. An unclosed bracket, such as one in a list of lists,
 * is held back only up to this length.
 */
const MAX_TAG = 260;

type RequestedQuote =
  | { readonly kind: 'current' }
  | { readonly kind: 'message'; readonly id: string };

interface TextWithoutTags {
  readonly text: string;
  readonly asked: readonly RequestedQuote[];
}

/**
 * Removes all tags. Only tags at the beginning request a quotation: streamed text is already shown
 * below its message when a later tag arrives.
 */
function extractReplyTags(text: string): TextWithoutTags {
  if (!text.includes('[[')) return { text, asked: [] };
  const tags = [...text.matchAll(TAG)];
  const first = tags.filter(({ index }) => !hasVisibleText(text.slice(0, index).replace(TAG, '')));
  return {
    text: text.replace(TAG, ''),
    asked: first.map(([, id]) =>
      id === undefined ? { kind: 'current' } : { kind: 'message', id },
    ),
  };
}

/**
 * Returns the position of text that may become a tag, or the length of the text if there is none.
 */
function findOpenTag(text: string): number {
  for (let at = text.indexOf('[['); at !== -1; at = text.indexOf('[[', at + 1)) {
    const rest = text.slice(at, at + MAX_TAG);
    if (rest.length < MAX_TAG && !/\]\]|\n/.test(rest)) return at;
  }
  return text.endsWith('[') ? text.length - 1 : text.length;
}

/**
 * The frames that the prompt puts around text that was not written by people. Frames that a model
 * repeats are not shown.
 */
const FRAMES: readonly (readonly [open: string, close: string])[] = [
  ...[
    'message-context',
    'turn-facts',
    'group-context',
    'own-messages',
    'overheard',
    'client-instructions',
  ].map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[memory context]', '[/memory context]'],
];

const LINE = '(^|\\n)[ \\t]*';
const CLOSED = FRAMES.map(
  ([open, close]) =>
    new RegExp(`${LINE}${RegExp.escape(open)}[\\s\\S]*?${RegExp.escape(close)}[ \\t]*\\n?`, 'gi'),
);
const STRAY = FRAMES.map(
  ([, close]) => new RegExp(`${LINE}${RegExp.escape(close)}[ \\t]*\\n?`, 'gi'),
);
const OPEN = FRAMES.map(([open]) => new RegExp(`${LINE}${RegExp.escape(open)}`, 'i'));
const UNCLOSED = FRAMES.map(
  ([open]) => new RegExp(`${LINE}${RegExp.escape(open)}[\\s\\S]*?(?:\\n[ \\t]*\\n|$)`, 'gi'),
);
const MARKS = FRAMES.flat();

/**
 * Removes closed frames. A frame name in the middle of a line is only mentioned, so the line is
 * kept.
 */
function removeClosedFrames(text: string): string {
  if (!mayContainFrame(text)) return text;
  return [...CLOSED, ...STRAY].reduce((rest, frame) => rest.replace(frame, '$1'), text);
}

/** Removes unclosed frames, each up to the next empty line. */
function removeUnclosedFrames(text: string): string {
  if (!mayContainFrame(text)) return text;
  return UNCLOSED.reduce((rest, frame) => rest.replace(frame, '$1'), text);
}

/**
 * Returns the position of an unclosed frame or of a line that may become one, or the length of the
 * text if there is none.
 */
function findUnclosedFrame(text: string): number {
  if (!mayContainFrame(text)) return text.length;
  const found = OPEN.flatMap((open) => open.exec(text)?.index ?? []);
  const line = text.lastIndexOf('\n') + 1;
  const last = text.slice(line).trimStart().toLowerCase();
  const mayBegin =
    last !== '' && MARKS.some((mark) => mark.startsWith(last) || last.trimEnd() === mark);
  return Math.min(text.length, ...found, ...(mayBegin ? [line] : []));
}

function mayContainFrame(text: string): boolean {
  return text.includes('<') || text.includes('[');
}

const FIRST_MARKS = /^([\s\p{Cf}*_~>#(["'-]*)(?:⚙\uFE0F?[\s\p{Cf}]*)+/u;

/**
 * Removes the system mark from the beginning of an answer, because models must not use it (G08).
 */
function removeSystemMark(text: string): string {
  return text.includes('⚙') ? text.replace(FIRST_MARKS, '$1') : text;
}

/** Marks a text as a system message, with exactly one mark (G08). */
export function markSystemMessage(text: string): string {
  return `⚙️ ${removeSystemMark(text)}`;
}

/**
 * The growth factor after which a part with no visible text is processed again. Processing the part
 * after every word would take quadratic time.
 */
const READ_AGAIN_AFTER = 1.02;

/**
 * Streams the visible text of a growing answer. Text that may still become a token, a tag or a
 * frame is held back, so that shown text never disappears again (F12). Each chunk names the message
 * that is quoted.
 */
export function createAnswerStream(
  quotable: QuotableMessages,
  pass: (piece: { readonly text: string; readonly replyTo?: string }) => void,
) {
  let whole = '';
  // The tail of the answer that has not been shown completely. Keeping only the tail avoids
  // processing a long answer again at every word.
  let part = '';
  let [shownOfPart, shown] = [0, ''];
  let readNextAt = 0;
  let replyTo: string | undefined;
  const show = (text: string): void => {
    if (text === '') return;
    if (shown === '') replyTo = findQuotedMessage(whole, quotable);
    shown += text;
    pass({ text, ...(replyTo !== undefined && { replyTo }) });
  };
  return {
    push(text: string): void {
      whole += text;
      part += text;
      if (part.length < readNextAt) return;
      readNextAt = part.length * READ_AGAIN_AFTER;
      const clean = trimBeginning(part);
      const settled = findStableEnd(clean);
      if (settled <= shownOfPart) return;
      if (shown === '' && canBecomeSilentToken(clean.slice(0, settled))) return;
      show(clean.slice(shownOfPart, settled));
      shownOfPart = settled;
      const last = [...clean.slice(0, settled)].at(-1) ?? '';
      const rest = last + clean.slice(settled);
      // Keeps the last shown character, because it affects how the rest is read.
      if (!hasVisibleText(last) || !part.endsWith(rest)) return;
      [part, shownOfPart] = [rest, last.length];
      readNextAt = 0;
    },
    /** All text passed on so far. */
    shown: () => shown,
    /** Passes on the text that was held back. */
    end(): void {
      const seen = getVisibleAnswer(whole, quotable);
      if (seen.kind === 'says' && seen.text.startsWith(shown)) show(seen.text.slice(shown.length));
    },
  };
}

function findStableEnd(text: string): number {
  return getStableLength(text.slice(0, Math.min(findUnclosedFrame(text), findOpenTag(text))));
}
