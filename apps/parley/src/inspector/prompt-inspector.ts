import type { PromptInspector } from '@parley/gateway';
import { comparePrompts } from '@parley/prompt';
import type { PromptRepository, PromptSearch, PromptSummary } from '@parley/store';

/** Answers what the page asks of recorded prompts (P17). */
export function promptInspector(
  prompts: PromptRepository,
  preview: PromptInspector['preview'],
): PromptInspector {
  return {
    preview,
    async list({ chat, before, limit }) {
      // One more than asked for tells whether there is a further page.
      const found = await prompts.list({ chat, before: placeOf(before), limit: limit + 1 });
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      const next = found.length > limit && last !== undefined ? markOf(last) : null;
      return { prompts: shown, next };
    },
    prompt: (turnId) => prompts.ofTurn(turnId),
    async compare(before, after) {
      const [first, second] = await Promise.all([prompts.ofTurn(before), prompts.ofTurn(after)]);
      return first === null || second === null ? null : comparePrompts(first, second);
    },
  };
}

/** Where a page ended, as the next request names it. */
function markOf({ at, turnId }: PromptSummary): string {
  return `${at}~${turnId}`;
}

/** A mark that is none begins at the newest. */
function placeOf(mark: string | undefined): PromptSearch['before'] {
  const parts = /^(\d+)~(.+)$/.exec(mark ?? '');
  return parts === null ? undefined : { at: Number(parts[1]), turnId: parts[2] ?? '' };
}
