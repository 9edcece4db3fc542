import { isAbsolute } from 'node:path';
import type { MenuItem, MenuLimits } from '@parley/channels';
import { z } from 'zod';

const TELEGRAM = 'api.telegram.org';
/**
 * The maximum text length that Telegram accepts, in UTF-16 units. Telegram counts code points, and
 * their number is never larger.
 */
export const MAX_TEXT = 4096;

/** The settings of one Telegram bot account, below `channels.telegram`. */
export const TelegramSettings = z
  .strictObject({
    token: z
      .string('the bot token that @BotFather gave you')
      .regex(/^\d+:[\w-]+$/, 'a token such as 123456:ABC-def, as @BotFather gives it')
      .describe('The bot token from @BotFather. Keep it in the environment, not in the file.')
      .meta({ title: 'Bot token' }),
    apiRoot: z
      .url({ protocol: /^https?$/, error: 'an http or https URL' })
      .default(`https://${TELEGRAM}`)
      .describe(
        'Address of the Bot API server. Change it only for a self-hosted server or a proxy.',
      )
      .meta({ title: 'Bot API server' }),
    localServer: z
      .boolean()
      .default(false)
      .describe(
        'Whether apiRoot is a self-hosted Bot API server in local mode, which accepts larger files.',
      )
      .meta({ title: 'Local Bot API server' }),
    localFiles: z
      .string()
      .refine((path) => isAbsolute(path), 'the absolute path of a directory')
      .optional()
      .describe(
        'Directory of the local server, to read its files from disk. If not set, they are downloaded over http.',
      )
      .meta({ title: 'Folder of the local server' }),
    linkPreviews: z
      .boolean()
      .default(false)
      .describe('Let Telegram show previews of pages that answers link to.')
      .meta({ title: 'Link previews' }),
    pace: z
      .boolean()
      .default(true)
      .describe(
        'Respect Telegram’s rate limits for bots. Turn this off only for a server without limits.',
      )
      .meta({ title: 'Respect rate limits' }),
    growInGroups: z
      .boolean()
      .default(true)
      .describe(
        'Show longer answers in groups while they are being written, by editing their message.',
      )
      .meta({ title: 'Stream answers in groups' }),
    richMessages: z
      .boolean()
      .default(false)
      .describe(
        'Send answers with tables, headings or formulas as rich messages. Some clients show these as an empty bubble.',
      )
      .meta({ title: 'Rich messages' }),
    webhook: z
      .strictObject({
        url: z
          .url({ protocol: /^https$/, error: 'an https address' })
          .describe(
            'Public address under which Telegram reaches /channels/telegram/<account>/ of this gateway.',
          )
          .meta({ title: 'Public address' }),
        secret: z
          .string()
          .regex(/^[\w-]{16,256}$/, '16 to 256 letters, digits, _ or -')
          .describe(
            'Telegram sends it with each call. Keep it in the environment, not in the file.',
          )
          .meta({ title: 'Webhook secret' }),
      })
      .optional()
      .describe('Let Telegram call this gateway. If not set, Parley polls Telegram for messages.')
      .meta({ title: 'Receive messages by webhook' }),
  })
  .refine(({ apiRoot, localServer }) => !localServer || new URL(apiRoot).hostname !== TELEGRAM, {
    path: ['apiRoot'],
    error: 'the address of your own server, as localServer is true',
  })
  .describe('A bot in direct chats, groups and channels.')
  .meta({ title: 'Telegram' });
export type TelegramSettings = z.infer<typeof TelegramSettings>;

/** An entry in Telegram's menu. */
interface MenuEntry {
  readonly command: string;
  readonly description: string;
  /**
   * The command is sent as an ephemeral message, so that only the person who sends it sees the
   * answer.
   */
  readonly is_ephemeral?: true;
}

/**
 * The maximum size of the menu as JSON, in bytes. Telegram documents 100 commands with 256
 * characters each, but refuses far shorter lists with BOT_COMMANDS_TOO_MUCH; users have measured a
 * limit of about 7,800 bytes. The difference between the two numbers is a safety margin.
 */
const MAX_BYTES = 7_000;

/** Telegram's limits for a menu (https://core.telegram.org/bots/api#botcommand). */
export const TELEGRAM_MENU = {
  commands: 100,
  description: { max: 256, unit: 'utf16' },
  size: {
    max: MAX_BYTES,
    of: (items) => Buffer.byteLength(JSON.stringify(toGroupMenuEntries(items))),
  },
  name: /^[a-z0-9_]{1,32}$/,
  nameOf: toMenuName,
} satisfies MenuLimits;

/** Converts menu items to the format of the Bot API. */
export function toMenuEntries(items: readonly MenuItem[]): readonly MenuEntry[] {
  return items.map(({ name, description }) => ({ command: name, description }));
}

/**
 * Converts menu items for groups, where private commands and their answers are visible only to one
 * person and the bot.
 */
export function toGroupMenuEntries(items: readonly MenuItem[]): readonly MenuEntry[] {
  return items.map(({ name, description, private: isPrivate }) => ({
    ...{ command: name, description },
    ...(isPrivate && { is_ephemeral: true }),
  }));
}

/**
 * The name of a command in Telegram's menu. A hyphen becomes `_`, which is reversed when the
 * command is received.
 */
export function toMenuName(name: string): string {
  return name.replaceAll('-', '_');
}
