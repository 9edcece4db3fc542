import { type Clock, defineReadOperation, getConversationAgent, toDisplayLine } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import type { Store } from '@parley/store';
import { z } from 'zod';

interface WhyOperationDeps {
  readonly store: Pick<Store, 'why'>;
  readonly clock: Clock;
  readonly scrub: Scrub;
  readonly defaultAgent: string;
}

/** The maximum number of messages in the list. */
const MAX_RECENT = 50;
/** The limit is longer than any message id, including the name of its chat. */
const MAX_NAME = 700;
const NAME_NEEDED = 'Name a message by its id, channel:chat/id, a turn id, or last.';

/**
 * Operations that explain what happened to messages (D08); the explanations name chats and people.
 */
export const operations = {
  message: defineReadOperation(
    'Show the stages of a message, or the exact reason why there was no answer',
    { message: z.string().trim().min(1, NAME_NEEDED).max(MAX_NAME, NAME_NEEDED) },
    ({ store, clock }: WhyOperationDeps, asked) => store.why.ask(asked, clock()),
  ),
  recent: defineReadOperation(
    'The newest messages',
    {},
    async ({ store, scrub, defaultAgent }: WhyOperationDeps) => {
      const messages = await store.why.recent(MAX_RECENT);
      return {
        messages: messages.map(({ conversationId, text, ...facts }) => ({
          ...{ ...facts, conversationId, text: getFirstWords(text, scrub) },
          agent: conversationId && (getConversationAgent(conversationId) ?? defaultAgent),
        })),
      };
    },
  ),
};

/** The length, in characters, of the beginning of a message in lists. */
const FIRST_WORDS = 120;

/**
 * Returns the beginning of a text on one line. Secrets are removed before the text is truncated,
 * because a truncated secret would not be recognized.
 */
export function getFirstWords(text: string, scrub: Scrub): string {
  const line = toDisplayLine(scrub(text)).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= FIRST_WORDS) return line;
  return `${line.slice(0, FIRST_WORDS).toWellFormed()}…`;
}
