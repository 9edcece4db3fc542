import { z } from 'zod';
import { ChatType } from './inbound-message.ts';
import { SentPart, UnsentLayer } from './sent-prompt.ts';

/** Where a turn ran and for whom, for people who look for it. Names and titles are untrusted. */
export const PromptPlace = z.readonly(
  z.strictObject({
    channel: z.string(),
    account: z.string(),
    chatId: z.string(),
    chatType: ChatType,
    title: z.string().optional(),
    /** `telegram:42` */
    personId: z.string(),
    personName: z.string(),
  }),
);
export type PromptPlace = z.infer<typeof PromptPlace>;

/** One message of the conversation as it was sent along: its words are in the transcript, not here. */
export const PromptMessage = z.readonly(
  z.strictObject({
    role: z.enum(['user', 'assistant', 'tool']),
    characters: z.int(),
    hash: z.string(),
  }),
);
export type PromptMessage = z.infer<typeof PromptMessage>;

/** The lists that are kept of a prompt; its texts are kept by their hashes, each once. */
export const PromptLists = {
  parts: z.array(
    z.strictObject({ ...SentPart.unwrap().omit({ text: true }).shape, hash: z.string() }),
  ),
  unsent: z.array(UnsentLayer),
  messages: z.array(PromptMessage),
  names: z.array(z.string()),
} as const;
