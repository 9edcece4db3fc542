import { missingAccess, missingPermissions } from './refusal.ts';
import type { Channel, World } from './world.ts';

/** Permission bits that the double looks at. */
export const PERMISSION = {
  react: 1n << 6n,
  view: 1n << 10n,
  send: 1n << 11n,
  manageMessages: 1n << 13n,
  attach: 1n << 15n,
  history: 1n << 16n,
  pingEveryone: 1n << 17n,
  manageThreads: 1n << 34n,
  openThread: 1n << 35n,
  sendInThread: 1n << 38n,
  /** What a bot is usually invited with: all of the above except managing and pinging everyone. */
  usual:
    (1n << 6n) |
    (1n << 10n) |
    (1n << 11n) |
    (1n << 14n) |
    (1n << 15n) |
    (1n << 16n) |
    (1n << 35n) |
    (1n << 38n),
} as const;

/** One of the named permissions. */
export type PermissionName = Exclude<keyof typeof PERMISSION, 'usual'>;

/** Whether the bot may do something in a channel; in a direct message it may do everything. */
export function botMay(world: World, channel: Channel, permission: PermissionName): boolean {
  if (channel.guildId === undefined) return true;
  const guild = world.guilds.get(channel.guildId);
  if (guild === undefined || guild.left) return false;
  const above = channel.parentId === undefined ? undefined : world.channels.get(channel.parentId);
  const denied = channel.denied | (above?.denied ?? 0n);
  return (guild.permissions & ~denied & PERMISSION[permission]) !== 0n;
}

/**
 * A channel that the bot sees and may do this in.
 * @throws Refusal 10003, 50001 or 50013
 */
export function channelFor(world: World, id: string, permission: PermissionName = 'view'): Channel {
  const channel = world.channel(id);
  if (!botMay(world, channel, 'view')) throw missingAccess();
  if (!botMay(world, channel, permission)) throw missingPermissions();
  return channel;
}
