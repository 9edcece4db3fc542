import type { IncomingHttpHeaders } from 'node:http';
import {
  type ChannelProbe,
  type ClockSkew,
  measureClockSkew,
  type ProbeEnv,
  type ProbeWarning,
  probePicture,
} from '@parley/channels/probe';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { createCaller, QUICK_MS } from './calls.ts';
import { decideAfterConnectionFailure, toCallFailure } from './failures.ts';
import { createFiles } from './files.ts';
import type { TelegramSettings } from './settings.ts';
import { BotIdentity } from './wire.ts';

/**
 * Asks Telegram who the bot is and whether its webhook works, without taking updates away from a
 * running gateway.
 */
export async function probeTelegram(
  settings: TelegramSettings,
  { signal, clock, wantsPicture }: Pick<ProbeEnv, 'signal' | 'clock' | 'wantsPicture'>,
): Promise<ChannelProbe> {
  const { host } = new URL(settings.apiRoot);
  const asked = clock();
  let reading: ClockSkew | null = null;
  const ask = createProbeCall(settings, ({ date }) => {
    reading ??= measureClockSkew(host, date, { asked, answered: clock() });
  });
  try {
    const { id, username } = BotIdentity.parse(await ask('getMe', {}, signal));
    const warnings = settings.webhook === undefined ? [] : await listWebhookWarnings(ask, signal);
    const picture = await probePicture({ signal, wantsPicture }, async (limit, within) => {
      const fileId = await findPicture(ask, id, within);
      if (fileId === undefined) return undefined;
      return createFiles({ api: { call: ask }, settings }).fetch(fileId, limit, within);
    });
    return { kind: 'works', as: `@${username}`, warnings, clock: reading, ...picture };
  } catch (thrown) {
    return toProbeProblem(thrown, host);
  }
}

/** Makes quick calls without telegraf, which takes longer to load than the calls take. */
function createProbeCall(
  settings: TelegramSettings,
  onAnswer: (headers: IncomingHttpHeaders) => void,
): TelegramApi['call'] {
  const call = createCaller(settings, onAnswer);
  return (method, payload, signal, limitMs) =>
    call(method, payload, { signal, ...(limitMs !== null && { limitMs: QUICK_MS }) });
}

function toProbeProblem(thrown: unknown, host: string): ChannelProbe {
  const failure = toCallFailure(thrown);
  const decision = decideAfterConnectionFailure(failure, 0, 0);
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
      : `Check the network and DNS of this machine, and channels.telegram.apiRoot if you set one: ${host} must be reachable.`;
  const reason =
    decision.kind === 'retry' ? decision.reason : `Telegram answered: ${failure.reason}`;
  return { kind: 'problem', reason, fix, retryable: true };
}

const Photos = z.object({
  photos: z.array(z.array(z.object({ file_id: z.string(), width: z.int() }))),
});
/**
 * The minimum width, in pixels, because the picture is displayed smaller; Telegram offers 160, 320
 * and 640.
 */
const WIDE_ENOUGH = 160;

/** The file id of the smallest sufficiently large version of the current picture. */
async function findPicture(
  ask: TelegramApi['call'],
  id: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const payload = { user_id: id, limit: 1 };
  const { photos } = Photos.parse(await ask('getUserProfilePhotos', payload, signal));
  const sizes = photos[0] ?? [];
  return (sizes.find(({ width }) => width >= WIDE_ENOUGH) ?? sizes.at(-1))?.file_id;
}

const WebhookInfo = z.object({
  url: z.string().default(''),
  pending_update_count: z.int().default(0),
  last_error_message: z.string().optional(),
});

/**
 * If the failed webhook call has since been delivered, no updates are pending and the webhook
 * works.
 */
async function listWebhookWarnings(
  ask: TelegramApi['call'],
  signal: AbortSignal,
): Promise<readonly ProbeWarning[]> {
  const info = WebhookInfo.parse(await ask('getWebhookInfo', {}, signal));
  const { last_error_message: reason, pending_update_count: waiting } = info;
  if (reason === undefined || waiting === 0) return [];
  return [
    {
      reason: `Telegram could not call the webhook (${reason}); ${waiting} updates are waiting`,
      fix: 'Make channels.telegram.webhook.url reachable from the internet with a valid certificate.',
    },
  ];
}
