import {
  type ChannelProbe,
  type ClockReading,
  type ProbeEnv,
  type ProbeWarning,
  readClock,
} from '@parley/channels/probe';
import { z } from 'zod';
import { connectTelegramApi, type TelegramApi } from './connection.ts';
import { afterPollFailure, callFailureOf } from './failures.ts';
import type { TelegramSettings } from './settings.ts';

/** Asks Telegram who the bot is, and how calls of its webhook go. Takes no update from a running gateway. */
export async function probeTelegram(
  settings: TelegramSettings,
  { signal, clock }: Pick<ProbeEnv, 'signal' | 'clock'>,
): Promise<ChannelProbe> {
  const { host } = new URL(settings.apiRoot);
  const asked = clock();
  let reading: ClockReading | null = null;
  const api = connectTelegramApi(settings, ({ date }) => {
    reading ??= readClock(host, date, { asked, answered: clock() });
  });
  try {
    const { username } = await api.getMe(signal);
    const warnings = settings.webhook === undefined ? [] : await webhookWarnings(api, signal);
    return { kind: 'works', as: `@${username}`, warnings, clock: reading };
  } catch (thrown) {
    return problemOf(thrown, host);
  }
}

function problemOf(thrown: unknown, host: string): ChannelProbe {
  const failure = callFailureOf(thrown);
  const decision = afterPollFailure(failure, 0, 0);
  if (decision.kind === 'give-up')
    return {
      kind: 'problem',
      reason: decision.reason,
      fix: decision.fix,
      retryable: false,
    };
  const fix =
    failure.kind === 'refused'
      ? 'Try again later.'
      : `Check the network and the name service of this machine, and channels.telegram.apiRoot if you set one: ${host} must be reachable.`;
  const reason =
    decision.kind === 'retry' ? decision.reason : `Telegram answered: ${failure.reason}`;
  return { kind: 'problem', reason, fix, retryable: true };
}

const WebhookInfo = z.object({
  url: z.string().default(''),
  pending_update_count: z.int().default(0),
  last_error_message: z.string().optional(),
});

/** Nothing is wrong with a webhook whose last failed call was made good: then no update waits. */
async function webhookWarnings(
  api: TelegramApi,
  signal: AbortSignal,
): Promise<readonly ProbeWarning[]> {
  const info = WebhookInfo.parse(await api.call('getWebhookInfo', {}, signal));
  const { last_error_message: reason, pending_update_count: waiting } = info;
  if (reason === undefined || waiting === 0) return [];
  return [
    {
      reason: `Telegram could not call the webhook (${reason}); ${waiting} updates wait`,
      fix: 'Make channels.telegram.webhook.url reachable from the internet with a valid certificate.',
    },
  ];
}
