import type { MenuLimits } from '@parley/channels';
import { z } from 'zod';

/** Discord's limit for the text of a message, in characters. */
export const MAX_TEXT = 2_000;

/** The settings of one Discord bot account, below `channels.discord`. */
export const DiscordSettings = z
  .strictObject({
    token: z
      .string('the bot token from the Discord developer portal')
      .regex(
        /^[\w-]+\.[\w-]+\.[\w-]+$/,
        'three groups of letters joined by dots, as the developer portal shows it once after "Reset Token"',
      )
      .describe('The bot token: discord.com/developers, your application, Bot, Reset Token.')
      .meta({ title: 'Bot token' }),
    messageContent: z
      .boolean()
      .default(true)
      .describe(
        'Read all messages of served channels; needs the Message Content Intent. false: only direct messages and messages that mention the bot.',
      )
      .meta({ title: 'Read all messages' }),
    threads: z
      .enum(['never', 'per-conversation'])
      .default('never')
      .describe(
        'Where somebody addresses the bot in a channel of a server. never: it answers there. per-conversation: the answer opens a thread below that message, in which the conversation goes on without mentions; needs the permission Create Public Threads.',
      )
      .meta({ title: 'Open threads for answers' }),
    history: z
      .int()
      .min(0)
      .max(50)
      .default(0)
      .describe(
        'Messages that were written in a channel before the bot is addressed there for the first time: so many are read as context.',
      )
      .meta({ title: 'Earlier messages as context' }),
    userInstall: z
      .enum(['portal', 'never', 'always'])
      .default('portal')
      .describe(
        'Whether people who have added the app to their account are offered its commands everywhere: in servers without the bot, and in chats with other people. portal: as the Installation page of the developer portal says. always: also /ask, for ordinary messages. Such a place is a group, which access.allowGroups has to name.',
      )
      .meta({ title: 'Commands outside the bot’s servers' }),
    linkPreviews: z
      .boolean()
      .default(false)
      .describe('Let Discord show previews of pages that answers link to.')
      .meta({ title: 'Link previews' }),
    shards: z
      .union([z.literal('auto'), z.int().min(1).max(1_000)])
      .default('auto')
      .describe('Gateway connections; Discord recommends a number, which auto takes.')
      .meta({ title: 'Gateway connections' }),
    apiRoot: z
      .url({ protocol: /^https?$/, error: 'an http or https address' })
      .default('https://discord.com/api')
      .describe('Discord API; only for a proxy or a test.')
      .meta({ title: 'Discord API address' }),
  })
  .meta({ title: 'Discord' });
export type DiscordSettings = z.infer<typeof DiscordSettings>;

/** Discord's limits of a menu (https://discord.com/developers/docs/interactions/application-commands). */
export const DISCORD_MENU = {
  commands: 100,
  description: { max: 100, unit: 'codepoint' },
  name: /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u,
} satisfies MenuLimits;
