import { z } from 'zod';

/** One Telegram bot account, as written below `channels.telegram`. */
export const TelegramSettings = z.strictObject({
  token: z
    .string('must be the bot token that @BotFather gave you')
    .regex(/^\d+:[\w-]+$/, 'must look like 123456:ABC-def, as @BotFather gives it')
    .describe('The bot token from @BotFather. Keep it in the environment, not in the file.'),
  apiRoot: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .default('https://api.telegram.org')
    .describe('Bot API server; only for a server of your own or a proxy.'),
  linkPreviews: z
    .boolean()
    .default(false)
    .describe('Let Telegram fetch and show pages that answers link to.'),
  pace: z
    .boolean()
    .default(true)
    .describe('Keep to the rates Telegram grants bots; false only for a server without them.'),
  growInGroups: z
    .boolean()
    .default(true)
    .describe('Show longer answers in groups while they are written, by edits of their message.'),
  webhook: z
    .strictObject({
      url: z
        .url({ protocol: /^https$/, error: 'must be an https address' })
        .describe('Where Telegram reaches /channels/telegram/<account>/ of this gateway.'),
      secret: z
        .string()
        .regex(/^[\w-]{16,256}$/, 'must be 16 to 256 letters, digits, _ or -')
        .describe('Telegram shows it with each call. Keep it in the environment, not in the file.'),
    })
    .optional()
    .describe('Let Telegram call this gateway; without it Parley asks Telegram for messages.'),
});
export type TelegramSettings = z.infer<typeof TelegramSettings>;
