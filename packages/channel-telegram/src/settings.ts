import { isAbsolute } from 'node:path';
import type { MenuItem, MenuLimits } from '@parley/channels';
import { z } from 'zod';

const TELEGRAM = 'api.telegram.org';
/** Longest text Telegram takes, in UTF-16 units; it counts code points, which are never more. */
export const MAX_TEXT = 4096;

/** One Telegram bot account, as written below `channels.telegram`. */
export const TelegramSettings = z
  .strictObject({
    token: z
      .string('the bot token that @BotFather gave you')
      .regex(/^\d+:[\w-]+$/, 'a token such as 123456:ABC-def, as @BotFather gives it')
      .describe('The bot token from @BotFather. Keep it in the environment, not in the file.')
      .meta({ title: 'Bot token' }),
    apiRoot: z
      .url({ protocol: /^https?$/, error: 'an http or https address' })
      .default(`https://${TELEGRAM}`)
      .describe('Bot API server; only for a server of your own or a proxy.')
      .meta({ title: 'Bot API server' }),
    localServer: z
      .boolean()
      .default(false)
      .describe('apiRoot is a Bot API server of your own in local mode, which takes larger files.')
      .meta({ title: 'Local Bot API server' }),
    localFiles: z
      .string()
      .refine((path) => isAbsolute(path), 'the whole path of a directory')
      .optional()
      .describe(
        'With localServer: its directory, to read files there; without it they come over http.',
      )
      .meta({ title: 'Folder of the local server' }),
    linkPreviews: z
      .boolean()
      .default(false)
      .describe('Let Telegram fetch and show pages that answers link to.')
      .meta({ title: 'Link previews' }),
    pace: z
      .boolean()
      .default(true)
      .describe('Keep to the rates Telegram grants bots; false only for a server without them.')
      .meta({ title: 'Respect rate limits' }),
    growInGroups: z
      .boolean()
      .default(true)
      .describe('Show longer answers in groups while they are written, by edits of their message.')
      .meta({ title: 'Stream answers in groups' }),
    richMessages: z
      .boolean()
      .default(false)
      .describe(
        'Send answers with tables, headings or formulas as rich messages; some clients show those as an empty bubble.',
      )
      .meta({ title: 'Rich messages' }),
    webhook: z
      .strictObject({
        url: z
          .url({ protocol: /^https$/, error: 'an https address' })
          .describe('Where Telegram reaches /channels/telegram/<account>/ of this gateway.')
          .meta({ title: 'Public address' }),
        secret: z
          .string()
          .regex(/^[\w-]{16,256}$/, '16 to 256 letters, digits, _ or -')
          .describe(
            'Telegram shows it with each call. Keep it in the environment, not in the file.',
          )
          .meta({ title: 'Webhook secret' }),
      })
      .optional()
      .describe('Let Telegram call this gateway; without it Parley asks Telegram for messages.')
      .meta({ title: 'Receive messages by webhook' }),
  })
  .refine(({ apiRoot, localServer }) => !localServer || new URL(apiRoot).hostname !== TELEGRAM, {
    path: ['apiRoot'],
    error: 'the address of your own server, as localServer is true',
  })
  .describe('A bot in direct chats, groups and channels.')
  .meta({ title: 'Telegram' });
export type TelegramSettings = z.infer<typeof TelegramSettings>;

/** An entry of Telegram's menu. */
interface MenuEntry {
  readonly command: string;
  readonly description: string;
  /** Sent as an ephemeral message, so that its answer is seen by the person who asks alone. */
  readonly is_ephemeral?: true;
}

/**
 * Most bytes of the list as JSON. Telegram documents 100 commands with 256 characters each, and refuses lists far below
 * that with BOT_COMMANDS_TOO_MUCH; users have measured about 7,800 bytes. This leaves room for what they did not see.
 */
const MAX_BYTES = 7_000;

/** Telegram's limits of a menu (https://core.telegram.org/bots/api#botcommand). */
export const TELEGRAM_MENU = {
  commands: 100,
  description: { max: 256, unit: 'utf16' },
  size: { max: MAX_BYTES, of: (items) => Buffer.byteLength(JSON.stringify(groupEntriesOf(items))) },
  name: /^[a-z0-9_]{1,32}$/,
  nameOf: menuName,
} satisfies MenuLimits;

/** The items as Telegram names their parts. */
export function toMenuEntries(items: readonly MenuItem[]): readonly MenuEntry[] {
  return items.map(({ name, description }) => ({ command: name, description }));
}

/** The same for groups, where private commands and their answers are between a person and the bot. */
export function groupEntriesOf(items: readonly MenuItem[]): readonly MenuEntry[] {
  return items.map(({ name, description, private: isPrivate }) => ({
    ...{ command: name, description },
    ...(isPrivate && { is_ephemeral: true }),
  }));
}

/** The name of a command in Telegram's menu: a hyphen becomes `_`, and is read back when the command comes in. */
export function menuName(name: string): string {
  return name.replaceAll('-', '_');
}
