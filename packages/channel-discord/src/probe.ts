import {
  type ChannelProbe,
  type ClockSkew,
  measureClockSkew,
  type ProbeEnv,
  type ProbeWarning,
  probePicture,
} from '@parley/channels/probe';
import { OAuth2Scopes, PermissionFlagsBits, REST, RESTEvents, Routes } from 'discord.js';
import { z } from 'zod';
import { decideAfterConnectionFailure, NO_CONTENT, toCallFailure } from './failures.ts';
import { buildPictureUrl, downloadDiscordFile } from './files.ts';
import type { DiscordSettings } from './settings.ts';

const Bot = z.object({
  id: z.string(),
  username: z.string(),
  avatar: z.string().nullable().default(null),
});
const Gateway = z.object({ session_start_limit: z.object({ remaining: z.int() }) });
const Application = z.object({ id: z.string(), flags: z.int().default(0) });

/**
 * Application flags that mean the Message Content Intent is on: approved by Discord, or for up to
 * 100 servers.
 */
const CONTENT_FLAGS = (1 << 18) | (1 << 19);
/**
 * With fewer remaining logins than this, a bot that keeps restarting may be locked out for the rest
 * of the day.
 */
const FEW_LOGINS = 20;

/**
 * Asks Discord for the bot's identity, the remaining logins and the bot's intents, without using up
 * a login.
 */
export async function probeDiscord(
  settings: DiscordSettings,
  { signal, clock, wantsPicture }: Pick<ProbeEnv, 'signal' | 'clock' | 'wantsPicture'>,
): Promise<ChannelProbe> {
  const { host } = new URL(settings.apiRoot);
  const rest = new REST({ api: settings.apiRoot.replace(/\/$/, ''), retries: 0 });
  rest.setToken(settings.token);
  const asked = clock();
  let reading: ClockSkew | null = null;
  rest.on(RESTEvents.Response, (_request, { headers }) => {
    reading ??= measureClockSkew(host, headers.get('date'), { asked, answered: clock() });
  });
  try {
    const [bot, gateway, application] = await Promise.all([
      rest.get(Routes.user(), { signal }).then(Bot.parse),
      rest.get(Routes.gatewayBot(), { signal }).then(Gateway.parse),
      rest.get(Routes.currentApplication(), { signal }).then(Application.parse),
    ]);
    if (settings.messageContent && (application.flags & CONTENT_FLAGS) === 0)
      return toLoginProblem(NO_CONTENT);
    const warnings = listLoginWarnings(gateway.session_start_limit.remaining);
    const picture = await probePicture({ signal, wantsPicture }, async (limit, within) => {
      if (bot.avatar === null) return undefined;
      return downloadDiscordFile(
        settings,
        buildPictureUrl(settings.apiRoot, bot.id, bot.avatar),
        limit,
        within,
      );
    });
    const facts = {
      as: `@${bot.username}`,
      invitation: buildInvitationUrl(application.id, settings),
      ...picture,
    };
    return { kind: 'works', warnings, clock: reading, ...facts };
  } catch (thrown) {
    return toProbeProblem(thrown, host);
  } finally {
    rest.clearHashSweeper();
    rest.clearHandlerSweeper();
  }
}

/** The permissions that the bot needs in a server, as listed in this package's README. */
const PERMISSIONS =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.SendMessagesInThreads |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.ReadMessageHistory |
  PermissionFlagsBits.AddReactions;

/** The page on which a person can add the bot to a server. */
function buildInvitationUrl(applicationId: string, { threads }: DiscordSettings): string {
  const more = threads === 'never' ? 0n : PermissionFlagsBits.CreatePublicThreads;
  const asked = new URLSearchParams({
    client_id: applicationId,
    scope: `${OAuth2Scopes.Bot} ${OAuth2Scopes.ApplicationsCommands}`,
    permissions: String(PERMISSIONS | more),
  });
  return `https://discord.com/oauth2/authorize?${asked}`;
}

/** The close code with which the gateway would refuse the token. */
const WRONG_TOKEN = 4004;

function toProbeProblem(thrown: unknown, host: string): ChannelProbe {
  const failure = toCallFailure(thrown);
  if (failure.kind === 'rate-limited') {
    const reason = 'Discord refuses further calls for now, because too many were made';
    const seconds = Math.ceil(failure.retryAfterMs / 1_000);
    return { kind: 'problem', reason, fix: `Try again in ${seconds} s.`, retryable: true };
  }
  if (failure.kind === 'refused' && failure.status === 401) return toLoginProblem(WRONG_TOKEN);
  const isRefused = failure.kind === 'refused';
  const reason = isRefused
    ? `Discord refuses to answer: ${failure.reason} (${failure.status})`
    : `Discord cannot be reached: ${failure.reason}`;
  const fix = isRefused
    ? 'Try again later, and check channels.discord.apiRoot if you set one.'
    : `Check this machine's network and DNS, and channels.discord.apiRoot if you set one: ${host} must be reachable.`;
  return { kind: 'problem', reason, fix, retryable: true };
}

/** The result that the adapter would report if a login ended with this code. */
function toLoginProblem(closeCode: number): ChannelProbe {
  const ending = decideAfterConnectionFailure(
    { reason: `closed with ${closeCode}`, closeCode },
    0,
    0,
    0,
  );
  const { reason } = ending;
  const fix = ending.kind === 'give-up' ? ending.fix : 'Try again later.';
  return { kind: 'problem', reason, fix, retryable: ending.kind === 'retry' };
}

function listLoginWarnings(remaining: number): readonly ProbeWarning[] {
  if (remaining >= FEW_LOGINS) return [];
  const reason = `only ${remaining} logins to Discord are left for today`;
  return [{ reason, fix: 'Check the log to find out why Parley restarts or reconnects so often.' }];
}
