import { z } from 'zod';

/** One account, as written under `channels.lines` in the settings file. */
export const LinesSettings = z.strictObject({
  host: z.string().default('127.0.0.1').describe('Host of the chat server.'),
  port: z.int('a port').min(1).max(65_535).describe('Port of the chat server.'),
  name: z.string().min(1).default('parley').describe('Name of the bot on the chat server.'),
});
export type LinesSettings = z.infer<typeof LinesSettings>;
