import type { ChatStateBeforePart } from '@parley/channels';
import { ChannelError, type Logger, type OutboundPart, ParleyError, reasonOf } from '@parley/core';
import type { Adapter } from 'chat';
import { z } from 'zod';
import { downloadFile, type FileDownloader } from './attachments.ts';
import type { RewordMessage } from './messages.ts';
import type { FileUploader } from './send.ts';
import type { BotNames } from './to-inbound.ts';

/** The methods of Slack's client for which the adapter has no API. */
export interface SlackApi {
  apiCall(method: string, parameters?: Record<string, unknown>): Promise<unknown>;
}

/**
 * The deadline (ms) for a call. It is shorter than the deadline for a send, so that the error can
 * still be reported.
 */
const CALL_TIMEOUT_MS = 14_000;
const SLACK_HOSTS = /(?:^|\.)slack(?:-edge|-files)?\.com$/;

/**
 * Adds the adapter options that Parley requires. Slack's client would retry calls for half an hour;
 * the outbox does the retries instead. In socket mode, Parley manages the connection, so that an
 * event is acknowledged only after it is stored. The adapter then accepts events only with the
 * secret.
 */
export function createSlackOptions(
  options: Readonly<Record<string, unknown>>,
  { log, secret }: { readonly log: Logger; readonly secret: string },
): Record<string, unknown> {
  const { mode, webClientOptions, botToken, clientId } = options;
  if (clientId !== undefined && botToken === undefined) {
    throw new ParleyError({
      code: 'chat-sdk-slack-workspaces',
      message:
        'Parley serves one Slack workspace per account. Configure a separate account with a botToken for each workspace, instead of clientId and clientSecret.',
      retryable: false,
    });
  }
  const isSocket = mode === 'socket';
  return {
    ...options,
    mode: 'webhook',
    socketForwardingSecret: secret,
    ...(isSocket && { webhookVerifier: () => false }),
    webClientOptions: {
      ...(typeof webClientOptions === 'object' ? webClientOptions : {}),
      timeout: CALL_TIMEOUT_MS,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      logger: createClientLogger(log),
    },
  };
}

/** The logger for Slack's clients, which otherwise write to the console. */
export function createClientLogger(log: Logger) {
  const line = (...messages: unknown[]): void =>
    log.debug({ reason: messages.map(reasonOf).join(' ') }, 'message from the Slack client');
  return {
    ...{ debug() {}, info: line, warn: line, error: line },
    setLevel() {},
    getLevel: () => 'info',
    setName() {},
  };
}

function getSlackApi(adapter: Adapter): SlackApi {
  return (adapter as unknown as { readonly webClient: SlackApi }).webClient;
}

const Identity = z.object({ user: z.string(), team_id: z.string() });

/**
 * Asks Slack for the bot's identity; rejects if the token is refused or Slack cannot be reached.
 */
export async function fetchSlackIdentity(
  adapter: Adapter,
): Promise<Pick<BotNames, 'userName' | 'teamId'>> {
  const { user, team_id } = Identity.parse(await getSlackApi(adapter).apiCall('auth.test'));
  return { userName: user, teamId: team_id };
}

/** An edit that contains only text does not change a message's blocks, including its buttons. */
export function createSlackRewordMessage(adapter: Adapter): RewordMessage {
  return async ({ chatId: channel }, ts, { text }) => {
    await getSlackApi(adapter).apiCall('chat.update', { channel, ts, text, blocks: [] });
  };
}

const UploadUrl = z.object({ upload_url: z.string(), file_id: z.string() });

/**
 * Uploads a file and shares it together with its caption. The adapter would share the file and then
 * post the caption as a second message, so that only one of them might arrive.
 */
export function createSlackFileUploader(adapter: Adapter): FileUploader {
  return async ({ chatId, threadId }, { name, bytes, caption }, signal, onStart) => {
    const api = getSlackApi(adapter);
    const asked = await api.apiCall('files.getUploadURLExternal', {
      filename: name,
      length: bytes.length,
    });
    const { upload_url, file_id } = UploadUrl.parse(asked);
    const body = new Uint8Array(bytes);
    const uploaded = await fetch(upload_url, { method: 'POST', body, signal });
    await uploaded.body?.cancel();
    if (!uploaded.ok) {
      const message = `Slack did not accept the file: HTTP ${uploaded.status}. Parley will try again.`;
      throw new ChannelError({ kind: 'transient' }, message);
    }
    onStart?.();
    await api.apiCall('files.completeUploadExternal', {
      files: [{ id: file_id, title: name }],
      channel_id: chatId,
      ...(threadId !== undefined && { thread_ts: threadId }),
      ...(caption !== '' && { initial_comment: caption }),
    });
    return { platformMessageId: file_id };
  };
}

/**
 * Downloads Slack files in chunks, because the adapter loads a whole file into memory. The token is
 * sent only to Slack.
 */
export function createSlackFileDownloader(
  options: Readonly<Record<string, unknown>>,
): FileDownloader {
  const { botToken, apiUrl } = options;
  const ownHost = typeof apiUrl === 'string' ? new URL(apiUrl).host : undefined;
  return ({ url: plain, fetchMetadata }, limit, signal) => {
    const url = fetchMetadata?.url ?? plain;
    if (url === undefined) return undefined;
    const { host, hostname, protocol } = new URL(url);
    const isOwn = host === ownHost;
    const isSlack = protocol === 'https:' && SLACK_HOSTS.test(hostname);
    if (typeof botToken !== 'string' || !(isOwn || isSlack)) return undefined;
    return downloadFile(url, { platform: 'Slack', token: botToken }, limit, signal);
  };
}

/** Whether a message part that was not found in a chat is certainly missing from the chat. */
export type AbsenceCheck = (
  part: Pick<OutboundPart, 'route'>,
  before: ChatStateBeforePart,
) => Promise<boolean>;

const Messages = z.object({
  messages: z.array(z.object({ ts: z.string(), user: z.string().optional() })),
  has_more: z.boolean().optional(),
});
/** Slack message ids are timestamps, but file ids are not. */
const TIME = /^\d{10}\.\d{6}$/;
const MAX_READ = 200;

/**
 * Reads the messages in a chat or thread since the latest message that was known before the part.
 * The part is certainly missing if the bot has written nothing since then. Otherwise, any unknown
 * message from the bot could be the part in a form that Slack has changed.
 */
export function createSlackAbsenceCheck(adapter: Adapter): AbsenceCheck {
  return async ({ route: { chatId: channel, threadId: ts } }, { known }) => {
    const { botUserId } = adapter;
    if (botUserId === undefined) return false;
    const oldest = findNewestTime(known.filter((each) => each.chatId === channel));
    const place = { channel, limit: MAX_READ, ...(oldest !== undefined && { oldest }) };
    const api = getSlackApi(adapter);
    const read = Messages.parse(
      ts === undefined
        ? await api.apiCall('conversations.history', place)
        : await api.apiCall('conversations.replies', { ...place, ts }),
    );
    // Slack always lists the first message of a thread.
    const since = read.messages.filter((each) => oldest === undefined || each.ts > oldest);
    return read.has_more !== true && since.every(({ user }) => user !== botUserId);
  };
}

function findNewestTime(known: ChatStateBeforePart['known']): string | undefined {
  const times = known.flatMap(({ messageId }) => (TIME.test(messageId) ? messageId : []));
  return times.toSorted().at(-1);
}
