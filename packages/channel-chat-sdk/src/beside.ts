import type { ChannelContext } from '@parley/channels';
import type { Adapter } from 'chat';
import type { Download } from './download.ts';
import { keyedGoogleChat } from './google-chat.ts';
import type { Reword } from './messages.ts';
import type { SendDeps, Upload } from './send.ts';
import type { ChatSdkSettings } from './settings.ts';
import { slackDownload, slackReword, slackUpload } from './slack.ts';
import { type Lacks, slackLacks } from './slack-history.ts';
import { SlackSocket, type SocketDeps, socketToken } from './slack-socket.ts';
import { CloudStatuses, cloudDownload } from './whatsapp-cloud.ts';

/** What Parley implements itself because an adapter lacks it or handles it differently. */
export interface Beside {
  readonly upload?: Upload;
  readonly reword?: Reword;
  readonly download?: Download;
  readonly keyed?: SendDeps['keyed'];
  /** Reads a request that the adapter has accepted. */
  readonly heard?: (body: string) => void;
  /** Finds a sent message by the idempotency key of its part. */
  readonly findByKey?: (key: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Whether a part that was not found in a chat is certainly missing from it. */
  readonly lacks?: Lacks;
  /** Keeps a connection open over which events arrive, in place of a webhook. */
  readonly socketOf?: (deps: SocketParts) => SlackSocket | undefined;
}

type SocketParts = Pick<SocketDeps, 'secret' | 'log' | 'deliver'>;

export function besideOf(adapter: Adapter, context: ChannelContext<ChatSdkSettings>): Beside {
  switch (adapter.name) {
    case 'slack':
      return slackBeside(adapter, context.settings.options);
    case 'gchat':
      return { keyed: keyedGoogleChat(adapter) };
    case 'whatsapp': {
      const statuses = new CloudStatuses(adapter, context);
      const { keyed, heard } = statuses;
      const findByKey = statuses.find.bind(statuses);
      return { keyed, heard, findByKey, download: cloudDownload(adapter) };
    }
    default:
      return {};
  }
}

function slackBeside(adapter: Adapter, options: ChatSdkSettings['options']): Beside {
  const appToken = socketToken(options);
  const apiUrl = typeof options.apiUrl === 'string' ? options.apiUrl : undefined;
  return {
    upload: slackUpload(adapter),
    reword: slackReword(adapter),
    download: slackDownload(options),
    lacks: slackLacks(adapter),
    socketOf: (deps) =>
      appToken === undefined ? undefined : new SlackSocket({ ...deps, appToken, apiUrl }),
  };
}
