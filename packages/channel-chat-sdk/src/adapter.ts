import { randomBytes } from 'node:crypto';
import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelEnv,
  realEnv,
} from '@parley/channels';
import { type Capabilities, ChannelError, reasonOf } from '@parley/core';
import { type Adapter, ThreadHistoryCache } from 'chat';
import { filesOf } from './attachments.ts';
import { Connection } from './connection.ts';
import { CurrentEvent } from './event-scope.ts';
import { GrowingAnswers } from './growing.ts';
import { matchSent, ownMessages } from './history.ts';
import { createHost } from './host.ts';
import { Intake } from './intake.ts';
import { type AdapterFactory, makeAdapter } from './library.ts';
import { createMessages } from './messages.ts';
import { ChatNames } from './names.ts';
import { Places } from './places.ts';
import { abortable, type SendDeps, sendPart } from './send.ts';
import type { ChatSdkSettings } from './settings.ts';
import { slackDownload, slackReword, slackUpload } from './slack.ts';
import { SlackSocket, socketToken } from './slack-socket.ts';
import { ChatState } from './state.ts';
import { type Traits, traitsOf } from './traits.ts';
import { Webhook } from './webhook.ts';

/** An adapter of the Chat SDK that one account of a channel uses. */
export interface Hosted {
  /** The name of the channel in the settings. */
  readonly channel: string;
  readonly use: string;
  readonly factory: AdapterFactory;
}

/**
 * One account of a platform, connected by an adapter of the Chat SDK. It makes no requests before
 * `start`. An adapter that refuses its options is reported as failed.
 */
export function createChatSdkAdapter(
  hosted: Hosted,
  context: ChannelContext<ChatSdkSettings>,
  env: ChannelEnv = realEnv,
): ChannelAdapter {
  const traits = traitsOf(hosted.use);
  const secret = randomBytes(24).toString('base64url');
  try {
    const made = { log: context.log, secret };
    const adapter = makeAdapter(hosted.use, hosted.factory, context.settings, made);
    return hostAdapter({ ...hosted, adapter, traits, secret }, context, env);
  } catch (thrown) {
    return refusedAccount(traits, context, reasonOf(thrown));
  }
}

interface Made extends Hosted {
  readonly adapter: Adapter;
  readonly traits: Traits;
  readonly secret: string;
}

function hostAdapter(
  made: Made,
  context: ChannelContext<ChatSdkSettings>,
  env: ChannelEnv,
): ChannelAdapter {
  const { adapter, traits, secret, channel } = made;
  const { log, values, settings } = context;
  const stop = new AbortController();
  const stopping = stop.signal;
  const current = new CurrentEvent();
  const places = new Places(adapter, values);
  const names = new ChatNames(adapter, log);
  const newId = () => randomBytes(9).toString('base64url');
  // Slack's adapter would wait 2 s for a preview of each link, which a model does not need.
  const assume = (key: string) => (key.startsWith('slack:unfurls:') ? {} : null);
  const state = new ChatState({ ...context, newId, current, assume });
  const keeper = adapter.persistThreadHistory === true && new ThreadHistoryCache(state, KEPT);
  const intake: Intake = new Intake({
    ...{ ...context, channel, adapter, places, names },
    bot: () => connection.bot,
    // WhatsApp shows "typing" as an answer to the last message.
    seen: async (threadId, message) => {
      if (keeper) await keeper.append(threadId, message);
    },
  });
  const userName = () => connection.bot.userName;
  const host = createHost({ ...context, ...env, state, intake, current, userName, stopping });
  const webhook = new Webhook({ adapter, state, current, log });
  const slack = slackParts(made, settings.options);
  const socket = slack?.socketOf({ secret, log, deliver: (event) => webhook.deliver(event) });
  const platform = traits.platform;
  const connection: Connection = new Connection({
    ...{ ...context, ...env, adapter, host, webhook, platform, socket },
  });
  const history = { adapter, places, traits };
  const sending: SendDeps = {
    ...history,
    upload: slack?.upload,
    accountIs: (state_, reason) => connection.accountIs(state_, reason),
  };
  const growing =
    traits.growMs === undefined
      ? undefined
      : new GrowingAnswers(
          {
            ...{ ...context, ...history, stopping },
            ownMessages: (address) => ownMessages(history, address),
          },
          traits.growMs,
        );
  let running: Promise<void> | undefined;
  return {
    capabilities: capabilitiesOf(adapter, traits),
    async start() {
      context.report({ kind: 'starting' });
      running ??= connection.run(stopping);
    },
    async stop() {
      stop.abort();
      await webhook.stop();
      await running;
      await adapter.disconnect?.().catch((error: unknown) => {
        log.debug({ reason: reasonOf(error) }, 'the adapter did not disconnect');
      });
      context.report({ kind: 'stopped' });
    },
    reportsStart: true,
    send(part, signal, onStart) {
      const send = () => sendPart(sending, part, signal, onStart);
      return growing === undefined ? send() : growing.finish(part, signal, send);
    },
    ...(traits.history !== 'none' && {
      findSent: async (part, before, signal) => {
        const grown = await growing?.complete(part, signal);
        if (grown !== undefined) return grown.platformMessageId;
        const found = await abortable(ownMessages(history, part.route), signal);
        return matchSent(found, part, before);
      },
    }),
    chatName: async ({ chatId, threadId }) =>
      names.of(chatId, await places.threadIdOf({ chatId, threadId })),
    ...(traits.typing && {
      typing: {
        repeatMs: traits.typingMs,
        show: async (address) => adapter.startTyping(await places.threadIdOf(address)),
      },
    }),
    ...(growing && { streaming: growing }),
    files: filesOf(adapter, slack?.download ?? (() => undefined)),
    messages: createMessages({ ...history, reword: slack?.reword }),
    ...(socket === undefined && { http: webhook }),
  };
}

/** How many messages of a chat are kept for adapters that cannot read any. */
const KEPT = { maxMessages: 1 };

/** What Slack's own client does instead of the adapter. */
function slackParts({ adapter }: Made, options: ChatSdkSettings['options']) {
  if (adapter.name !== 'slack') return undefined;
  const appToken = socketToken(options);
  const { apiUrl } = options;
  return {
    upload: slackUpload(adapter),
    reword: slackReword(adapter),
    download: slackDownload(options),
    socketOf: (
      deps: Pick<ConstructorParameters<typeof SlackSocket>[0], 'secret' | 'log' | 'deliver'>,
    ) =>
      appToken === undefined
        ? undefined
        : new SlackSocket({
            ...deps,
            appToken,
            apiUrl: typeof apiUrl === 'string' ? apiUrl : undefined,
          }),
  };
}

/** What an account can do: what the platform can, as far as the adapter has a method for it. */
export function capabilitiesOf(adapter: Adapter | undefined, traits: Traits): Capabilities {
  const { target, edit, react, typing, buttons, media, maxFileBytes, rates, growMs } = traits;
  return {
    target,
    idempotentSend: false,
    typing: adapter !== undefined && typing,
    edit: adapter !== undefined && edit,
    delete: adapter !== undefined && traits.delete,
    react: adapter !== undefined && react,
    threads: true,
    ...(adapter?.reply !== undefined && { quotes: true as const }),
    buttons: adapter !== undefined && buttons,
    streaming: adapter === undefined || growMs === undefined ? 'none' : 'replace',
    media,
    ...(media.length > 0 && maxFileBytes !== undefined && { maxFileBytes }),
    ...(rates && { rates }),
  };
}

/** An account whose adapter does not accept its options. Its answers wait. */
function refusedAccount(
  traits: Traits,
  { report }: Pick<ChannelContext<unknown>, 'report'>,
  reason: string,
): ChannelAdapter {
  return {
    capabilities: capabilitiesOf(undefined, traits),
    async start() {
      report({ kind: 'failed', reason, fix: 'Correct "options" of this channel in the settings.' });
    },
    async stop() {
      report({ kind: 'stopped' });
    },
    async send() {
      const message = `${traits.platform} is not connected: ${reason}`;
      throw new ChannelError({ kind: 'transient', untried: true }, message);
    },
  };
}
