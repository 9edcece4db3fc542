import { z } from 'zod';

/** The settings of one account of a channel that a Chat SDK adapter connects. */
export const ChatSdkSettings = z
  .strictObject({
    use: z
      .string()
      .regex(/^(?:@[\w.-]+\/)?[\w.-]+$/, 'the npm name of an adapter, such as @chat-adapter/slack')
      .describe('The npm package of the Chat SDK adapter, such as @chat-adapter/slack.')
      .meta({ title: 'Adapter' }),
    options: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('The options of the adapter, as its own documentation names them.')
      .meta({ title: 'Options' }),
  })
  .describe('A platform that a Chat SDK adapter connects.')
  .meta({ title: 'Chat SDK' });
export type ChatSdkSettings = z.infer<typeof ChatSdkSettings>;
