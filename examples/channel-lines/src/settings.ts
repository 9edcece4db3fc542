import { z } from 'zod';

/** One account, as written below `channels.lines` in the settings file. */
export const LinesSettings = z.strictObject({
  host: z.string().default('127.0.0.1').describe('Where the chat server is.'),
  port: z.int('a port').min(1).max(65_535).describe('The port of the chat server.'),
  name: z.string().min(1).default('parley').describe('The name of the bot there.'),
});
export type LinesSettings = z.infer<typeof LinesSettings>;
