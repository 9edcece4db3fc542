import {
  holdsToken,
  isVisible,
  mayBecomeWhole,
  settledLength,
  wholeToken,
  withoutFirstToken,
  withoutLastToken,
  withoutTokenParagraphs,
} from './silent-token.ts';

export interface QuotableMessages {
  /** The message being answered; absent if it is of another chat, or not written by a person. */
  readonly current?: string;
  readonly known: ReadonlySet<string>;
}

export type VisibleAnswer =
  | { readonly kind: 'silent'; readonly reason: string }
  | { readonly kind: 'says'; readonly text: string; readonly replyTo?: string };

/**
 * The visible text of an answer (G08–G10): nothing where it is the silent token; else its text, without tokens at
 * their edges, reply tags, repeated frames and the system's mark. A token in the middle of a sentence is part of the
 * subject, and all other text stays as it is, character for character.
 */
export function visibleText(answer: string, quotable: QuotableMessages): VisibleAnswer {
  let text = answer;
  for (let before = ''; text !== before; ) {
    before = text;
    const started = withoutOpenFrames(withoutBeginning(text));
    const token = wholeToken(text) ?? wholeToken(started);
    if (token !== null) return { kind: 'silent', reason: `it answered ${token}` };
    const next = withoutLastToken(started) ?? started;
    if (next !== text) text = next.trimEnd();
  }
  if (!isVisible(text) && holdsToken(answer)) {
    return { kind: 'silent', reason: 'it answered nothing but silent tokens' };
  }
  const replyTo = quotedBy(answer, quotable);
  return { kind: 'says', text, ...(replyTo !== undefined && { replyTo }) };
}

/**
 * The part of a growing text that is final: whatever follows, this much of it
 * is out. What may still become something is left in.
 */
function withoutBeginning(text: string): string {
  for (let before = text; ; ) {
    const { text: untagged } = takeReplyTags(withoutFrames(before));
    const started = withoutMark(withoutTokenParagraphs(untagged));
    const next = withoutFirstToken(started) ?? started;
    if (next === before) return next;
    // The new beginning was behind something; the old one is the answer's own.
    before = /^\s/.test(before) ? next : next.trimStart();
  }
}

/** The message that an answer asks to be shown with: the first of its tags whose message is of this chat. */
function quotedBy(answer: string, { current, known }: QuotableMessages): string | undefined {
  const idOf = (asked: AskedQuote) => (asked.kind === 'current' ? current : asked.id);
  const { asked } = takeReplyTags(withoutFrames(answer));
  return asked.map(idOf).find((id) => id !== undefined && (id === current || known.has(id)));
}

const TAG = /\[\[[ \t]*reply_to(?:_current|[ \t]*:[ \t]*([^[\]<>\n]{1,200}?))[ \t]*\]\][ \t]*/gi;

/** A tag is over by then, so that a list of lists is not held back for long. In characters. */
const MAX_TAG = 260;

type AskedQuote = { readonly kind: 'current' } | { readonly kind: 'message'; readonly id: string };

interface WithoutTags {
  readonly text: string;
  readonly asked: readonly AskedQuote[];
}

/**
 * Takes all tags out. Only those at the beginning ask for something: the streamed text is below its
 * message already when a later one comes.
 */
function takeReplyTags(text: string): WithoutTags {
  if (!text.includes('[[')) return { text, asked: [] };
  const tags = [...text.matchAll(TAG)];
  const first = tags.filter(({ index }) => !isVisible(text.slice(0, index).replace(TAG, '')));
  return {
    text: text.replace(TAG, ''),
    asked: first.map(([, id]) =>
      id === undefined ? { kind: 'current' } : { kind: 'message', id },
    ),
  };
}

/** The position of something that may become a tag, or the length of the text. */
function openTagAt(text: string): number {
  for (let at = text.indexOf('[['); at !== -1; at = text.indexOf('[[', at + 1)) {
    const rest = text.slice(at, at + MAX_TAG);
    if (rest.length < MAX_TAG && !/\]\]|\n/.test(rest)) return at;
  }
  return text.endsWith('[') ? text.length - 1 : text.length;
}

/** The frames that the prompt puts around text that people did not write; a frame that a model repeats is not shown. */
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

/** Without the frames that are closed. A name in the middle of a line is talk about it, and stays. */
function withoutFrames(text: string): string {
  if (!mayHoldFrame(text)) return text;
  return [...CLOSED, ...STRAY].reduce((rest, frame) => rest.replace(frame, '$1'), text);
}

/** Without what a frame has started that never ends: up to the next empty line. */
function withoutOpenFrames(text: string): string {
  if (!mayHoldFrame(text)) return text;
  return UNCLOSED.reduce((rest, frame) => rest.replace(frame, '$1'), text);
}

/** The position of an unclosed frame, or of a line that may become one; or the length of the text. */
function openFrameAt(text: string): number {
  if (!mayHoldFrame(text)) return text.length;
  const found = OPEN.flatMap((open) => open.exec(text)?.index ?? []);
  const line = text.lastIndexOf('\n') + 1;
  const last = text.slice(line).trimStart().toLowerCase();
  const mayBegin =
    last !== '' && MARKS.some((mark) => mark.startsWith(last) || last.trimEnd() === mark);
  return Math.min(text.length, ...found, ...(mayBegin ? [line] : []));
}

function mayHoldFrame(text: string): boolean {
  return text.includes('<') || text.includes('[');
}

const FIRST_MARKS = /^([\s\p{Cf}*_~>#(["'-]*)(?:⚙\uFE0F?[\s\p{Cf}]*)+/u;

/** Removes the mark of the system from the beginning of an answer: it is not the model's (G08). */
function withoutMark(text: string): string {
  return text.includes('⚙') ? text.replace(FIRST_MARKS, '$1') : text;
}

/** A message of the system: it has the mark exactly once (G08). */
export function markSystemMessage(text: string): string {
  return `⚙️ ${withoutMark(text)}`;
}

/** A part of an answer that shows nothing is read again when it has grown by a fiftieth. */
const READ_AGAIN_AFTER = 1.02;

/**
 * Passes on what people see of a growing answer, and holds back whatever may still become a token, a tag
 * or a frame: it must not appear and vanish again (F12). Every piece says what is quoted.
 */
export function answerStream(
  quotable: QuotableMessages,
  pass: (piece: { readonly text: string; readonly replyTo?: string }) => void,
) {
  let whole = '';
  // What earlier pieces have shown is left behind, or a long answer would be read again with each word.
  let part = '';
  let [shownOfPart, shown] = [0, ''];
  // Reading a long part that shows nothing with each word would take time with the square of its length.
  let readNextAt = 0;
  let replyTo: string | undefined;
  const show = (text: string): void => {
    if (text === '') return;
    if (shown === '') replyTo = quotedBy(whole, quotable);
    shown += text;
    pass({ text, ...(replyTo !== undefined && { replyTo }) });
  };
  return {
    push(text: string): void {
      whole += text;
      part += text;
      if (part.length < readNextAt) return;
      readNextAt = part.length * READ_AGAIN_AFTER;
      const clean = withoutBeginning(part);
      const settled = settledIn(clean);
      if (settled <= shownOfPart) return;
      if (shown === '' && mayBecomeWhole(clean.slice(0, settled))) return;
      show(clean.slice(shownOfPart, settled));
      shownOfPart = settled;
      const last = [...clean.slice(0, settled)].at(-1) ?? '';
      const rest = last + clean.slice(settled);
      // The last shown word goes along, since it precedes the rest.
      if (!isVisible(last) || !part.endsWith(rest)) return;
      [part, shownOfPart] = [rest, last.length];
      readNextAt = 0;
    },
    /** All that was passed on. */
    shown: () => shown,
    /** Passes on what was held back. */
    end(): void {
      const seen = visibleText(whole, quotable);
      if (seen.kind === 'says' && seen.text.startsWith(shown)) show(seen.text.slice(shown.length));
    },
  };
}

function settledIn(text: string): number {
  return settledLength(text.slice(0, Math.min(openFrameAt(text), openTagAt(text))));
}
