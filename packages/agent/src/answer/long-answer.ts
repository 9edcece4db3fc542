import type { ReplyRoute } from '@parley/core';
import { formatCount } from '@parley/core';
import type { ExceededAnswerLimit } from '@parley/models';
import type { NewPart, PartWithBytes } from '@parley/store';
import { createFilePart, renderParts } from '../post-message.ts';

/**
 * The default maximum number of messages per answer in a chat: enough for a long answer without
 * endless scrolling.
 */
export const DEFAULT_ANSWER_MESSAGES = 20;

/** The number of text messages that precede the file when an answer is sent as a file. */
const SHOWN_BESIDE_FILE = 1;

/** The factor by which each attempt shortens a text that did not fit into its messages. */
const SHRINK = 0.8;

/**
 * Renders an answer into parts. If an answer needs more than `most` messages, its beginning is sent
 * as text and the whole answer as a file. If no file can be sent, the answer is truncated, with a
 * note that states its full length.
 */
export async function renderAnswerParts(
  markdown: string,
  route: ReplyRoute,
  most: number,
): Promise<readonly PartWithBytes[]> {
  const parts = await renderParts(markdown, route);
  if (parts.length <= most) return parts;
  const bytes = new TextEncoder().encode(markdown);
  const mayBeFile = bytes.byteLength <= (route.maxFileBytes ?? 0);
  const shown = mayBeFile ? SHOWN_BESIDE_FILE : most - 1;
  const beginning = await renderAnswerBeginning(markdown, route, { shown, of: parts.length });
  const whole = formatCount(markdown.length);
  if (!mayBeFile) {
    const note = `*[Cut here: these are the first ${formatCount(beginning.length)} of ${whole} characters. Ask me to go on, or for a shorter answer.]*`;
    return [...beginning.parts, ...(await renderParts(note, route))];
  }
  const note = `*[Cut here: the whole answer, ${whole} characters, is in this file.]*`;
  const [caption] = await renderParts(note, route);
  const file = { kind: 'document', name: 'answer.md', mimeType: 'text/markdown', bytes } as const;
  return [...beginning.parts, createFilePart(file, caption, route)];
}

/**
 * Returns as much of an answer as fits into `shown` messages, cut at the end of a line if possible.
 */
async function renderAnswerBeginning(
  markdown: string,
  route: ReplyRoute,
  { shown, of }: { readonly shown: number; readonly of: number },
): Promise<{ readonly parts: readonly NewPart[]; readonly length: number }> {
  for (let room = (markdown.length * shown) / of; room >= 1; room *= SHRINK) {
    const head = markdown.slice(0, Math.floor(room)).toWellFormed();
    const lineEnd = head.lastIndexOf('\n');
    const text = lineEnd > head.length / 2 ? head.slice(0, lineEnd) : head;
    const parts = await renderParts(closeCodeFence(text), route);
    if (parts.length <= shown) return { parts, length: text.length };
  }
  return { parts: [], length: 0 };
}

/** How an answer ended: at a limit from the settings, or with the provider's finish reason. */
interface AnswerFinish {
  readonly cut?: ExceededAnswerLimit | undefined;
  readonly finishReason: string;
}

/** The note appended to a text that was cut off; empty if the model ended the text itself. */
export function createTruncationNotice(text: string, end: AnswerFinish): string {
  const note = describeTruncation(end);
  if (note === null) return '';
  const fence = findUnclosedCodeFence(text);
  return `${fence === null ? '' : `\n${fence}`}\n\n[${note}]`;
}

function describeTruncation({ cut, finishReason }: AnswerFinish): string | null {
  if (cut?.what === 'characters') {
    return `Cut here: one answer has at most ${formatCount(cut.most)} characters. Ask me to go on.`;
  }
  if (finishReason === 'length') {
    return 'Cut here: the model has reached the longest answer that its provider allows. Ask me to go on.';
  }
  if (finishReason === 'error') {
    return 'Cut here: the model’s provider ended the answer early. Ask me to go on.';
  }
  return finishReason === 'content-filter'
    ? 'The answer ends here because of the content filter of the model’s provider.'
    : null;
}

/**
 * Closes an unfinished code block, so that a line appended to the text is not part of the block.
 */
export function closeCodeFence(markdown: string): string {
  const fence = findUnclosedCodeFence(markdown);
  return fence === null ? markdown : `${markdown}\n${fence}`;
}

/** The opening fence of a code block that is not closed. */
function findUnclosedCodeFence(markdown: string): string | null {
  let open: string | null = null;
  for (const [, fence = ''] of markdown.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (open === null) open = fence;
    else if (fence.startsWith(open)) open = null;
  }
  return open;
}
