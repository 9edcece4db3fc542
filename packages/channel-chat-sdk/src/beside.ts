import type { ChannelContext } from '@parley/channels';
import type { Adapter } from 'chat';
import type { FileDownloader } from './attachments.ts';
import { addGoogleChatRequestIds } from './google-chat.ts';
import type { RewordMessage } from './messages.ts';
import type { FileUploader, SendDeps } from './send.ts';
import type { ChatSdkSettings } from './settings.ts';
import {
  type AbsenceCheck,
  createSlackAbsenceCheck,
  createSlackFileDownloader,
  createSlackFileUploader,
  createSlackRewordMessage,
  fetchSlackIdentity,
} from './slack.ts';
import { getSocketToken, SlackSocket, type SocketDeps } from './slack-socket.ts';
import type { BotNames } from './to-inbound.ts';
import { CloudStatusTracker, createCloudFileDownloader } from './whatsapp-cloud.ts';

/**
 * Features that Parley implements itself because an adapter lacks them or handles them differently.
 */
export interface AdapterExtensions {
  /**
   * Asks the platform for what the adapter does not know about the bot; rejects if the account is
   * refused.
   */
  readonly identify?: () => Promise<Pick<BotNames, 'userName' | 'teamId'>>;
  readonly upload?: FileUploader;
  readonly reword?: RewordMessage;
  readonly download?: FileDownloader;
  readonly keyed?: SendDeps['keyed'];
  /** Reads a request that the adapter has accepted. */
  readonly heard?: (body: string) => void;
  /** Finds a sent message by the idempotency key of its message part. */
  readonly findByKey?: (key: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly lacks?: AbsenceCheck;
  /** Keeps a connection open over which events arrive instead of through a webhook. */
  readonly socketOf?: (deps: SlackSocketOptions) => SlackSocket | undefined;
}

type SlackSocketOptions = Pick<SocketDeps, 'secret' | 'log' | 'deliver'>;

export function createAdapterExtensions(
  adapter: Adapter,
  context: ChannelContext<ChatSdkSettings>,
): AdapterExtensions {
  switch (adapter.name) {
    case 'slack':
      return createSlackExtensions(adapter, context.settings.options);
    case 'gchat':
      return { keyed: addGoogleChatRequestIds(adapter) };
    case 'whatsapp': {
      const statuses = new CloudStatusTracker(adapter, context);
      const { keyed, heard } = statuses;
      const findByKey = statuses.find.bind(statuses);
      return { keyed, heard, findByKey, download: createCloudFileDownloader(adapter) };
    }
    default:
      return {};
  }
}

function createSlackExtensions(
  adapter: Adapter,
  options: ChatSdkSettings['options'],
): AdapterExtensions {
  const appToken = getSocketToken(options);
  const apiUrl = typeof options.apiUrl === 'string' ? options.apiUrl : undefined;
  return {
    identify: () => fetchSlackIdentity(adapter),
    upload: createSlackFileUploader(adapter),
    reword: createSlackRewordMessage(adapter),
    download: createSlackFileDownloader(options),
    lacks: createSlackAbsenceCheck(adapter),
    socketOf: (deps) =>
      appToken === undefined ? undefined : new SlackSocket({ ...deps, appToken, apiUrl }),
  };
}
