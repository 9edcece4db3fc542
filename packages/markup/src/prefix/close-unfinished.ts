import { closesFence, openFence } from '../parse/fence.ts';
import { markerLength } from '../parse/risk.ts';
import { closeMarks } from './close-marks.ts';

/**
 * Completes Markdown that was cut anywhere, as its writer would most likely have: open marks are
 * closed, half-written ones and half-written links leave only their text. Open code blocks need
 * nothing, since Markdown ends them with the text.
 */
export function closeUnfinished(markdown: string): string {
  const lines = markdown.split('\n');
  const last = lines.at(-1) ?? '';
  const { fence, paragraph } = lastBlock(lines);
  if (fence !== undefined) {
    const startsClosing = isOnly(last.trim(), fence.character);
    return startsClosing ? lines.slice(0, -1).join('\n') : markdown;
  }
  const settled = isHalfMarker(last) ? lines.slice(0, -1) : lines;
  const closed = closeMarks(settled.slice(paragraph).join('\n'));
  return [...settled.slice(0, paragraph), closed].join('\n');
}

/** The fence that is still open, and the line where the last paragraph begins. */
function lastBlock(lines: readonly string[]) {
  let fence = openFence('');
  let paragraph = 0;
  for (const [index, line] of lines.entries()) {
    if (fence !== undefined) {
      if (closesFence(line, fence)) {
        fence = undefined;
        paragraph = index + 1;
      }
      continue;
    }
    fence = openFence(line);
    if (line.trim() === '' || startsItem(line)) paragraph = index;
  }
  return { fence, paragraph };
}

function startsItem(line: string): boolean {
  const text = line.trimStart();
  return markerLength(text, 0) > 0 || text.startsWith('#') || text.startsWith('|');
}

/** A last line such as `-`, `==` or `2.`: what it means is not decided yet, and shown it would flicker. */
function isHalfMarker(line: string): boolean {
  const text = line.trim();
  if (text === '') return false;
  const only = ['-', '=', '*', '_', '+', '#', '>', '`', '~'].some((mark) => isOnly(text, mark));
  return only || markerLength(text, 0) === text.length;
}

function isOnly(text: string, character: string): boolean {
  return text !== '' && text === character.repeat(text.length);
}
