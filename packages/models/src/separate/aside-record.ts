import type { AnswerPart } from '../answer-parts.ts';
import type { HiddenAnswerParts } from '../chat-model.ts';

/** How many characters of the start and of the end of the reasoning are kept. */
const [MAX_HEAD, MAX_TAIL] = [3_000, 1_000];
const MAX_DROPPED = 5;

/**
 * Collects the parts that are separated from one answer, truncated, because reasoning can be as
 * long as a book.
 */
export interface HiddenPartRecorder {
  add(part: AnswerPart): void;
  /** Null if nothing was separated. */
  whole(): HiddenAnswerParts | null;
}

export function createHiddenPartRecorder(): HiddenPartRecorder {
  let [head, tail, characters] = ['', '', 0];
  const dropped: { readonly raw: string; readonly problem: string }[] = [];
  return {
    add(part) {
      if (part.type === 'dropped' && dropped.length < MAX_DROPPED) {
        dropped.push({ raw: part.raw, problem: part.problem });
      }
      if (part.type !== 'reasoning') return;
      characters += part.text.length;
      const room = MAX_HEAD - head.length;
      head += part.text.slice(0, Math.max(0, room));
      tail = (tail + part.text.slice(Math.max(0, room))).slice(-MAX_TAIL);
    },
    whole() {
      if (characters === 0 && dropped.length === 0) return null;
      const left = characters - head.length - tail.length;
      const gap = left > 0 ? `\n[… ${left} characters are left out here …]\n` : '';
      const reasoning = (head + gap + tail).trim().toWellFormed();
      return { reasoning, reasoningCharacters: characters, dropped };
    },
  };
}
