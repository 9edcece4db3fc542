import { z } from 'zod';

/** `-5` is a number to YAML, and text to everything else. */
const PlatformId = z.union([z.string().min(1), z.int()]).transform(String);

const NamedChat = z.strictObject({
  channel: z.string().min(1).describe('Such as telegram.'),
  account: z.string().min(1).default('default').describe('Where a channel has several.'),
  chat: PlatformId.describe('Its id on the platform; /whoami tells it there.'),
  thread: PlatformId.optional().describe('A topic or thread of it.'),
});

const Message = z
  .strictObject({
    chats: z
      .record(
        z
          .string()
          .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/i, 'letters, digits, _ and -, at most 40')
          .refine((name) => name !== 'owner', 'another name: owner is the owner’s own chat'),
        NamedChat,
      )
      .default({})
      .describe('Chats it may write to, by the names it calls them. A person reads it first.'),
  })
  .prefault({})
  .describe('Writing to another chat, when its owner asks: their own chats, and those named here.');

/** Which tools the agent has, and the bounds of one call (G02). */
export const Tools = z
  .strictObject({
    allow: z.array(z.string().min(1)).optional().describe('Only these; without it all.'),
    block: z.array(z.string().min(1)).default([]).describe('Never these, even if allowed.'),
    message: Message,
    maxSeconds: z
      .number()
      .positive()
      .max(3_600)
      .default(60)
      .describe('How long one call of a tool may take.'),
    maxCharacters: z
      .int()
      .min(500)
      .max(1_000_000)
      .default(20_000)
      .describe('What the model is shown of one result, in characters.'),
  })
  .prefault({})
  .describe('What the agent can do besides answering.');
