import type { MenuLimits } from '@parley/channels';
import { z } from 'zod';

/** Discord's length limit for a message, in characters. */
export const MAX_TEXT = 2_000;

/** The settings for one Discord bot account, under `channels.discord`. */
export const DiscordSettings = z
  .strictObject({
    token: z
      .string('the bot token from the Discord developer portal')
      .regex(
        /^[\w-]+\.[\w-]+\.[\w-]+$/,
        'three groups of letters joined by dots, which the developer portal shows once after "Reset Token"',
      )
      .describe('The bot token: discord.com/developers, your application, Bot, Reset Token.')
      .meta({ title: 'Bot token' }),
    messageContent: z
      .boolean()
      .default(true)
      .describe(
        'Whether to read all messages in served channels, which requires the Message Content Intent. If false, only direct messages and messages that mention the bot are read.',
      )
      .meta({ title: 'Read all messages' }),
    threads: z
      .enum(['never', 'per-conversation'])
      .default('never')
      .describe(
        'Where the bot answers when it is addressed in a server channel. never: in the channel. per-conversation: in a new thread below the message, where the conversation continues without mentions; this requires the permission Create Public Threads.',
      )
      .meta({ title: 'Open threads for answers' }),
    history: z
      .int()
      .min(0)
      .max(50)
      .default(0)
      .describe(
        'How many earlier messages in a channel are read as context when the bot is first addressed there.',
      )
      .meta({ title: 'Earlier messages as context' }),
    userInstall: z
      .enum(['portal', 'never', 'always'])
      .default('portal')
      .describe(
        'Whether people who have added the app to their account can use its commands everywhere: in servers without the bot, and in chats with other people. portal: as set on the Installation page of the developer portal. always: yes, including /ask for ordinary messages. Such a chat counts as a group and must be listed in access.allowGroups.',
      )
      .meta({ title: 'Commands outside the bot’s servers' }),
    linkPreviews: z
      .boolean()
      .default(false)
      .describe('Whether Discord shows previews of pages that are linked in answers.')
      .meta({ title: 'Link previews' }),
    shards: z
      .union([z.literal('auto'), z.int().min(1).max(1_000)])
      .default('auto')
      .describe('The number of gateway connections. auto uses the number that Discord recommends.')
      .meta({ title: 'Gateway connections' }),
    apiRoot: z
      .url({ protocol: /^https?$/, error: 'an http or https URL' })
      .default('https://discord.com/api')
      .describe('URL of the Discord API. Change it only for a proxy or a test.')
      .meta({ title: 'Discord API address' }),
  })
  .describe('A bot in servers, threads and direct messages.')
  .meta({ title: 'Discord' });
export type DiscordSettings = z.infer<typeof DiscordSettings>;

/**
 * Discord's limits for command menus
 * (https://discord.com/developers/docs/interactions/application-commands).
 */
export const DISCORD_MENU = {
  commands: 100,
  description: { max: 100, unit: 'codepoint' },
  name: /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u,
} satisfies MenuLimits;
