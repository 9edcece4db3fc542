import { createRefusalError, defineReadOperation, type SentRequest } from '@parley/core';
import { comparePrompts } from '@parley/prompt';
import type { PromptFilter, PromptSummary, Store } from '@parley/store';
import { z } from 'zod';

const typed = z.string().max(10_000).optional();

/**
 * The hypothetical message with its author and chat. Absent fields have defaults. `heartbeat` is 1
 * for a heartbeat run.
 */
const PreviewFields = {
  ...{ channel: typed, account: typed, chat: typed, chatId: typed, title: typed },
  ...{ user: typed, name: typed, text: typed, mode: typed, heartbeat: typed },
};

/**
 * Builds the first request of a hypothetical turn. For invalid fields, throws a ParleyError with
 * advice.
 */
export type PreviewPrompt = (
  asked: z.output<z.ZodObject<typeof PreviewFields>>,
) => Promise<SentRequest>;

interface PromptOperationDeps {
  readonly store: Pick<Store, 'prompts'>;
  /** Previews prompts for the named agent, or for the default agent if no name is given. */
  preview(agent: string | undefined): Promise<PreviewPrompt>;
}

const MAX_LISTED = 100;

/** Operations on the prompts of past turns (P17), which contain private text. */
export const operations = {
  list: defineReadOperation(
    'List the prompts of past turns, newest first; pass `next` as `before` to get the next page',
    {
      chat: z.string().optional(),
      before: z.string().optional(),
      limit: z.coerce.number<number | string>().int().min(1).max(MAX_LISTED).default(30),
    },
    async ({ store }: PromptOperationDeps, { chat, before, limit }) => {
      // One prompt more than requested is read, to find out whether there is another page.
      const found = await store.prompts.list({
        chat,
        before: parsePageCursor(before),
        limit: limit + 1,
      });
      const prompts = found.slice(0, limit);
      const last = prompts.at(-1);
      return {
        prompts,
        next: found.length > limit && last !== undefined ? formatPageCursor(last) : null,
      };
    },
  ),
  show: defineReadOperation(
    'Show the prompt of a turn',
    { turn: z.string() },
    ({ store }: PromptOperationDeps, { turn }) => findPrompt(store, turn),
  ),
  compare: defineReadOperation(
    'Compare the prompts of two turns',
    { before: z.string(), after: z.string() },
    async ({ store }: PromptOperationDeps, { before, after }) =>
      comparePrompts(await findPrompt(store, before), await findPrompt(store, after)),
  ),
  preview: defineReadOperation(
    'Show the prompt of a hypothetical turn; no model is called and nothing is stored',
    PreviewFields,
    async ({ preview }: PromptOperationDeps, asked, { agent }) => (await preview(agent))(asked),
    { running: true },
  ),
};

async function findPrompt({ prompts }: PromptOperationDeps['store'], turn: string) {
  const found = await prompts.ofTurn(turn);
  if (found !== null) return found;
  throw createRefusalError(
    'no-prompt',
    'The prompt of that turn is not stored. It may be older than inspector.keepDays allows.',
  );
}

/** Formats the cursor at the end of a page for the next request. */
function formatPageCursor({ at, turnId }: PromptSummary): string {
  return `${at}~${turnId}`;
}

/** Parses a cursor. An invalid cursor starts at the newest prompt. */
function parsePageCursor(mark: string | undefined): PromptFilter['before'] {
  const parts = /^(\d+)~(.+)$/.exec(mark ?? '');
  return parts === null ? undefined : { at: Number(parts[1]), turnId: parts[2] ?? '' };
}
