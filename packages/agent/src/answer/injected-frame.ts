/** What the prompt puts around things that people did not say; a model that repeats it must not be heard. */
const FRAMES: readonly (readonly [open: string, close: string])[] = [
  ...['message-context', 'turn-facts', 'group-context', 'overheard'].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ['[memory context]', '[/memory context]'],
];

const escaped = (text: string) => text.replace(/[[\]/]/g, '\\$&');
const LINE = '(^|\\n)[ \\t]*';
const CLOSED = FRAMES.map(
  ([open, close]) =>
    new RegExp(`${LINE}${escaped(open)}[\\s\\S]*?${escaped(close)}[ \\t]*\\n?`, 'gi'),
);
const STRAY = FRAMES.map(([, close]) => new RegExp(`${LINE}${escaped(close)}[ \\t]*\\n?`, 'gi'));
const OPEN = FRAMES.map(([open]) => new RegExp(`${LINE}${escaped(open)}`, 'i'));
const UNCLOSED = FRAMES.map(
  ([open]) => new RegExp(`${LINE}${escaped(open)}[\\s\\S]*?(?:\\n[ \\t]*\\n|$)`, 'gi'),
);
const MARKS = FRAMES.flat();

/** Without the frames that are closed. A name in the middle of a line is talk about it, and stays. */
export function withoutFrames(text: string): string {
  if (!mayHoldOne(text)) return text;
  return [...CLOSED, ...STRAY].reduce((rest, frame) => rest.replace(frame, '$1'), text);
}

/** Without what a frame has begun that never ends: up to the next empty line. */
export function withoutOpenFrames(text: string): string {
  if (!mayHoldOne(text)) return text;
  return UNCLOSED.reduce((rest, frame) => rest.replace(frame, '$1'), text);
}

/** Where a frame begins, or a line that may become one, that is not closed; or the length of the text. */
export function openFrameAt(text: string): number {
  const found = OPEN.flatMap((open) => open.exec(text)?.index ?? []);
  const line = text.lastIndexOf('\n') + 1;
  const last = text.slice(line).trimStart().toLowerCase();
  const mayBegin =
    last !== '' && MARKS.some((mark) => mark.startsWith(last) || last.trimEnd() === mark);
  return Math.min(text.length, ...found, ...(mayBegin ? [line] : []));
}

function mayHoldOne(text: string): boolean {
  return text.includes('<') || text.includes('[');
}
