import { github } from './platforms/github.ts';
import { googleChat } from './platforms/google-chat.ts';
import { linear } from './platforms/linear.ts';
import type { Platform } from './platforms/platform.ts';
import { slack } from './platforms/slack.ts';
import { teams } from './platforms/teams.ts';
import { whatsappCloud } from './platforms/whatsapp-cloud.ts';

/** The adapters that Parley's tests cover. */
export const PLATFORMS: readonly Platform[] = [
  slack,
  teams,
  googleChat,
  github,
  linear,
  whatsappCloud,
];

/** The platform of a tested adapter; undefined for any other. */
export function findPlatform(use: string): Platform | undefined {
  return PLATFORMS.find((platform) => platform.use === use);
}
