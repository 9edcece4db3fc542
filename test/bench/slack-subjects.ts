import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SlackDouble } from '@parley/simulators/slack';
import { ENDED, type EndedPart, readEnded } from '../crash/stored.ts';
import { readNpmStart, type StartedProcess, startProcess } from './processes.ts';
import { writeSettings } from './subjects.ts';

/** The Slack bots that are killed. */
export const SLACK_SUBJECTS = ['parley', 'chat-sdk', 'chat-sdk-after'] as const;
export type SlackSubject = (typeof SLACK_SUBJECTS)[number];

/**
 * The environment of a Slack bot. The bot's port stays the same, because Slack has stored the
 * address.
 */
export interface SlackBotOptions {
  readonly folder: string;
  readonly port: number;
  readonly slack: Pick<SlackDouble, 'apiUrl' | 'botToken' | 'signingSecret'>;
  readonly modelUrl: string;
  readonly redisUrl: string;
}

/** Starts a bot the way its user would. */
export function startSlackBot(name: SlackSubject, options: SlackBotOptions): StartedProcess {
  return name === 'parley' ? startParley(options) : startChatSdk(name, options);
}

/** The address that Slack calls. */
export function getRequestUrl(name: SlackSubject, port: number): string {
  const path = name === 'parley' ? '/channels/slack/default/events' : '/api/webhooks/slack';
  return `http://127.0.0.1:${port}${path}`;
}

/** The parts whose outcome Parley itself reports as unknown; other bots report none. */
export function listUncertainParts(name: SlackSubject, folder: string): readonly EndedPart[] {
  const file = join(folder, 'data/parley.db');
  if (name !== 'parley' || !existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const ended = readEnded(database.prepare(ENDED).all());
    return ended.filter(({ state, kind }) => state === 'unknown' && kind === 'answer');
  } finally {
    database.close();
  }
}

function startParley({ folder, port, slack, modelUrl }: SlackBotOptions): StartedProcess {
  const { apiUrl, botToken, signingSecret } = slack;
  const data = writeSettings(folder, {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: {
      slack: {
        use: '@chat-adapter/slack',
        options: { apiUrl, botToken, signingSecret },
        access: { direct: 'open', groups: 'open' },
      },
    },
    http: { port },
    spend: { perStrangerDaily: 'off' },
  });
  const { args } = readNpmStart();
  return startProcess({
    ...{ name: 'parley', folder, args: [...args, '--data', data] },
    readyLine: 'Parley is running',
  });
}

function startChatSdk(
  name: Exclude<SlackSubject, 'parley'>,
  { folder, port, slack, modelUrl, redisUrl }: SlackBotOptions,
): StartedProcess {
  const { apiUrl, botToken, signingSecret } = slack;
  return startProcess({
    ...{ name, folder, args: [join(import.meta.dirname, 'bots/chat-sdk-slack-bot.ts')] },
    env: {
      ...{ SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: botToken, SLACK_SIGNING_SECRET: signingSecret },
      ...{ MODEL_URL: modelUrl, REDIS_URL: redisUrl, PORT: String(port) },
      ANSWERS: name === 'chat-sdk-after' ? 'after' : 'at-once',
      // Parley enables the compile cache itself.
      NODE_COMPILE_CACHE: join(folder, 'tmp/node-compile-cache'),
    },
    readyLine: 'ready',
  });
}
