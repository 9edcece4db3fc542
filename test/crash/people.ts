import { join } from 'node:path';
import { type DeploymentName, EMBEDDED_FOLDERS, GATEWAY_FOLDERS } from './deployment.ts';
import { startDiscordSide } from './discord-side.ts';
import type { ChannelName, CrashSide } from './side.ts';
import { startSlackSide } from './slack-side.ts';
import { startTelegramSide } from './telegram-side.ts';
import { openWebSide } from './web-side.ts';
import { startWhatsAppSide } from './whatsapp-side.ts';

/** The number of chats of each channel; for the web page, the number of tabs. */
export type ChatCounts = Readonly<Record<ChannelName, number>>;

/** Tabs of the web page, which is one conversation. */
const TABS = 3;

/**
 * Distributes this many conversations equally over the four platforms (Slack's over its two
 * accounts), and adds the web page.
 */
export function distributeConversations(count: number): ChatCounts {
  const share = Math.floor(count / 4);
  const socket = Math.floor(share / 2);
  const telegram = count - 3 * share;
  const slack = { slack: share - socket, 'slack-socket': socket };
  return { telegram, discord: share, whatsapp: share, ...slack, web: TABS };
}

/** Opens the channels that have people. */
export async function openSides(
  people: ChatCounts,
  deployment: DeploymentName,
  root: string,
): Promise<readonly CrashSide[]> {
  const { telegram, discord, whatsapp, slack, 'slack-socket': socket, web } = people;
  const folders = deployment === 'embedded' ? EMBEDDED_FOLDERS : GATEWAY_FOLDERS;
  const paths = folders.map((name) => join(root, name));
  return Promise.all([
    ...(telegram > 0 ? [startTelegramSide(telegram)] : []),
    ...(discord > 0 ? [startDiscordSide(discord)] : []),
    ...(whatsapp > 0 ? [startWhatsAppSide(whatsapp)] : []),
    ...(slack > 0 ? [startSlackSide(slack, { kind: 'webhook', folders: paths })] : []),
    ...(socket > 0 ? [startSlackSide(socket, { kind: 'socket' })] : []),
    ...(web > 0 ? [openWebSide(paths, web)] : []),
  ]);
}

export async function closeSides(sides: readonly CrashSide[]): Promise<void> {
  await Promise.all(sides.map((side) => side.close()));
}
